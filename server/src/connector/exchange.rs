//! One request and its answer over a stream that is already open.
//!
//! Drives hyper's connection in the caller's own task, so that dropping the attempt drops the connection. Leaves the
//! meaning of status and body alone. Invariant: one request per stream, whatever the partner says about keeping it.

use app::ledger::wire::{Broken, Phase, WireEnd};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, DATE, HeaderMap, LOCATION, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;

use super::fault;
use super::journal::Journal;
use super::watched::WatchedStream;

/// How much of an answer's body is read.
pub const BODY_LIMIT: usize = 256 * 1024;
const HEADERS_LIMIT_BYTES: usize = 64 * 1024;
const HEADERS_LIMIT: usize = 100;
/// A kept header that is longer is left out.
const HEADER_VALUE_LIMIT: usize = 256;

type Connection = http1::Connection<TokioIo<WatchedStream>, Full<Bytes>>;

pub(super) async fn run(
    stream: WatchedStream,
    request: Request<Full<Bytes>>,
    request_id_header: &str,
    journal: &Journal,
) -> WireEnd {
    let opened = http1::Builder::new()
        .max_header_size(HEADERS_LIMIT_BYTES)
        .max_headers(HEADERS_LIMIT)
        .handshake(TokioIo::new(stream))
        .await;
    let (mut sender, connection) = match opened {
        Ok(opened) => opened,
        Err(error) => return fault::before_answer(&error, journal),
    };
    let mut line = Line { connection, ended: false };
    let response = match line.drive(sender.send_request(request)).await {
        Ok(response) => response,
        Err(error) => return fault::before_answer(&error, journal),
    };
    journal.reach(Phase::Body);
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return WireEnd::Broken { why: Broken::Protocol, detail: "switched protocols unasked".into() };
    }
    let end = read(&mut line, response, request_id_header).await;
    if matches!(end, WireEnd::Answer { complete: true, .. }) {
        line.connection.into_parts().io.into_inner().close_in_peace();
    }
    end
}

struct Line {
    connection: Connection,
    ended: bool,
}

impl Line {
    /// Waits for `wanted` while the connection moves. What ends the connection early also reaches `wanted`.
    async fn drive<T>(&mut self, wanted: impl Future<Output = T>) -> T {
        tokio::pin!(wanted);
        loop {
            tokio::select! {
                biased;
                got = &mut wanted => return got,
                _ = &mut self.connection, if !self.ended => self.ended = true,
            }
        }
    }
}

async fn read(line: &mut Line, response: Response<Incoming>, request_id_header: &str) -> WireEnd {
    let (head, mut incoming) = response.into_parts();
    let status = head.status.as_u16();
    let headers = kept(&head.headers, request_id_header);
    let mut body = Vec::new();
    let (mut complete, mut too_large) = (false, false);
    loop {
        match line.drive(incoming.frame()).await {
            None => complete = true,
            Some(Ok(frame)) => {
                // Trailers are not kept.
                let Ok(piece) = frame.into_data() else { continue };
                let room = BODY_LIMIT - body.len();
                body.extend_from_slice(&piece[..piece.len().min(room)]);
                too_large = piece.len() > room;
                if !too_large {
                    continue;
                }
            }
            Some(Err(error)) if fault::is_cut_off(&error) => {}
            Some(Err(error)) => return fault::in_body(&error, status),
        }
        return WireEnd::Answer { status, headers, body, complete, too_large };
    }
}

fn kept(headers: &HeaderMap, request_id_header: &str) -> Vec<(String, String)> {
    let mut kept: Vec<(String, String)> = headers
        .iter()
        .filter(|(name, _)| {
            [CONTENT_TYPE, DATE, RETRY_AFTER].contains(name) || name.as_str().eq_ignore_ascii_case(request_id_header)
        })
        .filter_map(|(name, value)| Some((name, value.to_str().ok()?)))
        .filter(|(_, value)| value.len() <= HEADER_VALUE_LIMIT)
        .map(|(name, value)| (name.to_string(), value.to_owned()))
        .collect();
    if headers.contains_key(LOCATION) {
        kept.push((LOCATION.to_string(), "present".into()));
    }
    kept
}
