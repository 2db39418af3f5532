//! `subrosa report`: makes the report of a run again, and on request writes a chart to files.

use super::exit::Exit;
use super::figure;
use super::load::not_a_run;
use super::options::{Format, PaperTable, ReportArguments};
use super::output::{eprint_line, print};
use super::run::terminal;
use crate::report::plots::Chart;
use crate::report::{self, Page};
use crate::study::files::{self, FileError};
use crate::study::{self, FolderError, RunFolder};

/// Runs the command.
pub(super) fn report(arguments: &ReportArguments) -> Exit {
    let folder = RunFolder::at(&arguments.run);
    let mut page = match Page::showing(&folder, arguments.cell, arguments.replication) {
        Ok(Some(page)) => page,
        Ok(None) => return nothing_to_report(&folder),
        Err(error) => return failed(&error),
    };
    if let Err(exit) = shows(&page, arguments) {
        return exit;
    }
    let chart = match chosen(&page, arguments) {
        Ok(chart) => chart,
        Err(exit) => return exit,
    };
    let file = page_file(arguments);
    match files::write(&folder.file(&file), report::page(&page).as_bytes()) {
        Ok(()) if file != report::PAGE => {
            eprint_line(format_args!("wrote {}", folder.file(&file).display()));
        }
        Ok(()) => {}
        // A user without write access to the run folder can still read the report.
        Err(FileError { path, error, .. }) => {
            eprint_line(format_args!(
                "warning: cannot write {}: {error}; the page is not written",
                path.display()
            ));
        }
    }
    if let Some(Err(exit)) = chart.map(|chart| figure::write(&chart, arguments)) {
        return exit;
    }
    // The folder may have been moved since the run.
    page.summary.run = folder.path().display().to_string();
    match arguments.format {
        _ if arguments.table == Some(PaperTable::Latex) => print(&report::latex(&page.summary)),
        _ if arguments.table == Some(PaperTable::Markdown) => print(&report::markdown(&page.summary)),
        Format::Text if figure::is_requested(arguments) => {}
        Format::Text => print(&report::text(&page.summary, terminal(arguments.shown.detail()))),
        Format::Json => print(&report::json(&page.summary)),
    }
    match study::summary_inconsistencies(&folder, &page.summary) {
        // Inconsistencies are printed last, so that they are visible below a long report.
        Ok(misfits) => misfits.iter().for_each(|misfit| eprint_line(format_args!("warning: {misfit}"))),
        Err(error) => eprint_line(format_args!("warning: the run's records cannot be read: {error}")),
    }
    Exit::Ok
}

/// The file of the page in the run folder. `report.html` always shows the same replication of cell 0, so that `replay` can
/// compare it; the page of another cell, or of a requested replication, is a file beside it.
fn page_file(arguments: &ReportArguments) -> String {
    match (arguments.cell, arguments.replication) {
        (0, None) => report::PAGE.to_owned(),
        (cell, None) => format!("report-cell{cell}.html"),
        (cell, Some(replication)) => format!("report-cell{cell}-replication{replication}.html"),
    }
}

/// Checks that the run has the requested cell and replication.
fn shows(page: &Page, arguments: &ReportArguments) -> Result<(), Exit> {
    let cells = page.summary.cells.len();
    if arguments.cell >= cells {
        let most = cells.saturating_sub(1);
        eprint_line(format_args!("error: the run has no cell {}: its cells are 0 to {most}", arguments.cell));
        return Err(Exit::Usage);
    }
    if let (Some(replication), None) = (arguments.replication, &page.first) {
        let most = page.manifest.replications.saturating_sub(1);
        eprint_line(format_args!(
            "error: cell {} has no finished replication {replication}: the run has replications 0 to {most}",
            arguments.cell
        ));
        return Err(Exit::Usage);
    }
    Ok(())
}

/// The chart to be written to files; `None` if no file is requested.
fn chosen(page: &Page, arguments: &ReportArguments) -> Result<Option<Chart>, Exit> {
    if !figure::is_requested(arguments) {
        return Ok(None);
    }
    let mut charts = report::charts(page);
    if charts.is_empty() {
        eprint_line("error: the run has no chart: its protocol optimises nothing and no virtual time passed");
        return Err(Exit::Usage);
    }
    let Some(wanted) = &arguments.figure else { return Ok(Some(charts.swap_remove(0))) };
    if let Some(place) = charts.iter().position(|chart| chart.id == *wanted) {
        return Ok(Some(charts.swap_remove(place)));
    }
    let known: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    eprint_line(format_args!("error: the run has no figure {wanted:?}: it has {}", known.join(", ")));
    Err(Exit::Usage)
}

fn nothing_to_report(folder: &RunFolder) -> Exit {
    match folder.manifest() {
        Ok(None) => not_a_run(folder),
        Ok(Some(_)) => {
            eprint_line(format_args!(
                "error: {} has no summary.json: the run was interrupted (give the same `subrosa run` command again to finish it)",
                folder.path().display()
            ));
            Exit::Usage
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &FolderError) -> Exit {
    eprint_line(format_args!("error: {error}"));
    Exit::Internal
}
