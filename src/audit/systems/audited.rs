//! What a protocol offers to be audited.

use super::request::Request;
use super::system::{Candidates, LeftOut, NotAudited};
use crate::audit::error::AuditError;
use crate::protocols::Stage;
use crate::rng::Key;
use crate::study::CellRunner;

/// A protocol whose releases can be attacked.
pub trait Audited {
    /// The releases of one series, each on neighbours to choose the most telling of.
    ///
    /// # Errors
    /// [`LeftOut`]: why the series is not audited.
    fn candidates(&self, series: &str, ground: &Ground<'_>) -> Result<Vec<Candidates>, LeftOut>;

    /// The part of a series that nothing protects, where another part is audited.
    fn shown_as_it_is(&self, series: &str) -> Option<NotAudited> {
        let _ = series;
        None
    }

    /// Why it is not audited at all, or not as asked.
    fn refuses(&self, request: &Request) -> Option<&'static str> {
        let _ = request;
        None
    }
}

/// Where an audit takes place: the world of one replication, and what was asked for.
#[derive(Debug)]
pub struct Ground<'a> {
    /// Plays and prepares replications of the cell.
    pub(super) runner: &'a CellRunner<'a>,
    /// The prepared world: objective, network, names of parties.
    pub stage: &'a Stage,
    /// Node of the replication.
    pub key: Key,
    /// Delta that was asked for.
    pub delta: Option<f64>,
    /// Delta of the study's own figures.
    pub study_delta: Option<f64>,
    /// The neighbour that was asked for, instead of a search.
    pub neighbour: Option<&'a str>,
}

impl Ground<'_> {
    /// The world of another replication.
    ///
    /// # Errors
    /// [`AuditError`]: a world that cannot be prepared.
    pub fn world(&self, replication: u64) -> Result<(Stage, Key), AuditError> {
        self.runner.world(replication).map_err(AuditError::scenario)
    }
}

/// The series of a name, out of a protocol's.
///
/// # Errors
/// [`AuditError`]: there is none.
pub fn named<'a, S>(
    series: &'a [S],
    wanted: &str,
    name: impl Fn(&S) -> &String,
) -> Result<&'a S, AuditError> {
    let missing = || AuditError::scenario(format_args!("there is no series \"{wanted}\""));
    series.iter().find(|one| name(one) == wanted).ok_or_else(missing)
}
