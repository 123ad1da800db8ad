//! Ascertain's server: it remembers and acts; what is decided is decided in `app`.
//!
//! `http` and `worker` call commands (`ledger`), commands call `store`. `store` knows no HTTP, `connector` no SQL.
//! Invariant: no transaction is open across a network call.

pub mod clock;
pub mod connector;
pub mod http;
pub mod ids;
pub mod keys;
pub mod ledger;
pub mod sandbox;
pub mod store;
pub mod worker;
