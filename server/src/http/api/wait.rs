//! `Prefer: wait=N`: staying on the line until an operation is settled or the time is over.
//!
//! Holds no transaction while it waits. Invariant: the answer is one that a read at its end would give, under the rights
//! of that moment.

use std::time::Duration;

use axum::http::HeaderMap;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout_at};

use super::super::problem::Problem;
use super::caller::Caller;
use super::seats::{Kind, Seat};
use crate::ledger::Ledger;
use crate::store::operations::{self, Operation};

/// Longest wait that is granted.
const LONGEST: u64 = 30;
/// Another process on the same database may settle it without our hearing.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A granted wait.
pub struct Wait {
    seconds: u64,
    until: Instant,
    changes: Receiver<()>,
    _seat: Seat,
}

impl Wait {
    /// To be called before admission, so that no change is missed. A preference that is not understood is ignored.
    pub fn granted(headers: &HeaderMap, caller: &Caller, ledger: &Ledger) -> Option<Wait> {
        let seconds = preferred(headers)?.min(LONGEST);
        let seat = caller.seats.take(Kind::Wait, &caller.who.id)?;
        Some(Wait {
            seconds,
            until: Instant::now() + Duration::from_secs(seconds),
            changes: ledger.listen(),
            _seat: seat,
        })
    }

    /// The value of `Preference-Applied`.
    pub fn applied(&self) -> String {
        format!("wait={}", self.seconds)
    }

    pub async fn settled(&mut self, ledger: &Ledger, mut row: Operation) -> Result<Operation, Problem> {
        while row.settled_at.is_none() && Instant::now() < self.until {
            let look = self.until.min(Instant::now() + LOOK_AGAIN);
            // Time over, or so far behind that changes were dropped: both mean to look again.
            if let Ok(Err(RecvError::Closed)) = timeout_at(look, self.changes.recv()).await {
                break;
            }
            while self.changes.try_recv().is_ok() {}
            let mut tx = ledger.db.read().await.map_err(crate::ledger::Error::from)?;
            let found = operations::find(&mut tx, row.id).await.map_err(crate::ledger::Error::from)?;
            row = found.unwrap_or(row);
        }
        Ok(row)
    }
}

/// Seconds of the first `wait` (RFC 7240: the first one counts).
fn preferred(headers: &HeaderMap) -> Option<u64> {
    let values = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let mut preferences = values.flat_map(|value| value.split(',')).map(|text| text.split(';').next().unwrap_or(text));
    let wait = preferences.find_map(|preference| {
        let (name, seconds) = preference.split_once('=')?;
        name.trim().eq_ignore_ascii_case("wait").then(|| seconds.trim().trim_matches('"').to_string())
    })?;
    wait.parse::<u64>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_found_among_other_preferences() {
        let seconds = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("prefer", text.parse().unwrap());
            preferred(&headers)
        };
        assert_eq!(seconds("wait=10"), Some(10));
        assert_eq!(seconds("respond-async, Wait = \"7\"; foo"), Some(7));
        for text in ["return=minimal", "wait", "wait=soon", "wait=-1"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
