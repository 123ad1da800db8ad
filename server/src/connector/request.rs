//! A request as it goes over the wire, in origin form, checked before anything is opened.
//!
//! Leaves signing and templates to the caller. Invariant: host, framing, encoding and the connection's life are ours;
//! a header that would change them is refused, not overwritten.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE,
};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Request, Uri};

use super::Outgoing;

const METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

const OURS: [HeaderName; 9] =
    [ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// Why a request can't be written. Names, never values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unwritable {
    #[error("the method is none of GET, HEAD, POST, PUT, PATCH, DELETE")]
    Method,
    #[error("the path must start with / and hold only printable ASCII without #")]
    Path,
    #[error("not the name of a header: {0:?}")]
    HeaderName(String),
    #[error("the header {0} is the connector's to set")]
    HeaderIsOurs(HeaderName),
    #[error("the value of the header {0} can't be sent")]
    HeaderValue(HeaderName),
    #[error("the request can't be put together")]
    Whole,
}

pub(super) fn build(outgoing: Outgoing<'_>) -> Result<Request<Full<Bytes>>, Unwritable> {
    let method = METHODS.into_iter().find(|method| method.as_str() == outgoing.method).ok_or(Unwritable::Method)?;
    let takes_body = matches!(method, Method::POST | Method::PUT | Method::PATCH);
    let authority = HeaderValue::from_str(&outgoing.origin.authority()).map_err(|_| Unwritable::Whole)?;
    let mut builder = Request::builder()
        .method(method)
        .uri(target(outgoing.path_and_query)?)
        .header(HOST, authority)
        .header(CONNECTION, HeaderValue::from_static("close"))
        .header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for (name, value) in outgoing.headers {
        let (name, value) = header(name, &value)?;
        builder = builder.header(name, value);
    }
    if outgoing.body.is_none() && takes_body {
        builder = builder.header(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    builder.body(Full::from(outgoing.body.unwrap_or_default())).map_err(|_| Unwritable::Whole)
}

fn target(text: &str) -> Result<Uri, Unwritable> {
    if !text.starts_with('/') || !text.bytes().all(|b| b.is_ascii_graphic() && b != b'#') {
        return Err(Unwritable::Path);
    }
    text.parse::<PathAndQuery>().map(Uri::from).map_err(|_| Unwritable::Path)
}

fn header(name: String, value: &str) -> Result<(HeaderName, HeaderValue), Unwritable> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| Unwritable::HeaderName(name))?;
    if OURS.contains(&name) {
        return Err(Unwritable::HeaderIsOurs(name));
    }
    let mut value = HeaderValue::from_str(value).map_err(|_| Unwritable::HeaderValue(name.clone()))?;
    value.set_sensitive(true);
    Ok((name, value))
}
