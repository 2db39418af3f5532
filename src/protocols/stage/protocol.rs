//! The interface of a protocol: the names of its series, problems of its recipe, and a run of one replication.

use super::failure::ReplicationError;
use super::record::SeriesRecord;
use super::run::ReplicationSetup;
use crate::objectives::{Extent, Objective};
use crate::programs::Program;
use crate::rng::Key;
use crate::vocab::{Effort, Problem, ProtectedUnit};

/// The behaviour of a protocol recipe.
pub trait Protocol: Send + Sync {
    /// What is wrong with the recipe, given the parties of `stage`. The paths in the problems are relative to the recipe.
    fn problems(&self, stage: &ReplicationSetup) -> Vec<Problem>;

    /// What is wrong with the recipe, given the objective. The paths in the problems are relative to the recipe.
    fn problems_with(&self, objective: &dyn Objective) -> Vec<Problem> {
        let _ = objective;
        Vec::new()
    }

    /// What is wrong with the recipe, given the parties of `stage` and an objective of the size `problem`. A path in the
    /// result is relative to the scenario if it begins with a slash, else to the recipe.
    fn problems_of_size(&self, stage: &ReplicationSetup, problem: &Extent) -> Vec<Problem> {
        let _ = (stage, problem);
        Vec::new()
    }

    /// Whether the scenario needs an objective.
    fn needs_objective(&self) -> bool {
        false
    }

    /// Whether queries may be the points of a box ([`Objective::domain`]). Default: a finite set of arms is needed.
    fn searches_boxes(&self) -> bool {
        false
    }

    /// Why the protocol cannot search a box. Only messages about protocols that need a finite set of arms use this text.
    fn needs_arms_because(&self) -> &'static str {
        "its queries are arms"
    }

    /// The user's programs that the protocol's parties run through
    /// [`RunOptions::programs`](super::RunOptions::programs), except the programs of learners and of other recipes that are
    /// fields of this recipe.
    fn programs(&self) -> Vec<Program> {
        Vec::new()
    }

    /// The kinds of unit that the protocol's releases protect; a budget may name one of these kinds.
    fn units(&self) -> Vec<ProtectedUnit> {
        Vec::new()
    }

    /// Whether the protocol's parties can start again after a crash that lost their memory
    /// ([`crate::kernel::Memory::Lost`]).
    fn survives_memory_loss(&self) -> bool {
        false
    }

    /// The parts of the recipe that a fork may change, as patterns of paths relative to the recipe. In a pattern, `*`
    /// stands for one step of the path (any field, or any position in a list), and a `**` at the end for all further
    /// steps, or none. The parties adopt the new values ([`crate::kernel::Party::adopt`]).
    fn changeable(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether relays learn something about protected data even from encrypted messages.
    fn relays_learn_protected_data(&self) -> bool {
        false
    }

    /// Parties that learn protected data only because of the settings of a series: the series' name, the party's name and
    /// the path of the setting. A fork is refused if this method returns, for the recipe of a branch, a pair of series and
    /// party that it does not return for the scenario: the ledger has no entries for this party from before the fork.
    /// Default: none.
    fn learn_by_settings(&self) -> Vec<(String, String, String)> {
        Vec::new()
    }

    /// The positions of the parties that each have an objective of their own, so that the objectives differ.
    /// Default: none.
    fn with_own_objective(&self, stage: &ReplicationSetup, objective: &dyn Objective) -> Vec<usize> {
        let _ = (stage, objective);
        Vec::new()
    }

    /// The positions of the parties whose outcomes have noise of their own, so that the noise differs
    /// between parties. Default: none.
    fn with_own_noise(&self, stage: &ReplicationSetup) -> Vec<usize> {
        let _ = stage;
        Vec::new()
    }

    /// Whether a dry run ([`dry`](super::RunOptions::dry)) needs the real objective, because the size or the number of
    /// messages depends on the objective's points. If not, a placeholder is used: one arm or, for an objective over a
    /// box, a function on this box that is 0 everywhere.
    fn dry_needs_objective(&self) -> bool {
        true
    }

    /// Warnings that are shown before a run, for a scenario in which checks found no errors; each warning is a sentence.
    /// Default: nothing.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The memory and time of one replication with an objective of the size `problem`, estimated from counts. This method
    /// is called only for a recipe that has passed the checks. The path in [`Effort::most`] is relative to the scenario
    /// if it begins with a slash, else to the recipe. The parties themselves and the objective are not counted here.
    /// Default: nothing.
    fn effort(&self, stage: &ReplicationSetup, problem: &Extent) -> Effort {
        let _ = (stage, problem);
        Effort::default()
    }

    /// The names of the series that one replication gives, in order.
    fn series(&self) -> Vec<String>;

    /// The names of the series whose points are chosen at random, independently of all outcomes: baselines.
    fn at_random(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Runs one replication: every series, with common random numbers from the descendants of `key` in the seed tree.
    ///
    /// # Errors
    /// [`ReplicationError`] names the series and what went wrong; the replication then has no result.
    fn play(&self, stage: &ReplicationSetup, key: Key) -> Result<Vec<SeriesRecord>, ReplicationError>;
}
