//! The API for programs: admission, reading, and problems that say what to do.
//!
//! Takes bearer tokens and no cookies. What is long-running belongs to workers. Invariant: an answer of 200 or 201 to a
//! POST means that the intent is durable.

use std::future::Future;

use axum::routing::{any, get, post};
use axum::{Extension, Router, middleware};

use super::App;
use super::correlation::correlate;
use super::problem::Problem;
use crate::ledger;

mod answer;
mod caller;
mod customers;
mod events;
mod intake;
mod operations;
mod seats;
pub mod urls;
mod wait;

pub fn routes() -> Router<App> {
    let v1 = Router::new()
        .route("/operations", post(operations::admit).get(operations::list))
        .route("/operations/{id}", get(operations::show))
        .route("/operations/{id}/events", get(events::list))
        .route("/customers", post(customers::admit))
        .route("/customers/{external_id}", get(customers::show))
        // A route and no fallback: a merged router's fallback would take the place of a nested one.
        .route("/{*rest}", any(async || Problem::no_such_route()))
        .layer(Extension(seats::Seats::default()))
        .layer(middleware::from_fn(correlate));
    Router::new().nest("/v1", v1)
}

/// Runs a command in a task of its own, so that a closed connection does not drop it half way.
async fn to_the_end<T: Send + 'static>(
    command: impl Future<Output = ledger::Result<T>> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::spawn(command).await {
        Ok(outcome) => outcome.map_err(Problem::from),
        Err(lost) => Err(Problem::internal(lost.to_string())),
    }
}
