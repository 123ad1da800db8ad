//! The words and rules of the ledger, one noun per file.

pub mod canonical;
pub mod catalog;
pub mod compare;
pub mod contract;
pub mod fingerprint;
pub mod instant;
pub mod json;
pub mod key;
pub mod money;
pub mod params;
pub mod render;
pub mod status;
pub mod template;
pub mod value;
