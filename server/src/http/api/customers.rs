//! `/v1/customers`: signing up, and where a customer stands.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::super::App;
use super::super::problem::Problem;
use super::answer::{self, Met};
use super::caller::Caller;
use super::{intake, to_the_end, urls};
use crate::ledger::admit_customer::CustomerAdmission;
use crate::ledger::read::Sight;

pub async fn admit(State(app): State<App>, caller: Caller, request: Request) -> Result<Response, Problem> {
    let (key, json) = intake::read(request).await?;
    let (ledger, who, correlation) = (app.ledger.clone(), caller.who.clone(), caller.request_id.clone());
    let admission = to_the_end(async move { ledger.admit_customer(&who, &key, &json, &correlation).await }).await?;
    let (met, run) = match admission {
        CustomerAdmission::Created(run) => (Met::Created, run),
        CustomerAdmission::Key(run) => (Met::Key, run),
        CustomerAdmission::Intent(run) => (Met::Intent, run),
    };
    let view = app.ledger.view_run(&run).await?;
    let sight = caller.who.sight_of_run(&run, true).unwrap_or(Sight::Standing);
    Ok(answer::admitted(met, &urls::customer(&view.customer.external_id), &answer::customer(&view, sight)))
}

pub async fn show(
    State(app): State<App>,
    caller: Caller,
    external_id: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    // Control characters are in no external id, and one of the databases does not take U+0000.
    let external_id = external_id.ok().map(|Path(text)| text).filter(|text| !text.chars().any(char::is_control));
    let external_id = external_id.ok_or_else(|| Problem::not_found("customer"))?;
    let (view, sight) = app.ledger.find_customer(&caller.who, &external_id).await?;
    Ok(answer::json(StatusCode::OK, &answer::customer(&view, sight)))
}
