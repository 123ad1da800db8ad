//! Addresses of pages, so that no page spells one by hand.
//!
//! Leaves out what a route does. Invariant: a value put into an address is percent-encoded.

use std::fmt::Write;

/// Percent-encodes all but RFC 3986's unreserved characters.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// `path` with `name=value` added to its query, before any fragment.
pub fn with(path: &str, name: &str, value: &str) -> String {
    let (address, fragment) = path.split_once('#').map_or((path, None), |(a, f)| (a, Some(f)));
    let joint = if address.contains('?') { '&' } else { '?' };
    let mut out = format!("{address}{joint}{name}={}", encode(value));
    if let Some(fragment) = fragment {
        out.push('#');
        out.push_str(fragment);
    }
    out
}

pub fn operation(id: &str) -> String {
    format!("/operations/{}", encode(id))
}

pub fn approval(id: &str) -> String {
    format!("/approvals/{}", encode(id))
}

pub fn customer(id: &str) -> String {
    format!("/customers/{}", encode(id))
}

pub fn upstream(name: &str) -> String {
    format!("/upstreams/{}", encode(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_keeps_its_fragment_and_encodes_its_values() {
        assert_eq!(with("/queue#gate", "tenant", "a&b"), "/queue?tenant=a%26b#gate");
        assert_eq!(with("/queue?q=1", "tenant", "é"), "/queue?q=1&tenant=%C3%A9");
    }
}
