//! Divides the missing replications of a study into blocks for workers.

use super::claims::ClaimTable;
use super::error::SweepError;
use crate::study::disk::error::FolderError;
use crate::study::disk::files;
use crate::study::disk::files::indented_json;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::prepare::prepare_folder;
use crate::study::disk::segment::Segment;
use crate::study::disk::store::no_conflict;
use crate::study::plan::cells::Plan;
use crate::study::plan::identity::Identity;
use crate::study::play::jobs::Jobs;
use crate::study::play::reuse;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What to do about a damaged plan.
const ANEW: &str = "end all workers, then plan the study again with `subrosa cluster plan SCENARIO --force`, which keeps finished blocks";

/// Number of blocks of a study by default: enough for hundreds of workers, without too many files.
const BLOCKS: u64 = 1024;

/// The contents of `work/plan.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Division {
    /// Hash of the number of replications and of the identities of all cells.
    study: String,
    /// Number of replications in a block; the last block may have fewer.
    block: u64,
    /// The replications to be run, as ranges of jobs: the first and the last number of each range. The number of a job is
    /// `cell * replications + replication`.
    jobs: Vec<(u64, u64)>,
    /// Number of replications of a cell.
    replications: u64,
}

/// Why the numbers of a stored division are impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum DivisionError {
    /// A field that must be at least 1 is 0.
    #[error("`{0}` is 0, expected at least 1")]
    Zero(&'static str),
    /// A range of jobs ends before it begins, begins at or before the last number of the previous range, or ends with the
    /// number `u64::MAX`.
    #[error(
        "`jobs` has the range [{0}, {1}], expected ranges in ascending order, the first number no larger than the last"
    )]
    Range(u64, u64),
}

impl Division {
    fn new(plan: &Plan, jobs: &Jobs, blocks: Option<u64>) -> Self {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for run in jobs.runs() {
            let first = run.cell as u64 * plan.replications + run.first;
            let end = first + run.count - 1;
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == first => *last = end,
                _ => runs.push((first, end)),
            }
        }
        let block = jobs.len().div_ceil(blocks.unwrap_or(BLOCKS)).max(1);
        Self { study: study(plan), block, jobs: runs, replications: plan.replications }
    }

    /// Reads the division that is stored in a folder; `None` if there is none.
    pub(super) fn read(folder: &RunFolder) -> Result<Option<Self>, FolderError> {
        let path = place(folder);
        let Some(text) = files::read_if_there(&path)? else { return Ok(None) };
        let damaged =
            |reason: String| FolderError::Damaged { path: path.clone(), reason: format!("{reason}; {ANEW}") };
        let division: Self = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        division.checked().map_err(|found| damaged(found.to_string()))?;
        Ok(Some(division))
    }

    /// Checks that blocks and jobs can be computed from the numbers.
    fn checked(&self) -> Result<(), DivisionError> {
        let zero = |field: &'static str, value: u64| {
            if value == 0 { Err(DivisionError::Zero(field)) } else { Ok(()) }
        };
        zero("block", self.block)?;
        zero("replications", self.replications)?;
        let mut next = 0;
        for &(first, last) in &self.jobs {
            if first < next || last < first || last == u64::MAX {
                return Err(DivisionError::Range(first, last));
            }
            next = last + 1;
        }
        Ok(())
    }

    /// The division that is stored in a folder. It must be a division of the study of `plan`.
    pub(super) fn of(plan: &Plan, folder: &RunFolder) -> Result<Self, SweepError> {
        match Self::read(folder)? {
            Some(division) if division.study == study(plan) => {
                let last = division.jobs.last().map_or(0, |(_, last)| *last);
                if division.replications == plan.replications && last < plan.total() {
                    return Ok(division);
                }
                let reason = format!(
                    "it has jobs up to {last} and {} replications of a cell; expected jobs below {} and {} replications; \
                     {ANEW}",
                    division.replications,
                    plan.total(),
                    plan.replications
                );
                Err(FolderError::Damaged { path: place(folder), reason }.into())
            }
            Some(_) => Err(SweepError::Folder(FolderError::Damaged {
                path: place(folder),
                reason: "it is the plan of another study, or of another version of the program or of a data file; \
                         plan the study again with `subrosa cluster plan`"
                    .to_owned(),
            })),
            None => Err(SweepError::NotPlanned(folder.path().to_owned())),
        }
    }

    /// All replications to be run.
    pub(super) fn jobs(&self) -> Jobs {
        let mut jobs = Jobs::default();
        for &(first, last) in &self.jobs {
            let mut job = first;
            while job <= last {
                let replication = job % self.replications;
                let count = (self.replications - replication).min(last - job + 1);
                jobs.add((job / self.replications) as usize, replication, count);
                job += count;
            }
        }
        jobs
    }

    pub(super) fn total(&self) -> u64 {
        self.jobs.iter().map(|(first, last)| last - first + 1).sum()
    }

    pub(super) fn blocks(&self) -> u64 {
        self.total().div_ceil(self.block.max(1))
    }

    /// The replications of a block, in order.
    pub(super) fn block(&self, block: u64) -> Vec<(usize, u64)> {
        let of = |job: u64| ((job / self.replications) as usize, job % self.replications);
        let mut skip = block * self.block;
        let mut jobs = Vec::new();
        for &(first, last) in &self.jobs {
            let length = last - first + 1;
            if skip >= length {
                skip -= length;
                continue;
            }
            let left = self.block - jobs.len() as u64;
            jobs.extend((first + skip..=last).take(left as usize).map(of));
            skip = 0;
            if jobs.len() as u64 == self.block {
                break;
            }
        }
        jobs
    }
}

fn place(folder: &RunFolder) -> PathBuf {
    folder.file("work").join("plan.json")
}

fn study(plan: &Plan) -> String {
    let mut identity = Identity::new("study");
    identity.word(plan.replications);
    for cell in &plan.cells {
        identity.text(&cell.identity);
    }
    identity.hex()
}

/// A study that has been divided into blocks for workers.
#[derive(Clone, Copy, Debug)]
pub struct PlannedSweep {
    /// Number of blocks of the plan; if an existing plan was kept, finished blocks are included.
    pub blocks: u64,
    /// Number of replications to be run.
    pub to_play: u64,
    /// Number of replications that are stored already.
    pub there: u64,
    /// Number of stored replications that have just been copied from earlier runs of other versions of the study.
    pub reused: u64,
    /// Number of earlier runs with the name of this study from which nothing was reused, because another build of the
    /// program made them.
    pub other_builds: u64,
    /// Whether a plan existed already and was kept.
    pub unchanged: bool,
}

/// Prepares the folder of a study for workers. An existing plan of the same study is replaced only if `force` is set, or if
/// all of its blocks are finished but replications are missing, because they failed or their records are damaged. A plan of
/// another study is replaced even without `force`. The new plan consists of the replications that are still missing.
/// Finished results are kept.
///
/// # Errors
/// [`SweepError::Busy`] if workers may be using a plan that has to be replaced, unless `force` is set; another
/// [`SweepError`] if a file cannot be read or written, or if a replication has two different results.
pub fn plan_sweep(
    plan: &Plan,
    folder: &RunFolder,
    blocks: Option<u64>,
    force: bool,
) -> Result<PlannedSweep, SweepError> {
    prepare_folder(plan, folder)?;
    let stored = folder.stored_records(&plan.identities())?;
    no_conflict(&stored)?;
    let old = match Division::read(folder) {
        // A damaged plan cannot be read, but the results of its finished blocks can be kept.
        Err(FolderError::Damaged { .. }) if force => {
            archive_results(folder)?;
            None
        }
        found => found?,
    };
    if let Some(old) = old {
        let claims = ClaimTable::new(folder, old.blocks(), 0);
        let there = stored.finished(plan.replications);
        // If a replication is missing although its block is finished, it has failed, or its record is damaged.
        let at_an_end = claims.finished()?.len() as u64 >= old.blocks() && there < plan.total();
        if old.study == study(plan) && !force && !at_an_end {
            let (blocks, to_play) = (old.blocks(), plan.total() - there);
            return Ok(PlannedSweep { blocks, to_play, there, reused: 0, other_builds: 0, unchanged: true });
        }
        if !force {
            let claimed = claims.claimed()?;
            if claimed > 0 {
                return Err(SweepError::Busy { claimed });
            }
        }
        archive_results(folder)?;
    }
    let segment = Segment::within(folder.file("segments"));
    let stored = folder.stored_records(&plan.identities())?;
    let (reused, other_builds) = reuse::copy(plan, folder, &stored, &segment)?;
    segment.close()?;
    let stored = folder.stored_records(&plan.identities())?;
    let jobs = Jobs::missing(plan, &stored);
    let division = Division::new(plan, &jobs, blocks);
    for name in ["claims", "results"] {
        files::make_folder(&folder.file("work").join(name))?;
    }
    files::write(&place(folder), indented_json(&division).as_bytes())?;
    Ok(PlannedSweep {
        blocks: division.blocks(),
        to_play: jobs.len(),
        there: plan.total() - jobs.len(),
        reused,
        other_builds,
        unchanged: false,
    })
}

/// Stores the results of an old plan as segments, and removes the plan and its claims.
fn archive_results(folder: &RunFolder) -> Result<(), FolderError> {
    let results = folder.file("work").join("results");
    let segments = folder.file("segments");
    files::make_folder(&segments)?;
    let mut number = 0;
    for path in folder.record_files().into_iter().filter(|path| path.starts_with(&results)) {
        let to = loop {
            let to = segments.join(format!("block-{number}.jsonl"));
            number += 1;
            if !to.exists() {
                break to;
            }
        };
        std::fs::rename(&path, &to).map_err(|error| files::FileError { doing: "move", path, error })?;
    }
    let path = folder.file("work");
    std::fs::remove_dir_all(&path).map_err(|error| files::FileError { doing: "remove", path, error }.into())
}

#[cfg(test)]
mod tests {
    use super::{Division, DivisionError};

    #[test]
    fn impossible_numbers_are_named() {
        let read = |block, jobs: &[(u64, u64)], replications| {
            Division { study: String::new(), block, jobs: jobs.to_vec(), replications }.checked()
        };
        assert_eq!(read(4, &[(0, 2), (3, 3)], 3), Ok(()));
        assert_eq!(read(0, &[], 3), Err(DivisionError::Zero("block")));
        assert_eq!(read(4, &[(0, 2)], 0), Err(DivisionError::Zero("replications")));
        assert_eq!(read(4, &[(2, 0)], 3), Err(DivisionError::Range(2, 0)));
        assert_eq!(read(4, &[(0, 2), (2, 5)], 3), Err(DivisionError::Range(2, 5)));
        assert_eq!(read(4, &[(0, u64::MAX)], 3), Err(DivisionError::Range(0, u64::MAX)));
    }

    #[test]
    fn blocks_hold_every_job_once() {
        let division = Division {
            study: String::new(),
            block: 4,
            jobs: vec![(0, 2), (5, 5), (7, 16), (20, 20)],
            replications: 3,
        };
        assert_eq!((division.total(), division.blocks()), (15, 4));
        let all: Vec<(usize, u64)> = (0..4).flat_map(|block| division.block(block)).collect();
        let jobs = [0u64, 1, 2, 5].into_iter().chain(7..=16).chain([20]);
        assert_eq!(all, jobs.map(|job| ((job / 3) as usize, job % 3)).collect::<Vec<_>>());
        assert_eq!(division.block(3).len(), 3);
        assert!(division.block(4).is_empty());
        let jobs = division.jobs();
        assert_eq!((0..jobs.len()).filter_map(|index| jobs.get(index)).collect::<Vec<_>>(), all);
    }
}
