//! A partner on loopback: raw TCP or TLS, one scripted act for each connection.
//!
//! Knows nothing of the connector but the form of an origin. Invariant: `count` has seen every connection that was made
//! before it was asked, because it accepts one of its own after them.

use std::net::SocketAddr;

use ascertain::connector::Origin;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

/// What a partner does with a connection.
#[derive(Clone)]
pub enum Act {
    Drop,
    /// Reads the whole request, then resets.
    Reset,
    /// Reads the whole request, writes these pieces, closes.
    Say(Vec<Vec<u8>>),
    SayThenReset(Vec<u8>),
    /// Reads the whole request, writes this, and holds the line.
    SayThenHold(Vec<u8>),
    /// Writes nothing and reads until the other side ends.
    Silence,
}

pub fn say(text: impl AsRef<[u8]>) -> Act {
    Act::Say(vec![text.as_ref().to_vec()])
}

pub struct Partner {
    pub address: SocketAddr,
    pub connections: mpsc::UnboundedReceiver<SocketAddr>,
    /// What was read on each connection, once it is over.
    pub read: mpsc::UnboundedReceiver<Read>,
}

#[derive(Debug)]
pub struct Read {
    pub bytes: Vec<u8>,
    /// The other side ended with a reset, where the partner waited for its end.
    pub reset: bool,
}

impl Partner {
    pub async fn doing(act: Act) -> Partner {
        Self::open(act, None).await
    }

    pub async fn over_tls(act: Act, acceptor: TlsAcceptor) -> Partner {
        Self::open(act, Some(acceptor)).await
    }

    async fn open(act: Act, acceptor: Option<TlsAcceptor>) -> Partner {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, connections) = mpsc::unbounded_channel();
        let (note, read) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((tcp, from)) = listener.accept().await {
                let _ = seen.send(from);
                let (act, note, acceptor) = (act.clone(), note.clone(), acceptor.clone());
                tokio::spawn(async move {
                    if matches!(act, Act::Reset | Act::SayThenReset(_)) {
                        tcp.set_zero_linger().unwrap();
                    }
                    match acceptor {
                        None => play(tcp, act, note).await,
                        Some(acceptor) => match acceptor.accept(tcp).await {
                            Ok(tls) => play(tls, act, note).await,
                            Err(_) => drop(note.send(Read { bytes: Vec::new(), reset: true })),
                        },
                    }
                });
            }
        });
        Partner { address, connections, read }
    }

    pub fn origin(&self) -> Origin {
        Origin::parse(&format!("http://{}", self.address)).unwrap()
    }

    pub fn https_origin(&self) -> Origin {
        Origin::parse(&format!("https://{}", self.address)).unwrap()
    }

    /// Connections accepted so far, the probe that closes the count left out.
    pub async fn count(&mut self) -> usize {
        let probe = TcpStream::connect(self.address).await.unwrap();
        let own = probe.local_addr().unwrap();
        let mut count = 0;
        while self.connections.recv().await.unwrap() != own {
            count += 1;
        }
        count
    }

    pub async fn request(&mut self) -> String {
        String::from_utf8(self.read.recv().await.unwrap().bytes).unwrap()
    }
}

async fn play(mut stream: impl AsyncRead + AsyncWrite + Unpin, act: Act, note: mpsc::UnboundedSender<Read>) {
    let pieces = match &act {
        Act::Drop => return,
        Act::Silence => return rest(stream, Vec::new(), note).await,
        Act::Reset => vec![],
        Act::Say(pieces) => pieces.clone(),
        Act::SayThenReset(piece) | Act::SayThenHold(piece) => vec![piece.clone()],
    };
    let bytes = whole_request(&mut stream).await;
    for piece in pieces {
        if stream.write_all(&piece).await.is_err() {
            break;
        }
        let _ = stream.flush().await;
    }
    match act {
        Act::SayThenHold(_) => rest(stream, bytes, note).await,
        _ => drop(note.send(Read { bytes, reset: false })),
    }
}

async fn rest(mut stream: impl AsyncRead + Unpin, mut bytes: Vec<u8>, note: mpsc::UnboundedSender<Read>) {
    let reset = stream.read_to_end(&mut bytes).await.is_err();
    let _ = note.send(Read { bytes, reset });
}

async fn whole_request(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if bytes.len() >= end + 4 + length.map_or(0, |length| length.parse::<usize>().unwrap()) {
                return bytes;
            }
        }
        if !matches!(stream.read_buf(&mut bytes).await, Ok(read) if read > 0) {
            return bytes;
        }
    }
}
