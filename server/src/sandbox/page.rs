//! One page of a list: newest first, continued by a cursor.
//!
//! Leaves filters to each list. Invariant: the order is insertion, so rows added meanwhile never shift a later page.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::refusal::Refusal;

pub const PAGE_SIZE: i64 = 100;

const CURSOR_PREFIX: &str = "before-";

#[derive(Debug, Default, Deserialize)]
pub struct Paging {
    pub cursor: Option<String>,
    pub limit: Option<i64>,
}

impl Paging {
    /// Rows with a sequence below this are next.
    pub fn before(&self) -> Result<i64, Refusal> {
        let Some(cursor) = self.cursor.as_deref().filter(|cursor| !cursor.is_empty()) else { return Ok(i64::MAX) };
        let sequence = cursor.strip_prefix(CURSOR_PREFIX).and_then(|sequence| sequence.parse().ok());
        sequence.ok_or_else(|| Refusal::invalid("invalid_cursor", "`cursor` must be a `next_cursor` of this list."))
    }

    pub fn size(&self) -> Result<i64, Refusal> {
        match self.limit {
            None => Ok(PAGE_SIZE),
            Some(limit) if (1..=PAGE_SIZE).contains(&limit) => Ok(limit),
            Some(_) => Err(Refusal::invalid("invalid_limit", format!("`limit` must be 1 to {PAGE_SIZE}."))),
        }
    }
}

/// A query string; one that does not parse is refused in the partner's shape.
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let asked = Query::try_from_uri(&parts.uri);
        let Query(asked) = asked.map_err(|error| Refusal::malformed("invalid_query", error.body_text()))?;
        Ok(Asked(asked))
    }
}

/// `rows` hold one more than `size` if there is a next page.
pub fn page(mut rows: Vec<(i64, Value)>, size: i64) -> Value {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let more = rows.len() > size;
    rows.truncate(size);
    let next = rows.last().filter(|_| more).map(|(sequence, _)| format!("{CURSOR_PREFIX}{sequence}"));
    let items: Vec<Value> = rows.into_iter().map(|(_, row)| row).collect();
    json!({"items": items, "next_cursor": next})
}
