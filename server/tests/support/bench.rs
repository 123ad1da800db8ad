//! A ledger on a bench: a database of its own, a clock to move, a partner, people, and workers that move by hand.
//!
//! `both!` makes `name::sqlite` and `name::postgres` of a test. Nothing here waits: time passes when a test says so.
//! Invariant: a test that ends well has left a ledger for which `invariants` hold.

#![allow(dead_code, reason = "each test crate uses its part")]
#![allow(clippy::unwrap_used, reason = "clippy knows tests by their attribute; a bench has none")]

pub mod invariants;
#[path = "../sandbox/partner.rs"]
pub mod partner;
pub mod people;
pub mod place;
pub mod requests;
pub mod script;

use std::sync::Arc;
use std::time::Duration;

use app::ledger::contract::Catalog;
use app::ledger::instant::Instant;
use app::ledger::reason::Reason;
use app::ledger::status::Status;
use ascertain::clock::Clock;
use ascertain::connector::{BootClock, HttpWire, TlsClient, Wire};
use ascertain::keys::Keys;
use ascertain::ledger::conclude::Lane;
use ascertain::ledger::shelf::Shelf;
use ascertain::ledger::{Ledger, Settings};
use ascertain::store::codec::Id;
use ascertain::store::operations::{self, Operation};
use ascertain::store::{Db, Tx, attempts, audit, evidence, proposals};

use partner::Partner;
use people::People;
use place::{Engine, Place};
use script::Script;

/// Steps of one `quiet`, and clock moves of one `run_out`, before it counts as a loop.
const STEPS: usize = 2_000;
const MOVES: usize = 1_000;
pub const TENANT: &str = "t-1";
pub const GATE: &str = "gate";
/// Customers that are provisioned when a test begins.
pub const CUSTOMERS: [&str; 2] = ["c-1", "c-2"];

/// Makes `name::sqlite` and `name::postgres` of a test. `sandbox` is a real partner on loopback, `scripted` answers by
/// lines. The body gets an `Arc<Bench>`; when it ends well, the bench checks its ledger.
macro_rules! both {
    ($($(#[doc = $doc:literal])* $partner:ident async fn $name:ident($bench:ident) $body:block)+) => {$(
        mod $name {
            #[allow(unused_imports, reason = "a body may need none of them")]
            use super::*;

            async fn body($bench: std::sync::Arc<$crate::support::Bench>) $body

            $(#[doc = $doc])*
            #[test]
            fn sqlite() {
                $crate::support::run($crate::support::place::Engine::Sqlite, $crate::support::$partner, body);
            }

            $(#[doc = $doc])*
            #[test]
            fn postgres() {
                $crate::support::run($crate::support::place::Engine::Postgres, $crate::support::$partner, body);
            }
        }
    )+};
}
pub(crate) use both;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    Sandbox,
    Script,
}
#[allow(non_upper_case_globals, reason = "a word of `both!`")]
pub const sandbox: With = With::Sandbox;
#[allow(non_upper_case_globals, reason = "a word of `both!`")]
pub const scripted: With = With::Script;

pub struct Bench {
    pub place: Place,
    pub clock: Clock,
    pub ledger: Ledger,
    pub people: People,
    keys: Keys,
    wire: Arc<dyn Wire>,
    catalog: Catalog,
    settings: Settings,
    script: Option<Arc<Script>>,
    partner: Option<Partner>,
}

/// One test: bench, body, checks; the database goes whatever happened.
pub fn run<F>(engine: Engine, with: With, body: impl FnOnce(Arc<Bench>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let bench = Arc::new(Bench::open(engine, with).await);
        let outcome = tokio::spawn(body(bench.clone())).await;
        let checked = match outcome {
            Ok(()) => {
                let bench = bench.clone();
                tokio::spawn(async move { bench.finish().await }).await
            }
            failed => failed,
        };
        bench.ledger.db.close().await;
        bench.place.clear().await;
        if let Err(failed) = checked {
            std::panic::resume_unwind(failed.into_panic());
        }
    });
}

/// What ships, as it ships.
pub fn shipped_catalog() -> Catalog {
    let files = [
        ("gate.toml", include_str!("../../catalog/gate.toml")),
        ("legacy.toml", include_str!("../../catalog/legacy.toml")),
    ];
    Catalog::load_all(&files).unwrap()
}

pub fn real_wire() -> Arc<dyn Wire> {
    Arc::new(HttpWire::new(TlsClient::with_public_roots().unwrap(), BootClock::of_this_machine()))
}

impl Bench {
    pub async fn open(engine: Engine, with: With) -> Bench {
        let mut catalog = shipped_catalog();
        let partner = match with {
            With::Sandbox => Some(Partner::start().await),
            With::Script => None,
        };
        if let Some(partner) = &partner {
            catalog.upstreams.get_mut(GATE).unwrap().origin = format!("http://{}", partner.address());
        }
        let script = partner.is_none().then(|| Arc::new(Script::default()));
        let wire = script.clone().map_or_else(real_wire, |script| script as Arc<dyn Wire>);
        let place = Place::make(engine).await;
        let clock = Clock::new();
        let keys = Keys::random();
        let settings = Settings::default();
        let ledger = open_ledger(&place, &clock, &keys, &catalog, &settings, wire.clone()).await;
        let people = People::hire(&ledger).await;
        let bench = Bench { place, clock, ledger, people, keys, wire, catalog, settings, script, partner };
        for customer in CUSTOMERS {
            bench.welcome(customer).await;
        }
        bench
    }

    /// Provisions a customer, as top-ups and limits need.
    async fn welcome(&self, customer: &str) {
        if let Some(script) = &self.script {
            script.next(script::group_made);
            script.next(script::key_made);
            script.next(script::limit_set);
        }
        self.provision(customer).await;
        self.quiet().await;
        let unsettled = self.operations().await.into_iter().find(|row| *row.status != Status::Succeeded);
        assert!(unsettled.is_none(), "{unsettled:#?}");
        if let Some(script) = &self.script {
            script.forget();
        }
    }

    /// Another process on the same database: the same catalog, keys, partner and time.
    pub async fn another(&self) -> Ledger {
        open_ledger(&self.place, &self.clock, &self.keys, &self.catalog, &self.settings, self.wire.clone()).await
    }

    /// As `another`, with things changed.
    pub async fn another_with(
        &self,
        wire: Arc<dyn Wire>,
        settings: Settings,
        change: impl FnOnce(&mut Catalog),
    ) -> Ledger {
        let mut catalog = self.catalog.clone();
        change(&mut catalog);
        open_ledger(&self.place, &self.clock, &self.keys, &catalog, &settings, wire).await
    }

    pub fn script(&self) -> &Script {
        self.script.as_ref().expect("this bench has a real partner")
    }

    pub fn partner(&self) -> &Partner {
        self.partner.as_ref().expect("this bench's partner is scripted")
    }

    /// What the catalog says of the partner.
    pub fn upstream(&self) -> Arc<app::ledger::contract::Upstream> {
        self.ledger.shelf.upstream(GATE).unwrap()
    }

    pub async fn finish(&self) {
        if let Some(script) = &self.script {
            assert_eq!(script.unscripted(), 0, "requests that nobody expected: {:#?}", script.seen());
            assert_eq!(script.lines_left(), 0, "answers that nobody asked for");
        }
        let mut tx = self.ledger.db.read().await.unwrap();
        invariants::check(&mut tx, &self.keys).await;
    }

    // Time and workers.

    pub async fn now(&self) -> Instant {
        self.ledger.db.now().await.unwrap()
    }

    pub fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    /// Steps everything that is due until nothing is. Returns how many steps did something.
    pub async fn quiet(&self) -> usize {
        self.quiet_with(&self.ledger).await
    }

    pub async fn quiet_with(&self, ledger: &Ledger) -> usize {
        let mut worked = 0;
        loop {
            let before = worked;
            for upstream in ledger.shelf.upstream_names() {
                for lane in [Lane::Dispatch, Lane::Recover] {
                    worked += usize::from(ledger.step(&upstream, lane).await.unwrap());
                }
            }
            worked += ledger.advance_runs().await.unwrap() + ledger.expire_approvals().await.unwrap();
            if worked == before {
                return worked;
            }
            assert!(worked < STEPS, "workers go round in circles: {:#?}", self.operations().await);
        }
    }

    /// One step of the lane that sends.
    pub async fn dispatch(&self) -> bool {
        self.ledger.step(GATE, Lane::Dispatch).await.unwrap()
    }

    /// One step of the lane that investigates.
    pub async fn recover(&self) -> bool {
        self.ledger.step(GATE, Lane::Recover).await.unwrap()
    }

    /// When the next operation is due, if one is.
    pub async fn next_due(&self) -> Option<Instant> {
        let mut tx = self.ledger.db.read().await.unwrap();
        let due = [true, false].map(|sending| (GATE, sending));
        let mut soonest: Option<Instant> = None;
        for (upstream, sending) in due {
            let at = operations::next_due(&mut tx, upstream, sending).await.unwrap().map(|at| *at);
            soonest = soonest.into_iter().chain(at).min();
        }
        soonest
    }

    /// Moves the clock to the next due time. False if nothing will ever be due.
    pub async fn to_next_due(&self) -> bool {
        let Some(due) = self.next_due().await else { return false };
        self.pass(due.since(self.now().await) + Duration::from_millis(1));
        true
    }

    /// Works and moves the clock until machines have nothing left to do.
    pub async fn run_out(&self) {
        for _ in 0..MOVES {
            self.quiet().await;
            if !self.to_next_due().await {
                return;
            }
        }
        panic!("machines never come to an end: {:#?}", self.operations().await);
    }

    pub async fn status(&self, id: Id) -> (Status, Option<Reason>) {
        let row = self.get(id).await;
        (*row.status, row.reason.map(|reason| *reason))
    }

    // Rows.

    pub async fn get(&self, id: Id) -> Operation {
        let mut tx = self.ledger.db.read().await.unwrap();
        operations::find(&mut tx, id).await.unwrap().unwrap()
    }

    pub async fn operations(&self) -> Vec<Operation> {
        let mut tx = self.ledger.db.read().await.unwrap();
        invariants::operations(&mut tx).await
    }

    pub async fn attempts(&self, id: Id) -> Vec<attempts::Attempt> {
        let mut tx = self.ledger.db.read().await.unwrap();
        attempts::list(&mut tx, id).await.unwrap()
    }

    pub async fn evidence(&self, id: Id) -> Vec<evidence::Evidence> {
        let mut tx = self.ledger.db.read().await.unwrap();
        evidence::list(&mut tx, id).await.unwrap()
    }

    pub async fn proposals(&self, id: Id) -> Vec<proposals::Proposal> {
        let mut tx = self.ledger.db.read().await.unwrap();
        proposals::list_of_operation(&mut tx, id).await.unwrap()
    }

    pub async fn audit(&self, id: Id) -> Vec<audit::Entry> {
        let mut tx = self.ledger.db.read().await.unwrap();
        audit::list_of_subject(&mut tx, "operation", &id.to_string(), 1_000).await.unwrap()
    }

    /// One statement past the product, as an intruder or an administrator of the database would.
    pub async fn sql(&self, sql: &'static str) -> Result<u64, sqlx::Error> {
        let mut tx = self.ledger.db.write().await.unwrap();
        let changed = match &mut tx {
            Tx::Sqlite(c) => sqlx::query(sql).execute(&mut **c).await?.rows_affected(),
            Tx::Postgres(c) => sqlx::query(sql).execute(&mut **c).await?.rows_affected(),
        };
        tx.commit().await.unwrap();
        Ok(changed)
    }
}

async fn open_ledger(
    place: &Place,
    clock: &Clock,
    keys: &Keys,
    catalog: &Catalog,
    settings: &Settings,
    wire: Arc<dyn Wire>,
) -> Ledger {
    let db = Db::open(&place.store, clock.clone()).await.unwrap();
    let shelf = Shelf::stock(&db, catalog.clone(), settings.fast).await.unwrap();
    Ledger::new(db, keys.clone(), shelf, wire, settings.clone())
}
