//! `subrosa report`: makes the report of a run again, and its charts as files.

use super::exit::Exit;
use super::load::not_a_run;
use super::options::{Format, ReportArguments};
use super::output::{print, say};
use super::run::sparklines;
use crate::report::plots::{Chart, standalone};
use crate::report::{self, Page};
use crate::study::files::{self, FileError};
use crate::study::{self, FolderError, RunFolder};

/// Runs the verb.
pub(super) fn report(arguments: &ReportArguments) -> Exit {
    let folder = RunFolder::at(&arguments.run);
    let page = match Page::read(&folder) {
        Ok(Some(page)) => page,
        Ok(None) => return nothing_to_report(&folder),
        Err(error) => return failed(&error),
    };
    let charts = report::charts(&page);
    let chart = match chosen(&charts, arguments) {
        Ok(chart) => chart,
        Err(exit) => return exit,
    };
    if let Err(FileError { path, error, .. }) =
        files::write(&folder.file(report::PAGE), report::page(&page).as_bytes())
    {
        // A user who may only read a run can still read its report.
        say(format_args!("warning: cannot write {}: {error}; the page is not written again", path.display()));
    }
    if let Some((chart, file)) = chart.zip(arguments.svg.as_ref())
        && let Err(error) = files::put(file, standalone(chart).as_bytes())
    {
        return failed(&error.into());
    }
    if let Some((chart, file)) = chart.zip(arguments.png.as_ref()) {
        let image = match report::plots::png(&standalone(chart)) {
            Ok(image) => image,
            Err(reason) => {
                say(format_args!("error: cannot draw the PNG: {reason}"));
                return Exit::Internal;
            }
        };
        if let Err(error) = files::put(file, &image) {
            return failed(&error.into());
        }
    }
    match arguments.format {
        Format::Text => print(&report::text(&page.summary, sparklines())),
        Format::Json => print(&report::json(&page.summary)),
    }
    match study::summary_misfits(&folder, &page.summary) {
        // Printed last, so that it is visible below a long report.
        Ok(misfits) => misfits.iter().for_each(|misfit| say(format_args!("warning: {misfit}"))),
        Err(error) => say(format_args!("warning: the run's records cannot be read: {error}")),
    }
    Exit::Ok
}

/// The chart that is to be written to a file; `None` if none is requested.
fn chosen<'a>(charts: &'a [Chart], arguments: &ReportArguments) -> Result<Option<&'a Chart>, Exit> {
    if arguments.svg.is_none() && arguments.png.is_none() {
        return Ok(None);
    }
    let Some(first) = charts.first() else {
        say("error: the run has no chart: its protocol optimises nothing and no virtual time passed");
        return Err(Exit::Usage);
    };
    let Some(wanted) = &arguments.figure else { return Ok(Some(first)) };
    charts.iter().find(|chart| chart.id == *wanted).map(Some).ok_or_else(|| {
        let known: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
        say(format_args!("error: the run has no figure {wanted:?}: it has {}", known.join(", ")));
        Exit::Usage
    })
}

fn nothing_to_report(folder: &RunFolder) -> Exit {
    match folder.manifest() {
        Ok(None) => not_a_run(folder),
        Ok(Some(_)) => {
            say(format_args!(
                "error: {} has no summary.json: the run was interrupted (finish it with the same `subrosa run`)",
                folder.path().display()
            ));
            Exit::Usage
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &FolderError) -> Exit {
    say(format_args!("error: {error}"));
    Exit::Internal
}
