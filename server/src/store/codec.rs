//! Column types that read and write the same on both databases.
//!
//! | here | PostgreSQL | SQLite |
//! | --- | --- | --- |
//! | [`Id`] | `uuid` | hyphenated lower-case text |
//! | [`At`] | `timestamptz` | whole microseconds since 1970, UTC |
//! | [`Num`] | `numeric` | exact text |
//! | [`Word`] | `text` | text |
//!
//! Structured columns (parameters, results) are text on both: `jsonb` would rewrite numbers and member order, and the
//! spelling that was accepted is part of the record. Invariant: a value read is the value written.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use app::ledger::instant::Instant;
use rust_decimal::Decimal;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, Postgres, Sqlite, Type};
use time::OffsetDateTime;
use uuid::Uuid;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub Uuid);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At(pub Instant);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Num(pub Decimal);

/// A word of a closed list, kept as its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word<T>(pub T);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for Id {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        Uuid::parse_str(text).map(Id)
    }
}

impl fmt::Debug for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Deref for At {
    type Target = Instant;

    fn deref(&self) -> &Instant {
        &self.0
    }
}

impl<T> Deref for Word<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Nanoseconds in a microsecond.
const NANOS: i128 = 1_000;

fn to_offset(at: Instant) -> Result<OffsetDateTime, BoxDynError> {
    Ok(OffsetDateTime::from_unix_timestamp_nanos(i128::from(at.micros()) * NANOS)?)
}

fn from_offset(at: OffsetDateTime) -> Result<Instant, BoxDynError> {
    Ok(Instant::from_micros(i64::try_from(at.unix_timestamp_nanos().div_euclid(NANOS))?))
}

/// The codec of one newtype on one database, by way of a type that sqlx knows.
macro_rules! codec {
    ($name:ty, $db:ty, $via:ty, |$value:ident| $write:expr, |$raw:ident| $read:expr) => {
        impl Type<$db> for $name {
            fn type_info() -> <$db as Database>::TypeInfo {
                <$via as Type<$db>>::type_info()
            }

            fn compatible(ty: &<$db as Database>::TypeInfo) -> bool {
                <$via as Type<$db>>::compatible(ty)
            }
        }

        impl Encode<'_, $db> for $name {
            fn encode_by_ref(&self, buf: &mut <$db as Database>::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
                let $value = self;
                let via: $via = $write;
                <$via as Encode<'_, $db>>::encode(via, buf)
            }
        }

        impl<'r> Decode<'r, $db> for $name {
            fn decode(value: <$db as Database>::ValueRef<'r>) -> Result<Self, BoxDynError> {
                let $raw = <$via as Decode<'r, $db>>::decode(value)?;
                $read
            }
        }
    };
}

codec!(Id, Postgres, Uuid, |id| id.0, |raw| Ok(Id(raw)));
codec!(Id, Sqlite, String, |id| id.to_string(), |raw| Ok(raw.parse()?));
codec!(At, Postgres, OffsetDateTime, |at| to_offset(at.0)?, |raw| Ok(At(from_offset(raw)?)));
codec!(At, Sqlite, i64, |at| at.0.micros(), |raw| Ok(At(Instant::from_micros(raw))));
codec!(Num, Postgres, Decimal, |num| num.0, |raw| Ok(Num(raw)));
codec!(Num, Sqlite, String, |num| num.0.to_string(), |raw| Ok(Num(Decimal::from_str_exact(&raw)?)));

impl<T, DB: Database> Type<DB> for Word<T>
where
    String: Type<DB>,
{
    fn type_info() -> DB::TypeInfo {
        <String as Type<DB>>::type_info()
    }

    fn compatible(ty: &DB::TypeInfo) -> bool {
        <String as Type<DB>>::compatible(ty)
    }
}

impl<'q, T: ToString, DB: Database> Encode<'q, DB> for Word<T>
where
    String: Encode<'q, DB>,
{
    fn encode_by_ref(&self, buf: &mut DB::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
        self.0.to_string().encode(buf)
    }
}

impl<'r, T, DB: Database> Decode<'r, DB> for Word<T>
where
    String: Decode<'r, DB>,
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Word(<String as Decode<'r, DB>>::decode(value)?.parse::<T>()?))
    }
}
