//! Workflow runs (parents of operations).
//!
//! Invariant: one run per intent, for ever.

use super::codec::{At, Id};
use super::{Result, Tx};

/// A workflow for one customer. It has no lifecycle of its own: its state follows from its children.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Run {
    pub id: Id,
    pub tenant: String,
    pub workflow: String,
    pub customer_id: Id,
    pub principal: String,
    pub intent_digest: String,
    pub intent_text: String,
    pub fingerprint: String,
    pub params: String,
    pub definition: String,
    pub created_at: At,
    pub stopped_at: Option<At>,
    pub finished_at: Option<At>,
}

pub async fn insert(tx: &mut Tx, row: &Run) -> Result<()> {
    const SQL: &str = "INSERT INTO workflow_runs (id, tenant, workflow, customer_id, principal, intent_digest, intent_text, fingerprint, params, \
         definition, created_at, stopped_at, finished_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    on!(tx, |c| bind_fields!(sqlx::query(SQL), row, id, tenant, workflow, customer_id, principal, intent_digest, intent_text, fingerprint, params, definition, created_at, stopped_at, finished_at).execute(c).await.map(drop))?;
    Ok(())
}
