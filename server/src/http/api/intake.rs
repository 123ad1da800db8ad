//! Reading a request: its key, its media type, its body, its members and query.
//!
//! Strict, and in this order, so that the cheapest refusal comes first. Reads no meaning into parameters.
//! Invariant: nothing is stored for a request that is refused here, and no key's text is in a message.

use std::time::Duration;

use app::ledger::json::Json;
use app::ledger::key::InboundKey;
use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::super::BODY_LIMIT;
use super::super::problem::Problem;

/// A body that is not here by then is given up.
const BODY_WITHIN: Duration = Duration::from_secs(20);
/// Characters of a caller's own name for a member that a message shows.
const SHOWN_NAME: usize = 60;
/// Longest plain text: a customer's external id, a contract's name.
const LONGEST_TEXT: usize = 200;

const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The key and the one JSON value of a POST.
pub async fn read(request: Request) -> Result<(InboundKey, Json), Problem> {
    let (parts, body) = request.into_parts();
    check_media_type(&parts.headers)?;
    let key = key(&parts.headers)?;
    let bytes = read_body(&parts.headers, body).await?;
    let json = Json::parse(&bytes).map_err(|error| Problem::malformed_json(&error))?;
    match json.as_object() {
        Some(_) => Ok((key, json)),
        None => Err(Problem::malformed(format!("The body is a JSON object, not {}.", json.kind()))),
    }
}

fn key(headers: &HeaderMap) -> Result<InboundKey, Problem> {
    let mut given = headers.get_all(IDEMPOTENCY_KEY).iter();
    match (given.next(), given.next()) {
        (None, _) => Err(Problem::missing_key()),
        (Some(value), None) => InboundKey::parse(value.as_bytes()).map_err(|error| Problem::invalid_key(&error)),
        (Some(_), Some(_)) => Err(Problem::bad_key("The header Idempotency-Key stands more than once.")),
    }
}

fn check_media_type(headers: &HeaderMap) -> Result<(), Problem> {
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(Problem::unsupported_media_type("The body has a Content-Encoding; send it plain."));
    }
    let mut given = headers.get_all(CONTENT_TYPE).iter();
    let value = match (given.next(), given.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        (None, _) => return Err(Problem::unsupported_media_type("The header Content-Type is missing.")),
        (Some(_), Some(_)) => return Err(Problem::unsupported_media_type("The header Content-Type stands twice.")),
    };
    let mut parts = value.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let is_utf8 = |parameter: &str| match parameter.split_once('=') {
        Some((name, charset)) if name.trim().eq_ignore_ascii_case("charset") => {
            charset.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    };
    if is_json && parts.all(is_utf8) {
        return Ok(());
    }
    Err(Problem::unsupported_media_type("The Content-Type is not application/json in UTF-8."))
}

async fn read_body(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Problem> {
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > BODY_LIMIT) {
        return Err(Problem::too_large(BODY_LIMIT));
    }
    let whole = Limited::new(body, BODY_LIMIT).collect();
    match tokio::time::timeout(BODY_WITHIN, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Problem::too_large(BODY_LIMIT)),
        Ok(Err(_)) => Err(Problem::malformed("The body ended before it was whole.")),
        Err(_) => Err(Problem::malformed(format!("The body was not here within {} s.", BODY_WITHIN.as_secs()))),
    }
}

/// Refuses what is not among `known`.
pub fn only_known(json: &Json, known: &[&str]) -> Result<(), Problem> {
    let members = json.as_object().unwrap_or_default();
    match members.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        Some((name, _)) => {
            let shown: String = name.chars().filter(|c| !c.is_control()).take(SHOWN_NAME).collect();
            Err(Problem::invalid(&shown, "there is no such member; parameters stand inside params"))
        }
        None => Ok(()),
    }
}

/// A plain text that may be left out; `null` is left out.
pub fn text_member(json: &Json, name: &str) -> Result<Option<String>, Problem> {
    match json.get(name).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => match value.as_str() {
            Some(text) => plain(name, text).map(Some),
            None => Err(Problem::invalid(name, &format!("must be a text, not {}", value.kind()))),
        },
    }
}

/// Trimmed, 1 to 200 characters, none of them a control character.
pub fn plain(name: &str, text: &str) -> Result<String, Problem> {
    let text = text.trim();
    let length = text.chars().count();
    if length == 0 || length > LONGEST_TEXT || text.chars().any(char::is_control) {
        return Err(Problem::invalid(
            name,
            &format!("must be 1 to {LONGEST_TEXT} characters without control characters"),
        ));
    }
    Ok(text.to_string())
}

/// The query by name: each once, none that is unknown, empty ones left out.
pub fn query(pairs: Vec<(String, String)>, known: &[&'static str]) -> Result<Vec<(&'static str, String)>, Problem> {
    let mut read: Vec<(&'static str, String)> = Vec::new();
    for (name, text) in pairs {
        let shown: String = name.chars().filter(|c| !c.is_control()).take(SHOWN_NAME).collect();
        let Some(known) = known.iter().find(|known| **known == name) else {
            return Err(Problem::invalid(&shown, "there is no such parameter; leave it out"));
        };
        if read.iter().any(|(earlier, _)| earlier == known) {
            return Err(Problem::invalid(known, "stands more than once"));
        }
        if !text.is_empty() {
            read.push((known, plain(known, &text)?));
        }
    }
    Ok(read)
}
