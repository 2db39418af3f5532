//! Outsourced optimisation: PO-GP-UCB (Kharkovskii, Dai and Low 2020) and its baselines.
//!
//! The curator holds the inputs X (n rows, d columns) and can measure the objective at any row. The modeler wants
//! to find the best row and sees only what the curator releases: Z in place of X, together with the hyperparameters if they
//! were fitted to the data and the learner needs them; then one outcome per query.
//!
//! ```text
//! modeler --RequestInputs--> curator        sent again after a timeout
//! modeler <-----Inputs(Z)--- curator        Z is made once; sending it again releases nothing new
//! modeler --Query(k, row)--> curator
//! modeler <--Answer(k, y)--- curator        round k is measured once, however often it is queried
//! ```
//!
//! If Z is PO-GP-UCB's random projection of X, Theorem 1 of the paper claims (epsilon, delta)-DP for it. The claim is
//! refuted for n - 1 > d, and for n - 1 = d unless epsilon is large relative to r (the number of columns of Z); the ledger
//! then says so. Neighbours are two versions of X that differ in one row, which is moved by a distance of at most 1 (in
//! scaled inputs). If Z is X with Gaussian noise (`NoisyRows`), or a public projection of X with Gaussian noise
//! (`NoisyProjection`), the losses are proven for these neighbours. Outcomes are released without protection, unless the
//! series releases them through a private mechanism: the outcome of a row is then released once, and the same answer is
//! sent when the row is queried again.

mod bounds;
mod curator;
mod messages;
mod modeler;
mod play;
mod public;
mod recipe;
mod theorem3;

pub use crate::privacy::mechanisms::{Disclosed, InputRelease, OutcomeRelease};
pub use messages::{Fact, Message, OutsourcedProtocol};
pub use recipe::{ColumnsRow, Outsourced, SeriesRecipe};
