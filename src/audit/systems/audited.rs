//! The interface by which a protocol's releases are audited.

use super::request::Request;
use super::system::{Candidates, NotAudited, NotAuditedReason};
use crate::audit::error::AuditError;
use crate::protocols::ReplicationSetup;
use crate::rng::Key;
use crate::study::CellRunner;

/// A protocol whose releases can be attacked.
pub trait Audited {
    /// The releases of one series, each on one or more pairs of neighbours, from which the audit chooses the worst
    /// pair.
    ///
    /// # Errors
    /// [`NotAuditedReason`]: why the series is not audited.
    fn candidates(
        &self,
        series: &str,
        context: &AuditContext<'_>,
    ) -> Result<Vec<Candidates>, NotAuditedReason>;

    /// The part of a series that is not audited although the rest of the series is: a part without protection, or a
    /// part that an external program answers. (An audit does not start such a program.) `None` if there is no such part.
    fn unprotected_part(&self, series: &str) -> Option<NotAudited> {
        let _ = series;
        None
    }

    /// Why the protocol cannot be audited at all, or not as requested; `None` if it can.
    fn refuses(&self, request: &Request) -> Option<&'static str> {
        let _ = request;
        None
    }
}

/// The setting of an audit: one replication's parties and data, and what was requested.
#[derive(Debug)]
pub struct AuditContext<'a> {
    /// Prepares and runs replications of the cell.
    pub(super) runner: &'a CellRunner<'a>,
    /// The setup of replication 0: objective, network, names of parties.
    pub stage: &'a ReplicationSetup,
    /// The replication's node of the seed tree.
    pub key: Key,
    /// The delta of the option `--claim`, if the user gave this option. The option states an epsilon and a delta, which are
    /// tested instead of the scenario's claim.
    pub delta: Option<f64>,
    /// The delta that the scenario states for the losses in its report; `None` if it states no delta.
    pub study_delta: Option<f64>,
    /// The neighbour that was requested instead of a search, as the text of `--neighbour`.
    pub neighbour: Option<&'a str>,
}

impl AuditContext<'_> {
    /// The parties and data of another replication, and its node of the seed tree.
    ///
    /// # Errors
    /// [`AuditError`] if the replication cannot be prepared.
    pub fn replication_setup(&self, replication: u64) -> Result<(ReplicationSetup, Key), AuditError> {
        self.runner.replication_setup(replication).map_err(AuditError::scenario)
    }
}

/// The series with a given name.
///
/// # Errors
/// [`AuditError`] if there is none.
pub fn named<'a, S>(
    series: &'a [S],
    wanted: &str,
    name: impl Fn(&S) -> &String,
) -> Result<&'a S, AuditError> {
    let missing = || AuditError::scenario(format!("there is no series \"{wanted}\""));
    series.iter().find(|one| name(one) == wanted).ok_or_else(missing)
}
