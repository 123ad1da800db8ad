//! What to do next with an operation: the policy that workers obey and do not hold.
//!
//! A pure function of contract, operation, attempts, evidence and now. Who may do it (lease, permit, pause) is the
//! claim's business. Invariant: an unsettled operation always has a next step, a wait with an end, or a person.

use std::time::Duration;

use super::attempt::{self, Ending, Send};
use super::contract::{Class, Contract, Recover, Upstream};
use super::evidence::{self, Conclusion, Evidence, Source};
use super::instant::Instant;
use super::reason::Reason;
use super::status::Status;

/// First wait after something that did not help; doubles up to `LONGEST_WAIT`.
pub const FIRST_WAIT: Duration = Duration::from_secs(2);
pub const LONGEST_WAIT: Duration = Duration::from_secs(900);
/// How long a waiting operation sleeps before it looks at its target again.
const TARGET_WAIT: Duration = Duration::from_secs(2);

/// What the policy is allowed to depend on beside the contract; the same for all operations of an installation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// Least safety margin at the end of the key window.
    pub window_margin: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { first_wait: FIRST_WAIT, longest_wait: LONGEST_WAIT, window_margin: Duration::from_secs(600) }
    }
}

/// The operation as the policy sees it.
#[derive(Clone, Debug)]
pub struct Standing {
    pub status: Status,
    pub reason: Option<Reason>,
    pub admitted_at: Instant,
    pub first_mark: Option<Instant>,
    /// Not before this.
    pub due_at: Instant,
    /// Somebody holds it, or a proposal about it is open.
    pub held: bool,
    pub lease_until: Option<Instant>,
    pub sends: Vec<Send>,
    pub evidence: Vec<Evidence>,
    pub look_ups: LookUps,
    pub target: Target,
    /// An earlier generation of the intent is settled but contradicted.
    pub earlier_contradicted: bool,
    /// The upstream named an id that has not been verified yet.
    pub hint: bool,
}

/// Look-ups made so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LookUps {
    /// Since the limit was last made fresh.
    pub answered: u32,
    /// All, also without an answer; chooses which comes next.
    pub made: u32,
    /// Made since the last send.
    pub since_send: u32,
}

/// Where the operation stands in its target's order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    /// The target has been sent something admitted later.
    pub newer_sent: bool,
    /// Another operation's attempt on it is open.
    pub taken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Mark a send; the first one or one after proof that nothing happened.
    Send,
    /// Mark a send of the same key over an unknown outcome.
    Replay,
    /// Ask with the look-up of this index.
    LookUp(usize),
    Wait {
        until: Instant,
        why: Wait,
    },
    /// To `reconciliation_needed`, whether anything ever left or not.
    HandToPerson(Reason),
    /// Nothing ever left and nothing more may: settle.
    GiveUp(Reason),
    /// Its target has since been sent something newer.
    Supersede,
    /// Evidence settles it or makes it due again.
    Conclude(Conclusion),
    /// The lease ran out: begin to investigate.
    LoseWorker,
    /// Held, waiting for a person, or settled.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    NotDue,
    TargetTaken,
    EarlierContradicted,
    Lease,
    Barrier,
}

pub fn next_action(contract: &Contract, upstream: &Upstream, pace: Pace, at: &Standing, now: Instant) -> Action {
    if at.status.is_settled() || at.held {
        return Action::Nothing;
    }
    match at.status {
        Status::Pending | Status::FailedRetryable => before_send(contract, upstream, pace, at, now),
        Status::Executing => match at.lease_until {
            Some(until) if until > now => Action::Wait { until, why: Wait::Lease },
            _ => Action::LoseWorker,
        },
        Status::Uncertain => investigate(contract, upstream, pace, at, now),
        Status::ReconciliationNeeded => settle_by_evidence(at).unwrap_or(Action::Nothing),
        Status::AwaitingApproval | Status::Succeeded | Status::FailedFinal | Status::Cancelled => Action::Nothing,
    }
}

fn before_send(contract: &Contract, upstream: &Upstream, pace: Pace, at: &Standing, now: Instant) -> Action {
    if at.target.newer_sent {
        return Action::Supersede;
    }
    if at.status == Status::FailedRetryable
        && let Some(reason) = not_again(contract, at)
    {
        return Action::HandToPerson(reason);
    }
    if let Some(reason) = no_more_sends(contract, upstream, pace, at, now) {
        return if ever_left(at) { Action::HandToPerson(reason) } else { Action::GiveUp(reason) };
    }
    if at.earlier_contradicted {
        return Action::Wait { until: now.plus(pace.longest_wait), why: Wait::EarlierContradicted };
    }
    if at.target.taken {
        return Action::Wait { until: now.plus(TARGET_WAIT), why: Wait::TargetTaken };
    }
    if at.due_at > now {
        return Action::Wait { until: at.due_at, why: Wait::NotDue };
    }
    Action::Send
}

/// What came in after it was made due: word that it happened. And what opaque never repeats.
fn not_again(contract: &Contract, at: &Standing) -> Option<Reason> {
    let unanswered = |send: &Send| send.may_have_left && !send.ending.is_some_and(Ending::is_conclusive);
    if says_executed(at) {
        Some(Reason::Contradicted)
    } else {
        (contract.class == Class::Opaque && at.sends.iter().any(unanswered)).then_some(Reason::NotFound)
    }
}

/// Why no further send of this key is allowed, if so.
fn no_more_sends(contract: &Contract, upstream: &Upstream, pace: Pace, at: &Standing, now: Instant) -> Option<Reason> {
    if limits_spent(contract, at, now) {
        return Some(Reason::LimitsSpent);
    }
    let holds = attempt::window_holds(
        upstream,
        contract.key_window(),
        contract.settle(),
        pace.window_margin,
        key_used_since(at),
        now,
    );
    (!holds).then_some(Reason::KeyWindowClosed)
}

/// Sends or hours; look-ups have their own limit.
pub(super) fn limits_spent(contract: &Contract, at: &Standing, now: Instant) -> bool {
    let sends = u32::try_from(at.sends.len()).unwrap_or(u32::MAX);
    sends >= contract.limits.sends || hours_spent(contract, at, now)
}

fn hours_spent(contract: &Contract, at: &Standing, now: Instant) -> bool {
    let hours = Duration::from_secs(u64::from(contract.limits.hours) * 3600);
    key_used_since(at).is_some_and(|first| now.since(first) > hours)
}

/// From when the key window counts. Where a send may have been lost with a restored database, the key may have been
/// used since the admission.
pub(super) fn key_used_since(at: &Standing) -> Option<Instant> {
    let known = !matches!(at.status, Status::Uncertain | Status::ReconciliationNeeded | Status::FailedRetryable);
    at.first_mark.or_else(|| (!known).then_some(at.admitted_at))
}

pub fn ever_left(at: &Standing) -> bool {
    at.sends.iter().any(|send| send.may_have_left)
}

/// A person's statement waits for a decision; it settles nothing by itself.
fn by_machine(at: &Standing) -> Vec<Evidence> {
    at.evidence.iter().filter(|found| found.source != Source::Statement).cloned().collect()
}

/// Something says that it happened, be it a statement or a receipt that could not be saved.
fn says_executed(at: &Standing) -> bool {
    evidence::says(&at.evidence, Conclusion::Executed) || attempt::any_succeeded(&at.sends)
}

/// What stored evidence says by itself, for an operation that nobody holds.
fn settle_by_evidence(at: &Standing) -> Option<Action> {
    if evidence::says(&at.evidence, Conclusion::Contradicts) {
        return (at.status == Status::Uncertain).then_some(Action::HandToPerson(Reason::Contradicted));
    }
    let by_machine = by_machine(at);
    if evidence::says(&by_machine, Conclusion::Executed) {
        return Some(Action::Conclude(Conclusion::Executed));
    }
    if evidence::says(&by_machine, Conclusion::Refused)
        && !says_executed(at)
        && !attempt::any_open(&at.sends, &by_machine)
    {
        return Some(Action::Conclude(Conclusion::Refused));
    }
    None
}

fn investigate(contract: &Contract, upstream: &Upstream, pace: Pace, at: &Standing, now: Instant) -> Action {
    if let Some(action) = settle_by_evidence(at) {
        return action;
    }
    let by_machine = by_machine(at);
    let proved_not = evidence::says(&by_machine, Conclusion::NotExecuted)
        && !says_executed(at)
        && !attempt::any_open(&at.sends, &by_machine);
    let spent = no_more_sends(contract, upstream, pace, at, now);
    if proved_not {
        return match (contract.class, spent) {
            (Class::Opaque, _) => Action::HandToPerson(Reason::NotFound),
            (_, Some(reason)) => Action::HandToPerson(reason),
            (_, None) => Action::Conclude(Conclusion::NotExecuted),
        };
    }
    let look_up = next_look_up(contract, at, now);
    let may_replay = contract.class != Class::Opaque && spent.is_none() && !at.target.newer_sent;
    match (prefers_replay(contract, at), look_up, may_replay) {
        (true, _, true) | (false, None, true) => replay(pace, at, now),
        (_, Some(_), _) if at.due_at > now => Action::Wait { until: at.due_at, why: Wait::NotDue },
        (_, Some(index), _) => Action::LookUp(index),
        (_, None, false) => Action::HandToPerson(no_way_left(contract, at, spent)),
    }
}

/// After an unknown send a contract that replays first sends again once, then takes turns with its look-ups.
/// An answer that says "still working" is asked about, not repeated.
fn prefers_replay(contract: &Contract, at: &Standing) -> bool {
    let replays_first = match contract.class {
        Class::Read => true,
        Class::Idempotent => contract.key.is_none() || contract.recover() == Recover::ReplayFirst,
        Class::Keyed => contract.recover() == Recover::ReplayFirst,
        Class::Opaque => false,
    };
    let still_working = at.reason == Some(Reason::StillWorking) || at.hint;
    let asked_enough =
        usize::try_from(at.look_ups.since_send).unwrap_or(usize::MAX) >= contract.concluding_look_ups().count();
    replays_first && !still_working && (at.sends.len() <= 1 || asked_enough)
}

fn next_look_up(contract: &Contract, at: &Standing, now: Instant) -> Option<usize> {
    if at.look_ups.answered >= contract.limits.look_ups || hours_spent(contract, at, now) {
        return None;
    }
    let usable: Vec<usize> = contract
        .concluding_look_ups()
        .filter(|(_, look_up)| at.hint || !look_up.path.contains("{hint}"))
        .map(|(index, _)| index)
        .collect();
    let turn = usize::try_from(at.look_ups.made).unwrap_or(0);
    (!usable.is_empty()).then(|| usable[turn % usable.len()])
}

fn replay(pace: Pace, at: &Standing, now: Instant) -> Action {
    let barrier = attempt::open_barrier(&at.sends, &at.evidence);
    match barrier {
        Some(barrier) if barrier >= now => {
            Action::Wait { until: barrier.plus(Duration::from_micros(1)), why: Wait::Barrier }
        }
        _ if at.earlier_contradicted => {
            Action::Wait { until: now.plus(pace.longest_wait), why: Wait::EarlierContradicted }
        }
        _ if at.target.taken => Action::Wait { until: now.plus(TARGET_WAIT), why: Wait::TargetTaken },
        _ if at.due_at > now => Action::Wait { until: at.due_at, why: Wait::NotDue },
        _ => Action::Replay,
    }
}

fn no_way_left(contract: &Contract, at: &Standing, spent: Option<Reason>) -> Reason {
    match (contract.class, contract.can_look_up(), spent) {
        (Class::Opaque, false, _) => Reason::NoLookUp,
        (_, _, Some(reason)) if contract.class != Class::Opaque => reason,
        (_, _, _) if at.target.newer_sent => Reason::Superseded,
        _ => Reason::LimitsSpent,
    }
}

/// The wait after `made` unhelpful tries, with `jitter` in 0..=1000 thousandths: between half and the whole.
pub fn backoff(pace: Pace, made: u32, jitter: u32) -> Duration {
    let whole = pace.first_wait.saturating_mul(1 << made.min(16)).min(pace.longest_wait);
    whole / 2 + (whole / 2) * jitter.min(1000) / 1000
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    fn upstream() -> Upstream {
        toml::from_str("title = 't'\norigin = 'http://a'").unwrap()
    }

    fn contract(class: &str, more: &str) -> Contract {
        toml::from_str(&format!(
            "title = 'T'\nupstream = 'u'\nclass = '{class}'\nintent = 'i:{{a}}'\nsummary = 's'\nrequest = {{ method = 'POST', path = '/' }}\n{more}"
        ))
        .unwrap()
    }

    const KEYED_REPLAY: &str = "key = { window_s = 604800, recover = 'replay_first' }\n";
    const KEYED_LOOK: &str = "key = { window_s = 604800, recover = 'look_up_first' }\n";
    const LOOK: &str = "[[look_up]]\ntitle = 'l'\npath = '/l'\ncarries = 'key'\nauthority = true\nsettle_ms = 5000\n";

    fn lost(number: u32, mark: i64) -> Send {
        let schedule = attempt::schedule(&upstream(), at(mark));
        Send {
            number,
            marked_at: at(mark),
            barrier: schedule.barrier,
            ending: Some(Ending::Unknown),
            may_have_left: true,
        }
    }

    fn standing(status: Status, sends: Vec<Send>) -> Standing {
        Standing {
            status,
            reason: None,
            admitted_at: at(0),
            first_mark: sends.first().map(|send| send.marked_at),
            due_at: at(0),
            held: false,
            lease_until: None,
            sends,
            evidence: vec![],
            look_ups: LookUps::default(),
            target: Target::default(),
            earlier_contradicted: false,
            hint: false,
        }
    }

    fn next(contract: &Contract, standing: &Standing, now: i64) -> Action {
        next_action(contract, &upstream(), Pace::default(), standing, at(now))
    }

    fn found(conclusion: Conclusion, as_of: i64, source: Source) -> Evidence {
        Evidence { source, conclusion, as_of: at(as_of), settle: Duration::from_secs(5) }
    }

    #[test]
    fn an_opaque_action_without_look_up_goes_to_a_person_at_once_and_is_never_sent_again() {
        let contract = contract("opaque", "");
        let standing = standing(Status::Uncertain, vec![lost(1, 0)]);
        for now in [1, 100, 100_000] {
            assert_eq!(next(&contract, &standing, now), Action::HandToPerson(Reason::NoLookUp));
        }
    }

    #[test]
    fn a_replay_waits_until_nothing_of_the_first_send_can_be_alive() {
        let contract = contract("keyed", KEYED_REPLAY);
        let standing = standing(Status::Uncertain, vec![lost(1, 0)]);
        assert!(matches!(next(&contract, &standing, 5), Action::Wait { why: Wait::Barrier, .. }));
        assert_eq!(next(&contract, &standing, 14), Action::Replay);
    }

    #[test]
    fn look_up_first_asks_first_and_replays_when_nothing_is_left_to_ask() {
        let contract = contract("keyed", &format!("{KEYED_LOOK}{LOOK}"));
        let mut standing = standing(Status::Uncertain, vec![lost(1, 0)]);
        assert_eq!(next(&contract, &standing, 1), Action::LookUp(0));
        standing.look_ups = LookUps { answered: 6, made: 6, since_send: 6 };
        assert_eq!(next(&contract, &standing, 20), Action::Replay);
    }

    #[test]
    fn after_a_lost_replay_the_look_ups_have_their_turn() {
        let contract = contract("keyed", &format!("{KEYED_REPLAY}{LOOK}"));
        let mut standing = standing(Status::Uncertain, vec![lost(1, 0), lost(2, 20)]);
        assert_eq!(next(&contract, &standing, 40), Action::LookUp(0));
        standing.look_ups = LookUps { answered: 1, made: 1, since_send: 1 };
        assert_eq!(next(&contract, &standing, 40), Action::Replay);
    }

    #[test]
    fn still_working_is_asked_about_and_not_repeated() {
        let contract = contract("keyed", &format!("{KEYED_REPLAY}{LOOK}"));
        let mut standing = standing(Status::Uncertain, vec![lost(1, 0)]);
        standing.reason = Some(Reason::StillWorking);
        assert_eq!(next(&contract, &standing, 40), Action::LookUp(0));
    }

    #[test]
    fn evidence_settles_or_makes_due_again_only_when_every_attempt_is_closed() {
        let contract = contract("keyed", &format!("{KEYED_LOOK}{LOOK}"));
        let mut standing = standing(Status::Uncertain, vec![lost(1, 0)]);
        standing.evidence = vec![found(Conclusion::NotExecuted, 10, Source::LookUp)];
        assert_eq!(next(&contract, &standing, 10), Action::LookUp(0), "as of before barrier and settle");
        standing.evidence = vec![found(Conclusion::NotExecuted, 18, Source::LookUp)];
        assert_eq!(next(&contract, &standing, 18), Action::Conclude(Conclusion::NotExecuted));
        standing.evidence.push(found(Conclusion::Executed, 19, Source::Webhook));
        assert_eq!(next(&contract, &standing, 19), Action::Conclude(Conclusion::Executed));
        standing.evidence.push(found(Conclusion::Contradicts, 19, Source::LookUp));
        assert_eq!(next(&contract, &standing, 19), Action::HandToPerson(Reason::Contradicted));
    }

    #[test]
    fn a_bare_statement_settles_nothing_by_itself() {
        let contract = contract("keyed", KEYED_LOOK);
        let mut standing = standing(Status::ReconciliationNeeded, vec![lost(1, 0)]);
        standing.evidence = vec![found(Conclusion::Executed, 100, Source::Statement)];
        assert_eq!(next(&contract, &standing, 100), Action::Nothing);
    }

    #[test]
    fn after_the_key_window_nothing_is_replayed() {
        let contract = contract("keyed", &format!("{KEYED_REPLAY}limits = {{ hours = 1000 }}\n"));
        let standing = standing(Status::Uncertain, vec![lost(1, 0)]);
        let week = 7 * 24 * 3600;
        assert_eq!(next(&contract, &standing, week + 60), Action::HandToPerson(Reason::KeyWindowClosed));
        assert_eq!(next(&contract, &standing, week - 7_000), Action::Replay);
        assert_eq!(
            next(&contract, &standing, week - 6_000),
            Action::HandToPerson(Reason::KeyWindowClosed),
            "1 % margin"
        );
    }

    #[test]
    fn limits_spent_with_nothing_ever_sent_give_up_and_else_ask_a_person() {
        let contract = contract("keyed", KEYED_REPLAY);
        let mut bounced: Vec<Send> = (1..=5).map(|n| lost(n, 0)).collect();
        for send in &mut bounced {
            send.ending = Some(Ending::NotSent);
            send.may_have_left = false;
        }
        let mut standing = standing(Status::FailedRetryable, bounced);
        assert_eq!(next(&contract, &standing, 100), Action::GiveUp(Reason::LimitsSpent));
        standing.sends[2].may_have_left = true;
        assert_eq!(next(&contract, &standing, 100), Action::HandToPerson(Reason::LimitsSpent));
    }

    #[test]
    fn an_older_operation_is_never_sent_after_a_newer_one_on_its_target() {
        let contract = contract("idempotent", "target = 'group:{a}'\n");
        let mut standing = standing(Status::Pending, vec![]);
        standing.target = Target { newer_sent: true, taken: false };
        assert_eq!(next(&contract, &standing, 1), Action::Supersede);
        standing.target = Target { newer_sent: false, taken: true };
        assert!(matches!(next(&contract, &standing, 1), Action::Wait { why: Wait::TargetTaken, .. }));
    }

    #[test]
    fn nothing_is_done_for_what_a_person_holds() {
        let contract = contract("keyed", &format!("{KEYED_REPLAY}{LOOK}"));
        for status in Status::ALL.iter().copied() {
            let mut standing = standing(status, vec![lost(1, 0)]);
            standing.held = true;
            standing.evidence = vec![found(Conclusion::Executed, 100, Source::LookUp)];
            assert_eq!(next(&contract, &standing, 1_000), Action::Nothing, "{status}");
        }
    }

    #[test]
    fn a_lease_that_ran_out_begins_an_investigation() {
        let contract = contract("keyed", KEYED_REPLAY);
        let mut standing = standing(Status::Executing, vec![lost(1, 0)]);
        standing.lease_until = Some(at(30));
        assert_eq!(next(&contract, &standing, 29), Action::Wait { until: at(30), why: Wait::Lease });
        assert_eq!(next(&contract, &standing, 30), Action::LoseWorker);
    }

    #[test]
    fn backoff_grows_stays_between_half_and_whole_and_stops_at_the_longest() {
        let pace = Pace::default();
        assert_eq!(backoff(pace, 0, 0), Duration::from_secs(1));
        assert_eq!(backoff(pace, 0, 1000), Duration::from_secs(2));
        assert_eq!(backoff(pace, 3, 1000), Duration::from_secs(16));
        assert_eq!(backoff(pace, 40, 1000), LONGEST_WAIT);
    }
}
