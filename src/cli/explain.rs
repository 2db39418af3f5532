//! `subrosa explain`: finds which of the varied values matter, how much, and which of them interact.

use super::analysed::{
    failed, named, no_group, options, picture, playable, stopped, takes_whole_numbers, varies_beside,
};
use super::budget_exit::budget;
use super::ending::{finish, unreadable};
use super::exit::Exit;
use super::interruption;
use super::load::{Loaded, plan_of_run, print_error};
use super::options::{ExplainArguments, Format, RangeArgument};
use super::output::{eprint_line, print, width};
use super::programs;
use super::progress::StudyProgressBar;
use crate::programs::ProgramUse;
use crate::report;
use crate::scenario::Diagnostics;
use crate::study::{
    self, Design, DesignedAxes, ExplainError, Explained, ExplainedAxis, MOST_AXES, Outcome, Plan, RunFolder,
    design_key, written,
};

/// Runs the command.
pub(super) fn explain(arguments: &ExplainArguments) -> Exit {
    answer(arguments).unwrap_or_else(|exit| exit)
}

fn answer(arguments: &ExplainArguments) -> Result<Exit, Exit> {
    // A run folder is explained from its records; nothing is run.
    if arguments.scenario.scenario.is_dir() && arguments.over.is_empty() {
        let folder = RunFolder::at(&arguments.scenario.scenario);
        let (plan, _) = plan_of_run(&folder)?;
        if plan.fork.is_some() {
            eprint_line(
                "error: explain is not for the run of a fork (`subrosa compare RUN` compares its branches)",
            );
            return Err(Exit::Usage);
        }
        if of_ranges(&folder) {
            eprint_line(
                "error: this run is a design over ranges, which cannot be read from the folder (repeat the \
                 command `subrosa explain` that made it: no replication is run again)",
            );
            return Err(Exit::Usage);
        }
        let found = explained(&plan, &folder, arguments, None)?;
        tell(&found, &folder, arguments)?;
        return Ok(Exit::Ok);
    }
    let (plan, designed) = if arguments.over.is_empty() {
        (super::load::load_to(&arguments.scenario, ProgramUse::ToPlay, arguments.playing.threads)?, None)
    } else {
        let (plan, designed) = quasi_random(arguments)?;
        (plan, Some(designed))
    };
    if plan.cells.len() < 2 {
        eprint_line(format_args!("error: {}", ExplainError::NothingVaries));
        return Err(Exit::Usage);
    }
    let plan = programs::ask(plan)?;
    playable(&plan, &arguments.metric, arguments.group.as_deref(), "explain")?;
    let name = match &designed {
        None => plan.folder_name(),
        Some(_) => plan.folder_name_of("explain", ""),
    };
    let folder = RunFolder::at(&arguments.playing.out.join(name));
    let bar = StudyProgressBar::new(plan.name.clone());
    let played = study::play(&plan, &folder, options(&arguments.playing, interruption::listen()), &bar);
    bar.finish();
    match played.map_err(|error| unreadable(&error))? {
        Outcome::Complete => {}
        Outcome::Interrupted { finished, total, failures } => {
            return Err(stopped(finished, total, &failures));
        }
        Outcome::Failed(failures) => return Err(failed(&failures)),
    }
    let summary = finish(&plan, &folder, arguments.playing.threads)?;
    let found = explained(&plan, &folder, arguments, designed.as_ref())?;
    tell(&found, &folder, arguments)?;
    Ok(budget(&summary))
}

/// Whether a run folder contains an `explain.json` that was computed from a quasi-random design.
fn of_ranges(folder: &RunFolder) -> bool {
    let answer = std::fs::read_to_string(folder.file("explain.json")).unwrap_or_default();
    serde_json::from_str::<serde_json::Value>(&answer).is_ok_and(|answer| answer["design"] == "quasi-random")
}

/// The study of a quasi-random design over the ranges: the varied values change together, from point to point.
fn quasi_random(arguments: &ExplainArguments) -> Result<(Plan, DesignedAxes), Exit> {
    let ranges = &arguments.over;
    if ranges.len() > MOST_AXES {
        eprint_line(format_args!("error: expected at most {MOST_AXES} ranges, found {}", ranges.len()));
        return Err(Exit::Usage);
    }
    let loaded = Loaded::read(&arguments.scenario, ProgramUse::ToPlay, arguments.playing.threads)?;
    let wrong = |diagnostics: Diagnostics| print_error(&diagnostics, arguments.scenario.format);
    let design = Design { axes: ranges.len(), rows: arguments.points as usize, pairs: arguments.pairs };
    // In tables, labels distinguish the points, because two points may have equal values.
    let labels: Vec<String> = (0..design.cells()).map(|cell| cell.to_string()).collect();
    let mut varied = Vec::new();
    for range in ranges {
        let value = loaded.document.varied(&loaded.overrides, &range.axis).map_err(wrong)?;
        let at = |text: f64| loaded.plan(&value.overrides(&written(&[text], false), None));
        at(range.from).map_err(wrong)?;
        at(range.to).map_err(wrong)?;
        let whole = takes_whole_numbers(range.from, range.to, |value| at(value).is_err());
        varied.push((value, whole));
    }
    // This plan fixes every varied value at the lower end of its range. It has the seed, which the command line may
    // have set, and shows whether anything else varies.
    let plain: Vec<String> = varied
        .iter()
        .zip(ranges)
        .flat_map(|((value, _), range)| value.overrides(&written(&[range.from], false), None))
        .collect();
    let plain = loaded.plan(&plain).map_err(wrong)?;
    let names: Vec<&str> = varied.iter().map(|(value, _)| value.name.as_str()).collect();
    if let Some(name) = varies_beside(&plain, &names) {
        eprint_line(format_args!(
            "error: expected a scenario that varies the values of --over only, found the Each called {name:?} too (set it to one value \
             by -o PATH=VALUE, or give it a range)"
        ));
        return Err(Exit::Usage);
    }
    let points = design.points(design_key(plain.first_seed()));
    let mut overrides = Vec::new();
    for (axis, ((value, whole), range)) in varied.iter().zip(ranges).enumerate() {
        let values: Vec<f64> = points.iter().map(|point| placed(range, *whole, point[axis])).collect();
        let mut value = value.clone();
        "point".clone_into(&mut value.name);
        overrides.extend(value.overrides(&written(&values, *whole), Some(&labels)));
    }
    let plan = loaded.plan(&overrides).map_err(wrong)?;
    let about = |((value, whole), range): (&(crate::scenario::VariedValue, bool), &RangeArgument)| {
        ExplainedAxis { name: value.name.clone(), values: written(&[range.from, range.to], *whole) }
    };
    let axes = varied.iter().zip(ranges).map(about).collect();
    Ok((plan, DesignedAxes { design, axes }))
}

/// The value at `share` of the way from the lower to the upper end of a range, where `share` is between 0 and 1. If `whole`,
/// the value is a whole number. On a scale that is not logarithmic, a uniformly distributed `share` makes all whole numbers
/// of the range, both ends included, equally probable.
fn placed(range: &RangeArgument, whole: bool, share: f64) -> f64 {
    let RangeArgument { from, to, log, .. } = *range;
    match (whole, log) {
        (true, true) => libm::round(from * libm::pow(to / from, share)),
        (true, false) => libm::floor(from + share * (to - from + 1.0)).min(to),
        (false, true) => from * libm::pow(to / from, share),
        (false, false) => from + share * (to - from),
    }
}

fn explained(
    plan: &Plan,
    folder: &RunFolder,
    arguments: &ExplainArguments,
    designed: Option<&DesignedAxes>,
) -> Result<Explained, Exit> {
    let records = folder.records().map_err(|error| unreadable(&error))?;
    let Some((_, stored)) = records else { return Err(super::load::not_a_run(folder)) };
    let run = folder.path().display().to_string();
    let group = arguments.group.as_deref();
    if let Some(group) = group {
        study::check_group(plan, &stored, &arguments.metric, group).map_err(|why| no_group(&why))?;
    }
    let metric = named(&arguments.metric, group);
    study::explain(plan, &stored, &run, &metric, designed, arguments.confidence).map_err(|why| {
        eprint_line(format_args!("error: {why}"));
        if matches!(why, ExplainError::Folder(_)) { Exit::Internal } else { Exit::Usage }
    })
}

fn tell(found: &Explained, folder: &RunFolder, arguments: &ExplainArguments) -> Result<(), Exit> {
    study::keep_explained(folder, found).map_err(|error| unreadable(&error))?;
    picture(&report::explain_chart(found), folder, "explain.svg", &arguments.playing)?;
    match arguments.scenario.format {
        Format::Text => print(&report::explain_text(found, width())),
        Format::Json => print(&report::json(found)),
    }
    Ok(())
}
