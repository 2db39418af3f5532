//! What trials prove: an event is chosen on one half of them and counted on the other, and bounds follow from the
//! counts.

mod evidence;
mod experiment;
mod histogram;
mod interval;
mod membership;
mod modelled;
mod one_run;
mod pair;
mod run;
mod trained;

pub(super) use experiment::rounded;

pub use evidence::{Counts, ERROR, Event, NeighbourSide, Scores, ceiling};
pub use experiment::{CanaryScores, Experiment, Transcript};
pub use histogram::Histogram;
pub use interval::{lower_limit, upper_limit};
pub use membership::Membership;
pub use modelled::Modelled;
pub use one_run::OneRun;
pub use pair::{ExactLoss, KnownPair};
pub use run::{Effort, Evidence, FEWEST, measure};
