//! Signing in and out.
//!
//! Says neither whether an account exists nor which half was wrong, and takes as long for both. Invariant: a session has
//! another id after sign-in than before, and none after sign-out.

use std::time::Duration;

use app::ledger::instant::Instant;
use app::ui::pages::sign_in::{self, SignInPage};
use axum::extract::{Query, State};
use axum::http::header::USER_AGENT;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;
use tower_sessions::Session;

use super::forms::Form;
use super::visit::{Visit, broken, outside, redirect, signed_in};
use crate::http::App;
use crate::http::sessions::{AGENT, PERSON, SEEN};
use crate::ids;
use crate::ledger::audit::{self, Note};
use crate::ledger::people::{normal_email, operator, verify_password};
use crate::ledger::{Actor, Error, Ledger, Operator, Result};
use crate::store::codec::{At, Id};
use crate::store::{Tx, people};

/// Failures before the first wait.
const FREE_TRIES: i64 = 3;
const LONGEST_WAIT: Duration = Duration::from_secs(900);
const AGENT_LENGTH: usize = 120;
const REFUSED: &str = "Email and password do not match. After several tries the next one has to wait.";

#[derive(Debug, Default, Deserialize)]
pub struct Asked {
    #[serde(default)]
    next: String,
}

pub async fn show(State(app): State<App>, session: Session, Query(asked): Query<Asked>) -> Response {
    match signed_in(&app, &session).await {
        Ok(Some(_)) => redirect(local(&asked.next)),
        Ok(None) => draw(&app, StatusCode::OK, SignInPage { next: asked.next, ..SignInPage::default() }).await,
        Err(error) => broken(&app, &error).await,
    }
}

pub async fn enter(State(app): State<App>, session: Session, headers: HeaderMap, form: Form) -> Response {
    let (email, next) = (normal_email(form.text("email")), form.text("next").to_string());
    match check(&app, &email, form.text("password").to_string()).await {
        Ok(Some(who)) => match begin(&app, &session, &who, &headers).await {
            Ok(()) => redirect(local(&next)),
            Err(error) => {
                tracing::error!(%error, "a session could not begin");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        },
        Ok(None) => {
            let model = SignInPage { email: form.text("email").to_string(), error: Some(REFUSED.into()), next };
            draw(&app, StatusCode::UNPROCESSABLE_ENTITY, model).await
        }
        Err(error) => broken(&app, &error).await,
    }
}

pub async fn leave(visit: Visit) -> Response {
    let ledger = visit.app.ledger.clone();
    let noted = crate::in_transaction!(ledger, |tx| {
        let now = tx.now(&ledger.clock).await?;
        people::find_locked(tx, visit.who.id).await?;
        let subject = visit.who.id.to_string();
        let actor = visit.who.actor(&visit.request_id);
        audit::subject(tx, &ledger, ("person", &subject), None, &actor, Note::of("sign_out"), now).await
    });
    if let Err(error) = noted {
        tracing::error!(%error, "a sign-out could not be audited");
    }
    match visit.session.flush().await {
        Ok(()) => redirect("/sign-in"),
        Err(error) => {
            tracing::error!(%error, "a session could not be ended");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn draw(app: &App, status: StatusCode, model: SignInPage) -> Response {
    let now = app.ledger.db.now().await.unwrap_or_else(|_| app.ledger.clock.now());
    (status, Html(sign_in::page(&outside(app, now), &model))).into_response()
}

/// A path of ours, else the overview.
fn local(next: &str) -> &str {
    let plain = !next.chars().any(|c| c.is_control() || c == '\\');
    if next.starts_with('/') && !next.starts_with("//") && plain && !next.starts_with("/sign-in") { next } else { "/" }
}

/// The person, if the password is theirs and no wait is running.
async fn check(app: &App, email: &str, password: String) -> Result<Option<Operator>> {
    let ledger = &app.ledger;
    let mut tx = ledger.db.read().await?;
    let now = tx.now(&ledger.clock).await?;
    let known = people::find_by_email(&mut tx, email).await?;
    drop(tx);
    let usable = known
        .as_ref()
        .filter(|person| person.disabled_at.is_none() && person.locked_until.is_none_or(|until| *until <= now));
    let hash = usable.map(|person| person.password_hash.clone());
    let verified = verify_password(password, hash).await;
    let Some(known) = known else { return Ok(None) };
    crate::in_transaction!(ledger, |tx| note_try(ledger, tx, known.id, verified).await)
}

/// Counts and audits the try under the person's row.
async fn note_try(ledger: &Ledger, tx: &mut Tx, id: Id, verified: bool) -> Result<Option<Operator>> {
    let now = tx.now(&ledger.clock).await?;
    let Some(mut person) = people::find_locked(tx, id).await? else { return Ok(None) };
    let who = if verified { operator(tx, &person).await? } else { None };
    let correlation = ids::new_id().to_string();
    let (actor, note) = match &who {
        Some(who) => {
            person.failed_sign_ins = 0;
            person.locked_until = None;
            (who.actor(&correlation), Note::of("sign_in"))
        }
        None => {
            person.failed_sign_ins += 1;
            person.locked_until = wait(person.failed_sign_ins, now).map(At).or(person.locked_until);
            let note = Note { outcome: "denied", reason: Some("did not match".into()), ..Note::of("sign_in") };
            (stranger(&person.email, correlation), note)
        }
    };
    people::update(tx, &person).await?;
    audit::subject(tx, ledger, ("person", &id.to_string()), None, &actor, note, now).await?;
    Ok(who)
}

fn stranger(email: &str, correlation: String) -> Actor {
    Actor { kind: "stranger", id: String::new(), name: email.to_string(), roles: String::new(), correlation }
}

/// Until when the next try waits.
fn wait(failures: i64, now: Instant) -> Option<Instant> {
    let doublings = u32::try_from(failures - FREE_TRIES).ok()?;
    let seconds = 1u64.checked_shl(doublings.min(u32::from(u8::MAX))).unwrap_or(u64::MAX);
    Some(now.plus(Duration::from_secs(seconds).min(LONGEST_WAIT)))
}

async fn begin(app: &App, session: &Session, who: &Operator, headers: &HeaderMap) -> Result<()> {
    let now = app.ledger.db.now().await?;
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or("unknown");
    let agent: String = agent.chars().take(AGENT_LENGTH).collect();
    let started = async {
        session.clear().await;
        session.cycle_id().await?;
        session.insert(PERSON, who.id.to_string()).await?;
        session.insert(AGENT, agent).await?;
        session.insert(SEEN, now.micros()).await
    };
    started.await.map_err(|error: tower_sessions::session::Error| {
        Error::Store(crate::store::Error::Corrupt { table: "sessions", id: String::new(), what: error.to_string() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_of_ours_is_followed_after_sign_in() {
        for path in ["/queue?whose=mine", "/operations/1#h-record", "/"] {
            assert_eq!(local(path), path);
        }
        for path in ["//evil.example", "https://evil.example", "", "/\\evil.example", "queue", "/a\r\nb", "/sign-in"] {
            assert_eq!(local(path), "/", "{path:?}");
        }
    }

    #[test]
    fn each_failure_after_the_first_three_waits_twice_as_long_to_a_limit() {
        let now = Instant::EPOCH;
        let seconds = |failures| wait(failures, now).map(|until| until.since(now).as_secs());
        assert_eq!([seconds(1), seconds(2), seconds(3), seconds(4)], [None, None, Some(1), Some(2)]);
        assert_eq!([seconds(13), seconds(90), seconds(1_000)], [Some(900); 3]);
    }
}
