//! One file per page, named as its address: `/queue` is `queue`.
//!
//! A page is a struct of plain values and a function that draws it. It reads no clock and asks nothing of anybody.
//! Invariant: `page` is pure; what a reader may not see is not in the struct.

pub mod approval;
pub mod approvals;
pub mod audit;
pub mod catalog;
pub mod customer;
pub mod customers;
pub mod not_found;
pub mod operation;
pub mod operations;
pub mod overview;
pub mod problem;
pub mod profile;
pub mod queue;
pub mod sign_in;
pub mod upstreams;
pub mod workers;
