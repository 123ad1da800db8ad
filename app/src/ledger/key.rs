//! Keys: the one a caller sends, and those derived for upstreams.
//!
//! A derived key is `prefix:v1:` and the SHA-256 of length-prefixed names and values, so that no two lists of parts share
//! a pre-image (joined text does: `acme:eu` + `42` and `acme` + `eu:42`). Leaves alone which key belongs to which
//! operation. Invariant: the text of an inbound key can't be shown, only compared and digested; a derived key is a
//! function of its parts and never under 128 bits.

use std::fmt;

use sha2::{Digest, Sha256};

use super::contract::KeyFormat;

/// Characters of an inbound key.
pub const MAX_INBOUND_KEY: usize = 255;

/// Hex digits of a short key or reference: 128 bits.
const SHORT_DIGITS: usize = 32;

/// What a caller names its request by.
#[derive(Clone, PartialEq, Eq)]
pub struct InboundKey(String);

/// Why a header is not a key. Doesn't carry the text: keys stay out of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("the idempotency key is empty; send 1 to {MAX_INBOUND_KEY} visible ASCII characters")]
    Empty,
    #[error("the idempotency key is longer than {MAX_INBOUND_KEY} characters")]
    TooLong,
    #[error("the idempotency key may hold visible ASCII characters only: no spaces, control characters or accents")]
    NotVisibleAscii,
    #[error("the idempotency key begins with a quotation mark but is no quoted string; inside, write \\\" and \\\\")]
    Unquoted,
}

impl InboundKey {
    /// From the value of `Idempotency-Key`: bare, or as a structured-field string; `abc` and `"abc"` are one key.
    pub fn parse(header: impl AsRef<[u8]>) -> Result<InboundKey, KeyError> {
        let header = header.as_ref();
        // Longest possible spelling of a key: each character escaped, and two quotation marks.
        if header.len() > 2 * MAX_INBOUND_KEY + 2 {
            return Err(KeyError::TooLong);
        }
        let key = match header {
            [b'"', quoted @ ..] => unquoted(quoted)?,
            bare => bare.to_vec(),
        };
        match key.len() {
            0 => return Err(KeyError::Empty),
            length if length > MAX_INBOUND_KEY => return Err(KeyError::TooLong),
            _ => {}
        }
        let visible = key.iter().all(|byte| (0x21..=0x7e).contains(byte));
        String::from_utf8(key).ok().filter(|_| visible).map(InboundKey).ok_or(KeyError::NotVisibleAscii)
    }

    /// 64 hex digits; what is stored and shown in its place.
    pub fn digest(&self) -> String {
        sha256_hex(self.0.as_bytes())
    }
}

/// The text of a structured-field string after its opening mark (RFC 9651 §4.2.5), nothing behind it.
fn unquoted(quoted: &[u8]) -> Result<Vec<u8>, KeyError> {
    let mut text = Vec::with_capacity(quoted.len());
    let mut rest = quoted.iter();
    while let Some(&byte) = rest.next() {
        match byte {
            b'"' if rest.as_slice().is_empty() => return Ok(text),
            b'"' => break,
            b'\\' => match rest.next() {
                Some(&escaped @ (b'"' | b'\\')) => text.push(escaped),
                _ => break,
            },
            other => text.push(other),
        }
    }
    Err(KeyError::Unquoted)
}

impl fmt::Debug for InboundKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InboundKey(#{})", &self.digest()[..8])
    }
}

/// Lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        for nibble in [byte >> 4, byte & 15] {
            hex.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
        }
        hex
    })
}

/// Name, value, name, value…; each as four bytes of length, big-endian, and its UTF-8.
pub fn length_prefixed<N: AsRef<str>, V: AsRef<str>>(pairs: &[(N, V)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in pairs {
        for part in [name.as_ref(), value.as_ref()] {
            let length = u32::try_from(part.len()).expect("no request is 4 GiB long");
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
    }
    bytes
}

fn derived<N: AsRef<str>, V: AsRef<str>>(prefix: &str, pairs: &[(N, V)]) -> String {
    format!("{prefix}:v1:{}", sha256_hex(&length_prefixed(pairs)))
}

/// Of the intent's placeholders and their values, in the template's order.
pub fn intent_digest<N: AsRef<str>, V: AsRef<str>>(values: &[(N, V)]) -> String {
    derived("intent", values)
}

/// `refusals`: earlier generations of the intent whose key got a definite refusal. `intent` is the whole `intent:v1:…`.
pub fn operation_key(tenant: &str, contract: &str, intent: &str, refusals: u32) -> String {
    let refusals = refusals.to_string();
    derived("op", &[("tenant", tenant), ("contract", contract), ("intent", intent), ("refusals", &refusals)])
}

pub fn tool_key(tenant_id: &str, action_id: &str) -> String {
    derived("tool", &[("tenantId", tenant_id), ("actionId", action_id)])
}

pub fn confirm_key(task_id: &str, confirmation_id: &str) -> String {
    derived("confirm", &[("taskId", task_id), ("confirmationId", confirmation_id)])
}

/// A derived key as an upstream wants it. A UUID carries the 128 bits as they are, without a version's marks in them.
pub fn format_key(key: &str, format: KeyFormat) -> String {
    match format {
        KeyFormat::Op | KeyFormat::Tool => key.to_owned(),
        KeyFormat::Hex32 => short_digits(key),
        KeyFormat::Uuid => {
            let hex = short_digits(key);
            [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
        }
    }
}

/// Our reference as an upstream's free-text field can carry it: `asc-` and 32 hex digits of the operation key.
pub fn reference(operation_key: &str) -> String {
    format!("asc-{}", short_digits(operation_key))
}

/// The first digits of a derived key's digest. What is no derived key is digested first.
fn short_digits(key: &str) -> String {
    let digits = key.rsplit(':').next().unwrap_or_default();
    if digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        digits[..SHORT_DIGITS].to_owned()
    } else {
        sha256_hex(key.as_bytes())[..SHORT_DIGITS].to_owned()
    }
}

#[cfg(test)]
mod tests;
