//! `/v1/operations/{id}/events`: what was sent, found and decided, in the order of time.
//!
//! People are not named: an actor is a client, a person or a worker. Invariant: no bodies, no observed values, no free
//! text of people.

use app::ledger::instant::Instant;
use app::ledger::json::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::super::App;
use super::super::problem::Problem;
use super::answer::{self, instant};
use super::caller::Caller;
use super::operations::operation_id;
use crate::ledger::read::History;
use crate::store::attempts::Attempt;
use crate::store::audit::Entry;
use crate::store::evidence::Evidence;

pub async fn list(
    State(app): State<App>,
    caller: Caller,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let history = app.ledger.read_history(&caller.who, operation_id(id)?).await?;
    Ok(answer::json(StatusCode::OK, &answer::page(in_order(&history), None)))
}

/// At one instant: what was written down about it, then what left, then what was found.
fn in_order(history: &History) -> Vec<Json> {
    let number = |found: &Evidence| {
        let attempt = history.attempts.iter().find(|attempt| Some(attempt.id) == found.attempt_id);
        attempt.map(|attempt| attempt.number)
    };
    let entries = history.entries.iter().map(|row| (*row.at, of_entry(row)));
    let attempts = history.attempts.iter().map(|row| (*row.marked_at, of_attempt(row)));
    let evidence = history.evidence.iter().map(|row| (*row.created_at, of_evidence(row, number(row))));
    let mut events: Vec<(Instant, Json)> = entries.chain(attempts).chain(evidence).collect();
    events.sort_by_key(|(at, _)| *at);
    events.into_iter().map(|(_, event)| event).collect()
}

fn of_attempt(row: &Attempt) -> Json {
    Json::object([
        ("at", instant(Some(row.marked_at))),
        ("kind", Json::from("attempt")),
        ("number", Json::from(row.number)),
        ("attempt", Json::from(row.kind.as_str())),
        ("ended_at", instant(row.ended_at)),
        ("ending", Json::from(row.ending.map(|ending| ending.as_str()))),
        ("reason", Json::from(row.reason.map(|reason| reason.as_str()))),
        ("phase", Json::from(row.phase.as_deref())),
        ("http_status", Json::from(row.http_status)),
        ("error_code", Json::from(row.error_code.as_deref())),
        ("late", Json::from(row.late)),
        ("upstream_request_id", Json::from(row.upstream_request_id.as_deref())),
    ])
}

fn of_evidence(row: &Evidence, attempt: Option<i64>) -> Json {
    Json::object([
        ("at", instant(Some(row.created_at))),
        ("kind", Json::from("evidence")),
        ("source", Json::from(row.source.as_str())),
        ("title", Json::from(row.title.as_str())),
        ("conclusion", Json::from(row.conclusion.as_str())),
        ("as_of", instant(Some(row.as_of))),
        ("attempt", Json::from(attempt)),
    ])
}

fn of_entry(row: &Entry) -> Json {
    let is_decision = row.decision.is_some() || row.confirmer.is_some();
    Json::object([
        ("at", instant(Some(row.at))),
        ("kind", Json::from(if is_decision { "decision" } else { "transition" })),
        ("verb", Json::from(row.verb.as_str())),
        ("outcome", Json::from(row.outcome.as_str())),
        ("from", Json::from(row.from_status.as_deref())),
        ("to", Json::from(row.to_status.as_deref())),
        ("reason", Json::from(row.reason.as_deref())),
        ("decision", Json::from(row.decision.as_deref())),
        ("actor", Json::from(row.actor_kind.as_str())),
        ("attempt", Json::from(row.attempt)),
        ("version", Json::from(row.version)),
    ])
}
