//! Why a replication cannot start.

use crate::gp::GpError;
use crate::objectives::ObjectiveError;

/// Why agents and server cannot be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum CannotBegin {
    #[error("the objective has {found} points, and agents draw over at most {most}")]
    TooManyPoints { found: usize, most: usize },
    #[error("the objective has data of {found} agents, but the scenario has more agents: lower `count`")]
    TooManyAgents { found: usize },
    #[error("this objective cannot be drawn once per agent")]
    DrawnOnce,
    #[error(
        "heterogeneity needs an objective that is drawn at random (GpSample), and this one is always the same"
    )]
    AlwaysTheSame,
    #[error("region {region} of {regions} has no point")]
    EmptyRegion { region: usize, regions: usize },
    #[error("the server is unknown")]
    UnknownServer,
    #[error(transparent)]
    Model(#[from] GpError),
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
}
