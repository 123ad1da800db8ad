//! `/catalog`: what the outside actions are, and what each promises.

use leptos::prelude::*;

use crate::ledger::contract::{Class, Risk};
use crate::ui::Html;
use crate::ui::parts::table::{column, table, tight};
use crate::ui::parts::{note, risk_class, section, sub, text};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words;

#[derive(Clone, Debug)]
pub struct ContractRow {
    pub name: String,
    pub title: String,
    pub version: u32,
    pub upstream: String,
    pub class: Class,
    pub risk: Risk,
    /// "always", "from USD 1,000.00", "never"
    pub approval: String,
    /// "7 d", `None`: no key.
    pub key_window: Option<String>,
    /// Titles of its look-ups.
    pub look_ups: Vec<String>,
    /// What undoes it, or why nothing does.
    pub reversal: String,
    pub intent: String,
}

#[derive(Clone, Debug, Default)]
pub struct CatalogPage {
    pub contracts: Vec<ContractRow>,
    /// "version 3, loaded 14:02:11 from catalog/sandbox.toml"
    pub source: String,
}

pub fn page(shell: &Shell, model: &CatalogPage) -> String {
    shell_page(shell, "Catalog", "catalog", |_| {
        let source = model.source.clone();
        let rows = model.contracts.iter().map(cells).collect();
        let columns = [
            column("Contract"),
            tight("Partner"),
            tight("Class"),
            tight("Risk"),
            column("Held for approval"),
            tight("Key window"),
            column("Look-ups"),
            column("What undoes it"),
        ];
        let promises = [Class::Read, Class::Idempotent, Class::Keyed, Class::Opaque];
        let promises: Vec<Html> = promises
            .into_iter()
            .map(|class| crate::ui::parts::fact(words::class(class), text(words::promise(class))))
            .collect();
        let promises = view! { <dl class="facts">{promises}</dl> }.into_any();
        view! {
            <header class="head"><h1>"Catalog"</h1><p class="sub">{source}</p></header>
            {table("Contracts", &columns, rows)}
            {section("classes", "What a class promises", Some(sub("after an unknown outcome")), promises)}
        }
        .into_any()
    })
}

fn cells(row: &ContractRow) -> Vec<Html> {
    let (title, version) = (row.title.clone(), format!(" v{}", row.version));
    let name = row.name.clone();
    let intent = row.intent.clone();
    let what = view! {
        {title}<span class="note">{version}</span><br/><code class="note">{name}</code><br/><code class="note whole">{intent}</code>
    };
    let risk = view! { <span class=risk_class(row.risk)>{words::risk(row.risk)}</span> };
    let look_ups = if row.look_ups.is_empty() { note("none: a person asks") } else { text(&row.look_ups.join(", ")) };
    vec![
        what.into_any(),
        text(&row.upstream),
        text(words::class(row.class)),
        risk.into_any(),
        text(&row.approval),
        row.key_window.as_deref().map_or_else(|| note("no key"), text),
        look_ups,
        text(&row.reversal),
    ]
}
