//! `/`: answers in five seconds: what waits for a person, what money is unknown, who is unwell.
//!
//! Adds nothing up: counts and sums come in exact. Invariant: each currency stands alone.

use leptos::prelude::*;

use super::approvals::{ApprovalRow, approval_table};
use crate::ledger::instant::Instant;
use crate::ui::parts::chart::{NamedBar, Outcomes, by_age, count, outcomes};
use crate::ui::parts::rows::{Columns, list};
use crate::ui::parts::table::{column, number, table};
use crate::ui::parts::{OperationRow, Reader, anchor, empty, mark, notice, section, status, sub, sums, text};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::{Band, Mark, Money, StatusView};
use crate::ui::{Html, link};

/// How a partner is doing.
#[derive(Clone, Debug)]
pub struct UpstreamHealth {
    pub name: String,
    pub title: String,
    /// "well", "well since 14:32", "slow, 6.1 s", "paused by Mara Lindqvist"
    pub state: String,
    pub unwell: bool,
    pub in_flight: u32,
    pub parallel: u32,
    /// Share of answers that were of use per stretch of the last hour, 0 to 100; empty where nothing was asked.
    pub answers: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct WorkerHealth {
    /// "Send", "Recover", "Webhooks"
    pub name: String,
    /// "3 alive, behind by 0.2 s"
    pub state: String,
    pub well: bool,
}

/// A known trouble: one outage, many operations.
#[derive(Clone, Debug)]
pub struct Trouble {
    pub view: StatusView,
    pub more: String,
    /// Cause in the queue.
    pub cause: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct OverviewPage {
    pub troubles: Vec<Trouble>,
    pub needs_person: u64,
    pub mine: u64,
    pub unheld: u64,
    /// Age and what it is: since when, and "Ostrava Freight, high risk".
    pub oldest: Option<(Instant, String)>,
    /// Exact, one per currency.
    pub money_unknown: Vec<Money>,
    pub money_operations: u64,
    pub in_flight: u64,
    /// "longest 8 s"
    pub in_flight_note: String,
    pub settled: u64,
    pub settled_without_person: u64,
    pub first: Vec<OperationRow>,
    pub upstreams: Vec<UpstreamHealth>,
    pub workers: Vec<WorkerHealth>,
    pub outcomes: Vec<Outcomes>,
    /// Unknown operations: under 15 min, to 60 min, to 4 h, to 24 h, over a day.
    pub unknown_by_age: [u32; 5],
    pub approvals: Vec<ApprovalRow>,
    /// Id of what "Open next" opens.
    pub next: Option<String>,
}

pub fn page(shell: &Shell, model: &OverviewPage) -> String {
    shell_page(shell, "Overview", "overview", |reader| {
        let where_when = format!("{}, {}", shell.tenant.as_deref().unwrap_or("all your tenants"), reader.clock.today());
        let next = model.next.as_ref().map(|id| {
            let href = reader.link(&link::operation(id));
            view! {
                <div class="tools"><a class="btn main" id="next" href=href>"Open next "<span class="keys"><kbd>"N"</kbd></span></a></div>
            }
        });
        let troubles: Vec<Html> = model.troubles.iter().map(|one| trouble(reader, one)).collect();
        view! {
            <header class="head"><h1>"Overview"</h1><p class="sub">{where_when}</p>{next}</header>
            {troubles}
            {figures(reader, model)}
            <div class="over-in">{first(reader, model)}{health(reader, model)}</div>
            <div class="charts two-charts">{charts(reader, model)}</div>
            {waiting(reader, model)}
        }
        .into_any()
    })
}

fn trouble(reader: &Reader<'_>, one: &Trouble) -> Html {
    let Some(cause) = &one.cause else { return notice(&one.view, &one.more) };
    let href = reader.link(&format!("/queue#cause-{cause}"));
    let (word, more) = (one.view.word.clone(), format!(" {}", one.more));
    view! {
        <div class="notice" data-s=one.view.tone.id() role="status">
            {mark(one.view.mark)}<p><b>{word}</b>{more}</p>
            <div class="row"><a class="btn" href=href>"Open in the queue"</a></div>
        </div>
    }
    .into_any()
}

fn figure(term: &'static str, wide: bool, value: Html, more: String) -> Html {
    view! {
        <div class=wide.then_some("wide")><dt>{term}</dt><dd class="n">{value}</dd><dd class="note">{more}</dd></div>
    }
    .into_any()
}

fn figures(reader: &Reader<'_>, model: &OverviewPage) -> Html {
    let waiting = anchor(reader.link("/queue"), &count(model.needs_person));
    let held = format!("{} yours, {} held by nobody", count(model.mine), count(model.unheld));
    let (oldest, which) = match &model.oldest {
        Some((since, which)) => (reader.clock.age(*since), which.clone()),
        None => ("none".into(), "nothing waits".into()),
    };
    let money = if model.money_unknown.is_empty() { text("none") } else { sums(&model.money_unknown) };
    let operations = format!("in {} operations; currencies are never added up", count(model.money_operations));
    let settled = format!("{} of {} in 24 h", count(model.settled_without_person), count(model.settled));
    view! {
        <dl class="figures">
            {figure("Needs a person", false, waiting, held)}
            {figure("Oldest", false, text(&oldest), which)}
            {figure("Money unknown or contradicted", true, money, operations)}
            {figure("In flight", false, text(&count(model.in_flight)), model.in_flight_note.clone())}
            {figure("Settled without a person", false, text(&share(model)), settled)}
        </dl>
    }
    .into_any()
}

/// Per mille, cut off and never rounded up to "all".
fn share(model: &OverviewPage) -> String {
    match (model.settled_without_person * 1_000).checked_div(model.settled) {
        Some(mille) => format!("{}.{} %", mille / 10, mille % 10),
        None => "none yet".into(),
    }
}

fn first(reader: &Reader<'_>, model: &OverviewPage) -> Html {
    let all = format!("All {}", count(model.needs_person));
    let body = if model.first.is_empty() {
        let going = format!("{} operations are in flight.", count(model.in_flight));
        empty(Mark::Ok, "Nothing needs a person", &going, None)
    } else {
        list(reader, "First in the queue", &model.first, Columns::SHORT)
    };
    section("first", "First in the queue", Some(anchor(reader.link("/queue"), &all)), body)
}

fn health(reader: &Reader<'_>, model: &OverviewPage) -> Html {
    let rows = model.upstreams.iter().map(|one| upstream_cells(reader, one)).collect();
    let workers: Vec<Html> = model
        .workers
        .iter()
        .map(|one| {
            let (name, state) = (one.name.clone(), one.state.clone());
            let (symbol, tone) = if one.well { (Mark::Yes, None) } else { (Mark::Warn, Some("contra")) };
            view! { <li data-s=tone><span>{name}</span>{mark(symbol)}<span class="soft">{state}</span></li> }.into_any()
        })
        .collect();
    let columns = [column("Partner"), column("Answers, last hour"), number("In flight")];
    let body =
        view! { <div class="health">{table("Partners", &columns, rows)}<ul class="workers">{workers}</ul></div> };
    section("health", "Partners and workers", None, body.into_any())
}

fn upstream_cells(reader: &Reader<'_>, one: &UpstreamHealth) -> Vec<Html> {
    let name = anchor(reader.link(&format!("/upstreams#upstream-{}", link::encode(&one.name))), &one.title);
    let state = if one.unwell {
        status(&StatusView::new(&one.state, Mark::Warn, crate::ui::words::Tone::Contra))
    } else {
        let state = one.state.clone();
        view! { <span class="quiet">{state}</span> }.into_any()
    };
    let name = view! { {name}" "<small>{state}</small> }.into_any();
    vec![name, spark(&one.answers), text(&format!("{} / {}", one.in_flight, one.parallel))]
}

/// Below this share of useful answers a bar is marked.
const WELL_FROM: u8 = 75;
const SPARK_STEP: f64 = 7.4;

fn spark(answers: &[u8]) -> Html {
    if answers.is_empty() {
        return crate::ui::parts::note("nothing asked");
    }
    let least = answers.iter().min().copied().unwrap_or(0);
    let label = format!("at least {least} % of answers were of use");
    let mut bars = String::new();
    let mut x = 0.0;
    for share in answers {
        let height = 1.0 + f64::from((*share).min(100)) * 0.16;
        let bad = if *share < WELL_FROM { " class=\"bad\"" } else { "" };
        bars.push_str(&format!(
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"5.4\" height=\"{height:.1}\"{bad}/>",
            18.0 - height
        ));
        x += SPARK_STEP;
    }
    let view_box = format!("0 0 {:.1} 18", x.max(SPARK_STEP));
    view! { <svg class="spark" viewBox=view_box preserveAspectRatio="none" role="img" aria-label=label inner_html=bars></svg> }
        .into_any()
}

fn charts(reader: &Reader<'_>, model: &OverviewPage) -> Html {
    const AGES: [(&str, Band); 5] = [
        ("under 15 min", Band::Fresh),
        ("15 to 60 min", Band::Warn),
        ("1 to 4 h", Band::Warn),
        ("4 to 24 h", Band::Stale),
        ("over a day", Band::Stale),
    ];
    let bars: Vec<NamedBar> = AGES
        .into_iter()
        .zip(model.unknown_by_age)
        .map(|((word, band), count)| NamedBar { word, count, band })
        .collect();
    let unknown: u32 = model.unknown_by_age.iter().sum();
    let now = format!("{unknown} now");
    let recent = outcomes(reader, &model.outcomes);
    view! {
        {section("out", "Recent outcomes", Some(sub("per stretch, last 24 h")), recent)}
        {section("age", "Unknown, by age", Some(sub(&now)), by_age("Unknown operations by age", &bars))}
    }
    .into_any()
}

fn waiting(reader: &Reader<'_>, model: &OverviewPage) -> Html {
    let body = if model.approvals.is_empty() {
        empty(Mark::Ok, "Nothing waits for an approval", "What needs a second person will stand here.", None)
    } else {
        approval_table(reader, "Waiting for approval", &model.approvals)
    };
    section("approvals", "Waiting for approval", Some(anchor(reader.link("/approvals"), "All")), body)
}
