//! The message-sequence picture of how a study begins.

use super::table::scrolling;
use crate::report::sequence::{among_first, drawing};
use crate::study::Opening;
use maud::{Markup, PreEscaped, html};

/// Parties and events that are drawn: about one screen.
const MOST_PARTIES: usize = 6;
const MOST_EVENTS: usize = 110;

/// Who says what to whom, in the order in which it happens; nothing if nothing does.
pub(super) fn section(opening: &Opening) -> Markup {
    let events = among_first(&opening.events, MOST_PARTIES);
    let left_out = opening.names.len().saturating_sub(MOST_PARTIES);
    let events = &events[..events.len().min(MOST_EVENTS)];
    let Some(drawn) = drawing(&opening.names, events) else { return html! {} };
    let title = format!("How it begins: {}, replication {}", opening.series, opening.replication);
    html! {
        section.opening {
            h3 { (title) }
            (scrolling(&title, html! {
                svg.sequence role="img" aria-label=(title) width=(drawn.width) height=(drawn.height)
                    viewBox=(format!("0 0 {} {}", drawn.width, drawn.height)) font-family="sans-serif" font-size="11" {
                    (PreEscaped(&drawn.inside))
                }
            }))
            p.note {
                "Time runs downwards, idle stretches shortened. Arrows: messages, from sending to arrival; crosses: lost \
                 ones; dots: timers; squares: facts. A thick line: the party is away."
                @if left_out > 0 { " Parties left out: " (left_out) "." }
                " " code { "subrosa trace --format svg" } " draws any window."
            }
        }
    }
}
