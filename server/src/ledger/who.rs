//! Who asks and who acts.
//!
//! Invariant: rights are those of now; an `Operator` or a client's rights are read again for each request.

use app::ledger::roles::{Leave, Matter, Role, Verb, leave};

use crate::store::codec::Id;

/// Whose operation it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub tenant: String,
    /// `client`, `person` or `workflow`.
    pub kind: String,
    pub id: String,
    pub name: String,
    /// Contracts it may use now.
    pub contracts: Vec<String>,
    pub scopes: Vec<String>,
    /// People whose approval of this principal's requests does not count.
    pub behind: Vec<Id>,
}

impl Principal {
    pub fn may_use(&self, contract: &str) -> bool {
        self.contracts.iter().any(|name| name == contract || name == "*")
    }

    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|name| name == scope)
    }

    /// How it stands in the keys' scope and the operations' row.
    pub fn reference(&self) -> String {
        format!("{}:{}", self.kind, self.id)
    }
}

/// A person at the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    pub id: Id,
    pub name: String,
    pub email: String,
    pub roles: Vec<Role>,
    pub tenants: Vec<String>,
    pub zone: String,
}

impl Operator {
    pub fn may(&self, verb: Verb, matter: Matter) -> Leave {
        leave(&self.roles, verb, matter)
    }

    pub fn sees(&self, tenant: &str) -> bool {
        self.tenants.iter().any(|own| own == tenant)
    }

    /// The tenants as the store's filters want them.
    pub fn tenants_json(&self) -> String {
        tenants_json(&self.tenants)
    }

    pub fn actor(&self, correlation: &str) -> Actor {
        Actor {
            kind: "person",
            id: self.id.to_string(),
            name: self.email.clone(),
            roles: self.roles.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(","),
            correlation: correlation.to_string(),
        }
    }
}

pub fn tenants_json(tenants: &[String]) -> String {
    serde_json::Value::from(tenants.to_vec()).to_string()
}

/// Who an audit row names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    pub kind: &'static str,
    pub id: String,
    pub name: String,
    pub roles: String,
    pub correlation: String,
}

impl Actor {
    pub fn worker(name: &str, correlation: &str) -> Actor {
        Actor {
            kind: "worker",
            id: name.to_string(),
            name: "automation".into(),
            roles: String::new(),
            correlation: correlation.to_string(),
        }
    }

    pub fn of(principal: &Principal, correlation: &str) -> Actor {
        Actor {
            kind: if principal.kind == "client" { "client" } else { "person" },
            id: principal.id.clone(),
            name: principal.name.clone(),
            roles: String::new(),
            correlation: correlation.to_string(),
        }
    }
}
