//! The partner's "no": a status, a stable code and a sentence, in one shape.
//!
//! Leaves broken transport and unreadable answers to faults; a refusal is always well formed. Invariant: a refusal
//! is a definite statement that nothing changed.

use axum::Json;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
}

impl Refusal {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Refusal { status, code, message: message.into() }
    }

    pub fn malformed(code: &'static str, message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub fn missing(code: &'static str, message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::NOT_FOUND, code, message)
    }

    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::CONFLICT, code, message)
    }

    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    pub fn body(&self) -> Value {
        json!({"error": {"code": self.code, "message": self.message}})
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.body())).into_response()
    }
}

/// Why a request goes no further: refused, already answered under its key, or the file failed.
#[derive(Debug)]
pub enum Stop {
    Refused(Refusal),
    Replayed { status: StatusCode, body: Value },
    Broken(sqlx::Error),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Stop::Refused(refusal)
    }
}

impl From<sqlx::Error> for Stop {
    fn from(error: sqlx::Error) -> Self {
        Stop::Broken(error)
    }
}

impl IntoResponse for Stop {
    fn into_response(self) -> Response {
        match self {
            Stop::Refused(refusal) => refusal.into_response(),
            Stop::Replayed { status, body } => {
                let mut response = (status, Json(body)).into_response();
                response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
                response
            }
            Stop::Broken(error) => {
                tracing::error!(%error, "the sandbox's file failed");
                let refusal = Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", "The sandbox failed.");
                refusal.into_response()
            }
        }
    }
}
