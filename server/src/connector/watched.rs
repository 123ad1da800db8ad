//! The stream above TLS, watched: it notes when bytes go and come, and holds the gate before the first one.
//!
//! Looks at no content. Invariants: `byte_leaves` is noted before a byte is handed on, never after; before the first
//! byte the boot clock is read, and past send-by nothing is handed on.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

use super::boot_clock::{BootClock, BootInstant};
use super::journal::Journal;

pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    fn tcp(&self) -> &TcpStream {
        match self {
            Stream::Plain(tcp) => tcp,
            Stream::Tls(tls) => tls.get_ref().0,
        }
    }

    /// Reading and writing are the same for both kinds.
    fn bytes(&mut self) -> Pin<&mut dyn ReadWrite> {
        match self {
            Stream::Plain(tcp) => Pin::new(tcp as &mut dyn ReadWrite),
            Stream::Tls(tls) => Pin::new(tls.as_mut() as &mut dyn ReadWrite),
        }
    }
}

trait ReadWrite: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> ReadWrite for T {}

/// Until when bytes of the request may be handed over, as the boot clock tells it.
pub(super) struct Gate {
    clock: BootClock,
    first_byte_by: BootInstant,
    last_byte_by: BootInstant,
}

impl Gate {
    /// The deadline is also held against the boot clock: after a suspension the runtime's own timer fires late.
    pub(super) fn new(clock: BootClock, send_by: BootInstant, deadline: Instant) -> Self {
        let last_byte_by = clock.now().plus(deadline.saturating_duration_since(Instant::now()));
        Gate { clock, first_byte_by: send_by, last_byte_by }
    }
}

pub(super) struct WatchedStream {
    stream: Stream,
    gate: Gate,
    journal: Journal,
    /// The stream has taken a byte; until then the gate is asked again on each try.
    taken: bool,
}

impl WatchedStream {
    pub(super) fn new(stream: Stream, gate: Gate, journal: Journal) -> Self {
        WatchedStream { stream, gate, journal, taken: false }
    }

    /// After a whole answer there is nothing left to abort: close as usual instead of with a reset.
    pub(super) fn close_in_peace(self) {
        #[expect(deprecated, reason = "a linger time can block the thread on drop; none at all can't")]
        let _ = self.stream.tcp().set_linger(None);
    }

    fn may_write(&self) -> io::Result<()> {
        let now = self.gate.clock.now();
        if !self.taken && now > self.gate.first_byte_by {
            self.journal.send_by_missed();
            return Err(io::Error::other("send-by missed"));
        }
        if now > self.gate.last_byte_by {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "deadline passed"));
        }
        Ok(())
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        this.may_write()?;
        this.journal.byte_leaves();
        let result = this.stream.bytes().poll_write(cx, buf);
        if matches!(result, Poll::Ready(Ok(taken)) if taken > 0) {
            this.taken = true;
            this.journal.bytes_taken();
        }
        result
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().stream.bytes().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().stream.bytes().poll_shutdown(cx)
    }
}

impl AsyncRead for WatchedStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let result = this.stream.bytes().poll_read(cx, buf);
        if buf.filled().len() > before {
            this.journal.byte_came();
        }
        result
    }
}
