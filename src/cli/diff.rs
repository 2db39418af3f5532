//! `subrosa replay RUN --diff RUN2`: compares two runs or scenarios up to the first event that differs.

use super::exit::Exit;
use super::load::{load, plan_to_play};
use super::options::{Format, ReplayArguments, ScenarioArguments};
use super::output::{eprint_line, print};
use super::programs;
use super::trace::sentence;
use crate::protocols::TracedMessage;
use crate::report::{self, connection};
use crate::study::{self, Cause, EventWithCause, Plan, RunFolder, Side};
use crate::vocab::{PartyId, Time};
use serde::Serialize;
use std::path::Path;

/// Runs the command.
pub(super) fn diff(arguments: &ReplayArguments, other: &Path) -> Exit {
    let plans = match (plan_of(&arguments.run), plan_of(other)) {
        (Ok(left), Ok(right)) => [left, right],
        (Err(exit), _) | (_, Err(exit)) => return exit,
    };
    for (plan, path) in plans.iter().zip([&*arguments.run, other]) {
        if arguments.cell >= plan.cells.len() {
            let cells = plan.cells.len();
            eprint_line(format_args!(
                "error: expected a cell below {cells} of {}, found {}",
                path.display(),
                arguments.cell
            ));
            return Exit::Usage;
        }
    }
    let wanted = arguments.replication.unwrap_or(0);
    for (plan, path) in plans.iter().zip([&*arguments.run, other]) {
        if wanted >= plan.replications {
            let there = plan.replications;
            eprint_line(format_args!(
                "error: expected a replication below {there} of {}, found {wanted}",
                path.display()
            ));
            return Exit::Usage;
        }
    }
    let folders = [&*arguments.run, other].map(|path| path.is_dir().then(|| RunFolder::at(path)));
    for (plan, _) in plans.iter().zip(&folders).filter(|(_, folder)| folder.is_none()) {
        programs::announce(plan);
    }
    let side = |index: usize| Side {
        plan: &plans[index],
        cell: arguments.cell,
        replication: wanted,
        folder: folders[index].as_ref(),
    };
    let until = arguments.until.map(|until| Time::ZERO + until);
    let found = match study::diff(side(0), side(1), until) {
        Ok(found) => found,
        Err(failure) => {
            eprint_line(format_args!("error: {failure}"));
            return Exit::CellsFailed;
        }
    };
    let [left, right] = [&plans[0], &plans[1]].map(|plan| names(plan, arguments.cell));
    let Some(found) = found else {
        print(&match arguments.format {
            Format::Text => "no event differs\n".to_owned(),
            Format::Json => report::json(&Agreement { agrees: true }),
        });
        return Exit::Ok;
    };
    let tell = |names: &[String], told: &Option<EventWithCause>| match told {
        None => ("the series is over".to_owned(), String::new()),
        Some(told) => (sentence(names, &told.event), because(names, &told.cause)),
    };
    let ((first, why_first), (second, why_second)) = (tell(&left, &found.left), tell(&right, &found.right));
    match arguments.format {
        Format::Text => {
            let mut text = format!("series \"{}\", event {} differs\n", found.series, found.number);
            for (run, what, why) in
                [(arguments.run.display(), &first, &why_first), (other.display(), &second, &why_second)]
            {
                text.push_str(&format!("  {run}\n    {what}\n"));
                if !why.is_empty() {
                    text.push_str(&format!("      because {why}\n"));
                }
            }
            if first == second && why_first == why_second {
                text.push_str("  the contents differ\n");
            }
            print(&text);
        }
        Format::Json => {
            print(&report::json(&Difference {
                agrees: false,
                series: &found.series,
                event: found.number,
                left: EventJson { event: &first, because: &why_first },
                right: EventJson { event: &second, because: &why_second },
            }));
        }
    }
    Exit::ReplayDiffers
}

/// The JSON document if no event differs.
#[derive(Serialize)]
struct Agreement {
    agrees: bool,
}

/// The JSON document if an event differs: a description of the first event that differs.
#[derive(Serialize)]
struct Difference<'a> {
    agrees: bool,
    series: &'a str,
    event: u64,
    left: EventJson<'a>,
    right: EventJson<'a>,
}

/// The event in one of the two runs, and its cause.
#[derive(Serialize)]
struct EventJson<'a> {
    event: &'a str,
    because: &'a str,
}

/// The plan of a run folder, or of a scenario file.
fn plan_of(path: &Path) -> Result<Plan, Exit> {
    if path.is_dir() {
        return plan_to_play(&RunFolder::at(path)).map(|(plan, _)| plan);
    }
    load(&ScenarioArguments::of(path))
}

fn names(plan: &Plan, cell: usize) -> Vec<String> {
    plan.cells[cell].scenario.stage(None).names
}

fn because(names: &[String], cause: &Cause) -> String {
    let name = |party: PartyId| names.get(party.index()).map_or("an unknown party", String::as_str);
    let parcel = |p: &TracedMessage| format!("{} from {} to {}", p.label, name(p.from), name(p.to));
    match cause {
        Cause::Start(party) => format!("{} started", name(*party)),
        Cause::Handled(p, at) => {
            format!("{} handled {} from {} (sent at {} s)", name(p.to), p.label, name(p.from), at.seconds())
        }
        Cause::Timer(party, timer) => format!("{}'s timer {timer} ran out", name(*party)),
        Cause::Switched(party, online, crashed) => {
            format!("{} was {}", name(*party), connection(*online, *crashed))
        }
        Cause::Sent(p, at, why) => {
            format!("{} was sent at {} s, when {}", parcel(p), at.seconds(), because(names, why))
        }
        Cause::Set(party) => format!("{} had set the timer", name(*party)),
        Cause::Availability(party) => {
            format!(
                "a change of the availability of {}, or an outage of its group, was the cause",
                name(*party)
            )
        }
    }
}
