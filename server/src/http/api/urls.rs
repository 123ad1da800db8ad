//! Paths of the API, made in one place.

use crate::store::codec::Id;

pub fn operation(id: Id) -> String {
    format!("/v1/operations/{id}")
}

pub fn events(id: Id) -> String {
    format!("/v1/operations/{id}/events")
}

/// External ids are the caller's text: everything but unreserved characters is escaped.
pub fn customer(external_id: &str) -> String {
    let mut path = String::from("/v1/customers/");
    for byte in external_id.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => path.push(char::from(byte)),
            other => path.push_str(&format!("%{other:02X}")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_external_id_stays_one_segment() {
        assert_eq!(super::customer("a/b ü"), "/v1/customers/a%2Fb%20%C3%BC");
    }
}
