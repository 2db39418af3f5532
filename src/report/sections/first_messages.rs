//! The first messages of a study as a message-sequence diagram.

use crate::report::document::{Drawing, Span};
use crate::report::plots;
use crate::study::FirstMessages;

/// Largest numbers of parties and of events that are drawn: roughly one screen.
const MAX_PARTIES: usize = 6;
const MAX_EVENTS: usize = 110;

/// The diagram of the first messages; `None` if there are none.
pub(super) fn drawing(first: &FirstMessages, name: &str) -> Option<Drawing> {
    let events = plots::among_first(&first.events, MAX_PARTIES);
    let left_out = first.names.len().saturating_sub(MAX_PARTIES);
    let events = &events[..events.len().min(MAX_EVENTS)];
    let drawn = plots::drawing(&first.names, events)?;
    let mut note =
        "Time runs downwards; idle stretches are shortened. Arrows: messages, from sending to arrival; crosses: lost ones; \
                    dots: timers; squares: what a party records. A thick line: the party is offline. Names that would overlap are \
                    left out; the name of an arrow appears when the pointer is on it."
            .to_owned();
    if left_out > 0 {
        note.push_str(&format!(" Parties left out: {left_out}."));
    }
    Some(Drawing {
        title: format!("The first messages of {}, {name}", first.series),
        svg: drawn.inside,
        width: drawn.width,
        height: drawn.height,
        note: vec![
            Span::plain(note + " "),
            Span::code("subrosa trace SCENARIO --cell 0 --replication 0 --from 0s --until 10s --format svg"),
            Span::plain(" draws any period."),
        ],
    })
}
