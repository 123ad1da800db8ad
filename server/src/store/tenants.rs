//! Tenants, and small facts about the store itself.
//!
//! Invariant: a tenant, once named, stays.

use super::codec::At;
use super::{Result, Tx};

pub async fn ensure(tx: &mut Tx, id: &str, at: At) -> Result<()> {
    const SQL: &str = "INSERT INTO tenants (id, created_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
    on!(tx, |c| sqlx::query(SQL).bind(id).bind(at).execute(c).await.map(drop))?;
    Ok(())
}

pub async fn list(tx: &mut Tx) -> Result<Vec<String>> {
    const SQL: &str = "SELECT id FROM tenants ORDER BY id";
    let rows: Vec<(String,)> = on!(tx, |c| sqlx::query_as(SQL).fetch_all(c).await)?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// A fact about the store: its epoch, the identity of its keys.
pub async fn find_state(tx: &mut Tx, name: &str) -> Result<Option<String>> {
    const SQL: &str = "SELECT value FROM store_state WHERE name = $1";
    let found: Option<(String,)> = on!(tx, |c| sqlx::query_as(SQL).bind(name).fetch_optional(c).await)?;
    Ok(found.map(|(value,)| value))
}

pub async fn set_state(tx: &mut Tx, name: &str, value: &str) -> Result<()> {
    const SQL: &str = "INSERT INTO store_state (name, value) VALUES ($1, $2) \
         ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    on!(tx, |c| sqlx::query(SQL).bind(name).bind(value).execute(c).await.map(drop))?;
    Ok(())
}
