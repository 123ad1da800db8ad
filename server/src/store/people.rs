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
    on!(tx, |c| bind_fields!(
        sqlx::query(SQL),
        row,
        id,
        email,
        name,
        password_hash,
        roles,
        all_tenants,
        zone,
        created_at,
        disabled_at,
        approves_from,
        failed_sign_ins,
        locked_until
    )
    .execute(c)
    .await
    .map(drop))?;
    Ok(())
}

pub async fn find(tx: &mut Tx, id: Id) -> Result<Option<Person>> {
    const SQL: &str = "SELECT * FROM people WHERE id = $1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(id).fetch_optional(c).await)?)
}

pub async fn find_by_email(tx: &mut Tx, email: &str) -> Result<Option<Person>> {
    const SQL: &str = "SELECT * FROM people WHERE email = $1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(email).fetch_optional(c).await)?)
}

pub async fn list(tx: &mut Tx) -> Result<Vec<Person>> {
    const SQL: &str = "SELECT * FROM people ORDER BY email";
    Ok(on!(tx, |c| sqlx::query_as(SQL).fetch_all(c).await)?)
}

pub async fn update(tx: &mut Tx, row: &Person) -> Result<()> {
    const SQL: &str = "UPDATE people SET name = $1, password_hash = $2, roles = $3, all_tenants = $4, zone = $5, \
         disabled_at = $6, approves_from = $7, failed_sign_ins = $8, locked_until = $9 WHERE id = $10";
    on!(tx, |c| {
        let query = bind_fields!(
            sqlx::query(SQL),
            row,
            name,
            password_hash,
            roles,
            all_tenants,
            zone,
            disabled_at,
            approves_from,
            failed_sign_ins,
            locked_until,
            id
        );
        query.execute(c).await.map(drop)
    })?;
    Ok(())
}

pub async fn add_tenant(tx: &mut Tx, person: Id, tenant: &str) -> Result<()> {
    const SQL: &str =
        "INSERT INTO person_tenants (person_id, tenant) VALUES ($1, $2) ON CONFLICT (person_id, tenant) DO NOTHING";
    on!(tx, |c| sqlx::query(SQL).bind(person).bind(tenant).execute(c).await.map(drop))?;
    Ok(())
}

/// The tenants the person works in, in order; all there are for those who have all.
pub async fn list_tenants(tx: &mut Tx, person: &Person) -> Result<Vec<String>> {
    const ALL: &str = "SELECT id FROM tenants ORDER BY id";
    const OWN: &str = "SELECT tenant FROM person_tenants WHERE person_id = $1 ORDER BY tenant";
    let rows: Vec<(String,)> = if person.all_tenants {
        on!(tx, |c| sqlx::query_as(ALL).fetch_all(c).await)?
    } else {
        on!(tx, |c| sqlx::query_as(OWN).bind(person.id).fetch_all(c).await)?
    };
    Ok(rows.into_iter().map(|(tenant,)| tenant).collect())
}

/// Locks the row until the transaction ends: a person's audit chain grows under it.
pub async fn find_locked(tx: &mut Tx, id: Id) -> Result<Option<Person>> {
    Ok(on_locked!(tx, "SELECT * FROM people WHERE id = $1", |c, sql| {
        sqlx::query_as(sql).bind(id).fetch_optional(c).await
    })?)
}
