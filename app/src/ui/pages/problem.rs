//! Any problem, as a page: what happened, what is safe, what changed, what you typed, the id to quote.
//!
//! Never shows an error's inside. Invariant: what the reader typed is not lost.

use leptos::prelude::*;

use crate::ui::parts::verb::{self, Object};
use crate::ui::parts::{Fact, Reader, Verb, facts, mark, section};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::Mark;
use crate::ui::{Html, parts};

#[derive(Clone, Debug)]
pub struct Change {
    /// "Status", "Holder"
    pub what: String,
    pub seen: String,
    pub now: String,
}

#[derive(Clone, Debug, Default)]
pub struct ProblemPage {
    pub status: u16,
    /// `stale-version`
    pub code: String,
    /// "It changed while you were deciding"
    pub title: String,
    pub detail: String,
    /// What was not done and what holds all the same: "Nothing was sent and nothing was changed."
    pub safe: String,
    /// What the reader can do next, in words.
    pub next: Vec<String>,
    /// Version seen, version now, and what differs.
    pub versions: Option<(u64, u64)>,
    pub changes: Vec<Change>,
    /// What was typed: label and text.
    pub kept: Vec<(String, String)>,
    /// A form that takes the kept text, such as a note on the record, and what it acts on.
    pub keep_as: Option<(Object, Verb)>,
    /// Path and name of where to go on.
    pub back: Option<(String, String)>,
    pub request_id: String,
}

pub fn page(shell: &Shell, model: &ProblemPage) -> String {
    shell_page(shell, &model.title, "problem", |reader| {
        let title = model.title.clone();
        let detail = model.detail.clone();
        let safe = model.safe.clone();
        view! {
            <header class="head"><h1>{title}</h1><p class="sub">{detail}</p></header>
            <div class="notice plain">{mark(Mark::Ok)}<p>{safe}</p></div>
            <div class="problem-in">{story(reader, model)}{kept(reader, model)}</div>
            {quote(reader, model)}
        }
        .into_any()
    })
}

fn story(reader: &Reader<'_>, model: &ProblemPage) -> Html {
    let changed = (!model.changes.is_empty()).then(|| changes(model));
    let steps: Vec<Html> = model.next.iter().cloned().map(|step| view! { <li>{step}</li> }.into_any()).collect();
    let steps = (!steps.is_empty()).then(|| {
        view! { <div class="guide"><h2>"What you can do"</h2><ol>{steps}</ol></div> }
    });
    let back = model.back.clone().map(|(path, name)| {
        view! { <p class="row go-on"><a class="btn main" href=reader.link(&path)>{name}</a></p> }
    });
    view! { <div>{changed}{steps}{back}</div> }.into_any()
}

fn changes(model: &ProblemPage) -> Html {
    let (seen, now) = match model.versions {
        Some((seen, now)) => (format!("You saw, version {seen}"), format!("Now, version {now}")),
        None => ("You saw".into(), "Now".into()),
    };
    let rows: Vec<Html> = model
        .changes
        .iter()
        .map(|change| {
            let Change { what, seen, now } = change.clone();
            let same = (seen == now).then_some("");
            let (was, will) = match same {
                Some(_) => (view! { <span>{seen}</span> }.into_any(), unchanged(now)),
                None => (view! { <del>{seen}</del> }.into_any(), view! { <ins>{now}</ins> }.into_any()),
            };
            view! { <tr data-same=same><th scope="row">{what}</th><td class="was">{was}</td><td class="will">{will}</td></tr> }
                .into_any()
        })
        .collect();
    let body = view! {
        <table class="list diff">
            <thead><tr><th scope="col"><span class="unseen">"What"</span></th><th scope="col">{seen}</th><th scope="col">{now}</th></tr></thead>
            <tbody>{rows}</tbody>
        </table>
    };
    section("changed", "What changed", None, body.into_any())
}

fn unchanged(text: String) -> Html {
    view! { <span class="unseen">"unchanged: "</span>{text} }.into_any()
}

fn kept(reader: &Reader<'_>, model: &ProblemPage) -> Option<Html> {
    if model.kept.is_empty() && model.keep_as.is_none() {
        return None;
    }
    let typed: Vec<Fact> = model.kept.iter().map(|(label, text)| Fact::new(label, text.clone())).collect();
    let form = model.keep_as.as_ref().map(
        |(object, keep)| view! { <section>{verb::filled(reader, object, keep, verb::Weight::Plain, None)}</section> },
    );
    Some(
        view! {
            <section aria-labelledby="h-yours" class="kept">
                <h2 id="h-yours">"What you typed"</h2>
                <div class="panel"><section>{facts(reader, &typed)}</section>{form}</div>
            </section>
        }
        .into_any(),
    )
}

fn quote(reader: &Reader<'_>, model: &ProblemPage) -> Html {
    let ProblemPage { status, code, request_id, .. } = model.clone();
    let now = reader.shell.now;
    view! {
        <footer class="quote">
            <p>{format!("{status} ")}<code>{code}</code>" · quote "<code>{request_id}</code>" · "
                {parts::time(now, reader.clock.time(now))}</p>
        </footer>
    }
    .into_any()
}
