//! The console as its readers' browsers meet it: the router called directly, on both databases.
//!
//! Leaves scripts and looks to the journeys in `end2end`. Invariant: a form is pressed with what the page gave it, never
//! with what a test knows.

#![allow(clippy::unwrap_used, reason = "clippy knows tests by their attribute; bodies of `both!` have none")]

#[path = "support/bench.rs"]
mod support;

#[path = "console/browser.rs"]
mod browser;
#[path = "console/forms.rs"]
mod forms;
#[path = "console/journey.rs"]
mod journey;
#[path = "console/reading.rs"]
mod reading;
#[path = "console/sessions.rs"]
mod sessions;
