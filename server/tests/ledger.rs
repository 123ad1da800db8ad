//! The ledger's commands and workers, on both databases.
//!
//! Leaves HTTP, pages and the wire's bytes to their own tests. Invariant: what a test says of effects was counted at the
//! partner.

#![allow(clippy::unwrap_used, reason = "clippy knows tests by their attribute; `both!` has bodies without one")]

#[path = "support/bench.rs"]
mod support;

#[path = "ledger/common_path.rs"]
mod common_path;
