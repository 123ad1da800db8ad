//! Proposals: held admissions and conclusions that need a second person.
//!
//! Invariant: one open proposal per operation (a unique index), and what was shown is never rewritten.

use super::codec::{At, Id};
use super::{Error, Result, Tx};

/// What waits for another person.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Proposal {
    pub id: Id,
    pub tenant: String,
    pub operation_id: Id,
    pub kind: String,
    pub why: String,
    pub reason: Option<String>,
    pub proposed_by: String,
    pub excluded: String,
    pub outputs: Option<String>,
    pub operation_version: i64,
    pub fingerprint: String,
    pub evidence_digest: String,
    pub shown: String,
    pub status: String,
    pub created_at: At,
    pub expires_at: Option<At>,
    pub decided_by: Option<Id>,
    pub decided_at: Option<At>,
    pub decided_reason: Option<String>,
}

pub async fn insert(tx: &mut Tx, row: &Proposal) -> Result<()> {
    const SQL: &str = "INSERT INTO proposals (id, tenant, operation_id, kind, why, reason, proposed_by, excluded, outputs, operation_version, \
         fingerprint, evidence_digest, shown, status, created_at, expires_at, decided_by, decided_at, \
         decided_reason) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";
    on!(tx, |c| bind_fields!(
        sqlx::query(SQL),
        row,
        id,
        tenant,
        operation_id,
        kind,
        why,
        reason,
        proposed_by,
        excluded,
        outputs,
        operation_version,
        fingerprint,
        evidence_digest,
        shown,
        status,
        created_at,
        expires_at,
        decided_by,
        decided_at,
        decided_reason
    )
    .execute(c)
    .await
    .map(drop))?;
    Ok(())
}

pub async fn find(tx: &mut Tx, id: Id) -> Result<Option<Proposal>> {
    const SQL: &str = "SELECT * FROM proposals WHERE id = $1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(id).fetch_optional(c).await)?)
}

pub async fn list_of_operation(tx: &mut Tx, operation: Id) -> Result<Vec<Proposal>> {
    const SQL: &str = "SELECT * FROM proposals WHERE operation_id = $1 ORDER BY id";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(operation).fetch_all(c).await)?)
}

/// Open ones of the tenants in the JSON array, oldest first.
pub async fn list_open(tx: &mut Tx, tenants: &str, limit: i64) -> Result<Vec<Proposal>> {
    macro_rules! select {
        ($members:literal) => {
            concat!("SELECT * FROM proposals WHERE status = 'open' AND tenant IN ", $members, " ORDER BY id LIMIT $2")
        };
    }
    Ok(match tx {
        Tx::Sqlite(c) => {
            let query = sqlx::query_as(select!("(SELECT value FROM json_each($1))"));
            query.bind(tenants).bind(limit).fetch_all(&mut **c).await?
        }
        Tx::Postgres(c) => {
            let query = sqlx::query_as(select!("(SELECT jsonb_array_elements_text($1::jsonb))"));
            query.bind(tenants).bind(limit).fetch_all(&mut **c).await?
        }
    })
}

/// Open ones whose time is over.
pub async fn list_expired(tx: &mut Tx, now: At, limit: i64) -> Result<Vec<Proposal>> {
    const SQL: &str = "SELECT * FROM proposals WHERE status = 'open' AND expires_at <= $1 ORDER BY id LIMIT $2";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(now).bind(limit).fetch_all(c).await)?)
}

/// Ends an open proposal; `Stale` if it is not open any more.
pub async fn close(tx: &mut Tx, row: &Proposal) -> Result<()> {
    const SQL: &str = "UPDATE proposals SET status = $1, decided_by = $2, decided_at = $3, decided_reason = $4 \
         WHERE id = $5 AND status = 'open'";
    let changed = on!(tx, |c| {
        let query = bind_fields!(sqlx::query(SQL), row, status, decided_by, decided_at, decided_reason, id);
        query.execute(c).await.map(|done| done.rows_affected())
    })?;
    if changed == 1 { Ok(()) } else { Err(Error::Stale("the proposal")) }
}
