//! Which path is what.
//!
//! Leaves the wire to `connection` and faults to `exchange`. Invariant: everything under `/v1` and `/tool-actions`
//! goes through an exchange; nothing under `/control` does.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, patch, post};

use super::exchange::{BODY_LIMIT_BYTES, exchange};
use super::refusal::Refusal;
use super::{Sandbox, audit_events, control, groups, keys, limits, messages, requests, tool_actions, transactions};

pub fn router(sandbox: Sandbox) -> Router {
    let partner = Router::new()
        .route("/v1/groups", get(groups::list).post(groups::create))
        .route("/v1/groups/{id}", get(groups::get).patch(groups::patch).delete(groups::delete))
        .route("/v1/groups/{id}/keys", get(keys::list).post(keys::create))
        .route("/v1/groups/{id}/limits", patch(limits::patch))
        .route("/v1/groups/{id}/credits", post(transactions::create_credit))
        .route("/v1/keys/{id}", delete(keys::delete))
        .route("/v1/transactions", get(transactions::list))
        .route("/v1/transactions/{id}", get(transactions::get))
        .route("/v1/transactions/{id}/reversals", post(transactions::create_reversal))
        .route("/v1/balance", get(transactions::balance))
        .route("/v1/audit-events", get(audit_events::list))
        .route("/v1/requests", get(requests::list))
        .route("/v1/messages", post(messages::create))
        .route("/tool-actions", post(tool_actions::create))
        .route("/tool-actions/{id}", get(tool_actions::get))
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(sandbox.clone(), exchange));
    let control = Router::new()
        .route("/control/faults", get(control::get_faults).put(control::put_faults))
        .route("/control/effects", get(control::get_effects))
        .route("/control/clock", get(control::get_clock).post(control::post_clock))
        .route("/control/lag", post(control::post_lag))
        .route("/healthz", get(control::healthz))
        .method_not_allowed_fallback(wrong_method);
    partner.merge(control).fallback(no_route).layer(DefaultBodyLimit::max(BODY_LIMIT_BYTES)).with_state(sandbox)
}

async fn no_route() -> Refusal {
    Refusal::missing("not_found", "There is nothing at this path.")
}

async fn wrong_method() -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "This path does not take this method.")
}
