//! Audit rows: stored here, chained and signed in `ledger::audit`.
//!
//! Invariant: append-only; a trigger refuses update and delete.

use super::codec::{At, Id};
use super::{Result, Tx};

/// One change or denied attempt.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Entry {
    pub id: Id,
    pub subject_kind: String,
    pub subject_id: String,
    pub sequence: i64,
    pub tenant: Option<String>,
    pub at: At,
    pub actor_kind: String,
    pub actor_id: String,
    pub actor_name: String,
    pub actor_roles: String,
    pub verb: String,
    pub outcome: String,
    pub outcome_class: Option<String>,
    pub from_status: Option<String>,
    pub to_status: Option<String>,
    pub reason: Option<String>,
    pub decision: Option<String>,
    pub contract: Option<String>,
    pub risk: Option<String>,
    pub business_subject: Option<String>,
    pub fingerprint: Option<String>,
    pub version: Option<i64>,
    pub fence: Option<i64>,
    pub attempt: Option<i64>,
    pub recovery_step: Option<String>,
    pub confirmer: Option<String>,
    pub final_handler: Option<String>,
    pub task_id: Option<String>,
    pub action_id: Option<String>,
    pub confirmation_id: Option<String>,
    pub upstream_request_id: Option<String>,
    pub upstream_audit_id: Option<String>,
    pub correlation_id: String,
    pub note: Option<String>,
    pub row_digest: String,
    pub previous_hash: String,
    pub hash: String,
    pub mac: String,
}

pub async fn insert(tx: &mut Tx, row: &Entry) -> Result<()> {
    const SQL: &str = "INSERT INTO audit (id, subject_kind, subject_id, sequence, tenant, at, actor_kind, actor_id, actor_name, actor_roles, \
         verb, outcome, outcome_class, from_status, to_status, reason, decision, contract, risk, \
         business_subject, fingerprint, version, fence, attempt, recovery_step, confirmer, final_handler, \
         task_id, action_id, confirmation_id, upstream_request_id, upstream_audit_id, correlation_id, note, \
         row_digest, previous_hash, hash, mac) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
         $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38)";
    on!(tx, |c| bind_fields!(sqlx::query(SQL), row, id, subject_kind, subject_id, sequence, tenant, at, actor_kind, actor_id, actor_name, actor_roles, verb, outcome, outcome_class, from_status, to_status, reason, decision, contract, risk, business_subject, fingerprint, version, fence, attempt, recovery_step, confirmer, final_handler, task_id, action_id, confirmation_id, upstream_request_id, upstream_audit_id, correlation_id, note, row_digest, previous_hash, hash, mac).execute(c).await.map(drop))?;
    Ok(())
}
