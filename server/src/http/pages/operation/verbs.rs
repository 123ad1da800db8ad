//! What a person does to one operation.
//!
//! Each hands a command to `forms::act`. Invariant: whatever was typed comes back when it was not taken.

use app::ledger::decision::Outcome;
use app::ledger::instant::Instant;
use app::ledger::roles::Verb;
use app::ui::link;
use app::ui::shell::Nav;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

use super::model::{self, Typed};
use crate::http::pages::forms::{self, Deed, Form, act, refused};
use crate::http::pages::visit::Visit;
use crate::ledger::attach_evidence::AttachStatement;
use crate::ledger::decide::{Decide, Decided};
use crate::ledger::{Error, Ledger, Operator, Result};
use crate::store::codec::Id;

/// The command's ingredients.
fn hands(visit: &Visit) -> (Ledger, Operator, String) {
    (visit.app.ledger.clone(), visit.who.clone(), visit.request_id.clone())
}

fn deed(name: &'static str, right: Verb, id: Id) -> Deed {
    Deed::new(name, right, id, link::operation(&id.to_string()))
}

async fn run<F>(visit: Visit, form: Form, deed: Deed, command: F) -> Response
where
    F: Future<Output = Result<String>> + Send + 'static,
{
    if form.version().is_none() {
        return forms::incomplete(&visit, "version");
    }
    match act(&visit, &form, &deed, command).await {
        Ok(response) => response,
        Err(error) => refused(&visit, &form, &deed, error).await,
    }
}

pub async fn take_over(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    let (ledger, who, correlation) = hands(&visit);
    let command = async move {
        ledger.take_over(&who, id, &correlation).await?;
        Ok("Taken over. Automation has stopped until you release it.".to_string())
    };
    run(visit, form, deed("take_over", Verb::TakeOver, id), command).await
}

pub async fn release(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    let (ledger, who, correlation) = hands(&visit);
    let command = async move {
        let row = ledger.release(&who, id, &correlation).await?;
        let next = if row.next_check_at.is_some() { "Automation goes on with it." } else { "It waits in the queue." };
        Ok(format!("Released. {next}"))
    };
    run(visit, form, deed("release", Verb::Release, id), command).await
}

pub async fn look_up(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    let (ledger, who, _) = hands(&visit);
    let command = async move {
        ledger.look_up(&who, id, None).await?;
        Ok("Asked. What the partner said stands under Evidence and in the record.".to_string())
    };
    run(visit, form, deed("look_up", Verb::AskPartner, id), command).await
}

pub async fn automate(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    let (ledger, who, correlation) = hands(&visit);
    let command = async move {
        ledger.automate(&who, id, &correlation).await?;
        Ok("Given back: machines ask the partner again.".to_string())
    };
    run(visit, form, deed("automate", Verb::Automate, id), command).await
}

pub async fn evidence(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    if form.version().is_none() {
        return forms::incomplete(&visit, "version");
    }
    let deed = deed("attach_evidence", Verb::AttachEvidence, id);
    let (ledger, who, correlation) = hands(&visit);
    let statement = statement(id, &form);
    let command = async move {
        ledger.attach_statement(&who, statement?, &correlation).await?;
        Ok("Attached to the evidence.".to_string())
    };
    match act(&visit, &form, &deed, command).await {
        Ok(response) => response,
        Err(Error::Invalid { field, message }) => {
            again(visit, id, Typed { action: "evidence", part: String::new(), form, field, message }).await
        }
        Err(error) => refused(&visit, &form, &deed, error).await,
    }
}

fn statement(id: Id, form: &Form) -> Result<AttachStatement> {
    if form.text("kind") != "statement" {
        return Err(Error::invalid("kind", "is not a statement"));
    }
    let conclusion = form.text("conclusion").parse();
    let observed = form.text("observed_at").trim();
    let as_of = match observed {
        "" => None,
        text => Some(text.parse::<Instant>().map_err(|error| Error::invalid("observed_at", format!("is {error}")))?),
    };
    Ok(AttachStatement {
        operation: id,
        conclusion: conclusion.map_err(|_| Error::invalid("conclusion", "choose what it says"))?,
        as_of,
        text: form.text("text").to_string(),
        source: form.text("source").to_string(),
        file_name: Some(form.text("file_name").to_string()).filter(|name| !name.is_empty()),
        partner_id: None,
    })
}

pub async fn decide(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    let Some(version) = form.version() else { return forms::incomplete(&visit, "version") };
    let Ok(outcome) = form.text("outcome").parse::<Outcome>() else { return forms::incomplete(&visit, "outcome") };
    let deed = deed("decide", Verb::Decide, id);
    let (ledger, who, correlation) = hands(&visit);
    let cmd = Decide { operation: id, outcome, reason: form.text("reason").to_string(), version };
    let command = async move {
        Ok(match ledger.decide(&who, cmd, &correlation).await? {
            Decided::Settled(row) if row.status.is_settled() => "Decided. It is settled.".to_string(),
            Decided::Settled(_) => "Decided. It is sent again with the same key.".to_string(),
            Decided::Proposed(..) => {
                "Proposed. Nothing happens until a second person agrees; it stands under Approvals.".to_string()
            }
        })
    };
    match act(&visit, &form, &deed, command).await {
        Ok(response) => response,
        Err(Error::Invalid { field, message }) => {
            let part = outcome.as_str().to_string();
            again(visit, id, Typed { action: "decide", part, form, field, message }).await
        }
        Err(error) => refused(&visit, &form, &deed, error).await,
    }
}

/// 422: the page with the form as it was typed, and what is wrong with it.
async fn again(visit: Visit, id: Id, typed: Typed) -> Response {
    let visit = visit.at(Nav::Queue).await;
    match model::load(&visit, id, Some(&typed)).await {
        Ok(model) => {
            let html = app::ui::pages::operation::page(&visit.shell, &model);
            (StatusCode::UNPROCESSABLE_ENTITY, Html(html)).into_response()
        }
        Err(error) => visit.trouble(&error),
    }
}
