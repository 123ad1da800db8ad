//! Forms: read, run once, answered with a redirect or with what stood in the way.
//!
//! A command runs in a task of its own, so that a closed connection doesn't drop it half way. Invariant: the same form
//! pressed twice is done once and answered twice alike.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use app::ledger::decision::Outcome;
use app::ledger::roles::{Leave, Matter, Verb};
use app::ui::pages::operation::Outcome as Shown;
use app::ui::pages::problem::{Change, ProblemPage};
use app::ui::words::StatusView;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tokio::sync::Mutex;

use super::visit::Visit;
use super::words::gate_text;
use crate::http::App;
use crate::ledger::{Error, Result};
use crate::store::codec::{At, Id};
use crate::store::sessions::{self, SubmittedForm};
use crate::store::{audit, operations};

/// Characters of a form's key.
const KEY_LENGTH: usize = 200;
/// Presses of one form wait for each other; different forms rarely do.
const TURNS: u64 = 256;
/// Audit rows read to say what changed.
const ROWS: i64 = 1_000;

static TURN: LazyLock<Vec<Mutex<()>>> = LazyLock::new(|| (0..TURNS).map(|_| Mutex::new(())).collect());

/// What was typed.
#[derive(Clone, Debug, Default)]
pub struct Form(pub BTreeMap<String, String>);

impl FromRequest<App> for Form {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> std::result::Result<Self, Response> {
        let fields = axum::Form::<Vec<(String, String)>>::from_request(request, app).await;
        fields.map(|fields| Form(fields.0.into_iter().collect())).map_err(IntoResponse::into_response)
    }
}

impl Form {
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub fn version(&self) -> Option<i64> {
        self.0.get("version")?.trim().parse().ok()
    }

    fn key(&self) -> Option<&str> {
        self.0.get("form_key").map(String::as_str).filter(|key| !key.is_empty() && key.len() <= KEY_LENGTH)
    }
}

/// What is about to be done.
#[derive(Clone, Debug)]
pub struct Deed {
    /// The audit's word for it.
    pub name: &'static str,
    /// The least right that it takes; the command asks for more where the object does.
    pub right: Option<Verb>,
    pub about: Id,
    /// Where it leads.
    pub back: String,
    /// Its command writes down a denied attempt itself.
    pub audits_itself: bool,
}

impl Deed {
    pub fn new(name: &'static str, right: Verb, about: Id, back: String) -> Deed {
        Deed { name, right: Some(right), about, back, audits_itself: false }
    }
}

/// Runs a command for a form, once. `Err` is what the caller's page has to say.
pub async fn act<F>(visit: &Visit, form: &Form, deed: &Deed, command: F) -> Result<Response>
where
    F: Future<Output = Result<String>> + Send + 'static,
{
    let Some(key) = form.key().map(str::to_string) else { return Ok(incomplete(visit, "form_key")) };
    let _turn = turn(visit.who.id, &key).lock().await;
    if let Some(done) = find(visit, &key).await? {
        return Ok(visit.go(&done.location, &done.notice).await);
    }
    if deed.right.is_some_and(|right| visit.who.may(right, Matter::NONE) == Leave::No) {
        let error = Error::Forbidden("your roles do not include this");
        return denied(visit, deed, error, true).await;
    }
    let row = SubmittedForm {
        person_id: visit.who.id,
        form_key: key.clone(),
        location: deed.back.clone(),
        notice: String::new(),
        created_at: At(visit.now),
    };
    let app = visit.app.clone();
    let task = tokio::spawn(async move {
        let notice = command.await?;
        remember(&app, SubmittedForm { notice: notice.clone(), ..row }).await;
        Ok(notice)
    });
    match task.await {
        Ok(Ok(notice)) => Ok(visit.go(&deed.back, &notice).await),
        Ok(Err(error)) => match find(visit, &key).await? {
            Some(done) => Ok(visit.go(&done.location, &done.notice).await),
            None => denied(visit, deed, error, !deed.audits_itself).await,
        },
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

fn turn(person: Id, key: &str) -> &'static Mutex<()> {
    let mut hasher = DefaultHasher::new();
    (person, key).hash(&mut hasher);
    &TURN[usize::try_from(hasher.finish() % TURNS).unwrap_or(0)]
}

async fn find(visit: &Visit, key: &str) -> Result<Option<SubmittedForm>> {
    let mut tx = visit.read().await?;
    Ok(sessions::find_form(&mut tx, visit.who.id, key).await?)
}

/// The command is done; if this cannot be written, a second press says what it finds.
async fn remember(app: &App, row: SubmittedForm) {
    let written = async {
        let mut tx = app.ledger.db.write().await?;
        sessions::insert_form(&mut tx, &row).await?;
        tx.commit().await
    };
    if let Err(error) = written.await {
        tracing::warn!(%error, "a form that was done could not be noted");
    }
}

/// Writes down an attempt that the person had no right to.
async fn denied(visit: &Visit, deed: &Deed, error: Error, audit: bool) -> Result<Response> {
    if let (Error::Forbidden(why), true) = (&error, audit) {
        visit.app.ledger.audit_denied(&visit.who, deed.about, deed.name, why, &visit.request_id).await?;
    }
    Err(error)
}

/// 400: a form without the version or the key that every form of ours carries.
pub fn incomplete(visit: &Visit, what: &str) -> Response {
    let model = ProblemPage {
        code: "malformed".into(),
        title: "The form was not complete".into(),
        detail: format!("It came without its {what}, so that it is not known what it was about."),
        safe: SAFE.into(),
        next: vec!["Open the page again and fill in its form.".into()],
        ..ProblemPage::default()
    };
    visit.problem(StatusCode::BAD_REQUEST, model)
}

const SAFE: &str = "Nothing was sent and nothing was changed.";

/// What a command refused, as a page that keeps what was typed.
pub async fn refused(visit: &Visit, form: &Form, deed: &Deed, error: Error) -> Response {
    let back = Some((deed.back.clone(), "Open the newest version".to_string()));
    let base = ProblemPage { safe: SAFE.into(), kept: kept(form), back, ..ProblemPage::default() };
    let said = |code: &str, title: &str, detail: String| ProblemPage {
        code: code.into(),
        title: title.into(),
        detail,
        ..base.clone()
    };
    let next = |steps: &[&str]| steps.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (status, model) = match error {
        Error::NotFound(_) => return visit.not_found(),
        Error::Forbidden(why) => {
            let page = said("forbidden", "You may not do this", format!("{}. The attempt is on record.", upper(why)));
            (StatusCode::FORBIDDEN, page)
        }
        Error::StaleVersion { seen, now } => {
            let title = "It changed while you were deciding";
            let page = said("stale-version", title, "What you asked for was not applied.".into());
            let versions = u64::try_from(seen).ok().zip(u64::try_from(now).ok());
            let steps = next(&["Read what changed.", "Decide again on the newest version, or leave it."]);
            (
                StatusCode::CONFLICT,
                ProblemPage { versions, changes: changes(visit, deed, seen).await, next: steps, ..page },
            )
        }
        Error::Held { by } => {
            let page = said("held", "Somebody else holds it", format!("{by} holds it now."));
            (
                StatusCode::CONFLICT,
                ProblemPage { next: next(&["Talk to them, or wait until they release it."]), ..page },
            )
        }
        Error::Shut(gates) => {
            let clock = visit.shell.clock();
            let unmet = gates.iter().filter(|(_, met)| *met != app::ledger::decision::Met::Yes);
            let steps = unmet.map(|gate| gate_text(*gate, &clock, "the partner").text).collect();
            let page =
                said("shut", "The evidence does not allow it", "A condition of this decision is not met.".into());
            (StatusCode::CONFLICT, ProblemPage { next: steps, ..page })
        }
        Error::Void => {
            let detail = "The evidence or a parameter is not what was shown to you any more.".into();
            let page = said("void", "What you saw is not what is stored any more", detail);
            (
                StatusCode::CONFLICT,
                ProblemPage { next: next(&["It has to be proposed again on what is known now."]), ..page },
            )
        }
        Error::NotYours(why) => (StatusCode::CONFLICT, said("wrong-status", "Not as it stands now", upper(why))),
        Error::WrongStatus(now) => {
            let detail = format!("It is “{}” now.", StatusView::plain(now).word);
            (StatusCode::CONFLICT, said("wrong-status", "Not as it stands now", detail))
        }
        Error::Invalid { field, message } => {
            let detail = format!("{}: {message}", upper(&field));
            (StatusCode::UNPROCESSABLE_ENTITY, said("invalid-parameter", "Something is missing", detail))
        }
        error => return visit.trouble(&error),
    };
    visit.problem(status, model)
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

const LABELS: [(&str, &str); 6] = [
    ("outcome", "Decision"),
    ("reason", "Reason"),
    ("source", "Who or what says so"),
    ("conclusion", "What it says"),
    ("observed_at", "Observed at"),
    ("text", "The statement itself"),
];

fn kept(form: &Form) -> Vec<(String, String)> {
    let typed = LABELS.iter().filter(|(name, _)| !form.text(name).is_empty());
    typed
        .map(|(name, label)| {
            let value = form.text(name);
            let outcome = value.parse::<Outcome>().ok().filter(|_| *name == "outcome");
            (label.to_string(), outcome.map_or_else(|| value.to_string(), |outcome| title_of(outcome).to_string()))
        })
        .collect()
}

pub fn shown(outcome: Outcome) -> Shown {
    match outcome {
        Outcome::Executed => Shown::Executed,
        Outcome::SendAgain => Shown::SendAgain,
        Outcome::Close => Shown::Close,
    }
}

pub fn title_of(outcome: Outcome) -> String {
    shown(outcome).verb("").title
}

/// What the operation was at the version seen, and what it is now, as far as the record says.
async fn changes(visit: &Visit, deed: &Deed, seen: i64) -> Vec<Change> {
    let found = async {
        let mut tx = visit.read().await?;
        let Some(row) = operations::find(&mut tx, deed.about).await?.filter(|row| visit.who.sees(&row.tenant)) else {
            return Ok::<_, Error>(None);
        };
        let rows = audit::list_of_subject(&mut tx, "operation", &row.id.to_string(), ROWS).await?;
        let then = rows.iter().rfind(|entry| entry.version.is_some_and(|version| version <= seen)).cloned();
        let since = rows.into_iter().filter(|entry| entry.version.is_some_and(|version| version > seen)).collect();
        Ok(Some((row, then, since)))
    };
    let Ok(Some((row, then, since))) = found.await else { return Vec::new() };
    let since: Vec<crate::store::audit::Entry> = since;
    let word =
        |status: &str| status.parse().map_or_else(|_| status.to_string(), |status| StatusView::plain(status).word);
    let was = then.and_then(|entry| entry.to_status).unwrap_or_default();
    let mut changes =
        vec![Change { what: "Status".into(), seen: word(&was), now: StatusView::plain(*row.status).word }];
    let deeds: Vec<String> =
        since.iter().map(|entry| format!("{} {}", entry.actor_name, super::words::deed(entry))).collect();
    if !deeds.is_empty() {
        changes.push(Change { what: "Since then".into(), seen: "nothing".into(), now: deeds.join("; ") });
    }
    changes
}
