//! The reasons why a replication cannot start.

use crate::gp::GpError;
use crate::protocols::stage::differences::DrawError;

/// Why the agents and the server of a replication cannot be created.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("the objective has {found} points, but agents can sample functions on at most {most}")]
    TooManyPoints { found: usize, most: usize },
    #[error("region {region} of {regions} has no point")]
    EmptyRegion { region: usize, regions: usize },
    #[error("no party has the name that `server` states")]
    UnknownServer,
    #[error(transparent)]
    Model(#[from] GpError),
    #[error(transparent)]
    Draw(#[from] DrawError),
}
