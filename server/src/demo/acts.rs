//! What can happen in the demo: requests of clients, mishaps at the partner, and people who approve.
//!
//! Leaves when to the story. Invariant: a request goes through admission like any client's, and a mishap is a fault of
//! the partner's, not of ours.

use anyhow::Context;
use app::ledger::json::Json;
use app::ledger::key::InboundKey;
use ascertain::ledger::admit::Admit;
use ascertain::ledger::{Ledger, Operator, Principal, people};
use ascertain::store;
use ascertain::store::codec::Id;
use serde_json::{Value, json};

use super::cast::Cast;

pub struct Customer {
    /// 0: acme, 1: globex.
    pub tenant: usize,
    pub id: &'static str,
    pub name: &'static str,
    pub currency: &'static str,
}

const fn customer(tenant: usize, id: &'static str, name: &'static str, currency: &'static str) -> Customer {
    Customer { tenant, id, name, currency }
}

pub const CUSTOMERS: [Customer; 12] = [
    customer(0, "c-1001", "Alder & Finch", "USD"),
    customer(0, "c-1002", "Brightwater Labs", "USD"),
    customer(1, "c-1001", "Nordlys AS", "EUR"),
    customer(0, "c-1003", "Cobalt Robotics", "USD"),
    customer(1, "c-2002", "Quarry Street Bakery", "EUR"),
    customer(0, "c-1004", "Delphi Freight", "EUR"),
    customer(1, "c-2003", "Rosewood Clinics", "GBP"),
    customer(0, "c-1005", "Ember Studio", "USD"),
    customer(1, "c-2004", "Sable Analytics", "USD"),
    customer(0, "c-1006", "Fjord Energy", "EUR"),
    customer(1, "c-2005", "Tern Logistics", "CHF"),
    customer(0, "c-1007", "Granite Insurance", "USD"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    TooMany,
    AnswerLost,
    NotJson,
    KeyAnswerLost,
    MessageAnswerLost,
    KeyConflict,
    CreditsDown,
    AllDown,
    Over,
}

impl Mishap {
    pub fn faults(self) -> Value {
        let credits = json!({"method": "POST", "path_prefix": "/v1/groups", "path_suffix": "/credits"});
        let answer = |status: u16, code: &str| {
            json!({"status": status, "headers": {"content-type": "application/json", "Retry-After": "20"},
                "body": json!({"error": {"code": code, "message": "The partner says so."}}).to_string()})
        };
        let once =
            |matched: Value, at: &str, deed: Value| json!([{"match": matched, "at": at, "do": deed, "times": 1}]);
        match self {
            Mishap::TooMany => once(credits, "before", answer(429, "too_many_requests")),
            Mishap::AnswerLost => once(credits, "after", json!("close")),
            Mishap::NotJson => once(credits, "after", json!("html")),
            Mishap::KeyAnswerLost => {
                let keys = json!({"method": "POST", "path_prefix": "/v1/groups", "path_suffix": "/keys"});
                once(keys, "after", json!("close"))
            }
            Mishap::MessageAnswerLost => {
                once(json!({"method": "POST", "path_prefix": "/v1/messages"}), "after", json!("close"))
            }
            Mishap::KeyConflict => once(credits, "before", answer(409, "key_payload_mismatch")),
            Mishap::CreditsDown => json!([{"match": credits, "at": "before", "do": answer(503, "unavailable")}]),
            Mishap::AllDown => {
                json!([{"match": {"method": "*", "path_prefix": "/v1"}, "at": "before", "do": answer(503, "unavailable")}])
            }
            Mishap::Over => json!([]),
        }
    }
}

/// Those who act, with their rights of now.
pub struct Actors {
    pub ledger: Ledger,
    clients: [Principal; 2],
    finance: Operator,
}

impl Actors {
    pub async fn of(ledger: &Ledger, cast: &Cast) -> anyhow::Result<Actors> {
        let client = async |token: &str| ledger.authenticate(token).await?.context("a demo's client is not known");
        let clients = [client(&cast.client_token).await?, client(&cast.client2_token).await?];
        let mut tx = ledger.db.read().await?;
        let person = store::people::find_by_email(&mut tx, "finance@ascertain.test").await?;
        let person = person.context("finance@ is not known")?;
        let finance = people::operator(&mut tx, &person).await?.context("finance@ is disabled")?;
        Ok(Actors { ledger: ledger.clone(), clients, finance })
    }

    pub async fn sign_up(&self, customer: &Customer) -> anyhow::Result<()> {
        let params = json!({"external_id": customer.id, "name": customer.name, "signup_version": 1,
            "spend_limit": "2500.00", "currency": customer.currency});
        let key = InboundKey::parse(format!("sign-up-{}", customer.id))?;
        let who = &self.clients[customer.tenant];
        self.ledger.admit_customer(who, &key, &Json::from(params), &format!("sign-up:{}", customer.id)).await?;
        Ok(())
    }

    pub async fn ask(&self, tenant: usize, contract: &str, key: &str, params: Value) -> anyhow::Result<Id> {
        let key = InboundKey::parse(key)?;
        let cmd = Admit { contract: contract.into(), params: Json::from(params), customer: None };
        let correlation = format!("{contract}:{}", key.digest().get(..8).unwrap_or_default());
        Ok(self.ledger.admit(&self.clients[tenant], &key, cmd, &correlation).await?.operation().id)
    }

    pub async fn top_up(&self, customer: &Customer, payment: &str, amount: &str) -> anyhow::Result<Id> {
        let params = json!({"customer_id": customer.id, "amount": amount, "currency": customer.currency,
            "payment_id": payment});
        self.ask(customer.tenant, "top_up_credit", &format!("payment-{payment}"), params).await
    }

    /// Finance says yes, or no with a reason, to an operation that is held.
    pub async fn judge(&self, operation: Id, no: Option<&str>) -> anyhow::Result<()> {
        let mut tx = self.ledger.db.read().await?;
        let row = store::operations::find(&mut tx, operation).await?.context("the operation is gone")?;
        drop(tx);
        // Somebody at the console may have been first.
        let Some(proposal) = row.proposal_id else { return Ok(()) };
        match no {
            None => self.ledger.approve(&self.finance, proposal, row.version, "demo:approve").await?,
            Some(reason) => self.ledger.decline(&self.finance, proposal, reason, "demo:decline").await?,
        };
        Ok(())
    }
}
