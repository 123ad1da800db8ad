//! Names of what the sandbox makes: a prefix that says what it is and 96 random bits.
//!
//! Leaves ordering alone on purpose: order is the row's sequence. Invariant: an id is never derived from what the
//! caller sent, so equal requests make visibly different things.

const ID_BYTES: usize = 12;
const SECRET_BYTES: usize = 24;

pub fn make(prefix: &str) -> String {
    format!("{prefix}_{}", hex(&rand::random::<[u8; ID_BYTES]>()))
}

pub fn secret() -> String {
    format!("sk_sandbox_{}", hex(&rand::random::<[u8; SECRET_BYTES]>()))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
