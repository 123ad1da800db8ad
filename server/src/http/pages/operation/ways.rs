//! What this person may do to this operation now, and if not, why not.
//!
//! The gates are the rules' own; only their words are made here. Invariant: a verb without a command is not shown.

use app::ledger::attempt;
use app::ledger::decision::{Asking, Outcome, SecondPerson, gates};
use app::ledger::evidence::Conclusion;
use app::ledger::roles::{Leave, Matter, Verb as Right};
use app::ledger::status::Status;
use app::ui::pages::operation::{Decision, EvidenceForms, statement_fields};
use app::ui::parts::{Field, Gate, Verb};

use super::model::{Known, Typed};
use crate::http::pages::forms::shown;
use crate::http::pages::visit::Visit;
use crate::http::pages::words::gate_text;
use crate::ledger::decide::matter;

fn may(visit: &Visit, right: Right) -> bool {
    visit.who.may(right, Matter::NONE) == Leave::Yes
}

/// The key as sent is for those who work with the partner's people.
pub fn sees_keys(visit: &Visit) -> bool {
    may(visit, Right::TakeOver)
}

fn mine(visit: &Visit, known: &Known) -> bool {
    known.loaded.row.holder_id == Some(visit.who.id)
}

/// Why the holder's verbs are shut, if they are.
fn held(visit: &Visit, known: &Known) -> Gate {
    match known.loaded.row.holder_id {
        Some(id) if id == visit.who.id => Gate::met("You hold it"),
        Some(id) => Gate::unmet(format!("{} holds it.", known.names.of(id))),
        None => Gate::unmet("Take it over first."),
    }
}

pub fn holding(visit: &Visit, known: &Known) -> Vec<Verb> {
    let row = &known.loaded.row;
    if row.status.is_settled() || !may(visit, Right::TakeOver) {
        return Vec::new();
    }
    if !mine(visit, known) {
        let taken = row.holder_id.map(|_| vec![held(visit, known)]).unwrap_or_default();
        return vec![Verb::new("take-over", "Take over").gates(taken)];
    }
    let proposed = row.proposal_id.is_some() && *row.status != Status::AwaitingApproval;
    let gates = if proposed { vec![Gate::unmet("Withdraw your proposal first.")] } else { Vec::new() };
    vec![Verb::new("release", "Release").gates(gates)]
}

pub fn look_up(visit: &Visit, known: &Known) -> Option<Verb> {
    let row = &known.loaded.row;
    let ever_sent = row.first_mark_at.is_some();
    if !ever_sent || !known.loaded.contract.can_look_up() || !may(visit, Right::AskPartner) {
        return None;
    }
    let verb = Verb::new("look-up", &format!("Ask {} again", known.partner));
    let verb = verb.text(format!("Look-up {}. Safe at any time.", row.look_ups_made + 1));
    let needs_hold = !row.status.is_settled();
    Some(if needs_hold { verb.gates(vec![held(visit, known)]) } else { verb })
}

pub fn more(visit: &Visit, known: &Known) -> Vec<Verb> {
    let row = &known.loaded.row;
    let asks = *row.status == Status::ReconciliationNeeded && known.loaded.contract.can_look_up();
    if !asks || row.proposal_id.is_some() || !may(visit, Right::Automate) {
        return Vec::new();
    }
    let elsewhere = row.holder_id.is_some() && !mine(visit, known);
    let gates = if elsewhere { vec![held(visit, known)] } else { Vec::new() };
    let verb = Verb::new("automate", "Ask again by machine").text("Fresh look-ups; it leaves your hands.");
    vec![verb.gates(gates)]
}

pub fn evidence_forms(visit: &Visit, known: &Known, typed: Option<&Typed>) -> Option<EvidenceForms> {
    if !may(visit, Right::AttachEvidence) {
        return None;
    }
    let mut statement = Verb::new("evidence", "Attach").gates(vec![held(visit, known)]);
    if let Some(typed) = typed.filter(|typed| typed.action == "evidence") {
        statement.fields = filled(statement_fields(), typed);
    }
    Some(EvidenceForms { statement, reference_label: String::new(), reference: None })
}

fn filled(fields: Vec<Field>, typed: &Typed) -> Vec<Field> {
    let mut fields = fields;
    let aim = if typed.field == "as_of" { "observed_at" } else { typed.field.as_str() };
    let known = fields.iter().any(|field| field.name == aim);
    for (n, field) in fields.iter_mut().enumerate() {
        field.value = typed.form.text(&field.name).to_string();
        if field.name == aim || (!known && n == 0) {
            let message = &typed.message;
            field.error = Some(format!("{} {message}.", field.label));
        }
    }
    fields
}

pub fn decisions(visit: &Visit, known: &Known, typed: Option<&Typed>) -> Vec<Decision> {
    let row = &known.loaded.row;
    let leave = visit.who.may(Right::Decide, matter(row));
    if leave == Leave::No || !matches!(*row.status, Status::Uncertain | Status::ReconciliationNeeded) {
        return Vec::new();
    }
    let all = [Outcome::Executed, Outcome::SendAgain, Outcome::Close];
    all.into_iter().map(|outcome| decision(visit, known, typed, outcome, leave == Leave::Yes)).collect()
}

fn decision(visit: &Visit, known: &Known, typed: Option<&Typed>, outcome: Outcome, may: bool) -> Decision {
    let (ledger, clock, loaded) = (&visit.app.ledger, visit.shell.clock(), &known.loaded);
    let asking = Asking { holds: mine(visit, known), proposal_open: loaded.row.proposal_id.is_some() };
    let (contract, upstream) = (&loaded.contract, &loaded.upstream);
    let asked = gates(outcome, contract, upstream, ledger.settings.pace, &loaded.standing, asking, visit.now);
    let gates = asked.into_iter().map(|gate| gate_text(gate, &clock, &known.partner)).collect();
    let second = ledger.second_person_for(loaded, outcome, may);
    let why = second.map(|why| format!(" {}", second_text(why))).unwrap_or_default();
    let mut fields = vec![Field::reason()];
    if let Some(typed) = typed.filter(|typed| typed.action == "decide" && typed.part == outcome.as_str()) {
        fields = filled(fields, typed);
    }
    let verb = shown(outcome).verb(&format!("{}{why}", effect(known, outcome))).gates(gates);
    Decision { verb: Verb { fields, ..verb }, rests_on: rests_on(known, outcome), needs_second: second.is_some() }
}

fn effect(known: &Known, outcome: Outcome) -> String {
    match outcome {
        Outcome::Executed => "Settles as succeeded. Sends nothing.".into(),
        Outcome::SendAgain => {
            format!("Sends once more with the same key, which {} answers with its first result.", known.partner)
        }
        Outcome::Close => "Settles as not executed. Sends nothing.".into(),
    }
}

pub const fn second_text(why: SecondPerson) -> &'static str {
    match why {
        SecondPerson::HighRisk => "Its risk is high.",
        SecondPerson::NoLookUp => "The partner cannot be asked whether it happened.",
        SecondPerson::BareStatement => "A statement is all that speaks for it.",
        SecondPerson::BrokenTakeover => "The takeover was broken.",
        SecondPerson::NotTheirs => "Your roles may propose it, not decide it.",
    }
}

fn rests_on(known: &Known, outcome: Outcome) -> Vec<String> {
    let barrier = attempt::last_barrier(&known.loaded.standing.sends);
    let rows = known.loaded.evidence.iter().zip(&known.loaded.standing.evidence);
    let supports = |found: &app::ledger::evidence::Evidence| match outcome {
        Outcome::Executed => found.conclusion == Conclusion::Executed,
        Outcome::SendAgain => found.conclusion == Conclusion::NotExecuted,
        Outcome::Close => matches!(found.conclusion, Conclusion::NotExecuted | Conclusion::Refused),
    };
    let counts = |found: &app::ledger::evidence::Evidence| {
        outcome == Outcome::Executed || barrier.is_none_or(|barrier| found.closes(barrier))
    };
    rows.filter(|(_, found)| supports(found) && counts(found)).map(|(row, _)| row.title.clone()).collect()
}
