//! server

pub mod connector;
