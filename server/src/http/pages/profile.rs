//! `/profile`: a person's zone and sessions.
//!
//! Invariant: nobody ends a session of somebody else here.

use app::ledger::instant::Instant;
use app::ui::pages::profile::{self, ProfilePage, SessionRow};
use app::ui::parts::Fact;
use app::ui::shell::Nav;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

use super::forms::{Deed, Form, act, refused};
use super::visit::Visit;
use crate::http::sessions::{AGENT, SEEN, digest};
use crate::ledger::audit::{self, Note};
use crate::ledger::{Error, Ledger, Operator, Result};
use crate::store::codec::At;
use crate::store::{people, sessions};

/// A session is named on pages by the start of its digest.
const NAME_LENGTH: usize = 16;
const PATH: &str = "/profile";

pub async fn show(visit: Visit) -> Response {
    let visit = visit.at(Nav::Profile).await;
    let drawn = model(&visit).await.map(|model| profile::page(&visit.shell, &model));
    visit.answer(drawn)
}

async fn model(visit: &Visit) -> Result<ProfilePage> {
    let mut tx = visit.read().await?;
    let own = visit.session.id().map(|id| digest(&id));
    let rows = sessions::list_of_person(&mut tx, visit.who.id, At(visit.now)).await?;
    let rows = rows.iter().map(|row| {
        let content: serde_json::Value = serde_json::from_str(&row.content).unwrap_or_default();
        let seen = content.get(SEEN).and_then(serde_json::Value::as_i64);
        SessionRow {
            id: row.digest.chars().take(NAME_LENGTH).collect(),
            began: *row.created_at,
            last_seen: seen.map_or(*row.created_at, Instant::from_micros),
            agent: content.get(AGENT).and_then(|agent| agent.as_str()).unwrap_or("unknown").to_string(),
            here: Some(&row.digest) == own.as_ref(),
        }
    });
    let zones = jiff::tz::TimeZoneDatabase::bundled();
    Ok(ProfilePage {
        zones: zones.available().map(|zone| zone.to_string()).collect(),
        zone_error: None,
        sessions: rows.collect(),
        facts: vec![Fact::new("Tenants", visit.who.tenants.join(", "))],
    })
}

pub async fn zone(visit: Visit, form: Form) -> Response {
    let deed = Deed { name: "set_zone", right: None, about: visit.who.id, back: PATH.into(), audits_itself: true };
    let (ledger, who, correlation) = (visit.app.ledger.clone(), visit.who.clone(), visit.request_id.clone());
    let zone = form.text("zone").to_string();
    let command = async move { set_zone(&ledger, &who, &zone, &correlation).await };
    match act(&visit, &form, &deed, command).await {
        Ok(response) => response,
        Err(Error::Invalid { message, .. }) => {
            let visit = visit.at(Nav::Profile).await;
            match model(&visit).await {
                Ok(model) => {
                    let model = ProfilePage { zone_error: Some(message), ..model };
                    (StatusCode::UNPROCESSABLE_ENTITY, Html(profile::page(&visit.shell, &model))).into_response()
                }
                Err(error) => visit.trouble(&error),
            }
        }
        Err(error) => refused(&visit, &form, &deed, error).await,
    }
}

async fn set_zone(ledger: &Ledger, who: &Operator, zone: &str, correlation: &str) -> Result<String> {
    if jiff::tz::TimeZoneDatabase::bundled().get(zone).is_err() {
        return Err(Error::invalid("zone", "choose a zone of the list"));
    }
    crate::in_transaction!(ledger, |tx| {
        let now = tx.now(&ledger.clock).await?;
        let Some(mut person) = people::find_locked(tx, who.id).await? else { return Err(Error::NotFound("person")) };
        person.zone = zone.to_string();
        people::update(tx, &person).await?;
        let subject = who.id.to_string();
        let note = Note { note: Some(zone.to_string()), ..Note::of("set_zone") };
        audit::subject(tx, ledger, ("person", &subject), None, &who.actor(correlation), note, now).await?;
        Ok(format!("Times are shown in {zone} now."))
    })
}

pub async fn revoke(visit: Visit, Path(name): Path<String>, form: Form) -> Response {
    let deed = Deed { name: "end_session", right: None, about: visit.who.id, back: PATH.into(), audits_itself: true };
    let (ledger, who, correlation) = (visit.app.ledger.clone(), visit.who.clone(), visit.request_id.clone());
    let command = async move { end_session(&ledger, &who, &name, &correlation).await };
    match act(&visit, &form, &deed, command).await {
        Ok(response) => response,
        Err(error) => refused(&visit, &form, &deed, error).await,
    }
}

async fn end_session(ledger: &Ledger, who: &Operator, name: &str, correlation: &str) -> Result<String> {
    crate::in_transaction!(ledger, |tx| {
        let now = tx.now(&ledger.clock).await?;
        people::find_locked(tx, who.id).await?;
        let own = sessions::list_of_person(tx, who.id, At(now)).await?;
        let named = own.iter().find(|row| name.len() == NAME_LENGTH && row.digest.starts_with(name));
        let Some(session) = named else { return Err(Error::NotFound("session")) };
        sessions::delete(tx, &session.digest).await?;
        let subject = who.id.to_string();
        let actor = who.actor(correlation);
        audit::subject(tx, ledger, ("person", &subject), None, &actor, Note::of("end_session"), now).await?;
        Ok("The session is ended.".to_string())
    })
}
