//! The count drills trust: how many effects exist, and how many mutating requests arrived, per kind and key.
//!
//! Leaves judging the counts to the drill. Invariant: an effect row commits with the effect itself; a replayed or
//! refused request adds none.

use std::collections::BTreeMap;

use app::ledger::instant::Instant;
use serde::Serialize;
use sqlx::{SqliteConnection, SqlitePool};

use super::arrival::{Arrival, Kind};

#[derive(Debug, Default, Serialize)]
pub struct Counts {
    pub effects: i64,
    pub requests: i64,
    pub by_key: BTreeMap<String, KeyCounts>,
}

#[derive(Debug, Default, Serialize)]
pub struct KeyCounts {
    pub effects: i64,
    pub requests: i64,
}

pub async fn insert(
    connection: &mut SqliteConnection,
    arrival: &Arrival,
    target: &str,
    at: Instant,
) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO effect (kind, key, target, request_id, at) VALUES (?1, ?2, ?3, ?4, ?5)")
        .bind(arrival.kind.name())
        .bind(arrival.counted_under())
        .bind(target)
        .bind(&arrival.request_id)
        .bind(at.micros())
        .execute(connection)
        .await?;
    Ok(())
}

/// Every kind is there, also with nothing to count.
pub async fn count(readers: &SqlitePool) -> sqlx::Result<BTreeMap<&'static str, Counts>> {
    let mut tx = readers.begin().await?;
    let effects: Vec<(String, String, i64)> =
        sqlx::query_as("SELECT kind, key, count(*) FROM effect GROUP BY kind, key").fetch_all(&mut *tx).await?;
    let requests: Vec<(String, String, i64)> =
        sqlx::query_as("SELECT kind, key, count(*) FROM request GROUP BY kind, key").fetch_all(&mut *tx).await?;
    let mut kinds: BTreeMap<&'static str, Counts> = Kind::ALL.map(|kind| (kind.name(), Counts::default())).into();
    for (kind, key, number) in effects {
        if let Some(counts) = kinds.get_mut(kind.as_str()) {
            counts.effects += number;
            counts.by_key.entry(key).or_default().effects += number;
        }
    }
    for (kind, key, number) in requests {
        if let Some(counts) = kinds.get_mut(kind.as_str()) {
            counts.requests += number;
            counts.by_key.entry(key).or_default().requests += number;
        }
    }
    Ok(kinds)
}
