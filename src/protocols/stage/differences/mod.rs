//! Differences between the agents of a federation, or between cohorts of users: the axes that a scenario states, and
//! the functions and noises that follow from them.

mod axes;
mod continuation;
mod domain;
mod factors;
mod failure;
mod function;
mod own_problems;
mod shift;

pub use axes::{Clusters, Differences, Drift};
pub(in crate::protocols) use continuation::effort_of_continuation;
pub use domain::Domain;
pub use factors::Factors;
pub(in crate::protocols) use failure::DrawError;
pub(in crate::protocols) use function::OwnFunction;
pub(in crate::protocols) use own_problems::{Drawn, Draws, ModelFactors, OwnProblem, Replicated};
pub use shift::Shift;
