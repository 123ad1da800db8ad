//! What an error of the stack below means for a report.
//!
//! The class of an error never decides "not sent": only the journal does. Details are for people and hold no content.
//! Invariant: once a byte has left, everything here is `Broken`.

use std::error::Error;
use std::io;

use app::ledger::wire::{Broken, NotSent, Phase, WireEnd};

use super::journal::Journal;
use super::origin::Origin;

const DETAIL_LIMIT: usize = 200;

pub(super) fn not_sent(why: NotSent, error: &dyn Error) -> WireEnd {
    WireEnd::NotSent { why, detail: detail(error) }
}

/// The exchange failed before the headers of an answer were complete.
pub(super) fn before_answer(error: &hyper::Error, journal: &Journal) -> WireEnd {
    if journal.has_byte_left() {
        return WireEnd::Broken { why: broken(error), detail: detail(error) };
    }
    let why = match journal.has_missed_send_by() {
        true => NotSent::SendByMissed,
        false if error.is_user() => NotSent::Local,
        false => NotSent::Connect,
    };
    not_sent(why, error)
}

/// The body of an answer stopped, rather than being malformed.
pub(super) fn is_cut_off(error: &hyper::Error) -> bool {
    matches!(broken(error), Broken::Closed | Broken::Reset)
}

pub(super) fn in_body(error: &hyper::Error, status: u16) -> WireEnd {
    let why = if broken(error) == Broken::Timeout { Broken::Timeout } else { Broken::BodyBroken };
    WireEnd::Broken { why, detail: format!("after status {status}: {}", detail(error)) }
}

pub(super) fn deadline_passed(journal: &Journal, origin: &Origin) -> WireEnd {
    let phase = journal.phase();
    let detail = format!("deadline passed in phase {phase}");
    if journal.has_byte_left() {
        return WireEnd::Broken { why: Broken::Timeout, detail };
    }
    let why = match phase {
        Phase::Resolve => NotSent::Dns,
        Phase::Handshake if origin.is_https() => NotSent::Tls,
        _ => NotSent::Connect,
    };
    WireEnd::NotSent { why, detail }
}

fn broken(error: &hyper::Error) -> Broken {
    match io_kind(error) {
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe) => {
            Broken::Reset
        }
        Some(io::ErrorKind::UnexpectedEof) => Broken::Closed,
        Some(io::ErrorKind::TimedOut) => Broken::Timeout,
        None if error.is_incomplete_message() || error.is_closed() || error.is_canceled() => Broken::Closed,
        Some(_) | None => Broken::Protocol,
    }
}

fn io_kind(error: &hyper::Error) -> Option<io::ErrorKind> {
    let mut cause = error.source();
    while let Some(next) = cause {
        if let Some(io) = next.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        cause = next.source();
    }
    None
}

/// The error and its causes, each said once.
fn detail(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let words = next.to_string();
        if !said.contains(&words) {
            said = format!("{said}: {words}");
        }
        cause = next.source();
    }
    said.chars().filter(|c| !c.is_control()).take(DETAIL_LIMIT).collect()
}
