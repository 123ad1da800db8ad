//! What happened on the wire in one attempt: how far it got, what came back, when.
//!
//! Facts only; what an answer means is read elsewhere, together with the contract. Bodies are carried but never shown:
//! `Debug` prints their length. Invariant: `WireEnd::NotSent` only where `byte_left` is false.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The phase an attempt was in when it ended; a finished answer ends in `Body`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Asking for the addresses of the host, or before that.
    Resolve,
    Connect,
    /// Connected; TLS is being agreed, or the first byte of the request has not been handed over yet.
    Handshake,
    /// A byte of the request may have left; none of the answer is in.
    Sent,
    /// A byte of the answer is in; its headers are not complete.
    Headers,
    /// The headers of the final answer are in.
    Body,
}

impl Phase {
    pub const ALL: [Phase; 6] =
        [Phase::Resolve, Phase::Connect, Phase::Handshake, Phase::Sent, Phase::Headers, Phase::Body];

    pub const fn as_str(self) -> &'static str {
        match self {
            Phase::Resolve => "resolve",
            Phase::Connect => "connect",
            Phase::Handshake => "handshake",
            Phase::Sent => "sent",
            Phase::Headers => "headers",
            Phase::Body => "body",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why no byte of the request left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotSent {
    Dns,
    /// No connection, or it was gone again before the first byte.
    Connect,
    Tls,
    /// The boot clock was past send-by immediately before the first byte.
    SendByMissed,
    CredentialsMissing,
    /// This request itself can't be written: method, path or headers.
    Local,
}

impl NotSent {
    pub const fn as_str(self) -> &'static str {
        match self {
            NotSent::Dns => "dns",
            NotSent::Connect => "connect",
            NotSent::Tls => "tls",
            NotSent::SendByMissed => "send_by_missed",
            NotSent::CredentialsMissing => "credentials_missing",
            NotSent::Local => "local",
        }
    }
}

/// How an exchange broke after a byte of the request may have left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Broken {
    /// The partner closed before the headers of its answer were complete.
    Closed,
    /// As `Closed`, by a reset.
    Reset,
    /// The attempt's deadline passed, in whatever phase.
    Timeout,
    /// The answer's headers are not HTTP/1.1.
    Protocol,
    /// The answer's body has framing that can't be read. A body that merely stops is `WireEnd::Answer`, not complete.
    BodyBroken,
}

impl Broken {
    pub const fn as_str(self) -> &'static str {
        match self {
            Broken::Closed => "closed",
            Broken::Reset => "reset",
            Broken::Timeout => "timeout",
            Broken::Protocol => "protocol",
            Broken::BodyBroken => "body_broken",
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub enum WireEnd {
    /// The headers of a final answer came in whole.
    Answer {
        status: u16,
        /// Lower-case names, in the order received: content type, retry-after, date, the partner's request id.
        /// `location` is there as `present`: its value is never kept.
        headers: Vec<(String, String)>,
        /// What was read of the body, up to the limit.
        body: Vec<u8>,
        /// The framing came to its end. Otherwise the body is a fragment, however whole it looks.
        complete: bool,
        /// Cut at the limit; then never `complete`.
        too_large: bool,
    },
    NotSent {
        why: NotSent,
        detail: String,
    },
    Broken {
        why: Broken,
        detail: String,
    },
}

impl fmt::Debug for WireEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireEnd::Answer { status, headers, body, complete, too_large } => f
                .debug_struct("Answer")
                .field("status", status)
                .field("headers", headers)
                .field("body", &format_args!("{} bytes", body.len()))
                .field("complete", complete)
                .field("too_large", too_large)
                .finish(),
            WireEnd::NotSent { why, detail } => {
                f.debug_struct("NotSent").field("why", why).field("detail", detail).finish()
            }
            WireEnd::Broken { why, detail } => {
                f.debug_struct("Broken").field("why", why).field("detail", detail).finish()
            }
        }
    }
}

/// Microseconds since the attempt started; absent where it didn't get so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timings {
    pub connected_us: Option<u64>,
    pub first_byte_out_us: Option<u64>,
    pub last_byte_out_us: Option<u64>,
    pub first_byte_in_us: Option<u64>,
    pub end_us: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireReport {
    pub phase: Phase,
    /// A byte of the request was handed to the stream above TLS. This alone decides "not sent".
    pub byte_left: bool,
    pub end: WireEnd,
    pub timings: Timings,
}

impl WireReport {
    /// An attempt that ended before anything was opened: no credentials, or a request that can't be written.
    pub fn never_opened(why: NotSent, detail: impl Into<String>) -> Self {
        WireReport {
            phase: Phase::Resolve,
            byte_left: false,
            end: WireEnd::NotSent { why, detail: detail.into() },
            timings: Timings::default(),
        }
    }

    /// The first kept header of that lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        match &self.end {
            WireEnd::Answer { headers, .. } => headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str()),
            WireEnd::NotSent { .. } | WireEnd::Broken { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_phases_and_reasons_are_their_serde_names() {
        for phase in Phase::ALL {
            assert_eq!(serde_json::to_value(phase).unwrap(), phase.as_str());
        }
        for why in [
            NotSent::Dns,
            NotSent::Connect,
            NotSent::Tls,
            NotSent::SendByMissed,
            NotSent::CredentialsMissing,
            NotSent::Local,
        ] {
            assert_eq!(serde_json::to_value(why).unwrap(), why.as_str());
        }
        for why in [Broken::Closed, Broken::Reset, Broken::Timeout, Broken::Protocol, Broken::BodyBroken] {
            assert_eq!(serde_json::to_value(why).unwrap(), why.as_str());
        }
    }

    #[test]
    fn phases_are_ordered_as_they_come() {
        assert!(Phase::ALL.is_sorted());
        assert!(Phase::Handshake < Phase::Sent);
    }

    #[test]
    fn a_report_shown_for_debugging_keeps_the_body_to_itself() {
        let end = WireEnd::Answer {
            status: 201,
            headers: vec![],
            body: b"sk_live_secret".to_vec(),
            complete: true,
            too_large: false,
        };
        let shown = format!("{end:?}");
        assert!(shown.contains("14 bytes") && !shown.contains("secret"), "{shown}");
    }
}
