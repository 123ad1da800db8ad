//! `/live`: tells an open page that something changed; the page fetches itself again.
//!
//! Says nothing about what changed: what a reader may see is decided when the page is drawn. Invariant: many changes at
//! once are one event.

use std::convert::Infallible;
use std::sync::LazyLock;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tower_sessions::Session;

use super::App;
use super::pages::visit::signed_in;

/// Changes within this time are one event.
const GATHER: Duration = Duration::from_millis(300);
/// A comment keeps the connection open and finds out that nobody reads any more.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Then the page asks again, and its session with it.
const LONGEST: Duration = Duration::from_secs(15 * 60);

static ENDED: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// Ends every open stream of this process, for shutdown.
pub fn end_all() {
    ENDED.send_replace(true);
}

pub async fn listen(State(app): State<App>, session: Session) -> Response {
    match signed_in(&app, &session).await {
        Ok(Some(_)) => {}
        Ok(None) => return (StatusCode::UNAUTHORIZED, "sign in first\n").into_response(),
        Err(error) => {
            tracing::error!(%error, "a live page could not be opened");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    }
    let until = tokio::time::Instant::now() + LONGEST;
    let start = (app.ledger.listen(), ENDED.subscribe(), true);
    let events = stream::unfold(start, move |(mut changes, mut ended, first)| async move {
        if first {
            return Some((event(": listening\n\n"), (changes, ended, false)));
        }
        let text = tokio::select! {
            changed = next_change(&mut changes) => changed.then_some("event: changed\ndata: \n\n"),
            () = tokio::time::sleep(KEEP_ALIVE) => Some(": still here\n\n"),
            () = tokio::time::sleep_until(until) => None,
            _ = ended.wait_for(|ended| *ended) => None,
        };
        text.map(|text| (event(text), (changes, ended, false)))
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

fn event(text: &'static str) -> Result<Bytes, Infallible> {
    Ok(Bytes::from_static(text.as_bytes()))
}

/// Waits for a change and for what comes with it. False when there will be none any more.
async fn next_change(changes: &mut Receiver<()>) -> bool {
    if matches!(changes.recv().await, Err(RecvError::Closed)) {
        return false;
    }
    tokio::time::sleep(GATHER).await;
    *changes = changes.resubscribe();
    true
}
