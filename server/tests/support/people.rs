//! The people of a bench, one per role and a second one in support, with rows behind them.
//!
//! Nobody here can sign in. Invariant: each works in the bench's tenant and in no other.

use app::ledger::roles::Role;
use ascertain::ids::new_id;
use ascertain::ledger::{Ledger, Operator};
use ascertain::store::codec::{At, Id};
use ascertain::store::people::{self, Person};
use ascertain::store::tenants;

use super::TENANT;

#[derive(Clone, Debug)]
pub struct People {
    pub support: Operator,
    pub support2: Operator,
    pub finance: Operator,
    pub admin: Operator,
    pub auditor: Operator,
}

impl People {
    pub async fn hire(ledger: &Ledger) -> People {
        People {
            support: hire(ledger, "Sam", &[Role::Support]).await,
            support2: hire(ledger, "Sol", &[Role::Support]).await,
            finance: hire(ledger, "Fin", &[Role::Finance]).await,
            admin: hire(ledger, "Ada", &[Role::Admin]).await,
            auditor: hire(ledger, "Aud", &[Role::Auditor]).await,
        }
    }
}

pub async fn hire(ledger: &Ledger, name: &str, roles: &[Role]) -> Operator {
    let mut tx = ledger.db.write().await.unwrap();
    let now = At(tx.now(&ledger.clock).await.unwrap());
    let person = Person {
        id: Id(new_id()),
        email: format!("{}@example.com", name.to_lowercase()),
        name: name.into(),
        password_hash: "(cannot sign in)".into(),
        roles: roles.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(","),
        all_tenants: false,
        zone: "UTC".into(),
        created_at: now,
        disabled_at: None,
        approves_from: None,
        failed_sign_ins: 0,
        locked_until: None,
    };
    tenants::ensure(&mut tx, TENANT, now).await.unwrap();
    people::insert(&mut tx, &person).await.unwrap();
    people::add_tenant(&mut tx, person.id, TENANT).await.unwrap();
    tx.commit().await.unwrap();
    Operator {
        id: person.id,
        name: person.name,
        email: person.email,
        roles: roles.to_vec(),
        tenants: vec![TENANT.into()],
        zone: person.zone,
    }
}
