//! One step of automation: take the most urgent operation of an upstream, ask the policy, do what it says.
//!
//! A step takes no input but the upstream: it looks. Safe to run at any time, twice, or after a crash; its retry is its
//! next run. Invariant: workers hold no policy.

use std::time::Duration;

use app::ledger::attempt::{Ending, Kind};
use app::ledger::evidence::{Conclusion, Source};
use app::ledger::instant::Instant;
use app::ledger::json::Json;
use app::ledger::next_action::{Action, ever_left, next_action};
use app::ledger::reason::Reason;
use app::ledger::status::{Event, Status};

use super::audit::Note;
use super::look_up::{self, Asked};
use super::send::{self, Marked};
use super::standing::{self, Loaded};
use super::transition::{Change, apply, reschedule};
use super::{Actor, Ledger, Result, approve};
use crate::connector::BootInstant;
use crate::store::codec::{At, Word};
use crate::store::{Tx, attempts, operations, upstreams};

/// How long an operation of a paused upstream sleeps before the flag is read again.
const PAUSED_WAIT: Duration = Duration::from_secs(2);

/// What a step leaves to do outside the transaction.
#[derive(Debug)]
pub enum Step {
    Send(Box<Marked>),
    Ask(Box<Asked>),
    /// Something was written; there may be more.
    Worked,
    /// Nothing was due.
    Idle,
}

/// Which operations a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// What goes out for the first time, or again after proof.
    Dispatch,
    /// What is unknown.
    Recover,
}

impl Ledger {
    /// Takes one operation and does it to the end: marks, sends, records. False when nothing was due.
    pub async fn step(&self, upstream: &str, lane: Lane) -> Result<bool> {
        match self.begin_step(upstream, lane).await? {
            Step::Send(marked) => self.send(*marked).await,
            Step::Ask(asked) => self.ask(*asked).await,
            Step::Worked => {}
            Step::Idle => return Ok(false),
        }
        Ok(true)
    }

    /// The part of a step that is one transaction.
    pub async fn begin_step(&self, upstream: &str, lane: Lane) -> Result<Step> {
        crate::in_transaction!(self, |tx| self.step_in(tx, upstream, lane, send::before_mark()).await)
    }

    async fn step_in(
        &self,
        tx: &mut Tx,
        upstream: &str,
        lane: Lane,
        before: (BootInstant, tokio::time::Instant),
    ) -> Result<Step> {
        let now = tx.now(&self.clock).await?;
        let Some(row) = operations::claim_due(tx, upstream, At(now), lane == Lane::Dispatch).await? else {
            return Ok(Step::Idle);
        };
        let state = upstreams::find_shared(tx, upstream).await?;
        let may_send = state.as_ref().is_none_or(upstreams::UpstreamState::may_send);
        let may_ask = state.as_ref().is_none_or(|state| !state.look_ups_paused);
        let mut loaded = standing::load(tx, self, row).await?;
        let action = next_action(&loaded.contract, &loaded.upstream, self.settings.pace, &loaded.standing, now);
        match action {
            Action::Send | Action::Replay if !may_send => self.sleep(tx, loaded, now.plus(PAUSED_WAIT)).await,
            Action::LookUp(_) if !may_ask => self.sleep(tx, loaded, now.plus(PAUSED_WAIT)).await,
            Action::Send | Action::Replay => {
                if let Some(step) = self.refuse_changed(tx, &mut loaded, now).await? {
                    return Ok(step);
                }
                let event = if action == Action::Send { Event::Claim } else { Event::ClaimReplay };
                Ok(Step::Send(Box::new(send::mark(tx, self, loaded, event, before).await?)))
            }
            Action::LookUp(index) => {
                Ok(Step::Ask(Box::new(look_up::mark(tx, self, loaded, index, None, before).await?)))
            }
            Action::Wait { until, .. } => self.sleep(tx, loaded, until).await,
            Action::Nothing => {
                reschedule(tx, &mut loaded.row, None).await?;
                Ok(Step::Worked)
            }
            settled => self.move_by_policy(tx, loaded, settled, now).await,
        }
    }

    async fn sleep(&self, tx: &mut Tx, mut loaded: Loaded, until: Instant) -> Result<Step> {
        reschedule(tx, &mut loaded.row, Some(until)).await?;
        Ok(Step::Worked)
    }

    /// Right before a send the fingerprint is computed again from the row; what is not what was admitted and approved
    /// is not sent.
    async fn refuse_changed(&self, tx: &mut Tx, loaded: &mut Loaded, now: Instant) -> Result<Option<Step>> {
        let fingerprint = loaded.fingerprint_now()?;
        let row = &mut loaded.row;
        let approved = row.approved_fingerprint.as_deref().unwrap_or(&row.fingerprint);
        if approved == fingerprint.as_str() && row.fingerprint == fingerprint.as_str() {
            return Ok(None);
        }
        tracing::error!(operation = %row.id, "the stored parameters are not what was approved; nothing is sent");
        let seen = (row.fence, row.version);
        let actor = Actor::worker(self.worker(), &row.correlation_id);
        if *row.status != Status::Pending {
            // An earlier attempt of this key may exist: a person looks at both.
            let event = match *row.status {
                Status::Uncertain => Event::HandToPerson,
                _ => Event::GiveUp { ever_left: true },
            };
            apply(
                tx,
                self,
                row,
                seen,
                Change { event, reason: Some(Reason::ApprovalVoid), due: now, actor: &actor, note: Note::default() },
            )
            .await?;
            return Ok(Some(Step::Worked));
        }
        row.approved_fingerprint = None;
        let proposal = approve::propose_send(self, row, Reason::ApprovalVoid, now);
        row.proposal_id = Some(proposal.id);
        apply(
            tx,
            self,
            row,
            seen,
            Change {
                event: Event::VoidApproval,
                reason: Some(Reason::ApprovalVoid),
                due: now,
                actor: &actor,
                note: Note::default(),
            },
        )
        .await?;
        crate::store::proposals::insert(tx, &proposal).await?;
        Ok(Some(Step::Worked))
    }

    /// What the policy settles or hands over without asking anybody.
    async fn move_by_policy(&self, tx: &mut Tx, mut loaded: Loaded, action: Action, now: Instant) -> Result<Step> {
        let left = ever_left(&loaded.standing);
        let seen = (loaded.row.fence, loaded.row.version);
        let retryable = *loaded.row.status == Status::FailedRetryable;
        let (event, reason) = match action {
            Action::HandToPerson(reason) if retryable => (Event::GiveUp { ever_left: true }, reason),
            Action::HandToPerson(reason) => (Event::HandToPerson, reason),
            Action::GiveUp(reason) => (Event::GiveUp { ever_left: false }, reason),
            Action::Supersede => (Event::Supersede { ever_left: left }, Reason::Superseded),
            Action::Conclude(Conclusion::Executed) => {
                self.take_outputs(tx, &mut loaded, now).await?;
                (Event::ProveExecuted, Reason::FoundExecuted)
            }
            Action::Conclude(Conclusion::Refused) => (Event::ProveRefused { clean: true }, Reason::RefusedByPartner),
            Action::Conclude(_) => (Event::ProveNotExecuted, Reason::ProvedNotExecuted),
            Action::LoseWorker => {
                self.end_lost_attempts(tx, &loaded, now).await?;
                loaded.row.fence += 1;
                (Event::Lose, Reason::WorkerLost)
            }
            Action::Send | Action::Replay | Action::LookUp(_) | Action::Wait { .. } | Action::Nothing => {
                return Ok(Step::Worked);
            }
        };
        let actor = Actor::worker(self.worker(), &loaded.row.correlation_id);
        let note = Note { recovery_step: Some("policy"), ..Note::default() };
        apply(tx, self, &mut loaded.row, seen, Change { event, reason: Some(reason), due: now, actor: &actor, note })
            .await?;
        if event == Event::ProveNotExecuted {
            super::transition::release_target(tx, &loaded.row).await?;
        }
        self.nudge(&loaded.row.upstream);
        Ok(Step::Worked)
    }

    /// The result of an effect that was found instead of received.
    pub(super) async fn take_outputs(&self, tx: &mut Tx, loaded: &mut Loaded, now: Instant) -> Result<()> {
        let executed = |found: &&crate::store::evidence::Evidence| *found.conclusion == Conclusion::Executed;
        let by_system = loaded.evidence.iter().rev().filter(executed).find(|found| *found.source != Source::Statement);
        let Some(found) = by_system.or_else(|| loaded.evidence.iter().rev().find(executed)) else { return Ok(()) };
        let Ok(fields) = Json::parse(found.fields.as_bytes()) else { return Ok(()) };
        let id = fields.get("id").and_then(Json::as_str).map(str::to_string);
        let outputs = match fields.get("outputs").and_then(Json::as_object) {
            Some(outputs) => outputs.to_vec(),
            None => loaded
                .contract
                .receipt
                .outputs
                .keys()
                .filter_map(|name| {
                    let known = fields.get(name).cloned().or_else(|| id.as_deref().map(Json::from))?;
                    Some((name.clone(), known))
                })
                .collect(),
        };
        send::keep_result(&mut loaded.row, id.as_deref(), &outputs);
        if loaded.contract.receipt.secret.is_some() {
            send::keep_key(tx, &mut loaded.row, now).await?;
        }
        Ok(())
    }

    /// No begin without an end: the lost worker's attempt ends as unknown. Should it wake up, what it knows is evidence.
    async fn end_lost_attempts(&self, tx: &mut Tx, loaded: &Loaded, now: Instant) -> Result<()> {
        for open in loaded.attempts.iter().filter(|a| a.ended_at.is_none() && *a.kind == Kind::Send) {
            let mut ended = open.clone();
            ended.ended_at = Some(At(now));
            ended.ending = Some(Word(Ending::Unknown));
            ended.reason = Some(Word(Reason::WorkerLost));
            attempts::finish(tx, &ended).await?;
        }
        Ok(())
    }
}
