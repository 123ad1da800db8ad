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
    on!(tx, |c| bind_fields!(sqlx::query(SQL), row, id, tenant, operation_id, kind, why, reason, proposed_by, excluded, outputs, operation_version, fingerprint, evidence_digest, shown, status, created_at, expires_at, decided_by, decided_at, decided_reason).execute(c).await.map(drop))?;
    Ok(())
}
