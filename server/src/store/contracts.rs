//! Contract versions: the catalog as it was when an operation was admitted.
//!
//! Invariant: a version never changes; the same digest is the same version.

use super::codec::At;
use super::{Result, Tx};

pub async fn find(tx: &mut Tx, name: &str, version: i64) -> Result<Option<String>> {
    const SQL: &str = "SELECT definition FROM contract_versions WHERE name = $1 AND version = $2";
    let found: Option<(String,)> = on!(tx, |c| sqlx::query_as(SQL).bind(name).bind(version).fetch_optional(c).await)?;
    Ok(found.map(|(definition,)| definition))
}

/// The number of this definition: the stored one's, or the next.
pub async fn ensure(tx: &mut Tx, name: &str, digest: &str, definition: &str, at: At) -> Result<i64> {
    const FIND: &str = "SELECT version FROM contract_versions WHERE name = $1 AND digest = $2";
    const INSERT: &str = "INSERT INTO contract_versions (name, version, digest, definition, created_at) \
         SELECT $1, COALESCE(MAX(version), 0) + 1, $2, $3, $4 FROM contract_versions WHERE name = $1";
    let found: Option<(i64,)> = on!(tx, |c| sqlx::query_as(FIND).bind(name).bind(digest).fetch_optional(c).await)?;
    if let Some((version,)) = found {
        return Ok(version);
    }
    on!(tx, |c| sqlx::query(INSERT).bind(name).bind(digest).bind(definition).bind(at).execute(c).await.map(drop))?;
    let (version,): (i64,) = on!(tx, |c| sqlx::query_as(FIND).bind(name).bind(digest).fetch_one(c).await)?;
    Ok(version)
}
