//! What a command refuses, and why. One exhaustive match in `http` turns it into an answer.
//!
//! Invariant: nothing here carries an inbound key, a secret or an earlier request's values.

use app::ledger::decision::{Gate, Met};
use app::ledger::params::ParamError;
use app::ledger::status::{Refused, Status};

use crate::store;
use crate::store::codec::Id;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no such {0}")]
    NotFound(&'static str),
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("{field}: {message}")]
    Invalid { field: String, message: String },
    #[error("this contract is confirmed by a person; propose an action instead")]
    NeedsConfirmation,
    #[error("this key was used for another request")]
    KeyReused { operation: Option<Id>, status: Option<Status>, differs: Vec<String> },
    #[error("this intent is known with other parameters")]
    IntentReused { operation: Option<Id>, status: Option<Status>, differs: Vec<String> },
    #[error("it has changed since the page was made")]
    StaleVersion { seen: i64, now: i64 },
    #[error("{by} holds it")]
    Held { by: String },
    #[error("not while it is {0}")]
    WrongStatus(Status),
    #[error("it waits for operation {0}")]
    Blocked(Id),
    #[error("the evidence does not allow it")]
    Shut(Vec<(Gate, Met)>),
    #[error("{0}")]
    NotYours(&'static str),
    #[error("what was shown is not what is stored any more")]
    Void,
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Error::WrongStatus(refused.status)
    }
}

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Self {
        Error::Invalid { field: error.field, message: error.message }
    }
}

impl Error {
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Error {
        Error::Invalid { field: field.into(), message: message.into() }
    }
}
