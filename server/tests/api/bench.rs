//! A router on a database of its own, with clients and a partner that agrees to everything.
//!
//! `both!` makes `name::sqlite` and `name::postgres` of a test. Time passes only by itself: nothing here waits.
//! Invariant: the database is gone when the test ends, however it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use app::ledger::contract::Catalog;
use app::ledger::wire::{Phase, Timings, WireEnd, WireReport};
use ascertain::clock::Clock;
use ascertain::connector::{Outgoing, Sending, Wire};
use ascertain::http::{App, HttpSettings, router};
use ascertain::ids::random_hex;
use ascertain::keys::Keys;
use ascertain::ledger::clients::{NewClient, token_digest};
use ascertain::ledger::conclude::Lane;
use ascertain::ledger::shelf::Shelf;
use ascertain::ledger::{Actor, Ledger, Settings};
use ascertain::store::{Db, Engine, Place, Tx, clients};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tower::ServiceExt;

const VARIABLE: &str = "ASCERTAIN_TEST_POSTGRES";
/// Rounds of all workers before it counts as a loop.
const ROUNDS: usize = 200;

static KEYS: AtomicU32 = AtomicU32::new(1);

macro_rules! both {
    ($($(#[doc = $doc:literal])* async fn $name:ident($bench:ident) $body:block)+) => {$(
        mod $name {
            use super::*;

            async fn body($bench: std::sync::Arc<crate::bench::Bench>) $body

            $(#[doc = $doc])*
            #[test]
            fn sqlite() {
                crate::bench::run(ascertain::store::Engine::Sqlite, body);
            }

            $(#[doc = $doc])*
            #[test]
            fn postgres() {
                crate::bench::run(ascertain::store::Engine::Postgres, body);
            }
        }
    )+};
}
pub(crate) use both;

pub struct Bench {
    pub ledger: Ledger,
    pub router: Router,
    place: Place,
    keys: Keys,
}

#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
    pub text: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn id(&self) -> String {
        self.body["id"].as_str().unwrap_or_else(|| panic!("no id: {self:#?}")).to_string()
    }

    /// A problem of this status and code that names what and where, and nothing of ours.
    pub fn is_problem(&self, status: u16, code: &str) -> &Answer {
        assert_eq!((self.status.as_u16(), self.body["code"].as_str()), (status, Some(code)), "{self:#?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.body["type"], json!(format!("/problems/{code}")));
        assert_eq!(self.body["status"], json!(status));
        assert_eq!(self.body["request_id"].as_str(), self.header("x-request-id"));
        for member in ["title", "detail", "hint"] {
            assert!(self.body[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {self:#?}");
        }
        for ours in ["SELECT", "INSERT", "sqlx", "constraint", "panicked"] {
            assert!(!self.text.contains(ours), "{self:#?}");
        }
        self
    }

    pub fn is_about(&self, field: &str) -> &Answer {
        self.is_problem(400, "invalid-parameter");
        assert_eq!(self.body["field"], json!(field), "{self:#?}");
        assert!(self.body["detail"].as_str().unwrap().contains(field), "{self:#?}");
        self
    }
}

pub fn run<F>(engine: Engine, body: impl FnOnce(Arc<Bench>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let database = format!("ascertain_api_{}", random_hex(8));
        let place = match engine {
            Engine::Sqlite => Place::Sqlite(folder.path().join("ledger.db")),
            Engine::Postgres => {
                on_server(format!("CREATE DATABASE {database}")).await;
                Place::Postgres(url_of(&database))
            }
        };
        let bench = Arc::new(Bench::open(place).await);
        let outcome = tokio::spawn(body(bench.clone())).await;
        bench.ledger.db.close().await;
        if engine == Engine::Postgres {
            on_server(format!("DROP DATABASE {database} WITH (FORCE)")).await;
        }
        if let Err(failed) = outcome {
            std::panic::resume_unwind(failed.into_panic());
        }
    });
}

fn server_url() -> String {
    std::env::var(VARIABLE).unwrap_or_else(|_| panic!("run ./dev test, or ./dev pg and export {VARIABLE}"))
}

fn url_of(database: &str) -> String {
    let url = server_url();
    let (server, _) = url.rsplit_once('/').expect("a URL that names a database");
    format!("{server}/{database}")
}

/// Names of databases can't be bound; those here are made of digits and fixed words.
async fn on_server(sql: String) {
    let options: PgConnectOptions = server_url().parse().expect("a PostgreSQL URL");
    let mut server = PgConnection::connect_with(&options).await.expect("PostgreSQL answers");
    server.execute(AssertSqlSafe(sql)).await.unwrap();
}

fn catalog() -> Catalog {
    let files = [
        ("gate.toml", include_str!("../../catalog/gate.toml")),
        ("legacy.toml", include_str!("../../catalog/legacy.toml")),
        ("extra.toml", include_str!("extra.toml")),
    ];
    Catalog::load_all(&files).unwrap()
}

async fn open(place: &Place, keys: &Keys, catalog: Catalog) -> (Ledger, Router) {
    let db = Db::open(place, Clock::new()).await.unwrap();
    db.migrate().await.unwrap();
    let shelf = Shelf::stock(&db, catalog, false).await.unwrap();
    let ledger = Ledger::new(db, keys.clone(), shelf, Arc::new(Agreeing), Settings::default());
    let settings = HttpSettings {
        public_url: "http://127.0.0.1:7420".into(),
        console: true,
        demo: false,
        session_ttl: Duration::from_secs(60),
    };
    let router = router(App { ledger: ledger.clone(), settings: Arc::new(settings) });
    (ledger, router)
}

impl Bench {
    async fn open(place: Place) -> Bench {
        let keys = Keys::random();
        let (ledger, router) = open(&place, &keys, catalog()).await;
        Bench { ledger, router, place, keys }
    }

    /// The same database under another catalog, as after an upgrade.
    pub async fn upgraded(&self, change: impl FnOnce(&mut Catalog)) -> Bench {
        let mut catalog = catalog();
        change(&mut catalog);
        let (ledger, router) = open(&self.place, &self.keys, catalog).await;
        Bench { ledger, router, place: self.place.clone(), keys: self.keys.clone() }
    }

    /// A client's token.
    pub async fn client(&self, tenant: &str, contracts: &[&str], scopes: &[&str]) -> String {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let new = NewClient {
            tenant: tenant.into(),
            name: "shop".into(),
            contracts: names(contracts),
            scopes: names(scopes),
            owner: None,
            made_by: None,
            ttl: None,
        };
        self.ledger.add_client(new, &Actor::worker("test", "test")).await.unwrap().1
    }

    /// Changes the client behind the token.
    pub async fn change_client(&self, token: &str, change: impl FnOnce(&mut clients::Client)) {
        let mut tx = self.ledger.db.write().await.unwrap();
        let mut client = clients::find_by_token(&mut tx, &token_digest(token)).await.unwrap().unwrap();
        change(&mut client);
        clients::update(&mut tx, &client).await.unwrap();
        tx.commit().await.unwrap();
    }

    pub async fn call(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let body = serde_json::from_str(&text).unwrap_or_default();
        Answer { status: parts.status, headers: parts.headers, body, text }
    }

    pub async fn get(&self, token: &str, path: &str) -> Answer {
        let request = Request::get(path).header("authorization", format!("Bearer {token}"));
        self.call(request.body(Body::empty()).unwrap()).await
    }

    pub async fn post(&self, token: &str, path: &str, key: &str, body: &Value) -> Answer {
        self.post_text(token, path, key, body.to_string()).await
    }

    pub async fn post_text(&self, token: &str, path: &str, key: &str, body: impl Into<Body>) -> Answer {
        self.call(post(token, path, key, body)).await
    }

    pub async fn admit(&self, token: &str, key: &str, contract: &str, params: Value) -> Answer {
        self.post(token, "/v1/operations", key, &json!({"contract": contract, "params": params})).await
    }

    /// Signs a customer up and makes everything that belongs to it.
    pub async fn provisioned(&self, token: &str, customer: &str) {
        let body = json!({
            "external_id": customer, "name": "Ann", "signup_version": 1, "spend_limit": "250.00", "currency": "USD",
        });
        let asked = self.post(token, "/v1/customers", &new_key(), &body).await;
        self.work().await;
        let done = self.get(token, asked.header("location").unwrap()).await;
        assert_eq!(done.body["state"], json!("provisioned"), "{done:#?}");
    }

    /// Steps everything that is due until nothing is.
    pub async fn work(&self) {
        for _ in 0..ROUNDS {
            let mut worked = self.ledger.advance_runs().await.unwrap();
            for upstream in self.ledger.shelf.upstream_names() {
                for lane in [Lane::Dispatch, Lane::Recover] {
                    worked += usize::from(self.ledger.step(&upstream, lane).await.unwrap());
                }
            }
            if worked == 0 {
                return;
            }
        }
        panic!("workers go round in circles");
    }

    /// Operations, inbound keys, workflow runs.
    pub async fn stored(&self) -> (i64, i64, i64) {
        const SQL: &str = "SELECT (SELECT COUNT(*) FROM operations), (SELECT COUNT(*) FROM inbound_keys), \
             (SELECT COUNT(*) FROM workflow_runs)";
        let mut tx = self.ledger.db.read().await.unwrap();
        match &mut tx {
            Tx::Sqlite(c) => sqlx::query_as(SQL).fetch_one(&mut **c).await.unwrap(),
            Tx::Postgres(c) => sqlx::query_as(SQL).fetch_one(&mut **c).await.unwrap(),
        }
    }
}

pub fn post(token: &str, path: &str, key: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("idempotency-key", HeaderValue::from_bytes(key.as_bytes()).unwrap())
        .body(body.into())
        .unwrap()
}

pub fn new_key() -> String {
    format!("key-{}", KEYS.fetch_add(1, Ordering::SeqCst))
}

pub fn grant(id: &str, amount: &str) -> Value {
    json!({"customer_id": "c-1", "grant_id": id, "amount": amount, "currency": "USD"})
}

pub fn top_up(customer: &str, payment: &str, amount: &str) -> Value {
    json!({"customer_id": customer, "payment_id": payment, "amount": amount, "currency": "USD"})
}

/// Answers every request with what it said, an id and a state that counts as done.
struct Agreeing;

impl Wire for Agreeing {
    fn send<'a>(&'a self, outgoing: Outgoing<'a>) -> Sending<'a> {
        let mut body: Value =
            outgoing.body.as_deref().and_then(|body| serde_json::from_slice(body).ok()).unwrap_or(json!({}));
        let path: Vec<&str> = outgoing.path_and_query.split('/').collect();
        let (kind, status) = match path.last() {
            Some(&"keys") => ("key", "active"),
            Some(&"credits") => ("txn", "posted"),
            _ => ("grp", "active"),
        };
        let reference = ["reference", "external_reference"].iter().find_map(|name| body[*name].as_str());
        let id = format!("{kind}_{}", reference.unwrap_or("asc-0").trim_start_matches("asc-"));
        let group = path.get(3).map(ToString::to_string);
        body["id"] = json!(if path.last() == Some(&"limits") { group.clone() } else { Some(id) });
        body["status"] = json!(status);
        body["group"] = json!(group);
        if kind == "key" {
            body["secret"] = json!("sk_secret_of_the_partner");
        }
        let body = body.to_string().into_bytes();
        let end = WireEnd::Answer { status: 201, headers: Vec::new(), body, complete: true, too_large: false };
        let report = WireReport { phase: Phase::Body, byte_left: true, end, timings: Timings::default() };
        Box::pin(std::future::ready(report))
    }
}
