//! Message-sequence diagrams: a vertical line per party, time downwards, an arrow per message.

use crate::protocols::{TraceEvent, TraceKind};
use crate::report::words::{cause, connection};
use crate::vocab::{PartyId, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

/// Largest number of events in one diagram; more could not be distinguished.
const MAX_EVENTS: usize = 3000;
const LEFT: f64 = 110.0;
const TOP: f64 = 60.0;
const COLUMN: f64 = 150.0;
/// Vertical distances between consecutive moments, in pixels: approximate mean before the limits apply (`ROW`), minimum
/// (`LEAST`) and maximum (`MOST`).
const ROW: f64 = 16.0;
const LEAST: f64 = 5.0;
const MOST: f64 = 60.0;
/// Smallest vertical distance, in pixels, between two times that are printed at the margin.
const TICK: f64 = 22.0;

/// The CSS of a diagram in a separate file.
const STYLE: &str = "text{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}.life{stroke:#999}.away{stroke:#c33;stroke-width:5;stroke-opacity:.35}.sent{stroke:#1f5fa8;\
    fill:none}.head{fill:#1f5fa8}.lost{stroke:#c33;fill:none;stroke-dasharray:4 3}.bad{fill:#c33}.time{fill:#555}\
    .timer{fill:#e8a33d}.fact{fill:#2f8f4e}";

/// Why there is no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceError {
    /// The window contains no events.
    Nothing,
    /// The window contains this many events, too many for one diagram.
    TooMany(usize),
}

impl fmt::Display for SequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "nothing happens in this window; widen it with --from and --until"),
            Self::TooMany(events) => write!(
                f,
                "{events} events are too many for one picture (at most {MAX_EVENTS}); narrow the window with --from \
                 and --until"
            ),
        }
    }
}

impl std::error::Error for SequenceError {}

/// Draws the events of a time window as a separate SVG document.
///
/// # Errors
/// [`SequenceError`] if there are no events or too many.
pub fn sequence(title: &str, names: &[String], events: &[TraceEvent]) -> Result<String, SequenceError> {
    if events.len() > MAX_EVENTS {
        return Err(SequenceError::TooMany(events.len()));
    }
    let Some(drawn) = drawing(names, events) else {
        return Err(SequenceError::Nothing);
    };
    let (width, height) = (drawn.width, drawn.height);
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
        escape(title),
        drawn.inside
    ))
}

/// A diagram as SVG elements, without the document around them.
#[derive(Clone, Debug)]
pub(in crate::report) struct Drawing {
    /// Elements of SVG, styled by classes.
    pub(in crate::report) inside: String,
    pub(in crate::report) width: f64,
    pub(in crate::report) height: f64,
}

/// Draws events as SVG elements; `None` if there are no events.
pub(in crate::report) fn drawing(names: &[String], events: &[TraceEvent]) -> Option<Drawing> {
    events.first()?;
    let canvas = Canvas::new(names, events);
    let mut svg = String::new();
    canvas.frame(&mut svg, names);
    canvas.absences(&mut svg, events);
    let mut labels = Labels::default();
    for event in events {
        canvas.event(&mut svg, &mut labels, names, event);
    }
    let width = LEFT + COLUMN * canvas.columns.len() as f64;
    Some(Drawing { inside: svg, width, height: canvas.bottom() + 30.0 })
}

/// The labels that are drawn beside arrows so far. For each label: the horizontal position of its middle, the vertical
/// position of its baseline, and half of its width.
#[derive(Debug, Default)]
struct Labels(Vec<(f64, f64, f64)>);

impl Labels {
    /// Width of a letter and height of a line, in pixels.
    const LETTER: f64 = 6.2;
    const LINE: f64 = 12.0;
    /// Where a label may stand, in order of preference, as a share of its arrow's length from the beginning; arrows rarely
    /// cross at a third of their length.
    const PLACES: [f64; 5] = [1.0 / 3.0, 0.5, 2.0 / 3.0, 0.2, 0.8];

    /// A place beside an arrow at which its label overlaps no earlier label; `None` if there is no such place.
    fn place(&mut self, label: &str, from: (f64, f64), to: (f64, f64)) -> Option<(f64, f64)> {
        let half = Self::LETTER * label.chars().count() as f64 / 2.0;
        let at = |share: &f64| (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share - 3.0);
        let free = |(x, y): &(f64, f64)| {
            let apart = |(other, line, width): &(f64, f64, f64)| {
                (x - other).abs() >= half + width || (y - line).abs() >= Self::LINE
            };
            self.0.iter().all(apart)
        };
        let (x, y) = Self::PLACES.iter().map(at).find(free)?;
        self.0.push((x, y, half));
        Some((x, y))
    }
}

#[derive(Debug)]
struct Canvas {
    /// Horizontal position of each party that takes part.
    columns: BTreeMap<PartyId, f64>,
    /// Each moment with an event, and its vertical position. Distances are proportional to time, but never so small that
    /// moments cannot be distinguished, nor so large that an idle period fills the diagram.
    moments: Vec<(Time, f64)>,
}

fn parties(event: &TraceEvent) -> [PartyId; 2] {
    match &event.kind {
        TraceKind::Sent(p)
        | TraceKind::Lost(p, _)
        | TraceKind::Doubled(p)
        | TraceKind::Handled(p, _)
        | TraceKind::Delivered(p, _) => [p.from, p.to],
        TraceKind::TimerFired(party, _) | TraceKind::Switched(party, ..) | TraceKind::Recorded(party, _) => {
            [*party, *party]
        }
    }
}

/// The events whose parties are all among the `most` parties that occur first in `events`.
pub(in crate::report) fn among_first(events: &[TraceEvent], most: usize) -> Vec<TraceEvent> {
    let mut seen: Vec<PartyId> = Vec::new();
    for party in events.iter().flat_map(parties) {
        if !seen.contains(&party) {
            seen.push(party);
        }
    }
    let kept = &seen[..most.min(seen.len())];
    let inside = |event: &&TraceEvent| parties(event).iter().all(|party| kept.contains(party));
    events.iter().filter(inside).cloned().collect()
}

/// A name that fits above the line of its party.
fn fitting(name: &str) -> String {
    const MOST: usize = 20;
    if name.chars().count() <= MOST {
        name.to_owned()
    } else {
        name.chars().take(MOST - 2).chain("..".chars()).collect()
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Canvas {
    fn new(names: &[String], events: &[TraceEvent]) -> Self {
        let seen: BTreeSet<PartyId> = events.iter().flat_map(parties).collect();
        let seen = seen.into_iter().filter(|party| party.index() < names.len());
        let columns = seen.enumerate().map(|(place, party)| (party, LEFT + COLUMN * (place as f64 + 0.5)));
        let times: BTreeSet<Time> = events.iter().map(|event| event.at).collect();
        let mut moments: Vec<(Time, f64)> = Vec::with_capacity(times.len());
        let whole = match (times.first(), times.last()) {
            (Some(first), Some(last)) => (*last - *first).seconds(),
            _ => 0.0,
        };
        let scale = if whole > 0.0 { ROW * times.len() as f64 / whole } else { 0.0 };
        for at in times {
            let y = match moments.last() {
                Some((before, y)) => y + (scale * (at - *before).seconds()).clamp(LEAST, MOST),
                None => TOP + 14.0,
            };
            moments.push((at, y));
        }
        Self { columns: columns.collect(), moments }
    }

    fn x(&self, party: PartyId) -> f64 {
        self.columns.get(&party).copied().unwrap_or(LEFT)
    }

    /// Vertical position of a moment. A moment before the window is at the upper edge, and a moment after it is at the lower
    /// edge. A moment without an event is at the position of the next moment that has an event.
    fn y(&self, at: Time) -> f64 {
        if self.moments.first().is_some_and(|(first, _)| at < *first) {
            return TOP;
        }
        let place = self.moments.partition_point(|(known, _)| *known < at);
        self.moments.get(place).map_or_else(|| self.bottom(), |(_, y)| *y)
    }

    fn bottom(&self) -> f64 {
        self.moments.last().map_or(TOP, |(_, y)| *y) + 14.0
    }

    fn frame(&self, svg: &mut String, names: &[String]) {
        let bottom = self.bottom();
        for (party, x) in &self.columns {
            let name = escape(&fitting(&names[party.index()]));
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"24\" text-anchor=\"middle\" font-weight=\"bold\">{name}</text>\
                 <line class=\"life\" x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>",
                TOP - 24.0
            );
        }
        let mut last = f64::NEG_INFINITY;
        for (at, y) in &self.moments {
            if y - last >= TICK {
                let seconds = at.seconds();
                let _ =
                    writeln!(svg, "<text class=\"time\" x=\"8\" y=\"{:.1}\">{seconds:.3} s</text>", y + 4.0);
                last = *y;
            }
        }
    }

    /// Draws a thick line over the line of a party while it is offline.
    fn absences(&self, svg: &mut String, events: &[TraceEvent]) {
        let mut away: BTreeMap<PartyId, Option<f64>> = BTreeMap::new();
        let mut bar = |party: PartyId, from: f64, until: f64| {
            let x = self.x(party);
            let _ = writeln!(
                svg,
                "<line class=\"away\" x1=\"{x:.1}\" y1=\"{from:.1}\" x2=\"{x:.1}\" y2=\"{until:.1}\"/>"
            );
        };
        for event in events {
            if let TraceKind::Switched(party, online, _) = event.kind {
                if online {
                    // If the window does not show how the party went offline, it has been offline since before the
                    // window.
                    let since = away.get(&party).copied().flatten().unwrap_or(TOP);
                    bar(party, since, self.y(event.at));
                    away.insert(party, None);
                } else if away.get(&party).copied().flatten().is_none() {
                    away.insert(party, Some(self.y(event.at)));
                }
            }
        }
        for (party, since) in away {
            if let Some(since) = since {
                bar(party, since, self.bottom());
            }
        }
    }

    fn event(&self, svg: &mut String, labels: &mut Labels, names: &[String], event: &TraceEvent) {
        let y = self.y(event.at);
        let name = |party: PartyId| escape(names.get(party.index()).map_or("", String::as_str));
        let seconds = event.at.seconds();
        let _ = match &event.kind {
            TraceKind::Delivered(p, sent_at) => {
                let (x1, y1, x2) = (self.x(p.from), self.y(*sent_at), self.x(p.to));
                // The head of the arrow points in the direction of the line.
                let turn = libm::atan2(y - y1, x2 - x1).to_degrees();
                let label = labels.place(&p.label, (x1, y1), (x2, y)).map_or_else(String::new, |(x, y)| {
                    let name = escape(&p.label);
                    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{name}</text>")
                });
                writeln!(
                    svg,
                    "<g><title>{} {} to {}, sent {:.6} s, arrived {seconds:.6} s, {} B</title>\
                     <line class=\"sent\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y:.1}\"/>\
                     <path class=\"head\" d=\"M0 0L-8 -4L-8 4z\" transform=\"translate({x2:.1} {y:.1}) \
                     rotate({turn:.1})\"/>{label}</g>",
                    escape(&p.label),
                    name(p.from),
                    name(p.to),
                    sent_at.seconds(),
                    p.bytes
                )
            }
            TraceKind::Lost(p, why) => {
                let (x1, x2) = (self.x(p.from), 0.5 * (self.x(p.from) + self.x(p.to)));
                writeln!(
                    svg,
                    "<g><title>{} {} to {} lost at {seconds:.6} s: {}</title>\
                     <line class=\"lost\" x1=\"{x1:.1}\" y1=\"{y:.1}\" x2=\"{x2:.1}\" y2=\"{y:.1}\"/>\
                     <text class=\"bad\" x=\"{x2:.1}\" y=\"{:.1}\" text-anchor=\"middle\">&#215;</text></g>",
                    escape(&p.label),
                    name(p.from),
                    name(p.to),
                    cause(*why),
                    y + 4.0
                )
            }
            TraceKind::TimerFired(party, timer) => writeln!(
                svg,
                "<circle class=\"timer\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{} timer {} at {seconds:.6} s\
                 </title></circle>",
                self.x(*party),
                name(*party),
                escape(timer)
            ),
            TraceKind::Recorded(party, fact) => writeln!(
                svg,
                "<rect class=\"fact\" x=\"{:.1}\" y=\"{:.1}\" width=\"5\" height=\"5\"><title>{} records {} at \
                 {seconds:.6} s</title></rect>",
                self.x(*party) - 2.5,
                y - 2.5,
                name(*party),
                escape(fact)
            ),
            TraceKind::Switched(party, online, crashed) => writeln!(
                svg,
                "<text class=\"bad\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                self.x(*party) + 5.0,
                y + 4.0,
                connection(*online, *crashed)
            ),
            // The arrow of a message is drawn when it arrives or is lost.
            TraceKind::Sent(_) | TraceKind::Doubled(_) | TraceKind::Handled(..) => Ok(()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::TracedMessage;

    fn delivered(from: u32, to: u32, sent: u64, at: u64) -> TraceEvent {
        let parcel = TracedMessage { from: PartyId(from), to: PartyId(to), label: "Ask".into(), bytes: 48 };
        let time = |millis: u64| Time::ZERO + crate::vocab::Span::from_millis(millis);
        let kind = TraceKind::Delivered(parcel, time(sent));
        TraceEvent { at: time(at), kind, round: None, contents: 0 }
    }

    #[test]
    fn later_events_are_lower_and_idle_periods_are_short() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let events = [delivered(0, 1, 0, 1), delivered(1, 0, 1, 2), delivered(0, 2, 2, 3_600_000)];
        let canvas = Canvas::new(&names, &events);
        let heights: Vec<f64> = events.iter().map(|event| canvas.y(event.at)).collect();
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= LEAST && pair[1] - pair[0] <= MOST));
        assert_eq!(canvas.columns.len(), 3);
        let picture = sequence("<title>", &names, &events).unwrap();
        assert_eq!(
            (picture.matches("class=\"sent\"").count(), picture.matches("&lt;title&gt;").count()),
            (3, 1)
        );
        assert_eq!(among_first(&events, 2).len(), 2);
        // Ten arrows of the same two parties at the same time: only labels that do not overlap are drawn.
        let crowd: Vec<TraceEvent> = (0..10).map(|_| delivered(0, 1, 0, 1)).collect();
        let picture = sequence("", &names, &crowd).unwrap();
        assert_eq!(picture.matches("class=\"sent\"").count(), 10);
        assert!((1..=5).contains(&picture.matches(">Ask</text>").count()), "{picture}");
        assert_eq!(sequence("", &names, &[]), Err(SequenceError::Nothing));
    }
}
