//! `subrosa trace`: one replication's events as text, JSON lines, or a picture.

use super::exit::Exit;
use super::load::load;
use super::options::{ScenarioArguments, TraceArguments, TraceFormat};
use super::output::{eprint_line, known_width, print};
use super::programs;
use crate::protocols::{TraceEvent, TraceKind, TracedMessage, Watcher};
use crate::report::{self, cause, connection};
use crate::study;
use crate::vocab::{PartyId, Span, Time};
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;

/// Number of bytes that are buffered before they are printed.
const CHUNK: usize = 1 << 16;
/// Largest number of characters of a fact that a line of text shows. If the fact is longer, ", .." follows them.
const FACT: usize = 100;
/// Columns by which the further lines of an event are indented if the event takes several lines.
const INDENT: usize = 8;

/// Runs the command.
pub(super) fn trace(arguments: &TraceArguments) -> Exit {
    let plan = match load(&ScenarioArguments {
        overrides: arguments.overrides.clone(),
        seed: arguments.seed,
        data: arguments.data.clone(),
        ..ScenarioArguments::of(&arguments.scenario)
    }) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let Some(cell) = plan.cells.get(arguments.cell) else {
        eprint_line(format_args!(
            "error: expected a cell below {}, found {}",
            plan.cells.len(),
            arguments.cell
        ));
        return Exit::Usage;
    };
    let draft = cell.scenario.draft();
    let known = draft.protocol.as_dyn().series();
    if let Some(series) = arguments.series.as_ref().filter(|series| !known.contains(series)) {
        let known: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
        eprint_line(format_args!("error: expected one of the series {}, found {series:?}", known.join(", ")));
        return Exit::Usage;
    }
    let window = Window {
        from: Time::ZERO + arguments.from.unwrap_or(Span::ZERO),
        until: Time::ZERO + arguments.until.unwrap_or(Span::MAX),
    };
    if window.from > window.until {
        eprint_line("error: expected --until at or after --from; swap the two values");
        return Exit::Usage;
    }
    let series = match (&arguments.series, arguments.format) {
        // A picture shows one series.
        (None, TraceFormat::Svg) => known.first().cloned(),
        (series, _) => series.clone(),
    };
    let width = known_width();
    let names: Rc<Vec<String>> = Rc::new(cell.scenario.stage(None).names);
    let (text, kept) = (Rc::new(RefCell::new(String::new())), Rc::new(RefCell::new(Vec::new())));
    let watcher = {
        let (names, text, kept, format) =
            (Rc::clone(&names), Rc::clone(&text), Rc::clone(&kept), arguments.format);
        Watcher::new(move |its_series, event| {
            let wanted = series.as_ref().is_none_or(|series| series == its_series);
            if !wanted || !window.shows(&event) {
                return;
            }
            let mut text = text.borrow_mut();
            match format {
                TraceFormat::Text => text.push_str(&line(&names, its_series, &event, width)),
                TraceFormat::Jsonl => {
                    text.push_str(&report::json(&EventJsonLine::of(&names, its_series, &event)));
                }
                TraceFormat::Svg => kept.borrow_mut().push(event),
            }
            if text.len() > CHUNK {
                print(&text);
                text.clear();
            }
        })
    };
    programs::announce(&plan);
    let played = study::trace(&plan, arguments.cell, arguments.replication, watcher);
    print(&text.borrow());
    if let Err(failure) = played {
        eprint_line(format_args!("error: {failure}"));
        return Exit::CellsFailed;
    }
    if arguments.format == TraceFormat::Svg {
        match report::sequence(&plan.name, &names, &kept.borrow()) {
            Ok(picture) => print(&picture),
            Err(reason) => {
                eprint_line(format_args!("error: {reason}"));
                return Exit::Usage;
            }
        }
    }
    Exit::Ok
}

/// The interval of virtual time whose events are shown, both ends included.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: Time,
    until: Time,
}

impl Window {
    fn shows(self, event: &TraceEvent) -> bool {
        self.from <= event.at && event.at <= self.until
    }
}

fn line(names: &[String], series: &str, event: &TraceEvent, width: Option<usize>) -> String {
    let mut event = event.clone();
    if let TraceKind::Recorded(_, fact) = &mut event.kind {
        *fact = brief(fact);
    }
    let (seconds, what) = (event.at.seconds(), event_text(names, &event));
    let line = format!("{seconds:>16.9} s  [{series}] {what}");
    // If the width of the output is known, a long line is broken, and its further lines are indented. Otherwise each event
    // is one line.
    width.map_or_else(|| format!("{line}\n"), |width| report::folded(&line, INDENT, width))
}

/// A fact, shortened to its first fields if it is long; JSON lines have the whole fact.
fn brief(fact: &str) -> String {
    let Some((end, _)) = fact.char_indices().nth(FACT) else { return fact.to_owned() };
    let cut = &fact[..end];
    format!("{}, ..", cut.rfind(", ").map_or(cut, |comma| &cut[..comma]))
}

/// An event in words, with its time.
pub(super) fn sentence(names: &[String], event: &TraceEvent) -> String {
    format!("{:.9} s  {}", event.at.seconds(), event_text(names, event))
}

fn event_text(names: &[String], event: &TraceEvent) -> String {
    let name = |party: PartyId| names[party.index()].as_str();
    match &event.kind {
        TraceKind::Sent(p) => format!("{} -> {}  {} ({} B)", name(p.from), name(p.to), p.label, p.bytes),
        TraceKind::Lost(p, why) => {
            format!("{} -x {}  {} lost: {}", name(p.from), name(p.to), p.label, cause(*why))
        }
        TraceKind::Doubled(p) => {
            format!("{} => {}  {} doubled on its way", name(p.from), name(p.to), p.label)
        }
        TraceKind::Delivered(p, sent_at) => {
            let took = event.at - *sent_at;
            format!("{} >> {}  {} after {:.6} s", name(p.from), name(p.to), p.label, took.seconds())
        }
        TraceKind::Handled(p, _) => format!("{}  handled {} from {}", name(p.to), p.label, name(p.from)),
        TraceKind::TimerFired(party, timer) => format!("{}  timer {timer}", name(*party)),
        TraceKind::Switched(party, online, crashed) => {
            format!("{}  {}", name(*party), connection(*online, *crashed))
        }
        TraceKind::Recorded(party, fact) => format!("{}  records {fact}", name(*party)),
    }
}

/// An event as one JSON line.
#[derive(Default, Serialize)]
struct EventJsonLine<'a> {
    nanos: u64,
    series: &'a str,
    event: &'static str,
    #[serde(flatten)]
    parcel: Option<MessageJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    party: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fact: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_nanos: Option<u64>,
}

/// The message of an event in a JSON line.
#[derive(Serialize)]
struct MessageJson<'a> {
    from: &'a str,
    to: &'a str,
    message: &'a str,
    bytes: u64,
}

impl<'a> EventJsonLine<'a> {
    fn of(names: &'a [String], series: &'a str, event: &'a TraceEvent) -> Self {
        let name = |party: PartyId| names[party.index()].as_str();
        let parcel = |p: &'a TracedMessage| {
            Some(MessageJson {
                from: name(p.from),
                to: name(p.to),
                message: p.label.as_ref(),
                bytes: p.bytes,
            })
        };
        let line = Self { nanos: event.at.nanos(), series, ..Self::default() };
        match &event.kind {
            TraceKind::Sent(p) => Self { event: "sent", parcel: parcel(p), ..line },
            TraceKind::Doubled(p) => Self { event: "doubled", parcel: parcel(p), ..line },
            TraceKind::Lost(p, why) => {
                Self { event: "lost", parcel: parcel(p), cause: Some(cause(*why)), ..line }
            }
            TraceKind::Handled(p, sent_at) => {
                Self { event: "handled", parcel: parcel(p), sent_nanos: Some(sent_at.nanos()), ..line }
            }
            TraceKind::Delivered(p, sent_at) => {
                Self { event: "delivered", parcel: parcel(p), sent_nanos: Some(sent_at.nanos()), ..line }
            }
            TraceKind::TimerFired(party, timer) => {
                Self { event: "timer", party: Some(name(*party)), timer: Some(timer), ..line }
            }
            TraceKind::Switched(party, online, crashed) => {
                let state = Some(connection(*online, *crashed));
                Self { event: "connection", party: Some(name(*party)), state, ..line }
            }
            TraceKind::Recorded(party, fact) => {
                Self { event: "fact", party: Some(name(*party)), fact: Some(fact), ..line }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_fact_is_cut_between_fields() {
        assert_eq!(brief("Measured { arm: 7 }"), "Measured { arm: 7 }");
        let long = format!("Released {{ what: \"Z\", note: \"{}\" }}", "ü".repeat(200));
        assert_eq!(brief(&long), "Released { what: \"Z\", ..");
        assert_eq!(brief(&"ü".repeat(200)).chars().count(), FACT + 4);
    }
}
