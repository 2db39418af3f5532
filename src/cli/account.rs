//! `subrosa account`: the privacy loss of a list of releases, from a file or from a run's ledger.

use super::exit::Exit;
use super::load::{not_a_run, plan_of_run, print_error};
use super::options::{AccountArguments, Format};
use super::output::{eprint_line, print, width};
use crate::accounting::Statement;
use crate::report::plots::standalone;
use crate::report::{
    self, AccountDocument, account_curve, account_document, account_group, account_over_rounds,
    account_table, account_text,
};
use crate::scenario::Document;
use crate::study::{RunFolder, files, ledger_groups};
use crate::vocab::{Delta, Neighbours, is_device_or_pipe};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Runs the command.
pub(super) fn account(arguments: &AccountArguments) -> Exit {
    if !arguments.file.exists() {
        eprint_line(format_args!(
            "error: {} is not there: name a file with Account(delta: .., events: [..]), or the folder of a run",
            arguments.file.display()
        ));
        return Exit::Usage;
    }
    if arguments.file.is_dir() { of_run(arguments) } else { of_file(arguments) }
}

fn of_file(arguments: &AccountArguments) -> Exit {
    let account = match Document::load(&arguments.file).and_then(|document| document.account()) {
        Ok(account) => account,
        Err(diagnostics) => return print_error(&diagnostics, arguments.format),
    };
    let delta = match delta(arguments) {
        Ok(given) => given.unwrap_or(account.delta),
        Err(exit) => return exit,
    };
    let statement = Statement::of_costs(account.events.iter().map(|event| event.cost()).collect(), delta);
    match arguments.format {
        Format::Text => {
            print(&account_text(&arguments.file.display().to_string(), &statement, width()));
        }
        Format::Json => print(&report::json(&account_document(&statement))),
    }
    plot(arguments, &statement)
}

fn of_run(arguments: &AccountArguments) -> Exit {
    let folder = RunFolder::at(&arguments.file);
    let given = match delta(arguments) {
        Ok(given) => given,
        Err(exit) => return exit,
    };
    // Without --delta, the delta of a cell is the one that the cell's scenario states, if it states one.
    let mut of_cells = Vec::new();
    if given.is_none() {
        match plan_of_run(&folder) {
            Ok((plan, _)) => {
                of_cells.extend(plan.cells.iter().map(|cell| cell.scenario.draft().privacy.delta));
            }
            Err(exit) => return exit,
        }
    }
    let groups = match ledger_groups(&folder, |cell| given.or(of_cells.get(cell).copied().flatten())) {
        Ok(Some(groups)) => groups,
        Ok(None) => return not_a_run(&folder),
        Err(error) => {
            eprint_line(format_args!("error: {error}"));
            return Exit::Internal;
        }
    };
    if groups.is_empty() {
        let name = folder.path().display();
        match folder.manifest() {
            Ok(Some(manifest)) if !manifest.complete => eprint_line(format_args!(
                "note: {name} has no releases so far: replications are missing, finish them with `subrosa run`"
            )),
            _ => eprint_line(format_args!(
                "note: {name} has no releases: nothing was released with a privacy loss"
            )),
        }
    }
    match arguments.format {
        Format::Text if !arguments.accountants && groups.len() > 1 => {
            print(&account_table(&groups, width()));
        }
        Format::Text => {
            for group in &groups {
                print(&format!("{}\n", account_group(group, width())));
            }
        }
        Format::Json => {
            let priced = groups.iter().map(|group| GroupEpsilon {
                account: account_document(&group.statement),
                group: &group.title,
                replication: group.replication,
                neighbours: &group.kind.neighbours,
            });
            let first = groups.first().map(|group| group.statement.delta);
            // Cells may have different deltas. So each group states its delta, and the document states a delta only if all
            // groups have the same one.
            let one = groups.iter().all(|group| Some(group.statement.delta) == first);
            let delta = first.filter(|_| one).or(given).map(|delta| delta.get());
            print(&report::json(&Groups { delta, groups: priced.collect() }));
        }
    }
    match groups.first() {
        Some(group) => {
            if let (Some(file), 2..) = (&arguments.svg, groups.len()) {
                eprint_line(format_args!(
                    "note: {} shows only the first of {} groups of releases: {}",
                    file.display(),
                    groups.len(),
                    group.title
                ));
            }
            plot(arguments, &group.statement)
        }
        None => Exit::Ok,
    }
}

/// The JSON document for a run: the privacy loss of each group of releases. `delta` is null if the groups have different
/// deltas, or if there are no groups and no `--delta`.
#[derive(Serialize)]
struct Groups<'a> {
    delta: Option<f64>,
    groups: Vec<GroupEpsilon<'a>>,
}

/// One group: all releases about one unit to one observer, in one replication of one series, and their privacy loss.
#[derive(Serialize)]
struct GroupEpsilon<'a> {
    #[serde(flatten)]
    account: AccountDocument,
    group: &'a str,
    replication: u64,
    neighbours: &'a Neighbours,
}

fn delta(arguments: &AccountArguments) -> Result<Option<Delta>, Exit> {
    arguments.delta.map(Delta::new).transpose().map_err(|error| {
        eprint_line(format_args!("error: --delta: {error}"));
        Exit::Usage
    })
}

/// Writes two charts if `--svg` names a file NAME.svg. The chart of epsilon against the number of releases goes to
/// NAME.svg. The chart of delta against epsilon goes to NAME-curve.svg, except if NAME.svg is a device or a pipe.
fn plot(arguments: &AccountArguments, statement: &Statement) -> Exit {
    let Some(file) = &arguments.svg else { return Exit::Ok };
    let mut pictures =
        vec![(file.clone(), account_over_rounds(statement)), (beside(file), account_curve(statement))];
    if is_device_or_pipe(file) {
        // If the file is a device such as /dev/stdout, no second file can be written beside it.
        pictures.pop();
    }
    for (path, chart) in pictures {
        if let Err(error) = files::put(&path, standalone(&chart).as_bytes()) {
            eprint_line(format_args!("error: {error}"));
            return Exit::Internal;
        }
        eprint_line(format_args!("wrote {}", path.display()));
    }
    Exit::Ok
}

fn beside(file: &Path) -> PathBuf {
    let stem = file.file_stem().map_or_else(|| "account".into(), |stem| stem.to_string_lossy());
    file.with_file_name(format!("{stem}-curve.svg"))
}
