//! The sandbox's own clock: the machine's, plus what it was advanced by; and how far look-ups lag behind it.
//!
//! Leaves real waiting (a fault's delay) to tokio. Invariant: within a process it never runs backwards, and the file
//! keeps its offset and lag, so a restarted sandbox lives in the same time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use app::ledger::instant::Instant;
use sqlx::{SqliteConnection, SqlitePool};

/// Ten years each way is more than any drill needs and stays far from overflow.
pub const ADVANCE_LIMIT_S: i64 = 315_576_000;
/// A day of lag.
pub const LAG_LIMIT_MS: i64 = 86_400_000;

const ADVANCED: &str = "advanced_s";
const LAG: &str = "reads_lag_ms";
const MICROS_PER_S: i64 = 1_000_000;
const MICROS_PER_MS: i64 = 1_000;

pub struct Clock {
    advanced_s: AtomicI64,
    reads_lag_ms: AtomicI64,
    latest_micros: AtomicI64,
}

impl Clock {
    pub async fn restore(writer: &SqlitePool) -> sqlx::Result<Self> {
        let mut connection = writer.acquire().await?;
        Ok(Clock {
            advanced_s: AtomicI64::new(setting(&mut connection, ADVANCED).await?),
            reads_lag_ms: AtomicI64::new(setting(&mut connection, LAG).await?),
            latest_micros: AtomicI64::new(i64::MIN),
        })
    }

    pub fn now(&self) -> Instant {
        let advanced = self.advanced_s.load(Ordering::SeqCst).saturating_mul(MICROS_PER_S);
        let read = machine_micros().saturating_add(advanced);
        let latest = self.latest_micros.fetch_max(read, Ordering::SeqCst);
        Instant::from_micros(latest.max(read))
    }

    /// The moment look-ups see: now, less the lag.
    pub fn seen(&self) -> Instant {
        let lag = self.reads_lag_ms.load(Ordering::SeqCst).saturating_mul(MICROS_PER_MS);
        Instant::from_micros(self.now().micros().saturating_sub(lag))
    }

    pub fn advanced_s(&self) -> i64 {
        self.advanced_s.load(Ordering::SeqCst)
    }

    pub fn reads_lag_ms(&self) -> i64 {
        self.reads_lag_ms.load(Ordering::SeqCst)
    }

    /// Moves by `by_s`; false if it would leave the limits, or turn back over something already recorded.
    pub async fn advance(&self, writer: &SqlitePool, by_s: i64) -> sqlx::Result<bool> {
        let mut tx = writer.begin_with("BEGIN IMMEDIATE").await?;
        let total = self.advanced_s().saturating_add(by_s);
        if total.abs() > ADVANCE_LIMIT_S || (by_s < 0 && anything_recorded(&mut tx).await?) {
            return Ok(false);
        }
        store(&mut tx, ADVANCED, total).await?;
        tx.commit().await?;
        self.advanced_s.store(total, Ordering::SeqCst);
        if by_s < 0 {
            self.latest_micros.store(i64::MIN, Ordering::SeqCst);
        }
        Ok(true)
    }

    pub async fn lag(&self, writer: &SqlitePool, reads_ms: i64) -> sqlx::Result<()> {
        let mut tx = writer.begin_with("BEGIN IMMEDIATE").await?;
        store(&mut tx, LAG, reads_ms).await?;
        tx.commit().await?;
        self.reads_lag_ms.store(reads_ms, Ordering::SeqCst);
        Ok(())
    }
}

/// Later by `by_ms`, for effects that become final after a while.
pub fn later(from: Instant, by_ms: u64) -> Instant {
    from.plus(Duration::from_millis(by_ms))
}

fn machine_micros() -> i64 {
    let read = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    read.tv_sec.saturating_mul(MICROS_PER_S).saturating_add(read.tv_nsec / 1_000)
}

async fn anything_recorded(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM request)").fetch_one(connection).await
}

async fn setting(connection: &mut SqliteConnection, name: &'static str) -> sqlx::Result<i64> {
    let value: Option<i64> =
        sqlx::query_scalar("SELECT value FROM setting WHERE name = ?1").bind(name).fetch_optional(connection).await?;
    Ok(value.unwrap_or(0))
}

async fn store(connection: &mut SqliteConnection, name: &'static str, value: i64) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO setting (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")
        .bind(name)
        .bind(value)
        .execute(connection)
        .await?;
    Ok(())
}
