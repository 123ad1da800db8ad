//! `/operations/{id}`: the page of one operation and its verbs.
//!
//! Invariant: an operation of a tenant that the person does not work in is not there.

use app::ui::pages::operation;
use app::ui::shell::Nav;
use axum::extract::Path;
use axum::response::Response;

use super::visit::Visit;
use crate::store::codec::Id;

pub mod model;
mod record;
pub mod verbs;
mod ways;

pub async fn show(visit: Visit, Path(id): Path<String>) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    let visit = visit.at(Nav::Operations).await;
    let drawn = model::load(&visit, id, None).await.map(|model| operation::page(&visit.shell, &model));
    visit.answer(drawn)
}
