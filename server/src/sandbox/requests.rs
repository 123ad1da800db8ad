//! The partner's list of mutating requests that arrived.
//!
//! Leaves bodies out on purpose. Invariant: `status` is what the partner decided, and null where it decided nothing
//! (a fault came first), whatever the caller saw.

use app::ledger::instant::Instant;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::FromRow;

use super::Sandbox;
use super::page::{Asked, Paging, page};
use super::refusal::Stop;

#[derive(FromRow)]
struct Row {
    seq: i64,
    request_id: String,
    kind: String,
    key: String,
    method: String,
    path: String,
    actor: String,
    source_ip: String,
    at: i64,
    status: Option<u16>,
}

#[derive(Debug, Deserialize)]
pub struct Filter {
    request_id: Option<String>,
    key: Option<String>,
    since: Option<Instant>,
    cursor: Option<String>,
    limit: Option<i64>,
}

pub async fn list(State(sandbox): State<Sandbox>, Asked(filter): Asked<Filter>) -> Result<Json<Value>, Stop> {
    let paging = Paging { cursor: filter.cursor, limit: filter.limit };
    let size = paging.size()?;
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT seq, request_id, kind, key, method, path, actor, source_ip, at, status FROM request
         WHERE seq < ?1 AND at <= ?2 AND (?3 IS NULL OR request_id = ?3) AND (?4 IS NULL OR key = ?4)
           AND (?5 IS NULL OR at >= ?5)
         ORDER BY seq DESC LIMIT ?6",
    )
    .bind(paging.before()?)
    .bind(sandbox.clock.seen().micros())
    .bind(filter.request_id)
    .bind(filter.key)
    .bind(filter.since.map(Instant::micros))
    .bind(size + 1)
    .fetch_all(&sandbox.readers)
    .await?;
    Ok(Json(page(rows.into_iter().map(|row| (row.seq, row.shown())).collect(), size)))
}

impl Row {
    fn shown(self) -> Value {
        json!({
            "request_id": self.request_id,
            "kind": self.kind,
            "key": self.key,
            "method": self.method,
            "path": self.path,
            "actor": self.actor,
            "source_ip": self.source_ip,
            "at": Instant::from_micros(self.at),
            "status": self.status,
        })
    }
}
