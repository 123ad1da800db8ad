//! One id per request: taken from `X-Request-ID` or made, echoed on every answer, and in every log line about it.
//!
//! Also the place where problems are written out and what is ours is logged, once. Logs carry neither bodies nor
//! headers. Invariant: every answer of the API says `nosniff` and `no-store`.

use axum::extract::{MatchedPath, Request};
use axum::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;

use super::problem::{self, Problem};
use crate::ids;

/// Longest id that is taken from a caller.
const LONGEST: usize = 64;
/// Random bytes of an id of ours.
const OWN_BYTES: usize = 16;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Goes on to the ledger as the correlation of what the request changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub String);

impl RequestId {
    /// The caller's, if it is 1 to 64 visible ASCII characters and stands once; else a new one.
    fn of(request: &Request) -> RequestId {
        let mut given = request.headers().get_all(REQUEST_ID).iter();
        let text = match (given.next(), given.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        };
        let is_visible = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        let own = text.filter(|text| text.len() <= LONGEST).filter(is_visible);
        RequestId(own.map_or_else(|| ids::random_hex(OWN_BYTES), str::to_string))
    }
}

pub async fn correlate(mut request: Request, next: Next) -> Response {
    let id = RequestId::of(&request);
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_string()).unwrap_or_default();
    let span = tracing::info_span!("request", request_id = %id.0, method = %request.method(), path);
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).instrument(span.clone()).await;
    if let Some(problem) = problem_of(&mut response) {
        if let Some(cause) = problem.cause() {
            span.in_scope(|| tracing::error!(cause, "a request could not be answered"));
        }
        response = problem.render(&id.0);
    }
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        headers.insert(REQUEST_ID, value);
    }
    span.in_scope(|| tracing::debug!(status = response.status().as_u16(), "answered"));
    response
}

fn problem_of(response: &mut Response) -> Option<Problem> {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        return Some(problem);
    }
    let is_bare = response.status() == StatusCode::METHOD_NOT_ALLOWED;
    is_bare.then(|| problem::keep_allow(Problem::method_not_allowed(), response))
}
