//! A person takes an operation, and gives it back.
//!
//! Needs no version. Invariant: while it is held no worker marks a request for it; one marked before may leave until its
//! send-by, and its late answer becomes evidence.

use app::ledger::reason::Reason;
use app::ledger::roles::{Leave, Matter, Verb};
use app::ledger::status::{Event, Status};

use super::audit::{self, Note};
use super::transition::{Change, apply};
use super::{Error, Ledger, Operator, Result};
use crate::store::codec::{At, Id};
use crate::store::operations::{self, Operation};
use crate::store::{Tx, people};

impl Ledger {
    /// The operation, locked, if it exists for this person.
    pub(super) async fn get_for(&self, tx: &mut Tx, who: &Operator, id: Id) -> Result<Operation> {
        let found = operations::find_locked(tx, id).await?;
        found.filter(|row| who.sees(&row.tenant)).ok_or(Error::NotFound("operation"))
    }

    /// Taking what one already holds changes nothing.
    pub async fn take_over(&self, who: &Operator, operation: Id, correlation: &str) -> Result<Operation> {
        let row = crate::in_transaction!(self, |tx| {
            let mut row = self.get_for(tx, who, operation).await?;
            if who.may(Verb::TakeOver, Matter::NONE) != Leave::Yes {
                return Err(Error::Forbidden("your roles do not include taking over"));
            }
            if row.status.is_settled() {
                return Err(Error::WrongStatus(*row.status));
            }
            match row.holder_id {
                Some(holder) if holder == who.id => return Ok(row),
                Some(holder) => return Err(Error::Held { by: name_of(tx, holder).await? }),
                None => {}
            }
            let now = tx.now(&self.clock).await?;
            let seen = (row.fence, row.version);
            row.fence += 1;
            row.holder_id = Some(who.id);
            row.held_since = Some(At(now));
            row.holder_acted_at = Some(At(now));
            let actor = who.actor(correlation);
            if *row.status == Status::Executing {
                let note = Note::of("take_over");
                apply(
                    tx,
                    self,
                    &mut row,
                    seen,
                    Change { event: Event::TakeOver, reason: Some(Reason::TakenOver), due: now, actor: &actor, note },
                )
                .await?;
            } else {
                row.updated_at = At(now);
                row.next_check_at = None;
                row.locked_until = None;
                row.lease_owner = None;
                operations::advance(tx, seen, &row).await?;
                let note = Note { from: Some(*row.status), ..Note::of("take_over") };
                audit::operation(tx, self, &row, &actor, note, now).await?;
            }
            Ok(row)
        })?;
        self.nudge(&row.upstream);
        Ok(row)
    }

    /// Gives it back: to automation where a machine may do something, else to the queue.
    pub async fn release(&self, who: &Operator, operation: Id, correlation: &str) -> Result<Operation> {
        let row = crate::in_transaction!(self, |tx| {
            let mut row = self.get_for(tx, who, operation).await?;
            if who.may(Verb::Release, Matter::NONE) != Leave::Yes {
                return Err(Error::Forbidden("your roles do not include releasing"));
            }
            super::decide::check_holder(tx, &row, who).await?;
            if row.proposal_id.is_some() && *row.status != Status::AwaitingApproval {
                return Err(Error::NotYours("withdraw your proposal first"));
            }
            let now = tx.now(&self.clock).await?;
            let seen = (row.fence, row.version);
            row.fence += 1;
            row.holder_id = None;
            row.held_since = None;
            row.holder_acted_at = None;
            row.updated_at = At(now);
            // Evidence that came meanwhile may settle it, also where it goes back to the queue.
            let for_machines = *row.status != Status::AwaitingApproval;
            row.next_check_at = for_machines.then_some(At(now));
            operations::advance(tx, seen, &row).await?;
            let note = Note { from: Some(*row.status), ..Note::of("release") };
            audit::operation(tx, self, &row, &who.actor(correlation), note, now).await?;
            Ok(row)
        })?;
        self.nudge(&row.upstream);
        Ok(row)
    }
}

pub(super) async fn name_of(tx: &mut Tx, person: Id) -> Result<String> {
    Ok(people::find(tx, person).await?.map_or_else(|| "somebody".to_string(), |person| person.name))
}
