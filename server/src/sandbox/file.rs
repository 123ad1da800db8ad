//! The sandbox's file: how it is opened and what its tables are.
//!
//! Leaves the statements to the module of each noun. Invariant: WAL with `synchronous=FULL`, so what a caller was
//! answered survives the process being killed.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

const FILE_NAME: &str = "sandbox.db";
const READERS: u32 = 4;
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// One text per version of the file; `PRAGMA user_version` counts how many were applied.
const MIGRATIONS: [&str; 1] = [FIRST];

/// `seq` is insertion order; instants are whole microseconds by the sandbox's clock; amounts are exact decimal text.
const FIRST: &str = "
CREATE TABLE setting (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;

CREATE TABLE request (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, key TEXT NOT NULL,
    method TEXT NOT NULL, path TEXT NOT NULL, actor TEXT NOT NULL, source_ip TEXT NOT NULL, at INTEGER NOT NULL,
    status INTEGER
) STRICT;
CREATE INDEX request_by_key ON request (kind, key);

CREATE TABLE effect (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, key TEXT NOT NULL, target TEXT NOT NULL,
    request_id TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE INDEX effect_by_key ON effect (kind, key);

CREATE TABLE key_record (
    space TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
    at INTEGER NOT NULL, PRIMARY KEY (space, key)
) STRICT;

CREATE TABLE group_record (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, external_reference TEXT, created_at INTEGER NOT NULL,
    final_at INTEGER NOT NULL
) STRICT;
CREATE INDEX group_by_reference ON group_record (external_reference);

CREATE TABLE group_state (
    group_id TEXT NOT NULL REFERENCES group_record (id), version INTEGER NOT NULL, name TEXT NOT NULL,
    status TEXT NOT NULL, changed_by TEXT NOT NULL, spend_limit TEXT, currency TEXT, policy_version INTEGER,
    at INTEGER NOT NULL, PRIMARY KEY (group_id, version)
) STRICT;

CREATE TABLE api_key (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, group_id TEXT NOT NULL REFERENCES group_record (id),
    purpose TEXT NOT NULL, external_reference TEXT, created_at INTEGER NOT NULL, final_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX api_key_by_group ON api_key (group_id);

CREATE TABLE money_transaction (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
    group_id TEXT NOT NULL REFERENCES group_record (id), reverses TEXT REFERENCES money_transaction (id),
    amount TEXT NOT NULL, currency TEXT NOT NULL, reference TEXT NOT NULL, reason TEXT, created_at INTEGER NOT NULL,
    final_at INTEGER NOT NULL
) STRICT;
CREATE INDEX money_transaction_by_group ON money_transaction (group_id);
CREATE INDEX money_transaction_by_reference ON money_transaction (reference);
CREATE INDEX money_transaction_by_original ON money_transaction (reverses);

CREATE TABLE audit_event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, request_id TEXT NOT NULL, action TEXT NOT NULL,
    target TEXT NOT NULL, source_ip TEXT NOT NULL, status TEXT NOT NULL, metadata TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_event_by_request ON audit_event (request_id);
CREATE INDEX audit_event_by_target ON audit_event (target);

CREATE TABLE tool_action (
    action_id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, status TEXT NOT NULL, audit_id TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
";

/// The writer, and the readers beside it.
pub async fn open(folder: &Path) -> anyhow::Result<(SqlitePool, SqlitePool)> {
    tokio::fs::create_dir_all(folder)
        .await
        .with_context(|| format!("cannot make the sandbox's folder {}", folder.display()))?;
    let path = folder.join(FILE_NAME);
    let options = SqliteConnectOptions::new()
        .filename(&path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true);
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options.clone())
        .await
        .with_context(|| format!("cannot open {}", path.display()))?;
    migrate(&writer).await.with_context(|| format!("cannot migrate {}", path.display()))?;
    let readers = SqlitePoolOptions::new().max_connections(READERS).connect_with(options.read_only(true)).await?;
    Ok((writer, readers))
}

async fn migrate(writer: &SqlitePool) -> anyhow::Result<()> {
    let mut tx = writer.begin_with("BEGIN IMMEDIATE").await?;
    let applied: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *tx).await?;
    let applied = usize::try_from(applied)?;
    anyhow::ensure!(applied <= MIGRATIONS.len(), "the file is of a newer version ({applied}) than this program");
    for text in &MIGRATIONS[applied..] {
        sqlx::raw_sql(*text).execute(&mut *tx).await?;
    }
    if applied < MIGRATIONS.len() {
        sqlx::raw_sql(NEWEST).execute(&mut *tx).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Pragmas take no bound values; a test holds the number to the length of `MIGRATIONS`.
const NEWEST: &str = "PRAGMA user_version = 1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_the_number_of_migrations() {
        assert_eq!(NEWEST, format!("PRAGMA user_version = {}", MIGRATIONS.len()));
    }
}
