//! Outages of groups of parties: partitions, blackouts and regional outages.

mod blackout;
mod partition;
mod regional;

pub use blackout::Blackout;
pub use partition::Partition;
pub use regional::Regional;

use super::availability::AvailabilityProcess;
use crate::rng::Stream;
use crate::vocab::{DataFolders, Problem, Span, Time};
use std::path::PathBuf;

/// The behaviour of an outage recipe.
pub trait Outage {
    /// The groups that the recipe names, each as a pair: the path of the field that names the group, and the group's
    /// name.
    fn groups(&self) -> Vec<(String, &str)>;

    /// The connection that each party of `group` would have if this outage were the only cause of disconnections; `None` if
    /// the outage does not affect the group. All parties of a group are given the same stream, so they are disconnected and
    /// connected together.
    fn connection(&self, group: &str, stream: Stream) -> Option<Box<dyn AvailabilityProcess>> {
        let _ = (group, stream);
        None
    }

    /// Whether the outage cuts the link from a party of the group `from` to a party of the group `to` at this time; `None`
    /// stands for a party without a group.
    fn cuts(&self, from: Option<&str>, to: Option<&str>, at: Time) -> bool {
        let _ = (from, to, at);
        false
    }

    /// What is wrong with the recipe as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// Reads the files that the recipe names; relative paths are looked up in the folders of `base`.
    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let _ = base;
        Vec::new()
    }

    /// The files that the recipe names.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

crate::family! {
    /// An outage that affects one or several groups of parties.
    pub struct OutageModel(OutageMember): dyn Outage, "outage" {
        Partition(Partition),
        Blackout(Blackout),
        Regional(Regional),
    }
}

/// The problem of an interval whose end is not after its beginning.
fn interval(from: Span, until: Span) -> Vec<Problem> {
    if from < until {
        return Vec::new();
    }
    let expected = format!("a time after `from` ({from})");
    vec![Problem::wrong("until", expected, until.to_string(), "write a time after the beginning")]
}
