//! A change under its `Idempotency-Key`: found answered, or made and recorded.
//!
//! Leaves what changes to each noun, which checks first and writes last. Invariant: the effect, its audit event, its
//! count and the key's record commit in one `BEGIN IMMEDIATE` transaction, or none does; a refusal is recorded
//! under the key too, so it stays a refusal.

use std::time::Duration;

use app::ledger::instant::Instant;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use sqlx::{Sqlite, SqliteConnection, Transaction};

use super::Sandbox;
use super::arrival::{Arrival, Kind, Space};
use super::audit_events::Event;
use super::fields::Fields;
use super::refusal::{Refusal, Stop};
use super::{audit_events, clock, effects};

/// How long a key keeps its answer, by the sandbox's clock.
pub const KEY_WINDOW: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What a change answers; `secret` is shown and never stored.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub body: Value,
    pub secret: Option<String>,
}

impl Answer {
    pub fn created(body: Value) -> Self {
        Answer { status: StatusCode::CREATED, body, secret: None }
    }

    pub fn ok(body: Value) -> Self {
        Answer { status: StatusCode::OK, body, secret: None }
    }
}

pub struct Change {
    tx: Transaction<'static, Sqlite>,
    pub arrival: Arrival,
    pub now: Instant,
    pub fingerprint: String,
}

impl Change {
    /// Opens the transaction and looks the key up. `Stop::Replayed` if it has its answer already.
    pub async fn begin(sandbox: &Sandbox, arrival: Arrival) -> Result<Self, Stop> {
        if arrival.key.is_none() && arrival.kind != Kind::Message {
            let code = match arrival.kind.space() {
                Space::Tool => "MISSING_IDEMPOTENCY_KEY",
                Space::Partner => "missing_idempotency_key",
            };
            return Err(Refusal::malformed(code, "`Idempotency-Key` is required.").into());
        }
        let tx = sandbox.writer.begin_with("BEGIN IMMEDIATE").await?;
        let fingerprint = arrival.fingerprint();
        let mut change = Change { tx, arrival, now: sandbox.clock.now(), fingerprint };
        change.replay().await?;
        Ok(change)
    }

    pub fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.tx
    }

    pub fn fields(&self) -> Result<Fields<'_>, Refusal> {
        Fields::of(self.arrival.body.as_ref())
    }

    /// When the effect stops being pending: now, unless a fault holds it.
    pub fn final_at(&self) -> Instant {
        clock::later(self.now, self.arrival.pending_ms.unwrap_or(0))
    }

    /// Writes the effect's count and its audit event; the event's id.
    pub async fn effected(&mut self, action: &'static str, target: &str, metadata: Value) -> sqlx::Result<String> {
        effects::insert(&mut self.tx, &self.arrival, target, self.now).await?;
        let event = Event { action, target, status: "success", metadata };
        audit_events::insert(&mut self.tx, &self.arrival, self.now, event).await
    }

    /// Writes the audit event of what was looked at and turned down; its id.
    pub async fn turned_down(&mut self, action: &'static str, target: &str, metadata: Value) -> sqlx::Result<String> {
        let event = Event { action, target, status: "rejected", metadata };
        audit_events::insert(&mut self.tx, &self.arrival, self.now, event).await
    }

    /// Counts an effect that leaves no audit event.
    pub async fn effected_silently(&mut self, target: &str) -> sqlx::Result<()> {
        effects::insert(&mut self.tx, &self.arrival, target, self.now).await
    }

    /// Records what came of it and commits; a rehearsal is rolled back instead.
    pub async fn finish(mut self, outcome: Result<Answer, Stop>) -> Result<Response, Stop> {
        let (status, body, secret, stop) = match outcome {
            Ok(answer) => (answer.status, answer.body, answer.secret, None),
            Err(Stop::Refused(refusal)) => (refusal.status, refusal.body(), None, Some(Stop::Refused(refusal))),
            Err(stop) => return Err(stop),
        };
        self.record(status, &body).await?;
        if self.arrival.rehearsed {
            self.tx.rollback().await?;
        } else {
            self.tx.commit().await?;
        }
        match stop {
            Some(stop) => Err(stop),
            None => Ok((status, Json(with_secret(body, secret))).into_response()),
        }
    }

    async fn replay(&mut self) -> Result<(), Stop> {
        let Some(key) = self.arrival.key.as_deref() else { return Ok(()) };
        let oldest = self.now.minus(KEY_WINDOW).micros();
        let found: Option<(String, u16, String)> = sqlx::query_as(
            "SELECT fingerprint, status, body FROM key_record WHERE space = ?1 AND key = ?2 AND at > ?3",
        )
        .bind(self.arrival.kind.space().name())
        .bind(key)
        .bind(oldest)
        .fetch_optional(&mut *self.tx)
        .await?;
        let Some((fingerprint, status, body)) = found else { return Ok(()) };
        if fingerprint != self.fingerprint {
            return Err(mismatch(self.arrival.kind.space()).into());
        }
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Err(Stop::Replayed { status, body: serde_json::from_str(&body).unwrap_or_default() })
    }

    async fn record(&mut self, status: StatusCode, body: &Value) -> sqlx::Result<()> {
        sqlx::query("UPDATE request SET status = ?2 WHERE request_id = ?1")
            .bind(&self.arrival.request_id)
            .bind(status.as_u16())
            .execute(&mut *self.tx)
            .await?;
        let Some(key) = self.arrival.key.as_deref() else { return Ok(()) };
        sqlx::query(
            "INSERT OR REPLACE INTO key_record (space, key, fingerprint, status, body, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .bind(self.arrival.kind.space().name())
        .bind(key)
        .bind(&self.fingerprint)
        .bind(status.as_u16())
        .bind(body.to_string())
        .bind(self.now.micros())
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }
}

pub fn mismatch(space: Space) -> Refusal {
    let code = match space {
        Space::Tool => "IDEMPOTENCY_CONFLICT",
        Space::Partner => "key_payload_mismatch",
    };
    Refusal::conflict(code, "This key was used for another request.")
}

fn with_secret(mut body: Value, secret: Option<String>) -> Value {
    if let (Value::Object(fields), Some(secret)) = (&mut body, secret) {
        fields.insert("secret".to_owned(), Value::String(secret));
    }
    body
}
