//! The small pieces every page is made of.
//!
//! Each takes a value and draws it; none knows which page it stands on. Pictures and the state sprite are the only raw
//! markup, made of our own numbers and words. Invariant: a status is never colour alone, an absence is a word.

pub mod chart;
pub mod provisioning;
pub mod record;
pub mod rows;
pub mod states;
pub mod table;
pub mod verb;

use leptos::prelude::*;

use super::words::{self, Band, Clock, Mark, Money, StatusView};
use super::{Html, Shell, link};
use crate::ledger::contract::Risk;
use crate::ledger::instant::Instant;

pub use record::{AuditRow, EntryKind, RecordEntry, Wire};
pub use rows::OperationRow;
pub use verb::{Field, FieldKind, Gate, Met, Verb};

/// Who reads the page: where their links lead and in which zone they read times.
#[derive(Debug)]
pub struct Reader<'a> {
    pub shell: &'a Shell,
    pub clock: Clock,
}

impl<'a> Reader<'a> {
    pub fn new(shell: &'a Shell) -> Self {
        Reader { shell, clock: shell.clock() }
    }

    /// The address within the tenant the reader works in.
    pub fn link(&self, path: &str) -> String {
        match &self.shell.tenant {
            Some(tenant) => link::with(path, "tenant", tenant),
            None => path.into(),
        }
    }

    /// A form's own key: a second press of the same button finds the same answer.
    pub fn form_key(&self, verb: &str) -> String {
        format!("{}.{verb}", self.shell.form_key)
    }

    pub fn time(&self, at: Instant) -> Html {
        time(at, self.clock.time(at))
    }
}

/// An instant with its UTC on hover and on paper.
pub fn time(at: Instant, shown: String) -> Html {
    view! { <time datetime=at.to_string() title=words::time::utc(at)>{shown}</time> }.into_any()
}

pub fn mark(mark: Mark) -> Html {
    let href = format!("#m-{}", mark.id());
    view! { <svg class="mark" aria-hidden="true"><use href=href/></svg> }.into_any()
}

/// A mark of a fixed size, for buttons and fields.
pub fn icon(mark: Mark, size: u8) -> Html {
    let href = format!("#m-{}", mark.id());
    let side = size.to_string();
    view! { <svg width=side.clone() height=side aria-hidden="true"><use href=href/></svg> }.into_any()
}

pub fn status(view: &StatusView) -> Html {
    let StatusView { word, mark: symbol, tone } = view.clone();
    view! { <span class="status" data-s=tone.id()>{mark(symbol)}{word}</span> }.into_any()
}

pub fn chip(view: &StatusView) -> Html {
    let StatusView { word, mark: symbol, tone } = view.clone();
    view! { <span class="status chip" data-s=tone.id()>{mark(symbol)}{word}</span> }.into_any()
}

pub fn age(clock: &Clock, since: Instant) -> Html {
    age_words(clock.age(since), clock.band(since))
}

fn age_words(words: String, band: Band) -> Html {
    let off = |dim: bool| if dim { " class=\"off\"" } else { "" };
    let bars = format!(
        "<rect x=\"0\" y=\"6\" width=\"3\" height=\"5\"/><rect x=\"4\" y=\"3\" width=\"3\" height=\"8\"{}/>\
         <rect x=\"8\" y=\"0\" width=\"3\" height=\"11\"{}/>",
        off(band == Band::Fresh),
        off(band != Band::Stale)
    );
    view! {
        <span class="age" data-band=band.id()>
            <svg viewBox="0 0 11 11" fill="currentColor" role="img" aria-label=band.id() inner_html=bars></svg>
            {words}
        </span>
    }
    .into_any()
}

pub fn amount(money: &Money) -> Html {
    let digits = format!(" {}", money.digits());
    let Money { currency, amount } = money.clone();
    view! { <data class="amt" value=amount><span class="cur">{currency}</span>{digits}</data> }.into_any()
}

pub fn amount_or_none(money: Option<&Money>) -> Html {
    match money {
        Some(money) => amount(money),
        None => note("no amount"),
    }
}

/// Sums side by side: currencies are never added up.
pub fn sums(sums: &[Money]) -> Html {
    if sums.is_empty() {
        return view! { <span class="sum">{note("no amounts")}</span> }.into_any();
    }
    let amounts: Vec<Html> = sums.iter().map(|money| view! { {amount(money)}" " }.into_any()).collect();
    view! { <span class="sum">{amounts}</span> }.into_any()
}

pub fn note(text: &str) -> Html {
    let text = text.to_string();
    view! { <span class="note">{text}</span> }.into_any()
}

pub fn text(text: &str) -> Html {
    text.to_string().into_any()
}

pub fn code(text: &str) -> Html {
    let text = text.to_string();
    view! { <code class="whole">{text}</code> }.into_any()
}

/// Shorter than this an id is shown whole.
const WHOLE_ID: usize = 14;
const ID_TAIL: usize = 6;

/// An id that keeps its whole text; the eye sees head and tail.
pub fn id(whole: &str) -> Html {
    let chars = whole.chars().count();
    if chars <= WHOLE_ID {
        return code(whole);
    }
    let head: String = whole.chars().take(chars - ID_TAIL).collect();
    let tail: String = whole.chars().skip(chars - ID_TAIL).collect();
    let title = whole.to_string();
    view! { <code class="id" title=title><span>{head}</span>{tail}</code> }.into_any()
}

pub fn anchor(href: String, text: &str) -> Html {
    let text = text.to_string();
    view! { <a href=href>{text}</a> }.into_any()
}

pub const fn risk_class(risk: Risk) -> &'static str {
    match risk {
        Risk::High => "risk-high",
        Risk::Low | Risk::Medium => "note",
    }
}

/// Who holds an operation, as far as a reader needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub name: String,
    /// The reader is the holder.
    pub mine: bool,
    pub since: Instant,
}

pub fn holder(holder: Option<&Holder>) -> Html {
    let Some(holder) = holder else { return note("nobody") };
    let Holder { name, mine, .. } = holder.clone();
    if mine {
        let paper = format!(" ({name})");
        view! { <span class="held mine">{mark(Mark::Lock)}"You"<span class="onlyprint">{paper}</span></span> }
            .into_any()
    } else {
        view! { <span class="held">{mark(Mark::Lock)}{name}</span> }.into_any()
    }
}

/// How many of the expected effects are in evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    pub confirmed: u32,
    pub expected: u32,
}

/// More slots than this are counted in words only.
const MOST_SLOTS: u32 = 6;

pub fn effects(effects: Effects) -> Html {
    let Effects { confirmed, expected } = effects;
    let over = confirmed > expected;
    let slots = if confirmed.max(expected) > MOST_SLOTS { 0 } else { confirmed.max(expected) };
    let slots: Vec<Html> =
        (0..slots).map(|n| icon(if n < confirmed { Mark::Filled } else { Mark::Slot }, 14)).collect();
    let twice = if over { ": more than was asked for" } else { "" };
    let words = format!("{confirmed} of {expected}{twice}");
    view! { <span class=if over { "effects over" } else { "effects" }>{slots}<span>{words}</span></span> }.into_any()
}

/// A line of a definition list.
#[derive(Clone, Debug, Default)]
pub struct Fact {
    pub term: String,
    pub value: String,
    /// Shown as code: an id, a key, a digest.
    pub code: bool,
    pub note: Option<String>,
    /// A path; the tenant is added.
    pub href: Option<String>,
}

impl Fact {
    pub fn new(term: &str, value: impl Into<String>) -> Self {
        Fact { term: term.into(), value: value.into(), ..Fact::default() }
    }

    pub fn code(term: &str, value: impl Into<String>) -> Self {
        Fact { code: true, ..Fact::new(term, value) }
    }

    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    #[must_use]
    pub fn href(mut self, path: impl Into<String>) -> Self {
        self.href = Some(path.into());
        self
    }
}

pub fn fact(term: &str, value: Html) -> Html {
    let term = term.to_string();
    view! { <div><dt>{term}</dt><dd>{value}</dd></div> }.into_any()
}

pub fn facts(reader: &Reader<'_>, facts: &[Fact]) -> Html {
    let lines: Vec<Html> = facts.iter().map(|line| fact(&line.term, fact_value(reader, line))).collect();
    view! { <dl class="facts">{lines}</dl> }.into_any()
}

pub fn fact_value(reader: &Reader<'_>, line: &Fact) -> Html {
    let inner = if line.code { code(&line.value) } else { text(&line.value) };
    let inner = match &line.href {
        Some(path) => view! { <a href=reader.link(path)>{inner}</a> }.into_any(),
        None => inner,
    };
    let note = line.note.as_ref().map(|note| {
        let note = format!(" {note}");
        view! { <span class="quiet">{note}</span> }
    });
    view! { {inner}{note} }.into_any()
}

/// A coloured line on the page; `alert` where it must be heard at once.
pub fn notice(view: &StatusView, more: &str) -> Html {
    let role = if view.tone == words::Tone::Contra { "alert" } else { "status" };
    let StatusView { word, mark: symbol, tone } = view.clone();
    let more = format!(" {more}");
    view! {
        <div class="notice" data-s=tone.id() role=role>{mark(symbol)}<p><b>{word}</b>{more}</p></div>
    }
    .into_any()
}

/// Why there is nothing here, and what goes on all the same.
pub fn empty(symbol: Mark, title: &str, more: &str, act: Option<(String, &str)>) -> Html {
    let (title, more) = (title.to_string(), more.to_string());
    let act = act.map(|(href, word)| {
        let word = word.to_string();
        view! { <div class="row"><a class="btn" href=href>{word}</a></div> }
    });
    view! { <div class="empty">{mark(symbol)}<b>{title}</b>{more}{act}</div> }.into_any()
}

/// Guidance: what to do, in order; the step that is next stands out.
#[derive(Clone, Debug, Default)]
pub struct Guide {
    pub steps: Vec<String>,
    /// Which step, from 0, is to be done now.
    pub current: Option<usize>,
}

pub fn guide(title: Html, guide: &Guide) -> Html {
    let steps: Vec<Html> = guide
        .steps
        .iter()
        .enumerate()
        .map(|(n, step)| {
            let current = (guide.current == Some(n)).then_some("step");
            let step = step.clone();
            view! { <li aria-current=current>{step}</li> }.into_any()
        })
        .collect();
    view! { <div class="guide">{title}<ol>{steps}</ol></div> }.into_any()
}

pub fn crumbs(steps: Vec<Html>) -> Html {
    let steps: Vec<Html> = steps.into_iter().map(|step| view! { <li>{step}</li> }.into_any()).collect();
    view! { <ol class="crumbs">{steps}</ol> }.into_any()
}

/// A section with its heading; `aside` stands at the end of the heading's line.
pub fn section(slug: &str, title: &str, aside: Option<Html>, body: Html) -> Html {
    let heading = format!("h-{slug}");
    let labelled = heading.clone();
    let title = title.to_string();
    view! {
        <section class="section" aria-labelledby=labelled>
            <header><h2 id=heading>{title}</h2>{aside}</header>
            {body}
        </section>
    }
    .into_any()
}

pub fn sub(text: &str) -> Html {
    let text = text.to_string();
    view! { <span class="sub">{text}</span> }.into_any()
}
