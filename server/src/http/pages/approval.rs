//! `/approvals`: what waits for a second person, and agreeing to it.
//!
//! Shows what was stored when it was proposed. Invariant: whether somebody may approve is the command's own question.

use app::ledger::decision::{Asking, Outcome, gates};
use app::ledger::roles::Verb as Right;
use app::ui::link;
use app::ui::pages::approval::{self, ApprovalPage, ApprovalState, ParamRow, ProofRow};
use app::ui::pages::approvals::{self, ApprovalRow, ApprovalsPage, DecidedRow};
use app::ui::parts::{EntryKind, Fact, Field, Gate, RecordEntry, Verb};
use app::ui::shell::Nav;
use app::ui::words::Mark;
use axum::extract::Path;
use axum::response::Response;
use serde_json::Value;

use super::forms::{self, Deed, Form, act, refused, title_of};
use super::operation::model::says;
use super::visit::Visit;
use super::words::{Names, contract_title, gate_text, money};
use crate::ledger::approve::SEND;
use crate::ledger::standing::{self, Loaded};
use crate::ledger::{Error, Ledger, Result};
use crate::store::codec::Id;
use crate::store::proposals::{self, Proposal};
use crate::store::queue::list_decided_approvals;
use crate::store::{Tx, customers, operations};

const OPEN: i64 = 200;
const DECIDED: i64 = 20;

pub fn title(proposal: &Proposal, contract: &str) -> String {
    match proposal.kind.parse::<Outcome>() {
        Ok(outcome) => format!("Decide: {}", title_of(outcome).to_lowercase()),
        Err(_) => format!("First send: {}", contract.to_lowercase()),
    }
}

/// The proposer's own words, or why its contract asks.
pub fn reason(proposal: &Proposal) -> String {
    proposal.reason.clone().unwrap_or_else(|| {
        match proposal.why.as_str() {
            "high_risk" => "Its risk is high.",
            "reference_unsettled" => "Another operation on the same reference is not settled.",
            "approval_void" => "What was approved is not what would be sent.",
            _ => "Its contract asks for an approval.",
        }
        .into()
    })
}

pub async fn list(visit: Visit) -> Response {
    let visit = visit.at(Nav::Approvals).await;
    let drawn = all(&visit).await.map(|model| approvals::page(&visit.shell, &model));
    visit.answer(drawn)
}

async fn all(visit: &Visit) -> Result<ApprovalsPage> {
    let mut tx = visit.read().await?;
    let names = Names::read(&mut tx).await?;
    let rows = open_rows(visit, &mut tx, &names).await?;
    let mut decided = Vec::new();
    for one in list_decided_approvals(&mut tx, &visit.tenants(), DECIDED).await? {
        let row = operations::find(&mut tx, one.operation_id).await?;
        let contract = row.map(|row| contract_title(&visit.app.ledger, &row.contract)).unwrap_or_default();
        let why = one.decided_reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        decided.push(DecidedRow {
            id: one.id.to_string(),
            title: title(&one, &contract),
            outcome: format!("{}{why}", one.status),
            by: one.decided_by.map_or_else(|| "automation".into(), |id| names.of(id)),
            at: one.decided_at.map_or(*one.created_at, |at| *at),
        });
    }
    Ok(ApprovalsPage { rows, decided })
}

/// What is open in the tenants of this page, oldest first.
pub async fn open_rows(visit: &Visit, tx: &mut Tx, names: &Names) -> Result<Vec<ApprovalRow>> {
    let ledger = &visit.app.ledger;
    let mut rows = Vec::new();
    for one in proposals::list_open(tx, &visit.tenants(), OPEN).await? {
        let Some(row) = operations::find(tx, one.operation_id).await? else { continue };
        rows.push(ApprovalRow {
            id: one.id.to_string(),
            title: title(&one, &contract_title(ledger, &row.contract)),
            customer: row.external_customer_id.clone(),
            amount: money(&row),
            risk: *row.risk,
            since: *one.created_at,
            expires: one.expires_at.map(|at| *at),
            by: names.principal(&one.proposed_by),
            mine: one.proposed_by == format!("person:{}", visit.who.id),
            may_approve: ledger.may_approve(&visit.who, &one, &row).is_ok(),
        });
    }
    Ok(rows)
}

pub async fn show(visit: Visit, Path(id): Path<String>) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    let visit = visit.at(Nav::Approvals).await;
    let drawn = one(&visit, id).await.map(|model| approval::page(&visit.shell, &model));
    visit.answer(drawn)
}

async fn one(visit: &Visit, id: Id) -> Result<ApprovalPage> {
    let ledger = &visit.app.ledger;
    let mut tx = visit.read().await?;
    let found = proposals::find(&mut tx, id).await?.filter(|proposal| visit.who.sees(&proposal.tenant));
    let proposal = found.ok_or(Error::NotFound("approval"))?;
    let row = operations::find(&mut tx, proposal.operation_id).await?.ok_or(Error::NotFound("operation"))?;
    let names = Names::read(&mut tx).await?;
    let customer = match row.customer_id {
        Some(customer) => customers::find(&mut tx, customer).await?.map(|found| (found.id.to_string(), found.name)),
        None => None,
    };
    let before: Vec<Proposal> = proposals::list_of_operation(&mut tx, row.id).await?;
    let loaded = standing::view(&mut tx, ledger, row).await?;
    drop(tx);
    let row = &loaded.row;
    let mine = proposal.proposed_by == format!("person:{}", visit.who.id);
    let is_send = proposal.kind == SEND;
    Ok(ApprovalPage {
        id: id.to_string(),
        version: u64::try_from(row.version).unwrap_or(0),
        title: title(&proposal, &loaded.contract.title),
        customer,
        state: state(&proposal),
        kind: if is_send { "first send".into() } else { "decision".into() },
        amount: money(row),
        amount_was: None,
        risk: *row.risk,
        by: names.principal(&proposal.proposed_by),
        mine,
        at: *proposal.created_at,
        expires: proposal.expires_at.map(|at| *at),
        reason: reason(&proposal),
        params: params(&proposal, &loaded),
        then: then(&proposal, &loaded),
        evidence: proofs(&loaded, &names),
        bound_to: bound_to(&proposal),
        operation: (row.id.to_string(), format!("{}, {}", loaded.contract.title, row.summary)),
        approve: approve_verb(visit, &proposal, &loaded, mine),
        decline: decline_verb(visit, &proposal, &loaded, mine),
        withdraw: mine.then(|| Verb::new("withdraw", "Withdraw proposal").field(Field::reason())),
        declined_before: declined(&before, &names),
        record: record(visit, &proposal, &names),
    })
}

fn state(proposal: &Proposal) -> ApprovalState {
    match proposal.status.as_str() {
        "open" => ApprovalState::Open,
        "approved" => ApprovalState::Approved,
        "declined" => ApprovalState::Declined,
        "withdrawn" => ApprovalState::Withdrawn,
        "expired" => ApprovalState::Expired,
        _ => ApprovalState::Void,
    }
}

/// As they were shown when it was proposed; sensitive ones were masked then.
fn params(proposal: &Proposal, loaded: &Loaded) -> Vec<ParamRow> {
    let shown: Value = serde_json::from_str(&proposal.shown).unwrap_or_default();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let stored = shown.get("params").and_then(Value::as_object);
    let rows = stored.into_iter().flatten().map(|(name, value)| (name.clone(), text(value)));
    let sensitive = |name: &str| loaded.contract.params.get(name).is_none_or(|param| param.sensitive);
    rows.map(|(name, will)| {
        let will = if sensitive(&name) { "(sensitive)".into() } else { will };
        ParamRow { name, was: None, will }
    })
    .collect()
}

fn then(proposal: &Proposal, loaded: &Loaded) -> Vec<String> {
    let partner = &loaded.upstream.title;
    match proposal.kind.parse::<Outcome>() {
        Err(_) => vec![
            format!("It is sent to {partner}, once, with its own key."),
            "Right before that its parameters are compared with what is approved here; if they differ, nothing is sent."
                .into(),
        ],
        Ok(Outcome::Executed) => vec!["It settles as succeeded.".into(), "Nothing is sent.".into()],
        Ok(Outcome::SendAgain) => vec![format!("It is sent to {partner} once more with the same key.")],
        Ok(Outcome::Close) => vec!["It settles as not executed.".into(), "Nothing is sent.".into()],
    }
}

fn proofs(loaded: &Loaded, names: &Names) -> Vec<ProofRow> {
    let rows = loaded.evidence.iter().map(|found| ProofRow {
        kind: found.source.as_str().replace('_', " "),
        shows: found.statement.as_ref().map_or_else(|| found.title.clone(), |text| format!("“{text}”")),
        says: says(*found.conclusion),
        source: match (&found.statement_source, found.person_id) {
            (Some(source), Some(id)) => format!("{source}, attached by {}", names.of(id)),
            _ => found.title.clone(),
        },
        at: *found.as_of,
    });
    rows.collect()
}

fn bound_to(proposal: &Proposal) -> Vec<Fact> {
    vec![
        Fact::code("Fingerprint", proposal.fingerprint.clone()),
        Fact::code("Evidence", proposal.evidence_digest.clone()),
        Fact::new("Operation", format!("version {}", proposal.operation_version)),
    ]
}

fn approve_verb(visit: &Visit, proposal: &Proposal, loaded: &Loaded, mine: bool) -> Verb {
    let ledger = &visit.app.ledger;
    let mut all = Vec::new();
    match ledger.may_approve(&visit.who, proposal, &loaded.row) {
        Ok(()) => all.push(Gate::met("You neither proposed nor asked for it, and your roles include it")),
        Err(_) if mine => all.push(Gate::unmet("You proposed this. Somebody else who may decide it has to agree.")),
        Err(error) => all.push(Gate::unmet(format!("Not yours to approve: {error}."))),
    }
    if let Ok(outcome) = proposal.kind.parse::<Outcome>() {
        all.extend(outcome_gates(visit, ledger, loaded, outcome));
    }
    let title = if proposal.kind == SEND { "Approve and let it go" } else { "Approve this decision" };
    Verb::new("approve", title).gates(all)
}

fn outcome_gates(visit: &Visit, ledger: &Ledger, loaded: &Loaded, outcome: Outcome) -> Vec<Gate> {
    let clock = visit.shell.clock();
    let asking = Asking { holds: true, proposal_open: false };
    let (contract, upstream) = (&loaded.contract, &loaded.upstream);
    let asked = gates(outcome, contract, upstream, ledger.settings.pace, &loaded.standing, asking, visit.now);
    let about_people = |gate: &app::ledger::decision::Gate| {
        matches!(gate, app::ledger::decision::Gate::Held | app::ledger::decision::Gate::NoProposal)
    };
    let facts = asked.into_iter().filter(|(gate, _)| !about_people(gate));
    facts.map(|gate| gate_text(gate, &clock, &upstream.title)).collect()
}

fn decline_verb(visit: &Visit, proposal: &Proposal, loaded: &Loaded, mine: bool) -> Verb {
    let right = if proposal.kind == SEND { Right::Approve } else { Right::Decide };
    let may = visit.who.may(right, crate::ledger::decide::matter(&loaded.row)) == app::ledger::roles::Leave::Yes;
    let verb = Verb::new("decline", "Decline").field(Field::reason());
    match (mine, may) {
        (true, _) => verb.gates(vec![Gate::unmet("You proposed this: withdraw it instead.")]),
        (false, false) => verb.gates(vec![Gate::unmet("Your roles do not include declining this.")]),
        (false, true) => verb,
    }
}

fn declined(before: &[Proposal], names: &Names) -> Vec<String> {
    let declined = before.iter().filter(|one| one.status == "declined");
    declined
        .map(|one| {
            let by = one.decided_by.map_or_else(|| "somebody".into(), |id| names.of(id));
            format!("{by}: “{}”", one.decided_reason.as_deref().unwrap_or_default())
        })
        .collect()
}

fn record(visit: &Visit, proposal: &Proposal, names: &Names) -> Vec<RecordEntry> {
    let by = names.principal(&proposal.proposed_by);
    let mut entries = vec![RecordEntry {
        by: Some(by),
        quote: proposal.reason.clone(),
        kind: EntryKind::People,
        ..RecordEntry::new(*proposal.created_at, Mark::Note, "Proposed")
    }];
    match proposal.decided_at {
        Some(at) => entries.push(RecordEntry {
            by: proposal.decided_by.map(|id| names.of(id)),
            quote: proposal.decided_reason.clone(),
            kind: EntryKind::People,
            ..RecordEntry::new(*at, Mark::Yes, state(proposal).view().word)
        }),
        None => entries.push(RecordEntry {
            kind: EntryKind::Now,
            ..RecordEntry::new(visit.now, Mark::Here, "Waiting for a second person")
        }),
    }
    entries
}

fn deed(name: &'static str, id: Id, audits_itself: bool) -> Deed {
    // The least that approving anything takes; which approvals, the command asks.
    Deed { audits_itself, ..Deed::new(name, Right::Decide, id, link::approval(&id.to_string())) }
}

pub async fn approve(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    let Some(version) = form.version() else { return forms::incomplete(&visit, "version") };
    let (ledger, who, correlation) = (visit.app.ledger.clone(), visit.who.clone(), visit.request_id.clone());
    let command = async move {
        let row = ledger.approve(&who, id, version, &correlation).await?;
        let what = if row.status.is_settled() { "It is settled." } else { "It goes out." };
        Ok(format!("Approved. {what}"))
    };
    answer(visit, form, deed("approve", id, true), command).await
}

pub async fn decline(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    end(visit, id, form, "decline").await
}

pub async fn withdraw(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    end(visit, id, form, "withdraw").await
}

async fn end(visit: Visit, id: String, form: Form, name: &'static str) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    if form.version().is_none() {
        return forms::incomplete(&visit, "version");
    }
    let (ledger, who, correlation) = (visit.app.ledger.clone(), visit.who.clone(), visit.request_id.clone());
    let reason = form.text("reason").to_string();
    let command = async move {
        ledger.decline(&who, id, &reason, &correlation).await?;
        Ok(if name == "withdraw" { "Withdrawn." } else { "Declined." }.to_string())
    };
    answer(visit, form, deed(name, id, false), command).await
}

async fn answer<F>(visit: Visit, form: Form, deed: Deed, command: F) -> Response
where
    F: Future<Output = Result<String>> + Send + 'static,
{
    match act(&visit, &form, &deed, command).await {
        Ok(response) => response,
        Err(error) => refused(&visit, &form, &deed, error).await,
    }
}
