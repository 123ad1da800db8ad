//! The console: which addresses there are, and what lies around all of them.
//!
//! Every route stands in one of two tables, so that a test can press each; the guard and the sessions lie around the
//! whole. Invariant: no console route is added anywhere else.

use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};

use super::{App, assets, guard, live, sessions};

mod approval;
mod audit;
mod customers;
mod export;
pub mod forms;
mod operation;
mod operations;
mod overview;
mod profile;
mod queue;
mod sign_in;
mod system;
pub mod visit;
pub mod words;

use visit::Visit;

/// What may be read.
pub fn gets() -> Vec<(&'static str, MethodRouter<App>)> {
    vec![
        ("/sign-in", get(sign_in::show)),
        ("/", get(overview::show)),
        ("/queue", get(queue::show)),
        ("/operations", get(operations::show)),
        ("/operations/{id}", get(operation::show)),
        ("/approvals", get(approval::list)),
        ("/approvals/{id}", get(approval::show)),
        ("/customers", get(customers::list)),
        ("/customers/{id}", get(customers::show)),
        ("/catalog", get(system::catalog)),
        ("/workers", get(system::workers)),
        ("/upstreams", get(system::upstreams)),
        ("/audit", get(audit::show)),
        ("/profile", get(profile::show)),
        ("/live", get(live::listen)),
        ("/style/{name}", get(assets::style)),
        ("/public/{name}", get(assets::public)),
        ("/{*path}", get(nothing)),
    ]
}

/// What changes something.
pub fn posts() -> Vec<(&'static str, MethodRouter<App>)> {
    vec![
        ("/sign-in", post(sign_in::enter)),
        ("/sign-out", post(sign_in::leave)),
        ("/profile/zone", post(profile::zone)),
        ("/profile/sessions/{id}/revoke", post(profile::revoke)),
        ("/operations/{id}/take-over", post(operation::verbs::take_over)),
        ("/operations/{id}/release", post(operation::verbs::release)),
        ("/operations/{id}/look-up", post(operation::verbs::look_up)),
        ("/operations/{id}/automate", post(operation::verbs::automate)),
        ("/operations/{id}/evidence", post(operation::verbs::evidence)),
        ("/operations/{id}/decide", post(operation::verbs::decide)),
        ("/approvals/{id}/approve", post(approval::approve)),
        ("/approvals/{id}/decline", post(approval::decline)),
        ("/approvals/{id}/withdraw", post(approval::withdraw)),
    ]
}

pub fn routes(app: &App) -> Router<App> {
    let routes = gets().into_iter().chain(posts());
    let router = routes.fold(Router::new(), |router, (path, handler)| router.route(path, handler));
    router.layer(from_fn_with_state(app.clone(), guard::watch)).layer(sessions::layer(app))
}

/// Addresses of programs: whoever mistypes one is not led to the sign-in page.
const FOR_PROGRAMS: [&str; 5] = ["/v1/", "/webhooks/", "/mcp", "/openapi.json", "/metrics"];

async fn nothing(uri: Uri, visit: Result<Visit, Response>) -> Response {
    if FOR_PROGRAMS.iter().any(|prefix| uri.path().starts_with(prefix)) {
        return (StatusCode::NOT_FOUND, "There is nothing at this address.\n").into_response();
    }
    match visit {
        Ok(visit) => visit.not_found(),
        Err(response) => response,
    }
}
