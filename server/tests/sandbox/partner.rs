//! A sandbox on loopback for one test, and a client that asks it one request per connection.
//!
//! Leaves retries to the tests on purpose. Invariant: an answer is a whole answer; anything less is `Err`.

use std::net::SocketAddr;
use std::path::Path;

use ascertain::sandbox::{Options, open, serve};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::HeaderMap;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub struct Partner {
    folder: TempDir,
    token: Option<String>,
    address: SocketAddr,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    pub body: Value,
}

impl Reply {
    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or("")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    #[track_caller]
    pub fn id(&self) -> String {
        self.body["id"].as_str().unwrap_or_else(|| panic!("no id in {self:?}")).to_owned()
    }
}

async fn start(folder: &Path, token: Option<&str>) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let options = Options { data: folder.to_owned(), token: token.map(str::to_owned) };
    let sandbox = open(&options).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(async move {
        let shutdown = async {
            let _ = stopped.await;
        };
        serve(listener, sandbox, shutdown).await.unwrap();
    });
    (address, stop, running)
}

impl Partner {
    pub async fn start() -> Self {
        Self::start_with(None).await
    }

    pub async fn start_with(token: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (address, stop, running) = start(folder.path(), token).await;
        Partner { folder, token: token.map(str::to_owned), address, running: Some((stop, running)) }
    }

    /// Stops, and opens the same file again.
    pub async fn restart(&mut self) {
        let (stop, running) = self.running.take().unwrap();
        stop.send(()).unwrap();
        running.await.unwrap();
        let (address, stop, running) = start(self.folder.path(), self.token.as_deref()).await;
        self.address = address;
        self.running = Some((stop, running));
    }

    pub async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Result<Reply, String> {
        ask(self.address, method, path, headers, body).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], "").await.unwrap()
    }

    pub async fn try_send(&self, method: &str, path: &str, key: &str, body: Value) -> Result<Reply, String> {
        self.ask(method, path, &[("idempotency-key", key)], &body.to_string()).await
    }

    pub async fn send(&self, method: &str, path: &str, key: &str, body: Value) -> Reply {
        self.try_send(method, path, key, body).await.unwrap()
    }

    pub async fn post(&self, path: &str, key: &str, body: Value) -> Reply {
        self.send("POST", path, key, body).await
    }

    pub async fn control(&self, method: &str, path: &str, body: Value) -> Reply {
        let reply = self.ask(method, path, &[], &body.to_string()).await.unwrap();
        assert_eq!(reply.status, 200, "{reply:?}");
        reply
    }

    /// One fault, for as often as it matches.
    pub async fn fault(&self, method: &str, prefix: &str, at: &str, deed: Value) {
        let fault = json!({"match": {"method": method, "path_prefix": prefix}, "at": at, "do": deed});
        self.control("PUT", "/control/faults", json!([fault])).await;
    }

    pub async fn no_faults(&self) {
        self.control("PUT", "/control/faults", json!([])).await;
    }

    pub async fn advance(&self, seconds: i64) {
        self.control("POST", "/control/clock", json!({"advance_s": seconds})).await;
    }

    pub async fn group(&self, reference: &str) -> String {
        let body = json!({"name": "Group", "external_reference": reference});
        let reply = self.post("/v1/groups", &format!("make-{reference}"), body).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.id()
    }

    pub async fn credit(&self, group: &str, key: &str, amount: &str) -> Reply {
        let body = json!({"amount": amount, "currency": "EUR", "reference": format!("ref-{key}")});
        self.post(&format!("/v1/groups/{group}/credits"), key, body).await
    }

    /// (effects, requests) of a kind under a key.
    pub async fn counts(&self, kind: &str, key: &str) -> (i64, i64) {
        let counts = &self.get("/control/effects").await.body["kinds"][kind]["by_key"][key];
        (counts["effects"].as_i64().unwrap_or(0), counts["requests"].as_i64().unwrap_or(0))
    }
}

pub async fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Reply, String> {
    let wrong = |error: hyper::Error| format!("{error:?}");
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake::<_, Full<Bytes>>(TokioIo::new(stream)).await.map_err(wrong)?;
    let connection = tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path).header("host", "sandbox");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
    let (parts, body) = sender.send_request(request).await.map_err(wrong)?.into_parts();
    let bytes = body.collect().await.map_err(wrong)?.to_bytes();
    connection.abort();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let body = serde_json::from_str(&text).unwrap_or_default();
    Ok(Reply { status: StatusCode::as_u16(&parts.status), headers: parts.headers, text, body })
}

impl Partner {
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
