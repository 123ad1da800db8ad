//! The words an operator reads, derived from the ledger's values.
//!
//! Decides nothing: a word never changes what may be done. Invariant: one value has one word on every page.

pub mod money;
pub mod status;
pub mod time;

pub use money::Money;
pub use status::{Mark, Says, StatusView, Tone};
pub use time::{Band, Clock};

use crate::ledger::contract::{Class, Risk};

pub const fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "Low",
        Risk::Medium => "Medium",
        Risk::High => "High",
    }
}

pub const fn class(class: Class) -> &'static str {
    match class {
        Class::Read => "read",
        Class::Idempotent => "idempotent",
        Class::Keyed => "keyed",
        Class::Opaque => "opaque",
    }
}

/// What a class promises about a second send.
pub const fn promise(class: Class) -> &'static str {
    match class {
        Class::Read => "changes nothing: ask again at any time",
        Class::Idempotent => "the same request twice leaves the same state",
        Class::Keyed => "the partner answers a repeat of our key with the first result, while its window is open",
        Class::Opaque => "a second send could be a second effect: never sent again",
    }
}

/// The first and last letters of a name, for the round mark beside it.
pub fn initials(name: &str) -> String {
    let mut words = name.split_whitespace().filter_map(|word| word.chars().next());
    let first = words.next();
    let last = words.next_back();
    first.into_iter().chain(last).flat_map(char::to_uppercase).collect()
}
