//! People who sign in: adding one, and checking a password.
//!
//! Leaves sessions, and counting failed sign-ins, to the console. Invariant: a password is kept as its argon2id hash
//! only, and checking one costs the same whether or not the address is known.

use std::sync::OnceLock;

use app::ledger::roles::Role;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use argon2::{Argon2, password_hash};
use tokio::sync::Semaphore;

use super::audit::{self, Note};
use super::{Actor, Error, Ledger, Operator, Result};
use crate::ids;
use crate::store::codec::{At, Id};
use crate::store::people::{self, Person};
use crate::store::{Tx, tenants};

pub const SHORTEST_PASSWORD: usize = 12;
/// Bytes; more would only be work for us.
pub const LONGEST_PASSWORD: usize = 256;
const LONGEST_EMAIL: usize = 254;
const LONGEST_NAME: usize = 120;
const SALT_BYTES: usize = 16;
/// Hashes at once: each takes 19 MiB and a core.
const HASHES_AT_ONCE: usize = 2;

static SEATS: Semaphore = Semaphore::const_new(HASHES_AT_ONCE);

#[derive(Clone)]
pub struct NewPerson {
    pub email: String,
    pub name: String,
    pub password: String,
    pub roles: Vec<Role>,
    /// None: all there are and will be.
    pub tenants: Option<Vec<String>>,
}

impl Ledger {
    pub async fn add_person(&self, new: NewPerson, actor: &Actor) -> Result<Person> {
        let email = checked_email(&new.email)?;
        let name = checked_name(&new.name)?;
        check_password(&new.password)?;
        if new.roles.is_empty() {
            return Err(Error::invalid("role", "name at least one of support, finance, admin, auditor"));
        }
        let password_hash = hash_password(new.password).await;
        crate::in_transaction!(self, |tx| {
            if people::find_by_email(tx, &email).await?.is_some() {
                return Err(Error::invalid("email", "somebody signs in with it already"));
            }
            let now = tx.now(&self.clock).await?;
            let person = Person {
                id: Id(ids::new_id()),
                email: email.clone(),
                name: name.clone(),
                password_hash: password_hash.clone(),
                roles: roles_text(&new.roles),
                all_tenants: new.tenants.is_none(),
                zone: "UTC".into(),
                created_at: At(now),
                disabled_at: None,
                approves_from: None,
                failed_sign_ins: 0,
                locked_until: None,
            };
            people::insert(tx, &person).await?;
            for tenant in new.tenants.iter().flatten() {
                tenants::ensure(tx, tenant, At(now)).await?;
                people::add_tenant(tx, person.id, tenant).await?;
            }
            let subject = person.id.to_string();
            let note = Note { note: Some(format!("roles {}", person.roles)), ..Note::of("add_person") };
            audit::subject(tx, self, ("person", &subject), None, actor, note, now).await?;
            Ok(person)
        })
    }
}

/// The person with the rights of now; None where the account is disabled.
pub async fn operator(tx: &mut Tx, person: &Person) -> Result<Option<Operator>> {
    if person.disabled_at.is_some() {
        return Ok(None);
    }
    Ok(Some(Operator {
        id: person.id,
        name: person.name.clone(),
        email: person.email.clone(),
        roles: parse_roles(&person.roles),
        tenants: people::list_tenants(tx, person).await?,
        zone: person.zone.clone(),
    }))
}

/// Roles as the column has them: a comma list.
pub fn roles_text(roles: &[Role]) -> String {
    roles.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(",")
}

/// What is no role gives no right.
pub fn parse_roles(text: &str) -> Vec<Role> {
    text.split(',').filter_map(|role| role.trim().parse().ok()).collect()
}

/// Addresses are compared in lower case.
pub fn normal_email(email: &str) -> String {
    email.trim().to_lowercase()
}

pub fn check_password(password: &str) -> Result<()> {
    if password.chars().count() < SHORTEST_PASSWORD {
        return Err(Error::invalid("password", format!("is shorter than {SHORTEST_PASSWORD} characters")));
    }
    if password.len() > LONGEST_PASSWORD {
        return Err(Error::invalid("password", format!("is longer than {LONGEST_PASSWORD} bytes")));
    }
    Ok(())
}

/// Argon2id with the crate's recommended cost, off the async threads.
pub async fn hash_password(password: String) -> String {
    let _seat = SEATS.acquire().await.expect("the seats are never closed");
    let hashed = tokio::task::spawn_blocking(move || hash(&password)).await;
    hashed.expect("hashing does not panic").expect("a salt of the right length and default costs")
}

/// Whether the password is the one behind the hash. Without a hash it does the same work and says no.
pub async fn verify_password(password: String, hash: Option<String>) -> bool {
    if password.len() > LONGEST_PASSWORD {
        return false;
    }
    let _seat = SEATS.acquire().await.expect("the seats are never closed");
    tokio::task::spawn_blocking(move || {
        let known = hash.is_some();
        let hash = hash.unwrap_or_else(|| nobody().to_string());
        let parsed = PasswordHash::new(&hash);
        parsed.is_ok_and(|parsed| Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok()) && known
    })
    .await
    .unwrap_or(false)
}

fn hash(password: &str) -> password_hash::Result<String> {
    let salt = SaltString::encode_b64(&ids::random_hex(SALT_BYTES).as_bytes()[..SALT_BYTES])?;
    Ok(Argon2::default().hash_password(password.as_bytes(), &salt)?.to_string())
}

/// A hash that no password is behind.
fn nobody() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| hash(&ids::random_hex(SALT_BYTES)).unwrap_or_default())
}

fn checked_email(email: &str) -> Result<String> {
    let email = normal_email(email);
    let has_parts = email.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    let is_plain = !email.chars().any(|c| c.is_whitespace() || c.is_control());
    if !has_parts || !is_plain || email.len() > LONGEST_EMAIL {
        return Err(Error::invalid("email", "is no address: name@host"));
    }
    Ok(email)
}

fn checked_name(name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(Error::invalid("name", format!("is 1 to {LONGEST_NAME} characters")));
    }
    Ok(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_known_by_its_hash_and_nobody_has_none() {
        let hash = hash_password("correct horse battery".into()).await;
        assert!(hash.starts_with("$argon2id$"), "{hash}");
        assert!(verify_password("correct horse battery".into(), Some(hash.clone())).await);
        assert!(!verify_password("correct horse batterz".into(), Some(hash)).await);
        assert!(!verify_password("correct horse battery".into(), None).await);
        assert!(!verify_password("x".into(), Some("not a hash".into())).await);
    }

    #[test]
    fn roles_are_read_as_they_were_written() {
        let roles = [Role::Support, Role::Admin];
        assert_eq!(parse_roles(&roles_text(&roles)), roles);
        assert_eq!(parse_roles("owner,,support"), [Role::Support]);
    }

    #[test]
    fn an_address_has_a_name_and_a_host() {
        assert_eq!(checked_email(" Ann@Example.Test ").unwrap(), "ann@example.test");
        for text in ["ann", "@x", "ann@", "a b@x", ""] {
            assert!(checked_email(text).is_err(), "{text}");
        }
    }
}
