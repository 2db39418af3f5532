//! The branches of a fork: the common beginning of a replication is simulated once, its state is copied, and each
//! branch continues with its own changes.

use crate::programs::{Answers, Programs};
use crate::protocols::{Fork, ForkPoint, ForkStates, RunOptions};
use crate::scenario::fork::changed_series;
use crate::study::disk::error::FolderError;
use crate::study::disk::record::ReplicationRecord;
use crate::study::disk::store::StoredRecords;
use crate::study::plan::cells::Plan;
use crate::study::plan::fork_branches::ForkBranches;
use crate::study::play::cell_runner::{CellRunner, recorded_answers};
use crate::study::play::jobs::Jobs;
use crate::study::play::progress::Failure;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The branches of a forked study. In the study's plan, each cell of the scenario becomes consecutive cells, one for each
/// branch; the cell of the unchanged branch is the first of them.
#[derive(Debug)]
pub(in crate::study) struct Branches {
    point: Option<ForkPoint>,
    /// The point at which the branches begin, in words.
    at: String,
    /// Names of the branches.
    names: Vec<String>,
}

/// The cell of a replication, and the replication's record or the reason why it has none.
pub(in crate::study) type Played = (usize, Result<ReplicationRecord, Failure>);

impl Branches {
    pub(in crate::study) fn of(fork: &ForkBranches) -> Self {
        let names = fork.branches.iter().map(|branch| branch.name.clone()).collect();
        Self { point: ForkPoint::of_words(&fork.at), at: fork.at.clone(), names }
    }

    /// Number of branches.
    pub(in crate::study) fn len(&self) -> usize {
        self.names.len()
    }
}

/// The replications in which some branch has no record. The cell of each job is the cell of the unchanged branch.
pub(in crate::study) fn jobs(plan: &Plan, branches: &Branches, stored: &StoredRecords) -> Jobs {
    let mut jobs = Jobs::default();
    let missing = Jobs::missing(plan, stored);
    for first in (0..plan.cells.len()).step_by(branches.len()) {
        let cells = first..first + branches.len();
        let mine = missing.runs().iter().filter(|run| cells.contains(&run.cell));
        let replications: BTreeSet<u64> = mine.flat_map(|run| run.first..run.first + run.count).collect();
        replications.into_iter().for_each(|replication| jobs.add(first, replication, 1));
    }
    jobs
}

/// Runs those branches of one replication that have no record. The unchanged branch is run even if it has a record, because
/// the common beginning is a part of it. If the common beginning or the unchanged branch fails, the result is that failure
/// alone. `first` is the cell of the unchanged branch. Programs are not asked again for answers that are stored.
///
/// # Errors
/// [`FolderError`] if a stored record cannot be read.
pub(in crate::study) fn play(
    plan: &Plan,
    branches: &Branches,
    runner: &CellRunner<'_>,
    (first, replication): (usize, u64),
    stored: &StoredRecords,
) -> Result<Vec<Played>, FolderError> {
    let mut named = Vec::new();
    for program in plan.cells[first..first + branches.len()].iter().flat_map(|cell| &cell.programs) {
        if !named.contains(program) {
            named.push(program.clone());
        }
    }
    // If the unchanged branch has a record, the common beginning is repeated with the answers of that record.
    let unchanged = stored.get(first, replication)?;
    let known = unchanged.as_ref().map(recorded_answers);
    let programs = if named.is_empty() {
        Programs::default()
    } else {
        runner.started(&named, known.or_else(|| runner.answers(replication)))
    };
    let mut played = each(
        plan,
        branches,
        runner,
        (first, replication),
        &Course {
            programs,
            answers: &|_| runner.answers(replication),
            wanted: &|cell| !stored.holds(cell, replication),
        },
    );
    if unchanged.is_some() && played.first().is_some_and(|(cell, result)| *cell == first && result.is_ok()) {
        drop(played.remove(0));
    }
    Ok(played)
}

/// Runs again those branches of one replication that have a record. Programs answer as in the record of each branch. `old`
/// has one entry for each branch, the unchanged branch first: the branch's record, or `None`. If the unchanged branch has
/// no record, the result is a single failure.
pub(in crate::study) fn replay(
    plan: &Plan,
    branches: &Branches,
    runner: &CellRunner<'_>,
    (first, replication): (usize, u64),
    old: &[Option<&ReplicationRecord>],
) -> Vec<Played> {
    let Some(Some(unchanged)) = old.first() else {
        let reason = "the unchanged branch has no record, so the common beginning cannot be repeated; repeat the `subrosa \
                      run` command of this study to make the record";
        return vec![(first, Err(runner.failure(Some(replication), reason.to_owned())))];
    };
    let record = |cell: usize| old.get(cell - first).copied().flatten();
    each(
        plan,
        branches,
        runner,
        (first, replication),
        &Course {
            programs: Programs::recorded(recorded_answers(unchanged)),
            answers: &|cell| record(cell).map(recorded_answers),
            wanted: &|cell| record(cell).is_some(),
        },
    )
}

/// How the branches of a replication are run.
struct Course<'a> {
    programs: Programs,
    /// Returns, for the cell of a branch, the store of the programs' answers in this branch.
    answers: &'a dyn Fn(usize) -> Option<Box<dyn Answers>>,
    /// Returns, for the cell of a branch, whether the branch is run.
    wanted: &'a dyn Fn(usize) -> bool,
}

/// Runs the common beginning and the unchanged branch, and then the other branches that are wanted.
fn each(
    plan: &Plan,
    branches: &Branches,
    runner: &CellRunner<'_>,
    (first, replication): (usize, u64),
    course: &Course<'_>,
) -> Vec<Played> {
    let Some(point) = branches.point else {
        let reason = format!("expected a fork after a round or at a time, found {:?}", branches.at);
        return vec![(first, Err(runner.failure(Some(replication), reason)))];
    };
    let states = ForkStates::default();
    let programs = &course.programs;
    let directed =
        |fork| RunOptions { fork: Some(fork), programs: programs.clone(), ..RunOptions::default() };
    let beginning = directed(Fork::Trunk(point, states.clone()));
    let unchanged = runner.play_guarded(replication, None, beginning);
    let failed = unchanged.is_err();
    let mut played = vec![(first, unchanged)];
    if failed {
        return played;
    }
    let dialogues = programs.dialogues();
    for (place, name) in branches.names.iter().enumerate().skip(1) {
        let cell = first + place;
        if !(course.wanted)(cell) {
            continue;
        }
        programs.begin_branch(name, &dialogues, (course.answers)(cell));
        let drafts = [first, cell].map(|cell| plan.cells[cell].scenario.draft());
        let changed = Arc::new(changed_series(drafts[0], drafts[1]));
        let branch = directed(Fork::Branch(states.clone(), changed));
        let result = runner.for_cell(cell, &plan.cells[cell]).play_guarded(replication, None, branch);
        let interrupted = result.as_ref().is_err_and(|failure| failure.interrupted);
        played.push((cell, result));
        if interrupted {
            break;
        }
    }
    played
}
