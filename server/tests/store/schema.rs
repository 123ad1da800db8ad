//! The two folders of migrations make the same tables.
//!
//! Compares what the databases say of themselves, not the files. Invariant: a column is on both, in its place.

use std::collections::{BTreeMap, BTreeSet};

use ascertain::clock::Clock;
use ascertain::store::{Db, Tx};

use crate::support::place::{Engine, Place};

/// Kept by the migrations' own table, which differs and is not ours.
const NOT_OURS: &str = "_sqlx_migrations";

/// Name, type in SQLite's words, and whether it may be missing.
type Column = (String, String, bool);
/// The columns that are unique together, and whether only where a condition holds.
type Unique = (BTreeSet<String>, bool);

#[derive(Debug, Default, PartialEq)]
struct Table {
    columns: Vec<Column>,
    unique: BTreeSet<Unique>,
}

type Tables = BTreeMap<String, Table>;

fn in_sqlite_words(kind: &str) -> &str {
    match kind {
        "uuid" | "text" | "numeric" => "TEXT",
        "timestamp with time zone" | "bigint" | "boolean" => "INTEGER",
        "bytea" => "BLOB",
        other => other,
    }
}

async fn of_sqlite(tx: &mut Tx) -> Tables {
    let Tx::Sqlite(c) = tx else { unreachable!("opened as SQLite") };
    let columns: Vec<(String, String, String, i64, i64)> = sqlx::query_as(
        "SELECT m.name, c.name, c.type, c.\"notnull\", c.pk FROM sqlite_schema m JOIN pragma_table_info(m.name) c \
         WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.cid",
    )
    .fetch_all(&mut **c)
    .await
    .unwrap();
    let unique: Vec<(String, String, i64, String)> = sqlx::query_as(
        "SELECT m.name, i.name, i.partial, c.name FROM sqlite_schema m JOIN pragma_index_list(m.name) i \
         JOIN pragma_index_info(i.name) c WHERE m.type = 'table' AND i.\"unique\" = 1 ORDER BY 1, 2",
    )
    .fetch_all(&mut **c)
    .await
    .unwrap();
    let columns = columns.into_iter().map(|(table, name, kind, required, key)| {
        // A key of a STRICT table is never NULL, though it isn't declared so.
        (table, (name, kind, required == 0 && key == 0))
    });
    gather(columns, unique.into_iter().map(|(table, index, partial, column)| (table, index, partial != 0, column)))
}

async fn of_postgres(tx: &mut Tx) -> Tables {
    let Tx::Postgres(c) = tx else { unreachable!("opened as PostgreSQL") };
    let columns: Vec<(String, String, String, bool)> = sqlx::query_as(
        "SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES' \
         FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position",
    )
    .fetch_all(&mut **c)
    .await
    .unwrap();
    let unique: Vec<(String, String, bool, String)> = sqlx::query_as(
        "SELECT t.relname::text, n.relname::text, i.indpred IS NOT NULL, a.attname::text FROM pg_index i \
         JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class n ON n.oid = i.indexrelid \
         JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (i.indkey) \
         WHERE i.indisunique AND t.relnamespace = 'public'::regnamespace ORDER BY 1, 2",
    )
    .fetch_all(&mut **c)
    .await
    .unwrap();
    let columns = columns
        .into_iter()
        .map(|(table, name, kind, optional)| (table, (name, in_sqlite_words(&kind).to_string(), optional)));
    gather(columns, unique.into_iter())
}

fn gather(
    columns: impl Iterator<Item = (String, Column)>,
    unique: impl Iterator<Item = (String, String, bool, String)>,
) -> Tables {
    let mut tables = Tables::new();
    for (table, column) in columns {
        tables.entry(table).or_default().columns.push(column);
    }
    let mut indexes: BTreeMap<(String, String), Unique> = BTreeMap::new();
    for (table, index, partial, column) in unique {
        let (columns, is_partial) = indexes.entry((table, index)).or_default();
        columns.insert(column);
        *is_partial = partial;
    }
    for ((table, _), index) in indexes {
        tables.entry(table).or_default().unique.insert(index);
    }
    tables.remove(NOT_OURS);
    tables
}

#[tokio::test]
async fn both_databases_have_the_same_tables() {
    let mut found = Vec::new();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let place = Place::make(engine).await;
        let db = Db::open(&place.store, Clock::new()).await.unwrap();
        let mut tx = db.read().await.unwrap();
        found.push(match engine {
            Engine::Sqlite => of_sqlite(&mut tx).await,
            Engine::Postgres => of_postgres(&mut tx).await,
        });
        drop(tx);
        db.close().await;
        place.clear().await;
    }
    let (sqlite, postgres) = (&found[0], &found[1]);
    assert!(sqlite.len() > 15, "{:?}", sqlite.keys());
    assert_eq!(sqlite.keys().collect::<Vec<_>>(), postgres.keys().collect::<Vec<_>>());
    for (name, table) in sqlite {
        assert_eq!(table, &postgres[name], "{name}");
    }
}
