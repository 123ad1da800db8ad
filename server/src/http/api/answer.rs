//! What the API says about operations and customers.
//!
//! Members stand in the order of the documentation. Invariant: sensitive parameters, secrets, request bodies and keys as
//! sent are in none of it.

use app::ledger::json::Json;
use app::ledger::key::sha256_hex;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::super::HttpSettings;
use super::urls;
use crate::ledger::provision::RunView;
use crate::ledger::read::{CustomerView, Sight};
use crate::store::codec::At;
use crate::store::customers::CustomerKey;
use crate::store::operations::Operation;

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// How a POST met what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    Created,
    Key,
    Intent,
}

pub fn json(status: StatusCode, body: &Json) -> Response {
    let mut response = (status, body.to_text()).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// 201 and `Location`, or 200 and `Idempotent-Replayed`.
pub fn admitted(met: Met, location: &str, body: &Json) -> Response {
    let (status, replayed) = match met {
        Met::Created => (StatusCode::CREATED, None),
        Met::Key => (StatusCode::OK, Some("true")),
        Met::Intent => (StatusCode::OK, Some("intent")),
    };
    let mut response = json(status, body);
    let headers = response.headers_mut();
    if let Some(replayed) = replayed {
        headers.insert(REPLAYED, HeaderValue::from_static(replayed));
    }
    if let (Met::Created, Ok(location)) = (met, HeaderValue::from_str(location)) {
        headers.insert(LOCATION, location);
    }
    response
}

pub fn operation(row: &Operation, sight: Sight, settings: &HttpSettings) -> Json {
    match sight {
        Sight::Whole => whole(row, settings),
        Sight::Standing => {
            Json::object([("id", Json::from(row.id.to_string())), ("status", Json::from(row.status.as_str()))])
        }
    }
}

fn whole(row: &Operation, settings: &HttpSettings) -> Json {
    let last_error = row.last_error_code.as_ref().map(|code| {
        Json::object([
            ("code", Json::from(code.as_str())),
            ("message", Json::from(row.last_error_message.as_deref().unwrap_or_default())),
        ])
    });
    let result = row.result.as_ref().filter(|_| !row.details_expired);
    let mut members = vec![
        ("id", Json::from(row.id.to_string())),
        ("contract", Json::from(row.contract.as_str())),
        ("contract_version", Json::from(row.contract_version)),
        ("status", Json::from(row.status.as_str())),
        ("reason", Json::from(row.reason.map(|reason| reason.as_str()))),
        ("customer", Json::from(row.external_customer_id.as_deref())),
        ("parent", Json::from(row.parent_id.map(|id| id.to_string()))),
        ("intent_generation", Json::from(row.generation)),
        ("operation_key_digest", Json::from(sha256_hex(row.operation_key.as_bytes()))),
        ("fingerprint", Json::from(row.fingerprint.as_str())),
        ("summary", Json::from(row.summary.as_str())),
        ("target_id", Json::from(row.target_public_id.as_deref())),
        ("upstream_request_ids", stored(&row.upstream_request_ids)),
        ("result", result.map_or(Json::Null, |text| stored(text))),
        ("last_error", Json::from(last_error)),
        ("attempts", Json::from(row.attempt_count)),
        ("next_check_at", instant(row.next_check_at)),
        ("created_at", instant(Some(row.created_at))),
        ("updated_at", instant(Some(row.updated_at))),
        ("settled_at", instant(row.settled_at)),
    ];
    if row.details_expired {
        members.push(("details_expired", Json::from(true)));
    }
    members.push(("links", links(row, settings)));
    Json::object(members)
}

fn links(row: &Operation, settings: &HttpSettings) -> Json {
    let console = settings.console.then(|| format!("{}/operations/{}", settings.public_url, row.id));
    let api = [("self", urls::operation(row.id)), ("events", urls::events(row.id))];
    Json::object(api.into_iter().chain(console.map(|url| ("console", url))))
}

pub fn page(items: Vec<Json>, next_cursor: Option<String>) -> Json {
    Json::object([("items", Json::from(items)), ("next_cursor", Json::from(next_cursor))])
}

pub fn customer(view: &CustomerView, sight: Sight) -> Json {
    let run = &view.run;
    let mut members = vec![
        ("external_id", Json::from(view.customer.external_id.as_str())),
        ("state", Json::from(run.state.name.as_str())),
    ];
    if sight == Sight::Whole {
        let children = run.children.iter().map(|child| {
            Json::object([
                ("step", Json::from(child.step.as_deref())),
                ("id", Json::from(child.id.to_string())),
                ("status", Json::from(child.status.as_str())),
            ])
        });
        members.extend([
            ("name", Json::from(view.customer.name.as_str())),
            ("blocked_by", blocked_by(run)),
            ("parent", Json::from(run.run.id.to_string())),
            ("operations", Json::from(children.collect::<Vec<_>>())),
            ("keys", Json::from(view.keys.iter().map(key).collect::<Vec<_>>())),
            ("created_at", instant(Some(view.customer.created_at))),
            ("provisioned_at", instant(view.customer.provisioned_at)),
        ]);
    }
    Json::object(members)
}

/// The step that holds it up, and its operation once there is one.
fn blocked_by(run: &RunView) -> Json {
    let Some(step) = &run.state.blocked_by else { return Json::Null };
    let child = run.blocked_by();
    Json::object([
        ("step", Json::from(step.as_str())),
        ("operation", Json::from(child.map(|child| child.id.to_string()))),
        ("status", Json::from(child.map(|child| child.status.as_str()))),
    ])
}

fn key(key: &CustomerKey) -> Json {
    Json::object([
        ("id", Json::from(key.id.to_string())),
        ("public_id", Json::from(key.public_id.as_str())),
        ("state", Json::from(key.state.as_str())),
        ("operation", Json::from(key.operation_id.to_string())),
        ("replaced_by", Json::from(key.replaced_by.map(|id| id.to_string()))),
        ("created_at", instant(Some(key.created_at))),
    ])
}

pub fn instant(at: Option<At>) -> Json {
    Json::from(at.map(|at| at.to_string()))
}

/// A column that holds JSON; what cannot be read is left out rather than shown half.
fn stored(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap_or(Json::Null)
}
