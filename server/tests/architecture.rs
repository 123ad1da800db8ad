//! The shape of the tree: who may know what, how long a file may be, and that `docs/cases.md` tells the truth.
//!
//! Reads source as text, so that a breach is named by file and line. Invariant: comments are not code.

#![allow(clippy::unwrap_used, reason = "clippy knows tests by their attribute")]

use std::path::{Path, PathBuf};

/// Lines of one source file.
const LINE_LIMIT: usize = 600;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The Rust files below a folder, by their path from the top.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![top().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(top()).unwrap().display().to_string();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} has no source");
    found.sort();
    found
}

/// Whether a line names a path that begins with `word`: `tokio::`, `use tokio;`, `std::fs::`.
fn names(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let begins = before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':');
        let is_used = line.trim_start().trim_start_matches("pub ").starts_with("use ") || line[at..].contains("::");
        begins && is_used && after.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    })
}

/// Lines of code in `folder` that name one of `words`, outside files whose path starts with one of `but`.
fn breaches(folder: &str, words: &[&str], but: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in sources(folder) {
        if but.iter().any(|allowed| name.starts_with(allowed)) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            if !is_comment && words.iter().any(|word| names(line, word)) {
                found.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    found
}

#[track_caller]
fn holds(breaches: &[String]) {
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
}

#[test]
fn a_path_is_recognised_in_code() {
    assert!(names("use tokio::sync::Notify;", "tokio"));
    assert!(names("    tokio::spawn(async {});", "tokio"));
    assert!(names("use {sqlx, time};", "sqlx"));
    assert!(names("let file = std::fs::read(path);", "std::fs"));
    assert!(!names("let my_tokio = 1;", "tokio"));
    assert!(!names("use crate::tokio_like::X;", "tokio"));
}

#[test]
fn app_decides_and_does_no_io() {
    let io = [
        "tokio",
        "sqlx",
        "axum",
        "hyper",
        "std::fs",
        "std::env",
        "std::process",
        // An address is only a value; a socket is not.
        "std::net::TcpStream",
        "std::net::TcpListener",
        "std::net::UdpSocket",
        "rand",
        "ascertain",
    ];
    holds(&breaches("app/src", &io, &[]));
}

#[test]
fn pages_know_the_ledger_and_the_ledger_no_pages() {
    holds(&breaches("app/src", &["leptos"], &["app/src/ui"]));
    holds(&breaches("app/src/ledger", &["crate::ui", "super::ui", "app::ui"], &[]));
    holds(&breaches("server/src", &["leptos"], &[]));
}

#[test]
fn sql_stays_in_the_store() {
    holds(&breaches("server/src", &["sqlx"], &["server/src/store", "server/src/sandbox"]));
}

#[test]
fn http_stays_at_the_edge() {
    // The one that opens the port gives connections to the router.
    let edge = ["server/src/http", "server/src/sandbox", "server/src/command/listen.rs"];
    holds(&breaches("server/src", &["axum"], &edge));
}

#[test]
fn the_store_decides_nothing_and_is_asked_by_commands() {
    holds(&breaches("server/src/store", &["crate::http", "crate::worker", "crate::ledger", "crate::connector"], &[]));
    holds(&breaches("server/src/ledger", &["crate::http", "crate::worker"], &[]));
    holds(&breaches("server/src/connector", &["crate::store", "crate::ledger", "crate::http"], &[]));
}

#[test]
fn a_file_is_read_on_a_few_screens() {
    let long: Vec<String> = ["app", "server"]
        .into_iter()
        .flat_map(sources)
        .filter(|(_, text)| text.lines().count() > LINE_LIMIT)
        .map(|(name, text)| format!("{name}: {} lines", text.lines().count()))
        .collect();
    holds(&long);
}

/// Every row names tests by `path::name`; each is there.
#[test]
fn every_test_that_the_cases_name_exists() {
    let text = std::fs::read_to_string(top().join("docs/cases.md")).unwrap();
    let mut named = 0;
    let mut missing = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| ") && line.contains(".rs::")) {
        for test in line.split('`').filter(|part| part.contains(".rs::")) {
            let (file, name) = test.split_once("::").unwrap();
            named += 1;
            let source = std::fs::read_to_string(top().join(file)).unwrap_or_default();
            if !source.contains(&format!("fn {name}(")) {
                missing.push(test.to_string());
            }
        }
    }
    assert!(named > 30, "{named} tests are named");
    holds(&missing);
}
