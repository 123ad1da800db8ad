//! Problems as RFC 9457 for the API: what was refused, why, and what the reader can do.
//!
//! A handler returns a [`Problem`]; `correlation` writes it out with the request's id and logs what is ours, once.
//! Invariant: no answer carries SQL, a partner's text, an inbound key or an earlier request's values.

use std::time::Duration;

use app::ledger::json::{Json, JsonError};
use app::ledger::key::KeyError;
use axum::http::header::{ALLOW, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::api::urls;
use crate::ledger;
use crate::store;

pub const MEDIA_TYPE: &str = "application/problem+json";
/// When to ask again after a database that is busy or away.
const AFTER_STORE: Duration = Duration::from_secs(2);
/// When to ask again after too many requests at once.
const AFTER_CROWD: Duration = Duration::from_secs(1);

/// Boxed: it travels in the `Err` of everything that reads a request.
#[derive(Clone, Debug)]
pub struct Problem(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    status: StatusCode,
    /// The last part of `type`.
    code: &'static str,
    title: &'static str,
    detail: String,
    hint: &'static str,
    members: Vec<(&'static str, Json)>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// For the log only.
    cause: Option<String>,
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, title: &'static str) -> Problem {
        Problem(Box::new(Parts {
            status,
            code,
            title,
            detail: String::new(),
            hint: "",
            members: Vec::new(),
            headers: Vec::new(),
            cause: None,
        }))
    }

    fn detail(mut self, detail: impl Into<String>) -> Problem {
        self.0.detail = detail.into();
        self
    }

    fn hint(mut self, hint: &'static str) -> Problem {
        self.0.hint = hint;
        self
    }

    fn because(mut self, cause: String) -> Problem {
        self.0.cause = Some(cause);
        self
    }

    fn member(mut self, name: &'static str, value: impl Into<Json>) -> Problem {
        self.0.members.push((name, value.into()));
        self
    }

    fn header(mut self, name: HeaderName, value: HeaderValue) -> Problem {
        self.0.headers.push((name, value));
        self
    }

    fn retry_after(self, wait: Duration) -> Problem {
        self.header(RETRY_AFTER, HeaderValue::from(wait.as_secs()))
    }

    /// The body was no JSON that is taken.
    pub fn malformed_json(error: &JsonError) -> Problem {
        Problem::malformed(format!("The body is not taken: {error}."))
            .member("pointer", error.path.as_str())
            .member("offset", i64::try_from(error.offset).unwrap_or(i64::MAX))
    }

    pub fn malformed(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "malformed", "The request cannot be read")
            .detail(detail)
            .hint("Send one JSON object in UTF-8, each member once. Nothing was stored.")
    }

    pub fn missing_key() -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "missing-idempotency-key", "The idempotency key is missing")
            .detail("This request needs the header Idempotency-Key.")
            .hint("Send a key of your own that stays the same in every retry of this request. Nothing was stored.")
    }

    pub fn invalid_key(error: &KeyError) -> Problem {
        Problem::bad_key(format!("{error}."))
    }

    pub fn bad_key(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "invalid-idempotency-key", "The idempotency key cannot be used")
            .detail(detail)
            .hint("Send one Idempotency-Key of 1 to 255 visible ASCII characters. Nothing was stored.")
    }

    pub fn invalid(field: &str, message: &str) -> Problem {
        let is_named = field.is_empty() || message.starts_with(field);
        let detail = if is_named { message.to_string() } else { format!("{field}: {message}") };
        Problem::new(StatusCode::BAD_REQUEST, "invalid-parameter", "A parameter is not right")
            .detail(detail)
            .member("field", field)
            .hint("Correct the named field and send the request again, under the same key. Nothing was stored.")
    }

    pub fn unauthenticated(is_given: bool) -> Problem {
        let detail =
            if is_given { "The bearer token is not valid, or not any more." } else { "A bearer token is missing." };
        let challenge = if is_given { "Bearer error=\"invalid_token\"" } else { "Bearer" };
        Problem::new(StatusCode::UNAUTHORIZED, "unauthenticated", "Who asks is not known")
            .detail(detail)
            .header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
            .hint("Send Authorization: Bearer and the token of an API client; `ascertain client add` makes one.")
    }

    pub fn forbidden(detail: &str) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "forbidden", "Not allowed")
            .detail(format!("{detail}."))
            .hint("Ask an admin for the right, or use a client that has it.")
    }

    fn needs_confirmation() -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "needs-confirmation", "A person has to confirm this")
            .detail("This contract is admitted only as an action that a person confirms.")
            .hint("Propose it with POST /v1/actions.")
    }

    pub fn not_found(what: &str) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", "Not found")
            .detail(format!("There is no such {what}, or this client may not see it."))
            .hint("Check the id and the client's tenant, contracts and scopes.")
    }

    pub fn no_such_route() -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", "Not found")
            .detail("The API has no such path.")
            .hint("Check the path against the documentation.")
    }

    pub fn method_not_allowed() -> Problem {
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "The path has no such method")
            .detail("The method is not one of this path.")
            .hint("See the header Allow.")
    }

    /// The connection is closed: what is left of the body is not read.
    pub fn too_large(limit: usize) -> Problem {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "The body is too large")
            .detail(format!("A body has at most {limit} bytes."))
            .member("limit", i64::try_from(limit).unwrap_or(i64::MAX))
            .header(CONNECTION, HeaderValue::from_static("close"))
            .hint("Send less. Nothing was stored.")
    }

    pub fn unsupported_media_type(detail: &str) -> Problem {
        Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body's type is not taken")
            .detail(detail)
            .hint("Send Content-Type: application/json, without Content-Encoding. Nothing was stored.")
    }

    pub fn too_many_requests() -> Problem {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", "Too many requests at once")
            .detail("This client has too many requests open.")
            .retry_after(AFTER_CROWD)
            .hint("Wait as long as Retry-After says, then send the same request under the same key.")
    }

    fn conflict(code: &'static str, title: &'static str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, code, title)
            .detail(detail)
            .hint("Read the operation again and decide on what it says now.")
    }

    fn unavailable(cause: String) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "The ledger cannot answer now")
            .detail("The database is busy or away. Whether the request was stored is not known.")
            .retry_after(AFTER_STORE)
            .hint("Send the same request under the same key; it is stored at most once.")
            .because(cause)
    }

    /// Something of ours is wrong.
    pub fn internal(cause: String) -> Problem {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Something went wrong here")
            .detail("The request could not be answered. Whether it was stored is not known.")
            .hint("Send the same request under the same key, or quote request_id to those who run this ledger.")
            .because(cause)
    }

    /// What the log has to say about it.
    pub fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    pub fn render(self, request_id: &str) -> Response {
        let parts = *self.0;
        let mut members = vec![
            ("type", Json::from(format!("/problems/{}", parts.code))),
            ("title", Json::from(parts.title)),
            ("status", Json::from(i64::from(parts.status.as_u16()))),
            ("code", Json::from(parts.code)),
            ("detail", Json::from(parts.detail)),
            ("hint", Json::from(parts.hint)),
            ("request_id", Json::from(request_id)),
        ];
        members.extend(parts.members);
        let mut response = (parts.status, Json::object(members).to_text()).into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        response.headers_mut().extend(parts.headers);
        response
    }
}

/// Carried to `correlation`, which knows the request's id and writes it out.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.0.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// A refused method: axum answers it bare, with `Allow`.
pub fn keep_allow(problem: Problem, bare: &Response) -> Problem {
    match bare.headers().get(ALLOW) {
        Some(allow) => problem.header(ALLOW, allow.clone()),
        None => problem,
    }
}

impl From<ledger::Error> for Problem {
    fn from(error: ledger::Error) -> Problem {
        use ledger::Error;
        match error {
            Error::NotFound(what) => Problem::not_found(what),
            Error::Forbidden(why) | Error::NotYours(why) => Problem::forbidden(why),
            Error::Invalid { field, message } => Problem::invalid(&field, &message),
            Error::NeedsConfirmation => Problem::needs_confirmation(),
            Error::KeyReused { operation, status, differs } => reused(
                "idempotency-key-reused",
                "The idempotency key was used for another request",
                "This key belongs to a request with another meaning; the first one stands unchanged.",
                (operation, status, differs),
            ),
            Error::IntentReused { operation, status, differs } => reused(
                "intent-reused",
                "The intent is known with other parameters",
                "What this request is for was asked for before, with other parameters; the first request stands.",
                (operation, status, differs),
            ),
            Error::StaleVersion { seen, now } => {
                Problem::conflict("stale-version", "It has changed", "It has changed since it was read.")
                    .member("seen", seen)
                    .member("now", now)
            }
            Error::Void => {
                Problem::conflict("stale-version", "It has changed", "What was shown is not what is stored.")
            }
            Error::Held { by: _ } => Problem::conflict("held", "A person holds it", "A person is working on it."),
            Error::WrongStatus(status) => {
                Problem::conflict("wrong-status", "Not in this status", format!("Not while it is {status}."))
                    .member("operation_status", status.as_str())
            }
            Error::Blocked(id) => {
                Problem::conflict("blocked", "It waits for another operation", format!("It waits for operation {id}."))
                    .member("operation", id.to_string())
                    .member("link", urls::operation(id))
            }
            Error::Shut(_) => Problem::conflict(
                "blocked",
                "The evidence does not allow it yet",
                "What is known about the effect does not allow this.",
            ),
            Error::Store(error) if is_away(&error) => Problem::unavailable(error.to_string()),
            Error::Store(error) => Problem::internal(error.to_string()),
        }
    }
}

type Earlier = (Option<store::codec::Id>, Option<app::ledger::status::Status>, Vec<String>);

/// Names what differs, never how: the earlier values stay where they are. `status` is the answer's, by RFC 9457.
fn reused(code: &'static str, title: &'static str, detail: &str, (operation, status, differs): Earlier) -> Problem {
    let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code, title)
        .detail(detail)
        .member("operation", operation.map(|id| id.to_string()))
        .member("operation_status", status.map(|status| status.as_str()))
        .member("differs", differs.into_iter().map(Json::from).collect::<Vec<_>>())
        .hint("Send the first request again as it was, or give what is really new a key and an intent of its own.");
    match operation {
        Some(id) => problem.member("link", urls::operation(id)),
        None => problem,
    }
}

/// Another try later may go through. Lost races that outlast their tries count as busy.
fn is_away(error: &store::Error) -> bool {
    error.is_away() || matches!(error, store::Error::Taken(_) | store::Error::Stale(_))
}
