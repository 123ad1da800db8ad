//! The log: to standard error, for people or as JSON lines.
//!
//! Leaves metrics to `http`. Invariant: nothing is logged that was not written into an event by name; request bodies,
//! headers and secrets are not.

use std::io::IsTerminal;

use anyhow::Context;
use tracing_subscriber::EnvFilter;

use crate::config::{Format, Log};

/// Starts logging. A second call changes nothing: tests and `demo` may have begun already.
pub fn start(log: &Log) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&log.level).with_context(|| format!("log.level: {:?} is no level", log.level))?;
    let to_stderr = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // An error means that a subscriber is there already.
    let _ = match log.format {
        Format::Pretty => to_stderr.with_ansi(std::io::stderr().is_terminal()).with_target(false).try_init(),
        Format::Json => to_stderr.json().try_init(),
    };
    Ok(())
}
