//! Errors in the values of command-line flags.

use crate::vocab::OutOfRange;
use thiserror::Error;

/// A value that a flag does not accept.
#[derive(Debug, Error)]
pub(in crate::cli) enum BadValue {
    #[error("expected a number above 0")]
    NotANumber,
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    #[error("{flag}: {error}")]
    Flag { flag: &'static str, error: OutOfRange },
    #[error(
        "expected a worker's number, from 0, and the number of workers: 0/16 for the first, 15/16 for the last"
    )]
    Slot,
    #[error("expected a width from 10 to 1000 millimetres, such as 85")]
    Width,
    #[error("expected EPSILON,DELTA as in 3,1e-5, found {0}")]
    NotAPair(String),
    #[error("expected an epsilon above 0 and a delta from 0 to below 1, found {0}")]
    Claim(String),
    #[error("expected a share between 0 and 1, such as 0.95, found {0}")]
    Share(String),
    #[error("expected a finite number, found {0}")]
    NotFinite(String),
    #[error(
        "expected AXIS=FROM..TO with FROM below TO, as in protocol.rounds=10..60, or AXIS=FROM..TO:log \
         with both above 0, found {0}"
    )]
    NotARange(String),
}
