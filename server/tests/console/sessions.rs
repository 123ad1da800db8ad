//! Who is let in, and what a stranger's page can make a browser do.

use std::time::Duration;

use ascertain::http::pages;
use ascertain::store::audit;
use axum::body::Body;
use axum::http::{Request, StatusCode};

use crate::browser::{Browser, HOST, PASSWORD, Page};
use crate::support::{Bench, both};

const ID: &str = "0193a7e2-41c0-7f00-8a11-0d5c3c1b9e42";

fn set_cookie(page: &Page) -> String {
    page.headers.get("set-cookie").map(|cookie| cookie.to_str().unwrap().to_string()).unwrap_or_default()
}

async fn entries(bench: &Bench, person: &str) -> Vec<audit::Entry> {
    let mut tx = bench.ledger.db.read().await.unwrap();
    audit::list_of_subject(&mut tx, "person", person, 100).await.unwrap()
}

both! {
    /// SEC-01
    scripted async fn a_session_has_another_id_after_sign_in_and_none_after_sign_out(bench) {
        let sam = &bench.people.support;
        let mut browser = Browser::of(&bench, sam).await;
        let first = browser.cookie.clone().unwrap();
        // A planted id is not taken over, and an id in use is changed by signing in.
        browser.post("/sign-out", &[], &[("sec-fetch-site", "same-origin")]).await;
        browser.cookie = Some(first.clone());
        let page = browser.sign_in(&sam.email, PASSWORD).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER);
        let cookie = set_cookie(&page);
        assert!(cookie.starts_with("ascertain-dev="), "{cookie}");
        for flag in ["HttpOnly", "SameSite=Lax", "Path=/"] {
            assert!(cookie.contains(flag), "{cookie}");
        }
        let second = browser.cookie.clone().unwrap();
        assert_ne!(first, second);
        let mut other = Browser::new(&bench);
        other.cookie = Some(first);
        assert_eq!(other.get("/queue").await.to(), "/sign-in?next=%2Fqueue");
        browser.open("/queue").await;
        let form = browser.open("/profile").await.form("/sign-out");
        assert_eq!(browser.press(&form).await.to(), "/sign-in");
        browser.cookie = Some(second);
        assert_eq!(browser.get("/queue").await.status, StatusCode::SEE_OTHER);
        let verbs: Vec<String> =
            entries(&bench, &sam.id.to_string()).await.into_iter().map(|entry| entry.verb).collect();
        assert_eq!(verbs, ["sign_in", "sign_out", "sign_in", "sign_out"]);
    }

    scripted async fn the_cookies_value_is_stored_nowhere(bench) {
        let browser = Browser::of(&bench, &bench.people.support).await;
        let value = browser.cookie.unwrap().split_once('=').unwrap().1.to_string();
        let mut tx = bench.ledger.db.read().await.unwrap();
        let now = ascertain::store::codec::At(bench.now().await);
        let rows = ascertain::store::sessions::list_of_person(&mut tx, bench.people.support.id, now).await.unwrap();
        assert_eq!(rows.len(), 1);
        assert!(!rows[0].digest.contains(&value) && !rows[0].content.contains(&value));
    }

    scripted async fn failures_say_nothing_wait_longer_and_are_on_record(bench) {
        let sam = &bench.people.support;
        Browser::of(&bench, sam).await;
        let mut browser = Browser::new(&bench);
        let stranger = browser.sign_in("nobody@example.com", PASSWORD).await;
        let mut answers = Vec::new();
        for _ in 0..3 {
            answers.push(browser.sign_in(&sam.email, "wrong horse battery").await);
        }
        let said = |page: &Page| page.words().split("Password").nth(1).unwrap().to_string();
        for answer in &answers {
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
            assert_eq!(said(answer), said(&stranger), "an account must not show");
            assert!(!answer.text.contains("wrong horse"), "a password is never drawn");
        }
        assert_eq!(browser.sign_in(&sam.email, PASSWORD).await.status, StatusCode::UNPROCESSABLE_ENTITY);
        bench.pass(Duration::from_secs(60));
        assert_eq!(browser.sign_in(&sam.email, PASSWORD).await.status, StatusCode::SEE_OTHER);
        let denied = entries(&bench, &sam.id.to_string()).await;
        assert_eq!(denied.iter().filter(|entry| entry.outcome == "denied").count(), 4);
    }

    scripted async fn a_session_ends_by_itself_and_rights_are_those_of_now(bench) {
        let mut browser = Browser::of(&bench, &bench.people.support).await;
        browser.open("/").await;
        bench.sql("UPDATE people SET roles = 'auditor'").await.unwrap();
        assert!(browser.open("/profile").await.says("auditor"));
        bench.pass(Duration::from_secs(3_599));
        browser.open("/").await;
        bench.pass(Duration::from_secs(3_601));
        assert_eq!(browser.get("/").await.to(), "/sign-in");
    }

    scripted async fn who_is_disabled_is_out_at_once(bench) {
        let mut browser = Browser::of(&bench, &bench.people.support).await;
        browser.open("/").await;
        bench.sql("UPDATE people SET disabled_at = created_at").await.unwrap();
        assert_eq!(browser.get("/").await.to(), "/sign-in");
    }

    scripted async fn a_session_is_ended_from_another_one_and_the_zone_is_kept(bench) {
        let sam = &bench.people.support;
        let mut here = Browser::of(&bench, sam).await;
        let mut there = Browser::of(&bench, sam).await;
        let page = here.open("/profile").await;
        let end = page.text.split("action=\"").find_map(|piece| {
            let action = piece.split('"').next()?;
            (action.starts_with("/profile/sessions/")).then(|| action.to_string())
        });
        here.take(&page.form(&end.unwrap())).await;
        assert_eq!(there.get("/").await.to(), "/sign-in");
        let mut zone = here.open("/profile").await.form("/profile/zone");
        let wrong = here.press(zone.clone().set("zone", "Mars/Olympus")).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
        let page = here.take(zone.set("zone", "Asia/Shanghai")).await;
        assert!(page.says("Times are shown in Asia/Shanghai now."), "{}", page.words());
    }

    /// SEC-02: every route that changes something is pressed from another site.
    scripted async fn no_post_from_another_site_passes(bench) {
        let mut browser = Browser::of(&bench, &bench.people.admin).await;
        let routes = pages::posts();
        assert!(routes.len() >= 13);
        for (path, _) in &routes {
            let path = path.replace("{id}", ID);
            let foreign: [&[(&str, &str)]; 5] = [
                &[("sec-fetch-site", "cross-site")],
                &[("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:7420")],
                &[("origin", "https://evil.example")],
                &[("origin", "null")],
                &[],
            ];
            for headers in foreign {
                let page = browser.post(&path, &[("form_key".into(), "k".into())], headers).await;
                assert_eq!(page.status, StatusCode::FORBIDDEN, "{path} {headers:?}");
            }
            let own = browser.post(&path, &[], &[("origin", "http://127.0.0.1:7420")]).await;
            assert_ne!(own.status, StatusCode::FORBIDDEN, "{path} from our own page");
            if path == "/sign-out" {
                browser = Browser::of(&bench, &bench.people.admin).await;
            }
        }
        let denied = entries(&bench, &bench.people.admin.id.to_string()).await;
        let denied = denied.iter().filter(|entry| entry.verb == "cross_site").count();
        assert!(denied >= routes.len(), "attempts with a known session are on record: {denied}");
    }

    scripted async fn without_a_session_there_is_no_page_but_sign_in(bench) {
        let mut browser = Browser::new(&bench);
        let open = ["/sign-in", "/style/{name}", "/public/{name}"];
        for (path, _) in pages::gets() {
            let page = browser.get(&path.replace("{id}", ID).replace("{*path}", "nowhere")).await;
            match path {
                path if open.contains(&path) => assert!(page.to().is_empty(), "{path}"),
                "/live" => assert_eq!(page.status, StatusCode::UNAUTHORIZED),
                path => assert!(page.to().starts_with("/sign-in"), "{path}: {page:#?}"),
            }
        }
        for (path, _) in pages::posts() {
            let path = path.replace("{id}", ID);
            let page = browser.post(&path, &[], &[("sec-fetch-site", "same-origin")]).await;
            let signs_in = path == "/sign-in";
            assert!(signs_in || page.to() == "/sign-in", "{path}: {page:#?}");
        }
        assert!(browser.cookie.is_none(), "a stranger gets no session");
    }

    scripted async fn the_console_answers_under_its_own_host_only(bench) {
        let mut browser = Browser::new(&bench);
        for (host, status) in [(HOST, 200), ("localhost:7420", 200), ("evil.example", 421), ("127.0.0.1", 421)] {
            let request = Request::get("/sign-in").header("host", host).body(Body::empty()).unwrap();
            let page = browser.send(request).await;
            assert_eq!(page.status.as_u16(), status, "{host}");
            let policy = page.headers["content-security-policy"].to_str().unwrap();
            assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
            assert_eq!(page.headers["referrer-policy"], "same-origin");
            assert_eq!(page.headers["cache-control"], "no-store");
        }
    }

    scripted async fn assets_are_kept_by_their_version(bench) {
        let mut browser = Browser::new(&bench);
        let page = browser.get("/sign-in").await;
        let addresses = ["/style/tokens.css?v=", "/style/pages.css?v=", "/public/ascertain.js?v="];
        for start in addresses {
            let after = page.text.split(start).nth(1).unwrap_or_else(|| panic!("{start}"));
            let path = format!("{start}{}", after.split('"').next().unwrap());
            let asset = browser.get(&path).await;
            assert_eq!(asset.status, StatusCode::OK, "{path}");
            assert!(asset.headers["cache-control"].to_str().unwrap().contains("immutable"), "{path}");
        }
        assert_eq!(browser.get("/public/favicon.svg").await.status, StatusCode::OK);
        assert_eq!(browser.get("/style/none.css").await.status, StatusCode::NOT_FOUND);
    }
}
