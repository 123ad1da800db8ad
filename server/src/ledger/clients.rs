//! API clients: adding one, and knowing one by its token.
//!
//! Leaves rotation and revocation to the console. Invariant: a token's text is given out once and kept nowhere; what is
//! stored is its SHA-256.

use std::time::Duration;

use app::ledger::key::sha256_hex;

use super::audit::{self, Note};
use super::{Actor, Error, Ledger, Principal, Result};
use crate::ids;
use crate::store::clients::{self, Client};
use crate::store::codec::{At, Id};
use crate::store::tenants;

/// In a client's contracts: whatever the catalog has.
pub const EVERY_CONTRACT: &str = "*";
/// What a client may be allowed beyond its own operations.
pub const SCOPES: [&str; 2] = ["read", "confirm"];
const TOKEN_PREFIX: &str = "asc_";
const TOKEN_BYTES: usize = 24;
const LONGEST_NAME: usize = 120;

#[derive(Clone, Debug)]
pub struct NewClient {
    pub tenant: String,
    pub name: String,
    /// Names of contracts, or `*`.
    pub contracts: Vec<String>,
    pub scopes: Vec<String>,
    /// Whose approval of this client's requests does not count.
    pub owner: Option<Id>,
    pub made_by: Option<Id>,
    pub ttl: Option<Duration>,
}

impl Ledger {
    /// The client, and its token: shown now and never again.
    pub async fn add_client(&self, new: NewClient, actor: &Actor) -> Result<(Client, String)> {
        check(&new)?;
        let token = new_token();
        let client = crate::in_transaction!(self, |tx| {
            let now = tx.now(&self.clock).await?;
            tenants::ensure(tx, &new.tenant, At(now)).await?;
            let client = Client {
                id: Id(ids::new_id()),
                tenant: new.tenant.clone(),
                name: new.name.trim().to_string(),
                token_digest: token_digest(&token),
                contracts: list_text(&new.contracts),
                scopes: list_text(&new.scopes),
                owner_id: new.owner,
                made_by: new.made_by,
                created_at: At(now),
                expires_at: new.ttl.map(|ttl| At(now.plus(ttl))),
                revoked_at: None,
                last_used_at: None,
            };
            clients::insert(tx, &client).await?;
            let subject = client.id.to_string();
            let said = format!("contracts {}; scopes {}", client.contracts, client.scopes);
            let note = Note { note: Some(said), ..Note::of("add_client") };
            audit::subject(tx, self, ("client", &subject), Some(&client.tenant), actor, note, now).await?;
            Ok(client)
        })?;
        Ok((client, token))
    }

    /// Who the token belongs to, with the rights of now; None for one that is unknown, revoked or expired.
    pub async fn authenticate(&self, token: &str) -> Result<Option<Principal>> {
        if !is_token(token) {
            return Ok(None);
        }
        let mut tx = self.db.read().await?;
        let Some(client) = clients::find_by_token(&mut tx, &token_digest(token)).await? else { return Ok(None) };
        let now = tx.now(&self.clock).await?;
        let over = client.revoked_at.is_some() || client.expires_at.is_some_and(|at| *at <= now);
        Ok((!over).then(|| principal(&client)))
    }
}

/// A client as the commands know it.
pub fn principal(client: &Client) -> Principal {
    Principal {
        tenant: client.tenant.clone(),
        kind: "client".into(),
        id: client.id.to_string(),
        name: client.name.clone(),
        contracts: parse_list(&client.contracts),
        scopes: parse_list(&client.scopes),
        behind: [client.owner_id, client.made_by].into_iter().flatten().collect(),
    }
}

/// Contracts and scopes as their columns have them: a comma list.
pub fn list_text(names: &[String]) -> String {
    names.join(",")
}

pub fn parse_list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_string).collect()
}

pub fn new_token() -> String {
    format!("{TOKEN_PREFIX}{}", ids::random_hex(TOKEN_BYTES))
}

pub fn token_digest(token: &str) -> String {
    sha256_hex(token.as_bytes())
}

fn is_token(text: &str) -> bool {
    let digits = text.strip_prefix(TOKEN_PREFIX);
    digits.is_some_and(|digits| digits.len() == 2 * TOKEN_BYTES && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn check(new: &NewClient) -> Result<()> {
    let name = new.name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(Error::invalid("name", format!("is 1 to {LONGEST_NAME} characters")));
    }
    check_tenant(&new.tenant)?;
    if new.contracts.is_empty() {
        return Err(Error::invalid("contracts", "name at least one contract, or * for all"));
    }
    if let Some(name) = new.contracts.iter().find(|name| name.contains(',') || name.trim().is_empty()) {
        return Err(Error::invalid("contracts", format!("{name:?} is no contract's name")));
    }
    if let Some(scope) = new.scopes.iter().find(|scope| !SCOPES.contains(&scope.as_str())) {
        return Err(Error::invalid("scopes", format!("{scope:?} is none of {}", SCOPES.join(", "))));
    }
    Ok(())
}

/// A tenant's name stands in keys and links: lower-case letters, digits, `-` and `_`, at most 60.
pub fn check_tenant(tenant: &str) -> Result<()> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
    if tenant.is_empty() || tenant.len() > 60 || !tenant.bytes().all(plain) {
        return Err(Error::invalid("tenant", "is 1 to 60 lower-case letters, digits, - and _"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_shape_and_kept_as_a_digest() {
        let token = new_token();
        assert!(is_token(&token) && token.len() == 52);
        assert_eq!(token_digest(&token).len(), 64);
        for text in ["", "asc_", "Bearer x", &token[1..], &format!("{token}0")] {
            assert!(!is_token(text), "{text}");
        }
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let names = ["top_up_credit".to_string(), "*".to_string()];
        assert_eq!(parse_list(&list_text(&names)), names);
        assert!(parse_list("").is_empty());
    }

    #[test]
    fn a_tenant_has_a_plain_name() {
        assert!(check_tenant("acme-2").is_ok());
        for name in ["", "Acme", "a b", "a,b"] {
            assert!(check_tenant(name).is_err(), "{name}");
        }
    }
}
