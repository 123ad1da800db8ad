//! The wire: the one HTTP client of the ledger. One call is one request on one fresh connection, and a report of what happened.
//!
//! Leaves out on purpose what other clients do unasked: retries, redirects, proxies from the environment, decompression,
//! pooling, session resumption. Reads no meaning into an answer, logs nothing, and knows no SQL.
//! Invariant: `NotSent` is reported only if no byte of the request was handed to the stream above TLS; whatever happens
//! after that, a second connection is never opened.

mod boot_clock;
mod exchange;
mod fault;
mod journal;
mod origin;
mod request;
mod route;
mod tls;
mod watched;

use std::fmt;
use std::pin::Pin;

use app::ledger::wire::{NotSent, WireEnd, WireReport};
use tokio::time::{Instant, timeout_at};

pub use boot_clock::{BootClock, BootInstant, boot_now};
pub use exchange::BODY_LIMIT;
pub use origin::{NotAnOrigin, Origin};
pub use tls::{NoRoots, TlsClient};

use journal::Journal;
use watched::{Gate, WatchedStream};

/// One request, ready to go.
pub struct Outgoing<'a> {
    pub method: &'a str,
    pub origin: &'a Origin,
    /// Percent-encoded, from the first `/`; no fragment.
    pub path_and_query: &'a str,
    /// In the order given. Those that frame the message or route it belong to the connector and are refused.
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// The header in which this partner names its request; kept from the answer.
    pub request_id_header: &'a str,
    /// Covers everything: resolve, connect, TLS, request, headers, body.
    pub deadline: Instant,
    /// Later than this, nothing is written.
    pub send_by: BootInstant,
}

/// Header values and the query may hold secrets or people's names.
impl fmt::Debug for Outgoing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path_and_query.split('?').next().unwrap_or_default();
        f.debug_struct("Outgoing")
            .field("method", &self.method)
            .field("origin", &self.origin)
            .field("path", &path)
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("body", &self.body.as_ref().map(|body| format!("{} bytes", body.len())))
            .finish_non_exhaustive()
    }
}

pub type Sending<'a> = Pin<Box<dyn Future<Output = WireReport> + Send + 'a>>;

/// The edge that tests replace.
pub trait Wire: Send + Sync {
    /// Dropping the future drops the connection.
    fn send<'a>(&'a self, outgoing: Outgoing<'a>) -> Sending<'a>;
}

/// The real wire.
#[derive(Clone)]
pub struct HttpWire {
    tls: TlsClient,
    clock: BootClock,
}

impl HttpWire {
    pub fn new(tls: TlsClient, clock: BootClock) -> Self {
        HttpWire { tls, clock }
    }
}

impl Wire for HttpWire {
    fn send<'a>(&'a self, outgoing: Outgoing<'a>) -> Sending<'a> {
        Box::pin(send(outgoing, &self.tls, &self.clock))
    }
}

/// One request on a fresh connection, closed afterwards.
pub async fn send(outgoing: Outgoing<'_>, tls: &TlsClient, clock: &BootClock) -> WireReport {
    let journal = Journal::start();
    let (deadline, origin) = (outgoing.deadline, outgoing.origin);
    let end = match timeout_at(deadline, attempt(outgoing, tls, clock, &journal)).await {
        Ok(end) => end,
        Err(_) => fault::deadline_passed(&journal, origin),
    };
    journal.report(end)
}

async fn attempt(outgoing: Outgoing<'_>, tls: &TlsClient, clock: &BootClock, journal: &Journal) -> WireEnd {
    let gate = Gate::new(clock.clone(), outgoing.send_by, outgoing.deadline);
    let (origin, deadline, request_id_header) = (outgoing.origin, outgoing.deadline, outgoing.request_id_header);
    let request = match request::build(outgoing) {
        Ok(request) => request,
        Err(unwritable) => return WireEnd::NotSent { why: NotSent::Local, detail: unwritable.to_string() },
    };
    let stream = match route::open(origin, tls, deadline, journal).await {
        Ok(stream) => stream,
        Err(end) => return end,
    };
    exchange::run(WatchedStream::new(stream, gate, journal.clone()), request, request_id_header, journal).await
}
