//! What trials prove: an event chosen on one half of them, counted on the other, and the bounds that counts give.

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

pub use evidence::{Counts, ERROR, Event, Scores, World, ceiling};
pub use experiment::{Coins, Experiment, Transcript};
pub use histogram::Histogram;
pub use interval::{lower_limit, upper_limit};
pub use membership::Membership;
pub use modelled::Modelled;
pub use one_run::OneRun;
pub use pair::{KnownPair, numerical_error};
pub use run::{Effort, Evidence, FEWEST, measure};
