//! An installation of one test: database, keys, configuration, a partner's process, servers and their clients.
//!
//! `both!` makes `name::sqlite` and `name::postgres` of a test. Invariant: a test that ends well has stopped its servers
//! and left a ledger for which `invariants` hold.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use ascertain::clock::Clock;
use ascertain::keys::Keys;
use ascertain::store::{self, Db};
use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::invariants;
use crate::place::{Engine, Place};
use crate::running::{Patience, Running, log_end, program, said, until};
use crate::wire::{Reply, ask};

/// One request; a server that is killed may leave one without an end.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// Ports for servers that come back on the same one: below those that systems give to outgoing connections.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
pub const TENANT: &str = "acme";

static TAKEN: AtomicU16 = AtomicU16::new(0);

/// Makes `name::sqlite` and `name::postgres` of a test; the body gets a `&Bench`.
macro_rules! both {
    ($($(#[doc = $doc:literal])* async fn $name:ident($bench:ident) $body:block)+) => {$(
        mod $name {
            use super::*;

            async fn body($bench: &$crate::bench::Bench) $body

            $(#[doc = $doc])*
            #[test]
            fn sqlite() {
                $crate::bench::run($crate::place::Engine::Sqlite, async |bench| body(bench).await);
            }

            $(#[doc = $doc])*
            #[test]
            fn postgres() {
                $crate::bench::run($crate::place::Engine::Postgres, async |bench| body(bench).await);
            }
        }
    )+};
}
pub(crate) use both;

/// One test; processes and database go whatever happened.
pub fn run(engine: Engine, body: impl AsyncFnOnce(&Bench)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let place = Place::make(engine).await;
        let folder = tempfile::tempdir().unwrap();
        let outcome = AssertUnwindSafe(async {
            let bench = Bench::open(&place, &folder).await;
            body(&bench).await;
            bench.check().await;
        })
        .catch_unwind()
        .await;
        place.clear().await;
        if let Err(panic) = outcome {
            for log in logs(&folder) {
                eprintln!("── {}\n{}", log.display(), log_end(&log));
            }
            std::panic::resume_unwind(panic);
        }
    });
}

fn logs(folder: &TempDir) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "log")).collect()
}

pub struct Bench {
    pub partner: Partner,
    folder: PathBuf,
    store: store::Place,
}

impl Bench {
    async fn open(place: &Place, folder: &TempDir) -> Bench {
        let folder = folder.path().to_owned();
        let partner = Partner::start(&folder).await;
        said(program().args(["keys", "new"]).arg(folder.join("keys.toml"))).await;
        let url = match &place.store {
            store::Place::Sqlite(path) => format!("sqlite:{}", path.display()),
            store::Place::Postgres(url) => url.clone(),
        };
        let origin = format!("http://{}", partner.address);
        let config = format!(
            "[database]\nurl = {}\n[keys]\nfile = {}\n[upstreams.gate]\norigin = {}\n[upstreams.legacy_tool]\norigin = {}\n",
            json!(url),
            json!(folder.join("keys.toml")),
            json!(origin),
            json!(origin)
        );
        std::fs::write(folder.join("ascertain.toml"), config).unwrap();
        Bench { partner, folder, store: place.store.clone() }
    }

    /// A server on a port of its own.
    pub async fn serve(&self) -> Server {
        let address = free_address();
        let log = self.folder.join(format!("serve-{}.log", address.port()));
        let running = Server::start(&self.folder, &log, address);
        let mut server = Server { address, folder: self.folder.clone(), log, running };
        server.ready().await;
        server
    }

    /// A client of every contract.
    pub async fn client(&self, server: &Server) -> Client {
        let mut add = program();
        add.arg("--config").arg(self.folder.join("ascertain.toml"));
        add.args(["client", "add", "--name", "shop", "--tenant", TENANT, "--contracts", "*", "--scopes", "read"]);
        let said = said(&mut add).await;
        let token = said.split_whitespace().skip_while(|word| *word != "token:").nth(1);
        Client { address: server.address, token: token.unwrap_or_else(|| panic!("{said}")).to_owned() }
    }

    /// What must be true of the rows, once the servers have stopped.
    async fn check(&self) {
        let keys = Keys::read(&self.folder.join("keys.toml")).unwrap();
        let db = Db::open(&self.store, Clock::new()).await.unwrap();
        let mut tx = db.read().await.unwrap();
        invariants::check(&mut tx, &keys).await;
        drop(tx);
        db.close().await;
    }
}

fn free_address() -> SocketAddr {
    let width = PORTS.end - PORTS.start;
    let first = u16::try_from(std::process::id() % u32::from(width)).unwrap();
    for _ in 0..width {
        let offset = (u32::from(first) + u32::from(TAKEN.fetch_add(1, Ordering::SeqCst))) % u32::from(width);
        let address = SocketAddr::from(([127, 0, 0, 1], PORTS.start + u16::try_from(offset).unwrap()));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no port is free");
}

pub struct Server {
    address: SocketAddr,
    folder: PathBuf,
    log: PathBuf,
    running: Running,
}

impl Server {
    fn start(folder: &std::path::Path, log: &std::path::Path, address: SocketAddr) -> Running {
        let mut command = program();
        command.arg("--config").arg(folder.join("ascertain.toml")).args(["serve", "--fast"]);
        Running::start(command.env("ASCERTAIN_SERVER__LISTEN", address.to_string()), log)
    }

    async fn ready(&mut self) {
        let (address, running) = (self.address, &mut self.running);
        until("the server is ready", async || {
            running.check_alive();
            let answer = ask(address, "GET", "/readyz", &[], "").await;
            answer.is_ok_and(|answer| answer.status == 200).then_some(())
        })
        .await;
    }

    pub async fn kill(&mut self) {
        self.running.kill().await;
    }

    /// Again after a kill, on the same port and database.
    pub async fn start_again(&mut self) {
        self.running = Server::start(&self.folder, &self.log, self.address);
        self.ready().await;
    }

    pub async fn stop(mut self) {
        self.running.stop().await;
    }
}

#[derive(Clone)]
pub struct Client {
    pub address: SocketAddr,
    pub token: String,
}

impl Client {
    /// `Err` where the connection failed; never an answer of 5xx.
    async fn try_ask(&self, method: &str, path: &str, key: Option<&str>, body: &str) -> Result<Reply, String> {
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        let asked = tokio::time::timeout(ANSWER_LIMIT, ask(self.address, method, path, &headers, body)).await;
        let reply = asked.map_err(|_| format!("{method} {path}: no answer"))??;
        assert!(reply.status < 500, "{method} {path}: {reply:?}");
        Ok(reply)
    }

    pub async fn post(&self, path: &str, key: &str, body: &Value) -> Reply {
        self.try_ask("POST", path, Some(key), &body.to_string()).await.unwrap()
    }

    /// As a good client does: under the same key until it is answered. `failed` hears of each failed connection.
    pub async fn post_until_answered(&self, path: &str, key: &str, body: &Value, failed: impl Fn(&str)) -> Reply {
        let (text, patience) = (body.to_string(), Patience::for_condition("a POST is answered"));
        loop {
            match self.try_ask("POST", path, Some(key), &text).await {
                Ok(reply) => return reply,
                Err(error) => failed(&error),
            }
            patience.next_look().await;
        }
    }

    pub async fn admit(&self, key: &str, contract: &str, params: &Value) -> Reply {
        self.post("/v1/operations", key, &json!({"contract": contract, "params": params})).await
    }

    pub async fn get(&self, path: &str) -> Value {
        let reply = self.try_ask("GET", path, None, "").await.unwrap();
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.body
    }

    /// Every operation it sees.
    pub async fn operations(&self) -> Vec<Value> {
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.get(&format!("/v1/operations?limit=200&cursor={cursor}")).await;
            rows.extend(page["items"].as_array().unwrap().clone());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = next.to_owned(),
                None => return rows,
            }
        }
    }

    /// Waits until the operation stands so.
    pub async fn stands(&self, id: &str, status: &str) {
        until(&format!("{id} is {status}"), async || {
            (self.get(&format!("/v1/operations/{id}")).await["status"] == status).then_some(())
        })
        .await;
    }

    /// Signs a customer up and waits until it is provisioned.
    pub async fn welcome(&self, customer: &str) {
        let made = self.post("/v1/customers", &format!("sign-up-{customer}"), &sign_up(customer)).await;
        assert_eq!(made.status, 201, "{made:?}");
        let path = format!("/v1/customers/{customer}");
        until("the customer is provisioned", async || (self.get(&path).await["state"] == "provisioned").then_some(()))
            .await;
    }
}

pub fn sign_up(customer: &str) -> Value {
    json!({"external_id": customer, "name": format!("Customer {customer}"), "signup_version": 1,
        "spend_limit": "2500.00", "currency": "EUR"})
}

pub fn top_up(customer: &str, payment: &str, amount: &str) -> Value {
    json!({"customer_id": customer, "payment_id": payment, "amount": amount, "currency": "EUR"})
}

/// What the partner counted, in all and per key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Counts {
    pub effects: i64,
    pub requests: i64,
    #[serde(default)]
    pub by_key: BTreeMap<String, Counts>,
}

impl Counts {
    /// So many effects, each under a key of its own.
    #[track_caller]
    pub fn are_effects(&self, count: i64) {
        assert_eq!(self.effects, count, "{self:#?}");
        assert_eq!(i64::try_from(self.by_key.len()), Ok(count), "{self:#?}");
        assert!(self.by_key.values().all(|counts| counts.effects == 1 && counts.requests >= 1), "{self:#?}");
    }
}

pub struct Partner {
    pub address: SocketAddr,
    _running: Running,
}

impl Partner {
    async fn start(folder: &std::path::Path) -> Partner {
        let mut command = program();
        command.args(["sandbox", "--listen", "127.0.0.1:0", "--data"]).arg(folder.join("sandbox"));
        let mut running = Running::start(&mut command, &folder.join("sandbox.log"));
        let line = running.line().await;
        let address = line.strip_prefix("http://").and_then(|address| address.parse().ok());
        Partner { address: address.unwrap_or_else(|| panic!("{line}")), _running: running }
    }

    /// Faults, each for all requests of its method below its path.
    pub async fn faults(&self, faults: &Value) {
        let reply = ask(self.address, "PUT", "/control/faults", &[], &faults.to_string()).await.unwrap();
        assert_eq!(reply.status, 200, "{reply:?}");
    }

    /// Three of ten answers to changes are lost after the change is made.
    pub async fn loses_answers(&self) {
        let lost = |method: &str| json!({"match": {"method": method, "path_prefix": "/v1/"}, "at": "after", "do": "close", "rate": 0.3, "seed": 7});
        self.faults(&json!([lost("POST"), lost("PATCH")])).await;
    }

    pub async fn counts(&self) -> BTreeMap<String, Counts> {
        counts(self.address).await
    }

    pub async fn count(&self, kind: &str) -> Counts {
        self.counts().await.remove(kind).unwrap()
    }
}

pub async fn counts(partner: SocketAddr) -> BTreeMap<String, Counts> {
    let reply = ask(partner, "GET", "/control/effects", &[], "").await.unwrap();
    serde_json::from_value(reply.body["kinds"].clone()).unwrap_or_else(|error| panic!("{error}: {reply:?}"))
}
