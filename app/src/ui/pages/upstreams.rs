//! `/upstreams`: the partners, how they are, and the switch that stops sending.

use leptos::prelude::*;

use crate::ledger::instant::Instant;
use crate::ui::parts::table::{column, number, table};
use crate::ui::parts::verb::{self, Object, Verb, Weight};
use crate::ui::parts::{Reader, code, empty, note, status, text};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::{Mark, StatusView, Tone};
use crate::ui::{Html, link};

#[derive(Clone, Debug)]
pub struct UpstreamRow {
    pub name: String,
    pub title: String,
    pub origin: String,
    /// "running", "pausing until 14:02:51", "paused", "stopped by the breaker"
    pub state: String,
    pub well: bool,
    pub why: Option<String>,
    pub since: Option<Instant>,
    pub sends: u32,
    pub parallel: u32,
    pub look_ups: u32,
    pub parallel_look_ups: u32,
    pub unknown: u64,
    pub version: u64,
    /// Pause, resume, one step.
    pub verbs: Vec<Verb>,
}

#[derive(Clone, Debug, Default)]
pub struct UpstreamsPage {
    pub upstreams: Vec<UpstreamRow>,
}

pub fn page(shell: &Shell, model: &UpstreamsPage) -> String {
    shell_page(shell, "Partners", "upstreams", |reader| {
        let body = if model.upstreams.is_empty() {
            empty(Mark::Never, "No partner", "The catalog names none.", None)
        } else {
            let columns = [
                column("Partner"),
                column("State"),
                number("Sends"),
                number("Look-ups"),
                number("Unknown"),
                column("May be done"),
            ];
            table("Partners", &columns, model.upstreams.iter().map(|row| cells(reader, row)).collect())
        };
        view! {
            <header class="head"><h1>"Partners"</h1><p class="sub">"systems we send to and ask"</p></header>
            {body}
        }
        .into_any()
    })
}

fn cells(reader: &Reader<'_>, row: &UpstreamRow) -> Vec<Html> {
    let (mark, tone) = if row.well { (Mark::Yes, Tone::Ok) } else { (Mark::Warn, Tone::Contra) };
    let (title, anchor) = (row.title.clone(), format!("upstream-{}", row.name));
    let name = view! { <span id=anchor>{title}</span><br/>{code(&row.origin)} };
    let why = row.why.clone().map(|why| view! { <br/><span class="note">{why}</span> });
    let since = row.since.map(|at| view! { " since "{reader.time(at)} });
    let state = view! { {status(&StatusView::new(&row.state, mark, tone))}{since}{why} };
    let object = Object { path: link::upstream(&row.name), version: Some(row.version) };
    let verbs: Vec<Html> = row
        .verbs
        .iter()
        .map(|one| {
            let own = Verb { part: Some(row.name.clone()), ..one.clone() };
            if one.fields.is_empty() {
                verb::press(reader, &object, &own, Weight::Plain, false)
            } else {
                verb::folded(reader, &object, &own)
            }
        })
        .collect();
    let verbs = if verbs.is_empty() { note("look") } else { view! { <div class="verbs">{verbs}</div> }.into_any() };
    vec![
        name.into_any(),
        state.into_any(),
        text(&format!("{} / {}", row.sends, row.parallel)),
        text(&format!("{} / {}", row.look_ups, row.parallel_look_ups)),
        text(&row.unknown.to_string()),
        verbs,
    ]
}
