//! Sessions of people, by the digest of the cookie, and forms that were sent.
//!
//! Invariant: the cookie's value is kept nowhere.

use super::codec::{At, Id};
use super::{Result, Tx};

#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Session {
    pub digest: String,
    pub person_id: Option<Id>,
    pub content: String,
    pub created_at: At,
    pub expires_at: At,
}

pub async fn save(tx: &mut Tx, row: &Session) -> Result<()> {
    const SQL: &str = "INSERT INTO sessions (digest, person_id, content, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (digest) DO UPDATE SET person_id = excluded.person_id, \
         content = excluded.content, expires_at = excluded.expires_at";
    on!(tx, |c| {
        let query = bind_fields!(sqlx::query(SQL), row, digest, person_id, content, created_at, expires_at);
        query.execute(c).await.map(drop)
    })?;
    Ok(())
}

pub async fn find(tx: &mut Tx, digest: &str, now: At) -> Result<Option<Session>> {
    const SQL: &str = "SELECT * FROM sessions WHERE digest = $1 AND expires_at > $2";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(digest).bind(now).fetch_optional(c).await)?)
}

pub async fn list_of_person(tx: &mut Tx, person: Id, now: At) -> Result<Vec<Session>> {
    const SQL: &str = "SELECT * FROM sessions WHERE person_id = $1 AND expires_at > $2 ORDER BY created_at";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(person).bind(now).fetch_all(c).await)?)
}

pub async fn delete(tx: &mut Tx, digest: &str) -> Result<()> {
    const SQL: &str = "DELETE FROM sessions WHERE digest = $1";
    on!(tx, |c| sqlx::query(SQL).bind(digest).execute(c).await.map(drop))?;
    Ok(())
}

pub async fn delete_expired(tx: &mut Tx, now: At) -> Result<()> {
    const SQL: &str = "DELETE FROM sessions WHERE expires_at <= $1";
    on!(tx, |c| sqlx::query(SQL).bind(now).execute(c).await.map(drop))?;
    Ok(())
}

/// A form that was sent: where its answer is, and what it said.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct SubmittedForm {
    pub person_id: Id,
    pub form_key: String,
    pub location: String,
    pub notice: String,
    pub created_at: At,
}

pub async fn find_form(tx: &mut Tx, person: Id, form_key: &str) -> Result<Option<SubmittedForm>> {
    const SQL: &str = "SELECT * FROM submitted_forms WHERE person_id = $1 AND form_key = $2";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(person).bind(form_key).fetch_optional(c).await)?)
}

/// `Taken` where the same form came twice at once; the loser reads the winner's answer.
pub async fn insert_form(tx: &mut Tx, row: &SubmittedForm) -> Result<()> {
    const SQL: &str = "INSERT INTO submitted_forms (person_id, form_key, location, notice, created_at) \
         VALUES ($1, $2, $3, $4, $5)";
    on!(tx, |c| {
        let query = bind_fields!(sqlx::query(SQL), row, person_id, form_key, location, notice, created_at);
        query.execute(c).await.map(drop)
    })?;
    Ok(())
}
