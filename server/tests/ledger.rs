//! The ledger's commands and workers, on both databases.
//!
//! Leaves HTTP, pages and the wire's bytes to their own tests. Invariant: what a test says of effects was counted at the
//! partner.

#![allow(clippy::unwrap_used, reason = "clippy knows tests by their attribute; `both!` has bodies without one")]

#[path = "support/bench.rs"]
mod support;

#[path = "ledger/answers.rs"]
mod answers;
#[path = "ledger/approvals.rs"]
mod approvals;
#[path = "ledger/common_path.rs"]
mod common_path;
#[path = "ledger/generations.rs"]
mod generations;
#[path = "ledger/leases.rs"]
mod leases;
#[path = "ledger/opaque.rs"]
mod opaque;
#[path = "ledger/provisioning.rs"]
mod provisioning;
#[path = "ledger/takeover.rs"]
mod takeover;
#[path = "ledger/targets.rs"]
mod targets;
#[path = "ledger/unsent.rs"]
mod unsent;
