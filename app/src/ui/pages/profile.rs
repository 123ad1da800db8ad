//! `/profile`: the reader's zone, their sessions, signing out.

use leptos::prelude::*;

use crate::ledger::instant::Instant;
use crate::ui::Html;
use crate::ui::parts::table::{column, table, tight};
use crate::ui::parts::verb::{self, Field, FieldKind, Object, Verb, Weight};
use crate::ui::parts::{Fact, Reader, facts, section, text};
use crate::ui::shell::{Nav, Shell, page as shell_page};

#[derive(Clone, Debug)]
pub struct SessionRow {
    pub id: String,
    pub began: Instant,
    pub last_seen: Instant,
    /// "Firefox on Linux"
    pub agent: String,
    pub here: bool,
}

#[derive(Clone, Debug, Default)]
pub struct ProfilePage {
    /// Zones offered, by IANA name.
    pub zones: Vec<String>,
    pub zone_error: Option<String>,
    pub sessions: Vec<SessionRow>,
    /// Further lines: roles since when, tenants, tokens.
    pub facts: Vec<Fact>,
}

pub fn page(shell: &Shell, model: &ProfilePage) -> String {
    shell_page(shell, "Profile", "profile", |reader| {
        let name = shell.person.as_ref().map_or_else(|| "Profile".to_string(), |person| person.name.clone());
        let mut about: Vec<Fact> = shell
            .person
            .iter()
            .flat_map(|person| [Fact::new("Email", person.email.clone()), Fact::new("Roles", person.roles.join(", "))])
            .collect();
        about.extend(model.facts.iter().cloned());
        let object = Object { path: String::new(), version: None };
        let out = Verb::new("sign-out", "Sign out");
        view! {
            <header class="head">
                <h1>{name}</h1>
                <div class="tools">{verb::press(reader, &object, &out, Weight::Plain, false)}</div>
            </header>
            {facts(reader, &about)}
            {zone(reader, model)}
            {sessions(reader, model)}
        }
        .into_any()
    })
}

fn zone(reader: &Reader<'_>, model: &ProfilePage) -> Html {
    let object = Object { path: Nav::Profile.path().into(), version: None };
    let choices = model.zones.iter().map(|zone| (zone.clone(), zone.clone())).collect();
    let field = Field {
        value: reader.shell.zone.clone(),
        error: model.zone_error.clone(),
        hint: Some("Times are shown in it; UTC stands beside each.".into()),
        ..Field::new("zone", "Time zone", FieldKind::Choice(choices))
    };
    let save = Verb::new("zone", "Save the zone").field(field);
    let body = view! { <div class="narrow">{verb::filled(reader, &object, &save, Weight::Plain, None)}</div> };
    section("zone", "Time zone", None, body.into_any())
}

fn sessions(reader: &Reader<'_>, model: &ProfilePage) -> Html {
    let rows = model
        .sessions
        .iter()
        .map(|session| {
            let object =
                Object { path: format!("/profile/sessions/{}", crate::ui::link::encode(&session.id)), version: None };
            let end = if session.here {
                text("this one")
            } else {
                let verb = Verb { part: Some(session.id.clone()), ..Verb::new("revoke", "End it") };
                verb::press(reader, &object, &verb, Weight::Plain, false)
            };
            vec![text(&session.agent), reader.time(session.began), reader.time(session.last_seen), end]
        })
        .collect();
    let columns = [column("Where"), tight("Began"), tight("Last seen"), tight("Session")];
    section("sessions", "Sessions", None, table("Sessions", &columns, rows))
}
