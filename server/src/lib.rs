//! server

pub mod sandbox;
