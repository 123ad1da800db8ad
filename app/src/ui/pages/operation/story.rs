//! Where it stands, the record, the identity: everything on the operation's page that only tells.

use leptos::prelude::*;

use super::{InFlight, KeyWindow, OperationPage, Show};
use crate::ui::Html;
use crate::ui::link;
use crate::ui::parts::states::states;
use crate::ui::parts::{
    EntryKind, Reader, RecordEntry, anchor, effects, fact, facts, holder, record, section, status, text, time,
};
use crate::ui::words::{self, Band};

/// Below this share of a window it is marked, below the other it is nearly gone.
const WINDOW_WARN: f64 = 0.25;
const WINDOW_STALE: f64 = 0.05;
/// Width of the window's bar in its own units.
const BAR: f64 = 200.0;

pub fn stand(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let (stopped, means) = (model.stopped.clone(), model.stopped_means.clone());
    view! {
        <section class="stand" aria-labelledby="h-stand">
            <h2 id="h-stand">{stopped}</h2>
            <p class="soft">{means}</p>
            <div class="stand-in">
                {states(&reader.clock, &model.visited, &model.status_view())}
                {standing(reader, model)}
            </div>
        </section>
    }
    .into_any()
}

fn standing(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let summary = model.summary.clone();
    let next = model.next_check.map(|at| fact("Next check", reader.time(at)));
    let more: Vec<Html> = model.more_facts.iter().map(|one| facts_line(reader, one)).collect();
    view! {
        <dl class="facts">
            {fact("Effects confirmed", effects(model.effects))}
            {fact("What", text(&summary))}
            {target(model)}
            {fact("Key window", key_window(reader, &model.key_window))}
            {fact("Holder", holding(reader, model))}
            {fact("Automation", text(&model.automation))}
            {fact("In flight", in_flight(reader, model.in_flight))}
            {next}
            {more}
        </dl>
    }
    .into_any()
}

fn facts_line(reader: &Reader<'_>, one: &crate::ui::parts::Fact) -> Html {
    fact(&one.term, crate::ui::parts::fact_value(reader, one))
}

fn target(model: &OperationPage) -> Option<Html> {
    let target = model.target.clone()?;
    let more = model.target_note.clone().map(|more| view! { <br/><span class="quiet">{more}</span> });
    Some(fact("Target", view! { <code class="whole">{target}</code>{more} }.into_any()))
}

fn holding(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let since = model.holder.as_ref().map(|one| view! { " since "{reader.time(one.since)} });
    view! { {holder(model.holder.as_ref())}{since} }.into_any()
}

fn in_flight(reader: &Reader<'_>, in_flight: InFlight) -> Html {
    match in_flight {
        InFlight::Nothing { since: None } => text("nothing"),
        InFlight::Nothing { since: Some(at) } => view! { "nothing, since "{reader.time(at)} }.into_any(),
        InFlight::Until(barrier) => {
            let left = format!(", in {}", reader.clock.left(barrier));
            view! {
                <b>"a request may be alive"</b>"; nothing can be alive after "{reader.time(barrier)}
                <span data-until=barrier.to_string()>{left}</span>
            }
            .into_any()
        }
    }
}

fn key_window(reader: &Reader<'_>, window: &KeyWindow) -> Html {
    match window {
        KeyWindow::NoKey(why) => text(why),
        KeyWindow::NotYet { seconds } => {
            let length = words::time::span(std::time::Duration::from_secs(*seconds));
            text(&format!("{length}, from the first send"))
        }
        KeyWindow::Closed { at } => {
            let ago = format!("closed {} ago", reader.clock.age(*at));
            view! { <b>{ago}</b>": reports and records only" }.into_any()
        }
        KeyWindow::Open { from, until } => {
            let now = reader.clock.now();
            let whole = until.since(*from).as_secs_f64().max(1.0);
            let left = (until.since(now).as_secs_f64() / whole).clamp(0.0, 1.0);
            let band = if left < WINDOW_STALE {
                Some(Band::Stale.id())
            } else if left < WINDOW_WARN {
                Some(Band::Warn.id())
            } else {
                None
            };
            let words = format!("{} left", reader.clock.left(*until));
            let bar = format!(
                "<rect class=\"all\" width=\"200\" height=\"8\"/><rect class=\"left\" x=\"{:.0}\" width=\"{:.0}\" height=\"8\"/>",
                BAR * (1.0 - left),
                BAR * left
            );
            view! {
                <b>{words}</b>", closes "{reader.time(*until)}
                <svg class="span" data-band=band viewBox="0 0 200 8" preserveAspectRatio="none" aria-hidden="true" inner_html=bar></svg>
            }
            .into_any()
        }
    }
}

pub fn record_section(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let shown: Vec<RecordEntry> = model
        .record
        .iter()
        .filter(|entry| match model.show {
            Show::Everything => true,
            Show::Wire => !matches!(entry.kind, EntryKind::People | EntryKind::Machine | EntryKind::Idle),
            Show::People => matches!(entry.kind, EntryKind::People | EntryKind::Now),
        })
        .cloned()
        .collect();
    view! {
        <section class="section story" aria-labelledby="h-record">
            <header><h2 id="h-record">"Record"</h2>{filter(reader, model)}</header>
            {record::record(reader, &shown)}
        </section>
    }
    .into_any()
}

fn filter(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let here = link::operation(&model.id);
    let choices: Vec<Html> =
        [(Show::Everything, "", "Everything"), (Show::Wire, "wire", "Wire"), (Show::People, "people", "People")]
            .into_iter()
            .map(|(show, value, word)| {
                let path = if value.is_empty() { here.clone() } else { link::with(&here, "show", value) };
                let current = (show == model.show).then_some("true");
                let href = reader.link(&format!("{path}#h-record"));
                view! { <a href=href aria-current=current>{word}</a> }.into_any()
            })
            .collect();
    view! { <nav class="seg noprint" aria-label="Show">{choices}</nav> }.into_any()
}

pub fn identity(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let related = (!model.related.is_empty()).then(|| related(reader, model));
    view! {
        <section class="section idents" aria-labelledby="h-ident">
            <h2 id="h-ident">"Identity"</h2>
            {facts(reader, &model.identity)}
        </section>
        {related}
    }
    .into_any()
}

fn related(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let rows: Vec<Html> = model
        .related
        .iter()
        .map(|one| {
            let link = anchor(reader.link(&link::operation(&one.id)), &one.title);
            fact(&one.how, view! { {link}" "{status(&one.status)} }.into_any())
        })
        .collect();
    section("related", "Hangs together with", None, view! { <dl class="facts">{rows}</dl> }.into_any())
}

pub fn audit_section(reader: &Reader<'_>, model: &OperationPage) -> Html {
    section("audit", "Audit", None, record::audit_of(reader, &model.audit, &model.chain))
}

/// A time of the record, for evidence lines.
pub fn when(reader: &Reader<'_>, at: crate::ledger::instant::Instant) -> Html {
    time(at, reader.clock.exact(at))
}
