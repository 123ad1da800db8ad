//! The words and rules of the ledger, one noun per file.

pub mod answer;
pub mod attempt;
pub mod canonical;
pub mod catalog;
pub mod compare;
pub mod contract;
pub mod decision;
pub mod evidence;
pub mod finding;
pub mod fingerprint;
pub mod instant;
pub mod json;
pub mod key;
pub mod money;
pub mod next_action;
pub mod params;
pub mod reason;
pub mod render;
pub mod retry_after;
pub mod roles;
pub mod status;
pub mod template;
pub mod value;
pub mod wire;
pub mod word;
pub mod workflow;
