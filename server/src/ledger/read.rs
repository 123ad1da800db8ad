//! What a program may read: its own operations, what its key joined, and with the scope `read` all of its tenant.
//!
//! Changes nothing. Invariant: rights are those of now, and what may not be read does not exist.

use super::admit_customer::PROVISION;
use super::provision::{self, RunView};
use super::{Error, Ledger, Principal, Result};
use crate::store::attempts::{self, Attempt};
use crate::store::audit::{self, Entry};
use crate::store::codec::{At, Id};
use crate::store::customers::{self, Customer, CustomerKey};
use crate::store::evidence::{self, Evidence};
use crate::store::inbound_keys;
use crate::store::operations::{self, Filter, Operation};
use crate::store::workflow_runs::{self, Run};
use crate::store::{self, Tx};

/// The scope that opens everything of the tenant under the client's contracts.
pub const READ: &str = "read";
/// Audit rows of one operation that are read.
const ENTRIES: i64 = 2_000;

/// How much of a thing a principal sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    Whole,
    /// Id and status.
    Standing,
}

/// What a list asks for; absent means any.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub status: Option<String>,
    pub contract: Option<String>,
    pub customer: Option<String>,
    pub since: Option<At>,
    pub before: Option<Id>,
    pub limit: i64,
}

#[derive(Clone, Debug)]
pub struct Page {
    pub items: Vec<Operation>,
    pub has_more: bool,
}

/// Everything that was done and found out about an operation.
#[derive(Clone, Debug)]
pub struct History {
    pub attempts: Vec<Attempt>,
    pub evidence: Vec<Evidence>,
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub struct CustomerView {
    pub customer: Customer,
    pub run: RunView,
    pub keys: Vec<CustomerKey>,
}

impl Principal {
    /// None: it does not exist for this principal.
    pub fn sight(&self, row: &Operation, has_joined: bool) -> Option<Sight> {
        let is_own = row.principal_kind == self.kind && row.principal_id == self.id;
        self.sight_of(&row.tenant, &row.contract, is_own, has_joined)
    }

    pub fn sight_of_run(&self, run: &Run, has_joined: bool) -> Option<Sight> {
        self.sight_of(&run.tenant, PROVISION, run.principal == self.reference(), has_joined)
    }

    fn sight_of(&self, tenant: &str, contract: &str, is_own: bool, has_joined: bool) -> Option<Sight> {
        if tenant != self.tenant {
            return None;
        }
        if self.may_use(contract) && (is_own || self.has_scope(READ)) {
            return Some(Sight::Whole);
        }
        (is_own || has_joined).then_some(Sight::Standing)
    }
}

impl Ledger {
    pub async fn find_operation(&self, who: &Principal, id: Id) -> Result<(Operation, Sight)> {
        let mut tx = self.db.read().await?;
        find_seen(&mut tx, who, id).await
    }

    /// Newest first. Without the scope `read` only its own; always under the contracts of now.
    pub async fn list_operations(&self, who: &Principal, wanted: Wanted) -> Result<Page> {
        let is_any = who.contracts.iter().any(|name| name == "*");
        let filter = Filter {
            tenants: super::who::tenants_json(std::slice::from_ref(&who.tenant)),
            status: wanted.status,
            contract: wanted.contract,
            contracts: (!is_any).then(|| super::who::tenants_json(&who.contracts)),
            customer: wanted.customer,
            principal: (!who.has_scope(READ)).then(|| who.id.clone()),
            since: wanted.since,
            before: wanted.before,
            // One more tells whether another page follows.
            limit: wanted.limit + 1,
            ..Filter::default()
        };
        let mut tx = self.db.read().await?;
        let mut items = operations::list(&mut tx, &filter).await?;
        let wanted = usize::try_from(wanted.limit).unwrap_or(0);
        let has_more = items.len() > wanted;
        items.truncate(wanted);
        Ok(Page { items, has_more })
    }

    pub async fn read_history(&self, who: &Principal, id: Id) -> Result<History> {
        let mut tx = self.db.read().await?;
        let (row, sight) = find_seen(&mut tx, who, id).await?;
        if sight != Sight::Whole {
            return Err(Error::NotFound("operation"));
        }
        Ok(History {
            attempts: attempts::list(&mut tx, row.id).await?,
            evidence: evidence::list(&mut tx, row.id).await?,
            entries: audit::list_of_subject(&mut tx, "operation", &row.id.to_string(), ENTRIES).await?,
        })
    }

    /// A customer that was signed up through the workflow.
    pub async fn find_customer(&self, who: &Principal, external_id: &str) -> Result<(CustomerView, Sight)> {
        const MISSING: Error = Error::NotFound("customer");
        let mut tx = self.db.read().await?;
        let customer = customers::find_external(&mut tx, &who.tenant, external_id).await?.ok_or(MISSING)?;
        let run = workflow_runs::find_of_customer(&mut tx, customer.id).await?.ok_or(MISSING)?;
        let has_joined = inbound_keys::has_joined_run(&mut tx, &who.reference(), run.id).await?;
        let sight = who.sight_of_run(&run, has_joined).ok_or(MISSING)?;
        Ok((view_of(&mut tx, customer, run).await?, sight))
    }

    pub async fn view_run(&self, run: &Run) -> Result<CustomerView> {
        let mut tx = self.db.read().await?;
        let missing =
            || store::Error::Corrupt { table: "workflow_runs", id: run.id.to_string(), what: "its customer".into() };
        let customer = customers::find(&mut tx, run.customer_id).await?.ok_or_else(missing)?;
        view_of(&mut tx, customer, run.clone()).await
    }
}

async fn find_seen(tx: &mut Tx, who: &Principal, id: Id) -> Result<(Operation, Sight)> {
    let row = operations::find(tx, id).await?.ok_or(Error::NotFound("operation"))?;
    let has_joined = inbound_keys::has_joined(tx, &who.reference(), row.id).await?;
    let sight = who.sight(&row, has_joined).ok_or(Error::NotFound("operation"))?;
    Ok((row, sight))
}

async fn view_of(tx: &mut Tx, customer: Customer, run: Run) -> Result<CustomerView> {
    let keys = customers::list_keys(tx, customer.id).await?;
    Ok(CustomerView { run: provision::view(tx, run).await?, customer, keys })
}
