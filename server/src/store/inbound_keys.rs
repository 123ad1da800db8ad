//! Inbound keys: scope, digest, fingerprint, and what the key joined.
//!
//! Invariant: a key never moves to another operation; rows are append-only.

use super::codec::{At, Id};
use super::{Result, Tx};

/// A caller's key, by digest.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct InboundKey {
    pub tenant: String,
    pub principal: String,
    pub contract: String,
    pub key_digest: String,
    pub fingerprint: String,
    pub operation_id: Option<Id>,
    pub run_id: Option<Id>,
    pub created_at: At,
}

pub async fn insert(tx: &mut Tx, row: &InboundKey) -> Result<()> {
    const SQL: &str = "INSERT INTO inbound_keys (tenant, principal, contract, key_digest, fingerprint, operation_id, run_id, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    on!(tx, |c| bind_fields!(
        sqlx::query(SQL),
        row,
        tenant,
        principal,
        contract,
        key_digest,
        fingerprint,
        operation_id,
        run_id,
        created_at
    )
    .execute(c)
    .await
    .map(drop))?;
    Ok(())
}

pub async fn find(
    tx: &mut Tx,
    tenant: &str,
    principal: &str,
    contract: &str,
    digest: &str,
) -> Result<Option<InboundKey>> {
    const SQL: &str = "SELECT * FROM inbound_keys WHERE tenant = $1 AND principal = $2 AND contract = $3 \
         AND key_digest = $4";
    Ok(on!(tx, |c| {
        sqlx::query_as(SQL).bind(tenant).bind(principal).bind(contract).bind(digest).fetch_optional(c).await
    })?)
}

/// A key of this principal that joined the operation.
pub async fn has_joined(tx: &mut Tx, principal: &str, operation: Id) -> Result<bool> {
    const SQL: &str = "SELECT COUNT(*) FROM inbound_keys WHERE operation_id = $1 AND principal = $2";
    let (count,): (i64,) = on!(tx, |c| sqlx::query_as(SQL).bind(operation).bind(principal).fetch_one(c).await)?;
    Ok(count > 0)
}

/// A key of this principal that joined the workflow run.
pub async fn has_joined_run(tx: &mut Tx, principal: &str, run: Id) -> Result<bool> {
    const SQL: &str = "SELECT COUNT(*) FROM inbound_keys WHERE run_id = $1 AND principal = $2";
    let (count,): (i64,) = on!(tx, |c| sqlx::query_as(SQL).bind(run).bind(principal).fetch_one(c).await)?;
    Ok(count > 0)
}
