//! What is remembered, on SQLite or PostgreSQL: one SQL text for both, side by side with a reason where they must differ.
//!
//! A [`Tx`] is an open transaction on either; functions under `store` take one and never commit. Knows no HTTP and
//! decides nothing. Invariant: everything that may write begins with the write lock (SQLite `BEGIN IMMEDIATE`), so that
//! no reader turns writer half way.

use std::path::{Path, PathBuf};
use std::time::Duration;

use app::ledger::instant::Instant;
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{PgPool, Postgres, Sqlite, SqlitePool, Transaction};

use crate::clock::Clock;

/// Runs one query body on whichever database `tx` is open on. `$c` is the connection in it.
macro_rules! on {
    ($tx:expr, |$c:ident| $body:expr) => {
        match $tx {
            $crate::store::Tx::Sqlite($c) => {
                let $c = &mut **$c;
                $body
            }
            $crate::store::Tx::Postgres($c) => {
                let $c = &mut **$c;
                $body
            }
        }
    };
}

/// As `on!`, with `$sql` locking the rows it reads. SQLite's writer has the whole file, so it needs no clause.
macro_rules! on_locked {
    ($tx:expr, $sql:literal, |$c:ident, $q:ident| $body:expr) => {
        match $tx {
            $crate::store::Tx::Sqlite($c) => {
                let ($c, $q) = (&mut **$c, $sql);
                $body
            }
            $crate::store::Tx::Postgres($c) => {
                let ($c, $q) = (&mut **$c, concat!($sql, " FOR UPDATE"));
                $body
            }
        }
    };
}

/// Binds fields of a row, in order.
macro_rules! bind_fields {
    ($query:expr, $row:expr, $($field:ident),+ $(,)?) => { $query$(.bind(&$row.$field))+ };
}

pub mod attempts;
pub mod audit;
pub mod clients;
pub mod codec;
pub mod contracts;
pub mod customers;
pub mod evidence;
pub mod inbound_keys;
pub mod operations;
pub mod people;
pub mod proposals;
pub mod queue;
pub mod secrets;
pub mod sessions;
pub mod targets;
pub mod tenants;
pub mod upstreams;
pub mod workflow_runs;

/// SQLite: readers beside the one writer.
const READERS: u32 = 4;
/// How long SQLite waits for another process's short write (user, client, backup).
const BUSY: Duration = Duration::from_secs(10);
const DEFAULT_POSTGRES_CONNECTIONS: u32 = 16;

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("../migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("../migrations/postgres");

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The row is not as the caller saw it: a compare-and-set changed nothing.
    #[error("{0} has changed meanwhile")]
    Stale(&'static str),
    /// A unique constraint decided for somebody else.
    #[error("another {0} was first")]
    Taken(&'static str),
    #[error("{table} {id} holds what it should not: {what}")]
    Corrupt { table: &'static str, id: String, what: String },
    #[error(transparent)]
    Database(sqlx::Error),
    #[error("migrations: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(inner) if inner.is_unique_violation() => Error::Taken("row"),
            _ => Error::Database(error),
        }
    }
}

impl Error {
    /// Another try of the same transaction may go through: deadlock, serialisation failure, busy file.
    pub fn is_passing(&self) -> bool {
        let Error::Database(sqlx::Error::Database(inner)) = self else { return false };
        matches!(inner.code().as_deref(), Some("40001" | "40P01" | "55P03" | "5" | "517" | "261"))
    }

    /// The database is busy or does not answer; nothing is wrong with what was asked of it.
    pub fn is_away(&self) -> bool {
        const CLASSES: [&str; 3] = ["08", "53", "57"];
        match self {
            Error::Database(sqlx::Error::Database(inner)) => {
                let code = inner.code().unwrap_or_default();
                self.is_passing() || code.len() == 5 && CLASSES.iter().any(|class| code.starts_with(class))
            }
            Error::Database(error) => matches!(
                error,
                sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed
            ),
            _ => false,
        }
    }
}

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

#[derive(Clone, Debug)]
enum Pools {
    Sqlite { writer: SqlitePool, readers: SqlitePool },
    Postgres(PgPool),
}

/// The open store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Db {
    pools: Pools,
    clock: Clock,
}

/// An open transaction.
#[derive(Debug)]
pub enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// Where the store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Db {
    /// Opens without migrating. A missing SQLite file is made.
    pub async fn open(place: &Place, clock: Clock) -> Result<Db> {
        let pools = match place {
            Place::Sqlite(path) => open_sqlite(path).await?,
            Place::Postgres(url) => Pools::Postgres(open_postgres(url, DEFAULT_POSTGRES_CONNECTIONS).await?),
        };
        Ok(Db { pools, clock })
    }

    pub async fn migrate(&self) -> Result<()> {
        match &self.pools {
            Pools::Sqlite { writer, .. } => SQLITE_MIGRATIONS.run(writer).await?,
            Pools::Postgres(pool) => POSTGRES_MIGRATIONS.run(pool).await?,
        }
        Ok(())
    }

    /// An error names the first migration that is missing, unknown or not as it was applied.
    pub async fn check_migrated(&self) -> Result<()> {
        const SQL: &str = "SELECT version FROM _sqlx_migrations WHERE success ORDER BY version";
        let (rows, migrator): (Vec<(i64,)>, _) = match &self.pools {
            Pools::Sqlite { readers, .. } => (sqlx::query_as(SQL).fetch_all(readers).await?, &SQLITE_MIGRATIONS),
            Pools::Postgres(pool) => (sqlx::query_as(SQL).fetch_all(pool).await?, &POSTGRES_MIGRATIONS),
        };
        let applied: Vec<i64> = rows.into_iter().map(|(version,)| version).collect();
        let known: Vec<i64> = migrator.iter().map(|migration| migration.version).collect();
        let missing = known.iter().find(|version| !applied.contains(version));
        let unknown = applied.iter().find(|version| !known.contains(version));
        match (missing, unknown) {
            (None, None) => Ok(()),
            (Some(version), _) => Err(sqlx::migrate::MigrateError::VersionNotPresent(*version).into()),
            (_, Some(version)) => Err(sqlx::migrate::MigrateError::VersionMissing(*version).into()),
        }
    }

    pub fn engine(&self) -> Engine {
        match self.pools {
            Pools::Sqlite { .. } => Engine::Sqlite,
            Pools::Postgres(_) => Engine::Postgres,
        }
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// A transaction that may write.
    pub async fn write(&self) -> Result<Tx> {
        Ok(match &self.pools {
            Pools::Sqlite { writer, .. } => Tx::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?),
            Pools::Postgres(pool) => Tx::Postgres(pool.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await?),
        })
    }

    /// A transaction that reads one consistent picture. Keep it short: a long reader grows SQLite's WAL without end.
    pub async fn read(&self) -> Result<Tx> {
        Ok(match &self.pools {
            Pools::Sqlite { readers, .. } => Tx::Sqlite(readers.begin().await?),
            Pools::Postgres(pool) => {
                Tx::Postgres(pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?)
            }
        })
    }

    pub async fn close(&self) {
        match &self.pools {
            Pools::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.close().await,
        }
    }

    /// The instant that guards: the database's clock on PostgreSQL, this process's on SQLite, plus the offset.
    pub async fn now(&self) -> Result<Instant> {
        let mut tx = self.read().await?;
        tx.now(&self.clock).await
    }
}

impl Tx {
    pub async fn commit(self) -> Result<()> {
        match self {
            Tx::Sqlite(tx) => tx.commit().await?,
            Tx::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }

    pub fn engine(&self) -> Engine {
        match self {
            Tx::Sqlite(_) => Engine::Sqlite,
            Tx::Postgres(_) => Engine::Postgres,
        }
    }

    /// `clock_timestamp()` on PostgreSQL, never `now()`: that is the transaction's start.
    pub async fn now(&mut self, clock: &Clock) -> Result<Instant> {
        match self {
            Tx::Sqlite(_) => Ok(clock.now()),
            Tx::Postgres(tx) => {
                let (codec::At(at),): (codec::At,) =
                    sqlx::query_as("SELECT clock_timestamp()").fetch_one(&mut **tx).await?;
                Ok(Instant::from_micros(at.micros() + clock.offset_micros()))
            }
        }
    }
}

async fn open_sqlite(path: &Path) -> Result<Pools> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY);
    let writer = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
    let readers = SqlitePoolOptions::new().max_connections(READERS).connect_with(options).await?;
    Ok(Pools::Sqlite { writer, readers })
}

async fn open_postgres(url: &str, connections: u32) -> Result<PgPool> {
    let options: PgConnectOptions = url.parse()?;
    // An answer is given only for what is on disk, whatever the server's default says.
    let options = options.options([("synchronous_commit", "on")]);
    Ok(PgPoolOptions::new().max_connections(connections).connect_with(options).await?)
}
