//! A browser without scripts: it keeps one cookie, reads forms from pages and presses them.
//!
//! Invariant: what it sends besides the fields a person fills in stood in the page.

use std::sync::Arc;
use std::time::Duration;

use ascertain::http::{App, HttpSettings, router};
use ascertain::ledger::people::hash_password;
use ascertain::ledger::{Ledger, Operator};
use ascertain::store::people;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use tokio::sync::OnceCell;
use tower::ServiceExt;

use crate::support::Bench;

pub const URL: &str = "http://127.0.0.1:7420";
pub const HOST: &str = "127.0.0.1:7420";
pub const PASSWORD: &str = "correct horse battery";
const SESSION_TTL: Duration = Duration::from_secs(3600);

static HASH: OnceCell<String> = OnceCell::const_new();

pub struct Browser {
    router: Router,
    pub cookie: Option<String>,
}

#[derive(Debug)]
pub struct Page {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

pub fn console(ledger: &Ledger) -> Router {
    let settings = HttpSettings { public_url: URL.into(), console: true, demo: false, session_ttl: SESSION_TTL };
    router(App { ledger: ledger.clone(), settings: Arc::new(settings) })
}

/// Gives everybody the password.
async fn open_doors(bench: &Bench, who: &Operator) {
    let hash = HASH.get_or_init(|| hash_password(PASSWORD.into())).await.clone();
    let mut tx = bench.ledger.db.write().await.unwrap();
    let mut person = people::find(&mut tx, who.id).await.unwrap().unwrap();
    person.password_hash = hash;
    people::update(&mut tx, &person).await.unwrap();
    tx.commit().await.unwrap();
}

impl Browser {
    pub fn new(bench: &Bench) -> Browser {
        Browser { router: console(&bench.ledger), cookie: None }
    }

    pub async fn of(bench: &Bench, who: &Operator) -> Browser {
        open_doors(bench, who).await;
        let mut browser = Browser::new(bench);
        let page = browser.sign_in(&who.email, PASSWORD).await;
        assert_eq!((page.status, page.to()), (StatusCode::SEE_OTHER, "/"), "{page:#?}");
        browser
    }

    pub async fn sign_in(&mut self, email: &str, password: &str) -> Page {
        let mut form = self.get("/sign-in").await.form("/sign-in");
        form.set("email", email).set("password", password);
        self.press(&form).await
    }

    pub async fn get(&mut self, path: &str) -> Page {
        let request = Request::get(path).header("host", HOST);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    pub async fn press(&mut self, form: &Form) -> Page {
        self.post(&form.action, &form.fields, &[("sec-fetch-site", "same-origin")]).await
    }

    pub async fn post(&mut self, path: &str, fields: &[(String, String)], headers: &[(&str, &str)]) -> Page {
        let mut request =
            Request::post(path).header("host", HOST).header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        self.send(request.body(Body::from(body.join("&"))).unwrap()).await
    }

    pub async fn send(&mut self, mut request: Request<Body>) -> Page {
        if let Some(cookie) = &self.cookie {
            request.headers_mut().insert("cookie", cookie.parse().unwrap());
        }
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        if let Some(set) = parts.headers.get("set-cookie") {
            let pair = set.to_str().unwrap().split(';').next().unwrap().to_string();
            self.cookie = (!pair.ends_with('=')).then_some(pair);
        }
        let bytes = body.collect().await.unwrap().to_bytes();
        Page { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    /// As `get`, which must answer.
    pub async fn open(&mut self, path: &str) -> Page {
        let page = self.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "GET {path}: {page:#?}");
        page
    }

    /// Presses a form, which must be taken, and follows.
    pub async fn take(&mut self, form: &Form) -> Page {
        let page = self.press(form).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "POST {}: {}", form.action, page.words());
        let to = page.to().to_string();
        self.open(&to).await
    }
}

pub fn encode(text: &str) -> String {
    app::ui::link::encode(text)
}

impl Page {
    /// Where a redirect leads.
    pub fn to(&self) -> &str {
        self.headers.get("location").map_or("", |to| to.to_str().unwrap())
    }

    /// The one form with this action.
    pub fn form(&self, action: &str) -> Form {
        let forms = self.forms(action);
        assert_eq!(forms.len(), 1, "forms to {action} on {}", self.text);
        forms.into_iter().next().unwrap()
    }

    /// The form with this action that sends this value by itself.
    pub fn form_with(&self, action: &str, name: &str, value: &str) -> Form {
        let own = |form: &Form| form.fields.iter().any(|(n, v)| n == name && v == value);
        let found = self.forms(action).into_iter().find(own);
        found.unwrap_or_else(|| panic!("no form to {action} with {name}={value} on {}", self.words()))
    }

    pub fn forms(&self, action: &str) -> Vec<Form> {
        let pieces = self.text.split("<form").skip(1).map(|piece| piece.split("</form>").next().unwrap());
        pieces.filter_map(Form::read).filter(|form| form.action == action).collect()
    }

    /// The page without its tags.
    pub fn words(&self) -> String {
        let mut words = String::new();
        let mut inside = true;
        for c in self.text.chars() {
            match c {
                '<' => inside = false,
                '>' => {
                    inside = true;
                    words.push(' ');
                }
                c if inside => words.push(c),
                _ => {}
            }
        }
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub fn says(&self, words: &str) -> bool {
        self.words().contains(words)
    }
}

/// A form as a page has it, filled in further by a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    pub action: String,
    pub fields: Vec<(String, String)>,
}

impl Form {
    fn read(piece: &str) -> Option<Form> {
        let head = piece.split('>').next()?;
        let action = attribute(head, "action")?;
        let inputs = piece.split("<input").skip(1).map(|input| input.split('>').next().unwrap());
        let hidden = inputs.filter(|input| attribute(input, "type").as_deref() == Some("hidden"));
        let fields = hidden.filter_map(|input| Some((attribute(input, "name")?, attribute(input, "value")?)));
        Some(Form { action, fields: fields.collect() })
    }

    pub fn set(&mut self, name: &str, value: &str) -> &mut Form {
        self.fields.retain(|(own, _)| own != name);
        self.fields.push((name.into(), value.into()));
        self
    }

    pub fn without(&self, name: &str) -> Form {
        let mut form = self.clone();
        form.fields.retain(|(own, _)| own != name);
        form
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let after = tag.split(&format!(" {name}=\"")).nth(1)?;
    let value = after.split('"').next()?;
    Some(value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}
