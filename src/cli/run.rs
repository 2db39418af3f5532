//! `subrosa run`: runs a scenario, writes a run folder, and prints the report.

use super::analysed::{known_metric, named};
use super::ending::{ended, finish, interrupted_at, unreadable};
use super::exit::Exit;
use super::interruption;
use super::load::{load_to, thread_count};
use super::options::{Format, RunArguments};
use super::output::{eprint_line, print, width};
use super::programs;
use super::progress::StudyProgressBar;
use super::watch::Watch;
use crate::programs::ProgramUse;
use crate::report::{self, Detail, Terminal};
use crate::study::{self, Goal, Options, Outcome, Precision, RunFolder};
use crate::vocab::counted;

/// Runs the command.
pub(super) fn run(arguments: &RunArguments) -> Exit {
    let starts = if arguments.dry { ProgramUse::ToSend } else { ProgramUse::ToPlay };
    let threads = if arguments.dry { Some(1) } else { arguments.threads };
    let mut plan = match load_to(&arguments.scenario, starts, threads) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    if super::fork::is_requested(&plan, arguments) {
        if arguments.until_halfwidth.is_some() {
            eprint_line(
                "error: --until-halfwidth does not work for a scenario with a fork, whose branches are compared \
                 replication by replication (raise --replications instead)",
            );
            return Exit::Usage;
        }
        if arguments.watch.is_some() {
            eprint_line(
                "error: --watch is not for a scenario with a fork, whose branches are simulated together (leave it out)",
            );
            return Exit::Usage;
        }
        return super::fork::fork(plan, arguments);
    }
    if arguments.dry {
        programs::announce_to(&plan, starts);
        return super::dry::dry(&plan, arguments);
    }
    plan = match programs::ask(plan) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    if arguments.until_halfwidth.is_some()
        && let Err(exit) = known_metric(&plan, &arguments.metric, arguments.group.as_deref())
    {
        return exit;
    }
    if let Some(against) = &arguments.against
        && let Some((unknown, known)) = study::unknown_series(&plan, &[against])
    {
        eprint_line(unknown_series(unknown, &known, "--against"));
        return Exit::Usage;
    }
    let interrupted = interruption::listen();
    let folder = RunFolder::at(&arguments.out.join(plan.folder_name()));
    let watch = match arguments.watch.as_ref().map(|file| Watch::begin(file.as_deref(), &folder)).transpose()
    {
        Ok(watch) => watch,
        Err(exit) => return exit,
    };
    let bar = StudyProgressBar::new(plan.name.clone());
    let options =
        Options { threads: thread_count(arguments.threads), fail_fast: arguments.fail_fast, interrupted };
    let mut play = || match arguments.until_halfwidth {
        None => study::play(&plan, &folder, options, &bar),
        Some(width) => {
            let goal = Goal {
                half_width: width.get(),
                against: arguments.against.clone(),
                metric: named(&arguments.metric, arguments.group.as_deref()),
                at_most: arguments.max_replications,
            };
            study::play_until(&mut plan, &folder, &goal, options, &bar).map(|(outcome, reached)| {
                bar.finish();
                // An interrupted run can still continue to the goal, so there is no final precision to print.
                if !matches!(outcome, Outcome::Interrupted { .. }) {
                    print_precision(&goal, &reached);
                }
                outcome
            })
        }
    };
    let played = match &watch {
        None => play(),
        Some(watch) => watch.during(play),
    };
    bar.finish();
    let outcome = match played {
        Ok(outcome) => outcome,
        Err(error) => return unreadable(&error),
    };
    if let Some(exit) = interrupted_at(&outcome) {
        watch.iter().for_each(Watch::end);
        return exit;
    }
    let summary = match finish(&plan, &folder, arguments.threads) {
        Ok(summary) => summary,
        Err(exit) => return exit,
    };
    watch.iter().for_each(Watch::end);
    match arguments.scenario.format {
        Format::Text => print(&report::text(&summary, terminal(arguments.shown.detail()))),
        Format::Json => print(&report::json(&summary)),
    }
    ended(&outcome, &summary)
}

/// The error for a series that no cell has.
pub(super) fn unknown_series(name: &str, known: &[String], flag: &str) -> String {
    let known: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
    format!("error: no series is called {name:?}: {flag} takes {}", known.join(", "))
}

fn print_precision(goal: &Goal, reached: &Precision) {
    let Precision { widest, replications } = reached;
    let replications = counted(*replications, "replication");
    match widest {
        None => eprint_line(format_args!(
            "warning: no series has an interval for the metric \"{}\"; the header of results.csv lists the metrics",
            goal.metric
        )),
        Some(widest) if *widest > goal.half_width => eprint_line(format_args!(
            "warning: the widest half-width is {widest:.4} after {replications}, above {} (raise \
             --max-replications, which is {})",
            goal.half_width, goal.at_most
        )),
        Some(widest) => {
            eprint_line(format_args!("The widest half-width is {widest:.4} after {replications}."))
        }
    }
}

/// The properties of the terminal, with the requested level of detail.
pub(super) fn terminal(detail: Detail) -> Terminal {
    Terminal { width: width(), sparklines: sparklines(), detail }
}

/// Whether block characters can be shown: standard output is a terminal and the locale uses UTF-8.
fn sparklines() -> bool {
    use std::io::IsTerminal;
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find(|name| set(name))
        .and_then(|name| std::env::var(name).ok());
    let has_letters = locale.is_some_and(|value| value.to_lowercase().replace('-', "").contains("utf8"));
    std::io::stdout().is_terminal() && has_letters
}
