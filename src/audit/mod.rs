//! Audits: a claim of differential privacy is tested by running the system on two neighbouring inputs. An audit by canaries
//! (`OneRun`) instead includes many canaries at random in one run, and guesses which of them were included.
//!
//! ```text
//!  Experiment (D, D') --trials--> scores, transcripts --first half: choose test and threshold--> one event
//!                                                     --second half: count--> Clopper-Pearson --> epsilon at least ...
//! ```
//!
//! The lower bound of epsilon holds with 95 % confidence, whatever the system is. Epsilon may be larger than the bound, so a
//! system that passes the audit is not thereby proven private.

mod error;
mod measure;
mod mechanisms;
mod reconstruction;
pub mod systems;
mod verdict;

pub use error::AuditError;
pub use measure::{
    CanaryScores, Counts, ERROR, Effort, Event, Evidence, ExactLoss, Experiment, FEWEST, Histogram,
    KnownPair, Membership, Modelled, NeighbourSide, OneRun, Scores, Transcript, ceiling, lower_limit,
    measure, upper_limit,
};
pub use mechanisms::{
    Case, DataScaledNoise, HalfNoise, NoNoiseOnNumbers, Releases, reachable_gaussian, reachable_laplace,
    suite,
};
pub use reconstruction::{Reconstruction, reconstruct};
pub use verdict::{Factors, Finding, Source, Statement, Tested, Verdict, upper_bound};
