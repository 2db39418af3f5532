//! The reasons why a replication cannot start.

use crate::gp::GpError;
use crate::objectives::ObjectiveError;

/// Why the agents and the server of a replication cannot be created.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("the objective has {found} points, but agents can sample functions on at most {most}")]
    TooManyPoints { found: usize, most: usize },
    #[error("the objective has data of {found} agents, but the scenario has more agents: lower `count`")]
    TooManyAgents { found: usize },
    #[error("heterogeneity needs an objective that can be drawn separately for each agent")]
    DrawnOnce,
    #[error(
        "heterogeneity needs an objective that is drawn at random, such as GpSample, and this one is not"
    )]
    AlwaysTheSame,
    #[error("shifts need an objective whose functions continue beyond its points, such as GpSample")]
    NotShiftable,
    #[error("region {region} of {regions} has no point")]
    EmptyRegion { region: usize, regions: usize },
    #[error("no party has the name that `server` states")]
    UnknownServer,
    #[error(transparent)]
    Model(#[from] GpError),
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
}
