//! What a person may do about it: hold, ask, attach, decide, and what comes afterwards.
//!
//! At most one button is the main one: the first open decision, else the question to the partner. Invariant: guidance
//! stands above the buttons, never under a fold.

use leptos::prelude::*;

use super::{Decision, EvidenceItem, OpenProposal, OperationPage, story};
use crate::ui::parts::verb::{self, Field, FieldKind, Object, Verb, Weight};
use crate::ui::parts::{Reader, guide, mark, status};
use crate::ui::words::{Mark, Says};
use crate::ui::{Html, link};

pub fn column(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let object = model.object();
    let decided = model.decisions.iter().any(|one| one.verb.is_open());
    view! {
        <aside class="panel act" aria-label="Act">
            {holder(reader, model, &object)}
            {now(reader, model, &object, !decided)}
            {model.proposal.as_ref().map(|one| proposal(reader, one))}
            {evidence(reader, model, &object)}
            {decide(reader, model, &object)}
            {also(reader, "More", &model.more, &object)}
            {also(reader, "Afterwards", &model.afterwards, &object)}
        </aside>
    }
    .into_any()
}

fn holder(reader: &Reader<'_>, model: &OperationPage, object: &Object) -> Html {
    let words = match &model.holder {
        Some(one) if one.mine => {
            let age = format!(" for {}", reader.clock.age(one.since));
            view! { <span><b>"You hold this"</b>{age}</span> }.into_any()
        }
        Some(one) => {
            let (name, age) = (one.name.clone(), format!(" holds this, since {}", reader.clock.time(one.since)));
            view! { <span><b>{name}</b>{age}</span> }.into_any()
        }
        None => view! { <span>"Nobody holds this"</span> }.into_any(),
    };
    let quick: Vec<Html> = model
        .holding
        .iter()
        .filter(|verb| verb.is_open() && verb.fields.is_empty())
        .map(|verb| verb::press(reader, object, verb, Weight::Bare, false))
        .collect();
    let rest: Vec<Html> = model
        .holding
        .iter()
        .filter(|verb| !(verb.is_open() && verb.fields.is_empty()))
        .map(|verb| verb::folded(reader, object, verb))
        .collect();
    let rest = (!rest.is_empty()).then(|| view! { <section class="noprint">{rest}</section> });
    let symbol = if model.holder.is_some() { Mark::Lock } else { Mark::Hand };
    view! {
        <div class="holder noprint">{mark(symbol)}{words}<div class="row">{quick}</div></div>
        {rest}
    }
    .into_any()
}

fn now(reader: &Reader<'_>, model: &OperationPage, object: &Object, main: bool) -> Option<Html> {
    let steps =
        (!model.guide.steps.is_empty()).then(|| guide(view! { <h2>"What to do now"</h2> }.into_any(), &model.guide));
    let ask = model.look_up.as_ref().map(|verb| {
        let weight = if main { Weight::Main } else { Weight::Plain };
        let open = verb.is_open();
        let hint = verb.text.clone();
        let hint = open.then(|| view! { <p class="quiet">{hint}</p> });
        view! { <div class="ask">{verb::press(reader, object, verb, weight, true)}{hint}</div> }
    });
    (steps.is_some() || ask.is_some()).then(|| view! { <section class="noprint">{steps}{ask}</section> }.into_any())
}

fn proposal(reader: &Reader<'_>, one: &OpenProposal) -> Html {
    let OpenProposal { what, by, mine, reason, .. } = one.clone();
    let href = reader.link(&link::approval(&one.id));
    let by = if mine { "proposed by you ".to_string() } else { format!("proposed by {by} ") };
    let waits = if mine { "Somebody else has to approve it." } else { "It waits for a second person." };
    view! {
        <section>
            <h2>"Waits for a second person"</h2>
            <p><b>{what}</b></p>
            <p class="soft">{by}{story::when(reader, one.at)}{one.expires.map(|at| view! { ", expires "{reader.time(at)} })}</p>
            <blockquote>{reason}</blockquote>
            <p class="soft">{waits}" Until then nothing else is decided and nothing is sent."</p>
            <p class="go-on"><a class="btn wide" href=href>"Open the proposal"</a></p>
        </section>
    }
    .into_any()
}

fn evidence(reader: &Reader<'_>, model: &OperationPage, object: &Object) -> Html {
    let count = model.evidence.len().to_string();
    let items: Vec<Html> = model.evidence.iter().map(|one| evidence_item(reader, one)).collect();
    let none = items.is_empty().then(|| view! { <p class="quiet">"None yet: nothing says whether it happened."</p> });
    let add = model.evidence_forms.as_ref().map(|forms| {
        let reference = forms.reference.as_ref().map(|one| reference(reader, object, one, &forms.reference_label));
        view! { <div class="add noprint">{reference}{statement(reader, object, &forms.statement)}</div> }
    });
    view! {
        <section>
            <h2>"Evidence "<span class="quiet">{count}</span></h2>
            {none}
            <ul class="evidence">{items}</ul>
            {add}
        </section>
    }
    .into_any()
}

fn evidence_item(reader: &Reader<'_>, item: &EvidenceItem) -> Html {
    let EvidenceItem { title, says, source, detail, .. } = item.clone();
    let as_of = item.as_of.filter(|at| *at != item.at).map(|at| view! { ", as of "{story::when(reader, at)} });
    let words = format!(" · {source} · {detail}");
    view! {
        <li>
            <b>{title}</b>" "{status(&says.view())}
            <small>{story::when(reader, item.at)}{as_of}{words}</small>
        </li>
    }
    .into_any()
}

/// A partner's id, looked up before it counts.
fn reference(reader: &Reader<'_>, object: &Object, verb: &Verb, label: &str) -> Html {
    let field = Field::new("reference", label, FieldKind::Line).hint("It is looked up before it counts.");
    let verb = Verb { part: Some("reference".into()), ..verb.clone() };
    let verb = if verb.fields.is_empty() { verb.field(field).hidden("kind", "reference") } else { verb };
    evidence_form(reader, object, &verb, "Check a partner reference")
}

/// A bare statement, with where it comes from.
fn statement(reader: &Reader<'_>, object: &Object, verb: &Verb) -> Html {
    let verb = Verb { part: Some("statement".into()), ..verb.clone() };
    let verb = if verb.fields.is_empty() { Verb { fields: statement_fields(), ..verb } } else { verb };
    let verb = verb.hidden("kind", "statement");
    evidence_form(reader, object, &verb, "Attach a statement with its source")
}

/// What a statement says: the server fills in what was typed when the form comes back.
pub fn statement_fields() -> Vec<Field> {
    let says = Says::ALL.into_iter().filter(|says| *says != Says::Contradicts);
    let choices = says.map(|says| (says.as_str().to_string(), says.view().word)).collect();
    vec![
        Field::new("source", "Who or what says so", FieldKind::Line).hint("A name, a mail, a report."),
        Field::new("file_name", "File name", FieldKind::Line).optional(),
        Field::new("observed_at", "Observed at", FieldKind::Line)
            .optional()
            .hint("Now, if left out. With a zone, as in 2026-03-01T14:05:00+01:00."),
        Field::new("conclusion", "What it says", FieldKind::Choice(choices)),
        Field::new("text", "The statement itself", FieldKind::Area),
    ]
}

fn evidence_form(reader: &Reader<'_>, object: &Object, verb: &Verb, summary: &'static str) -> Html {
    let body =
        if verb.is_open() { verb::filled(reader, object, verb, Weight::Plain, None) } else { verb::shut(verb, true) };
    let part = verb.part.clone().unwrap_or_default();
    let open = verb.fields.iter().any(|field| field.error.is_some());
    view! {
        <details class="more" data-keep=format!("evidence-{part}") open=open>
            <summary>{summary}</summary>
            <div>{body}</div>
        </details>
    }
    .into_any()
}

fn decide(reader: &Reader<'_>, model: &OperationPage, object: &Object) -> Option<Html> {
    if model.decisions.is_empty() {
        return None;
    }
    let first = model.decisions.iter().position(|one| one.verb.is_open());
    let list: Vec<Html> = model
        .decisions
        .iter()
        .enumerate()
        .map(|(n, one)| match (first == Some(n), one.verb.is_open()) {
            (true, _) => framed(reader, object, one),
            (false, true) => unfolding(reader, object, one),
            (false, false) => view! { <div class="decision">{verb::shut(&one.verb, true)}</div> }.into_any(),
        })
        .collect();
    Some(view! { <section id="decide" class="noprint"><h2>"Decide"</h2>{list}</section> }.into_any())
}

/// The decision that is open: all its gates, what it rests on, the reason, the button.
fn framed(reader: &Reader<'_>, object: &Object, one: &Decision) -> Html {
    let title = one.verb.title.clone();
    let verb = spoken(one);
    view! {
        <div class="decision open">
            <h3>{title}</h3>
            {verb::filled(reader, object, &verb, Weight::Main, Some(rests_on(one)))}
        </div>
    }
    .into_any()
}

fn unfolding(reader: &Reader<'_>, object: &Object, one: &Decision) -> Html {
    let verb = spoken(one);
    let title = format!("{}…", one.verb.title);
    let keep = format!("decide-{}", one.verb.part.clone().unwrap_or_default());
    view! {
        <div class="decision">
            <details class="unfold" data-keep=keep>
                <summary class="btn wide">{title}</summary>
                {verb::filled(reader, object, &verb, Weight::Plain, Some(rests_on(one)))}
            </details>
        </div>
    }
    .into_any()
}

/// The button says what pressing it does: decide, or propose to somebody else.
fn spoken(one: &Decision) -> Verb {
    let title = if one.needs_second { "Propose this decision" } else { "Decide so" };
    Verb { title: title.into(), ..one.verb.clone() }
}

fn rests_on(one: &Decision) -> Html {
    let second = one.needs_second.then(|| {
        view! { <p><b>"A second person has to agree."</b>" You propose; nothing happens until they do."</p> }
    });
    let rests = (!one.rests_on.is_empty()).then(|| {
        let words = format!("Rests on: {}.", one.rests_on.join("; "));
        view! { <p>{words}</p> }
    });
    view! { {second}{rests} }.into_any()
}

fn also(reader: &Reader<'_>, title: &'static str, verbs: &[Verb], object: &Object) -> Option<Html> {
    (!verbs.is_empty()).then(|| {
        let list: Vec<Html> = verbs.iter().map(|one| verb::folded(reader, object, one)).collect();
        view! { <section class="noprint"><h2>{title}</h2>{list}</section> }.into_any()
    })
}
