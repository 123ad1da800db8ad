//! A request as it arrived: what it would change, under which key, and the durable count of its arrival.
//!
//! Leaves the change itself to `change`. Invariant: a mutating request is in the `request` table before any fault
//! acts on it, so arrivals are counted even where the caller never got an answer.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::Method;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Sandbox;
use super::ids;

/// What a mutating request changes. The names are those of `GET /control/effects`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Group,
    PatchGroup,
    DeleteGroup,
    Key,
    RevokeKey,
    Limit,
    Credit,
    Reversal,
    Message,
    ToolAction,
}

impl Kind {
    pub const ALL: [Kind; 10] = [
        Kind::Group,
        Kind::PatchGroup,
        Kind::DeleteGroup,
        Kind::Key,
        Kind::RevokeKey,
        Kind::Limit,
        Kind::Credit,
        Kind::Reversal,
        Kind::Message,
        Kind::ToolAction,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Kind::Group => "group",
            Kind::PatchGroup => "patch_group",
            Kind::DeleteGroup => "delete_group",
            Kind::Key => "key",
            Kind::RevokeKey => "revoke_key",
            Kind::Limit => "limit",
            Kind::Credit => "credit",
            Kind::Reversal => "reversal",
            Kind::Message => "message",
            Kind::ToolAction => "tool_action",
        }
    }

    /// From the method and the route's pattern; `None` for look-ups.
    pub fn of(method: &Method, pattern: &str) -> Option<Kind> {
        match (method.as_str(), pattern) {
            ("POST", "/v1/groups") => Some(Kind::Group),
            ("PATCH", "/v1/groups/{id}") => Some(Kind::PatchGroup),
            ("DELETE", "/v1/groups/{id}") => Some(Kind::DeleteGroup),
            ("POST", "/v1/groups/{id}/keys") => Some(Kind::Key),
            ("DELETE", "/v1/keys/{id}") => Some(Kind::RevokeKey),
            ("PATCH", "/v1/groups/{id}/limits") => Some(Kind::Limit),
            ("POST", "/v1/groups/{id}/credits") => Some(Kind::Credit),
            ("POST", "/v1/transactions/{id}/reversals") => Some(Kind::Reversal),
            ("POST", "/v1/messages") => Some(Kind::Message),
            ("POST", "/tool-actions") => Some(Kind::ToolAction),
            _ => None,
        }
    }

    /// The legacy tool has keys of its own and spells its errors in capitals.
    pub const fn space(self) -> Space {
        match self {
            Kind::ToolAction => Space::Tool,
            _ => Space::Partner,
        }
    }
}

/// Whose `Idempotency-Key`s these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    Partner,
    Tool,
}

impl Space {
    pub const fn name(self) -> &'static str {
        match self {
            Space::Partner => "v1",
            Space::Tool => "tool-actions",
        }
    }
}

/// A mutating request, read whole.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub kind: Kind,
    pub request_id: String,
    pub method: Method,
    pub path: String,
    pub key: Option<String>,
    pub actor: String,
    pub source_ip: String,
    /// `None` if the bytes are no JSON; `Null` if there are none.
    pub body: Option<Value>,
    pub bytes: Arc<[u8]>,
    /// The effect stays pending for so long, by the sandbox's clock.
    pub pending_ms: Option<u64>,
    /// The answer is wanted without the effect.
    pub rehearsed: bool,
}

impl Arrival {
    /// What effects and requests are counted under: the key, or what a message says, or the path.
    pub fn counted_under(&self) -> String {
        if let Some(key) = &self.key {
            return key.clone();
        }
        let field = |name: &str| self.body.as_ref().and_then(|body| body.get(name)).and_then(Value::as_str);
        match (self.kind, field("to"), field("text")) {
            (Kind::Message, Some(to), Some(text)) => message_digest(to, text),
            _ => self.path.clone(),
        }
    }

    /// One value for all spellings of the same request.
    pub fn fingerprint(&self) -> String {
        let mut digest = Sha256::new();
        digest.update(format!("{}\n{}\n", self.method, self.path));
        match &self.body {
            Some(body) => digest.update(canonical(body)),
            None => digest.update(&self.bytes),
        }
        ids::hex(&digest.finalize())
    }

    pub async fn count(&self, sandbox: &Sandbox) -> sqlx::Result<()> {
        let mut tx = sandbox.writer.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query(
            "INSERT INTO request (request_id, kind, key, method, path, actor, source_ip, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )
        .bind(&self.request_id)
        .bind(self.kind.name())
        .bind(self.counted_under())
        .bind(self.method.as_str())
        .bind(&self.path)
        .bind(&self.actor)
        .bind(&self.source_ip)
        .bind(sandbox.clock.now().micros())
        .execute(&mut *tx)
        .await?;
        tx.commit().await
    }
}

/// Length before text, so that no two pairs join to one.
fn message_digest(to: &str, text: &str) -> String {
    let mut digest = Sha256::new();
    for part in [to, text] {
        digest.update(format!("{}:{part}", part.len()));
    }
    ids::hex(&digest.finalize())
}

fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut members: Vec<(&String, &Value)> = fields.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let members: Vec<String> = members
                .into_iter()
                .map(|(name, value)| format!("{}:{}", Value::String(name.clone()), canonical(value)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        scalar => scalar.to_string(),
    }
}

/// Keys whose request has arrived and has not yet been decided.
#[derive(Clone, Default)]
pub struct InFlight(Arc<Mutex<HashSet<(Space, String)>>>);

/// Frees its key when dropped.
pub struct Claim {
    keys: InFlight,
    key: (Space, String),
}

impl InFlight {
    pub fn claim(&self, space: Space, key: &str) -> Option<Claim> {
        let key = (space, key.to_owned());
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.insert(key.clone()).then(|| Claim { keys: self.clone(), key })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.keys.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn member_order_and_spaces_do_not_change_what_a_body_says() {
        let one: Value = serde_json::from_str(r#"{"b": [1, {"d": null, "c": "x"}], "a": "1"}"#).unwrap();
        assert_eq!(canonical(&one), r#"{"a":"1","b":[1,{"c":"x","d":null}]}"#);
        assert_ne!(canonical(&json!({"a": "1"})), canonical(&json!({"a": 1})));
    }

    #[test]
    fn two_messages_that_join_to_the_same_text_are_two() {
        assert_ne!(message_digest("ab", "c"), message_digest("a", "bc"));
    }
}
