//! Style sheets, the one script and the icon, inside the binary.
//!
//! Invariant: an address with `?v=` never changes its content, so browsers may keep it.

use std::sync::LazyLock;

use app::ledger::key::sha256_hex;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};

struct Asset {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const CSS: &str = "text/css; charset=utf-8";

const ASSETS: [Asset; 6] = [
    Asset { path: "style/tokens.css", kind: CSS, text: include_str!("../../../style/tokens.css") },
    Asset { path: "style/base.css", kind: CSS, text: include_str!("../../../style/base.css") },
    Asset { path: "style/parts.css", kind: CSS, text: include_str!("../../../style/parts.css") },
    Asset { path: "style/pages.css", kind: CSS, text: include_str!("../../../style/pages.css") },
    Asset {
        path: "public/ascertain.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("../../../public/ascertain.js"),
    },
    Asset { path: "public/favicon.svg", kind: "image/svg+xml", text: include_str!("../../../public/favicon.svg") },
];

const LONG: &str = "public, max-age=31536000, immutable";
const SHORT: &str = "public, max-age=300";
const VERSION_LENGTH: usize = 12;

/// Changes whenever one of them does.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: String = ASSETS.iter().map(|asset| asset.text).collect();
    sha256_hex(all.as_bytes())[..VERSION_LENGTH].to_string()
});

pub async fn style(Path(name): Path<String>, uri: Uri) -> Response {
    answer(&format!("style/{name}"), &uri)
}

pub async fn public(Path(name): Path<String>, uri: Uri) -> Response {
    answer(&format!("public/{name}"), &uri)
}

fn answer(path: &str, uri: &Uri) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.path == path) else {
        return (StatusCode::NOT_FOUND, "There is nothing at this address.\n").into_response();
    };
    let current = uri.query().is_some_and(|query| query == format!("v={}", *VERSION));
    let keep = if current { LONG } else { SHORT };
    ([(CONTENT_TYPE, asset.kind), (CACHE_CONTROL, keep)], asset.text).into_response()
}
