//! What a person may conclude about an operation, and what has to be true first.
//!
//! The buttons and the command ask the same gates, so that what is shut on the page is refused by the server with the
//! same words. Invariant: an opaque action is never sent again, and "it did not happen" counts only as of after every
//! barrier.

use serde::{Deserialize, Serialize};

use super::attempt;
use super::contract::{Class, Contract, Risk, Upstream};
use super::evidence::{Conclusion, Evidence, Source, says};
use super::instant::Instant;
use super::next_action::{self, Pace, Standing};
use super::status::{Event, Status};
use super::word::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It happened.
    Executed,
    /// It did not happen: send again with the same key.
    SendAgain,
    /// It did not happen: close.
    Close,
}

words!(Outcome { Executed = "executed", SendAgain = "send_again", Close = "close" });

impl Outcome {
    pub const fn event(self) -> Event {
        match self {
            Outcome::Executed => Event::DecideExecuted,
            Outcome::SendAgain => Event::DecideSendAgain,
            Outcome::Close => Event::DecideClose,
        }
    }
}

/// One condition of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// The operation is unknown or waits for a person.
    Undecided,
    /// The person holds it.
    Held,
    /// No proposal about it waits.
    NoProposal,
    /// Nothing of it can still be on its way.
    NothingInFlight,
    /// Evidence says that it happened.
    SaysExecuted,
    /// No evidence says that it happened.
    NothingSaysExecuted,
    /// Evidence says that it did not happen, as of after every barrier.
    SaysNotExecuted,
    /// A repeat is safe: the class allows it, and the target has not been sent anything newer.
    RepeatIsSafe,
    /// The partner still knows the key, for long enough.
    WindowOpen,
    /// Sends and hours are left.
    SendsLeft,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    Yes,
    No,
    /// Opens by itself at that instant.
    Later(Instant),
}

/// The person and what they see.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    pub holds: bool,
    pub proposal_open: bool,
}

pub fn gates(
    outcome: Outcome,
    contract: &Contract,
    upstream: &Upstream,
    pace: Pace,
    at: &Standing,
    asking: Asking,
    now: Instant,
) -> Vec<(Gate, Met)> {
    let yes = |truth: bool| if truth { Met::Yes } else { Met::No };
    let mut gates = vec![
        (Gate::Undecided, yes(matches!(at.status, Status::Uncertain | Status::ReconciliationNeeded))),
        (Gate::Held, yes(asking.holds)),
        (Gate::NoProposal, yes(!asking.proposal_open)),
    ];
    if outcome == Outcome::Executed {
        gates.push((Gate::SaysExecuted, yes(says(&at.evidence, Conclusion::Executed))));
        return gates;
    }
    let in_flight = attempt::last_barrier(&at.sends).filter(|barrier| *barrier >= now);
    let executed = says(&at.evidence, Conclusion::Executed) || attempt::any_succeeded(&at.sends);
    gates.push((Gate::NothingInFlight, in_flight.map_or(Met::Yes, Met::Later)));
    gates.push((Gate::NothingSaysExecuted, yes(!executed)));
    gates.push((Gate::SaysNotExecuted, yes(relied(outcome, at).next().is_some())));
    if outcome == Outcome::SendAgain {
        let holds = attempt::window_holds(
            upstream,
            contract.key_window(),
            contract.settle(),
            pace.window_margin,
            next_action::key_used_since(at),
            now,
        );
        let is_safe = contract.class != Class::Opaque && !at.target.newer_sent;
        gates.push((Gate::RepeatIsSafe, yes(is_safe)));
        gates.push((Gate::WindowOpen, yes(holds)));
        gates.push((Gate::SendsLeft, yes(!next_action::limits_spent(contract, at, now))));
    }
    gates
}

/// The evidence that a decision can stand on: "executed"; or "not executed" (to close, also "refused") as of after every
/// barrier.
fn relied(outcome: Outcome, at: &Standing) -> impl Iterator<Item = &Evidence> {
    let barrier = attempt::last_barrier(&at.sends);
    at.evidence.iter().filter(move |found| {
        let says_so = match found.conclusion {
            Conclusion::Executed => return outcome == Outcome::Executed,
            Conclusion::NotExecuted => outcome != Outcome::Executed,
            Conclusion::Refused => outcome == Outcome::Close,
            Conclusion::Inconclusive | Conclusion::Contradicts => false,
        };
        says_so && barrier.is_none_or(|barrier| found.closes(barrier))
    })
}

pub fn is_open(gates: &[(Gate, Met)]) -> bool {
    gates.iter().all(|(_, met)| *met == Met::Yes)
}

/// Why a second person has to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecondPerson {
    HighRisk,
    /// "Did not happen" where nobody can look it up.
    NoLookUp,
    /// A statement is the only evidence.
    BareStatement,
    BrokenTakeover,
    /// This person may only propose.
    NotTheirs,
}

words!(SecondPerson {
    HighRisk = "high_risk",
    NoLookUp = "no_look_up",
    BareStatement = "bare_statement",
    BrokenTakeover = "broken_takeover",
    NotTheirs = "not_theirs",
});

pub fn second_person(
    outcome: Outcome,
    contract: &Contract,
    risk: Risk,
    at: &Standing,
    broke_takeover: bool,
    may_decide: bool,
) -> Option<SecondPerson> {
    let bare = relied(outcome, at).all(|found| found.source == Source::Statement);
    if !may_decide {
        Some(SecondPerson::NotTheirs)
    } else if risk == Risk::High {
        Some(SecondPerson::HighRisk)
    } else if outcome != Outcome::Executed && !contract.can_look_up() {
        Some(SecondPerson::NoLookUp)
    } else if bare {
        Some(SecondPerson::BareStatement)
    } else if broke_takeover {
        Some(SecondPerson::BrokenTakeover)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
