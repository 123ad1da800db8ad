//! API clients. A token is kept as its SHA-256 only.
//!
//! Invariant: a client belongs to one tenant for ever.

use super::codec::{At, Id};
use super::{Result, Tx};

/// An API client of one tenant.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Client {
    pub id: Id,
    pub tenant: String,
    pub name: String,
    pub token_digest: String,
    pub contracts: String,
    pub scopes: String,
    pub owner_id: Option<Id>,
    pub made_by: Option<Id>,
    pub created_at: At,
    pub expires_at: Option<At>,
    pub revoked_at: Option<At>,
    pub last_used_at: Option<At>,
}

pub async fn insert(tx: &mut Tx, row: &Client) -> Result<()> {
    const SQL: &str = "INSERT INTO clients (id, tenant, name, token_digest, contracts, scopes, owner_id, made_by, created_at, expires_at, \
         revoked_at, last_used_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    on!(tx, |c| bind_fields!(
        sqlx::query(SQL),
        row,
        id,
        tenant,
        name,
        token_digest,
        contracts,
        scopes,
        owner_id,
        made_by,
        created_at,
        expires_at,
        revoked_at,
        last_used_at
    )
    .execute(c)
    .await
    .map(drop))?;
    Ok(())
}

pub async fn find(tx: &mut Tx, id: Id) -> Result<Option<Client>> {
    const SQL: &str = "SELECT * FROM clients WHERE id = $1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(id).fetch_optional(c).await)?)
}

pub async fn find_by_token(tx: &mut Tx, digest: &str) -> Result<Option<Client>> {
    const SQL: &str = "SELECT * FROM clients WHERE token_digest = $1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(digest).fetch_optional(c).await)?)
}

pub async fn list(tx: &mut Tx) -> Result<Vec<Client>> {
    const SQL: &str = "SELECT * FROM clients ORDER BY id";
    Ok(on!(tx, |c| sqlx::query_as(SQL).fetch_all(c).await)?)
}

/// Changes what the client may use and until when.
pub async fn update(tx: &mut Tx, row: &Client) -> Result<()> {
    const SQL: &str = "UPDATE clients SET contracts = $1, scopes = $2, token_digest = $3, expires_at = $4, \
         revoked_at = $5 WHERE id = $6";
    on!(tx, |c| {
        let query = bind_fields!(sqlx::query(SQL), row, contracts, scopes, token_digest, expires_at, revoked_at, id);
        query.execute(c).await.map(drop)
    })?;
    Ok(())
}
