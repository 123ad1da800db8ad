//! Customers and the records of their keys at the partner.
//!
//! Invariant: an external id is unique within its tenant.

use super::codec::{At, Id};
use super::{Result, Tx};

/// A customer of a tenant.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Customer {
    pub id: Id,
    pub tenant: String,
    pub external_id: String,
    pub name: String,
    pub created_at: At,
    pub provisioned_at: Option<At>,
}

pub async fn insert(tx: &mut Tx, row: &Customer) -> Result<()> {
    const SQL: &str = "INSERT INTO customers (id, tenant, external_id, name, created_at, provisioned_at) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    on!(tx, |c| bind_fields!(sqlx::query(SQL), row, id, tenant, external_id, name, created_at, provisioned_at).execute(c).await.map(drop))?;
    Ok(())
}
