//! The words and rules of the ledger, one noun per file.

pub mod attempt;
pub mod contract;
pub mod evidence;
pub mod instant;
pub mod next_action;
pub mod reason;
pub mod status;
pub mod value;
pub mod word;
