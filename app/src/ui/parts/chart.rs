//! Pictures of numbers, each with its numbers in words.
//!
//! Scales are chosen per row of bars; no two scales share a frame. Invariant: what the picture shows stands in its title.

use std::fmt::Write;

use leptos::prelude::*;

use super::Reader;
use super::table::{column, number, table};
use crate::ledger::instant::Instant;
use crate::ui::Html;

/// What became of operations in one hour (or another equal stretch).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcomes {
    pub from: Instant,
    pub succeeded: u32,
    pub not_executed: u32,
    pub became_unknown: u32,
}

const WIDTH: f64 = 362.0;
const GAP: f64 = 2.6;

struct Bars {
    word: &'static str,
    paint: &'static str,
    word_y: u32,
    base_y: u32,
    height: f64,
}

const ROWS: [Bars; 3] = [
    Bars { word: "Succeeded", paint: "class=\"b-ok\"", word_y: 10, base_y: 78, height: 60.0 },
    Bars { word: "Not executed", paint: "class=\"b-not\"", word_y: 98, base_y: 128, height: 24.0 },
    Bars { word: "Became unknown", paint: "fill=\"url(#hatch)\"", word_y: 146, base_y: 178, height: 26.0 },
];

/// Bars per stretch, and the same as a table under a fold.
pub fn outcomes(reader: &Reader<'_>, stretches: &[Outcomes]) -> Html {
    let columns: [Vec<u32>; 3] = [
        stretches.iter().map(|one| one.succeeded).collect(),
        stretches.iter().map(|one| one.not_executed).collect(),
        stretches.iter().map(|one| one.became_unknown).collect(),
    ];
    let totals = columns.each_ref().map(|column| column.iter().map(|count| u64::from(*count)).sum::<u64>());
    let title = format!(
        "Outcomes over the last {} stretches. Succeeded {}. Not executed {}. Became unknown {}.",
        stretches.len(),
        count(totals[0]),
        count(totals[1]),
        count(totals[2])
    );
    let mut out = format!("<title>{title}</title><path class=\"base\" d=\"M0 78.5H365M0 128.5H365M0 178.5H365\"/>");
    for ((bars, counts), total) in ROWS.iter().zip(&columns).zip(totals) {
        draw(&mut out, bars, counts, total);
    }
    if let (Some(first), Some(last)) = (stretches.first(), stretches.last()) {
        let _ = write!(
            out,
            "<text x=\"0\" y=\"192\">{}</text><text x=\"365\" y=\"192\" text-anchor=\"end\">{}</text>",
            reader.clock.hour(first.from),
            reader.clock.hour(last.from)
        );
    }
    let rows = stretches.iter().map(|one| row(reader, one)).collect();
    let columns = [column("From"), number("Succeeded"), number("Not executed"), number("Became unknown")];
    view! {
        <svg class="chart" viewBox="0 0 420 196" role="img" inner_html=out></svg>
        <details class="more" data-keep="outcomes">
            <summary>"As a table"</summary>
            {table("Outcomes", &columns, rows)}
        </details>
    }
    .into_any()
}

fn row(reader: &Reader<'_>, one: &Outcomes) -> Vec<Html> {
    let numbers = [one.succeeded, one.not_executed, one.became_unknown];
    let mut cells = vec![super::time(one.from, reader.clock.hour(one.from))];
    cells.extend(numbers.map(|number| super::text(&count(number.into()))));
    cells
}

fn draw(out: &mut String, bars: &Bars, counts: &[u32], total: u64) {
    let most = f64::from(counts.iter().copied().max().unwrap_or(0).max(1));
    let slots = counts.len().max(1);
    let step = WIDTH / f64::from(u32::try_from(slots).unwrap_or(u32::MAX));
    let mut x = 0.0;
    for count in counts {
        let height = f64::from(*count) / most * bars.height;
        if *count > 0 {
            let _ = write!(
                out,
                "<rect {} x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/>",
                bars.paint,
                f64::from(bars.base_y) - height,
                (step - GAP).max(1.0)
            );
        }
        x += step;
    }
    let _ = write!(
        out,
        "<text class=\"k\" x=\"0\" y=\"{}\">{}</text><text class=\"v\" x=\"420\" y=\"{}\" text-anchor=\"end\">{}</text>",
        bars.word_y,
        bars.word,
        bars.base_y,
        self::count(total)
    );
}

/// Bars with a name each: unknown operations by age.
#[derive(Clone, Debug)]
pub struct NamedBar {
    pub word: &'static str,
    pub count: u32,
    pub band: crate::ui::words::Band,
}

const BAR_ROW: usize = 36;
const LONGEST: f64 = 290.0;

pub fn by_age(label: &str, list: &[NamedBar]) -> Html {
    let most = f64::from(list.iter().map(|bar| bar.count).max().unwrap_or(0).max(1));
    let words: Vec<String> = list.iter().map(|bar| format!("{} {}", bar.word, bar.count)).collect();
    let mut out = format!("<title>{label}: {}.</title>", words.join(", "));
    for (n, bar) in list.iter().enumerate() {
        let length = f64::from(bar.count) / most * LONGEST;
        let y = n * BAR_ROW;
        let _ = write!(
            out,
            "<text class=\"k\" x=\"0\" y=\"{}\">{}</text>\
             <rect class=\"b-{}\" x=\"100\" y=\"{}\" width=\"{length:.1}\" height=\"18\" rx=\"1.5\"/>\
             <text class=\"v\" x=\"{:.1}\" y=\"{}\">{}</text>",
            y + 22,
            bar.word,
            bar.band.id(),
            y + 9,
            length + 107.0,
            y + 22,
            bar.count
        );
    }
    let _ = write!(out, "<path class=\"base\" d=\"M99.5 2V{}\"/>", list.len() * BAR_ROW);
    view! { <svg class="chart" viewBox="0 0 420 196" role="img" inner_html=out></svg> }.into_any()
}

/// `17,004`
pub fn count(number: u64) -> String {
    crate::ui::words::Money::new("", &number.to_string()).digits().into_owned()
}
