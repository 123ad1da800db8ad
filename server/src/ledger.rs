//! Commands: one verb per file. Each loads, decides with `app`, and persists with its audit row in one transaction.
//!
//! Knows neither HTTP nor HTML. Invariant: no transaction is open across a network call, and a status changes only
//! through `transition`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use app::ledger::next_action::Pace;
use tokio::sync::{Notify, broadcast};

use self::conclude::Lane;
use crate::clock::Clock;
use crate::connector::Wire;
use crate::keys::Keys;
use crate::store::Db;

pub mod admit;
pub mod admit_customer;
pub mod approve;
pub mod attach_evidence;
pub mod audit;
pub mod clients;
pub mod conclude;
pub mod decide;
pub mod error;
pub mod look_up;
pub mod people;
pub mod provision;
pub mod read;
pub mod send;
pub mod shelf;
pub mod standing;
pub mod take_over;
pub mod transition;
pub mod who;

pub use error::Error;
pub use who::{Actor, Operator, Principal};

pub type Result<T> = std::result::Result<T, Error>;

/// Changes that live pages hear of; more than this behind, a page reloads.
const LIVE_BACKLOG: usize = 256;

/// Durations and limits that an installation may set; `--fast` shrinks them.
#[derive(Clone, Debug)]
pub struct Settings {
    pub pace: Pace,
    /// A send's lease beyond its deadline; when it is over, an investigation begins.
    pub lease_beyond: Duration,
    /// An approval that nobody gives expires.
    pub approval_ttl: Duration,
    /// A holder without an act for so long can be broken by others.
    pub stale_takeover: Duration,
    /// A worker without anything to do looks again after this, woken or not.
    pub poll: Duration,
    /// Divides every contract's settle time, for trials and tests.
    pub fast: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            pace: Pace::default(),
            lease_beyond: Duration::from_secs(10),
            approval_ttl: Duration::from_secs(24 * 3600),
            stale_takeover: Duration::from_secs(4 * 3600),
            poll: Duration::from_secs(5),
            fast: false,
        }
    }
}

impl Settings {
    /// Every wait a second or less.
    pub fn fast() -> Self {
        Settings {
            pace: Pace {
                first_wait: Duration::from_millis(100),
                longest_wait: Duration::from_secs(1),
                window_margin: Duration::from_secs(1),
            },
            lease_beyond: Duration::from_millis(300),
            poll: Duration::from_millis(200),
            fast: true,
            ..Settings::default()
        }
    }
}

/// The ledger of one installation. Cheap to clone.
#[derive(Clone)]
pub struct Ledger {
    pub db: Db,
    pub clock: Clock,
    pub keys: Arc<Keys>,
    pub settings: Arc<Settings>,
    pub shelf: Arc<shelf::Shelf>,
    wire: Arc<dyn Wire>,
    /// One bell per lane of an upstream, and one for workflows.
    bells: Arc<BTreeMap<(String, Lane), Notify>>,
    live: broadcast::Sender<()>,
    /// Names this process in leases.
    worker: Arc<str>,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("worker", &self.worker).finish_non_exhaustive()
    }
}

/// The bell of the workflow worker.
pub const WORKFLOWS: &str = "(workflows)";

impl Ledger {
    pub fn new(db: Db, keys: Keys, shelf: shelf::Shelf, wire: Arc<dyn Wire>, settings: Settings) -> Ledger {
        let names: Vec<String> = shelf.upstream_names().chain([WORKFLOWS.to_string()]).collect();
        let lanes = [Lane::Dispatch, Lane::Recover];
        let bells = names.iter().flat_map(|name| lanes.map(|lane| ((name.clone(), lane), Notify::new()))).collect();
        Ledger {
            clock: db.clock().clone(),
            db,
            keys: Arc::new(keys),
            settings: Arc::new(settings),
            shelf: Arc::new(shelf),
            wire,
            bells: Arc::new(bells),
            live: broadcast::channel(LIVE_BACKLOG).0,
            worker: format!("{}-{}", std::process::id(), &crate::ids::random_hex(3)).into(),
        }
    }

    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// Something of this upstream may be due, and pages may have changed.
    pub fn nudge(&self, upstream: &str) {
        for name in [upstream, WORKFLOWS] {
            for lane in [Lane::Dispatch, Lane::Recover] {
                if let Some(bell) = self.bells.get(&(name.to_string(), lane)) {
                    bell.notify_one();
                }
            }
        }
        // Nobody listening is no error.
        let _ = self.live.send(());
    }

    /// Waits until nudged.
    pub async fn nudged(&self, upstream: &str, lane: Lane) {
        match self.bells.get(&(upstream.to_string(), lane)) {
            Some(bell) => bell.notified().await,
            None => std::future::pending().await,
        }
    }

    /// Hears of every change made by this process.
    pub fn listen(&self) -> broadcast::Receiver<()> {
        self.live.subscribe()
    }
}

/// Runs one transaction body until it is not a passing failure's or a lost race's turn any more. A `return Ok(…)` inside
/// the body ends it without a commit: only for a body that has written nothing.
#[macro_export]
macro_rules! in_transaction {
    ($ledger:expr, |$tx:ident| $body:expr) => {{
        let mut left = $crate::ledger::TRIES;
        loop {
            left -= 1;
            let attempt: $crate::ledger::Result<_> = async {
                let mut transaction = $ledger.db.write().await?;
                let $tx = &mut transaction;
                let outcome: $crate::ledger::Result<_> = $body;
                let value = outcome?;
                transaction.commit().await?;
                Ok(value)
            }
            .await;
            match attempt {
                Err($crate::ledger::Error::Store(error))
                    if left > 0 && $crate::ledger::is_worth_another_try(&error) => {}
                other => break other,
            }
        }
    }};
}

/// Tries of one transaction that others get in the way of.
pub const TRIES: u32 = 20;

pub fn is_worth_another_try(error: &crate::store::Error) -> bool {
    error.is_passing() || matches!(error, crate::store::Error::Taken(_) | crate::store::Error::Stale(_))
}
