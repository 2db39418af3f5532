//! `subrosa run`: play a scenario, print the report, leave a run folder.

use super::exit::Exit;
use super::load::load;
use super::options::{Format, RunArguments};
use super::progress::Bar;
use crate::report;
use crate::study::{self, Options, Outcome, RunFolder, Summary};
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Plays and reports.
pub(super) fn run(arguments: &RunArguments) -> Exit {
    let plan = match load(&arguments.scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    if super::fork::wanted(&plan, arguments) {
        return super::fork::fork(plan, arguments);
    }
    if arguments.dry {
        return super::dry::dry(&plan, arguments);
    }
    // The first Ctrl-C lets the replications in progress finish; the second ends the program at once.
    let handler = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(Exit::Interrupted as u8));
        }
        eprintln!("\nInterrupted: finishing the replications in progress (again to stop at once).");
    });
    if let Err(error) = handler {
        eprintln!("warning: Ctrl-C will stop the run at once ({error}); what is finished is kept anyway");
    }
    let folder = RunFolder::at(&arguments.out.join(plan.folder_name()));
    let bar = Bar::new(plan.name.clone());
    let options = Options {
        threads: arguments.threads.map_or(0, |threads| threads as usize),
        interrupted: &INTERRUPTED,
    };
    let played = study::play(&plan, &folder, options, &bar);
    bar.finish();
    let (records, outcome) = match played {
        Ok(played) => played,
        Err(error) => {
            eprintln!("error: {error}");
            return Exit::Internal;
        }
    };
    if let Outcome::Interrupted { finished, total } = outcome {
        eprintln!(
            "Interrupted after {finished} of {total} replications; the same command goes on from there."
        );
        return Exit::Interrupted;
    }
    let summary = Summary::of(&plan, &folder, &records);
    if let Err(error) = study::write_summary(&folder, &summary).and_then(|()| report::write_page(&folder)) {
        eprintln!("error: {error}");
        return Exit::Internal;
    }
    match arguments.scenario.format {
        Format::Text => print(&report::text(&summary, sparklines())),
        Format::Json => print(&report::json(&summary)),
    }
    match outcome {
        Outcome::Failed(failures) => {
            eprintln!("error: {} of the replications failed; the first: {}", failures.len(), failures[0]);
            Exit::CellsFailed
        }
        Outcome::Complete | Outcome::Interrupted { .. } => {
            let spent =
                summary.cells.iter().flat_map(|cell| &cell.series).find(|series| series.budget_failed);
            match spent.and_then(|series| series.budget.as_ref().map(|reason| (&series.name, reason))) {
                Some((name, reason)) => {
                    eprintln!("error: privacy budget exhausted in series \"{name}\": {reason}");
                    Exit::BudgetExhausted
                }
                None => Exit::Ok,
            }
        }
    }
}

/// Whether block letters can be shown: to a person, and in a locale that has them.
pub(super) fn sparklines() -> bool {
    use std::io::IsTerminal;
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find(|name| set(name))
        .and_then(|name| std::env::var(name).ok());
    let has_letters = locale.is_some_and(|value| value.to_lowercase().replace('-', "").contains("utf8"));
    std::io::stdout().is_terminal() && has_letters
}

/// Prints results to standard output; a reader that has gone away (`| head`) is no error.
pub(super) fn print(text: &str) {
    use std::io::Write;
    drop(std::io::stdout().lock().write_all(text.as_bytes()));
}
