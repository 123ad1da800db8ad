//! Reading the answer to a send: what happened on the wire, read with the contract, becomes one ending.
//!
//! Pure and total: whatever a partner sends has a row here. What the ending does to the operation is `status`.
//! Invariant: only a declared, well-formed answer ends an attempt; everything else after a byte may have left is unknown.

use std::time::Duration;

use super::attempt::Ending;
use super::compare::differences;
use super::contract::StatusField;
use super::instant::Instant;
use super::json::Json;
use super::reason::Reason;
use super::render::Filling;
use super::retry_after;
use super::wire::{Broken, NotSent, WireEnd, WireReport};

/// A partner may not push the next try further away than this.
pub const RETRY_AFTER_CAP: Duration = Duration::from_secs(3600);
/// Characters kept of a partner's error code and message.
const CODE_LENGTH: usize = 64;
const MESSAGE_LENGTH: usize = 200;
const ACCEPTED: u16 = 202;
const CONFLICT: u16 = 409;
/// A result larger than this is kept as id and status only.
pub const RESULT_LIMIT: usize = 16 * 1024;

/// What one answer said.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub ending: Ending,
    pub reason: Reason,
    /// A stable code and a short message; nothing else of an error body is kept.
    pub code: Option<String>,
    pub message: Option<String>,
    pub wait: Option<Duration>,
    /// Of a good answer: the upstream's id and the declared outputs.
    pub id: Option<String>,
    pub outputs: Vec<(String, Json)>,
    pub secret: Option<Secret>,
    /// An id in an answer that proves nothing yet; kept as a lead for look-ups.
    pub hint: Option<String>,
    /// Somebody should know: credentials refused, endpoint moved, wrong echo.
    pub alert: bool,
}

/// A secret shown once. Not shown by `Debug`.
#[derive(Clone, PartialEq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Answer {
    fn of(ending: Ending, reason: Reason) -> Self {
        Answer {
            ending,
            reason,
            code: None,
            message: None,
            wait: None,
            id: None,
            outputs: Vec::new(),
            secret: None,
            hint: None,
            alert: false,
        }
    }

    fn unknown(reason: Reason) -> Self {
        Answer::of(Ending::Unknown, reason)
    }

    fn alerting(self) -> Self {
        Answer { alert: true, ..self }
    }

    fn coded(self, error: Option<ErrorBody>) -> Self {
        match error {
            Some(error) => Answer { code: Some(error.code), message: error.message, ..self },
            None => self,
        }
    }
}

/// The request could not be made: this contract, these parameters.
pub fn local(message: &str) -> Answer {
    Answer { message: Some(cut(message, MESSAGE_LENGTH)), ..Answer::of(Ending::Local, Reason::LocalBeforeSend) }
}

pub fn read(filling: &Filling<'_>, report: &WireReport, now: Instant) -> Answer {
    match &report.end {
        WireEnd::NotSent { why: NotSent::Local, detail } => local(detail),
        WireEnd::NotSent { why, detail } => Answer {
            code: Some(why.as_str().into()),
            message: Some(cut(detail, MESSAGE_LENGTH)),
            alert: *why == NotSent::CredentialsMissing,
            ..Answer::of(Ending::NotSent, Reason::NotSent)
        },
        WireEnd::Broken { why, .. } => Answer {
            code: Some(why.as_str().into()),
            ..Answer::unknown(if *why == Broken::Timeout { Reason::NoResponse } else { Reason::ConnectionBroken })
        },
        WireEnd::Answer { status, body, complete, too_large, .. } => {
            let body = Body { bytes: body, whole: *complete && !*too_large };
            read_status(filling, report, *status, &body, now)
        }
    }
}

struct Body<'a> {
    bytes: &'a [u8],
    whole: bool,
}

impl Body<'_> {
    fn json(&self) -> Option<Json> {
        if self.whole { Json::parse(self.bytes).ok() } else { None }
    }
}

fn read_status(filling: &Filling<'_>, report: &WireReport, status: u16, body: &Body<'_>, now: Instant) -> Answer {
    let error = || error_body(filling, body);
    let wait = || retry_after::parse(report.header("retry-after"), now, RETRY_AFTER_CAP);
    let not_executed = |reason| Answer { wait: wait(), ..Answer::of(Ending::NotExecuted, reason).coded(error()) };
    match status {
        200..=299 => receipt(filling, status, body),
        300..=399 => Answer::unknown(Reason::Redirected).alerting(),
        401 => not_executed(Reason::CredentialsRefused).alerting(),
        403 if error().is_some_and(|error| filling.upstream.credentials_403.contains(&error.code)) => {
            not_executed(Reason::CredentialsRefused).alerting()
        }
        425 => not_executed(Reason::TooEarly),
        429 => not_executed(Reason::RateLimited),
        408 => Answer::unknown(Reason::NoResponse).coded(error()),
        400..=499 => refusal(filling, status, error()),
        500..=599 => Answer { wait: wait(), ..Answer::unknown(Reason::ServerError).coded(error()) },
        _ => Answer::unknown(Reason::UnreadableAnswer),
    }
}

/// 2xx: good only when it reads strictly, echoes what was sent and declares itself done.
fn receipt(filling: &Filling<'_>, status: u16, body: &Body<'_>) -> Answer {
    let rules = &filling.contract.receipt;
    if body.whole && body.bytes.is_empty() && rules.empty {
        return if status == ACCEPTED {
            Answer::unknown(Reason::StillWorking)
        } else {
            Answer::of(Ending::Succeeded, Reason::Receipt)
        };
    }
    let Some(json) = body.json() else { return Answer::unknown(Reason::UnreadableAnswer) };
    let id = rules.id.as_deref().and_then(|pointer| text_at(&json, pointer));
    let with_hint = |answer: Answer| Answer { hint: id.clone(), ..answer };
    let declared = match &rules.status {
        Some(field) => declared(field, &json),
        // Accepted is a promise to work on it; only a declared status makes more of it.
        None if status == ACCEPTED => Declared::Working,
        None => Declared::Done,
    };
    let mut echo = rules.echo.clone();
    if matches!(declared, Declared::Working) {
        // What is still being worked on need not show everything yet; what it shows must be ours.
        echo.retain(|pointer, _| json.pointer(pointer).is_some());
    }
    match differences(&echo, filling, &json) {
        Ok(classes) if classes.is_empty() => {}
        Ok(classes) => {
            let unknown = Answer {
                message: Some(format!("differs: {}", classes.join(", "))),
                ..Answer::unknown(Reason::WrongEcho)
            };
            return unknown.alerting();
        }
        Err(_) => return Answer::unknown(Reason::WrongEcho).alerting(),
    }
    match declared {
        Declared::Done => {}
        Declared::Refused(word) => {
            return Answer { code: Some(word), ..Answer::of(Ending::Refused, Reason::RefusedByPartner) };
        }
        Declared::Working => return with_hint(Answer::unknown(Reason::StillWorking)),
        Declared::Undeclared => return with_hint(Answer::unknown(Reason::UndeclaredStatus)),
    }
    if rules.id.is_some() && id.is_none() {
        return Answer::unknown(Reason::UnreadableAnswer);
    }
    let Some(outputs) = outputs(&rules.outputs, &json) else {
        return with_hint(Answer::unknown(Reason::UnreadableAnswer));
    };
    let secret = rules.secret.as_deref().and_then(|pointer| text_at(&json, pointer)).map(Secret);
    Answer { id, outputs, secret, ..Answer::of(Ending::Succeeded, Reason::Receipt) }
}

/// What a status field says.
pub(super) enum Declared {
    Done,
    Working,
    Refused(String),
    Undeclared,
}

pub(super) fn declared(field: &StatusField, json: &Json) -> Declared {
    let Some(word) = text_at(json, &field.pointer) else { return Declared::Undeclared };
    if field.done.contains(&word) {
        Declared::Done
    } else if field.working.contains(&word) {
        Declared::Working
    } else if field.refused.contains(&word) {
        Declared::Refused(cut(&word, CODE_LENGTH))
    } else {
        Declared::Undeclared
    }
}

/// All declared outputs, or none where one is missing.
pub(super) fn outputs(
    pointers: &std::collections::BTreeMap<String, String>,
    json: &Json,
) -> Option<Vec<(String, Json)>> {
    pointers.iter().map(|(name, pointer)| Some((name.clone(), json.pointer(pointer)?.clone()))).collect()
}

/// A string, or a number's own spelling.
pub(super) fn text_at(json: &Json, pointer: &str) -> Option<String> {
    match json.pointer(pointer)? {
        Json::String(text) if !text.is_empty() => Some(text.clone()),
        Json::Number(number) => Some(number.text().to_string()),
        _ => None,
    }
}

/// A 4xx by the contract's words. Its codes about our key come first: partners send them with 409, 422 and 400, and none
/// of them is a refusal of this effect. A 409 without one is as undeclared as a 418.
fn refusal(filling: &Filling<'_>, status: u16, error: Option<ErrorBody>) -> Answer {
    let errors = &filling.contract.errors;
    let says = |codes: &[String]| error.as_ref().is_some_and(|error| codes.contains(&error.code));
    let is_declared = status != CONFLICT && errors.refused.contains(&status);
    let answer = if says(&errors.key_mismatch) {
        Answer::of(Ending::KeyConflict, Reason::KeyConflict).alerting()
    } else if says(&errors.key_in_use) {
        Answer::unknown(Reason::KeyInUse)
    } else if says(&errors.already_exists) {
        Answer::unknown(Reason::AlreadyExists)
    } else if error.is_some() && is_declared {
        Answer::of(Ending::Refused, Reason::RefusedByPartner)
    } else {
        Answer::unknown(Reason::UndeclaredRefusal)
    };
    answer.coded(error)
}

/// The declared shape of an error; untrusted, so cut and cleaned.
pub(super) struct ErrorBody {
    pub code: String,
    pub message: Option<String>,
}

fn error_body(filling: &Filling<'_>, body: &Body<'_>) -> Option<ErrorBody> {
    error_in(filling, &body.json()?)
}

pub(super) fn error_in(filling: &Filling<'_>, json: &Json) -> Option<ErrorBody> {
    let shape = filling.upstream.error.as_ref()?;
    let code = text_at(json, &shape.code)?;
    let message = shape.message.as_deref().and_then(|pointer| text_at(json, pointer));
    let code = Some(cut(&code, CODE_LENGTH)).filter(|code| !code.is_empty())?;
    Some(ErrorBody { code, message: message.map(|text| cut(&text, MESSAGE_LENGTH)) })
}

/// At most `length` characters, without control characters.
fn cut(text: &str, length: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(length).collect()
}

#[cfg(test)]
mod tests;
