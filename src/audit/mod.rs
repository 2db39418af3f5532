//! The auditor: attacks a claim of differential privacy by running the system on neighbouring inputs.
//!
//! ```text
//!  Experiment (D, D') --trials--> scores, transcripts --first half: choose test and threshold--> one event
//!                                                     --second half: count--> Clopper-Pearson --> epsilon at least ...
//! ```
//!
//! The bound holds with 95 % confidence whatever the system is. It is a lower bound: a system that passes is not
//! thereby private.

mod bound;
mod broken;
mod curve;
mod evidence;
mod histogram;
mod interval;
mod low_bits;
mod membership;
mod one_run;
mod pair;
mod projection;
mod releases;
mod rows;
mod run;
mod sampled;
mod suite;
pub mod systems;
mod trained;
mod verdict;

pub use bound::upper_bound;
pub use broken::{DataScaledNoise, HalfNoise};
pub use evidence::{Counts, ERROR, Event, Scores, World, ceiling};
pub use histogram::Histogram;
pub use interval::{lower_limit, upper_limit};
pub use low_bits::{reachable_gaussian, reachable_laplace};
pub use membership::Membership;
pub use one_run::{Coins, OneRun};
pub use pair::{KnownPair, numerical_error};
pub use projection::{ProjectionAudit, Reconstruction, reconstruct};
pub use releases::{RATIO, Releases, SUPPORT, Score};
pub use rows::{noisy_table, worst_direction};
pub use run::{Effort, Evidence, Experiment, FEWEST, Modelled, Transcript, measure};
pub use suite::{Case, suite};
pub use verdict::{Factors, Finding, Source, Statement, Tested, Verdict};
