//! `subrosa compare`: paired differences between two runs, or between the branches of a fork.

use super::analysed::{named, no_group, unknown_metric};
use super::exit::Exit;
use super::load::plan_of_run;
use super::options::{CompareArguments, Format};
use super::output::{eprint_line, print, width};
use crate::report;
use crate::study::{self, CompareError, Compared, Plan, RunFolder, StoredRecords};

/// Runs the command.
pub(super) fn compare(arguments: &CompareArguments) -> Exit {
    let read = |path: &std::path::Path| -> Result<(Plan, StoredRecords), Exit> {
        let folder = RunFolder::at(path);
        let (plan, _) = plan_of_run(&folder)?;
        let complain = |error: study::FolderError| {
            eprint_line(format_args!("error: {error}"));
            Exit::Internal
        };
        match folder.records().map_err(complain)? {
            Some((_, stored)) => Ok((plan, stored)),
            None => Err(super::load::not_a_run(&folder)),
        }
    };
    let series_a = arguments.series_a.as_deref().or(arguments.series_b.as_deref());
    let series_b = arguments.series_b.as_deref().or(arguments.series_a.as_deref());
    let (plan_a, stored_a) = match read(&arguments.a) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let name_a = arguments.a.display().to_string();
    let group = arguments.group.as_deref();
    let a =
        Compared { name: &name_a, plan: &plan_a, stored: &stored_a, series: series_a, group, branch: None };
    let compared = match &arguments.b {
        Some(path) => {
            let (plan_b, stored_b) = match read(path) {
                Ok(found) => found,
                Err(exit) => return exit,
            };
            let name_b = path.display().to_string();
            let b = Compared {
                name: &name_b,
                plan: &plan_b,
                stored: &stored_b,
                series: series_b,
                group,
                branch: None,
            };
            study::compare(a, b).map(Some)
        }
        None => study::compare_branches(a, series_b),
    };
    let mut comparison = match compared {
        Ok(Some(comparison)) => comparison,
        Ok(None) => {
            eprint_line(format_args!(
                "error: {name_a} has no branches to compare: name a second run, or the same one again with --series-a and \
                 --series-b"
            ));
            return Exit::Usage;
        }
        Err(CompareError::Group(why)) => return no_group(&why),
        Err(error) => {
            eprint_line(format_args!("error: {error}"));
            return match error {
                CompareError::Folder(_) => Exit::Internal,
                _ => Exit::Usage,
            };
        }
    };
    if comparison.rows.is_empty() {
        eprint_line("error: the runs have nothing in common to compare");
        for note in &comparison.notes {
            eprint_line(format_args!("note: {note}"));
        }
        return Exit::Usage;
    }
    if let Some(effect) = arguments.power {
        let mut known: Vec<String> = comparison.rows.iter().map(|row| row.metric.clone()).collect();
        let metric = named(&arguments.metric, group);
        comparison.plan_for(&metric, effect.get(), arguments.power_level);
        if comparison.rows.is_empty() {
            known.sort();
            known.dedup();
            eprint_line(unknown_metric(&metric, &known));
            return Exit::Usage;
        }
        if comparison.rows.iter().all(|row| row.needed.is_none()) {
            eprint_line(
                "error: --power needs a pilot: at least two pairs of equal seed and replication whose differences are not all equal \
                 (run with more --replications, and compare runs with the same seed, or branches of one run)",
            );
            return Exit::Usage;
        }
    }
    match arguments.format {
        Format::Text => print(&report::comparison_text(&comparison, arguments.full, width())),
        Format::Json => print(&report::json(&comparison)),
    }
    Exit::Ok
}
