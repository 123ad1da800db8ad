//! The picture of a customer's provisioning: four states in a row, and the way round a lost secret.
//!
//! Draws; which state a customer is in is the workflow's to say. Invariant: exactly one box is "here".

use std::fmt::Write;

use leptos::prelude::*;

use super::states::markers;
use crate::ledger::instant::Instant;
use crate::ui::Html;
use crate::ui::words::{Clock, Mark, StatusView};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvisioningState {
    PendingCreateGroup,
    GroupCreatedKeyPending,
    KeyCreatedLimitPending,
    /// The key exists; its secret was not saved.
    KeyCreatedLocalSaveFailed,
    Provisioned,
}

use ProvisioningState::{
    GroupCreatedKeyPending, KeyCreatedLimitPending, KeyCreatedLocalSaveFailed, PendingCreateGroup, Provisioned,
};

impl ProvisioningState {
    const MAIN: [ProvisioningState; 4] =
        [PendingCreateGroup, GroupCreatedKeyPending, KeyCreatedLimitPending, Provisioned];

    pub const fn as_str(self) -> &'static str {
        match self {
            PendingCreateGroup => "pending_create_group",
            GroupCreatedKeyPending => "group_created_key_pending",
            KeyCreatedLimitPending => "key_created_limit_pending",
            KeyCreatedLocalSaveFailed => "key_created_local_save_failed",
            Provisioned => "provisioned",
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            PendingCreateGroup => "Group pending",
            GroupCreatedKeyPending => "Group made, key pending",
            KeyCreatedLimitPending => "Key made, limit pending",
            KeyCreatedLocalSaveFailed => "Key made, secret not saved",
            Provisioned => "Provisioned",
        }
    }

    fn rank(self) -> usize {
        match self {
            PendingCreateGroup => 0,
            GroupCreatedKeyPending => 1,
            KeyCreatedLimitPending => 2,
            KeyCreatedLocalSaveFailed | Provisioned => 3,
        }
    }
}

const ROW: usize = 76;

/// `view`: how the operation that holds it up stands. `passed`: when each state before this one was left.
pub fn provisioning(
    clock: &Clock,
    here: ProvisioningState,
    view: &StatusView,
    passed: &[(ProvisioningState, Instant)],
) -> Html {
    let label = format!("Provisioning stands at: {}, {}.", here.word(), view.word.to_lowercase());
    let mut out = String::from(markers());
    let lost = here == KeyCreatedLocalSaveFailed;
    side(&mut out, lost);
    for (n, state) in ProvisioningState::MAIN.into_iter().enumerate() {
        let y = 10 + n * ROW;
        if n > 0 {
            arrow(&mut out, n, here);
        }
        main_box(&mut out, y, state, here, view);
        if let Some((_, at)) = passed.iter().find(|(other, _)| *other == state) {
            let _ = write!(
                out,
                "<text class=\"when\" x=\"110\" y=\"{}\" text-anchor=\"end\">{}</text>",
                y + 61,
                clock.time(*at)
            );
        }
    }
    view! { <svg class="states" viewBox="0 0 374 290" role="img" aria-label=label inner_html=out></svg> }.into_any()
}

/// The arrow into the `n`th box.
fn arrow(out: &mut String, n: usize, here: ProvisioningState) {
    let (from, to) = (10 + n * ROW - 34, 10 + n * ROW - 3);
    let (class, tip) = if n <= here.rank() && here != KeyCreatedLocalSaveFailed || n < here.rank() {
        ("edge taken", "tip-on")
    } else if n == here.rank() + 1 {
        ("edge next", "tip-on")
    } else {
        ("edge", "tip")
    };
    let _ = write!(out, "<path class=\"{class}\" d=\"M116 {from}V{to}\" marker-end=\"url(#{tip})\"/>");
}

fn main_box(out: &mut String, y: usize, state: ProvisioningState, here: ProvisioningState, view: &StatusView) {
    let done = state.rank() < here.rank();
    let (group, mark) = if state == here {
        (format!("<g class=\"here\" data-s=\"{}\">", view.tone.id()), view.mark)
    } else if done {
        ("<g class=\"been\">".to_string(), Mark::Ok)
    } else {
        ("<g>".to_string(), Mark::Never)
    };
    let _ = write!(
        out,
        "{group}<rect class=\"box\" x=\"10\" y=\"{y}\" width=\"214\" height=\"42\" rx=\"5\"/>\
         <use href=\"#m-{}\" x=\"19\" y=\"{}\" width=\"13\" height=\"13\"/>\
         <text x=\"38\" y=\"{}\">{}</text><text class=\"code\" x=\"38\" y=\"{}\">{}</text></g>",
        mark.id(),
        y + 8,
        y + 18,
        state.word(),
        y + 32,
        state.as_str()
    );
}

/// A secret that was not saved, and the way back.
fn side(out: &mut String, here: bool) {
    let (group, taken, tip) =
        if here { ("<g class=\"here\" data-s=\"contra\">", "edge taken", "tip-on") } else { ("<g>", "edge", "tip") };
    let (next, next_tip) = if here { ("edge next", "tip-on") } else { ("edge", "tip") };
    let _ = write!(
        out,
        "<path class=\"{taken}\" d=\"M224 107H247\" marker-end=\"url(#{tip})\"/>\
         <path class=\"{next}\" d=\"M309 148V161\" marker-end=\"url(#{next_tip})\"/>\
         <path class=\"{next}\" d=\"M250 183H227\" marker-end=\"url(#{next_tip})\"/>\
         {group}<rect class=\"box\" x=\"250\" y=\"86\" width=\"118\" height=\"62\" rx=\"5\"/>\
         <text x=\"258\" y=\"104\">Key made,</text><text x=\"258\" y=\"119\">secret not saved</text>\
         <text class=\"code\" x=\"258\" y=\"136\">…local_save_failed</text></g>\
         <g><rect class=\"box\" x=\"250\" y=\"164\" width=\"118\" height=\"38\" rx=\"5\"/>\
         <text x=\"258\" y=\"180\">Revoke and</text><text x=\"258\" y=\"194\">replace the key</text></g>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_is_one_box_that_is_here() {
        let clock = Clock::new("UTC", Instant::EPOCH);
        let view = StatusView::new("Unknown", Mark::Unknown, crate::ui::words::Tone::Unknown);
        for state in ProvisioningState::MAIN.into_iter().chain([KeyCreatedLocalSaveFailed]) {
            let drawn = crate::ui::render(|| provisioning(&clock, state, &view, &[]));
            assert_eq!(drawn.matches("class=\"here\"").count(), 1, "{state:?}");
        }
    }
}
