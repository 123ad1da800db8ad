//! `/v1/operations`: admission, one, a list.
//!
//! Invariant: the sight of a row is judged after the last thing that could have changed the caller's rights.

use app::ledger::instant::Instant;
use app::ledger::json::Json;
use app::ledger::status::Status;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

use super::super::App;
use super::super::problem::Problem;
use super::answer::{self, Met};
use super::caller::Caller;
use super::wait::Wait;
use super::{intake, to_the_end, urls};
use crate::ledger::admit::{Admission, Admit};
use crate::ledger::read::{Sight, Wanted};
use crate::store::codec::{At, Id};

/// Rows of a page, asked for or not.
const DEFAULT_LIMIT: i64 = 50;
const LARGEST_LIMIT: i64 = 200;

pub async fn admit(State(app): State<App>, caller: Caller, request: Request) -> Result<Response, Problem> {
    let headers = request.headers().clone();
    let (key, json) = intake::read(request).await?;
    let cmd = command(&json)?;
    let wait = Wait::granted(&headers, &caller, &app.ledger);
    let (ledger, who, correlation) = (app.ledger.clone(), caller.who.clone(), caller.request_id.clone());
    let admission = to_the_end(async move { ledger.admit(&who, &key, cmd, &correlation).await }).await?;
    let (met, row) = match admission {
        Admission::Created(row) => (Met::Created, row),
        Admission::Key(row) => (Met::Key, row),
        Admission::Intent(row) => (Met::Intent, row),
    };
    let Some(mut wait) = wait else {
        let sight = caller.who.sight(&row, true).unwrap_or(Sight::Standing);
        return Ok(answer::admitted(met, &urls::operation(row.id), &answer::operation(&row, sight, &app.settings)));
    };
    let row = wait.settled(&app.ledger, row).await?;
    let who = caller.again(&app.ledger).await?;
    let sight = who.and_then(|who| who.sight(&row, true)).unwrap_or(Sight::Standing);
    let body = answer::operation(&row, sight, &app.settings);
    let mut response = answer::admitted(met, &urls::operation(row.id), &body);
    if let Ok(applied) = HeaderValue::from_str(&wait.applied()) {
        response.headers_mut().insert("preference-applied", applied);
    }
    Ok(response)
}

fn command(json: &Json) -> Result<Admit, Problem> {
    intake::only_known(json, &["contract", "params", "customer"])?;
    let contract = intake::text_member(json, "contract")?.ok_or_else(|| Problem::invalid("contract", "is missing"))?;
    let params = match json.get("params") {
        Some(params) if params.as_object().is_some() => params.clone(),
        Some(other) => return Err(Problem::invalid("params", &format!("must be an object, not {}", other.kind()))),
        None => return Err(Problem::invalid("params", "is missing")),
    };
    Ok(Admit { contract, params, customer: intake::text_member(json, "customer")? })
}

pub async fn show(
    State(app): State<App>,
    caller: Caller,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let (row, sight) = app.ledger.find_operation(&caller.who, operation_id(id)?).await?;
    Ok(answer::json(StatusCode::OK, &answer::operation(&row, sight, &app.settings)))
}

/// What is no id names no operation.
pub(super) fn operation_id(path: Result<Path<String>, PathRejection>) -> Result<Id, Problem> {
    let id = path.ok().and_then(|Path(text)| text.parse::<Id>().ok().filter(|id| id.to_string() == text));
    id.ok_or_else(|| Problem::not_found("operation"))
}

pub async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Response, Problem> {
    let Ok(Query(pairs)) = query else {
        return Err(Problem::malformed("The query cannot be read."));
    };
    let page = app.ledger.list_operations(&caller.who, wanted(pairs)?).await?;
    let next = page.items.last().filter(|_| page.has_more).map(|row| row.id.to_string());
    let items = page.items.iter().map(|row| {
        let sight = caller.who.sight(row, false).unwrap_or(Sight::Standing);
        answer::operation(row, sight, &app.settings)
    });
    Ok(answer::json(StatusCode::OK, &answer::page(items.collect(), next)))
}

fn wanted(pairs: Vec<(String, String)>) -> Result<Wanted, Problem> {
    let known = ["status", "contract", "customer", "since", "cursor", "limit"];
    let mut wanted = Wanted { limit: DEFAULT_LIMIT, ..Wanted::default() };
    for (name, text) in intake::query(pairs, &known)? {
        match name {
            "status" => {
                let status: Status = text.parse().map_err(|_| {
                    let words: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
                    Problem::invalid("status", &format!("must be one of {}", words.join(", ")))
                })?;
                wanted.status = Some(status.to_string());
            }
            "contract" => wanted.contract = Some(text),
            "customer" => wanted.customer = Some(text),
            "since" => wanted.since = Some(since(&text)?),
            "cursor" => {
                let cursor =
                    text.parse().map_err(|_| Problem::invalid("cursor", "must be a next_cursor as it came"))?;
                wanted.before = Some(cursor);
            }
            _ => wanted.limit = limit(&text)?,
        }
    }
    Ok(wanted)
}

/// Nothing is older than 1970; databases differ in how far back they count.
fn since(text: &str) -> Result<At, Problem> {
    let at: Instant = text
        .parse()
        .map_err(|_| Problem::invalid("since", "must be a date and time with a zone, as in 2026-03-01T00:00:00Z"))?;
    Ok(At(at.max(Instant::EPOCH)))
}

fn limit(text: &str) -> Result<i64, Problem> {
    let limit = text.parse::<i64>().ok().filter(|limit| (1..=LARGEST_LIMIT).contains(limit));
    limit.ok_or_else(|| Problem::invalid("limit", &format!("must be a whole number from 1 to {LARGEST_LIMIT}")))
}
