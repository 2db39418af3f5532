//! The reasons why agents or cohorts cannot get functions that differ from each other.

use crate::objectives::ObjectiveError;

/// Why the functions of agents or cohorts cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub(in crate::protocols) enum DrawError {
    #[error("the objective has data of {found} agents, but the scenario has more agents: lower `count`")]
    TooManyAgents { found: usize },
    #[error("heterogeneity needs an objective that can be drawn separately for each agent")]
    DrawnOnce,
    #[error(
        "heterogeneity of users needs an objective that is drawn at random, such as GpSample, and this one is not"
    )]
    AlwaysTheSame,
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
}
