//! One request of a signed-in person: who they are now, where they work, and the shell around their page.
//!
//! Roles and tenants are read for each request. Invariant: without a person there is no page but sign-in.

use app::ledger::instant::Instant;
use app::ui::pages::not_found::{self, NotFoundPage};
use app::ui::pages::problem::{self, ProblemPage};
use app::ui::shell::{Flash, FlashKind, Nav, Person, Shell};
use app::ui::{Shell as Around, link};
use axum::extract::{FromRequestParts, Query};
use axum::http::header::{LOCATION, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tower_sessions::Session;

use crate::http::guard::{is_https, is_loopback};
use crate::http::sessions::{AGENT, FLASH, PERSON, SEEN};
use crate::http::{App, assets};
use crate::ids;
use crate::ledger::people::operator;
use crate::ledger::who::tenants_json;
use crate::ledger::{Error, Operator};
use crate::store::codec::Id;
use crate::store::{Tx, people, queue};

/// How long a notice stays on its page, so that a live refresh doesn't take it away unread.
const FLASH_MICROS: i64 = 20_000_000;
/// A session is written again when it was last seen so long ago.
const SEEN_MICROS: i64 = 60_000_000;
const AGENT_LENGTH: usize = 120;

#[derive(Debug)]
pub struct Visit {
    pub app: App,
    pub session: Session,
    pub who: Operator,
    pub shell: Shell,
    pub request_id: String,
    pub now: Instant,
    pub path: String,
    pub query: Vec<(String, String)>,
}

/// A notice on its way to the page it belongs to.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    text: String,
    path: String,
    at: i64,
}

/// The person behind the session, with the rights of now.
pub async fn signed_in(app: &App, session: &Session) -> Result<Option<Operator>, Error> {
    let Some(id) = session.get::<String>(PERSON).await.ok().flatten().and_then(|id| id.parse::<Id>().ok()) else {
        return Ok(None);
    };
    let mut tx = app.ledger.db.read().await?;
    let Some(person) = people::find(&mut tx, id).await? else { return Ok(None) };
    operator(&mut tx, &person).await
}

/// The shell of who is not signed in.
pub fn outside(app: &App, now: Instant) -> Shell {
    Shell {
        banner: banner(app),
        demo: app.settings.demo,
        asset_version: assets::VERSION.clone(),
        form_key: ids::random_hex(FORM_KEY_BYTES),
        ..Shell::new(now)
    }
}

const FORM_KEY_BYTES: usize = 12;

fn banner(app: &App) -> Option<String> {
    let plain = !is_https(&app.settings.public_url) && is_loopback(&app.settings.public_url);
    let what = if app.settings.demo { "Demo on loopback" } else { "On loopback without TLS" };
    plain.then(|| format!("{what}: the sign-in cookie is not marked Secure."))
}

impl FromRequestParts<App> for Visit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let session = Session::from_request_parts(parts, app).await.map_err(IntoResponse::into_response)?;
        let who = match signed_in(app, &session).await {
            Ok(Some(who)) => who,
            Ok(None) => return Err(to_sign_in(&parts.method, &parts.uri)),
            Err(error) => return Err(broken(app, &error).await),
        };
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).map(|query| query.0).unwrap_or_default();
        let mut visit = match begin(app, session, who, query, parts).await {
            Ok(visit) => visit,
            Err(error) => return Err(broken(app, &error).await),
        };
        if let Some(tenant) = visit.asked("tenant").map(str::to_string) {
            if !visit.who.sees(&tenant) {
                return Err(visit.not_found());
            }
            visit.shell.tenant = Some(tenant);
        }
        if let Err(error) = visit.count().await {
            return Err(broken(app, &error).await);
        }
        Ok(visit)
    }
}

async fn begin(
    app: &App,
    session: Session,
    who: Operator,
    query: Vec<(String, String)>,
    parts: &Parts,
) -> Result<Visit, Error> {
    let now = app.ledger.db.now().await?;
    let shell = Shell {
        person: Some(Person {
            name: who.name.clone(),
            roles: who.roles.iter().map(|role| role.as_str().to_string()).collect(),
            email: who.email.clone(),
        }),
        tenants: who.tenants.clone(),
        zone: who.zone.clone(),
        live: true,
        ..outside(app, now)
    };
    let visit = Visit {
        app: app.clone(),
        session,
        who,
        shell,
        request_id: ids::new_id().to_string(),
        now,
        path: parts.uri.path().to_string(),
        query,
    };
    if parts.method == Method::GET {
        visit.touch(parts).await;
    }
    Ok(visit)
}

fn to_sign_in(method: &Method, uri: &Uri) -> Response {
    let here = uri.path_and_query().map_or("/", |path| path.as_str());
    let next = if method == Method::GET && here != "/" { Some(here) } else { None };
    redirect(&next.map_or_else(|| "/sign-in".to_string(), |next| link::with("/sign-in", "next", next)))
}

pub fn redirect(to: &str) -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, to.to_string())]).into_response()
}

/// Something of ours failed before there was a visit.
pub async fn broken(app: &App, error: &Error) -> Response {
    let now = app.ledger.db.now().await.unwrap_or_else(|_| app.ledger.clock.now());
    let request_id = ids::new_id().to_string();
    tracing::error!(%error, %request_id, "a page could not be drawn");
    failed(&outside(app, now), request_id)
}

fn failed(shell: &Around, request_id: String) -> Response {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    let model = ProblemPage {
        status: status.as_u16(),
        code: "internal".into(),
        title: "Something went wrong here".into(),
        detail: "The console could not answer. What is on record stays on record.".into(),
        safe: "Look at the object's own page before you try again: it says what was done.".into(),
        next: vec!["Try again.".into(), "Tell an admin the id below if it happens again.".into()],
        request_id,
        ..ProblemPage::default()
    };
    (status, Html(problem::page(shell, &model))).into_response()
}

impl Visit {
    /// A value of the query string.
    pub fn asked(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// The tenants this page is about, as the store's filters want them.
    pub fn tenants(&self) -> String {
        match &self.shell.tenant {
            Some(tenant) => tenants_json(std::slice::from_ref(tenant)),
            None => self.who.tenants_json(),
        }
    }

    pub async fn read(&self) -> Result<Tx, Error> {
        Ok(self.app.ledger.db.read().await?)
    }

    /// The same path in the tenant the person works in.
    pub fn link(&self, path: &str) -> String {
        match &self.shell.tenant {
            Some(tenant) => link::with(path, "tenant", tenant),
            None => path.to_string(),
        }
    }

    /// This visit at a place of the rail, with the notice that was left for it.
    pub async fn at(mut self, current: Nav) -> Visit {
        self.shell.current = current;
        self.shell.flash = self.flash().await;
        self
    }

    pub fn answer(&self, drawn: Result<String, Error>) -> Response {
        match drawn {
            Ok(html) => Html(html).into_response(),
            Err(error) => self.trouble(&error),
        }
    }

    pub fn trouble(&self, error: &Error) -> Response {
        if matches!(error, Error::NotFound(_)) {
            return self.not_found();
        }
        tracing::error!(%error, request_id = %self.request_id, "a page could not be drawn");
        failed(&self.shell, self.request_id.clone())
    }

    pub fn not_found(&self) -> Response {
        let model = NotFoundPage { request_id: self.request_id.clone() };
        (StatusCode::NOT_FOUND, Html(not_found::page(&self.shell, &model))).into_response()
    }

    pub fn problem(&self, status: StatusCode, mut model: ProblemPage) -> Response {
        model.status = status.as_u16();
        model.request_id = self.request_id.clone();
        (status, Html(problem::page(&self.shell, &model))).into_response()
    }

    /// 303 to a page of ours, with a notice.
    pub async fn go(&self, path: &str, notice: &str) -> Response {
        let plain = path.split(['?', '#']).next().unwrap_or(path).to_string();
        let kept = Kept { text: notice.to_string(), path: plain, at: self.now.micros() };
        if let Err(error) = self.session.insert(FLASH, kept).await {
            tracing::warn!(%error, "a notice was lost");
        }
        redirect(&self.link(path))
    }

    async fn flash(&self) -> Option<Flash> {
        let kept: Kept = self.session.get(FLASH).await.ok().flatten()?;
        let fresh = self.now.micros() - kept.at < FLASH_MICROS;
        if !fresh || kept.path != self.path {
            let _gone: Result<Option<Kept>, _> = self.session.remove(FLASH).await;
        }
        (fresh && kept.path == self.path).then_some(Flash { kind: FlashKind::Done, text: kept.text })
    }

    async fn count(&mut self) -> Result<(), Error> {
        let tenants = self.tenants();
        let mut tx = self.read().await?;
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        self.shell.queue = count(queue::count(&mut tx, &tenants, self.who.id).await?);
        self.shell.approvals = count(queue::count_approvals(&mut tx, &tenants).await?);
        Ok(())
    }

    /// Moves the session's end, and notes where it is used from.
    async fn touch(&self, parts: &Parts) {
        let seen = self.session.get::<i64>(SEEN).await.ok().flatten().unwrap_or(0);
        if self.now.micros() - seen < SEEN_MICROS {
            return;
        }
        let agent = parts.headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or("unknown");
        let agent: String = agent.chars().take(AGENT_LENGTH).collect();
        for done in [self.session.insert(SEEN, self.now.micros()).await, self.session.insert(AGENT, agent).await] {
            if let Err(error) = done {
                tracing::warn!(%error, "a session could not be prolonged");
            }
        }
    }
}
