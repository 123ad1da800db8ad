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
    on!(tx, |c| bind_fields!(
        sqlx::query(SQL),
        row,
        id,
        subject_kind,
        subject_id,
        sequence,
        tenant,
        at,
        actor_kind,
        actor_id,
        actor_name,
        actor_roles,
        verb,
        outcome,
        outcome_class,
        from_status,
        to_status,
        reason,
        decision,
        contract,
        risk,
        business_subject,
        fingerprint,
        version,
        fence,
        attempt,
        recovery_step,
        confirmer,
        final_handler,
        task_id,
        action_id,
        confirmation_id,
        upstream_request_id,
        upstream_audit_id,
        correlation_id,
        note,
        row_digest,
        previous_hash,
        hash,
        mac
    )
    .execute(c)
    .await
    .map(drop))?;
    Ok(())
}

/// The end of a subject's chain: sequence and hash. The caller holds the subject's row.
pub async fn last(tx: &mut Tx, kind: &str, id: &str) -> Result<Option<(i64, String)>> {
    const SQL: &str = "SELECT sequence, hash FROM audit WHERE subject_kind = $1 AND subject_id = $2 \
         ORDER BY sequence DESC LIMIT 1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(kind).bind(id).fetch_optional(c).await)?)
}

pub async fn list_of_subject(tx: &mut Tx, kind: &str, id: &str, limit: i64) -> Result<Vec<Entry>> {
    const SQL: &str = "SELECT * FROM audit WHERE subject_kind = $1 AND subject_id = $2 ORDER BY sequence LIMIT $3";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(kind).bind(id).bind(limit).fetch_all(c).await)?)
}

/// The newest rows of the tenants in the JSON array, and of none.
pub async fn list_newest(tx: &mut Tx, tenants: &str, limit: i64) -> Result<Vec<Entry>> {
    macro_rules! select {
        ($members:literal) => {
            concat!(
                "SELECT * FROM audit WHERE tenant IS NULL OR tenant IN ",
                $members,
                " ORDER BY at DESC, id DESC LIMIT $2"
            )
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
