//! A look-up: ask the partner, page by page, and keep what it says as evidence.
//!
//! By a worker for what is uncertain, or by a person for anything that was ever sent. The finding is stored; the next
//! step of the policy acts on it. Invariant: while a person holds the operation only that person's own question goes out.

use std::time::Duration;

use app::ledger::attempt::{self, Ending, Kind};
use app::ledger::contract::LookUp;
use app::ledger::evidence::{Conclusion, Source};
use app::ledger::finding::{self, Found, Page};
use app::ledger::instant::Instant;
use app::ledger::json::Json;
use app::ledger::next_action::backoff;
use app::ledger::reason::Reason;
use app::ledger::render::RenderError;
use app::ledger::roles::{Leave, Matter, Verb};
use app::ledger::status::{Event, Status};
use app::ledger::wire::{NotSent, WireEnd, WireReport};

use super::attach_evidence::{self, NewEvidence};
use super::audit::Note;
use super::send::{self, keep_request_id, new_attempt};
use super::standing::{self, Loaded};
use super::transition::{Change, apply};
use super::{Actor, Error, Ledger, Operator, Result};
use crate::connector::BootInstant;
use crate::ids;
use crate::store::Tx;
use crate::store::attempts::{self, Attempt};
use crate::store::codec::{At, Id, Word};
use crate::store::operations;

/// Pages of one list that are read for one question.
const PAGES: usize = 20;

/// A marked question.
#[derive(Debug)]
pub struct Asked {
    pub loaded: Loaded,
    pub attempt: Attempt,
    pub index: usize,
    pub by: Option<Operator>,
    pub send_by: BootInstant,
    pub deadline: tokio::time::Instant,
}

/// Marks a look-up in the caller's transaction. A worker's raises the fence and takes the lease; a person's does neither.
pub async fn mark(
    tx: &mut Tx,
    ledger: &Ledger,
    mut loaded: Loaded,
    index: usize,
    by: Option<Operator>,
    before: (BootInstant, tokio::time::Instant),
) -> Result<Asked> {
    let now = tx.now(&ledger.clock).await?;
    let schedule = attempt::schedule(&loaded.upstream, now);
    let row = &mut loaded.row;
    let seen = (row.fence, row.version);
    row.attempt_count += 1;
    row.look_ups_made += 1;
    row.look_ups_since_send += 1;
    match &by {
        None => {
            row.fence += 1;
            let lease = schedule.deadline.plus(ledger.settings.lease_beyond);
            row.locked_until = Some(At(lease));
            row.lease_owner = Some(ledger.worker().to_string());
            // Looked at again when the lease is over, should this process die.
            row.next_check_at = Some(At(lease));
        }
        Some(_) => row.holder_acted_at = row.holder_id.map(|_| At(now)),
    }
    row.updated_at = At(now);
    operations::advance(tx, seen, row).await?;
    let asked_by = by.as_ref().map(|who| who.id);
    let attempt = new_attempt(&loaded, ledger.worker(), Kind::LookUp, Some(index), asked_by, now, schedule);
    attempts::insert(tx, &attempt).await?;
    Ok(Asked {
        attempt,
        index,
        by,
        send_by: before.0.plus(Duration::from_millis(loaded.upstream.send_by_ms)),
        deadline: before.1 + Duration::from_millis(loaded.upstream.deadline_ms),
        loaded,
    })
}

/// What all pages together said.
enum Heard {
    Unreadable { class: &'static str, wait: Option<Duration>, credentials: bool },
    Found(Found),
}

impl Ledger {
    /// Asks what was marked and records the finding. Returns when it is saved.
    pub async fn ask(&self, asked: Asked) {
        let (report, heard) = self.hear(&asked).await;
        let mut wait = Duration::from_millis(20);
        while let Err(error) = crate::in_transaction!(self, |tx| self.record_heard(tx, &asked, &report, &heard).await) {
            tracing::error!(operation = %asked.loaded.row.id, %error, "could not save a look-up; trying again");
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(2));
        }
        self.nudge(&asked.loaded.row.upstream);
    }

    async fn hear(&self, asked: &Asked) -> (WireReport, Heard) {
        let loaded = &asked.loaded;
        let look_up = &loaded.contract.look_ups[asked.index];
        let built_ins = loaded.built_ins();
        let filling = loaded.filling(&built_ins);
        let mut matches = Vec::new();
        let mut cursor: Option<String> = None;
        let mut last = WireReport::never_opened(NotSent::Local, "nothing was asked");
        for _ in 0..PAGES {
            let request = match filling.look_up(look_up, cursor.as_deref()) {
                Ok(request) => request,
                Err(error) => return (last, cannot_ask(&error)),
            };
            last = self.exchange(loaded, request, asked.send_by, asked.deadline).await;
            match finding::read_page(&filling, look_up, &last, self.clock.now()) {
                Page::Unreadable { class, wait, credentials } => {
                    return (last, Heard::Unreadable { class, wait, credentials });
                }
                Page::Entries { matches: more, next } => {
                    matches.extend(more);
                    match next {
                        Some(next) if cursor.as_deref() != Some(&next) => cursor = Some(next),
                        _ => {
                            let barrier = attempt::last_barrier(&loaded.standing.sends);
                            let as_of = *asked.attempt.marked_at;
                            let found = finding::conclude(&filling, look_up, &matches, as_of, barrier);
                            return (last, Heard::Found(found));
                        }
                    }
                }
            }
        }
        (last, Heard::Unreadable { class: "too_many_pages", wait: None, credentials: false })
    }

    async fn record_heard(&self, tx: &mut Tx, asked: &Asked, report: &WireReport, heard: &Heard) -> Result<()> {
        let mut row = operations::get_locked(tx, asked.loaded.row.id).await?;
        let now = tx.now(&self.clock).await?;
        let stored = attempts::list(tx, row.id).await?;
        if stored.iter().any(|attempt| attempt.id == asked.attempt.id && attempt.ended_at.is_some()) {
            return Ok(());
        }
        let lost_fence = asked.by.is_none() && row.fence != asked.loaded.row.fence;
        let ended = finished(asked, report, heard, now, lost_fence);
        attempts::finish(tx, &ended).await?;
        let seen = (row.fence, row.version);
        keep_request_id(&mut row, ended.upstream_request_id.as_deref());
        row.last_look_up = Some(match heard {
            Heard::Unreadable { class, .. } => (*class).to_string(),
            Heard::Found(found) => found.phrase.clone(),
        });
        if let Heard::Found(found) = heard {
            row.look_ups_answered += 1;
            if found.working {
                row.hint = found.id.clone().or(row.hint);
            }
        }
        if asked.by.is_none() && !lost_fence {
            row.locked_until = None;
            row.lease_owner = None;
            let made = u32::try_from(row.look_ups_made).unwrap_or(u32::MAX);
            let pause = backoff(self.settings.pace, made.saturating_sub(1), ids::jitter());
            let asked_for = match heard {
                Heard::Unreadable { wait, .. } => wait.unwrap_or_default(),
                Heard::Found(_) => Duration::ZERO,
            };
            row.next_check_at = Some(At(now.plus(pause.max(asked_for))));
        }
        if matches!(heard, Heard::Unreadable { credentials: true, .. }) {
            tracing::error!(operation = %row.id, upstream = %row.upstream, "the partner refuses our credentials in a look-up");
        }
        operations::advance(tx, seen, &row).await?;
        if let Heard::Found(found) = heard {
            let look_up = &asked.loaded.contract.look_ups[asked.index];
            let actor = match &asked.by {
                Some(who) => who.actor(&row.correlation_id),
                None => Actor::worker(self.worker(), &row.correlation_id),
            };
            attach_evidence::add(tx, self, row, new_evidence(look_up, found, asked), &actor).await?;
        }
        Ok(())
    }

    /// A person asks the partner: the holder of an unsettled operation, anybody who may for a settled one.
    pub async fn look_up(&self, who: &Operator, operation: Id, index: Option<usize>) -> Result<()> {
        let before = send::before_mark();
        let asked = crate::in_transaction!(self, |tx| {
            let row = self.get_for(tx, who, operation).await?;
            if who.may(Verb::AskPartner, Matter::NONE) != Leave::Yes {
                return Err(Error::Forbidden("your roles do not include asking the partner"));
            }
            if !row.status.is_settled() {
                super::decide::check_holder(tx, &row, who).await?;
            }
            let loaded = standing::load(tx, self, row).await?;
            let usable = |look_up: &LookUp| loaded.built_ins().hint.is_some() || !look_up.path.contains("{hint}");
            let concluding =
                || loaded.contract.concluding_look_ups().find(|(_, look_up)| usable(look_up)).map(|(i, _)| i);
            let index = index.filter(|i| loaded.contract.look_ups.get(*i).is_some_and(&usable)).or_else(concluding);
            let Some(index) = index else {
                return Err(Error::invalid("look_up", "this contract has nothing to ask with"));
            };
            mark(tx, self, loaded, index, Some(who.clone()), before).await
        })?;
        self.ask(asked).await;
        Ok(())
    }

    /// A person lets automation ask again: fresh look-ups for what waited for a person.
    pub async fn automate(&self, who: &Operator, operation: Id, correlation: &str) -> Result<()> {
        let upstream = crate::in_transaction!(self, |tx| {
            let mut row = self.get_for(tx, who, operation).await?;
            if who.may(Verb::Automate, Matter::NONE) != Leave::Yes {
                return Err(Error::Forbidden("your roles do not include this"));
            }
            if row.holder_id.is_some() {
                super::decide::check_holder(tx, &row, who).await?;
            }
            if *row.status != Status::ReconciliationNeeded || row.proposal_id.is_some() {
                return Err(Error::WrongStatus(*row.status));
            }
            let contract = self.shelf.version(tx, &row.contract, row.contract_version).await?;
            if !contract.can_look_up() {
                return Err(Error::invalid("operation", "nothing is left that a machine may do"));
            }
            let now = tx.now(&self.clock).await?;
            let seen = (row.fence, row.version);
            row.fence += 1;
            row.holder_id = None;
            row.held_since = None;
            row.look_ups_answered = 0;
            let actor = who.actor(correlation);
            apply(
                tx,
                self,
                &mut row,
                seen,
                Change {
                    event: Event::Automate,
                    reason: Some(Reason::BackToMachine),
                    due: now,
                    actor: &actor,
                    note: Note::default(),
                },
            )
            .await?;
            Ok(row.upstream)
        })?;
        self.nudge(&upstream);
        Ok(())
    }
}

fn cannot_ask(error: &RenderError) -> Heard {
    let class = if matches!(error, RenderError::NoHint) { "no_hint" } else { "cannot_be_written" };
    Heard::Unreadable { class, wait: None, credentials: false }
}

fn new_evidence(look_up: &LookUp, found: &Found, asked: &Asked) -> NewEvidence {
    let mut fields: Vec<(String, Json)> = found.fields.clone();
    if found.conclusion == Conclusion::Executed {
        fields.push(("outputs".into(), Json::Object(found.outputs.clone())));
        if let Some(id) = &found.id {
            fields.retain(|(name, _)| name != "id");
            fields.push(("id".into(), Json::from(id.as_str())));
        }
    }
    NewEvidence {
        source: Source::LookUp,
        title: format!("{}: {}", look_up.title, found.phrase),
        conclusion: found.conclusion,
        as_of: *asked.attempt.marked_at,
        settle: Duration::from_millis(if look_up.authority { look_up.settle_ms } else { 0 }),
        attempt_id: Some(asked.attempt.id),
        fields: Json::Object(fields),
        differs: found.differs.clone(),
        statement: None,
    }
}

fn finished(asked: &Asked, report: &WireReport, heard: &Heard, now: Instant, late: bool) -> Attempt {
    let mut row = asked.attempt.clone();
    row.ended_at = Some(At(now));
    row.late = late;
    row.phase = Some(report.phase.to_string());
    row.byte_left = Some(report.byte_left);
    row.http_status = match &report.end {
        WireEnd::Answer { status, .. } => Some(i64::from(*status)),
        _ => None,
    };
    row.ending = Some(Word(match heard {
        Heard::Unreadable { .. } => Ending::Unknown,
        Heard::Found(_) => Ending::Succeeded,
    }));
    row.error_code = match heard {
        Heard::Unreadable { class, .. } => Some((*class).to_string()),
        Heard::Found(found) => Some(found.conclusion.to_string()),
    };
    let header = asked.loaded.upstream.request_id_header.to_ascii_lowercase();
    row.upstream_request_id = report.header(&header).map(str::to_string);
    row.timings = serde_json::to_string(&report.timings).ok();
    row
}
