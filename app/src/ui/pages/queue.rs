//! `/queue`: what a person has to look at, worst first, grouped by cause.
//!
//! Orders and groups nothing by itself. Invariant: an empty queue says why it is empty and what still goes on.

use leptos::prelude::*;

use crate::ui::parts::rows::{Columns, head, row};
use crate::ui::parts::{OperationRow, Reader, empty, icon, sums};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::{Mark, Money};
use crate::ui::{Html, link};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    #[default]
    All,
    Mine,
    Unheld,
    Snoozed,
}

impl Whose {
    pub const ALL: [Whose; 4] = [Whose::All, Whose::Mine, Whose::Unheld, Whose::Snoozed];

    /// The value of `?whose=`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Whose::All => "all",
            Whose::Mine => "mine",
            Whose::Unheld => "unheld",
            Whose::Snoozed => "snoozed",
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Whose::All => "All",
            Whose::Mine => "Mine",
            Whose::Unheld => "Unheld",
            Whose::Snoozed => "Snoozed",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct QueueGroup {
    /// Stays the same while the cause does: anchors and `?cause=`.
    pub cause: String,
    /// "Gate: answers lost 13:58–14:09"
    pub title: String,
    pub why: String,
    /// How many there are; `rows` may hold fewer.
    pub count: u64,
    /// Exact, one per currency.
    pub sums: Vec<Money>,
    pub rows: Vec<OperationRow>,
}

#[derive(Clone, Debug, Default)]
pub struct QueuePage {
    pub whose: Whose,
    /// In the order of `Whose::ALL`.
    pub counts: [u64; 4],
    pub q: String,
    pub groups: Vec<QueueGroup>,
    /// Id of what "Open next" opens.
    pub next: Option<String>,
    /// Whether items can be picked for a plan, and a whole group planned.
    pub can_plan: bool,
    /// What goes on all the same: "14 operations are unknown and still being looked up."
    pub meanwhile: String,
}

pub fn page(shell: &Shell, model: &QueuePage) -> String {
    shell_page(shell, "Queue", "queue", |reader| {
        let next = model.next.as_ref().map(|id| {
            let href = reader.link(&link::operation(id));
            view! { <a class="btn main" id="next" href=href>"Open next " <span class="keys"><kbd>"N"</kbd></span></a> }
        });
        let export = reader.link(&link::with(&here(model), "format", "csv"));
        view! {
            <header class="head">
                <h1>"Queue"</h1>
                <p class="sub">"what a person has to look at, worst first: risk, then age"</p>
                <div class="tools"><a class="btn bare" href=export>{icon(Mark::Down, 16)}"Export"</a>{next}</div>
            </header>
            {filters(reader, model)}
            {body(reader, model)}
        }
        .into_any()
    })
}

fn here(model: &QueuePage) -> String {
    let path = link::with("/queue", "whose", model.whose.as_str());
    if model.q.is_empty() { path } else { link::with(&path, "q", &model.q) }
}

fn filters(reader: &Reader<'_>, model: &QueuePage) -> Html {
    let choices: Vec<Html> = Whose::ALL
        .into_iter()
        .zip(model.counts)
        .map(|(whose, count)| {
            let path = if whose == Whose::All { "/queue".into() } else { link::with("/queue", "whose", whose.as_str()) };
            let current = (whose == model.whose).then_some("true");
            let word = format!("{} ", whose.word());
            view! { <a href=reader.link(&path) aria-current=current>{word}<span class="n">{count.to_string()}</span></a> }
                .into_any()
        })
        .collect();
    let q = model.q.clone();
    let tenant = reader.shell.tenant.clone().map(|tenant| view! { <input type="hidden" name="tenant" value=tenant/> });
    view! {
        <div class="filters">
            <nav class="seg" aria-label="Whose">{choices}</nav>
            <form class="query" role="search" method="get" action="/queue" aria-label="Filter the queue">
                {icon(Mark::Search, 16)}
                {tenant}
                <input type="hidden" name="whose" value=model.whose.as_str()/>
                <input id="filter" name="q" value=q aria-label="Filter" placeholder="customer, contract, reference or amount"
                    autocomplete="off" spellcheck="false"/>
            </form>
        </div>
    }
    .into_any()
}

fn body(reader: &Reader<'_>, model: &QueuePage) -> Html {
    if model.groups.iter().all(|group| group.rows.is_empty()) {
        return if model.q.is_empty() {
            let title = match model.whose {
                Whose::All => "Nothing needs a person",
                Whose::Mine => "You hold nothing",
                Whose::Unheld => "Everything here is held by somebody",
                Whose::Snoozed => "Nothing is snoozed",
            };
            empty(Mark::Ok, title, &model.meanwhile, None)
        } else {
            let title = format!("Nothing in the queue matches “{}”", model.q);
            let clear = Some((reader.link("/queue"), "Clear the filter"));
            empty(Mark::Look, &title, "Settled operations are under Operations.", clear)
        };
    }
    let columns = Columns { pick: model.can_plan, ..Columns::QUEUE };
    let total: u64 = model.groups.iter().map(|group| group.count).sum();
    let label = format!("Queue, {total} items in {} groups", model.groups.len());
    let groups: Vec<Html> = model.groups.iter().map(|one| group(reader, model, one, columns)).collect();
    let table = view! {
        <table class="list cards" role="table" aria-label=label>{head(columns)}{groups}</table>
    }
    .into_any();
    let keys = keybar();
    if !model.can_plan {
        return view! { {table}{keys} }.into_any();
    }
    let key = reader.form_key("bulk");
    view! {
        <form action=reader.link("/operations/bulk") method="post" class="picked">
            <input type="hidden" name="form_key" value=key/>
            {table}
            {bulk()}
        </form>
        {keys}
    }
    .into_any()
}

fn group(reader: &Reader<'_>, model: &QueuePage, group: &QueueGroup, columns: Columns) -> Html {
    let QueueGroup { cause, title, why, count, .. } = group.clone();
    let span = columns.count().to_string();
    let plan = (model.can_plan && count > 1).then(|| {
        let word = format!("Plan for all {count}…");
        let cause = cause.clone();
        view! { <button class="btn" name="cause" value=cause>{word}</button> }
    });
    let left = count.saturating_sub(u64::try_from(group.rows.len()).unwrap_or(u64::MAX));
    let rest = (left > 0).then(|| {
        let href = reader.link(&link::with("/queue", "cause", &cause));
        let (words, span) = (format!("{left} more with this cause"), span.clone());
        view! { <tr role="row" class="rest"><td role="cell" colspan=span><a href=href>{words}</a></td></tr> }
    });
    let rows: Vec<Html> = group.rows.iter().map(|one| row(reader, one, columns)).collect();
    let anchor = format!("cause-{cause}");
    view! {
        <tbody role="rowgroup">
            <tr role="row" class="cause" id=anchor>
                <th role="rowheader" scope="rowgroup" colspan=span>
                    <div>
                        <span class="cause-title">{format!("{title} ")}<span class="n">{count.to_string()}</span></span>
                        <span class="cause-why">{why}</span>
                        {sums(&group.sums)}
                        {plan}
                    </div>
                </th>
            </tr>
            {rows}
            {rest}
        </tbody>
    }
    .into_any()
}

fn bulk() -> Html {
    view! {
        <div class="bulk" role="group" aria-label="With the selected items">
            <b class="chosen">"selected"</b>
            <span class="note">"the plan counts, sums and says what is left out before anything is done"</span>
            <div class="row">
                <button class="btn" name="verb" value="snooze">"Snooze…"</button>
                <button class="btn" name="verb" value="take-over">"Take over…"</button>
                <button class="btn main" name="verb" value="automate">"Ask again by machine…"</button>
            </div>
        </div>
    }
    .into_any()
}

fn keybar() -> Html {
    let keys: Vec<Html> =
        [("J", ""), ("K", "move"), ("O", "open"), ("X", "select"), ("N", "next"), ("/", "filter"), ("?", "all keys")]
            .into_iter()
            .map(|(key, word)| view! { <span><span class="keys"><kbd>{key}</kbd></span>{word}</span> }.into_any())
            .collect();
    view! { <p class="keybar">{keys}</p> }.into_any()
}
