//! Ids and other random values, made in this one place.
//!
//! Invariant: ids made later sort later (UUID version 7), so that keyset pages read in the order of admission.

use rand::{RngCore, TryRngCore};
use uuid::Uuid;

/// A new id; its order is the order of making.
#[allow(clippy::disallowed_methods, reason = "the one place that makes ids")]
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}

/// `bytes` random bytes from the system as lower-case hex.
pub fn random_hex(bytes: usize) -> String {
    let mut buffer = vec![0u8; bytes];
    rand::rngs::OsRng.unwrap_err().fill_bytes(&mut buffer);
    buffer.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Thousandths for jitter, 0..=1000.
pub fn jitter() -> u32 {
    rand::random_range(0..=1000)
}
