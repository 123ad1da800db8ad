//! The page of one operation, filled from the store in one consistent read.
//!
//! Invariant: sensitive parameters are opened for the rules only; none of them is among the page's words.

use app::ledger::attempt;
use app::ledger::contract::Class;
use app::ledger::evidence::{Conclusion, Source, says as any_says};
use app::ledger::status::Status;
use app::ui::link;
use app::ui::pages::operation::{
    CustomerLink, EvidenceItem, InFlight, KeyWindow, OpenProposal, OperationPage, Related, Show,
};
use app::ui::parts::{Effects, Fact, Guide};
use app::ui::words::{Says, StatusView};

use super::{record, ways};
use crate::http::pages::approval;
use crate::http::pages::forms::Form;
use crate::http::pages::queue::{cause_of, cause_title};
use crate::http::pages::visit::Visit;
use crate::http::pages::words::{Names, audit_row, chain, closes, contract_title, holder, money, stopped};
use crate::ledger::standing::{self, Loaded};
use crate::ledger::{Error, Result};
use crate::store::audit::{self, Entry};
use crate::store::codec::Id;
use crate::store::operations;
use crate::store::proposals::{self, Proposal};
use crate::store::{Tx, customers, evidence};

const AUDIT_ROWS: i64 = 1_000;

/// A form that came back with a mistake.
#[derive(Debug)]
pub struct Typed {
    pub action: &'static str,
    /// The outcome, for a decision.
    pub part: String,
    pub form: Form,
    pub field: String,
    pub message: String,
}

/// Everything that the page says something about.
#[derive(Debug)]
pub struct Known {
    pub loaded: Loaded,
    pub names: Names,
    pub audit: Vec<Entry>,
    pub proposals: Vec<Proposal>,
    pub partner: String,
}

impl Known {
    pub fn open_proposal(&self) -> Option<&Proposal> {
        self.proposals.iter().find(|proposal| proposal.status == "open")
    }
}

pub async fn load(visit: &Visit, id: Id, typed: Option<&Typed>) -> Result<OperationPage> {
    let ledger = &visit.app.ledger;
    let mut tx = visit.read().await?;
    let row = operations::find(&mut tx, id).await?.filter(|row| visit.who.sees(&row.tenant));
    let row = row.ok_or(Error::NotFound("operation"))?;
    let loaded = standing::view(&mut tx, ledger, row).await?;
    let known = Known {
        names: Names::read(&mut tx).await?,
        audit: audit::list_of_subject(&mut tx, "operation", &id.to_string(), AUDIT_ROWS).await?,
        proposals: proposals::list_of_operation(&mut tx, id).await?,
        partner: loaded.upstream.title.clone(),
        loaded,
    };
    let customer = match known.loaded.row.customer_id {
        Some(customer) => customers::find(&mut tx, customer).await?,
        None => None,
    };
    let customer = customer.map(|found| CustomerLink {
        id: found.id.to_string(),
        external_id: found.external_id,
        name: found.name,
    });
    let related = related(visit, &mut tx, &known).await?;
    drop(tx);
    Ok(page(visit, &known, customer, related, typed))
}

fn page(
    visit: &Visit,
    known: &Known,
    customer: Option<CustomerLink>,
    related: Vec<Related>,
    typed: Option<&Typed>,
) -> OperationPage {
    let (ledger, clock) = (&visit.app.ledger, visit.shell.clock());
    let Loaded { row, contract, .. } = &known.loaded;
    let waits = !row.status.is_settled() || row.contradicted_since.is_some();
    let in_queue = waits && matches!(*row.status, Status::Uncertain | Status::ReconciliationNeeded);
    let executed = *row.status == Status::Succeeded || any_says(&known.loaded.standing.evidence, Conclusion::Executed);
    OperationPage {
        id: row.id.to_string(),
        version: u64::try_from(row.version).unwrap_or(0),
        title: contract.title.clone(),
        tenant: row.tenant.clone(),
        customer,
        contract: row.contract.clone(),
        contract_version: u32::try_from(row.contract_version).unwrap_or(0),
        class: *row.class,
        risk: *row.risk,
        status: *row.status,
        contradicted: row.contradicted_since.is_some(),
        reason: row.reason.map(|reason| reason.as_str().to_string()),
        summary: row.summary.clone(),
        amount: money(row),
        admitted_at: *row.created_at,
        settled_at: row.settled_at.map(|at| *at),
        cause: in_queue.then(|| (cause_of(row), cause_title(ledger, row))),
        stopped: stopped(row, &clock),
        stopped_means: means(visit, known),
        visited: record::visited(known),
        effects: Effects { confirmed: u32::from(executed), expected: 1 },
        target: row.target.clone(),
        target_note: row.target_public_id.as_ref().map(|id| format!("at {}: {id}", known.partner)),
        key_window: key_window(visit, known),
        holder: holder(row, &visit.who, &known.names),
        automation: automation(known),
        in_flight: in_flight(visit, known),
        next_check: row.next_check_at.map(|at| *at).filter(|_| !row.status.is_settled()),
        more_facts: more_facts(known),
        holding: ways::holding(visit, known),
        guide: guide(known),
        look_up: ways::look_up(visit, known),
        evidence: evidence_items(visit, known),
        evidence_forms: ways::evidence_forms(visit, known, typed),
        proposal: known.open_proposal().map(|one| open_proposal(visit, known, one)),
        decisions: ways::decisions(visit, known, typed),
        more: ways::more(visit, known),
        afterwards: Vec::new(),
        record: record::record(visit, known),
        show: match visit.asked("show") {
            Some("wire") => Show::Wire,
            Some("people") => Show::People,
            _ => Show::Everything,
        },
        identity: identity(visit, known),
        related,
        audit: known.audit.iter().map(|entry| audit_row(entry, false)).collect(),
        chain: chain(ledger, &known.audit),
    }
}

/// What follows from where it stopped.
fn means(visit: &Visit, known: &Known) -> String {
    let (row, partner) = (&known.loaded.row, &known.partner);
    let may = format!("The effect may or may not exist at {partner}.");
    let sent = match (row.holder_id, *row.class) {
        (Some(id), _) if id == visit.who.id => "Nobody and nothing sends it again while you hold it.",
        (Some(_), _) => "Nobody and nothing sends it again while it is held.",
        (None, Class::Opaque) => "It is opaque: it is never sent again.",
        (None, _) => "It is sent again only when that cannot make a second effect.",
    };
    match *row.status {
        Status::AwaitingApproval => "Nothing has left. It goes out when a second person agrees.".into(),
        Status::Pending => "Nothing has left yet.".into(),
        Status::Executing => format!("{may} An answer is still awaited."),
        Status::FailedRetryable => "It is known not to have happened; the same key goes out again.".into(),
        Status::Uncertain | Status::ReconciliationNeeded => format!("{may} {sent}"),
        Status::Succeeded if row.contradicted_since.is_some() => "Evidence that came later speaks against it.".into(),
        Status::Succeeded => "The effect exists, once.".into(),
        Status::FailedFinal | Status::Cancelled if row.contradicted_since.is_some() => {
            format!("Evidence that came later says that it exists at {partner}.")
        }
        Status::FailedFinal => "It is known not to have happened.".into(),
        Status::Cancelled => "It was called off. Nothing of it happened.".into(),
    }
}

fn key_window(visit: &Visit, known: &Known) -> KeyWindow {
    let Loaded { row, contract, upstream, .. } = &known.loaded;
    if *row.class == Class::Opaque {
        return KeyWindow::NoKey("opaque: never sent twice".into());
    }
    let Some(window) = contract.key_window() else {
        return KeyWindow::NoKey(format!("no key: {}", app::ui::words::promise(*row.class)));
    };
    match (row.first_mark_at, closes(&visit.app.ledger, contract, upstream, row)) {
        (Some(from), Some(until)) if until > visit.now => KeyWindow::Open { from: *from, until },
        (Some(_), Some(at)) => KeyWindow::Closed { at },
        _ => KeyWindow::NotYet { seconds: window.as_secs() },
    }
}

fn automation(known: &Known) -> String {
    let Loaded { row, contract, .. } = &known.loaded;
    let answered = format!("{} of {} look-ups answered", row.look_ups_answered, contract.limits.look_ups);
    match *row.status {
        status if status.is_settled() => "finished".into(),
        _ if row.holder_id.is_some() => format!("stopped while a person holds it; {answered}"),
        _ if row.proposal_id.is_some() => "stopped while a proposal waits".into(),
        Status::Pending | Status::FailedRetryable => "sends it when it is due".into(),
        Status::Executing => "waits for the answer".into(),
        Status::Uncertain => format!("looks it up; {answered}"),
        _ => format!("nothing is left that a machine may do; {answered}"),
    }
}

fn in_flight(visit: &Visit, known: &Known) -> InFlight {
    let standing = &known.loaded.standing;
    match attempt::open_barrier(&standing.sends, &standing.evidence) {
        Some(barrier) if barrier >= visit.now => InFlight::Until(barrier),
        _ => InFlight::Nothing { since: attempt::last_barrier(&standing.sends).filter(|at| *at < visit.now) },
    }
}

fn more_facts(known: &Known) -> Vec<Fact> {
    let row = &known.loaded.row;
    let mut facts = Vec::new();
    if let Some(code) = &row.last_error_code {
        // A partner's message may repeat what it was sent.
        let message = row.last_error_message.clone().filter(|_| !known.loaded.has_sensitive());
        facts.push(Fact { note: message, ..Fact::code("Last error", code.clone()) });
    }
    if let (Some(owner), Some(until)) = (&row.lease_owner, row.locked_until) {
        facts.push(Fact::code("Lease", owner.clone()).note(format!("until {}", app::ui::words::time::utc(*until))));
    }
    let ids: Vec<String> = serde_json::from_str(&row.upstream_request_ids).unwrap_or_default();
    if !ids.is_empty() {
        facts.push(Fact::code("Request ids", ids.join(", ")));
    }
    if let Some(found) = &row.last_look_up {
        facts.push(Fact::new("Last look-up", found.replace('_', " ")));
    }
    facts
}

const GUIDANCE: [&str; 3] = [
    "Do not say that it failed, and start it no second time.",
    "Find out at the partner whether it exists, and attach what you found with its source.",
    "Then decide: it happened, or it did not.",
];

fn guide(known: &Known) -> Guide {
    let Loaded { row, contract, .. } = &known.loaded;
    if !matches!(*row.status, Status::Uncertain | Status::ReconciliationNeeded) {
        return Guide::default();
    }
    let own = contract.guidance.clone();
    let steps = if own.is_empty() { GUIDANCE.map(String::from).to_vec() } else { own };
    Guide { steps, current: None }
}

pub fn says(conclusion: Conclusion) -> Says {
    match conclusion {
        Conclusion::Executed => Says::Executed,
        Conclusion::Refused => Says::Refused,
        Conclusion::NotExecuted => Says::NotExecuted,
        Conclusion::Inconclusive => Says::Inconclusive,
        Conclusion::Contradicts => Says::Contradicts,
    }
}

fn evidence_items(visit: &Visit, known: &Known) -> Vec<EvidenceItem> {
    known.loaded.evidence.iter().rev().map(|found| evidence_item(visit, known, found)).collect()
}

fn evidence_item(visit: &Visit, known: &Known, found: &evidence::Evidence) -> EvidenceItem {
    let by = match found.person_id {
        Some(id) if id == visit.who.id => "attached by you".to_string(),
        Some(id) => format!("attached by {}", known.names.of(id)),
        None => found.source.as_str().replace('_', " "),
    };
    let differs = Some(found.differs.as_str()).filter(|differs| !differs.is_empty());
    let detail = match (&found.statement, differs) {
        (Some(text), _) => text.clone(),
        (None, Some(differs)) => format!("differs in {differs}"),
        (None, None) => String::new(),
    };
    let file = found.file_name.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
    EvidenceItem {
        title: found.title.clone(),
        says: says(*found.conclusion),
        at: *found.created_at,
        as_of: (found.as_of != found.created_at && *found.source != Source::LookUp).then_some(*found.as_of),
        source: format!("{by}{file}"),
        detail,
    }
}

fn open_proposal(visit: &Visit, known: &Known, one: &Proposal) -> OpenProposal {
    let contract = &known.loaded.contract.title;
    OpenProposal {
        id: one.id.to_string(),
        what: approval::title(one, contract),
        by: known.names.principal(&one.proposed_by),
        mine: one.proposed_by == format!("person:{}", visit.who.id),
        at: *one.created_at,
        expires: one.expires_at.map(|at| *at),
        reason: approval::reason(one),
    }
}

async fn related(visit: &Visit, tx: &mut Tx, known: &Known) -> Result<Vec<Related>> {
    let ledger = &visit.app.ledger;
    let row = &known.loaded.row;
    let item = |how: String, other: &operations::Operation| Related {
        how,
        id: other.id.to_string(),
        title: format!("{}, {}", contract_title(ledger, &other.contract), other.summary),
        status: StatusView::of(*other.status, other.contradicted_since.is_some(), other.reason.map(|r| r.as_str())),
    };
    let mut related = Vec::new();
    for other in operations::list_generations(tx, row).await? {
        if other.id != row.id {
            let how = if other.generation < row.generation { "Earlier generation" } else { "Later generation" };
            related.push(item(how.into(), &other));
        }
    }
    if let Some(run) = row.parent_id {
        for other in operations::list_children(tx, run).await? {
            if other.id != row.id {
                related.push(item("Step of the same workflow".into(), &other));
            }
        }
    }
    Ok(related)
}

fn identity(visit: &Visit, known: &Known) -> Vec<Fact> {
    let row = &known.loaded.row;
    let digest = app::ledger::key::sha256_hex(row.operation_key.as_bytes());
    let key = if ways::sees_keys(visit) {
        Fact::code("Operation key", row.upstream_key.clone()).note("as sent; derived from the intent")
    } else {
        Fact::code("Operation key", digest).note("its digest")
    };
    let asked_by = known.names.principal(&format!("{}:{}", row.principal_kind, row.principal_id));
    let mut facts = vec![
        Fact::code("Intent", row.intent_text.clone()).note(format!("generation {}", row.generation)),
        key,
        Fact::code("Fingerprint", row.fingerprint.clone()),
        Fact::code("Reference", row.reference.clone()),
        Fact::new("Asked by", format!("{asked_by}, tenant {}", row.tenant)),
        Fact::code("Correlation", row.correlation_id.clone()),
    ];
    if let Some(reference) = &row.business_reference {
        facts.push(Fact::code("Business reference", reference.clone()));
    }
    let audit = link::with("/audit", "subject", &row.id.to_string());
    facts.push(Fact::new("Audit", "all its rows").href(audit));
    facts
}
