//! The rules and the pages of Ascertain.
//!
//! Pure: no clock, no randomness, no I/O. `ledger` decides, `ui` draws; `ui` may use `ledger`, never the other way.
//! Instants and ids come in as arguments. Invariant: calling anything here twice with the same arguments gives the same answer.

pub mod ledger;
pub mod ui;
