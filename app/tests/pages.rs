//! Every page, drawn with believable content: it is safe under the strict policy, works as plain forms, and can be read
//! without eyes. What each page says is tested below that.

#[path = "../examples/look/fixtures.rs"]
mod fixtures;

use std::collections::BTreeSet;

use fixtures::{HOSTILE, pages};

/// A start tag and its attributes, unquoted and still escaped.
#[derive(Debug)]
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// Start and end tags in order; end tags are named `/name`.
fn tags(html: &str) -> Vec<Tag> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        let name_end = rest.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(rest.len());
        let name = rest[..name_end].trim_end_matches('/').to_lowercase();
        rest = &rest[name_end..];
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                break;
            }
            let end = rest.find(|c: char| c == '=' || c == '>' || c.is_whitespace()).expect("a closed tag");
            let attribute = rest[..end].to_string();
            rest = &rest[end..];
            let value = match rest.strip_prefix("=\"") {
                Some(quoted) => {
                    let close = quoted.find('"').expect("a closed value");
                    rest = &quoted[close + 1..];
                    quoted[..close].to_string()
                }
                None => {
                    assert!(!rest.starts_with('='), "an unquoted value in <{name} {attribute}");
                    String::new()
                }
            };
            attributes.push((attribute, value));
        }
        found.push(Tag { name, attributes });
    }
    found
}

fn page(name: &str) -> String {
    pages().into_iter().find(|(other, _)| *other == name).unwrap_or_else(|| panic!("no page {name}")).1
}

/// The text a reader sees, with runs of white space made one.
fn words(html: &str) -> String {
    let body = html.split_once("<main").expect("a main").1;
    let mut out = String::new();
    let mut inside = true;
    for c in body.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_page_holds_under_the_strict_policy() {
    for (name, html) in pages() {
        assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{name}");
        for tag in tags(&html) {
            assert!(tag.name != "style", "{name}: <style>");
            assert!(tag.name != "script" || tag.get("src").is_some_and(|src| src.starts_with("/public/")), "{name}");
            for (attribute, value) in &tag.attributes {
                assert!(attribute != "style" && !attribute.starts_with("on"), "{name}: {tag:?}");
                let addressed = matches!(attribute.as_str(), "href" | "src" | "action" | "formaction");
                assert!(
                    !addressed || value.starts_with('/') && !value.starts_with("//") || value.starts_with('#'),
                    "{name}: {tag:?}"
                );
            }
        }
    }
}

#[test]
fn no_page_holds_marks_of_hydration() {
    for (name, html) in pages() {
        assert!(!html.contains("<!>") && !html.contains("<!--") && !html.contains("data-hk"), "{name}");
    }
}

#[test]
fn what_a_customer_wrote_stays_text() {
    let mut seen = 0;
    for (name, html) in pages() {
        assert!(!html.contains(HOSTILE) && !html.contains("<script>"), "{name}");
        seen += usize::from(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        if let Some(title) = html.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")) {
            assert!(!title.0.contains('<'), "{name}");
        }
    }
    assert!(seen >= 10, "hostile text stands on {seen} pages only");
}

#[test]
fn every_change_is_a_form_with_its_own_key() {
    for (name, html) in pages() {
        let all = tags(&html);
        let mut keys = BTreeSet::new();
        for (n, tag) in all.iter().enumerate().filter(|(_, tag)| tag.name == "form") {
            if tag.get("method") != Some("post") {
                continue;
            }
            let inside: Vec<&Tag> = all[n..].iter().take_while(|tag| tag.name != "/form").collect();
            let hidden =
                |what| inside.iter().find(|tag| tag.get("type") == Some("hidden") && tag.get("name") == Some(what));
            let key = hidden("form_key").and_then(|tag| tag.get("value")).unwrap_or_else(|| panic!("{name}: {tag:?}"));
            assert!(keys.insert(key.to_string()), "{name}: two forms share {key}");
            let action = tag.get("action").unwrap_or_default();
            let versioned = ["/operations/", "/approvals/", "/customers/", "/upstreams/"];
            if versioned.iter().any(|path| action.starts_with(path)) && action != "/operations/bulk" {
                assert!(hidden("version").is_some(), "{name}: {action} carries no version");
            }
        }
    }
}

#[test]
fn shut_buttons_can_be_reached_and_say_why() {
    let mut shut = 0;
    for (name, html) in pages() {
        for tag in tags(&html).iter().filter(|tag| tag.get("aria-disabled").is_some()) {
            shut += 1;
            assert_eq!(tag.get("type"), Some("button"), "{name}: {tag:?}");
            assert!(tag.get("aria-describedby").is_some() && tag.get("disabled").is_none(), "{name}: {tag:?}");
        }
    }
    assert!(shut > 8);
}

#[test]
fn references_between_elements_lead_somewhere_and_ids_are_unique() {
    for (name, html) in pages() {
        let all = tags(&html);
        let mut ids = BTreeSet::new();
        for id in all.iter().filter_map(|tag| tag.get("id")) {
            assert!(ids.insert(id), "{name}: id {id} twice");
        }
        for tag in &all {
            for attribute in ["aria-describedby", "aria-labelledby", "for", "popovertarget", "form"] {
                for id in tag.get(attribute).unwrap_or_default().split_whitespace() {
                    assert!(ids.contains(id), "{name}: {attribute} {id} leads nowhere");
                }
            }
            if let Some(mark) = tag.get("href").filter(|_| tag.name == "use") {
                assert!(ids.contains(&mark[1..]), "{name}: no mark {mark}");
            }
        }
    }
}

#[test]
fn every_field_has_a_label() {
    for (name, html) in pages() {
        let all = tags(&html);
        let mut in_label = false;
        for tag in &all {
            match tag.name.as_str() {
                "label" => in_label = true,
                "/label" => in_label = false,
                "input" | "select" | "textarea" if tag.get("type") != Some("hidden") => {
                    let named = tag.get("aria-label").is_some()
                        || in_label
                        || all.iter().any(|label| label.name == "label" && label.get("for") == tag.get("id"));
                    assert!(named, "{name}: {tag:?}");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn headings_go_down_one_step_at_a_time() {
    for (name, html) in pages() {
        let main = html.split_once("<main").expect("a main").1;
        let levels: Vec<u32> = tags(&format!("<main{main}"))
            .iter()
            .filter_map(|tag| tag.name.strip_prefix('h').and_then(|level| level.parse().ok()))
            .collect();
        assert_eq!(levels.first(), Some(&1), "{name}: {levels:?}");
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{name}");
        assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{name}: {levels:?}");
    }
}

#[test]
fn tables_keep_their_roles_where_they_fold() {
    for (name, html) in pages() {
        for tag in tags(&html).iter().filter(|tag| tag.name == "table") {
            let class = tag.get("class").unwrap_or_default();
            let folds = ["cards", "kids", "wallet"].iter().any(|one| class.split(' ').any(|other| other == *one));
            assert!(!folds || tag.get("role") == Some("table"), "{name}: {tag:?}");
        }
    }
}

#[test]
fn links_keep_the_tenant_the_reader_works_in() {
    let html = page("operations");
    let links: Vec<Tag> =
        tags(&html).into_iter().filter(|tag| tag.name == "a" && tag.get("class") == Some("what")).collect();
    assert!(links.len() > 5);
    for link in links {
        assert!(link.get("href").is_some_and(|href| href.ends_with("?tenant=acme")), "{link:?}");
    }
}

#[test]
fn an_operation_says_the_truth_first() {
    let text = words(&page("operation"));
    for said in [
        "Sent 14:02:11, no answer",
        "0 of 1",
        "You (Mara Lindqvist) since 14:31:02",
        "nothing, since 14:02:51",
        "Unknown, held by you",
        "What to do now",
        "Nothing on record says it happened.",
        "It did not happen: send again",
        "USD 250.00",
        "6 d 23 h left",
        "op:v1:6be19f02c4d851b3e07a6be19f02c4d851b3e07a6be19f02c4d851b3e07a6be1",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn a_request_in_flight_shows_when_it_can_no_longer_be_alive() {
    let text = words(&page("operation-flight"));
    let said = "a request may be alive; nothing can be alive after 14:41:40, in 33 s";
    assert!(text.contains(said), "{text}");
}

#[test]
fn an_open_decision_shows_its_gates_its_evidence_and_its_reason_field() {
    let html = page("operation-open");
    assert!(tags(&html).iter().any(|tag| tag.get("name") == Some("outcome") && tag.get("value") == Some("send_again")));
    let text = words(&html);
    for said in [
        "Rests on: Partner look-up, 4th, 14:48:03.",
        "A second person has to agree.",
        "Propose this decision",
        "Decide so",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert_eq!(html.matches("class=\"btn main wide\"").count(), 1, "one main button");
}

#[test]
fn a_settled_operation_with_evidence_against_it_is_contradicted() {
    let text = words(&page("operation-settled"));
    assert!(text.contains("Contradicted") && text.contains("2 of 1: more than was asked for"));
    assert!(text.contains("opaque: never sent twice") && text.contains("It has settled."));
}

#[test]
fn the_queue_groups_by_cause_and_never_adds_currencies() {
    let text = words(&page("queue"));
    for said in [
        "Gate: answers lost 13:58–14:09 34",
        "USD 3,262.50",
        "CNY 1,960.00",
        "30 more with this cause",
        "Plan for all 34…",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn an_empty_queue_and_a_filter_without_match_are_two_answers() {
    let text = words(&page("queue-empty"));
    assert!(text.contains("Nothing needs a person") && text.contains("14 operations are unknown"));
    let text = words(&page("operations-none"));
    assert!(text.contains("No operation matches") && text.contains("Clear the filters"));
}

#[test]
fn four_truths_are_four_words_in_a_list() {
    let text = words(&page("operations"));
    for word in ["Never sent", "In flight", "Unknown", "Contradicted", "Retry due", "Not executed", "Awaiting approval"]
    {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn money_keeps_every_digit() {
    let text = words(&page("customer"));
    assert!(text.contains("1,250.000125000") && text.contains("0.000000000"), "{text}");
    let text = words(&page("overview"));
    assert!(text.contains("USD 4,312.50 CNY 1,960.00 EUR 220.00"), "{text}");
    assert!(text.contains("99.7 %"), "cut off, never rounded up");
}

#[test]
fn a_proposer_finds_approve_shut_and_reads_who_can() {
    let text = words(&page("approval"));
    assert!(text.contains("You proposed this. Somebody else with the role admin approves it"));
    assert!(text.contains("Bound to") && text.contains("fp:v1:c27b90e4"));
    let html = page("approval-first-send");
    assert!(html.contains("action=\"/approvals/ap-2/approve\"") && html.contains("type=\"password\""));
}

#[test]
fn a_customer_shows_one_state_and_the_step_that_blocks_it() {
    let html = page("customer");
    assert_eq!(html.matches("<g class=\"here\"").count(), 1);
    assert_eq!(html.matches("class=\"stuck\"").count(), 1);
    assert!(words(&html).contains("The key was asked for at 13:59:22"));
}

#[test]
fn a_problem_says_what_is_safe_and_keeps_what_was_typed() {
    let html = page("problem");
    let text = words(&html);
    for said in
        ["Nothing was sent and nothing was changed.", "You saw, version 7", "0193a7e2-77aa", "409 stale-version"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; \"Sons\"</textarea>"), "{html}");
}

#[test]
fn a_wrong_password_says_so_beside_the_field_and_is_not_drawn_again() {
    let html = page("sign-in-error");
    assert!(words(&html).contains("Email and password do not match."));
    let tags = tags(&html);
    let password = tags.iter().find(|tag| tag.get("id") == Some("password")).expect("a password field");
    assert_eq!(password.get("aria-invalid"), Some("true"));
    assert_eq!(password.get("value"), None);
}
