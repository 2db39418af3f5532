//! `subrosa replay`: runs the stored replications again, makes the files of the run folder again, and compares the new
//! records and files with the stored ones.

use super::contents::contents;
use super::exit::Exit;
use super::load::{plan_of_run, thread_count};
use super::options::{Format, ReplayArguments};
use super::output::{eprint_line, print};
use super::progress::{StudyProgressBar, short};
use crate::report;
use crate::study::{self, Inconsistency, Manifest, Replay, ReplicationRecord, RunFolder, Signed};
use crate::vocab::{Time, counted, in_pool};
use serde::Serialize;

/// Runs the command.
pub(super) fn replay(arguments: &ReplayArguments) -> Exit {
    if let Some(other) = &arguments.diff {
        return super::diff::diff(arguments, other);
    }
    let folder = RunFolder::at(&arguments.run);
    // The signature is checked first, because it covers the files that the other checks read.
    let signed = match arguments.signed_by.as_ref().map(|keys| study::signed_by(&folder, keys)).transpose() {
        Ok(signed) => signed,
        Err(error) => return super::sign::failed(&error),
    };
    if let (Some(signed), Format::Text) = (&signed, arguments.format) {
        let files = counted(signed.files, "file");
        print(&format!("signed: {files}, by the key {} {}\n", signed.fingerprint, signed.comment));
    }
    let (plan, manifest) = match plan_of_run(&folder) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if plan.fork.is_some() && arguments.until.is_some() {
        eprint_line(
            "error: --until is not for a fork, whose branches are simulated to their end; leave it out",
        );
        return Exit::Usage;
    }
    for (index, (new, old)) in plan.cells.iter().zip(&manifest.cells).enumerate() {
        if new.identity != old.identity {
            eprint_line(format_args!(
                "error: cell {index} is not what was run: the program's version or a data file has changed \
                 since (the run was made by version {} on {})",
                manifest.subrosa, manifest.target
            ));
            return Exit::ReplayDiffers;
        }
    }
    if manifest.build != plan.this_build() {
        eprint_line(format_args!(
            "note: the run was made by build {} of subrosa, this is build {}: differences may come from the program",
            short(&manifest.build),
            short(&plan.this_build())
        ));
    }
    let (records, mut inconsistencies) = match contents(&plan, &folder, &manifest) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let there = records.iter().map(|cell| cell.len() as u64).sum::<u64>();
    if !manifest.complete && there > 0 && there == plan.total() {
        inconsistencies.push(Inconsistency::Unfinished(there));
    }
    let records: Vec<Vec<ReplicationRecord>> = records
        .into_iter()
        .map(|cell| {
            let wanted = |record: &ReplicationRecord| {
                arguments.replication.is_none_or(|wanted| wanted == record.replication)
            };
            cell.into_values().filter(wanted).collect()
        })
        .collect();
    let unchecked = folder.unchecked();
    if !unchecked.is_empty() {
        let names: Vec<String> = unchecked.iter().map(|name| name.escape_debug().to_string()).collect();
        let names = names.join(", ");
        eprint_line(format_args!("note: in the folder, but not checked: {names}"));
    }
    let until = arguments.until.map(|until| Time::ZERO + until);
    let total = records.iter().map(Vec::len).sum::<usize>();
    if total == 0 && inconsistencies.is_empty() && !arguments.files {
        match arguments.replication {
            Some(wanted) => eprint_line(format_args!("error: the run has no replication {wanted}")),
            None => eprint_line("error: the run has no finished replication; finish it with `subrosa run`"),
        }
        return Exit::Usage;
    }
    if arguments.files && !manifest.complete && inconsistencies.is_empty() {
        eprint_line(
            "error: the run is not finished, so its files are not final; finish it with `subrosa run`",
        );
        return Exit::Usage;
    }
    if arguments.files {
        return print_inconsistencies(arguments.format, &inconsistencies, there, signed);
    }
    let bar = StudyProgressBar::new(format!("replay {}", plan.name));
    bar.length(total as u64);
    let replay = in_pool(thread_count(arguments.threads), || {
        study::replay(&plan, &folder, &records, until, &|| bar.step())
    });
    bar.finish();
    inconsistencies.extend(replay.files.iter().map(|file| Inconsistency::File((*file).to_owned())));
    let unfinished = (there < plan.total()).then(|| plan.total());
    print_results(arguments, &manifest, &replay, &inconsistencies, (unfinished, signed));
    if !replay.differences.is_empty() || !inconsistencies.is_empty() {
        Exit::ReplayDiffers
    } else if !replay.failures.is_empty() {
        Exit::CellsFailed
    } else {
        Exit::Ok
    }
}

/// Prints the result of `--files`: the inconsistencies found without running anything.
fn print_inconsistencies(
    format: Format,
    inconsistencies: &[Inconsistency],
    there: u64,
    signed: Option<Signed>,
) -> Exit {
    let agree = inconsistencies.is_empty();
    match format {
        Format::Text if agree => {
            let records = counted(there, "record");
            print(&format!(
                "files agree: every file was made again from {records} and is equal; no replication was run (the events of \
                 the message diagram are compared by a replay without --files)\n"
            ));
        }
        Format::Text => {}
        Format::Json => {
            let problems: Vec<String> = inconsistencies.iter().map(ToString::to_string).collect();
            print(&report::json(&FilesJson { agrees: agree, compared: 0, problems, signed }));
        }
    }
    inconsistencies.iter().for_each(|misfit| eprint_line(format_args!("error: {misfit}")));
    if agree { Exit::Ok } else { Exit::ReplayDiffers }
}

/// The JSON document of `--files`.
#[derive(Serialize)]
struct FilesJson {
    agrees: bool,
    compared: u64,
    problems: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<Signed>,
}

/// The JSON document of a replay that runs replications again.
#[derive(Serialize)]
struct ReplayJson {
    agrees: bool,
    compared: u64,
    differences: Vec<String>,
    failures: Vec<String>,
    problems: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<Signed>,
}

/// Prints the results. `unfinished` is the planned number of replications if the run has fewer; `signed` is the signature
/// that was checked, if `--signed-by` requested a check.
fn print_results(
    arguments: &ReplayArguments,
    manifest: &Manifest,
    replay: &Replay,
    inconsistencies: &[Inconsistency],
    (unfinished, signed): (Option<u64>, Option<Signed>),
) {
    match arguments.format {
        Format::Text if replay.differences.is_empty() && replay.failures.is_empty() => {
            let mut compared = counted(replay.compared, "replication");
            if let Some(total) = unfinished.filter(|_| arguments.replication.is_none()) {
                compared = format!("{} of {}", replay.compared, counted(total, "replication"));
            }
            let until = arguments.until.map_or_else(String::new, |until| format!(" up to {until}"));
            let equal = if arguments.until.is_some() { "checkpoint" } else { "record" };
            let files = if manifest.complete {
                "every file agrees with the records"
            } else {
                "files not compared: the run is not finished"
            };
            if inconsistencies.is_empty() {
                print(&format!("replay agrees{until}: {compared}, every {equal} equal; {files}\n"));
            } else if replay.compared > 0 {
                // Does not say "replay agrees", since scripts may search for these words as a sign of success.
                print(&format!("repeated{until}: {compared}, every {equal} equal; the run is damaged\n"));
            }
        }
        Format::Text => {
            for difference in &replay.differences {
                print(&format!("differs: {difference}\n"));
            }
        }
        Format::Json => {
            let differences: Vec<String> = replay.differences.iter().map(ToString::to_string).collect();
            let failures: Vec<String> = replay.failures.iter().map(ToString::to_string).collect();
            let problems: Vec<String> = inconsistencies.iter().map(ToString::to_string).collect();
            print(&report::json(&ReplayJson {
                agrees: differences.is_empty() && failures.is_empty() && problems.is_empty(),
                compared: replay.compared,
                differences,
                failures,
                problems,
                signed,
            }));
        }
    }
    for failure in &replay.failures {
        eprint_line(format_args!("failed: {failure}"));
    }
    for misfit in inconsistencies {
        eprint_line(format_args!("error: {misfit}"));
    }
}
