//! A group that is offline from one time to another.

use super::Outage;
use crate::kernel::Switch;
use crate::network::availability::AvailabilityProcess;
use crate::rng::Stream;
use crate::vocab::{Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Between two times, every party of a group is disconnected.
///
/// Example: `Blackout(group: "left", from: "1s", until: "2s")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blackout {
    /// Name of the group.
    #[schemars(with = "crate::vocab::GroupName")]
    pub group: String,
    /// When the blackout begins, from the start of the run.
    pub from: Span,
    /// When the blackout ends, from the start of the run.
    pub until: Span,
}

impl Outage for Blackout {
    fn groups(&self) -> Vec<(String, &str)> {
        vec![("group".to_owned(), &self.group)]
    }

    fn connection(&self, group: &str, _: Stream) -> Option<Box<dyn AvailabilityProcess>> {
        (group == self.group).then(|| -> Box<dyn AvailabilityProcess> {
            let at = |span| Time::ZERO + span;
            let changes =
                [Switch::connection(at(self.from), false), Switch::connection(at(self.until), true)];
            Box::new(BlackoutProcess { changes: changes.into_iter() })
        })
    }

    fn problems(&self) -> Vec<Problem> {
        super::interval(self.from, self.until)
    }
}

#[derive(Clone, Debug)]
struct BlackoutProcess {
    changes: std::array::IntoIter<Switch, 2>,
}

impl AvailabilityProcess for BlackoutProcess {
    fn next_switch(&mut self) -> Option<Switch> {
        self.changes.next()
    }
}
