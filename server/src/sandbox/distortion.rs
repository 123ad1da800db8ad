//! What a fault makes of an answer: cut, emptied, shortened, or saying something else.
//!
//! Leaves whether the effect happened to `exchange`. Invariant: distorting an answer never changes the file.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame};
use rust_decimal::Decimal;
use serde_json::Value;

use super::fault::{Foreign, Named};

const ANSWER_LIMIT_BYTES: usize = 4 * 1024 * 1024;
/// How much longer a truncated answer claims to be than it was, so that even an empty one ends short.
const TRUNCATE_SURPLUS_BYTES: usize = 64;
const HTML: &str = "<!doctype html><title>Please wait</title><h1>We'll be right back</h1><p>Reference 7f3a.</p>";

/// The connection ends here, with no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cut {
    #[error("closed by a fault")]
    Close,
    #[error("reset by a fault")]
    Reset,
}

/// True if the fault needs the sandbox's own answer to work on.
pub fn needs_answer(named: Named) -> bool {
    matches!(named, Named::Truncate | Named::WrongEcho | Named::Empty)
}

pub async fn distort(named: Named, answer: Response) -> Response {
    match named {
        Named::Close => cut(Cut::Close),
        Named::Reset => cut(Cut::Reset),
        Named::Html => html(),
        Named::Empty => empty(answer),
        Named::Truncate => truncate(answer).await,
        Named::WrongEcho => wrong_echo(answer).await,
    }
}

pub fn foreign(answer: &Foreign) -> Response {
    let mut response = Response::new(Body::from(answer.body.clone()));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let is_json = serde_json::from_str::<Value>(&answer.body).is_ok();
    let content_type = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    for (name, value) in &answer.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// A response that carries the cut to the connection, which drops it.
fn cut(cut: Cut) -> Response {
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(cut);
    response
}

fn html() -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))], HTML).into_response()
}

fn empty(answer: Response) -> Response {
    let (mut parts, _) = answer.into_parts();
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    Response::from_parts(parts, Body::empty())
}

async fn truncate(answer: Response) -> Response {
    let (mut parts, body) = answer.into_parts();
    let bytes = to_bytes(body, ANSWER_LIMIT_BYTES).await.unwrap_or_default();
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len() + TRUNCATE_SURPLUS_BYTES));
    let half = bytes.slice(..bytes.len() / 2);
    Response::from_parts(parts, Body::new(Shortened::Sending(half).map_err(axum::Error::new)))
}

async fn wrong_echo(answer: Response) -> Response {
    let (mut parts, body) = answer.into_parts();
    let bytes = to_bytes(body, ANSWER_LIMIT_BYTES).await.unwrap_or_default();
    let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    mislead(&mut value);
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(value.to_string()))
}

/// Every field that repeats the request says something else; ids and statuses stay.
fn mislead(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(mislead),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                match name.as_str() {
                    "amount" | "spend_limit" | "balance" => raise(value),
                    "reference" | "external_reference" | "name" | "purpose" | "actionId" => rename(value),
                    "items" => mislead(value),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn raise(value: &mut Value) {
    let amount = value.as_str().and_then(|text| Decimal::from_str_exact(text).ok());
    if let Some(raised) = amount.and_then(|amount| amount.checked_add(Decimal::ONE)) {
        *value = Value::String(raised.to_string());
    }
}

fn rename(value: &mut Value) {
    if let Some(text) = value.as_str() {
        *value = Value::String(format!("{text}-other"));
    }
}

/// Some bytes, a moment for them to leave, then a broken connection.
enum Shortened {
    Sending(Bytes),
    Leaving,
    Broken,
}

impl HttpBody for Shortened {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match &mut *self {
            Shortened::Sending(bytes) => {
                let bytes = std::mem::take(bytes);
                *self = Shortened::Leaving;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            // The connection flushes whenever its body is not ready.
            Shortened::Leaving => {
                *self = Shortened::Broken;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Shortened::Broken => Poll::Ready(Some(Err(Cut::Close))),
        }
    }
}
