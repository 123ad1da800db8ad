//! The edge: the console for people, the API for programs, health for machines.
//!
//! Handlers are thin: read the request, call a command, draw or answer. Invariant: `/v1`, webhooks, health and metrics
//! take no cookie; console routes take nothing else.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;

use crate::ledger::Ledger;

pub mod api;
pub mod assets;
pub mod correlation;
pub mod guard;
pub mod health;
pub mod live;
pub mod pages;
pub mod problem;
pub mod sessions;

/// Largest request body, in bytes.
pub const BODY_LIMIT: usize = 64 * 1024;

/// What every handler may use.
#[derive(Clone, Debug)]
pub struct App {
    pub ledger: Ledger,
    pub settings: Arc<HttpSettings>,
}

#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Scheme, host and port as people type them; no slash at the end.
    pub public_url: String,
    /// Whether the console is served.
    pub console: bool,
    pub demo: bool,
    /// How long a session lasts without use.
    pub session_ttl: Duration,
}

pub fn router(app: App) -> Router {
    let mut router = Router::new().merge(health::routes()).merge(api::routes());
    if app.settings.console {
        router = router.merge(pages::routes(&app));
    }
    router.with_state(app)
}
