//! A send: mark, commit, connect, and record what came of it.
//!
//! The mark is one transaction (status, fence, lease, attempt row, target row). Invariant: what is recorded stands under
//! the fence of the mark; without it, what was learned is kept as evidence and moves nothing.

use std::time::Duration;

use app::ledger::answer::{self, Answer};
use app::ledger::attempt::{self, Ending, Kind};
use app::ledger::evidence::{Conclusion, Source};
use app::ledger::instant::Instant;
use app::ledger::json::Json;
use app::ledger::next_action::backoff;
use app::ledger::reason::Reason;
use app::ledger::render::Rendered;
use app::ledger::status::{Event, Status};
use app::ledger::wire::{NotSent, WireEnd, WireReport};

use super::attach_evidence::{self, NewEvidence};
use super::audit::Note;
use super::standing::{self, Loaded};
use super::transition::{self, Change, apply};
use super::{Actor, Ledger, Result};
use crate::connector::{BootInstant, Origin, Outgoing, boot_now};
use crate::ids;
use crate::store::attempts::{self, Attempt};
use crate::store::codec::{At, Id, Word};
use crate::store::customers::{self, CustomerKey};
use crate::store::operations::{self, Operation};
use crate::store::upstreams::{self, UpstreamState};
use crate::store::{Tx, secrets, targets};

/// Longest wait between tries to save a receipt in hand.
const SAVE_AGAIN: Duration = Duration::from_secs(2);
/// Request ids kept per operation, newest last.
const REQUEST_IDS: usize = 20;

/// A marked send: the row as committed, and what the wire needs.
#[derive(Debug)]
pub struct Marked {
    pub loaded: Loaded,
    pub attempt: Attempt,
    pub send_by: BootInstant,
    pub deadline: tokio::time::Instant,
}

/// Marks a send in the caller's transaction. `before` is the boot clock read before the transaction began, so that
/// send-by counts from no later than the mark.
pub async fn mark(
    tx: &mut Tx,
    ledger: &Ledger,
    mut loaded: Loaded,
    event: Event,
    before: (BootInstant, tokio::time::Instant),
) -> Result<Marked> {
    let now = tx.now(&ledger.clock).await?;
    let schedule = attempt::schedule(&loaded.upstream, now);
    let row = &mut loaded.row;
    let seen = (row.fence, row.version);
    row.fence += 1;
    row.attempt_count += 1;
    row.send_count += 1;
    row.look_ups_since_send = 0;
    row.first_mark_at = row.first_mark_at.or(Some(At(now)));
    row.barrier_at = Some(At(schedule.barrier));
    let lease = schedule.deadline.plus(ledger.settings.lease_beyond);
    row.locked_until = Some(At(lease));
    row.lease_owner = Some(ledger.worker().to_string());
    let reason = row.reason.map(|reason| *reason);
    let actor = Actor::worker(ledger.worker(), &row.correlation_id);
    let note = Note { attempt: Some(row.attempt_count), ..Note::default() };
    apply(tx, ledger, row, seen, Change { event, reason, due: lease, actor: &actor, note }).await?;
    if let Some(target) = &loaded.row.target {
        let mut state = targets::lock(tx, &loaded.row.upstream, target).await?;
        state.open_operation_id = Some(loaded.row.id);
        state.newest_sent = state.newest_sent.max(loaded.row.admitted_order);
        targets::save(tx, &state).await?;
    }
    let attempt = new_attempt(&loaded, ledger.worker(), Kind::Send, None, None, now, schedule);
    attempts::insert(tx, &attempt).await?;
    Ok(Marked {
        attempt,
        send_by: before.0.plus(Duration::from_millis(loaded.upstream.send_by_ms)),
        deadline: before.1 + Duration::from_millis(loaded.upstream.deadline_ms),
        loaded,
    })
}

pub(super) fn new_attempt(
    loaded: &Loaded,
    worker: &str,
    kind: Kind,
    look_up: Option<usize>,
    asked_by: Option<Id>,
    now: Instant,
    schedule: attempt::Schedule,
) -> Attempt {
    let (line, body) = described(loaded, look_up);
    Attempt {
        id: Id(ids::new_id()),
        operation_id: loaded.row.id,
        number: loaded.row.attempt_count,
        kind: Word(kind),
        look_up: look_up.and_then(|index| i64::try_from(index).ok()),
        fence: loaded.row.fence,
        worker: worker.to_string(),
        asked_by,
        marked_at: At(now),
        send_by_at: At(schedule.send_by),
        barrier_at: At(schedule.barrier),
        request_line: line,
        request_body: body,
        ended_at: None,
        late: false,
        phase: None,
        byte_left: None,
        http_status: None,
        ending: None,
        reason: None,
        error_code: None,
        error_message: None,
        upstream_request_id: None,
        retry_after_ms: None,
        answer: None,
        timings: None,
    }
}

/// What the record shows of a request. A body with sensitive parameters is not kept a second time.
fn described(loaded: &Loaded, look_up: Option<usize>) -> (String, Option<String>) {
    let built_ins = loaded.built_ins();
    let filling = loaded.filling(&built_ins);
    let rendered = match look_up.and_then(|index| loaded.contract.look_ups.get(index)) {
        Some(look_up) => filling.look_up(look_up, None),
        None => filling.request(),
    };
    match rendered {
        Ok(request) => {
            let shown = !loaded.has_sensitive();
            let body = request.body.filter(|_| shown).and_then(|body| String::from_utf8(body).ok());
            (format!("{} {}", request.method, request.path_and_query), body)
        }
        Err(error) => (format!("(cannot be written: {error})"), None),
    }
}

impl Ledger {
    /// Sends what was marked and records the answer. Returns when it is saved, however long that takes.
    pub async fn send(&self, marked: Marked) {
        let built_ins = marked.loaded.built_ins();
        let filling = marked.loaded.filling(&built_ins);
        let (report, answer) = match filling.request() {
            Err(error) => {
                let report = WireReport::never_opened(NotSent::Local, error.to_string());
                let answer = answer::local(&error.to_string());
                (report, answer)
            }
            Ok(request) => {
                let report = self.exchange(&marked.loaded, request, marked.send_by, marked.deadline).await;
                let answer = answer::read(&filling, &report, self.clock.now());
                (report, answer)
            }
        };
        if answer.alert {
            tracing::warn!(operation = %marked.loaded.row.id, reason = %answer.reason, "the partner's answer needs attention");
        }
        let mut wait = Duration::from_millis(20);
        loop {
            match self.record(&marked, &report, &answer).await {
                Ok(()) => break,
                Err(error) => {
                    // A receipt in hand is tried to save until the process ends; after that the lease tells others.
                    tracing::error!(operation = %marked.loaded.row.id, %error, "could not save what a send brought; trying again");
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(SAVE_AGAIN);
                }
            }
        }
        self.nudge(&marked.loaded.row.upstream);
    }

    /// One request to the operation's upstream, with its credentials.
    pub(super) async fn exchange(
        &self,
        loaded: &Loaded,
        request: Rendered,
        send_by: BootInstant,
        deadline: tokio::time::Instant,
    ) -> WireReport {
        let upstream = &loaded.upstream;
        let origin = match Origin::parse(&upstream.origin) {
            Ok(origin) => origin,
            Err(error) => return WireReport::never_opened(NotSent::Local, error.to_string()),
        };
        let mut headers = request.headers;
        match credentials(upstream) {
            Ok(Some(header)) => headers.push(header),
            Ok(None) => {}
            Err(missing) => return WireReport::never_opened(NotSent::CredentialsMissing, missing),
        }
        let outgoing = Outgoing {
            method: &request.method,
            origin: &origin,
            path_and_query: &request.path_and_query,
            headers,
            body: request.body,
            request_id_header: &upstream.request_id_header,
            deadline,
            send_by,
        };
        self.wire.send(outgoing).await
    }

    async fn record(&self, marked: &Marked, report: &WireReport, answer: &Answer) -> Result<()> {
        crate::in_transaction!(self, |tx| self.record_in(tx, marked, report, answer).await)
    }

    async fn record_in(&self, tx: &mut Tx, marked: &Marked, report: &WireReport, answer: &Answer) -> Result<()> {
        let row = operations::get_locked(tx, marked.loaded.row.id).await?;
        let now = tx.now(&self.clock).await?;
        let is_ours = row.fence == marked.loaded.row.fence && *row.status == Status::Executing;
        let ended = finished(marked.attempt.clone(), report, answer, now, !is_ours, &marked.loaded);
        let stored = attempts::list(tx, row.id).await?;
        match stored.iter().find(|attempt| attempt.id == ended.id) {
            // Saved by an earlier try whose commit was not heard.
            Some(known) if known.ended_at.is_some() && known.reason.map(|r| *r) != Some(Reason::WorkerLost) => {
                return Ok(());
            }
            Some(known) if known.ended_at.is_some() => {}
            _ => attempts::finish(tx, &ended).await?,
        }
        if is_ours {
            let loaded = standing::load(tx, self, row).await?;
            self.record_outcome(tx, loaded, &ended, answer, now).await
        } else {
            self.keep_late(tx, row, marked, &ended, answer, now).await
        }
    }

    /// The fence is lost: what was learned becomes evidence, shown to whoever holds it now.
    async fn keep_late(
        &self,
        tx: &mut Tx,
        row: Operation,
        marked: &Marked,
        ended: &Attempt,
        answer: &Answer,
        now: Instant,
    ) -> Result<()> {
        let (conclusion, as_of) = match answer.ending {
            Ending::Succeeded => (Conclusion::Executed, now),
            Ending::Refused => (Conclusion::Refused, *marked.attempt.marked_at),
            Ending::Local | Ending::NotSent | Ending::NotExecuted => {
                (Conclusion::NotExecuted, *marked.attempt.marked_at)
            }
            Ending::Unknown | Ending::KeyConflict => (Conclusion::Inconclusive, now),
        };
        let known = crate::store::evidence::list(tx, row.id).await?;
        if known.iter().any(|found| found.attempt_id == Some(ended.id)) {
            return Ok(());
        }
        let mut fields: Vec<(String, Json)> = answer.outputs.clone();
        fields.extend(answer.id.iter().map(|id| ("id".to_string(), Json::from(id.as_str()))));
        let found = NewEvidence {
            source: Source::LateAnswer,
            title: format!("Late answer of attempt {}: {}", ended.number, answer.reason),
            conclusion,
            as_of,
            attempt_id: Some(ended.id),
            fields: Json::Object(fields),
            ..NewEvidence::default()
        };
        if let Some(secret) = answer.secret.as_ref().filter(|_| answer.ending == Ending::Succeeded) {
            let about = row.id.to_string();
            let sealed = self.keys.seal(secret.0.as_bytes(), &about);
            secrets::insert(tx, row.id, &self.keys.sealing_id(), &sealed, At(now)).await?;
        }
        let actor = Actor::worker(self.worker(), &row.correlation_id);
        attach_evidence::add(tx, self, row, found, &actor).await.map(drop)
    }

    async fn record_outcome(
        &self,
        tx: &mut Tx,
        loaded: Loaded,
        ended: &Attempt,
        answer: &Answer,
        now: Instant,
    ) -> Result<()> {
        let number = u32::try_from(ended.number).unwrap_or(u32::MAX);
        let clean = attempt::is_clean(&loaded.standing.sends, number, &loaded.standing.evidence);
        let Loaded { mut row, contract, .. } = loaded;
        let seen = (row.fence, row.version);
        row.last_error_code = answer.code.clone();
        row.last_error_message = answer.message.clone();
        row.hint = answer.hint.clone().or(row.hint);
        keep_request_id(&mut row, ended.upstream_request_id.as_deref());
        let (event, reason) = event_of(answer, clean);
        let tries = u32::try_from(row.send_count - 1).unwrap_or(0);
        let again = now.plus(answer.wait.unwrap_or_default().max(backoff(self.settings.pace, tries, ids::jitter())));
        let due = match event {
            Event::Lose if !contract.can_look_up() && answer.wait.is_none() => now,
            _ => again,
        };
        if answer.ending == Ending::Succeeded {
            self.keep_receipt(tx, &mut row, answer, contract.receipt.secret.is_some(), now).await?;
        }
        let actor = Actor::worker(self.worker(), &row.correlation_id);
        let note = Note {
            attempt: Some(ended.number),
            outcome_class: Some(answer.ending.to_string()),
            upstream_request_id: ended.upstream_request_id.clone(),
            upstream_audit_id: output(answer, "audit_id"),
            ..Note::default()
        };
        apply(tx, self, &mut row, seen, Change { event, reason: Some(reason), due, actor: &actor, note }).await?;
        if !matches!(answer.ending, Ending::Unknown | Ending::KeyConflict) && clean {
            transition::release_target(tx, &row).await?;
        }
        if answer.reason == Reason::CredentialsRefused {
            self.pause_for_credentials(tx, &row.upstream, now).await?;
        }
        Ok(())
    }

    /// The result, the upstream's id, and the secret that is shown once.
    async fn keep_receipt(
        &self,
        tx: &mut Tx,
        row: &mut Operation,
        answer: &Answer,
        secret: bool,
        now: Instant,
    ) -> Result<()> {
        keep_result(row, answer.id.as_deref(), &answer.outputs);
        if secret {
            if let Some(secret) = &answer.secret {
                let sealed = self.keys.seal(secret.0.as_bytes(), &row.id.to_string());
                secrets::insert(tx, row.id, &self.keys.sealing_id(), &sealed, At(now)).await?;
            }
            keep_key(tx, row, now).await?;
        }
        Ok(())
    }

    /// Nothing is sent with credentials that the partner refuses, until a person has looked.
    async fn pause_for_credentials(&self, tx: &mut Tx, upstream: &str, now: Instant) -> Result<()> {
        let state = UpstreamState {
            upstream: upstream.to_string(),
            state: "paused".into(),
            look_ups_paused: false,
            reason: Some("the partner refuses our credentials".into()),
            changed_by: Some("breaker".into()),
            changed_at: At(now),
        };
        Ok(upstreams::save(tx, &state).await?)
    }
}

/// Writes the outputs of an effect that is known to exist. Over the limit, id and status are all that is kept.
pub(super) fn keep_result(row: &mut Operation, id: Option<&str>, outputs: &[(String, Json)]) {
    let result = Json::object(outputs.iter().map(|(name, value)| (name.clone(), value.clone()))).to_text();
    row.result = (result.len() <= answer::RESULT_LIMIT).then_some(result);
    row.result_schema = Some(1);
    if let Some(id) = id {
        row.target_public_id = Some(id.to_string());
    }
}

/// Records the key that the partner made, usable only if its secret was stored.
pub(super) async fn keep_key(tx: &mut Tx, row: &mut Operation, now: Instant) -> Result<()> {
    let stored = secrets::find(tx, row.id).await?.is_some();
    row.secret_state = Some(if stored { "stored" } else { "lost" }.to_string());
    let (Some(customer), Some(public_id)) = (row.customer_id, row.target_public_id.clone()) else { return Ok(()) };
    let key = CustomerKey {
        id: Id(ids::new_id()),
        customer_id: customer,
        operation_id: row.id,
        public_id,
        state: if stored { "active" } else { "unusable" }.to_string(),
        replaced_by: None,
        created_at: At(now),
    };
    Ok(customers::insert_key(tx, &key).await?)
}

fn event_of(answer: &Answer, clean: bool) -> (Event, Reason) {
    let if_clean = |reason| if clean { reason } else { Reason::EarlierAttemptOpen };
    match answer.ending {
        Ending::Succeeded => (Event::Receipt, Reason::Receipt),
        Ending::Refused => (Event::Refuse { clean }, if_clean(answer.reason)),
        Ending::Local => (Event::FailLocally { clean }, if_clean(answer.reason)),
        Ending::NotSent | Ending::NotExecuted => (Event::Bounce { clean }, if_clean(answer.reason)),
        Ending::Unknown => (Event::Lose, answer.reason),
        Ending::KeyConflict => (Event::KeyConflict, Reason::KeyConflict),
    }
}

fn finished(
    mut row: Attempt,
    report: &WireReport,
    answer: &Answer,
    now: Instant,
    late: bool,
    loaded: &Loaded,
) -> Attempt {
    row.ended_at = Some(At(now));
    row.late = late;
    row.phase = Some(report.phase.to_string());
    row.byte_left = Some(report.byte_left);
    row.http_status = match &report.end {
        WireEnd::Answer { status, .. } => Some(i64::from(*status)),
        _ => None,
    };
    row.ending = Some(Word(answer.ending));
    row.reason = Some(Word(answer.reason));
    row.error_code = answer.code.clone();
    row.error_message = answer.message.clone();
    let header = loaded.upstream.request_id_header.to_ascii_lowercase();
    row.upstream_request_id = report.header(&header).map(str::to_string);
    row.retry_after_ms = answer.wait.map(|wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
    if !answer.outputs.is_empty() && !loaded.has_sensitive() {
        row.answer = Some(Json::Object(answer.outputs.clone()).to_text());
    }
    row.timings = serde_json::to_string(&report.timings).ok();
    row
}

fn output(answer: &Answer, name: &str) -> Option<String> {
    answer.outputs.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.as_str().map(str::to_string))
}

pub(super) fn keep_request_id(row: &mut Operation, id: Option<&str>) {
    let Some(id) = id else { return };
    let mut ids: Vec<String> = serde_json::from_str(&row.upstream_request_ids).unwrap_or_default();
    if !ids.iter().any(|known| known == id) {
        ids.push(id.to_string());
    }
    let surplus = ids.len().saturating_sub(REQUEST_IDS);
    row.upstream_request_ids = serde_json::Value::from(ids.split_off(surplus)).to_string();
}

/// The header that carries the upstream's credentials, read now from where the catalog says.
fn credentials(upstream: &app::ledger::contract::Upstream) -> std::result::Result<Option<(String, String)>, String> {
    let Some(auth) = &upstream.auth else { return Ok(None) };
    let secret = match (&auth.env, &auth.file) {
        (Some(name), _) => std::env::var(name).map_err(|_| format!("environment variable {name} is not set"))?,
        (None, Some(path)) => {
            std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?.trim().to_string()
        }
        (None, None) => return Err("the catalog names neither env nor file".into()),
    };
    Ok(Some((auth.header.clone(), format!("{}{secret}", auth.prefix))))
}

/// The instant before a mark: boot clock and timer, read together.
pub fn before_mark() -> (BootInstant, tokio::time::Instant) {
    (boot_now(), tokio::time::Instant::now())
}
