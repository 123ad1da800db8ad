//! Whether an upstream may be sent to.
//!
//! The claim re-reads the row under a lock. Invariant: without a row an upstream is running.

use super::codec::At;
use super::{Result, Tx};

#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct UpstreamState {
    pub upstream: String,
    /// `running`, `pausing` or `paused`.
    pub state: String,
    pub look_ups_paused: bool,
    pub reason: Option<String>,
    pub changed_by: Option<String>,
    pub changed_at: At,
}

impl UpstreamState {
    pub fn may_send(&self) -> bool {
        self.state == "running"
    }
}

pub async fn find(tx: &mut Tx, upstream: &str) -> Result<Option<UpstreamState>> {
    const SQL: &str = "SELECT * FROM upstream_states WHERE upstream = $1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(upstream).fetch_optional(c).await)?)
}

/// Read with a shared lock: many claims at once, none across a change of the flag.
pub async fn find_shared(tx: &mut Tx, upstream: &str) -> Result<Option<UpstreamState>> {
    Ok(match tx {
        Tx::Sqlite(_) => find(tx, upstream).await?,
        Tx::Postgres(c) => {
            const SQL: &str = "SELECT * FROM upstream_states WHERE upstream = $1 FOR SHARE";
            sqlx::query_as(SQL).bind(upstream).fetch_optional(&mut **c).await?
        }
    })
}

pub async fn save(tx: &mut Tx, row: &UpstreamState) -> Result<()> {
    const SQL: &str = "INSERT INTO upstream_states (upstream, state, look_ups_paused, reason, changed_by, changed_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (upstream) DO UPDATE SET state = excluded.state, \
         look_ups_paused = excluded.look_ups_paused, reason = excluded.reason, changed_by = excluded.changed_by, \
         changed_at = excluded.changed_at";
    on!(tx, |c| {
        let query =
            bind_fields!(sqlx::query(SQL), row, upstream, state, look_ups_paused, reason, changed_by, changed_at);
        query.execute(c).await.map(drop)
    })?;
    Ok(())
}
