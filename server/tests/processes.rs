//! Real processes: servers that are killed, a partner that goes on, and the demo, all of the built program.
//!
//! Leaves rules to the other suites; what is counted here is what the partner counted. Nothing sleeps in place of a
//! condition: every wait is a look that is repeated, and has an end. Invariant: whatever becomes of a test, its
//! processes and its database are gone when it ends.

#![allow(clippy::unwrap_used, reason = "clippy knows tests by their attribute; bodies of `both!` have none")]

#[path = "processes/bench.rs"]
mod bench;
#[path = "support/invariants.rs"]
#[allow(dead_code, reason = "only the whole check is used here")]
mod invariants;
#[path = "support/place.rs"]
mod place;
#[path = "processes/running.rs"]
mod running;
#[path = "sandbox/partner.rs"]
#[allow(dead_code, reason = "only its client is used here: the partner is a process")]
mod wire;

#[path = "processes/demo.rs"]
mod demo;
#[path = "processes/kills.rs"]
mod kills;
#[path = "processes/one_effect.rs"]
mod one_effect;
#[path = "processes/two_servers.rs"]
mod two_servers;
