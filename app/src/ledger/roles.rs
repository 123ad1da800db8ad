//! Who may do what: one pure table, written by hand as a matrix in `docs/roles.md`.
//!
//! Tenants and objects are checked where they are loaded (an object of another tenant does not exist). Who may not
//! approve *this* proposal although they may approve such things is `proposal`. Invariant: an auditor changes nothing.

use serde::{Deserialize, Serialize};

use super::contract::Risk;
use super::word::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Support,
    Finance,
    Admin,
    Auditor,
}

words!(Role { Support = "support", Finance = "finance", Admin = "admin", Auditor = "auditor" });

/// What people do in the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    See,
    Export,
    SeeSensitive,
    TakeOver,
    Release,
    Break,
    AskPartner,
    Automate,
    AttachEvidence,
    Decide,
    Cancel,
    /// Agree to a held send.
    Approve,
    PauseUpstream,
    ManagePeople,
    ManageClients,
}

words!(Verb {
    See = "see",
    Export = "export",
    SeeSensitive = "see_sensitive",
    TakeOver = "take_over",
    Release = "release",
    Break = "break",
    AskPartner = "ask_partner",
    Automate = "automate",
    AttachEvidence = "attach_evidence",
    Decide = "decide",
    Cancel = "cancel",
    Approve = "approve",
    PauseUpstream = "pause_upstream",
    ManagePeople = "manage_people",
    ManageClients = "manage_clients",
});

/// What it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matter {
    pub risk: Risk,
    pub money: bool,
}

impl Matter {
    /// Where the verb does not depend on an operation.
    pub const NONE: Matter = Matter { risk: Risk::Low, money: false };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leave {
    No,
    /// May write it down; somebody who may do it has to agree.
    Propose,
    Yes,
}

/// The best that any of the roles allows.
pub fn leave(roles: &[Role], verb: Verb, matter: Matter) -> Leave {
    roles.iter().map(|role| of_role(*role, verb, matter)).max().unwrap_or(Leave::No)
}

fn of_role(role: Role, verb: Verb, matter: Matter) -> Leave {
    let high = matter.risk == Risk::High;
    match (role, verb) {
        (_, Verb::See | Verb::Export) => Leave::Yes,
        (Role::Auditor, _) => Leave::No,
        (Role::Finance, Verb::SeeSensitive) if matter.money => Leave::Yes,
        (_, Verb::SeeSensitive) => Leave::No,
        (Role::Finance, Verb::Decide) if matter.money => Leave::Yes,
        (Role::Admin, Verb::Decide) if !matter.money => Leave::Yes,
        (_, Verb::Decide) => {
            if high {
                Leave::Propose
            } else {
                Leave::Yes
            }
        }
        (Role::Finance, Verb::Approve) if matter.money => Leave::Yes,
        (Role::Admin, Verb::Approve) if !matter.money => Leave::Yes,
        (_, Verb::Approve) => Leave::No,
        (Role::Admin, Verb::PauseUpstream | Verb::ManagePeople | Verb::ManageClients) => Leave::Yes,
        (_, Verb::PauseUpstream | Verb::ManagePeople | Verb::ManageClients) => Leave::No,
        (
            Role::Support | Role::Finance | Role::Admin,
            Verb::TakeOver
            | Verb::Release
            | Verb::Break
            | Verb::AskPartner
            | Verb::Automate
            | Verb::AttachEvidence
            | Verb::Cancel,
        ) => Leave::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_matrix_is_written_down() {
        let mut table = String::new();
        for role in Role::ALL {
            for verb in Verb::ALL {
                for risk in Risk::ALL {
                    for money in [false, true] {
                        let leave = leave(&[*role], *verb, Matter { risk: *risk, money });
                        table.push_str(&format!("{role:8} {verb:16} {risk:7} money={money:5} {leave:?}\n"));
                    }
                }
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn an_auditor_changes_nothing() {
        for verb in Verb::ALL {
            let leave = leave(&[Role::Auditor], *verb, Matter { risk: Risk::Low, money: true });
            assert_eq!(leave == Leave::Yes, matches!(verb, Verb::See | Verb::Export), "{verb}");
        }
    }

    #[test]
    fn without_a_role_nothing_is_allowed() {
        assert!(Verb::ALL.iter().all(|verb| leave(&[], *verb, Matter::NONE) == Leave::No));
    }
}
