//! Evidence rows.
//!
//! Invariant: never changed, never removed; a trigger refuses both.

use app::ledger::evidence::{Conclusion, Source};

use super::codec::{At, Id, Word};
use super::{Result, Tx};

/// One finding about whether the effect happened. Append-only.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Evidence {
    pub id: Id,
    pub operation_id: Id,
    pub attempt_id: Option<Id>,
    pub source: Word<Source>,
    pub title: String,
    pub conclusion: Word<Conclusion>,
    pub as_of: At,
    pub settle_ms: i64,
    pub fields: String,
    pub differs: String,
    pub statement: Option<String>,
    pub statement_source: Option<String>,
    pub file_name: Option<String>,
    pub person_id: Option<Id>,
    pub operation_version: i64,
    pub digest: String,
    pub created_at: At,
}

pub async fn insert(tx: &mut Tx, row: &Evidence) -> Result<()> {
    const SQL: &str = "INSERT INTO evidence (id, operation_id, attempt_id, source, title, conclusion, as_of, settle_ms, fields, differs, \
         statement, statement_source, file_name, person_id, operation_version, digest, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    on!(tx, |c| bind_fields!(
        sqlx::query(SQL),
        row,
        id,
        operation_id,
        attempt_id,
        source,
        title,
        conclusion,
        as_of,
        settle_ms,
        fields,
        differs,
        statement,
        statement_source,
        file_name,
        person_id,
        operation_version,
        digest,
        created_at
    )
    .execute(c)
    .await
    .map(drop))?;
    Ok(())
}

pub async fn list(tx: &mut Tx, operation: Id) -> Result<Vec<Evidence>> {
    const SQL: &str = "SELECT * FROM evidence WHERE operation_id = $1 ORDER BY id";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(operation).fetch_all(c).await)?)
}
