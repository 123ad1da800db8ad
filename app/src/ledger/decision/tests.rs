use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::ledger::attempt::{Ending, Send, schedule};
use crate::ledger::contract::Catalog;
use crate::ledger::next_action::{Action, LookUps, Target, next_action};
use crate::ledger::status;

const GATE: &str = include_str!("../../../../server/catalog/gate.toml");

/// With Gate's times a send that is marked at 0 has its barrier at 13 s.
const BARRIER: i64 = 13;
const WEEK: i64 = 7 * 24 * 3600;

struct Desk {
    upstream: Upstream,
    contract: Contract,
    pace: Pace,
}

fn desk(name: &str) -> Desk {
    let mut catalog = Catalog::load(GATE, "gate.toml").unwrap();
    let mut contract = catalog.contracts.remove(name).unwrap();
    contract.limits.hours = 1000;
    Desk { upstream: catalog.upstreams.remove("gate").unwrap(), contract, pace: Pace::default() }
}

fn at(seconds: i64) -> Instant {
    Instant::from_micros(seconds * 1_000_000)
}

fn found(conclusion: Conclusion, as_of: i64, source: Source) -> Evidence {
    let settle = if source == Source::LookUp { Duration::from_secs(5) } else { Duration::ZERO };
    Evidence { source, conclusion, as_of: at(as_of), settle }
}

impl Desk {
    fn lost(&self, number: u32, mark: i64) -> Send {
        Send {
            number,
            marked_at: at(mark),
            barrier: schedule(&self.upstream, at(mark)).barrier,
            ending: Some(Ending::Unknown),
            may_have_left: true,
        }
    }

    /// Unknown after one lost send at 0, with this evidence.
    fn standing(&self, evidence: &[Evidence]) -> Standing {
        Standing {
            status: Status::Uncertain,
            reason: None,
            admitted_at: at(0),
            first_mark: Some(at(0)),
            due_at: at(0),
            held: true,
            lease_until: None,
            sends: vec![self.lost(1, 0)],
            evidence: evidence.to_vec(),
            look_ups: LookUps::default(),
            target: Target::default(),
            earlier_contradicted: false,
            hint: false,
        }
    }

    fn gates(&self, outcome: Outcome, standing: &Standing, now: i64) -> Vec<(Gate, Met)> {
        let asking = Asking { holds: true, proposal_open: false };
        gates(outcome, &self.contract, &self.upstream, self.pace, standing, asking, at(now))
    }

    /// The gates that are not open.
    fn shut(&self, outcome: Outcome, standing: &Standing, now: i64) -> Vec<(Gate, Met)> {
        self.gates(outcome, standing, now).into_iter().filter(|(_, met)| *met != Met::Yes).collect()
    }
}

const NOT_OUTCOMES: [Outcome; 2] = [Outcome::SendAgain, Outcome::Close];

#[test]
fn each_outcome_has_its_gates_in_one_order() {
    use Gate::*;
    let desk = desk("top_up_credit");
    let asked = |outcome| desk.gates(outcome, &desk.standing(&[]), 1).into_iter().map(|(gate, _)| gate).collect();
    let executed: Vec<Gate> = asked(Outcome::Executed);
    assert_eq!(executed, [Undecided, Held, NoProposal, SaysExecuted]);
    let close: Vec<Gate> = asked(Outcome::Close);
    assert_eq!(close, [Undecided, Held, NoProposal, NothingInFlight, NothingSaysExecuted, SaysNotExecuted]);
    let again: Vec<Gate> = asked(Outcome::SendAgain);
    assert_eq!(again, [close.as_slice(), &[RepeatIsSafe, WindowOpen, SendsLeft]].concat());
}

#[test]
fn with_the_evidence_it_needs_every_outcome_is_open() {
    let desk = desk("top_up_credit");
    for source in Source::ALL.iter().copied() {
        let happened = desk.standing(&[found(Conclusion::Executed, 1, source)]);
        assert!(is_open(&desk.gates(Outcome::Executed, &happened, 1)), "{source}");
        let not = desk.standing(&[found(Conclusion::NotExecuted, 18, source)]);
        for outcome in NOT_OUTCOMES {
            assert!(is_open(&desk.gates(outcome, &not, 20)), "{outcome} {source}");
        }
    }
    let refused = desk.standing(&[found(Conclusion::Refused, 18, Source::LookUp)]);
    assert!(is_open(&desk.gates(Outcome::Close, &refused, 20)));
    assert_eq!(desk.shut(Outcome::SendAgain, &refused, 20), [(Gate::SaysNotExecuted, Met::No)]);
}

#[test]
fn only_what_is_unknown_or_waits_for_a_person_is_decided() {
    let desk = desk("top_up_credit");
    for status in Status::ALL.iter().copied() {
        for outcome in Outcome::ALL.iter().copied() {
            let conclusion = if outcome == Outcome::Executed { Conclusion::Executed } else { Conclusion::NotExecuted };
            let standing = Standing { status, ..desk.standing(&[found(conclusion, 18, Source::LookUp)]) };
            let open = is_open(&desk.gates(outcome, &standing, 20));
            assert_eq!(open, matches!(status, Status::Uncertain | Status::ReconciliationNeeded), "{status} {outcome}");
        }
    }
}

#[test]
fn one_who_does_not_hold_it_and_one_whose_proposal_waits_decide_nothing() {
    let desk = desk("top_up_credit");
    for outcome in Outcome::ALL.iter().copied() {
        for (holds, proposal_open, gate) in [(false, false, Gate::Held), (true, true, Gate::NoProposal)] {
            let gates = gates(
                outcome,
                &desk.contract,
                &desk.upstream,
                desk.pace,
                &desk.standing(&[]),
                Asking { holds, proposal_open },
                at(1),
            );
            assert!(gates.contains(&(gate, Met::No)), "{outcome}");
        }
    }
}

#[test]
fn it_happened_needs_evidence_and_nothing_else() {
    let desk = desk("send_message");
    let shut = [(Gate::SaysExecuted, Met::No)];
    assert_eq!(desk.shut(Outcome::Executed, &desk.standing(&[]), 1), shut);
    for conclusion in Conclusion::ALL.iter().copied().filter(|c| *c != Conclusion::Executed) {
        let standing = desk.standing(&[found(conclusion, 99, Source::Report)]);
        assert_eq!(desk.shut(Outcome::Executed, &standing, 100), shut, "{conclusion}");
    }
    let standing = desk.standing(&[found(Conclusion::Executed, 1, Source::PartnerReference)]);
    assert!(is_open(&desk.gates(Outcome::Executed, &standing, WEEK * 9)), "an effect is an effect at any age");
}

#[test]
fn it_did_not_happen_stays_shut_while_something_may_be_on_its_way() {
    let desk = desk("top_up_credit");
    let standing = desk.standing(&[]);
    for outcome in NOT_OUTCOMES {
        for now in [0, 5, BARRIER] {
            let later = (Gate::NothingInFlight, Met::Later(at(BARRIER)));
            assert!(desk.shut(outcome, &standing, now).contains(&later), "{outcome} {now}");
        }
        assert_eq!(desk.shut(outcome, &standing, BARRIER + 1), [(Gate::SaysNotExecuted, Met::No)]);
    }
    let mut bounced = desk.standing(&[found(Conclusion::NotExecuted, 1, Source::Statement)]);
    bounced.sends[0].may_have_left = false;
    bounced.sends[0].ending = Some(Ending::NotSent);
    assert!(is_open(&desk.gates(Outcome::Close, &bounced, 2)), "what never left has no barrier");
}

#[test]
fn evidence_counts_only_as_of_after_every_barrier_and_the_settle_time() {
    let desk = desk("top_up_credit");
    for (as_of, source, counts) in [
        (BARRIER + 4, Source::LookUp, false),
        (BARRIER + 5, Source::LookUp, true),
        (BARRIER - 1, Source::Statement, false),
        (BARRIER, Source::Statement, true),
        (1, Source::Report, false),
    ] {
        let standing = desk.standing(&[found(Conclusion::NotExecuted, as_of, source)]);
        for outcome in NOT_OUTCOMES {
            assert_eq!(is_open(&desk.gates(outcome, &standing, 60)), counts, "{outcome} {source} {as_of}");
        }
    }
    let mut twice = desk.standing(&[found(Conclusion::NotExecuted, 20, Source::LookUp)]);
    twice.sends.push(desk.lost(2, 30));
    assert_eq!(
        desk.shut(Outcome::Close, &twice, 60),
        [(Gate::SaysNotExecuted, Met::No)],
        "proof of the first send only"
    );
}

#[test]
fn nobody_closes_over_evidence_that_it_happened() {
    let desk = desk("top_up_credit");
    for source in Source::ALL.iter().copied() {
        let both = [found(Conclusion::NotExecuted, 20, Source::LookUp), found(Conclusion::Executed, 1, source)];
        for outcome in NOT_OUTCOMES {
            assert_eq!(desk.shut(outcome, &desk.standing(&both), 60), [(Gate::NothingSaysExecuted, Met::No)]);
        }
    }
    let mut unsaved = desk.standing(&[found(Conclusion::NotExecuted, 20, Source::LookUp)]);
    unsaved.sends[0].ending = Some(Ending::Succeeded);
    assert_eq!(desk.shut(Outcome::Close, &unsaved, 60), [(Gate::NothingSaysExecuted, Met::No)], "a receipt says so");
}

#[test]
fn an_opaque_action_is_closed_and_never_sent_again() {
    let desk = desk("send_message");
    let standing = desk.standing(&[found(Conclusion::NotExecuted, 20, Source::Statement)]);
    assert!(is_open(&desk.gates(Outcome::Close, &standing, 60)));
    assert_eq!(desk.shut(Outcome::SendAgain, &standing, 60), [(Gate::RepeatIsSafe, Met::No)]);
}

#[test]
fn what_a_newer_one_overtook_on_its_target_is_not_sent_again() {
    let desk = desk("set_spend_limit");
    let mut standing = desk.standing(&[found(Conclusion::NotExecuted, 20, Source::LookUp)]);
    assert!(is_open(&desk.gates(Outcome::SendAgain, &standing, 60)));
    standing.target.newer_sent = true;
    assert_eq!(desk.shut(Outcome::SendAgain, &standing, 60), [(Gate::RepeatIsSafe, Met::No)]);
    assert!(is_open(&desk.gates(Outcome::Close, &standing, 60)));
}

#[test]
fn after_the_key_window_it_can_be_closed_and_not_sent_again() {
    let desk = desk("top_up_credit");
    let standing = desk.standing(&[found(Conclusion::NotExecuted, 20, Source::LookUp)]);
    // 13 s of life, 5 s settle and 1 % of the week.
    let last = WEEK - WEEK / 100 - 18;
    assert!(is_open(&desk.gates(Outcome::SendAgain, &standing, last)));
    assert_eq!(desk.shut(Outcome::SendAgain, &standing, last + 1), [(Gate::WindowOpen, Met::No)]);
    assert!(is_open(&desk.gates(Outcome::Close, &standing, WEEK * 9)));

    let restored = Standing { sends: vec![], first_mark: None, ..standing };
    assert_eq!(
        desk.shut(Outcome::SendAgain, &restored, last + 1),
        [(Gate::WindowOpen, Met::No)],
        "a mark that was lost may be as old as the admission"
    );
}

#[test]
fn with_sends_or_hours_spent_it_can_be_closed_and_not_sent_again() {
    let mut desk = desk("top_up_credit");
    let mut standing = desk.standing(&[found(Conclusion::NotExecuted, 20, Source::LookUp)]);
    let first = standing.sends[0].clone();
    standing.sends = vec![first; 5];
    assert_eq!(desk.shut(Outcome::SendAgain, &standing, 60), [(Gate::SendsLeft, Met::No)]);
    assert!(is_open(&desk.gates(Outcome::Close, &standing, 60)));
    standing.sends.truncate(4);
    assert!(is_open(&desk.gates(Outcome::SendAgain, &standing, 60)));
    desk.contract.limits.hours = 48;
    assert_eq!(desk.shut(Outcome::SendAgain, &standing, 48 * 3600 + 1), [(Gate::SendsLeft, Met::No)]);
}

#[test]
fn who_needs_a_second_person_and_why() {
    use Conclusion::{Executed, NotExecuted, Refused};
    use SecondPerson::*;
    let look_up = |conclusion| vec![found(conclusion, 20, Source::LookUp)];
    let statement = |conclusion| vec![found(conclusion, 20, Source::Statement)];
    let early_then_said = vec![found(NotExecuted, 1, Source::LookUp), found(NotExecuted, 20, Source::Statement)];
    let both = [look_up(Executed), statement(Executed)].concat();
    let irrelevant = [look_up(Conclusion::Inconclusive), statement(NotExecuted)].concat();
    let (again, close, happened) = (Outcome::SendAgain, Outcome::Close, Outcome::Executed);
    let (gate, opaque) = (desk("top_up_credit"), desk("send_message"));
    let rows = [
        (&gate, happened, Risk::Medium, look_up(Executed), false, true, None),
        (&gate, happened, Risk::Low, look_up(Executed), false, true, None),
        (&gate, again, Risk::Medium, look_up(NotExecuted), false, true, None),
        (&gate, close, Risk::Medium, look_up(Refused), false, true, None),
        (&gate, happened, Risk::Medium, both, false, true, None),
        (&gate, happened, Risk::High, look_up(Executed), false, true, Some(HighRisk)),
        (&gate, close, Risk::High, look_up(NotExecuted), false, true, Some(HighRisk)),
        (&gate, happened, Risk::High, look_up(Executed), false, false, Some(NotTheirs)),
        (&gate, happened, Risk::Low, look_up(Executed), false, false, Some(NotTheirs)),
        (&gate, happened, Risk::Low, statement(Executed), false, true, Some(BareStatement)),
        (&gate, close, Risk::Low, statement(NotExecuted), false, true, Some(BareStatement)),
        (&gate, again, Risk::Low, irrelevant, false, true, Some(BareStatement)),
        (&gate, close, Risk::Low, early_then_said, false, true, Some(BareStatement)),
        (&gate, close, Risk::Low, vec![], false, true, Some(BareStatement)),
        (&gate, happened, Risk::Low, look_up(Executed), true, true, Some(BrokenTakeover)),
        (&opaque, close, Risk::Medium, statement(NotExecuted), false, true, Some(NoLookUp)),
        (&opaque, close, Risk::Medium, vec![found(NotExecuted, 20, Source::Report)], false, true, Some(NoLookUp)),
        (&opaque, happened, Risk::Medium, statement(Executed), false, true, Some(BareStatement)),
        (&opaque, happened, Risk::Medium, vec![found(Executed, 1, Source::Report)], false, true, None),
    ];
    for (desk, outcome, risk, evidence, broke, may, expected) in rows {
        let second = second_person(outcome, &desk.contract, risk, &desk.standing(&evidence), broke, may);
        assert_eq!(second, expected, "{outcome} {risk} {evidence:?}");
    }
}

fn any_evidence() -> impl Strategy<Value = Evidence> {
    let conclusion = proptest::sample::select(Conclusion::ALL);
    let source = proptest::sample::select(Source::ALL);
    (conclusion, 0_i64..100, source).prop_map(|(conclusion, as_of, source)| found(conclusion, as_of, source))
}

proptest! {
    #[test]
    fn what_the_gates_allow_the_status_takes_and_the_machine_can_follow(
        status in proptest::sample::select(Status::ALL),
        evidence in proptest::collection::vec(any_evidence(), 0..4),
        which in 0_usize..4, sends in 0_usize..7, newer_sent: bool, now in 0_i64..200_000,
    ) {
        let desk = desk(["top_up_credit", "set_spend_limit", "send_message", "check_wallet"][which]);
        let mut standing = desk.standing(&evidence);
        standing.status = status;
        standing.target.newer_sent = newer_sent;
        standing.sends = (1..).take(sends).map(|number| desk.lost(number, i64::from(number) * 15)).collect();
        standing.first_mark = standing.sends.first().map(|send| send.marked_at);
        for outcome in Outcome::ALL.iter().copied() {
            if !is_open(&desk.gates(outcome, &standing, now)) {
                continue;
            }
            let next = status::next(status, outcome.event());
            prop_assert!(next.is_ok(), "{next:?}");
            if outcome == Outcome::SendAgain {
                prop_assert_ne!(desk.contract.class, Class::Opaque);
                let status = next.unwrap();
                let due = Standing { status, held: false, ..standing.clone() };
                let action = next_action(&desk.contract, &desk.upstream, desk.pace, &due, at(now));
                prop_assert_eq!(action, Action::Send, "a decision that the machine sends back is no decision");
            }
        }
    }
}
