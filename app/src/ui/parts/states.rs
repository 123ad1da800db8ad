//! The picture of an operation's statuses: the path taken, what can follow, the rest faint.
//!
//! Draws arrows for every pair of statuses an operation can go through; says the same in words for those who can't see
//! it. Leaves the rules to `ledger::status`. Invariant: a way that was taken is always drawn, also a rare one.

use std::fmt::Write;

use leptos::prelude::*;

use crate::ledger::instant::Instant;
use crate::ledger::status::Status;
use crate::ui::words::{Clock, StatusView};
use crate::ui::{Html, escape};

/// Left, top, width of a box; where the time of arrival stands and how its text is anchored.
struct Place {
    x: i32,
    y: i32,
    width: i32,
    when: (i32, i32, &'static str),
}

const HEIGHT: i32 = 30;

const fn place(status: Status) -> Place {
    let (x, y, width, when) = match status {
        Status::Pending => (18, 18, 96, (60, 13, "end")),
        Status::AwaitingApproval => (142, 18, 134, (215, 62, "start")),
        Status::Cancelled => (294, 18, 84, (331, 64, "end")),
        Status::Executing => (18, 88, 96, (60, 71, "end")),
        Status::FailedRetryable => (142, 88, 134, (270, 83, "end")),
        Status::Uncertain => (18, 158, 96, (52, 141, "end")),
        Status::ReconciliationNeeded => (142, 158, 134, (270, 153, "end")),
        Status::Succeeded => (18, 244, 96, (60, 233, "end")),
        Status::FailedFinal => (142, 244, 134, (215, 233, "start")),
    };
    Place { x, y, width, when }
}

/// A stretch of line; several ways share one.
struct Stretch {
    path: &'static str,
    tip: bool,
}

const fn tip(path: &'static str) -> Stretch {
    Stretch { path, tip: true }
}

const fn line(path: &'static str) -> Stretch {
    Stretch { path, tip: false }
}

const STRETCHES: [Stretch; 25] = [
    tip("M142 33H117"),
    tip("M276 33H291"),
    tip("M66 18V7H336V15"),
    tip("M114 98H139"),
    tip("M142 108H117"),
    tip("M276 103H336V51"),
    tip("M74 158V121"),
    tip("M230 158V121"),
    line("M18 103H6V216H66"),
    line("M209 188V216"),
    tip("M102 158V138H176V121"),
    tip("M114 173H139"),
    line("M66 188V216"),
    line("M66 216H209"),
    tip("M66 216V241"),
    tip("M209 216V241"),
    tip("M66 48V85"),
    tip("M58 118V155"),
    tip("M250 118V155"),
    tip("M142 181H117"),
    // Rare ways, drawn only where they were taken.
    tip("M114 41H139"),
    tip("M18 36H2V176H15"),
    tip("M114 113H128V168H139"),
    tip("M276 108H290V255H279"),
    tip("M146 118V148H108V155"),
];

const FIRST_RARE: usize = 20;
const AWAITING_TO_PENDING: usize = 0;

/// The stretches from one status to another.
fn way(from: Status, to: Status) -> &'static [usize] {
    use Status::{
        AwaitingApproval, Cancelled, Executing, FailedFinal, FailedRetryable, Pending, ReconciliationNeeded, Succeeded,
        Uncertain,
    };
    match (from, to) {
        (AwaitingApproval, Pending) => &[AWAITING_TO_PENDING],
        (AwaitingApproval, Cancelled) => &[1],
        (Pending, Cancelled) => &[2],
        (Executing, FailedRetryable) => &[3],
        (FailedRetryable, Executing) => &[4],
        (FailedRetryable, Cancelled) => &[5],
        (Uncertain, Executing) => &[6],
        (ReconciliationNeeded, FailedRetryable) => &[7],
        (Executing, Succeeded) => &[8, 14],
        (Executing, FailedFinal) => &[8, 13, 15],
        (ReconciliationNeeded, FailedFinal) => &[9, 15],
        (ReconciliationNeeded, Succeeded) => &[9, 13, 14],
        (Uncertain, FailedRetryable) => &[10],
        (Uncertain, ReconciliationNeeded) => &[11],
        (Uncertain, Succeeded) => &[12, 14],
        (Uncertain, FailedFinal) => &[12, 13, 15],
        (Pending, Executing) => &[16],
        (Executing, Uncertain) => &[17],
        (FailedRetryable, ReconciliationNeeded) => &[18],
        (ReconciliationNeeded, Uncertain) => &[19],
        (Pending, AwaitingApproval) => &[20],
        (Pending | AwaitingApproval, Uncertain | ReconciliationNeeded) => &[21],
        (Executing, ReconciliationNeeded) => &[22],
        (FailedRetryable, FailedFinal) => &[23],
        (FailedRetryable, Uncertain) => &[24],
        _ => &[],
    }
}

/// What can follow in the ordinary course.
fn following(from: Status) -> impl Iterator<Item = Status> {
    Status::ALL.iter().copied().filter(move |to| way(from, *to).iter().any(|n| *n < FIRST_RARE))
}

/// `visited`: each status with the moment it was entered, in order; the last is where it stands.
pub fn states(clock: &Clock, visited: &[(Status, Instant)], view: &StatusView) -> Html {
    let label = in_words(clock, visited);
    let picture = picture(clock, visited, view);
    view! { <svg class="states" viewBox="-8 0 388 276" role="img" aria-label=label inner_html=picture></svg> }
        .into_any()
}

fn in_words(clock: &Clock, visited: &[(Status, Instant)]) -> String {
    let word = |status| StatusView::plain(status).word.to_lowercase();
    let path: Vec<String> =
        visited.iter().map(|(status, at)| format!("{} at {}", word(*status), clock.time(*at))).collect();
    let next: Vec<String> = visited.last().map(|(here, _)| following(*here).map(word).collect()).unwrap_or_default();
    let path = format!("Path taken: {}.", path.join(", "));
    match next.split_last() {
        None => format!("{path} It is settled and stays so."),
        Some((only, [])) => format!("{path} From here it can become {only}."),
        Some((last, rest)) => format!("{path} From here it can become {} or {last}.", rest.join(", ")),
    }
}

fn picture(clock: &Clock, visited: &[(Status, Instant)], view: &StatusView) -> String {
    let mut taken = [false; STRETCHES.len()];
    for pair in visited.windows(2) {
        way(pair[0].0, pair[1].0).iter().for_each(|n| taken[*n] = true);
    }
    let mut next = [false; STRETCHES.len()];
    if let Some((here, _)) = visited.last() {
        following(*here).flat_map(|to| way(*here, to)).for_each(|n| next[*n] = true);
    }
    let mut out = String::from(MARKERS);
    starts(&mut out, visited.first().map(|(status, _)| *status));
    // Faint first, so that the path taken lies on top.
    for class in ["edge", "edge next", "edge taken"] {
        for (n, stretch) in STRETCHES.iter().enumerate() {
            let of = if taken[n] {
                "edge taken"
            } else if next[n] {
                "edge next"
            } else {
                "edge"
            };
            if of == class && (n < FIRST_RARE || taken[n]) {
                edge(&mut out, class, stretch);
            }
        }
    }
    for status in Status::ALL.iter().copied() {
        draw_box(&mut out, status, visited, view);
    }
    for (status, at) in visited {
        let (x, y, anchor) = place(*status).when;
        if visited.iter().rev().find(|(other, _)| other == status) == Some(&(*status, *at)) {
            let _ = write!(
                out,
                "<text class=\"when\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
                clock.brief(*at)
            );
        }
    }
    out
}

const MARKERS: &str = "<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"6\" markerHeight=\"6\" \
    markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip\" d=\"M0 0 6 3 0 6z\"/></marker>\
    <marker id=\"tip-on\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
    markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip on\" d=\"M0 0 8 4 0 8z\"/></marker></defs>";

pub(super) const fn markers() -> &'static str {
    MARKERS
}

/// The two ways in: as pending, or held for approval.
fn starts(out: &mut String, first: Option<Status>) {
    let on = |yes: bool| if yes { " on" } else { "" };
    let pending = first.is_some_and(|status| status != Status::AwaitingApproval);
    let held = first == Some(Status::AwaitingApproval);
    let _ = write!(
        out,
        "<circle class=\"start{}\" cx=\"-4\" cy=\"33\" r=\"3\"/><circle class=\"start{}\" cx=\"209\" cy=\"66\" r=\"3\"/>",
        on(pending),
        on(held)
    );
    let class = |yes: bool| if yes { "edge taken" } else { "edge" };
    edge(out, class(pending), &tip("M-3 33H15"));
    edge(out, class(held), &tip("M209 62V51"));
}

fn edge(out: &mut String, class: &str, stretch: &Stretch) {
    let tip = if class == "edge" { "tip" } else { "tip-on" };
    let end = if stretch.tip { format!(" marker-end=\"url(#{tip})\"") } else { String::new() };
    let _ = write!(out, "<path class=\"{class}\" d=\"{}\"{end}/>", stretch.path);
}

fn draw_box(out: &mut String, status: Status, visited: &[(Status, Instant)], view: &StatusView) {
    let Place { x, y, width, .. } = place(status);
    let here = visited.last().is_some_and(|(last, _)| *last == status);
    let been = visited.iter().any(|(other, _)| *other == status);
    // Where it stands has the page's word for it: "Contradicted" is a status seen with its evidence.
    let plain = StatusView::plain(status);
    let shown = if here { view } else { &plain };
    let group = match (here, been) {
        (true, _) => format!("<g class=\"here\" data-s=\"{}\">", shown.tone.id()),
        (false, true) => "<g class=\"been\">".to_string(),
        (false, false) => "<g>".to_string(),
    };
    let (mark_y, text_y) = (f64::from(y) + 8.5, y + 19);
    let (mark_x, text_x) = (x + 8, x + 26);
    let _ = write!(
        out,
        "{group}<rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"5\"/>\
         <use href=\"#m-{}\" x=\"{mark_x}\" y=\"{mark_y}\" width=\"13\" height=\"13\"/>\
         <text x=\"{text_x}\" y=\"{text_y}\">{}</text></g>",
        shown.mark.id(),
        escape(&shown.word)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Instant {
        Instant::from_micros(minute * 60_000_000)
    }

    #[test]
    fn the_picture_says_the_path_and_what_can_follow() {
        let visited = [(Status::Pending, at(0)), (Status::Executing, at(1)), (Status::Uncertain, at(2))];
        let clock = Clock::new("UTC", at(3));
        let view = StatusView::plain(Status::Uncertain);
        let words = in_words(&clock, &visited);
        assert!(words.starts_with("Path taken: never sent at 00:00:00, in flight at 00:01:00, unknown at 00:02:00."));
        assert!(words.ends_with("needs a person, succeeded or not executed."), "{words}");
        let drawn = picture(&clock, &visited, &view);
        assert_eq!(drawn.matches("edge taken").count(), 3);
        assert!(drawn.contains("<g class=\"here\" data-s=\"unknown\">"));
    }

    #[test]
    fn a_rare_way_is_drawn_where_it_was_taken_and_nowhere_else() {
        let clock = Clock::new("UTC", at(3));
        let rare = [(Status::Executing, at(1)), (Status::ReconciliationNeeded, at(2))];
        let view = StatusView::plain(Status::ReconciliationNeeded);
        assert!(picture(&clock, &rare, &view).contains(STRETCHES[22].path));
        assert!(!picture(&clock, &rare[..1], &view).contains(STRETCHES[22].path));
    }

    #[test]
    fn nothing_follows_a_settled_status() {
        for status in Status::ALL.iter().copied().filter(|status| status.is_settled()) {
            assert_eq!(following(status).count(), 0);
        }
    }
}
