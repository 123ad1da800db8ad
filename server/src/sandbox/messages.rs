//! The opaque action: a message leaves, with no key, no look-up and no audit event.
//!
//! Leaves the text out of the file on purpose; only a digest of (to, text) is counted. Invariant: every accepted
//! request is one more effect.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde_json::json;

use super::Sandbox;
use super::arrival::Arrival;
use super::change::{Answer, Change};
use super::ids;
use super::refusal::Stop;

pub async fn create(State(sandbox): State<Sandbox>, Extension(arrival): Extension<Arrival>) -> Result<Response, Stop> {
    let mut change = Change::begin(&sandbox, arrival).await?;
    let outcome = send(&mut change).await;
    change.finish(outcome).await
}

async fn send(change: &mut Change) -> Result<Answer, Stop> {
    let fields = change.fields()?;
    fields.text("to", "invalid_to")?;
    fields.text("text", "invalid_text")?;
    let id = ids::make("msg");
    change.effected_silently(&id).await?;
    Ok(Answer::created(json!({"id": id, "status": "sent", "created_at": change.now})))
}
