//! What a console request needs before a page looks at it: our own host, and for a change our own origin.
//!
//! Knows nothing of routes: it lies around the whole console, so that a new route cannot be without it. Invariant: no
//! console request that is not a GET or HEAD passes unless the browser says that it comes from our own pages.

use app::ui::pages::problem::{self, ProblemPage};
use app::ui::shell::Shell;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use tower_sessions::Session;

use super::App;
use super::pages::visit::signed_in;
use crate::ids;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];
const FETCH_SITE: &str = "sec-fetch-site";

pub fn is_https(public_url: &str) -> bool {
    public_url.starts_with("https://")
}

/// Hosts (with port) under which the console answers.
pub fn hosts(public_url: &str) -> Vec<String> {
    let Some(authority) = public_url.parse::<Uri>().ok().and_then(|url| url.authority().cloned()) else {
        return Vec::new();
    };
    if !LOOPBACK.contains(&authority.host()) {
        return vec![authority.to_string()];
    }
    let port = authority.port().map(|port| format!(":{port}")).unwrap_or_default();
    LOOPBACK.iter().map(|host| format!("{host}{port}")).collect()
}

pub fn is_loopback(public_url: &str) -> bool {
    hosts(public_url).len() > 1
}

/// Lies around every console route.
pub async fn watch(State(app): State<App>, session: Session, request: Request, next: Next) -> Response {
    let refused = refusal(&app.settings.public_url, &request);
    let mut response = match refused {
        None => next.run(request).await,
        Some(refused) => {
            if refused == Refused::OtherSite {
                note_denied(&app, &session, request.uri().path()).await;
            }
            refused.page(&app).await
        }
    };
    let headers = response.headers_mut();
    let mut set = |name, value| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(REFERRER_POLICY, "same-origin");
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(CACHE_CONTROL, "no-store");
    response
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    OtherHost,
    OtherSite,
}

fn refusal(public_url: &str, request: &Request) -> Option<Refused> {
    let hosts = hosts(public_url);
    let host = text(request.headers(), HOST.as_str()).or(request.uri().authority().map(|host| host.as_str()));
    if !host.is_some_and(|host| hosts.iter().any(|own| own.eq_ignore_ascii_case(host))) {
        return Some(Refused::OtherHost);
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    (!reads && !is_own(public_url, &hosts, request.headers())).then_some(Refused::OtherSite)
}

fn is_own(public_url: &str, hosts: &[String], headers: &HeaderMap) -> bool {
    match (text(headers, FETCH_SITE), text(headers, ORIGIN.as_str())) {
        (Some(site), _) => site == "same-origin",
        (None, Some(origin)) => {
            let scheme = if is_https(public_url) { "https" } else { "http" };
            hosts.iter().any(|host| origin == format!("{scheme}://{host}"))
        }
        (None, None) => false,
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    // Two of them say nothing.
    values.next().is_none().then_some(value)
}

/// A known person's browser was made to try; strangers' attempts are only logged.
async fn note_denied(app: &App, session: &Session, path: &str) {
    tracing::warn!(%path, "a change from another site was refused");
    let Ok(Some(who)) = signed_in(app, session).await else { return };
    let correlation = ids::new_id().to_string();
    let about = who.id;
    if let Err(error) = app.ledger.audit_denied(&who, about, "cross_site", "came from another site", &correlation).await
    {
        tracing::error!(%error, "a refused change could not be audited");
    }
}

impl Refused {
    async fn page(self, app: &App) -> Response {
        let now = app.ledger.db.now().await.unwrap_or_else(|_| app.ledger.clock.now());
        let (status, code, title, detail) = match self {
            Refused::OtherHost => {
                (StatusCode::MISDIRECTED_REQUEST, "other-host", "Another address", "The console has one address.")
            }
            Refused::OtherSite => {
                (StatusCode::FORBIDDEN, "other-site", "Not from this console", "The request came from another site.")
            }
        };
        let model = ProblemPage {
            status: status.as_u16(),
            code: code.into(),
            title: title.into(),
            detail: detail.into(),
            safe: "Nothing was sent and nothing was changed.".into(),
            next: vec![format!("Open the console at {}.", app.settings.public_url)],
            request_id: ids::new_id().to_string(),
            ..ProblemPage::default()
        };
        (status, Html(problem::page(&Shell::new(now), &model))).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(headers: &[(&str, &str)]) -> Option<Refused> {
        let mut request = Request::builder().method("POST").uri("/sign-out");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        refusal("http://127.0.0.1:7420", &request.body(axum::body::Body::empty()).unwrap())
    }

    #[test]
    fn a_change_comes_from_our_own_pages_or_not_at_all() {
        let host = ("host", "127.0.0.1:7420");
        assert_eq!(post(&[host, ("sec-fetch-site", "same-origin")]), None);
        assert_eq!(post(&[host, ("origin", "http://127.0.0.1:7420")]), None);
        let other = Some(Refused::OtherSite);
        assert_eq!(post(&[host]), other);
        for site in ["cross-site", "same-site", "none", "Same-Origin"] {
            assert_eq!(post(&[host, ("sec-fetch-site", site), ("origin", "http://127.0.0.1:7420")]), other, "{site}");
        }
        for origin in ["null", "http://127.0.0.1", "https://127.0.0.1:7420", "http://evil.example"] {
            assert_eq!(post(&[host, ("origin", origin)]), other, "{origin}");
        }
    }

    #[test]
    fn loopback_answers_under_its_three_names_and_nothing_else() {
        let site = ("sec-fetch-site", "same-origin");
        for host in ["localhost:7420", "[::1]:7420"] {
            assert_eq!(post(&[("host", host), site]), None, "{host}");
        }
        for host in ["localhost", "127.0.0.1:7421", "evil.example:7420", ""] {
            assert_eq!(post(&[("host", host), site]), Some(Refused::OtherHost), "{host}");
        }
        assert_eq!(hosts("https://ledger.example"), ["ledger.example"]);
    }
}
