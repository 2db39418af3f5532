//! The interface by which a protocol's releases are audited.

use super::request::Request;
use super::system::{Candidates, LeftOut, NotAudited};
use crate::audit::error::AuditError;
use crate::protocols::Stage;
use crate::rng::Key;
use crate::study::CellRunner;

/// A protocol whose releases can be attacked.
pub(super) trait Audited {
    /// The releases of one series, each on several neighbours from which the audit chooses the worst.
    fn candidates(&self, series: &str, ground: &Ground<'_>) -> Result<Vec<Candidates>, LeftOut>;

    /// The unprotected part of a series of which another part is audited.
    fn shown_as_it_is(&self, series: &str) -> Option<NotAudited> {
        let _ = series;
        None
    }

    /// Why it cannot be audited at all, or not as requested.
    fn refuses(&self, request: &Request) -> Option<&'static str> {
        let _ = request;
        None
    }
}

/// The setting of an audit: one replication's parties and data, and what was requested.
pub(super) struct Ground<'a> {
    pub(super) runner: &'a CellRunner<'a>,
    pub(super) stage: &'a Stage,
    /// Node of the replication.
    pub(super) key: Key,
    /// Delta that was requested.
    pub(super) delta: Option<f64>,
    /// Delta of the study's own figures.
    pub(super) study_delta: Option<f64>,
    /// The neighbour that was requested, instead of a search.
    pub(super) neighbour: Option<&'a str>,
}

impl Ground<'_> {
    /// The parties and data of another replication.
    pub(super) fn world(&self, replication: u64) -> Result<(Stage, Key), AuditError> {
        self.runner.world(replication).map_err(AuditError::scenario)
    }
}

/// The series of a name, out of a protocol's.
pub(super) fn named<'a, S>(
    series: &'a [S],
    wanted: &str,
    name: impl Fn(&S) -> &String,
) -> Result<&'a S, AuditError> {
    let missing = || AuditError::scenario(format_args!("there is no series \"{wanted}\""));
    series.iter().find(|one| name(one) == wanted).ok_or_else(missing)
}
