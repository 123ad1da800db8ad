//! Sessions of people: tower-sessions on our own table.
//!
//! A session is found by the SHA-256 of its id; its content is the person's id and one notice. Rights are not in it: they
//! are read for each request. Invariant: the cookie's value is stored nowhere.

use std::pin::Pin;
use std::time::Duration;

use app::ledger::instant::Instant;
use app::ledger::key::sha256_hex;
use time::OffsetDateTime;
use tower_sessions::cookie::SameSite;
use tower_sessions::session::{Id as SessionId, Record};
use tower_sessions::session_store::{Error, Result};
use tower_sessions::{Expiry, SessionManagerLayer, SessionStore};

use super::App;
use super::guard::is_https;
use crate::ledger::Ledger;
use crate::store::codec::{At, Id};
use crate::store::sessions::{self, Session};

/// The cookie over https; browsers then insist on Secure, our host and the whole path.
pub const COOKIE: &str = "__Host-ascertain";
/// The cookie over http on loopback.
pub const COOKIE_ON_LOOPBACK: &str = "ascertain-dev";

/// Names in a session's content.
pub const PERSON: &str = "person";
pub const FLASH: &str = "flash";
pub const AGENT: &str = "agent";
pub const SEEN: &str = "seen";

#[derive(Clone, Debug)]
pub struct Sessions {
    ledger: Ledger,
    ttl: Duration,
}

pub fn layer(app: &App) -> SessionManagerLayer<Sessions> {
    let secure = is_https(&app.settings.public_url);
    let ttl = app.settings.session_ttl;
    let inactivity = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
    SessionManagerLayer::new(Sessions { ledger: app.ledger.clone(), ttl })
        .with_name(if secure { COOKIE } else { COOKIE_ON_LOOPBACK })
        .with_secure(secure)
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_path("/")
        .with_expiry(Expiry::OnInactivity(time::Duration::seconds(inactivity)))
}

pub fn digest(id: &SessionId) -> String {
    sha256_hex(id.to_string().as_bytes())
}

impl Sessions {
    async fn write(&self, record: &Record) -> Result<()> {
        let content = serde_json::to_string(&record.data).map_err(|error| Error::Encode(error.to_string()))?;
        let person = record.data.get(PERSON).and_then(|id| id.as_str()).and_then(|id| id.parse::<Id>().ok());
        let mut tx = self.ledger.db.write().await.map_err(backend)?;
        let now = tx.now(&self.ledger.clock).await.map_err(backend)?;
        let row = Session {
            digest: digest(&record.id),
            person_id: person,
            content,
            created_at: At(now),
            expires_at: At(now.plus(self.ttl)),
        };
        sessions::save(&mut tx, &row).await.map_err(backend)?;
        sessions::delete_expired(&mut tx, At(now)).await.map_err(backend)?;
        tx.commit().await.map_err(backend)
    }

    async fn read(&self, id: &SessionId) -> Result<Option<Record>> {
        let mut tx = self.ledger.db.read().await.map_err(backend)?;
        let now = tx.now(&self.ledger.clock).await.map_err(backend)?;
        let Some(row) = sessions::find(&mut tx, &digest(id), At(now)).await.map_err(backend)? else { return Ok(None) };
        let data = serde_json::from_str(&row.content).map_err(|error| Error::Decode(error.to_string()))?;
        Ok(Some(Record { id: *id, data, expiry_date: offset(*row.expires_at)? }))
    }

    async fn end(&self, id: &SessionId) -> Result<()> {
        let mut tx = self.ledger.db.write().await.map_err(backend)?;
        sessions::delete(&mut tx, &digest(id)).await.map_err(backend)?;
        tx.commit().await.map_err(backend)
    }
}

fn backend(error: crate::store::Error) -> Error {
    Error::Backend(error.to_string())
}

fn offset(at: Instant) -> Result<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(at.micros().div_euclid(1_000_000))
        .map_err(|error| Error::Decode(error.to_string()))
}

/// What `#[async_trait]` makes of an async function of the trait.
type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl SessionStore for Sessions {
    fn create<'a, 'b, 'c>(&'a self, record: &'b mut Record) -> Answer<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        // 128 random bits do not meet twice.
        Box::pin(self.write(record))
    }

    fn save<'a, 'b, 'c>(&'a self, record: &'b Record) -> Answer<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(self.write(record))
    }

    fn load<'a, 'b, 'c>(&'a self, id: &'b SessionId) -> Answer<'c, Option<Record>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(self.read(id))
    }

    fn delete<'a, 'b, 'c>(&'a self, id: &'b SessionId) -> Answer<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(self.end(id))
    }
}
