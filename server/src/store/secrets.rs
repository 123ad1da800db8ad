//! The default secret store: sealed values beside the operation that brought them.
//!
//! Sealing is `crate::keys`. Invariant: only sealed bytes are written here.

use super::codec::{At, Id};
use super::{Result, Tx};

pub async fn insert(tx: &mut Tx, operation: Id, key_id: &str, sealed: &[u8], at: At) -> Result<()> {
    const SQL: &str = "INSERT INTO secrets (operation_id, key_id, sealed, created_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (operation_id) DO NOTHING";
    on!(tx, |c| sqlx::query(SQL).bind(operation).bind(key_id).bind(sealed).bind(at).execute(c).await.map(drop))?;
    Ok(())
}

pub async fn find(tx: &mut Tx, operation: Id) -> Result<Option<Vec<u8>>> {
    const SQL: &str = "SELECT sealed FROM secrets WHERE operation_id = $1";
    let found: Option<(Vec<u8>,)> = on!(tx, |c| sqlx::query_as(SQL).bind(operation).fetch_optional(c).await)?;
    Ok(found.map(|(sealed,)| sealed))
}
