//! The console.

use axum::Router;

use super::App;

pub fn routes(_app: &App) -> Router<App> {
    Router::new()
}
