//! `ascertain`: the command line.
//!
//! Each verb is one file under `command`; `demo` is large enough for a folder of its own. Only here and in the verbs is
//! an error a sentence for people (`anyhow`). Invariant: standard output carries what was asked for, the log goes to
//! standard error.

use std::process::ExitCode;

use clap::Parser;

mod command;
mod config;
mod demo;
mod telemetry;

fn main() -> ExitCode {
    let line = command::Line::parse();
    match command::run(line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ascertain: {error:#}");
            ExitCode::FAILURE
        }
    }
}
