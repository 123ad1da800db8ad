//! A person decides: it happened, it did not (send again, or close).
//!
//! Under the version that person saw, with the gates that the page showed, and for some matters as a proposal that a
//! second person has to agree to. Invariant: a decision and the evidence it rests on are part of the same record.

use app::ledger::decision::{Asking, Outcome, SecondPerson, gates, is_open, second_person};
use app::ledger::instant::Instant;
use app::ledger::json::Json;
use app::ledger::reason::Reason;
use app::ledger::roles::{Leave, Matter, Verb};

use super::attach_evidence::findings_digest;
use super::audit::{self, Note};
use super::standing::{self, Loaded};
use super::take_over::name_of;
use super::transition::{Change, apply};
use super::{Actor, Error, Ledger, Operator, Result};
use crate::ids;
use crate::store::Tx;
use crate::store::codec::{At, Id};
use crate::store::operations::{self, Operation};
use crate::store::proposals::{self, Proposal};

/// Characters of a reason.
pub const REASON_LENGTH: usize = 1_000;

#[derive(Clone, Debug)]
pub struct Decide {
    pub operation: Id,
    pub outcome: Outcome,
    pub reason: String,
    /// The version the person saw.
    pub version: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    Settled(Box<Operation>),
    /// Waits for a second person.
    Proposed(Id, SecondPerson),
}

/// What a person concluded, why, who and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Concluded<'a> {
    pub outcome: Outcome,
    pub reason: &'a str,
    pub actor: &'a Actor,
    pub now: Instant,
}

pub fn matter(row: &Operation) -> Matter {
    Matter { risk: *row.risk, money: row.amount.is_some() }
}

pub(super) async fn check_holder(tx: &mut Tx, row: &Operation, who: &Operator) -> Result<()> {
    match row.holder_id {
        Some(holder) if holder == who.id => Ok(()),
        Some(holder) => Err(Error::Held { by: name_of(tx, holder).await? }),
        None => Err(Error::NotYours("take it over first")),
    }
}

pub(super) fn checked_reason(reason: &str) -> Result<String> {
    let reason = reason.trim();
    match reason.chars().count() {
        0 => Err(Error::invalid("reason", "say why; it becomes part of the record")),
        length if length > REASON_LENGTH => {
            Err(Error::invalid("reason", format!("is too long: at most {REASON_LENGTH} characters")))
        }
        _ => Ok(reason.to_string()),
    }
}

impl Ledger {
    pub async fn decide(&self, who: &Operator, cmd: Decide, correlation: &str) -> Result<Decided> {
        let (decided, upstream) = crate::in_transaction!(self, |tx| self.decide_in(tx, who, &cmd, correlation).await)?;
        self.nudge(&upstream);
        Ok(decided)
    }

    async fn decide_in(
        &self,
        tx: &mut Tx,
        who: &Operator,
        cmd: &Decide,
        correlation: &str,
    ) -> Result<(Decided, String)> {
        let row = self.get_for(tx, who, cmd.operation).await?;
        let reason = checked_reason(&cmd.reason)?;
        if row.version != cmd.version {
            return Err(Error::StaleVersion { seen: cmd.version, now: row.version });
        }
        let allowed = who.may(Verb::Decide, matter(&row));
        if allowed == Leave::No {
            return Err(Error::Forbidden("your roles do not include deciding"));
        }
        check_holder(tx, &row, who).await?;
        let now = tx.now(&self.clock).await?;
        let mut loaded = standing::load(tx, self, row).await?;
        self.check_gates(&loaded, cmd.outcome, true, now)?;
        let second = self.second_person_for(&loaded, cmd.outcome, allowed == Leave::Yes);
        let upstream = loaded.row.upstream.clone();
        let actor = who.actor(correlation);
        let concluded = Concluded { outcome: cmd.outcome, reason: &reason, actor: &actor, now };
        if let Some(why) = second {
            let id = self.propose(tx, &mut loaded, who, concluded, why).await?;
            return Ok((Decided::Proposed(id, why), upstream));
        }
        let row = self.settle_by_person(tx, loaded, concluded, None).await?;
        Ok((Decided::Settled(Box::new(row)), upstream))
    }

    pub(super) fn check_gates(&self, loaded: &Loaded, outcome: Outcome, holds: bool, now: Instant) -> Result<()> {
        let asking = Asking { holds, proposal_open: holds && loaded.row.proposal_id.is_some() };
        let gates =
            gates(outcome, &loaded.contract, &loaded.upstream, self.settings.pace, &loaded.standing, asking, now);
        if is_open(&gates) { Ok(()) } else { Err(Error::Shut(gates)) }
    }

    /// Why a second person has to agree to this outcome, if one has to.
    pub fn second_person_for(&self, loaded: &Loaded, outcome: Outcome, may_decide: bool) -> Option<SecondPerson> {
        second_person(outcome, &loaded.contract, *loaded.row.risk, &loaded.standing, false, may_decide)
    }

    async fn propose(
        &self,
        tx: &mut Tx,
        loaded: &mut Loaded,
        who: &Operator,
        concluded: Concluded<'_>,
        why: SecondPerson,
    ) -> Result<Id> {
        let Concluded { outcome, reason, actor, now } = concluded;
        let proposal = Proposal {
            id: Id(ids::new_id()),
            tenant: loaded.row.tenant.clone(),
            operation_id: loaded.row.id,
            kind: outcome.as_str().to_string(),
            why: why.as_str().to_string(),
            reason: Some(reason.to_string()),
            proposed_by: format!("person:{}", who.id),
            excluded: serde_json::Value::from(vec![who.id.to_string()]).to_string(),
            outputs: None,
            operation_version: loaded.row.version,
            fingerprint: loaded.row.fingerprint.clone(),
            evidence_digest: findings_digest(&loaded.evidence),
            shown: shown(loaded),
            status: "open".into(),
            created_at: At(now),
            expires_at: None,
            decided_by: None,
            decided_at: None,
            decided_reason: None,
        };
        let seen = (loaded.row.fence, loaded.row.version);
        let row = &mut loaded.row;
        row.proposal_id = Some(proposal.id);
        row.holder_acted_at = Some(At(now));
        row.updated_at = At(now);
        row.next_check_at = None;
        operations::advance(tx, seen, row).await?;
        proposals::insert(tx, &proposal).await?;
        let note = Note {
            from: Some(*row.status),
            reason: Some(reason.to_string()),
            decision: Some(outcome.as_str().to_string()),
            note: Some(format!("needs a second person: {why}")),
            ..Note::of("propose_decision")
        };
        audit::operation(tx, self, row, actor, note, now).await?;
        Ok(proposal.id)
    }

    /// Moves the operation as the person concluded. `confirmer` is the second person, where there is one.
    pub(super) async fn settle_by_person(
        &self,
        tx: &mut Tx,
        mut loaded: Loaded,
        concluded: Concluded<'_>,
        confirmer: Option<String>,
    ) -> Result<Operation> {
        let Concluded { outcome, reason, actor, now } = concluded;
        if outcome == Outcome::Executed {
            self.take_outputs(tx, &mut loaded, now).await?;
        }
        let row = &mut loaded.row;
        let seen = (row.fence, row.version);
        row.fence += 1;
        row.holder_id = None;
        row.held_since = None;
        row.holder_acted_at = None;
        row.proposal_id = None;
        let settled_as = match outcome {
            Outcome::Executed => Reason::DecidedExecuted,
            Outcome::SendAgain => Reason::DecidedSendAgain,
            Outcome::Close => Reason::DecidedNotExecuted,
        };
        let note = Note {
            reason: Some(reason.to_string()),
            decision: Some(outcome.as_str().to_string()),
            confirmer,
            final_handler: Some(actor.name.clone()),
            ..Note::of("decide")
        };
        apply(tx, self, row, seen, Change { event: outcome.event(), reason: Some(settled_as), due: now, actor, note })
            .await?;
        if outcome == Outcome::SendAgain {
            super::transition::release_target(tx, row).await?;
        }
        Ok(loaded.row)
    }
}

/// What an approver is shown, kept as it was: parameters (sensitive ones masked), status, evidence.
pub(super) fn shown(loaded: &Loaded) -> String {
    let params = loaded.params.iter().map(|(name, value)| {
        let sensitive = loaded.contract.params.get(name).is_some_and(|param| param.sensitive);
        (name.to_string(), Json::from(if sensitive { "(sensitive)".to_string() } else { value.text() }))
    });
    let evidence = loaded.evidence.iter().map(|found| {
        Json::object([
            ("source", Json::from(found.source.as_str())),
            ("title", Json::from(found.title.as_str())),
            ("conclusion", Json::from(found.conclusion.as_str())),
            ("as_of", Json::from(found.as_of.to_string())),
        ])
    });
    Json::object([
        ("status", Json::from(loaded.row.status.as_str())),
        ("summary", Json::from(loaded.row.summary.as_str())),
        ("params", Json::object(params)),
        ("evidence", Json::Array(evidence.collect())),
    ])
    .to_text()
}
