//! `subrosa replay`: play a run again from its folder and compare digests.

use super::exit::Exit;
use super::load::plan_of_run;
use super::options::{Format, ReplayArguments};
use super::progress::Bar;
use super::run::print;
use crate::study::{self, ReplicationRecord, RunFolder};
use crate::vocab::{Time, counted};
use std::collections::BTreeMap;

/// Replays.
pub(super) fn replay(arguments: &ReplayArguments) -> Exit {
    if let Some(other) = &arguments.diff {
        return super::diff::diff(arguments, other);
    }
    let folder = RunFolder::at(&arguments.run);
    let (plan, manifest) = match plan_of_run(&folder) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    for (index, (new, old)) in plan.cells.iter().zip(&manifest.cells).enumerate() {
        if new.identity != old.identity {
            eprintln!(
                "error: cell {index} is not what was run: the program's version or a data file has changed \
                 since (the run was played by version {} on {})",
                manifest.subrosa, manifest.target
            );
            return Exit::ReplayDiffers;
        }
    }
    let archive = match folder.records() {
        Ok(found) => found.map(|(_, archive)| archive),
        Err(error) => {
            eprintln!("error: {error}");
            return Exit::Internal;
        }
    };
    let mut records: Vec<Vec<ReplicationRecord>> = Vec::new();
    for index in 0..plan.cells.len() {
        match archive.as_ref().map_or(Ok(BTreeMap::new()), |archive| archive.cell(index)) {
            Ok(found) => records.push(
                found
                    .into_values()
                    .filter(|record| record.replication < plan.replications)
                    .filter(|record| arguments.replication.is_none_or(|wanted| wanted == record.replication))
                    .collect(),
            ),
            Err(error) => {
                eprintln!("error: {error}");
                return Exit::Internal;
            }
        }
    }
    let until = arguments.until.map(|until| Time::ZERO + until);
    let total = records.iter().map(Vec::len).sum::<usize>();
    if total == 0 {
        match arguments.replication {
            Some(wanted) => eprintln!("error: the run has no replication {wanted}"),
            None => eprintln!("error: the run has no finished replication; finish it with `subrosa run`"),
        }
        return Exit::Usage;
    }
    let bar = Bar::new(format!("replay {}", plan.name));
    bar.length(total as u64);
    let threads = arguments.threads.map_or(0, |threads| threads as usize);
    let go = || study::replay(&plan, &folder, &records, until, &|| bar.step());
    let replay = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(go),
        Err(_) => go(),
    };
    bar.finish();
    match arguments.format {
        Format::Text if replay.differences.is_empty() && replay.failures.is_empty() => {
            let compared = counted(replay.compared, "replication");
            print(&match arguments.until {
                None => format!("replay agrees: {compared}, every digest equal\n"),
                Some(until) => {
                    format!("replay agrees up to {until}: {compared}, every waypoint equal\n")
                }
            });
        }
        Format::Text => {
            for difference in &replay.differences {
                print(&format!("differs: {difference}\n"));
            }
        }
        Format::Json => {
            let differences: Vec<String> = replay.differences.iter().map(ToString::to_string).collect();
            let failures: Vec<String> = replay.failures.iter().map(ToString::to_string).collect();
            let document = serde_json::json!({
                "agrees": differences.is_empty() && failures.is_empty(),
                "compared": replay.compared, "differences": differences, "failures": failures,
            });
            print(&format!("{document}\n"));
        }
    }
    for failure in &replay.failures {
        eprintln!("failed: {failure}");
    }
    if !replay.differences.is_empty() {
        Exit::ReplayDiffers
    } else if !replay.failures.is_empty() {
        Exit::CellsFailed
    } else {
        Exit::Ok
    }
}
