//! The API as its callers meet it: the router called directly, on both databases.
//!
//! Leaves sockets and the wire to their own tests. Invariant: what a test says is stored was counted in the store.

#![allow(clippy::unwrap_used, reason = "clippy knows tests by their attribute; bodies of `both!` have none")]

#[path = "api/bench.rs"]
mod bench;

#[path = "api/admission.rs"]
mod admission;
#[path = "api/customers.rs"]
mod customers;
#[path = "api/reading.rs"]
mod reading;
#[path = "api/refusals.rs"]
mod refusals;
#[path = "api/rights.rs"]
mod rights;
#[path = "api/spelling.rs"]
mod spelling;
