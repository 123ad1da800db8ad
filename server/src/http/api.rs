//! The API for programs.

use axum::Router;

use super::App;

pub fn routes() -> Router<App> {
    Router::new()
}
