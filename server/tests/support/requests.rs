//! What a caller asks of a bench: top-ups, limits, messages, customers; and what people say about them.
//!
//! Each asks under a new inbound key unless it is given one. Invariant: a request is what it says, nothing is filled in.

use std::sync::atomic::{AtomicU32, Ordering};

use app::ledger::decision::Outcome;
use app::ledger::evidence::Conclusion;
use app::ledger::json::Json;
use app::ledger::key::InboundKey;
use ascertain::ledger::admit::{Admission, Admit};
use ascertain::ledger::attach_evidence::AttachStatement;
use ascertain::ledger::decide::{Decide, Decided};
use ascertain::ledger::{Error, Operator, Principal};
use ascertain::store::codec::Id;
use ascertain::store::operations::Operation;
use ascertain::store::workflow_runs::Run;
use serde_json::{Value, json};

use super::{Bench, TENANT};

static KEYS: AtomicU32 = AtomicU32::new(1);

pub fn new_key() -> String {
    format!("key-{}", KEYS.fetch_add(1, Ordering::SeqCst))
}

/// The API client that asks.
pub fn client() -> Principal {
    Principal {
        tenant: TENANT.into(),
        kind: "client".into(),
        id: "client-1".into(),
        name: "shop".into(),
        contracts: vec!["*".into()],
        scopes: Vec::new(),
        behind: Vec::new(),
    }
}

pub fn top_up_params(customer: &str, payment: &str, entry: u32, amount: &str) -> Value {
    json!({
        "customer_id": customer, "payment_id": payment, "entry": entry,
        "amount": amount, "currency": "USD",
    })
}

impl Bench {
    pub async fn ask(&self, key: &str, contract: &str, params: Value) -> Result<Admission, Error> {
        self.ask_as(&client(), key, contract, params).await
    }

    pub async fn ask_as(&self, who: &Principal, key: &str, contract: &str, params: Value) -> Result<Admission, Error> {
        let cmd = Admit { contract: contract.into(), params: Json::from(params), customer: None };
        self.ledger.admit(who, &InboundKey::parse(key).unwrap(), cmd, "correlation-1").await
    }

    /// Admits what must be new.
    pub async fn admit(&self, contract: &str, params: Value) -> Operation {
        match self.ask(&new_key(), contract, params).await.unwrap() {
            Admission::Created(row) => row,
            other => panic!("not new: {other:#?}"),
        }
    }

    pub async fn top_up(&self, customer: &str, payment: &str, amount: &str) -> Operation {
        self.admit("top_up_credit", top_up_params(customer, payment, 1, amount)).await
    }

    pub async fn set_limit(&self, customer: &str, version: u32, limit: &str) -> Operation {
        let params = json!({
            "customer_id": customer, "spend_limit": limit, "currency": "USD",
            "policy_version": version,
        });
        self.admit("set_spend_limit", params).await
    }

    pub async fn send_message(&self, message: &str) -> Operation {
        let params = json!({"to": "someone@example.com", "text": "Your order is late.", "message_id": message});
        self.admit("send_message", params).await
    }

    pub async fn provision(&self, customer: &str) -> Run {
        let params = json!({
            "external_id": customer, "name": format!("Customer {customer}"), "signup_version": 1,
            "spend_limit": "250.00", "currency": "USD",
        });
        let key = InboundKey::parse(new_key()).unwrap();
        let admitted = self.ledger.admit_customer(&client(), &key, &Json::from(params), "correlation-1").await;
        admitted.unwrap().run().clone()
    }

    // People.

    pub async fn take(&self, who: &Operator, id: Id) -> Operation {
        self.ledger.take_over(who, id, "correlation-2").await.unwrap()
    }

    pub async fn say(&self, who: &Operator, id: Id, conclusion: Conclusion) -> Operation {
        let statement = AttachStatement {
            operation: id,
            conclusion,
            as_of: None,
            text: "The partner's support looked it up for us.".into(),
            source: "phone call with the partner".into(),
            file_name: None,
            partner_id: (conclusion == Conclusion::Executed).then(|| "tx_said".to_string()),
        };
        self.ledger.attach_statement(who, statement, "correlation-2").await.unwrap()
    }

    pub async fn decide(&self, who: &Operator, id: Id, outcome: Outcome, version: i64) -> Result<Decided, Error> {
        let cmd = Decide { operation: id, outcome, reason: "as the evidence says".into(), version };
        self.ledger.decide(who, cmd, "correlation-2").await
    }

    /// Decides under the version that is stored now.
    pub async fn decide_now(&self, who: &Operator, id: Id, outcome: Outcome) -> Result<Decided, Error> {
        self.decide(who, id, outcome, self.get(id).await.version).await
    }
}
