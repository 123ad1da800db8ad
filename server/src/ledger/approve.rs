//! Agreeing to what waits for another person: a held send, or a decision that needs a second one.
//!
//! What the approver was shown is stored by the server; the approval is bound to the fingerprint and the findings it
//! rests on. Invariant: nobody approves what they proposed, decided, requested or stand behind.

use app::ledger::decision::Outcome;
use app::ledger::instant::Instant;
use app::ledger::reason::Reason;
use app::ledger::roles::{Leave, Verb};
use app::ledger::status::{Event, Status};

use super::attach_evidence::findings_digest;
use super::audit::{self, Note};
use super::decide::{checked_reason, matter};
use super::standing;
use super::transition::{Change, apply};
use super::{Actor, Error, Ledger, Operator, Result};
use crate::ids;
use crate::store::codec::{At, Id};
use crate::store::operations::{self, Operation};
use crate::store::proposals::{self, Proposal};
use crate::store::{Tx, people};

/// The kind of a proposal that holds the first send; the others are outcomes.
pub const SEND: &str = "send";
/// Expired approvals that one step closes.
const EXPIRED_AT_ONCE: i64 = 50;

/// A proposal that holds an admission back.
pub fn propose_send(ledger: &Ledger, row: &Operation, why: Reason, now: Instant) -> Proposal {
    Proposal {
        id: Id(ids::new_id()),
        tenant: row.tenant.clone(),
        operation_id: row.id,
        kind: SEND.into(),
        why: why.as_str().to_string(),
        reason: None,
        proposed_by: format!("{}:{}", row.principal_kind, row.principal_id),
        excluded: "[]".into(),
        outputs: None,
        operation_version: row.version,
        fingerprint: row.fingerprint.clone(),
        evidence_digest: findings_digest(&[]),
        shown: String::new(),
        status: "open".into(),
        created_at: At(now),
        expires_at: Some(At(now.plus(ledger.settings.approval_ttl))),
        decided_by: None,
        decided_at: None,
        decided_reason: None,
    }
}

impl Ledger {
    /// Whether this person's approval counts, and if not, why.
    pub fn may_approve(&self, who: &Operator, proposal: &Proposal, row: &Operation) -> Result<()> {
        let verb = if proposal.kind == SEND { Verb::Approve } else { Verb::Decide };
        if who.may(verb, matter(row)) != Leave::Yes {
            return Err(Error::Forbidden("your roles do not include approving this"));
        }
        let excluded: Vec<String> = serde_json::from_str(&proposal.excluded).unwrap_or_default();
        if excluded.contains(&who.id.to_string()) || proposal.proposed_by == format!("person:{}", who.id) {
            return Err(Error::Forbidden("nobody approves what they proposed or requested"));
        }
        Ok(())
    }

    pub async fn approve(
        &self,
        who: &Operator,
        proposal: Id,
        seen_version: i64,
        correlation: &str,
    ) -> Result<Operation> {
        let result =
            crate::in_transaction!(self, |tx| self.approve_in(tx, who, proposal, seen_version, correlation).await);
        if let Err(Error::Forbidden(why)) = &result {
            self.audit_denied(who, proposal, "approve", why, correlation).await?;
        }
        let row = result?;
        self.nudge(&row.upstream);
        Ok(row)
    }

    async fn approve_in(
        &self,
        tx: &mut Tx,
        who: &Operator,
        id: Id,
        seen_version: i64,
        correlation: &str,
    ) -> Result<Operation> {
        let (mut proposal, row) = self.open_proposal(tx, who, id).await?;
        self.may_approve(who, &proposal, &row)?;
        let now = tx.now(&self.clock).await?;
        if people::find(tx, who.id).await?.and_then(|p| p.approves_from).is_some_and(|from| *from > now) {
            return Err(Error::Forbidden("your sign-in or roles were changed; you approve again after a day"));
        }
        if row.version != seen_version {
            return Err(Error::StaleVersion { seen: seen_version, now: row.version });
        }
        let loaded = standing::load(tx, self, row).await?;
        let unchanged = loaded.fingerprint_now()?.as_str() == proposal.fingerprint;
        let is_send = proposal.kind == SEND;
        if !unchanged || (!is_send && findings_digest(&loaded.evidence) != proposal.evidence_digest) {
            return Err(Error::Void);
        }
        close(&mut proposal, "approved", who, None, now);
        proposals::close(tx, &proposal).await?;
        let actor = who.actor(correlation);
        if is_send {
            let mut row = loaded.row;
            let seen = (row.fence, row.version);
            row.proposal_id = None;
            row.approved_fingerprint = Some(proposal.fingerprint.clone());
            let note =
                Note { confirmer: Some(actor.name.clone()), decision: Some("approved".into()), ..Note::of("approve") };
            let reason = row.reason.map(|reason| *reason);
            apply(tx, self, &mut row, seen, Change { event: Event::Approve, reason, due: now, actor: &actor, note })
                .await?;
            return Ok(row);
        }
        let outcome: Outcome = proposal.kind.parse().map_err(|_| Error::Void)?;
        let mut loaded = loaded;
        loaded.row.proposal_id = None;
        self.check_gates(&loaded, outcome, true, now)?;
        let reason = proposal.reason.clone().unwrap_or_default();
        self.settle_by_person(tx, loaded, outcome, &reason, &actor, Some(actor.name.clone()), now).await
    }

    /// Says no, with a reason: a held send is called off, a proposed decision goes back to its holder. One's own
    /// proposal is withdrawn.
    pub async fn decline(&self, who: &Operator, id: Id, reason: &str, correlation: &str) -> Result<Operation> {
        let row = crate::in_transaction!(self, |tx| {
            let reason = checked_reason(reason)?;
            let (proposal, row) = self.open_proposal(tx, who, id).await?;
            let verb = if proposal.kind == SEND { Verb::Approve } else { Verb::Decide };
            let is_own = proposal.proposed_by == format!("person:{}", who.id);
            if !is_own && who.may(verb, matter(&row)) != Leave::Yes {
                return Err(Error::Forbidden("your roles do not include declining this"));
            }
            let (word, status) = if is_own { ("withdraw", "withdrawn") } else { ("decline", "declined") };
            self.end_proposal(tx, row, proposal, status, word, &reason, Some(who), &who.actor(correlation)).await
        })?;
        self.nudge(&row.upstream);
        Ok(row)
    }

    /// Closes approvals that nobody gave in time. Returns how many.
    pub async fn expire_approvals(&self) -> Result<usize> {
        crate::in_transaction!(self, |tx| {
            let now = tx.now(&self.clock).await?;
            let expired = proposals::list_expired(tx, At(now), EXPIRED_AT_ONCE).await?;
            let count = expired.len();
            for proposal in expired {
                let row = operations::get_locked(tx, proposal.operation_id).await?;
                let actor = Actor::worker(self.worker(), &row.correlation_id);
                self.end_proposal(tx, row, proposal, "expired", "expire", "nobody approved in time", None, &actor)
                    .await?;
            }
            Ok(count)
        })
    }

    async fn open_proposal(&self, tx: &mut Tx, who: &Operator, id: Id) -> Result<(Proposal, Operation)> {
        let found = proposals::find(tx, id).await?.filter(|proposal| who.sees(&proposal.tenant));
        let proposal = found.ok_or(Error::NotFound("approval"))?;
        let row = self.get_for(tx, who, proposal.operation_id).await?;
        // Read again under the operation's lock.
        let proposal = proposals::find(tx, id).await?.ok_or(Error::NotFound("approval"))?;
        if proposal.status != "open" {
            return Err(Error::NotYours("it has been decided already"));
        }
        Ok((proposal, row))
    }

    async fn end_proposal(
        &self,
        tx: &mut Tx,
        mut row: Operation,
        mut proposal: Proposal,
        status: &str,
        verb: &'static str,
        reason: &str,
        who: Option<&Operator>,
        actor: &Actor,
    ) -> Result<Operation> {
        let now = tx.now(&self.clock).await?;
        proposal.status = status.to_string();
        proposal.decided_by = who.map(|who| who.id);
        proposal.decided_at = Some(At(now));
        proposal.decided_reason = Some(reason.to_string());
        proposals::close(tx, &proposal).await?;
        let seen = (row.fence, row.version);
        row.proposal_id = None;
        let note = Note { reason: Some(reason.to_string()), decision: Some(status.to_string()), ..Note::of(verb) };
        if proposal.kind == SEND && *row.status == Status::AwaitingApproval {
            let why = match status {
                "declined" => Reason::Declined,
                "withdrawn" => Reason::Withdrawn,
                _ => Reason::ApprovalExpired,
            };
            apply(tx, self, &mut row, seen, Change { event: Event::Decline, reason: Some(why), due: now, actor, note })
                .await?;
            return Ok(row);
        }
        row.updated_at = At(now);
        operations::advance(tx, seen, &row).await?;
        let note = Note { from: Some(*row.status), ..note };
        audit::operation(tx, self, &row, actor, note, now).await?;
        Ok(row)
    }

    /// A denied attempt stands on the actor's chain.
    pub async fn audit_denied(
        &self,
        who: &Operator,
        about: Id,
        verb: &'static str,
        why: &str,
        correlation: &str,
    ) -> Result<()> {
        crate::in_transaction!(self, |tx| {
            let now = tx.now(&self.clock).await?;
            people::find_locked(tx, who.id).await?;
            let note = Note {
                outcome: "denied",
                reason: Some(why.to_string()),
                note: Some(about.to_string()),
                ..Note::of(verb)
            };
            let subject = who.id.to_string();
            audit::subject(tx, self, ("person", &subject), None, &who.actor(correlation), note, now).await
        })
    }
}

fn close(proposal: &mut Proposal, status: &str, who: &Operator, reason: Option<String>, now: Instant) {
    proposal.status = status.to_string();
    proposal.decided_by = Some(who.id);
    proposal.decided_at = Some(At(now));
    proposal.decided_reason = reason;
}
