//! The way to a partner: its addresses, a connection to one of them, TLS over it.
//!
//! Tries the addresses in the resolver's order; no racing, no proxy. Everything here happens before any byte of the
//! request exists. Invariant: once one address has connected, no other is tried.

use std::io;
use std::net::SocketAddr;

use app::ledger::wire::{NotSent, Phase, WireEnd};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};

use super::fault;
use super::journal::Journal;
use super::origin::Origin;
use super::tls::TlsClient;
use super::watched::Stream;

const ADDRESS_LIMIT: usize = 8;

pub(super) async fn open(
    origin: &Origin,
    tls: &TlsClient,
    deadline: Instant,
    journal: &Journal,
) -> Result<Stream, WireEnd> {
    let addresses = resolve(origin).await.map_err(|error| fault::not_sent(NotSent::Dns, &error))?;
    journal.reach(Phase::Connect);
    let tcp = connect(&addresses, deadline).await.map_err(|error| fault::not_sent(NotSent::Connect, &error))?;
    journal.connected();
    if !origin.is_https() {
        return Ok(Stream::Plain(tcp));
    }
    match tls.agree(origin.host(), tcp).await {
        Ok(tls) => Ok(Stream::Tls(Box::new(tls))),
        Err(error) => Err(fault::not_sent(NotSent::Tls, &error)),
    }
}

async fn resolve(origin: &Origin) -> io::Result<Vec<SocketAddr>> {
    let found: Vec<SocketAddr> = lookup_host((origin.host(), origin.port())).await?.take(ADDRESS_LIMIT).collect();
    if found.is_empty() { Err(io::Error::other("the name has no address")) } else { Ok(found) }
}

async fn connect(addresses: &[SocketAddr], deadline: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::other("no address to connect to");
    let mut left = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
    for address in addresses {
        // A silent address gets its share of the time, so that the next one has a chance.
        let now = Instant::now();
        let share = now + deadline.saturating_duration_since(now) / left;
        left -= 1;
        match timeout_at(share, TcpStream::connect(address)).await {
            Ok(Ok(tcp)) => return prepare(tcp),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::Error::new(io::ErrorKind::TimedOut, "no connection in time"),
        }
    }
    Err(last)
}

fn prepare(tcp: TcpStream) -> io::Result<TcpStream> {
    tcp.set_nodelay(true)?;
    // Closing must also stop the kernel, which would otherwise go on delivering what it still holds of a request long
    // after the deadline, even for a process that was killed.
    tcp.set_zero_linger()?;
    Ok(tcp)
}
