//! Targets: one row per thing that a state-setting contract acts on.
//!
//! Locked in the claim's transaction. Invariant: at most one open attempt, and nothing older goes out after something
//! newer was sent.

use super::codec::Id;
use super::{Result, Tx};

#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Target {
    pub upstream: String,
    pub target: String,
    pub open_operation_id: Option<Id>,
    pub newest_sent: i64,
}

/// The row, made if it is missing, locked.
pub async fn lock(tx: &mut Tx, upstream: &str, target: &str) -> Result<Target> {
    const SQL: &str = "INSERT INTO targets (upstream, target, newest_sent) VALUES ($1, $2, 0) \
         ON CONFLICT (upstream, target) DO NOTHING";
    on!(tx, |c| sqlx::query(SQL).bind(upstream).bind(target).execute(c).await.map(drop))?;
    Ok(on_locked!(tx, "SELECT * FROM targets WHERE upstream = $1 AND target = $2", |c, sql| {
        sqlx::query_as(sql).bind(upstream).bind(target).fetch_one(c).await
    })?)
}

pub async fn find(tx: &mut Tx, upstream: &str, target: &str) -> Result<Option<Target>> {
    const SQL: &str = "SELECT * FROM targets WHERE upstream = $1 AND target = $2";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(upstream).bind(target).fetch_optional(c).await)?)
}

/// Writes a row that the caller has locked.
pub async fn save(tx: &mut Tx, row: &Target) -> Result<()> {
    const SQL: &str = "UPDATE targets SET open_operation_id = $1, newest_sent = $2 WHERE upstream = $3 AND target = $4";
    on!(tx, |c| {
        let query = bind_fields!(sqlx::query(SQL), row, open_operation_id, newest_sent, upstream, target);
        query.execute(c).await.map(drop)
    })?;
    Ok(())
}

/// Locks the row of a business reference, made if it is missing, for as long as the transaction lasts.
pub async fn lock_reference(tx: &mut Tx, tenant: &str, reference: &str) -> Result<()> {
    const SQL: &str = "INSERT INTO business_references (tenant, reference) VALUES ($1, $2) \
         ON CONFLICT (tenant, reference) DO NOTHING";
    on!(tx, |c| sqlx::query(SQL).bind(tenant).bind(reference).execute(c).await.map(drop))?;
    on_locked!(tx, "SELECT reference FROM business_references WHERE tenant = $1 AND reference = $2", |c, sql| {
        sqlx::query(sql).bind(tenant).bind(reference).fetch_one(c).await.map(drop)
    })?;
    Ok(())
}
