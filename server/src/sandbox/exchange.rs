//! One exchange with the partner: read the request, count it, let faults act around the change, answer.
//!
//! Leaves what changes to each noun. Invariants: nothing holds the file's write lock while a fault waits; a request
//! that was read whole runs to its end even if its caller has gone.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::Sandbox;
use super::arrival::{Arrival, Claim, Kind, Space};
use super::distortion::{distort, foreign, needs_answer};
use super::fault::{Deed, Phase};
use super::refusal::{Refusal, Stop};

pub const BODY_LIMIT_BYTES: usize = 64 * 1024;
const KEY_LIMIT_BYTES: usize = 255;
const ACTOR_LIMIT_BYTES: usize = 100;
const DEFAULT_ACTOR: &str = "api";

/// Given by the connection to every request.
#[derive(Debug, Clone)]
pub struct Origin {
    pub peer: SocketAddr,
    pub request_id: String,
}

pub async fn exchange(
    State(sandbox): State<Sandbox>,
    Extension(origin): Extension<Origin>,
    request: Request,
    next: Next,
) -> Response {
    match converse(&sandbox, &origin, request, next).await {
        Ok(response) => response,
        Err(stop) => stop.into_response(),
    }
}

async fn converse(sandbox: &Sandbox, origin: &Origin, request: Request, next: Next) -> Result<Response, Stop> {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, BODY_LIMIT_BYTES).await.map_err(|error| unread(&error))?;
    let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
    let arrival = arrive(&parts, &bytes, origin);
    let claim = match &arrival {
        Some(arrival) => admit(sandbox, arrival, &parts.headers).await?,
        None => None,
    };

    let mut working_on = None;
    match sandbox.faults.take(Phase::Before, &method, &path) {
        None | Some(Deed::Pending(_)) => {}
        Some(Deed::Delay(delay)) => tokio::time::sleep(Duration::from_millis(delay.delay_ms)).await,
        Some(Deed::Answer(answer)) => return Ok(foreign(&answer)),
        Some(Deed::Named(named)) if needs_answer(named) => working_on = Some(named),
        Some(Deed::Named(named)) => return Ok(distort(named, StatusCode::OK.into_response()).await),
    }

    authorise(sandbox, &parts.headers)?;
    let mut request = Request::from_parts(parts, Body::from(bytes));
    if let Some(mut arrival) = arrival {
        arrival.rehearsed = working_on.is_some();
        if let Some(Deed::Pending(pending)) = sandbox.faults.take(Phase::Within, &method, &path) {
            arrival.pending_ms = Some(pending.pending_ms);
        }
        request.extensions_mut().insert(arrival);
    }
    let answer = next.run(request).await;
    drop(claim);
    match working_on {
        Some(named) => Ok(distort(named, answer).await),
        None => Ok(after(sandbox, &method, &path, answer).await),
    }
}

async fn after(sandbox: &Sandbox, method: &Method, path: &str, answer: Response) -> Response {
    match sandbox.faults.take(Phase::After, method, path) {
        None | Some(Deed::Pending(_)) => answer,
        Some(Deed::Delay(delay)) => {
            tokio::time::sleep(Duration::from_millis(delay.delay_ms)).await;
            answer
        }
        Some(Deed::Answer(foreigner)) => foreign(&foreigner),
        Some(Deed::Named(named)) => distort(named, answer).await,
    }
}

fn arrive(parts: &Parts, bytes: &[u8], origin: &Origin) -> Option<Arrival> {
    let pattern = parts.extensions.get::<MatchedPath>()?;
    let kind = Kind::of(&parts.method, pattern.as_str())?;
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let actor = header("x-actor").filter(|actor| (1..=ACTOR_LIMIT_BYTES).contains(&actor.len()));
    Some(Arrival {
        kind,
        request_id: origin.request_id.clone(),
        method: parts.method.clone(),
        path: parts.uri.path().to_owned(),
        key: header("idempotency-key").filter(|_| kind != Kind::Message).map(str::to_owned),
        actor: actor.unwrap_or(DEFAULT_ACTOR).to_owned(),
        source_ip: origin.peer.ip().to_string(),
        body: if bytes.is_empty() { Some(serde_json::Value::Null) } else { serde_json::from_slice(bytes).ok() },
        bytes: Arc::from(bytes),
        pending_ms: None,
        rehearsed: false,
    })
}

/// Counts the arrival, then claims its key until the change is decided.
async fn admit(sandbox: &Sandbox, arrival: &Arrival, headers: &HeaderMap) -> Result<Option<Claim>, Stop> {
    arrival.count(sandbox).await?;
    let space = arrival.kind.space();
    let Some(key) = arrival.key.as_deref() else {
        let unreadable = arrival.kind != Kind::Message && headers.contains_key("idempotency-key");
        return if unreadable { Err(invalid_key(space).into()) } else { Ok(None) };
    };
    if !(1..=KEY_LIMIT_BYTES).contains(&key.len()) || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(invalid_key(space).into());
    }
    let code = if space == Space::Tool { "IDEMPOTENCY_IN_PROGRESS" } else { "key_in_use" };
    let claim = sandbox.in_flight.claim(space, key);
    claim.map(Some).ok_or_else(|| Refusal::conflict(code, "A request with this key is still running.").into())
}

fn invalid_key(space: Space) -> Refusal {
    let code = if space == Space::Tool { "INVALID_IDEMPOTENCY_KEY" } else { "invalid_idempotency_key" };
    Refusal::malformed(code, "`Idempotency-Key` must be 1 to 255 visible ASCII characters.")
}

fn authorise(sandbox: &Sandbox, headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(token) = sandbox.token.as_deref() else { return Ok(()) };
    let sent = headers.get(AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
    let wanted = format!("Bearer {token}");
    if bool::from(sent.ct_eq(wanted.as_bytes())) {
        return Ok(());
    }
    Err(Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", "The bearer token is missing or wrong."))
}

fn unread(error: &axum::Error) -> Refusal {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.is::<http_body_util::LengthLimitError>() {
            let message = format!("The body is over {BODY_LIMIT_BYTES} bytes.");
            return Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message);
        }
        cause = error.source();
    }
    Refusal::malformed("unreadable_body", "The body broke off.")
}
