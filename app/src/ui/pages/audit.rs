//! `/audit`: every change and every denied attempt, newest first.
//!
//! Invariant: nothing here can be changed, by anybody.

use leptos::prelude::*;

use crate::ui::link;
use crate::ui::parts::{AuditRow, empty, icon, record};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::Mark;

#[derive(Clone, Debug, Default)]
pub struct AuditPage {
    pub rows: Vec<AuditRow>,
    /// "whole to 14:41:05, 12,804 rows, root 5fd0 17c2 … 9a3e", and whether it is.
    pub chain: (String, bool),
    pub next: Option<String>,
}

pub fn page(shell: &Shell, model: &AuditPage) -> String {
    shell_page(shell, "Audit", "audit", |reader| {
        let body = if model.rows.is_empty() {
            empty(Mark::Never, "No rows yet", "The first change writes the first row.", None)
        } else {
            record::audit(reader, "Audit", &model.rows, true)
        };
        let next = model.next.as_ref().map(|cursor| {
            let href = reader.link(&link::with("/audit", "cursor", cursor));
            view! { <nav class="pager" aria-label="Pages"><a href=href rel="next">"Older"</a></nav> }
        });
        let csv = reader.link("/audit?format=csv");
        let lines = reader.link("/audit?format=jsonl");
        let (words, whole) = model.chain.clone();
        view! {
            <header class="head">
                <h1>"Audit"</h1>
                <p class="sub">"every change and every denied attempt, newest first"</p>
                <div class="tools">
                    <a class="btn bare" href=csv>{icon(Mark::Down, 16)}"CSV"</a>
                    <a class="btn bare" href=lines>{icon(Mark::Down, 16)}"JSON lines"</a>
                </div>
            </header>
            {record::chain(&words, whole)}
            {body}
            {next}
        }
        .into_any()
    })
}
