//! The message-sequence picture of `subrosa trace`: a line per party, time downwards, an arrow per message.

use super::trace::{cause, connection};
use crate::protocols::{TraceEvent, TraceKind};
use crate::vocab::{PartyId, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Most events in one picture; more could not be told apart.
const MOST_EVENTS: usize = 3000;
const LEFT: f64 = 110.0;
const TOP: f64 = 60.0;
const COLUMN: f64 = 150.0;
/// Least height per event in pixels.
const ROW: f64 = 9.0;

/// Draws a window's events.
///
/// # Errors
/// A reason, when there is nothing to draw or too much.
pub(super) fn picture(title: &str, names: &[String], events: &[TraceEvent]) -> Result<String, String> {
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return Err("nothing happens in this window; widen it with --from and --until".to_owned());
    };
    if events.len() > MOST_EVENTS {
        return Err(format!(
            "{} events are too many for one picture (at most {MOST_EVENTS}); narrow the window with --from and --until",
            events.len()
        ));
    }
    let canvas = Canvas::new(names, events, first.at, last.at);
    let mut svg = canvas.head(title, names);
    canvas.absences(&mut svg, events);
    for event in events {
        canvas.event(&mut svg, names, event);
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

#[derive(Debug)]
struct Canvas {
    /// Horizontal place of each party that takes part.
    columns: BTreeMap<PartyId, f64>,
    from: Time,
    until: Time,
    height: f64,
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Canvas {
    fn new(names: &[String], events: &[TraceEvent], from: Time, until: Time) -> Self {
        let seen: BTreeSet<PartyId> = events.iter().flat_map(parties).collect();
        let seen = seen.into_iter().filter(|party| party.index() < names.len());
        let columns = seen.enumerate().map(|(place, party)| (party, LEFT + COLUMN * (place as f64 + 0.5)));
        Self { columns: columns.collect(), from, until, height: (events.len() as f64 * ROW).max(200.0) }
    }

    fn x(&self, party: PartyId) -> f64 {
        self.columns.get(&party).copied().unwrap_or(LEFT)
    }

    /// Vertical place of a moment; those before the window are at its upper edge.
    fn y(&self, at: Time) -> f64 {
        let whole = (self.until - self.from).seconds();
        let share = if whole > 0.0 { (at - self.from).seconds() / whole } else { 0.0 };
        TOP + self.height * share
    }

    fn head(&self, title: &str, names: &[String]) -> String {
        let width = LEFT + COLUMN * self.columns.len() as f64;
        let bottom = TOP + self.height;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{:.0}\" role=\"img\" \
             font-family=\"sans-serif\" font-size=\"11\">\n<title>{}</title>\n\
             <style>.life{{stroke:#999}}.away{{stroke:#c33;stroke-width:5;stroke-opacity:.35}}\
             .sent{{stroke:#1f5fa8;fill:none}}.lost{{stroke:#c33;fill:none;stroke-dasharray:4 3}}</style>\n\
             <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#1f5fa8\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
            bottom + 30.0,
            escape(title)
        );
        for (party, x) in &self.columns {
            let name = escape(&names[party.index()]);
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"24\" text-anchor=\"middle\" font-weight=\"bold\">{name}</text>\
                 <line class=\"life\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>"
            );
        }
        let ticks = 10;
        let whole = (self.until - self.from).seconds();
        for tick in 0..=ticks {
            let share = f64::from(tick) / f64::from(ticks);
            let (y, seconds) = (TOP + self.height * share, self.from.seconds() + whole * share);
            let _ = writeln!(svg, "<text x=\"8\" y=\"{:.1}\" fill=\"#555\">{seconds:.6} s</text>", y + 4.0);
        }
        svg
    }

    /// A thick line beside a party's own while it is away.
    fn absences(&self, svg: &mut String, events: &[TraceEvent]) {
        let mut away: BTreeMap<PartyId, Option<Time>> = BTreeMap::new();
        let mut bar = |party: PartyId, from: Time, until: Time| {
            let (x, from, until) = (self.x(party), self.y(from), self.y(until));
            let _ = writeln!(
                svg,
                "<line class=\"away\" x1=\"{x:.1}\" y1=\"{from:.1}\" x2=\"{x:.1}\" y2=\"{until:.1}\"/>"
            );
        };
        for event in events {
            if let TraceKind::Switched(party, online, _) = event.kind {
                if online {
                    // Away since before the window, unless it was seen to go.
                    let since = away.get(&party).copied().flatten().unwrap_or(self.from);
                    bar(party, since, event.at);
                    away.insert(party, None);
                } else if away.get(&party).copied().flatten().is_none() {
                    away.insert(party, Some(event.at));
                }
            }
        }
        for (party, since) in away {
            if let Some(since) = since {
                bar(party, since, self.until);
            }
        }
    }

    fn event(&self, svg: &mut String, names: &[String], event: &TraceEvent) {
        let y = self.y(event.at);
        let name = |party: PartyId| escape(&names[party.index()]);
        let seconds = event.at.seconds();
        let _ = match &event.kind {
            TraceKind::Delivered(p, sent_at) => {
                let (x1, y1, x2) = (self.x(p.from), self.y(*sent_at), self.x(p.to));
                let (middle, height) = (0.5 * (x1 + x2), 0.5 * (y1 + y) - 3.0);
                writeln!(
                    svg,
                    "<g><title>{} {} to {}, sent {:.6} s, arrived {seconds:.6} s, {} B</title>\
                     <line class=\"sent\" marker-end=\"url(#tip)\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" \
                     y2=\"{y:.1}\"/><text x=\"{middle:.1}\" y=\"{height:.1}\" text-anchor=\"middle\">{}</text></g>",
                    escape(p.label),
                    name(p.from),
                    name(p.to),
                    sent_at.seconds(),
                    p.bytes,
                    escape(p.label)
                )
            }
            TraceKind::Lost(p, why) => {
                let (x1, x2) = (self.x(p.from), 0.5 * (self.x(p.from) + self.x(p.to)));
                writeln!(
                    svg,
                    "<g><title>{} {} to {} lost at {seconds:.6} s: {}</title>\
                     <line class=\"lost\" x1=\"{x1:.1}\" y1=\"{y:.1}\" x2=\"{x2:.1}\" y2=\"{y:.1}\"/>\
                     <text x=\"{x2:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#c33\">&#215;</text></g>",
                    escape(p.label),
                    name(p.from),
                    name(p.to),
                    cause(*why),
                    y + 4.0
                )
            }
            TraceKind::TimerFired(party, timer) => writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#e8a33d\"><title>{} timer {} at {seconds:.6} s\
                 </title></circle>",
                self.x(*party),
                name(*party),
                escape(timer)
            ),
            TraceKind::Recorded(party, fact) => writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"5\" height=\"5\" fill=\"#2f8f4e\"><title>{} records {} at \
                 {seconds:.6} s</title></rect>",
                self.x(*party) - 2.5,
                y - 2.5,
                name(*party),
                escape(fact)
            ),
            TraceKind::Switched(party, online, crashed) => writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#c33\">{}</text>",
                self.x(*party) + 5.0,
                y + 4.0,
                connection(*online, *crashed)
            ),
            // Its arrow is drawn when it arrives or is lost.
            TraceKind::Sent(_) | TraceKind::Doubled(_) | TraceKind::Handled(..) => Ok(()),
        };
    }
}
