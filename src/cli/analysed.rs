//! Steps that `threshold` and `explain` share: checks of the plan and of the metric, messages on replications that did not
//! finish, and the picture. The commands `run` and `compare` use the functions about the metric too.

use super::ending::tell_failures;
use super::exit::Exit;
use super::load::thread_count;
use super::options::Playing;
use super::output::eprint_line;
use crate::report::plots::{Chart, standalone};
use crate::study::{self, Failure, GroupError, Options, Plan, RunFolder, files};
use crate::vocab::Interruption;

/// The distance of a point from the lower end of a range, as a share of the range's length: the smaller part of the golden
/// section. If both ends of the range are whole numbers, and the range is not astronomically long, the value at this point
/// is not whole.
const INSIDE: f64 = 0.381_966_011_25;

/// Whether a value takes whole numbers only: both ends of its range are whole, and `refuses` is true of a number
/// between them that is not whole.
pub(super) fn takes_whole_numbers(from: f64, to: f64, refuses: impl Fn(f64) -> bool) -> bool {
    from.fract() == 0.0 && to.fract() == 0.0 && refuses(from + INSIDE * (to - from))
}

/// The options with which replications are run.
pub(super) fn options<'a>(playing: &Playing, interrupted: &'a Interruption) -> Options<'a> {
    Options { threads: thread_count(playing.threads), fail_fast: playing.fail_fast, interrupted }
}

/// The name of the metric that is analysed: `metric` itself, or, if a group is given, the name of this metric of the group.
pub(super) fn named(metric: &str, group: Option<&str>) -> String {
    group.map_or_else(|| metric.to_owned(), |group| study::metric_of_group(metric, group))
}

/// Refuses a scenario with a fork, a metric that no series has, and a group for which no series has the metric.
pub(super) fn playable(plan: &Plan, metric: &str, group: Option<&str>, command: &str) -> Result<(), Exit> {
    if plan.cells[0].scenario.draft().fork.is_some() {
        eprint_line(format_args!(
            "error: {command} is not for a scenario with a fork: `subrosa compare RUN` compares its branches (to use {command}, leave \
             `fork` out of the scenario)"
        ));
        return Err(Exit::Usage);
    }
    known_metric(plan, metric, group)
}

/// Refuses a metric that no series has, and a group for which no series has the metric.
pub(super) fn known_metric(plan: &Plan, metric: &str, group: Option<&str>) -> Result<(), Exit> {
    if let Some(group) = group {
        return study::wrong_group(plan, metric, group).map_or(Ok(()), |why| Err(no_group(&why)));
    }
    if let Some(known) = study::unknown_metric(plan, metric) {
        eprint_line(unknown_metric(metric, &known));
        return Err(Exit::Usage);
    }
    Ok(())
}

/// The error for a metric that no series has.
pub(super) fn unknown_metric(metric: &str, known: &[String]) -> String {
    format!("error: no series has a metric called {metric:?}: --metric takes {}", known.join(", "))
}

/// Prints why a metric is not known for a group.
pub(super) fn no_group(why: &GroupError) -> Exit {
    eprint_line(format_args!("error: {why}"));
    if matches!(why, GroupError::Folder(_)) { Exit::Internal } else { Exit::Usage }
}

/// The name of the first swept parameter (`Each`) that has several values in a study and is not in `known`.
pub(super) fn varies_beside<'a>(plan: &'a Plan, known: &[&str]) -> Option<&'a str> {
    let axes = plan.cells[0].point.iter().enumerate();
    let varies = |place: usize, value: &String| plan.cells.iter().any(|cell| cell.point[place].1 != *value);
    let mut others = axes.filter(|(_, (name, _))| !known.contains(&name.as_str()));
    others.find(|(place, (_, value))| varies(*place, value)).map(|(_, (name, _))| name.as_str())
}

/// Prints how many replications failed before the command was interrupted, the first failure, and how many replications
/// finished.
pub(super) fn stopped(finished: u64, total: u64, failures: &[Failure]) -> Exit {
    tell_failures(failures);
    eprint_line(format_args!(
        "Interrupted after {finished} of {total} replications of this step; the same command continues from there."
    ));
    Exit::Interrupted
}

/// Prints how many replications failed, and the first failure.
pub(super) fn failed(failures: &[Failure]) -> Exit {
    tell_failures(failures);
    Exit::CellsFailed
}

/// Writes the picture into the run folder, and also to the file of `--svg` if the user gave this option.
pub(super) fn picture(chart: &Chart, folder: &RunFolder, name: &str, playing: &Playing) -> Result<(), Exit> {
    let svg = standalone(chart);
    let complain = |error: files::FileError| {
        eprint_line(format_args!("error: {error}"));
        Exit::Internal
    };
    files::write(&folder.file(name), svg.as_bytes()).map_err(complain)?;
    if let Some(file) = &playing.svg {
        files::put(file, svg.as_bytes()).map_err(complain)?;
        eprint_line(format_args!("wrote {}", file.display()));
    }
    Ok(())
}
