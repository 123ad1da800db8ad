//! The command line as people meet it: the built binary, its messages and its processes.
//!
//! Leaves what the verbs do to the ledger's own tests. Invariant: every process that a test starts is gone at its end,
//! the demo's partner too.

#![allow(clippy::unwrap_used, reason = "clippy knows only marked functions as tests")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

const CATALOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/gate.toml");

fn binary(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ascertain"));
    command.current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ASCERTAIN_")) {
        command.env_remove(name);
    }
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    binary(folder).args(arguments).output().unwrap()
}

#[track_caller]
fn says(output: &Output, wanted: &str) -> String {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(wanted), "{wanted:?} is not in:\n{text}");
    text
}

#[track_caller]
fn refused(folder: &Path, arguments: &[&str], wanted: &str) {
    let output = run(folder, arguments);
    assert!(!output.status.success());
    says(&output, wanted);
}

#[track_caller]
fn done(folder: &Path, arguments: &[&str], wanted: &str) -> String {
    let output = run(folder, arguments);
    let text = says(&output, wanted);
    assert!(output.status.success(), "{text}");
    text
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// With keys, tables and a configuration that names them.
fn installation() -> TempDir {
    let folder = folder();
    done(folder.path(), &["keys", "new", "keys.toml"], "keys.toml made");
    std::fs::write(folder.path().join("ascertain.toml"), "[keys]\nfile = \"keys.toml\"\n").unwrap();
    done(folder.path(), &["migrate"], "up to date");
    folder
}

#[test]
fn an_unknown_key_of_the_configuration_is_refused_with_its_place() {
    let folder = folder();
    std::fs::write(folder.path().join("mine.toml"), "[server]\nport = 1\n").unwrap();
    refused(folder.path(), &["serve", "--config", "mine.toml"], "mine.toml:2: server.port: unknown");
    let output = binary(folder.path()).arg("serve").env("ASCERTAIN_LOG__COLOUR", "red").output().unwrap();
    says(&output, "environment variable ASCERTAIN_LOG__COLOUR: log.colour: unknown");
}

#[test]
fn serve_without_keys_says_how_to_make_them() {
    let folder = folder();
    refused(folder.path(), &["serve"], "ascertain keys new");
    std::fs::write(folder.path().join("ascertain.toml"), "[keys]\nfile = \"nowhere.toml\"\n").unwrap();
    refused(folder.path(), &["serve"], "ascertain keys new nowhere.toml");
    assert!(!folder.path().join("data").exists(), "nothing is made before it may start");
}

#[test]
fn keys_are_made_once_and_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    done(folder.path(), &["keys", "new", "safe/keys.toml"], "made");
    let file = folder.path().join("safe/keys.toml");
    let before = std::fs::read_to_string(&file).unwrap();
    refused(folder.path(), &["keys", "new", "safe/keys.toml"], "not overwritten");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_broken_catalog_is_named_by_file_and_line() {
    let folder = folder();
    let whole = std::fs::read_to_string(CATALOG).unwrap();
    let broken = whole.replacen("class = \"read\"", "class = \"reed\"", 1);
    assert_ne!(whole, broken);
    std::fs::write(folder.path().join("broken.toml"), &broken).unwrap();
    let line = 1 + broken.lines().position(|line| line.contains("reed")).unwrap();
    refused(folder.path(), &["catalog", "check", "broken.toml"], &format!("broken.toml:{line}: "));
    done(folder.path(), &["catalog", "check"], "No mistakes");
    done(folder.path(), &["catalog", "check", CATALOG], "No mistakes");
}

#[test]
fn a_contract_is_shown_and_tried_without_sending() {
    let folder = folder();
    done(folder.path(), &["catalog", "show", "top_up_credit"], "\"top-up:{customer_id}:{payment_id}:{entry}\"");
    refused(folder.path(), &["catalog", "show", "top_up"], "there are check_wallet");
    let params = json!({"customer_id": "c-1", "group_id": "grp_1", "amount": "10.00", "currency": "USD",
        "payment_id": "p-1"})
    .to_string();
    let attempt = ["catalog", "try", "top_up_credit", "--params", &params];
    let text = done(folder.path(), &attempt, "POST http://127.0.0.1:7421/v1/groups/grp_1/credits");
    for wanted in ["Idempotency-Key: ", "op:v1:", "fp:v1:", "top-up:c-1:p-1:1", "Nothing was sent."] {
        assert!(text.contains(wanted), "{wanted} is not in {text}");
    }
    assert_eq!(text, done(folder.path(), &attempt, ""), "the same parameters give the same request");
    refused(folder.path(), &["catalog", "try", "top_up_credit", "--params", "{}"], "amount");
}

#[test]
fn a_client_is_added_and_its_token_is_shown_once() {
    let folder = installation();
    let add = ["client", "add", "--name", "billing", "--tenant", "acme", "--contracts", "top_up_credit,check_wallet"];
    let text = done(folder.path(), &add, "token: asc_");
    let token = text.split_whitespace().find(|word| word.starts_with("asc_")).unwrap();
    let file = std::fs::read(folder.path().join("data/ascertain.db")).unwrap();
    let wal = std::fs::read(folder.path().join("data/ascertain.db-wal")).unwrap_or_default();
    let holds = |bytes: &[u8]| bytes.windows(token.len()).any(|part| part == token.as_bytes());
    assert!(!holds(&file) && !holds(&wal), "the token's text is in the database");
    let unknown = ["client", "add", "--name", "x", "--tenant", "acme", "--contracts", "top_up"];
    refused(folder.path(), &unknown, "the catalog has no \"top_up\"");
    let owner = [&add[..], &["--owner", "nobody@example.test"]].concat();
    refused(folder.path(), &owner, "nobody signs in as nobody@example.test");
}

#[test]
fn a_person_is_added_with_a_given_or_a_generated_password() {
    let folder = installation();
    let add = ["user", "add", "--email", "Ann@Example.Test", "--name", "Ann", "--role", "support,finance"];
    done(folder.path(), &add, "password: ");
    refused(folder.path(), &add, "somebody signs in with it already");
    refused(folder.path(), &["user", "add", "--email", "b@x.test", "--name", "B", "--role", "owner"], "is none of");
    let piped = |password: &str| {
        let mut child = binary(folder.path())
            .args(["user", "add", "--email", "ben@example.test", "--name", "Ben", "--role", "auditor"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(password.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    says(&piped("short\n"), "is shorter than");
    let text = says(&piped("a long enough password\n"), "ben@example.test added with auditor");
    assert!(!text.contains("password"), "{text}");
}

#[test]
fn the_doctor_says_what_to_do() {
    let empty = folder();
    refused(empty.path(), &["doctor"], "`ascertain migrate`");
    refused(empty.path(), &["doctor"], "ascertain keys new");
    let folder = installation();
    let closed = "http://127.0.0.1:9";
    let output = binary(folder.path())
        .arg("doctor")
        .env("ASCERTAIN_UPSTREAMS__GATE__ORIGIN", closed)
        .env("ASCERTAIN_UPSTREAMS__LEGACY_TOOL__ORIGIN", closed)
        .output()
        .unwrap();
    let text = says(&output, "FAIL  upstream gate");
    assert!(text.contains("ok    tables") && text.contains("ok    keys"), "{text}");
}

/// A running demo. Dropping it ends the server and the partner.
struct Demo {
    server: Child,
    said: Value,
}

impl Demo {
    fn start(data: &Path) -> Demo {
        let mut server = binary(data)
            .args(["demo", "--fast", "--json", "--listen", "127.0.0.1:0", "--data", "."])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        match serde_json::from_str(&line) {
            Ok(said) => Demo { server, said },
            Err(error) => {
                let _ = server.kill();
                panic!("the demo said {line:?}: {error}");
            }
        }
    }

    fn url(&self, name: &str) -> &str {
        self.said[name].as_str().unwrap().strip_prefix("http://").unwrap()
    }

    fn kill_server(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let pid = self.said["sandbox_pid"].as_i64().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn get(address: &str, path: &str) -> String {
    ask(address, &format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"))
}

fn admit(demo: &Demo, key: &str) -> String {
    let body = json!({"contract": "send_message",
        "params": {"to": "a@example.test", "text": "hello", "message_id": "m-1"}})
    .to_string();
    let (address, token) = (demo.url("console"), demo.said["client_token"].as_str().unwrap());
    ask(
        address,
        &format!(
            "POST /v1/operations HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
             idempotency-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
    )
}

#[test]
fn a_demo_killed_leaves_its_partner_alive_and_the_next_one_finds_it() {
    let data = folder();
    let mut first = Demo::start(data.path());
    assert_eq!(first.said["people"].as_array().unwrap().len(), 7);
    assert_eq!(first.said["server_pid"].as_u64().unwrap(), u64::from(first.server.id()));
    assert!(get(first.url("console"), "/healthz").starts_with("HTTP/1.1 200"));
    let admitted = admit(&first, "cli-1");
    assert!(admitted.starts_with("HTTP/1.1 201"), "{admitted}");
    refused(data.path(), &["demo", "--fast", "--listen", "127.0.0.1:0", "--data", "."], "another process serves");

    first.kill_server();
    assert!(get(first.url("sandbox"), "/healthz").starts_with("HTTP/1.1 200"));

    let second = Demo::start(data.path());
    for same in ["sandbox", "sandbox_pid", "people", "client_token", "client2_token"] {
        assert_eq!(first.said[same], second.said[same], "{same}");
    }
    let replayed = admit(&second, "cli-1");
    assert!(replayed.starts_with("HTTP/1.1 200"), "{replayed}");
}

#[test]
fn a_demo_whose_partner_is_gone_starts_it_again_where_it_was() {
    let data = folder();
    let first = Demo::start(data.path());
    let said = first.said.clone();
    drop(first);
    let second = Demo::start(data.path());
    assert_eq!(second.said["sandbox"], said["sandbox"]);
    assert_ne!(second.said["sandbox_pid"], said["sandbox_pid"]);
}

#[test]
fn a_demo_is_for_this_machine_only() {
    refused(folder().path(), &["demo", "--listen", "0.0.0.0:0"], "not on loopback");
}

#[test]
fn a_served_file_is_served_once_and_ends_on_sigterm() {
    let folder = installation();
    let mut server = binary(folder.path())
        .arg("serve")
        .env("ASCERTAIN_SERVER__LISTEN", "127.0.0.1:0")
        .env("ASCERTAIN_LOG__FORMAT", "json")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let mut line = String::new();
    log.read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(said["fields"]["message"], "listening");
    refused(folder.path(), &["migrate"], "another process serves or migrates");
    let beside = ["client", "add", "--name", "b", "--tenant", "acme", "--contracts", "*"];
    done(folder.path(), &beside, "token: asc_");
    let pid = Pid::from_raw(i32::try_from(server.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
    done(folder.path(), &["migrate"], "up to date");
}
