//! The partner's audit events: one for each change that was made, with the request's id.
//!
//! Leaves refusals and messages out on purpose: nothing changed, or nobody is to look it up. Invariant: an event's
//! `target` is what was acted on (the group, the key, the original transaction, the action), and `metadata` names
//! what was made.

use app::ledger::instant::Instant;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::{FromRow, SqliteConnection};

use super::Sandbox;
use super::arrival::Arrival;
use super::ids;
use super::page::{Asked, Paging, page};
use super::refusal::Stop;

#[derive(FromRow)]
struct AuditEvent {
    seq: i64,
    id: String,
    request_id: String,
    action: String,
    target: String,
    source_ip: String,
    status: String,
    metadata: String,
    at: i64,
}

#[derive(Debug, Deserialize)]
pub struct Filter {
    request_id: Option<String>,
    target: Option<String>,
    action: Option<String>,
    since: Option<Instant>,
    cursor: Option<String>,
    limit: Option<i64>,
}

/// What a change says of itself.
pub struct Event<'a> {
    pub action: &'static str,
    pub target: &'a str,
    pub status: &'static str,
    pub metadata: Value,
}

/// Its id. The actor and the key are added to the metadata.
pub async fn insert(
    connection: &mut SqliteConnection,
    arrival: &Arrival,
    at: Instant,
    mut event: Event<'_>,
) -> sqlx::Result<String> {
    event.metadata["actor"] = json!(arrival.actor);
    event.metadata["idempotency_key"] = json!(arrival.key);
    let id = ids::make("aud");
    sqlx::query(
        "INSERT INTO audit_event (id, request_id, action, target, source_ip, status, metadata, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )
    .bind(&id)
    .bind(&arrival.request_id)
    .bind(event.action)
    .bind(event.target)
    .bind(&arrival.source_ip)
    .bind(event.status)
    .bind(event.metadata.to_string())
    .bind(at.micros())
    .execute(connection)
    .await?;
    Ok(id)
}

pub async fn list(State(sandbox): State<Sandbox>, Asked(filter): Asked<Filter>) -> Result<Json<Value>, Stop> {
    let paging = Paging { cursor: filter.cursor, limit: filter.limit };
    let size = paging.size()?;
    let rows: Vec<AuditEvent> = sqlx::query_as(
        "SELECT seq, id, request_id, action, target, source_ip, status, metadata, at FROM audit_event
         WHERE seq < ?1 AND at <= ?2 AND (?3 IS NULL OR request_id = ?3) AND (?4 IS NULL OR target = ?4)
           AND (?5 IS NULL OR action = ?5) AND (?6 IS NULL OR at >= ?6)
         ORDER BY seq DESC LIMIT ?7",
    )
    .bind(paging.before()?)
    .bind(sandbox.clock.seen().micros())
    .bind(filter.request_id)
    .bind(filter.target)
    .bind(filter.action)
    .bind(filter.since.map(Instant::micros))
    .bind(size + 1)
    .fetch_all(&sandbox.readers)
    .await?;
    Ok(Json(page(rows.into_iter().map(|row| (row.seq, row.shown())).collect(), size)))
}

impl AuditEvent {
    fn shown(self) -> Value {
        json!({
            "id": self.id,
            "request_id": self.request_id,
            "action": self.action,
            "target": self.target,
            "source_ip": self.source_ip,
            "status": self.status,
            "metadata": serde_json::from_str::<Value>(&self.metadata).unwrap_or_default(),
            "at": Instant::from_micros(self.at),
        })
    }
}
