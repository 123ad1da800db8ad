//! The one place a contract's requests may go: scheme, host and port.
//!
//! Leaves paths to the contract, and which hosts may be named to whoever checks the catalog.
//! Invariant: an `Origin` has no user, no path, no query, and a host that the resolver can't read as something else.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

const HOST_LIMIT: usize = 253;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    Http,
    Https,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    scheme: Scheme,
    /// Lower case; an IPv6 address without its brackets.
    host: String,
    port: u16,
}

/// Why a text is no origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnOrigin {
    #[error("the scheme must be http:// or https://")]
    Scheme,
    #[error("only scheme, host and port may stand in an origin")]
    Extra,
    #[error("the host is neither a name nor an address")]
    Host,
    #[error("the port must be a number from 1 to 65535")]
    Port,
}

impl Origin {
    /// `scheme://host[:port]`; the scheme's own port where none is named.
    pub fn parse(text: &str) -> Result<Self, NotAnOrigin> {
        let (scheme, rest) = if let Some(rest) = text.strip_prefix("https://") {
            (Scheme::Https, rest)
        } else if let Some(rest) = text.strip_prefix("http://") {
            (Scheme::Http, rest)
        } else {
            return Err(NotAnOrigin::Scheme);
        };
        if rest.contains(['/', '?', '#', '@', '\\']) {
            return Err(NotAnOrigin::Extra);
        }
        let (host, port) = split_port(rest)?;
        let port = match port {
            None => scheme.usual_port(),
            Some(digits) => port_number(digits)?,
        };
        Ok(Origin { scheme, host: checked_host(host)?, port })
    }

    pub fn is_https(&self) -> bool {
        self.scheme == Scheme::Https
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// As the `Host` header has it: the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == self.scheme.usual_port() { host } else { format!("{host}:{}", self.port) }
    }
}

impl Scheme {
    const fn usual_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// Host and port digits, an address in brackets without them.
fn split_port(rest: &str) -> Result<(&str, Option<&str>), NotAnOrigin> {
    if let Some(bracketed) = rest.strip_prefix('[') {
        let (address, after) = bracketed.split_once(']').ok_or(NotAnOrigin::Host)?;
        address.parse::<Ipv6Addr>().map_err(|_| NotAnOrigin::Host)?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((address, Some(port))),
            None if after.is_empty() => Ok((address, None)),
            None => Err(NotAnOrigin::Extra),
        };
    }
    match rest.split_once(':') {
        Some((_, port)) if port.contains(':') => Err(NotAnOrigin::Host),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((rest, None)),
    }
}

fn port_number(digits: &str) -> Result<u16, NotAnOrigin> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NotAnOrigin::Port);
    }
    digits.parse().ok().filter(|port| *port != 0).ok_or(NotAnOrigin::Port)
}

fn checked_host(host: &str) -> Result<String, NotAnOrigin> {
    if let Ok(address) = host.parse::<Ipv6Addr>() {
        return Ok(address.to_string());
    }
    let name = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if host.len() > HOST_LIMIT || !host.split('.').all(name) {
        return Err(NotAnOrigin::Host);
    }
    // Resolvers read `2130706433` and `0x7f.1` as addresses; only the dotted form is meant as one.
    let last = host.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let number_like = last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x");
    if number_like && host.parse::<Ipv4Addr>().is_err() {
        return Err(NotAnOrigin::Host);
    }
    Ok(host.to_ascii_lowercase())
}

/// As it would be written, the port left out where it is the scheme's own.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}", self.authority())
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Origin {
    type Err = NotAnOrigin;

    fn from_str(text: &str) -> Result<Self, NotAnOrigin> {
        Origin::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_host_and_port_make_an_origin() {
        for (text, shown, port) in [
            ("https://api.partner.example:8443", "https://api.partner.example:8443", 8443),
            ("https://API.partner.example", "https://api.partner.example", 443),
            ("http://localhost:80", "http://localhost", 80),
            ("http://127.0.0.1:9000", "http://127.0.0.1:9000", 9000),
            ("http://[::1]:9000", "http://[::1]:9000", 9000),
            ("https://[::1]", "https://[::1]", 443),
            ("http://sand_box:1", "http://sand_box:1", 1),
        ] {
            let origin = Origin::parse(text).unwrap();
            assert_eq!((origin.to_string().as_str(), origin.port()), (shown, port));
            assert_eq!(Origin::parse(&origin.to_string()), Ok(origin));
        }
    }

    /// NET-07
    #[test]
    fn anything_more_or_less_is_refused() {
        for (text, why) in [
            ("ftp://x", NotAnOrigin::Scheme),
            ("file:///etc/passwd", NotAnOrigin::Scheme),
            ("HTTPS://x", NotAnOrigin::Scheme),
            ("api.partner.example", NotAnOrigin::Scheme),
            ("https://user:pw@host", NotAnOrigin::Extra),
            ("https://host/", NotAnOrigin::Extra),
            ("https://host/v1", NotAnOrigin::Extra),
            ("https://host?x", NotAnOrigin::Extra),
            ("https://host#x", NotAnOrigin::Extra),
            ("https://host\\x", NotAnOrigin::Extra),
            ("https://[::1]x", NotAnOrigin::Extra),
            ("https://", NotAnOrigin::Host),
            ("https://:443", NotAnOrigin::Host),
            ("https://a..b", NotAnOrigin::Host),
            ("https://a b", NotAnOrigin::Host),
            ("https://-a", NotAnOrigin::Host),
            ("https://hôst", NotAnOrigin::Host),
            ("https://::1", NotAnOrigin::Host),
            ("https://[host]", NotAnOrigin::Host),
            ("http://2130706433", NotAnOrigin::Host),
            ("http://0x7f.0.0.0x1", NotAnOrigin::Host),
            ("http://127.1", NotAnOrigin::Host),
            ("https://host:", NotAnOrigin::Port),
            ("https://host:0", NotAnOrigin::Port),
            ("https://host:65536", NotAnOrigin::Port),
            ("https://host:+80", NotAnOrigin::Port),
        ] {
            assert_eq!(Origin::parse(text), Err(why), "{text}");
        }
    }
}
