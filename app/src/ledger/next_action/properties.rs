//! What holds for every standing there can be, and where following the policy leads.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::ledger::attempt::{any_open, schedule};
use crate::ledger::contract::Carries;
use crate::ledger::status::{self, Event};

const LOOK: &str = "[[look_up]]\ntitle = 'l'\npath = '/l'\ncarries = 'key'\nauthority = true\nsettle_ms = 5000\n\
                    [[look_up]]\ntitle = 's'\npath = '/s'\n\
                    [[look_up]]\ntitle = 'h'\npath = '/h/{hint}'\ncarries = 'reference'\n";

/// Every shape of contract: class, key, target and look-ups.
fn shapes() -> Vec<Contract> {
    let key = |recover: &str| format!("key = {{ window_s = 86400, recover = '{recover}' }}\n");
    let target = "target = 't:{a}'\n".to_string();
    let shapes = [
        ("keyed", key("replay_first") + LOOK),
        ("keyed", key("replay_first")),
        ("keyed", key("look_up_first") + LOOK),
        ("keyed", key("look_up_first")),
        ("idempotent", target.clone()),
        ("idempotent", target + &key("look_up_first") + LOOK),
        ("read", String::new()),
        ("opaque", String::new()),
        ("opaque", LOOK.to_string()),
    ];
    let head =
        "title = 'T'\nupstream = 'u'\nintent = 'i:{a}'\nsummary = 's'\nrequest = { method = 'POST', path = '/' }\n";
    shapes.map(|(class, more)| toml::from_str(&format!("class = '{class}'\n{head}{more}")).unwrap()).into()
}

fn upstream() -> Upstream {
    toml::from_str("title = 't'\norigin = 'http://a'").unwrap()
}

fn at(seconds: i64) -> Instant {
    Instant::from_micros(seconds * 1_000_000)
}

fn send(number: u32, mark: Instant, ending: Option<Ending>) -> Send {
    let may_have_left = !matches!(ending, Some(Ending::NotSent | Ending::Local));
    Send { number, marked_at: mark, barrier: schedule(&upstream(), mark).barrier, ending, may_have_left }
}

/// Seconds up to two days, most of them early.
fn seconds() -> impl Strategy<Value = i64> {
    prop_oneof![3 => 0_i64..120, 1 => 0_i64..172_800]
}

/// Sends and evidence lie before `now`; what is pending has not been sent.
fn standings() -> impl Strategy<Value = (Standing, Instant)> {
    let ending = prop_oneof![Just(None), select(Ending::ALL).prop_map(Some)];
    let evidence = (select(Conclusion::ALL), select(Source::ALL), seconds(), 0_u64..10);
    let facts = (select(Status::ALL), proptest::collection::vec((seconds(), ending), 0..7), seconds(), seconds());
    let rest = (
        proptest::collection::vec(evidence, 0..4),
        (0_u32..8, 0_u32..12, 0_u32..4),
        any::<(bool, bool, bool, bool)>(),
        select(&[None, Some(Reason::StillWorking), Some(Reason::NoResponse), Some(Reason::Restored)][..]),
        any::<bool>(),
    );
    (facts, rest).prop_map(|((status, mut sends, due, now), (evidence, look_ups, flags, reason, held))| {
        sends.retain(|(mark, _)| *mark <= now && status != Status::Pending);
        sends.sort_by_key(|(mark, _)| *mark);
        let sends: Vec<_> = (1..).zip(sends).map(|(number, (mark, ending))| send(number, at(mark), ending)).collect();
        let evidence = evidence.into_iter().filter(|(_, _, as_of, _)| *as_of <= now);
        let standing = Standing {
            status,
            reason,
            admitted_at: at(0),
            first_mark: sends.first().map(|send| send.marked_at),
            due_at: at(due),
            held,
            lease_until: (due % 2 == 0).then_some(at(due)),
            sends,
            evidence: evidence
                .map(|(conclusion, source, as_of, settle)| Evidence {
                    source,
                    conclusion,
                    as_of: at(as_of),
                    settle: Duration::from_secs(settle),
                })
                .collect(),
            look_ups: LookUps { answered: look_ups.0, made: look_ups.1, since_send: look_ups.2 },
            target: Target { newer_sent: flags.0, taken: flags.1 },
            earlier_contradicted: flags.2,
            hint: flags.3,
        };
        (standing, at(now))
    })
}

/// The event that an action raises, where it moves the operation.
fn event(action: Action, standing: &Standing) -> Option<Event> {
    Some(match action {
        Action::Send => Event::Claim,
        Action::Replay => Event::ClaimReplay,
        Action::LookUp(_) => Event::ClaimLookUp,
        Action::HandToPerson(_) if standing.status == Status::Uncertain => Event::HandToPerson,
        Action::HandToPerson(_) => Event::GiveUp { ever_left: true },
        Action::GiveUp(_) => Event::GiveUp { ever_left: false },
        Action::Supersede => Event::Supersede { ever_left: ever_left(standing) },
        Action::Conclude(Conclusion::Executed) => Event::ProveExecuted,
        Action::Conclude(Conclusion::Refused) => Event::ProveRefused { clean: true },
        Action::Conclude(_) => Event::ProveNotExecuted,
        Action::LoseWorker => Event::Lose,
        Action::Wait { .. } | Action::Nothing => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn an_unsettled_operation_has_a_next_step_a_wait_with_an_end_or_a_person(
        (standing, now) in standings(), contract in select(shapes()),
    ) {
        let action = next_action(&contract, &upstream(), Pace::default(), &standing, now);
        let waits_for_people =
            matches!(standing.status, Status::AwaitingApproval | Status::ReconciliationNeeded);
        if standing.held || standing.status.is_settled() {
            prop_assert_eq!(action, Action::Nothing);
        } else if !waits_for_people {
            prop_assert_ne!(action, Action::Nothing);
        }
        if let Action::Wait { until, .. } = action {
            prop_assert!(until > now, "a wait that is over is no wait");
        }
        if let Some(event) = event(action, &standing) {
            let next = status::next(standing.status, event);
            prop_assert!(next.is_ok(), "{action:?}: {next:?}");
        }
    }

    #[test]
    fn nothing_is_sent_twice_where_twice_could_be_two_effects(
        (standing, now) in standings(), contract in select(shapes()),
    ) {
        let action = next_action(&contract, &upstream(), Pace::default(), &standing, now);
        let unanswered: Vec<_> = standing
            .sends
            .iter()
            .filter(|send| send.may_have_left && !send.ending.is_some_and(Ending::is_conclusive))
            .collect();
        let sends = matches!(action, Action::Send | Action::Replay);
        if contract.class == Class::Opaque {
            prop_assert_ne!(action, Action::Replay);
            prop_assert!(!sends || unanswered.is_empty());
        }
        if action == Action::Send {
            prop_assert!(matches!(standing.status, Status::Pending | Status::FailedRetryable));
            prop_assert!(standing.status == Status::Pending || !says_executed(&standing));
        }
        if action == Action::Replay {
            prop_assert_eq!(standing.status, Status::Uncertain);
            prop_assert!(unanswered.iter().all(|send| send.barrier < now), "one of them may be alive");
        }
        if sends {
            let window = attempt::window_holds(
                &upstream(), contract.key_window(), contract.settle(), Pace::default().window_margin,
                standing.first_mark, now,
            );
            prop_assert!(window, "the partner may have forgotten the key");
            prop_assert!(standing.sends.len() < 5 && standing.due_at <= now);
            prop_assert!(!standing.target.newer_sent && !standing.target.taken && !standing.earlier_contradicted);
        }
    }

    #[test]
    fn a_machine_concludes_only_from_what_closes_every_send(
        (standing, now) in standings(), contract in select(shapes()),
    ) {
        let by_machine = by_machine(&standing);
        let said = |conclusion| evidence::says(&by_machine, conclusion);
        match next_action(&contract, &upstream(), Pace::default(), &standing, now) {
            Action::Conclude(Conclusion::Executed) => {
                prop_assert!(said(Conclusion::Executed) && !said(Conclusion::Contradicts));
            }
            Action::Conclude(conclusion) => {
                prop_assert!(matches!(conclusion, Conclusion::Refused | Conclusion::NotExecuted));
                prop_assert!(said(conclusion) && !any_open(&standing.sends, &by_machine));
                prop_assert!(!says_executed(&standing));
                prop_assert!(conclusion == Conclusion::Refused || contract.class != Class::Opaque);
            }
            Action::LookUp(index) => {
                let look_up = &contract.look_ups[index];
                prop_assert_ne!(look_up.carries, Carries::Nothing);
                let can_be_asked = standing.hint || !look_up.path.contains("{hint}");
                prop_assert!(can_be_asked);
            }
            _ => {}
        }
    }

    #[test]
    fn the_window_closes_exactly_when_it_stops_to_hold(
        first in 0_i64..1000, mark in 0_i64..200_000, window_s in 1000_u64..100_000, settle_s in 0_u64..100,
    ) {
        let (window, settle) = (Some(Duration::from_secs(window_s)), Duration::from_secs(settle_s));
        let margin = Duration::from_secs(600);
        let holds = attempt::window_holds(&upstream(), window, settle, margin, Some(at(first)), at(mark));
        let closes = attempt::window_closes(&upstream(), window, settle, margin, Some(at(first))).unwrap();
        prop_assert_eq!(holds, at(mark) <= closes);
    }
}

fn after_one_lost_send() -> Standing {
    Standing {
        status: Status::Uncertain,
        reason: Some(Reason::NoResponse),
        admitted_at: at(0),
        first_mark: Some(at(0)),
        due_at: at(0),
        held: false,
        lease_until: None,
        sends: vec![send(1, at(0), Some(Ending::Unknown))],
        evidence: vec![],
        look_ups: LookUps::default(),
        target: Target::default(),
        earlier_contradicted: false,
        hint: false,
    }
}

/// Follows the policy while every send is lost and every look-up comes back `readable` but without a finding.
/// Gives the reason for which it ends at a person, and how often it was sent.
fn follow(contract: &Contract, readable: bool) -> (Reason, usize) {
    const MOST_STEPS: usize = 2000;
    let mut standing = after_one_lost_send();
    let (mut now, pace) = (at(0), Pace::default());
    for _ in 0..MOST_STEPS {
        match next_action(contract, &upstream(), pace, &standing, now) {
            Action::Wait { until, .. } => now = until,
            Action::LookUp(_) => {
                standing.look_ups.made += 1;
                standing.look_ups.since_send += 1;
                standing.look_ups.answered += u32::from(readable);
                standing.due_at = now.plus(backoff(pace, standing.look_ups.made, 1000));
            }
            Action::Replay => {
                let number = u32::try_from(standing.sends.len()).unwrap() + 1;
                standing.sends.push(send(number, now, Some(Ending::Unknown)));
                standing.look_ups.since_send = 0;
                standing.due_at = now.plus(backoff(pace, number, 1000));
            }
            Action::HandToPerson(reason) => return (reason, standing.sends.len()),
            other => panic!("{:?} does {other:?} over an unknown outcome", contract.class),
        }
    }
    panic!("{:?} never reaches a person", contract.class)
}

/// REC-06: look-ups that fail find nothing out, and yet the hours run; nobody waits for ever.
#[test]
fn an_outage_without_end_reaches_a_person_under_every_contract() {
    for contract in shapes() {
        for readable in [false, true] {
            let (reason, sends) = follow(&contract, readable);
            let expected = match (contract.class, contract.can_look_up()) {
                (Class::Opaque, false) => Reason::NoLookUp,
                _ => Reason::LimitsSpent,
            };
            // 24 h of key window end before 48 h of limits where the look-ups go unread.
            let ends = [expected, Reason::KeyWindowClosed];
            assert!(ends.contains(&reason), "{:?} {reason}", contract.class);
            assert!(sends <= 5 && (contract.class != Class::Opaque || sends == 1), "{:?} {sends}", contract.class);
        }
    }
}

/// DUP-04: with a key the same request again, or a question; without either a person at once.
#[test]
fn a_connection_that_broke_is_asked_about_or_repeated_under_its_key_or_handed_over() {
    let standing = after_one_lost_send();
    let after = |contract: &Contract| next_action(contract, &upstream(), Pace::default(), &standing, at(60));
    let [replay_first, _, look_up_first, .., blind, _] = <[Contract; 9]>::try_from(shapes()).unwrap();
    assert_eq!(after(&replay_first), Action::Replay);
    assert_eq!(after(&look_up_first), Action::LookUp(0));
    assert_eq!(after(&blind), Action::HandToPerson(Reason::NoLookUp));
}

#[test]
fn a_replay_waits_for_the_last_barrier_to_the_microsecond() {
    let mut standing = after_one_lost_send();
    standing.sends.push(send(2, at(20), None));
    standing.look_ups.since_send = 9;
    let barrier = standing.sends[1].barrier;
    let next = |now| next_action(&shapes()[0], &upstream(), Pace::default(), &standing, now);
    let after = barrier.plus(Duration::from_micros(1));
    for now in [at(20), at(14), barrier.minus(Duration::from_micros(1)), barrier] {
        assert_eq!(next(now), Action::Wait { until: after, why: Wait::Barrier }, "{now}");
    }
    assert_eq!(next(after), Action::Replay);
}

/// A restored database may have lost the marks; the key may then be as old as the admission.
#[test]
fn after_a_restore_the_key_window_counts_from_the_admission() {
    let standing =
        Standing { first_mark: None, sends: vec![], reason: Some(Reason::Restored), ..after_one_lost_send() };
    let contract = &shapes()[1];
    let after = |seconds| next_action(contract, &upstream(), Pace::default(), &standing, at(seconds));
    assert_eq!(after(60), Action::Replay);
    assert_eq!(after(86_400), Action::HandToPerson(Reason::KeyWindowClosed));
}

#[test]
fn a_statement_makes_nothing_due_again() {
    let said = Evidence {
        source: Source::Statement,
        conclusion: Conclusion::NotExecuted,
        as_of: at(60),
        settle: Duration::ZERO,
    };
    let standing = Standing { evidence: vec![said], ..after_one_lost_send() };
    let after = next_action(&shapes()[2], &upstream(), Pace::default(), &standing, at(60));
    assert_eq!(after, Action::LookUp(0));
}

/// A look-up said no, so it was due again; then a webhook said yes.
#[test]
fn word_that_it_happened_stops_a_repeat_that_was_due() {
    let executed =
        Evidence { source: Source::Webhook, conclusion: Conclusion::Executed, as_of: at(70), settle: Duration::ZERO };
    let mut standing = Standing { status: Status::FailedRetryable, ..after_one_lost_send() };
    let next = |standing: &Standing| next_action(&shapes()[2], &upstream(), Pace::default(), standing, at(80));
    assert_eq!(next(&standing), Action::Send);
    standing.evidence = vec![executed];
    assert_eq!(next(&standing), Action::HandToPerson(Reason::Contradicted));
    standing.status = Status::ReconciliationNeeded;
    assert_eq!(next(&standing), Action::Conclude(Conclusion::Executed), "and from there it settles");
}
