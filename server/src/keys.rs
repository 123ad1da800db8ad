//! The installation's keys: the audit's MAC and the sealing of secrets. They live in a file outside the database.
//!
//! Made by `ascertain keys new FILE`; `demo` makes its own. Invariant: a key has no `Debug` and no `Display` that shows it.

use std::path::Path;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use serde::Deserialize;
use sha2::Sha256;

use crate::ids;

/// Bytes of each key.
const KEY_LENGTH: usize = 32;
/// Bytes of a nonce, in front of the sealed text.
const NONCE_LENGTH: usize = 24;

#[derive(Clone)]
pub struct Keys {
    audit: [u8; KEY_LENGTH],
    sealing: [u8; KEY_LENGTH],
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    audit_mac: String,
    sealing: String,
}

#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error("cannot read the keys file {path}: {source}; make one with `ascertain keys new {path}`")]
    Unreadable { path: String, source: std::io::Error },
    #[error("the keys file {path} is not as `ascertain keys new` writes it: {rule}")]
    Malformed { path: String, rule: String },
    #[error("the keys file {0} exists; it is not overwritten")]
    Exists(String),
}

/// A sealed value that this key does not open.
#[derive(Debug, thiserror::Error)]
#[error("a sealed value does not open with this key")]
pub struct DoesNotOpen;

impl Keys {
    pub fn random() -> Keys {
        let key = || parse_hex(&ids::random_hex(KEY_LENGTH)).expect("hex of the right length");
        Keys { audit: key(), sealing: key() }
    }

    pub fn read(path: &Path) -> Result<Keys, KeysError> {
        let name = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|source| KeysError::Unreadable { path: name.clone(), source })?;
        let malformed = |rule: String| KeysError::Malformed { path: name.clone(), rule };
        // toml's own message would print the line, and the line holds the key.
        let file: File = toml::from_str(&text).map_err(|_| malformed("two lines, audit_mac and sealing".into()))?;
        let key = |what: &str, text: &str| parse_hex(text).ok_or_else(|| malformed(format!("{what} is 64 hex digits")));
        Ok(Keys { audit: key("audit_mac", &file.audit_mac)?, sealing: key("sealing", &file.sealing)? })
    }

    /// Writes new keys to a file that must not exist, readable by its owner only.
    pub fn create(path: &Path) -> Result<Keys, KeysError> {
        use std::io::Write;
        use std::os::unix::fs::OpenOptionsExt;
        let name = path.display().to_string();
        let mut file =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|source| {
                match source.kind() {
                    std::io::ErrorKind::AlreadyExists => KeysError::Exists(name.clone()),
                    _ => KeysError::Unreadable { path: name.clone(), source },
                }
            })?;
        let text = format!(
            "# Keys of this Ascertain installation. Keep a copy apart from the database's backups.\n\
             audit_mac = \"{}\"\nsealing = \"{}\"\n",
            ids::random_hex(KEY_LENGTH),
            ids::random_hex(KEY_LENGTH)
        );
        file.write_all(text.as_bytes()).map_err(|source| KeysError::Unreadable { path: name, source })?;
        Keys::read(path)
    }

    /// HMAC-SHA-256 over an audit row's hash, as hex.
    pub fn audit_mac(&self, hash: &str) -> String {
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.audit).expect("HMAC takes any key length");
        mac.update(hash.as_bytes());
        hex(&mac.finalize().into_bytes())
    }

    /// XChaCha20-Poly1305; `about` (an operation's id) is bound to it.
    pub fn seal(&self, plain: &[u8], about: &str) -> Vec<u8> {
        let nonce_bytes = parse_hex_vec(&ids::random_hex(NONCE_LENGTH)).expect("hex");
        let cipher = XChaCha20Poly1305::new((&self.sealing).into());
        let payload = Payload { msg: plain, aad: about.as_bytes() };
        let sealed = cipher.encrypt(XNonce::from_slice(&nonce_bytes), payload).expect("a short text in memory");
        [nonce_bytes, sealed].concat()
    }

    pub fn open(&self, sealed: &[u8], about: &str) -> Result<Vec<u8>, DoesNotOpen> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LENGTH).ok_or(DoesNotOpen)?;
        let cipher = XChaCha20Poly1305::new((&self.sealing).into());
        cipher.decrypt(XNonce::from_slice(nonce), Payload { msg: text, aad: about.as_bytes() }).map_err(|_| DoesNotOpen)
    }

    /// Names the sealing key without telling it.
    pub fn sealing_id(&self) -> String {
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.sealing).expect("HMAC takes any key length");
        mac.update(b"id");
        hex(&mac.finalize().into_bytes())[..12].to_string()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse_hex_vec(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

fn parse_hex(text: &str) -> Option<[u8; KEY_LENGTH]> {
    parse_hex_vec(text)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_value_opens_only_for_what_it_is_about() {
        let keys = Keys::random();
        let sealed = keys.seal(b"secret", "operation-1");
        assert_eq!(keys.open(&sealed, "operation-1").unwrap(), b"secret");
        assert!(keys.open(&sealed, "operation-2").is_err());
        assert!(Keys::random().open(&sealed, "operation-1").is_err());
        assert!(keys.open(&sealed[..10], "operation-1").is_err());
    }

    #[test]
    fn a_keys_file_is_made_once_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.toml");
        let made = Keys::create(&path).unwrap();
        assert_eq!(Keys::read(&path).unwrap().audit_mac("x"), made.audit_mac("x"));
        assert!(matches!(Keys::create(&path), Err(KeysError::Exists(_))));
        std::fs::write(&path, "audit_mac = \"abc\"\nsealing = \"SECRETTEXT\"").unwrap();
        let message = Keys::read(&path).unwrap_err().to_string();
        assert!(message.contains("audit_mac") && !message.contains("SECRETTEXT"), "{message}");
    }
}
