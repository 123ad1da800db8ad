//! A database of one test: a file in a folder of its own, or a PostgreSQL database made from a migrated template.
//!
//! Leaves the server itself to `./dev`. Invariant: two tests never share rows, and what a test made is gone when it ends.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use app::ledger::key::sha256_hex;
use ascertain::clock::Clock;
use ascertain::store::{self, Db};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tempfile::TempDir;
use tokio::sync::OnceCell;

pub use ascertain::store::Engine;

const VARIABLE: &str = "ASCERTAIN_TEST_POSTGRES";
const MISSING: &str = "run ./dev test, or export ASCERTAIN_TEST_POSTGRES";

static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

pub struct Place {
    pub store: store::Place,
    _folder: Option<TempDir>,
    database: Option<String>,
}

impl Place {
    pub async fn make(engine: Engine) -> Place {
        match engine {
            Engine::Sqlite => {
                let folder = tempfile::tempdir().unwrap();
                let store = store::Place::Sqlite(folder.path().join("ledger.db"));
                Db::open(&store, Clock::new()).await.unwrap().migrate().await.unwrap();
                Place { store, _folder: Some(folder), database: None }
            }
            Engine::Postgres => {
                let template = TEMPLATE.get_or_init(make_template).await;
                let number = DATABASES.fetch_add(1, Ordering::SeqCst);
                let name = format!("ascertain_test_{}_{number}", std::process::id());
                let mut server = connect().await;
                run(&mut server, format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
                let store = store::Place::Postgres(url_of(&name));
                Place { store, _folder: None, database: Some(name) }
            }
        }
    }

    /// The folder of a SQLite database goes by itself.
    pub async fn clear(&self) {
        if let Some(name) = &self.database {
            let mut server = connect().await;
            run(&mut server, format!("DROP DATABASE {name} WITH (FORCE)")).await;
        }
    }
}

/// One template per state of the migrations, kept on the server for the next run. It gets its name when it is whole.
async fn make_template() -> String {
    let name = format!("ascertain_template_{}", &sha256_hex(migrations().as_bytes())[..16]);
    let mut server = connect().await;
    // Other test crates may be here at the same moment; the lock ends with the connection.
    run(&mut server, "SELECT pg_advisory_lock(7420)".into()).await;
    let known: Option<(String,)> = sqlx::query_as("SELECT datname::text FROM pg_database WHERE datname = $1")
        .bind(&name)
        .fetch_optional(&mut server)
        .await
        .unwrap();
    if known.is_none() {
        let unfinished = format!("{name}_unfinished");
        run(&mut server, format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)")).await;
        run(&mut server, format!("CREATE DATABASE {unfinished}")).await;
        let db = Db::open(&store::Place::Postgres(url_of(&unfinished)), Clock::new()).await.unwrap();
        db.migrate().await.unwrap();
        db.close().await;
        run(&mut server, format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await;
    }
    server.close().await.unwrap();
    name
}

fn migrations() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations/postgres");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

fn server_url() -> String {
    std::env::var(VARIABLE).unwrap_or_else(|_| panic!("{MISSING}"))
}

fn url_of(database: &str) -> String {
    let url = server_url();
    let (address, query) = url.split_once('?').map_or((url.as_str(), ""), |(address, query)| (address, query));
    let (server, _) = address.rsplit_once('/').expect("a URL that names a database");
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    format!("{server}/{database}{query}")
}

async fn connect() -> PgConnection {
    let options: PgConnectOptions = server_url().parse().expect("a PostgreSQL URL");
    PgConnection::connect_with(&options).await.unwrap_or_else(|error| panic!("{error}; {MISSING}"))
}

/// Names of databases can't be bound; those here are made of digits and fixed words.
async fn run(server: &mut PgConnection, sql: String) {
    server.execute(AssertSqlSafe(sql.clone())).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
}
