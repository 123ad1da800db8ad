//! Rows of the store in the words that pages use: operations in lists, gates, audit rows.
//!
//! Reads nothing. Invariant: no sensitive parameter and no caller's key is among the words.

use std::collections::BTreeMap;

use app::ledger::attempt::window_closes;
use app::ledger::contract::{Class, Contract, Upstream};
use app::ledger::decision::{Gate, Met};
use app::ledger::instant::Instant;
use app::ledger::reason::Reason;
use app::ledger::status::Status;
use app::ui::parts::{AuditRow, Gate as Shown, Holder, OperationRow};
use app::ui::words::{Clock, Money, StatusView};

use crate::ledger::{Ledger, Operator, audit};
use crate::store::audit::Entry;
use crate::store::codec::Id;
use crate::store::operations::Operation;
use crate::store::{self, Tx, clients, people};

/// Names of people and of API clients by id.
#[derive(Clone, Debug, Default)]
pub struct Names {
    people: BTreeMap<Id, String>,
    clients: BTreeMap<Id, String>,
}

impl Names {
    pub async fn read(tx: &mut Tx) -> store::Result<Names> {
        let people = people::list(tx).await?;
        let clients = clients::list(tx).await?;
        Ok(Names {
            people: people.into_iter().map(|person| (person.id, person.name)).collect(),
            clients: clients.into_iter().map(|client| (client.id, client.name)).collect(),
        })
    }

    pub fn of(&self, id: Id) -> String {
        self.people.get(&id).cloned().unwrap_or_else(|| "somebody".into())
    }

    /// `person:ID`, `client:ID`, `workflow:ID` in words.
    pub fn principal(&self, reference: &str) -> String {
        match reference.split_once(':') {
            Some(("person", id)) => id.parse().map_or_else(|_| "somebody".into(), |id| self.of(id)),
            Some(("client", id)) => {
                let name = id.parse().ok().and_then(|id: Id| self.clients.get(&id).cloned());
                format!("API client {}", name.unwrap_or_else(|| short(id)))
            }
            Some(("workflow", name)) => format!("workflow {name}"),
            _ => reference.to_string(),
        }
    }
}

/// The first part of an id, for sentences.
pub fn short(id: &str) -> String {
    id.chars().take(8).collect()
}

pub fn contract_title(ledger: &Ledger, name: &str) -> String {
    ledger.shelf.contract(name).map_or_else(|| name.replace('_', " "), |(_, contract)| contract.title.clone())
}

pub fn upstream_title(ledger: &Ledger, name: &str) -> String {
    ledger.shelf.upstream(name).map_or_else(|| name.to_string(), |upstream| upstream.title.clone())
}

pub fn money(row: &Operation) -> Option<Money> {
    let currency = row.currency.as_deref()?;
    row.amount.map(|amount| Money::new(currency, &amount.0.to_string()))
}

pub fn holder(row: &Operation, who: &Operator, names: &Names) -> Option<Holder> {
    let id = row.holder_id?;
    let since = row.held_since.map_or(*row.updated_at, |at| *at);
    Some(Holder { name: names.of(id), mine: id == who.id, since })
}

pub fn operation_row(ledger: &Ledger, who: &Operator, names: &Names, clock: &Clock, row: &Operation) -> OperationRow {
    OperationRow {
        id: row.id.to_string(),
        title: contract_title(ledger, &row.contract),
        customer: row.external_customer_id.clone(),
        tenant: row.tenant.clone(),
        status: *row.status,
        contradicted: row.contradicted_since.is_some(),
        reason: row.reason.map(|reason| reason.as_str().to_string()),
        stopped: stopped(row, clock),
        window: window(ledger, row, clock),
        amount: money(row),
        risk: *row.risk,
        since: *row.created_at,
        holder: holder(row, who, names),
    }
}

/// When the last safe repeat is over.
pub fn closes(ledger: &Ledger, contract: &Contract, upstream: &Upstream, row: &Operation) -> Option<Instant> {
    let margin = ledger.settings.pace.window_margin;
    window_closes(upstream, contract.key_window(), contract.settle(), margin, row.first_mark_at.map(|at| *at))
}

fn window(ledger: &Ledger, row: &Operation, clock: &Clock) -> String {
    let Some((_, contract)) = ledger.shelf.contract(&row.contract) else { return "not known".into() };
    let Some(upstream) = ledger.shelf.upstream(&row.upstream) else { return "not known".into() };
    if *row.class == Class::Opaque || contract.key.is_none() {
        return "no key".into();
    }
    match closes(ledger, &contract, &upstream, row) {
        None => "not begun".into(),
        Some(at) if at > clock.now() => clock.left(at),
        Some(at) => format!("closed {} ago", clock.age(at)),
    }
}

/// One sentence of truth about where it stopped.
pub fn stopped(row: &Operation, clock: &Clock) -> String {
    let sent = row.first_mark_at.map_or_else(|| "Never sent".to_string(), |at| format!("Sent {}", clock.time(*at)));
    let reason = row.reason.map(|reason| *reason);
    match *row.status {
        Status::AwaitingApproval | Status::Pending | Status::FailedRetryable => unsent(*row.status, reason).to_string(),
        Status::Executing => format!("Sent {}, waiting for an answer", clock.time(*row.updated_at)),
        Status::Uncertain => format!("{sent}, {}", unknown(reason)),
        Status::ReconciliationNeeded => for_a_person(reason, &sent),
        Status::Succeeded | Status::FailedFinal | Status::Cancelled => settled(row, reason),
    }
}

const fn unsent(status: Status, reason: Option<Reason>) -> &'static str {
    match (status, reason) {
        (Status::AwaitingApproval, Some(Reason::HighRisk)) => "Held for approval: high risk",
        (Status::AwaitingApproval, Some(Reason::ReferenceUnsettled)) => {
            "Held for approval: another operation on the same reference is not settled"
        }
        (Status::AwaitingApproval, Some(Reason::ApprovalVoid)) => {
            "Held again: what was approved is not what would be sent"
        }
        (Status::AwaitingApproval, _) => "Held for approval: its contract asks for one",
        (Status::Pending, _) => "Intent saved, nothing sent",
        (_, Some(Reason::CredentialsRefused)) => "Not executed: the partner refused our credentials",
        (_, Some(Reason::TooEarly)) => "Not executed: the partner said “too early”",
        (_, Some(Reason::RateLimited)) => "Not executed: the partner said “too many”",
        (_, Some(Reason::ProvedNotExecuted)) => "Proved not executed; it is sent again",
        (_, Some(Reason::DecidedSendAgain)) => "A person decided: send again",
        _ => "Not sent: no connection",
    }
}

const fn unknown(reason: Option<Reason>) -> &'static str {
    match reason {
        Some(Reason::NoResponse) => "no answer",
        Some(Reason::ConnectionBroken) => "the connection broke",
        Some(Reason::ServerError) => "answered with an error of the partner's own",
        Some(Reason::UnreadableAnswer) => "the answer could not be read",
        Some(Reason::WrongEcho) => "the answer is about something else",
        Some(Reason::UndeclaredStatus | Reason::UndeclaredRefusal) => "the answer is one that nobody declared",
        Some(Reason::StillWorking) => "the partner is still working on it",
        Some(Reason::Redirected) => "answered with a redirect, which is not followed",
        Some(Reason::KeyInUse) => "the partner says that our key is in use",
        Some(Reason::AlreadyExists) => "the partner says that it exists already",
        Some(Reason::WorkerLost) => "worker lost",
        Some(Reason::LocalCompletionFailed) => "answered, but our record was not saved",
        Some(Reason::TakenOver) => "taken over while it was in flight",
        Some(Reason::Restored) => "the database was restored since",
        Some(Reason::EarlierAttemptOpen) => "an earlier attempt is still open",
        Some(Reason::BackToMachine) => "asked again by machine",
        _ => "nobody knows what became of it",
    }
}

fn for_a_person(reason: Option<Reason>, sent: &str) -> String {
    match reason {
        Some(Reason::NoLookUp) => format!("{sent}, outcome unknown, and the partner cannot be asked"),
        Some(Reason::NotFound) => format!("{sent}; not found at the partner"),
        Some(Reason::LimitsSpent) => format!("{sent}; asked as often as its contract allows"),
        Some(Reason::KeyWindowClosed) => format!("{sent}; the key window has closed"),
        Some(Reason::KeyConflict) => format!("{sent}; the partner says our key belongs to another request"),
        Some(Reason::Contradicted) => format!("{sent}; found, but not what was asked for"),
        Some(Reason::Superseded) => format!("{sent}; its target has been sent something newer"),
        other => format!("{sent}, {}", unknown(other)),
    }
}

fn settled(row: &Operation, reason: Option<Reason>) -> String {
    let code = row.last_error_code.as_deref().map(|code| format!(": {code}")).unwrap_or_default();
    match reason {
        Some(Reason::Receipt) => "Answered with a good receipt".into(),
        Some(Reason::FoundExecuted) => "Found at the partner".into(),
        Some(Reason::RefusedByPartner) => format!("The partner refused{code}"),
        Some(Reason::LocalBeforeSend) => format!("Could not be sent{code}"),
        Some(Reason::DecidedExecuted) => "A person decided: it happened".into(),
        Some(Reason::DecidedNotExecuted) => "A person decided: it did not happen".into(),
        Some(Reason::Declined) => "Declined before it was sent".into(),
        Some(Reason::Withdrawn) => "Withdrawn before it was sent".into(),
        Some(Reason::ApprovalExpired) => "Nobody approved it in time".into(),
        Some(Reason::CancelledByPerson) => "A person called it off".into(),
        Some(Reason::WorkflowStopped) => "Its workflow was stopped".into(),
        Some(Reason::Superseded) => "Something newer took its place".into(),
        Some(Reason::LimitsSpent) => "Never got through, and its limits are spent".into(),
        Some(Reason::KeyWindowClosed) => "Never got through before the key window closed".into(),
        Some(other) => format!("Settled: {}", other.as_str().replace('_', " ")),
        None => "Settled".into(),
    }
}

/// A condition of a decision in words.
pub fn gate_text((gate, met): (Gate, Met), clock: &Clock, partner: &str) -> Shown {
    let yes = met == Met::Yes;
    let pick = |met: &str, not: &str| if yes { met.to_string() } else { not.to_string() };
    let text = match gate {
        Gate::Undecided => pick("Its outcome is open", "Its outcome is not open to a decision as it stands"),
        Gate::Held => pick("You hold it", "Take it over first"),
        Gate::NoProposal => pick("No other proposal waits", "A proposal about it waits for a second person"),
        Gate::NothingInFlight => match met {
            Met::Later(at) => format!("Nothing can be alive after {}", clock.time(at)),
            _ => pick("Nothing is in flight", "A request may still be alive"),
        },
        Gate::SaysExecuted => pick(
            "Evidence says that it happened",
            &format!("Nothing on record says that it happened. Ask {partner}, or attach a statement with its source"),
        ),
        Gate::NothingSaysExecuted => pick("No evidence says that it happened", "Evidence says that it happened"),
        Gate::SaysNotExecuted => pick(
            "Evidence says that it did not happen, as of after anything could be alive",
            &format!(
                "Nothing on record says that it did not happen, as of after anything of it could be alive at {partner}"
            ),
        ),
        Gate::RepeatIsSafe => pick("A repeat with the same key is safe", "It is opaque: never sent again"),
        Gate::WindowOpen => pick(
            &format!("{partner} still answers a repeat of our key with the first result"),
            &format!("{partner} does not remember our key for long enough any more"),
        ),
        Gate::SendsLeft => pick("Sends are left", "All sends of its contract are used up"),
    };
    match met {
        Met::Yes => Shown::met(text),
        Met::No => Shown::unmet(text),
        Met::Later(_) => Shown::later(text),
    }
}

/// What an audit row says was done.
pub fn deed(entry: &Entry) -> String {
    let known = match entry.verb.as_str() {
        "take_over" => "took it over",
        "release" => "released it",
        "attach_evidence" => "attached evidence",
        "propose_decision" => "proposed a decision",
        "decide" => "decided",
        "approve" => "approved it",
        "decline" => "declined it",
        "withdraw" => "withdrew the proposal",
        "expire" => "let the approval expire",
        "admit" => "admitted it",
        "claim" => "claimed it to send",
        "lose" => "lost sight of it",
        "sign_in" => "signed in",
        "sign_out" => "signed out",
        "cross_site" => "change from another site",
        other => return denied(entry, &other.replace('_', " ")),
    };
    denied(entry, known)
}

fn denied(entry: &Entry, words: &str) -> String {
    let class = entry.outcome_class.as_deref().map(|class| format!(": {class}")).unwrap_or_default();
    let decision = entry.decision.as_deref().filter(|_| entry.verb.contains("deci"));
    let decision = decision.map(|decision| format!(": {}", decision.replace('_', " "))).unwrap_or_default();
    let prefix = if entry.outcome == "denied" { "denied: " } else { "" };
    format!("{prefix}{words}{decision}{class}")
}

pub fn audit_row(entry: &Entry, subject: bool) -> AuditRow {
    AuditRow {
        at: *entry.at,
        who: entry.actor_name.clone(),
        role: Some(entry.actor_roles.clone()).filter(|roles| !roles.is_empty()),
        what: deed(entry),
        reason: entry.reason.clone(),
        subject: subject.then(|| about(entry)).flatten(),
        sequence: u64::try_from(entry.sequence).unwrap_or(0),
        index: None,
        denied: entry.outcome == "denied",
        digest: entry.hash.clone(),
    }
}

fn about(entry: &Entry) -> Option<(String, String)> {
    let id = entry.subject_id.as_str();
    let what = entry.contract.as_deref().map_or_else(|| entry.subject_kind.clone(), |name| name.replace('_', " "));
    let path = match entry.subject_kind.as_str() {
        "operation" => app::ui::link::operation(id),
        "customer" => app::ui::link::customer(id),
        _ => app::ui::link::with("/audit", "subject", id),
    };
    let words = format!("{what} {}", short(id));
    let status = entry.to_status.as_deref().and_then(|status| status.parse().ok());
    let status = status.map(|status| format!(", {}", StatusView::plain(status).word.to_lowercase()));
    Some((format!("{words}{}", status.unwrap_or_default()), path))
}

/// Whether one subject's rows hang together, in words.
pub fn chain(ledger: &Ledger, rows: &[Entry]) -> (String, bool) {
    let mut previous = String::new();
    for (place, row) in (1i64..).zip(rows) {
        if row.sequence != place || row.previous_hash != previous || !is_sealed(ledger, row) {
            return (format!("{} rows; the chain breaks at row {place}", rows.len()), false);
        }
        previous.clone_from(&row.hash);
    }
    (format!("{} rows, chain whole", rows.len()), true)
}

pub fn is_sealed(ledger: &Ledger, row: &Entry) -> bool {
    audit::hash(row) == row.hash && ledger.keys.audit_mac(&row.hash) == row.mac
}
