//! What every protocol can do: name its series, say what is wrong with its recipe, and play one replication.

use super::failure::PlayError;
use super::record::SeriesRecord;
use super::run::Stage;
use crate::objectives::Objective;
use crate::rng::Key;
use crate::vocab::{Problem, ProtectedUnit};

/// The behaviour of a protocol recipe.
pub trait Protocol: Send + Sync {
    /// What is wrong with the recipe for these parties; paths begin below the recipe.
    fn problems(&self, stage: &Stage) -> Vec<Problem>;

    /// What is wrong with the recipe for this objective; paths begin below the recipe.
    fn problems_with(&self, objective: &dyn Objective) -> Vec<Problem> {
        let _ = objective;
        Vec::new()
    }

    /// Whether the protocol optimises something.
    fn needs_objective(&self) -> bool {
        false
    }

    /// The units that its releases are about; a budget may limit one of them.
    fn units(&self) -> Vec<ProtectedUnit> {
        Vec::new()
    }

    /// Whether its parties can start again after a crash that lost their memory ([`crate::kernel::Memory::Lost`]).
    fn survives_amnesia(&self) -> bool {
        false
    }

    /// The parts of the recipe that a fork may change: paths below it, `[*]` for every place of a list and `*` for
    /// every field. Its parties take over the new values ([`crate::kernel::Party::adopt`]).
    fn changeable(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether relays learn something protected that encryption does not hide.
    fn tells_on_the_way(&self) -> bool {
        false
    }

    /// Whether a dry run ([`dry`](super::Directions::dry)) needs the real objective, because the size or the number of
    /// messages depends on its points. If not, a placeholder problem with one arm is used.
    fn dry_needs_objective(&self) -> bool {
        true
    }

    /// The names of the series that one replication gives, in order.
    fn series(&self) -> Vec<String>;

    /// Plays one replication: every series, on common random numbers below `key`.
    ///
    /// # Errors
    /// [`PlayError`] names the series and what went wrong; nothing of the replication counts then.
    fn play(&self, stage: &Stage, key: Key) -> Result<Vec<SeriesRecord>, PlayError>;
}
