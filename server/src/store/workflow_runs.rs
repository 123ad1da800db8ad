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
    on!(tx, |c| bind_fields!(
        sqlx::query(SQL),
        row,
        id,
        tenant,
        workflow,
        customer_id,
        principal,
        intent_digest,
        intent_text,
        fingerprint,
        params,
        definition,
        created_at,
        stopped_at,
        finished_at
    )
    .execute(c)
    .await
    .map(drop))?;
    Ok(())
}

pub async fn find(tx: &mut Tx, id: Id) -> Result<Option<Run>> {
    const SQL: &str = "SELECT * FROM workflow_runs WHERE id = $1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(id).fetch_optional(c).await)?)
}

pub async fn find_locked(tx: &mut Tx, id: Id) -> Result<Option<Run>> {
    Ok(on_locked!(tx, "SELECT * FROM workflow_runs WHERE id = $1", |c, sql| {
        sqlx::query_as(sql).bind(id).fetch_optional(c).await
    })?)
}

pub async fn find_intent(tx: &mut Tx, tenant: &str, workflow: &str, intent: &str) -> Result<Option<Run>> {
    const SQL: &str = "SELECT * FROM workflow_runs WHERE tenant = $1 AND workflow = $2 AND intent_digest = $3";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(tenant).bind(workflow).bind(intent).fetch_optional(c).await)?)
}

/// The newest run for the customer.
pub async fn find_of_customer(tx: &mut Tx, customer: Id) -> Result<Option<Run>> {
    const SQL: &str = "SELECT * FROM workflow_runs WHERE customer_id = $1 ORDER BY id DESC LIMIT 1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(customer).fetch_optional(c).await)?)
}

/// Runs with something left to start, oldest first.
pub async fn list_unfinished(tx: &mut Tx, limit: i64) -> Result<Vec<Id>> {
    const SQL: &str = "SELECT id FROM workflow_runs WHERE finished_at IS NULL ORDER BY created_at, id LIMIT $1";
    let rows: Vec<(Id,)> = on!(tx, |c| sqlx::query_as(SQL).bind(limit).fetch_all(c).await)?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

pub async fn finish(tx: &mut Tx, id: Id, at: At) -> Result<()> {
    const SQL: &str = "UPDATE workflow_runs SET finished_at = $1 WHERE id = $2 AND finished_at IS NULL";
    on!(tx, |c| sqlx::query(SQL).bind(at).bind(id).execute(c).await.map(drop))?;
    Ok(())
}
