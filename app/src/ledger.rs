//! The words and rules of the ledger, one noun per file.

pub mod contract;
pub mod instant;
pub mod retry_after;
pub mod status;
pub mod value;
pub mod wire;
