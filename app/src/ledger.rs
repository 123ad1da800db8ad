//! The words and rules of the ledger, one noun per file.

pub mod contract;
pub mod instant;
pub mod json;
pub mod key;
pub mod status;
pub mod value;
