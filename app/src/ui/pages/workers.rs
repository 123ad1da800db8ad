//! `/workers`: what works, how far behind, and what it last did.

use leptos::prelude::*;

use crate::ledger::instant::Instant;
use crate::ui::Html;
use crate::ui::parts::table::{column, table, tight};
use crate::ui::parts::{Reader, empty, note, status, text};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::{Mark, StatusView, Tone};

#[derive(Clone, Debug)]
pub struct WorkerRow {
    /// "dispatch-2"
    pub name: String,
    pub kind: String,
    /// "working", "idle", "stopped", "lost"
    pub state: String,
    pub well: bool,
    /// What it does now or did last.
    pub doing: String,
    /// `None`: nothing yet.
    pub last_seen: Option<Instant>,
    /// "behind by 0.2 s"
    pub behind: Option<String>,
    /// Until when its leases hold.
    pub lease_until: Option<Instant>,
    pub process: String,
}

#[derive(Clone, Debug, Default)]
pub struct WorkersPage {
    pub workers: Vec<WorkerRow>,
    /// "SQLite, one process, epoch 3"
    pub sub: String,
}

pub fn page(shell: &Shell, model: &WorkersPage) -> String {
    shell_page(shell, "Workers", "workers-page", |reader| {
        let sub = model.sub.clone();
        let body = if model.workers.is_empty() {
            let more = "What is admitted stays safe and waits; start a process with workers.";
            empty(Mark::Warn, "No worker is alive", more, None)
        } else {
            let columns = [
                tight("Worker"),
                tight("Does"),
                tight("State"),
                column("Now"),
                tight("Behind"),
                tight("Leases until"),
                tight("Last seen"),
                tight("Process"),
            ];
            table("Workers", &columns, model.workers.iter().map(|row| cells(reader, row)).collect())
        };
        view! { <header class="head"><h1>"Workers"</h1><p class="sub">{sub}</p></header>{body} }.into_any()
    })
}

fn cells(reader: &Reader<'_>, row: &WorkerRow) -> Vec<Html> {
    let (mark, tone) = if row.well { (Mark::Yes, Tone::Ok) } else { (Mark::Warn, Tone::Contra) };
    vec![
        text(&row.name),
        text(&row.kind),
        status(&StatusView::new(&row.state, mark, tone)),
        text(&row.doing),
        row.behind.as_deref().map_or_else(|| note("not behind"), text),
        row.lease_until.map_or_else(|| note("none"), |at| reader.time(at)),
        row.last_seen.map_or_else(|| note("not yet"), |at| reader.time(at)),
        text(&row.process),
    ]
}
