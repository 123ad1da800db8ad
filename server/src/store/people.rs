//! People and the tenants they work in.
//!
//! Invariant: a password is kept as its argon2id hash only.

use super::codec::{At, Id};
use super::{Result, Tx};

/// A person who signs in.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Person {
    pub id: Id,
    pub email: String,
    pub name: String,
    pub password_hash: String,
    pub roles: String,
    pub all_tenants: bool,
    pub zone: String,
    pub created_at: At,
    pub disabled_at: Option<At>,
    pub approves_from: Option<At>,
    pub failed_sign_ins: i64,
    pub locked_until: Option<At>,
}

pub async fn insert(tx: &mut Tx, row: &Person) -> Result<()> {
    const SQL: &str = "INSERT INTO people (id, email, name, password_hash, roles, all_tenants, zone, created_at, disabled_at, approves_from, \
         failed_sign_ins, locked_until) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    on!(tx, |c| bind_fields!(sqlx::query(SQL), row, id, email, name, password_hash, roles, all_tenants, zone, created_at, disabled_at, approves_from, failed_sign_ins, locked_until).execute(c).await.map(drop))?;
    Ok(())
}
