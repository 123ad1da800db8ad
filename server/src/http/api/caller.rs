//! Who calls: the API client behind the bearer token, with the rights of now.
//!
//! Invariant: the token's text goes no further than here and the end of a wait.

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use super::super::App;
use super::super::correlation::RequestId;
use super::super::problem::Problem;
use super::seats::{Kind, Seat, Seats};
use crate::ledger::{Ledger, Principal};

pub struct Caller {
    pub who: Principal,
    pub request_id: String,
    pub seats: Seats,
    token: String,
    _seat: Seat,
}

impl Caller {
    /// The rights as they are by now; None if there are none left.
    pub async fn again(&self, ledger: &Ledger) -> Result<Option<Principal>, Problem> {
        Ok(ledger.authenticate(&self.token).await?)
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let token = bearer(parts).ok_or_else(|| Problem::unauthenticated(false))?.to_string();
        let who = app.ledger.authenticate(&token).await?.ok_or_else(|| Problem::unauthenticated(true))?;
        let seats = parts.extensions.get::<Seats>().cloned().unwrap_or_default();
        let seat = seats.take(Kind::Request, &who.id).ok_or_else(Problem::too_many_requests)?;
        let request_id = parts.extensions.get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default();
        Ok(Caller { who, request_id, seats, token, _seat: seat })
    }
}

/// The one bearer token; two headers are none.
fn bearer(parts: &Parts) -> Option<&str> {
    let mut given = parts.headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
