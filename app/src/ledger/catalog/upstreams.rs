//! Checks of an upstream: where it is, how long it may take, how it spells an error.
//!
//! Leaves to the connector whether the origin may be reached (the installation's allow-list).

use super::super::contract::Upstream;
use super::check::Checker;

impl Checker<'_> {
    pub(super) fn upstream(&mut self, name: &str, upstream: &Upstream) {
        let path = |key: &'static str| ["upstream", name, key];
        self.name(&["upstream", name], name);
        self.not_empty(&path("title"), "title", &upstream.title);
        if let Err(why) = check_origin(&upstream.origin) {
            self.note(&path("origin"), "origin", format!("{:?}: {why}", upstream.origin));
        }
        self.header(&path("request_id_header"), &upstream.request_id_header);
        if let Some(auth) = &upstream.auth {
            self.header(&["upstream", name, "auth", "header"], &auth.header);
            let named = [&auth.env, &auth.file].into_iter().flatten();
            if named.clone().count() != 1 || named.into_iter().any(String::is_empty) {
                self.note(&path("auth"), "auth", "name the secret's place once: env or file");
            }
        }
        let limits = [
            ("deadline_ms", upstream.deadline_ms),
            ("send_by_ms", upstream.send_by_ms),
            ("parallel", upstream.parallel.into()),
            ("parallel_look_ups", upstream.parallel_look_ups.into()),
        ];
        for (key, _) in limits.into_iter().filter(|(_, limit)| *limit == 0) {
            self.note(&path(key), "limit", format!("{key} is 0: nothing could ever be sent"));
        }
        if upstream.send_by_ms > upstream.deadline_ms {
            self.note(&path("send_by_ms"), "limit", "send_by_ms is after deadline_ms");
        }
        if let Some(error) = &upstream.error {
            self.pointer(&["upstream", name, "error", "code"], &error.code);
            if let Some(message) = &error.message {
                self.pointer(&["upstream", name, "error", "message"], message);
            }
        } else if !upstream.credentials_403.is_empty() {
            self.note(&path("credentials_403"), "error-shape", "codes can't be read without [upstream.….error]");
        }
    }
}

/// `scheme://host[:port]` and nothing else.
fn check_origin(origin: &str) -> Result<(), &'static str> {
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"))
        .ok_or("begins with neither http:// nor https://")?;
    if authority.contains('@') {
        return Err("names a user; credentials belong in [auth]");
    }
    if authority.contains(['/', '?', '#', '\\']) {
        return Err("has a path or a query; those belong in the contracts");
    }
    let (host, port) = match authority.rsplit_once(':') {
        // The last colon of a bracketed IPv6 address is not before a port.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if let Some(port) = port
        && port.parse::<u16>().ok().is_none_or(|port| port == 0)
    {
        return Err("its port is no number from 1 to 65535");
    }
    let named = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
    let bracketed = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
    if named || bracketed { Ok(()) } else { Err("its host can't be read") }
}
