//! Is it alive, is it ready.
//!
//! Invariant: `/readyz` says yes only when the database answers a read.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use super::App;

pub fn routes() -> Router<App> {
    Router::new().route("/healthz", get(alive)).route("/readyz", get(ready))
}

async fn alive() -> &'static str {
    "alive\n"
}

async fn ready(State(app): State<App>) -> (StatusCode, &'static str) {
    match app.ledger.db.now().await {
        Ok(_) => (StatusCode::OK, "ready\n"),
        Err(error) => {
            tracing::error!(%error, "not ready: the database does not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n")
        }
    }
}
