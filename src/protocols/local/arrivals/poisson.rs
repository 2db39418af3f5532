//! Users who arrive without being asked, independently of one another.

use super::{ArrivalProcess, Arrivals, above_zero};
use crate::rng::Stream;
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Users arrive without being asked, after independent exponential intervals; many reports may be under way at the same
/// time.
///
/// Example: `Poisson(every: "2s")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Mean interval between two users.
    pub every: Span,
}

impl Arrivals for Poisson {
    fn process(&self) -> Box<dyn ArrivalProcess> {
        Box::new(self.clone())
    }

    fn problems(&self) -> Vec<Problem> {
        let cure = "write \"2s\", for example";
        above_zero("every", self.every, cure).into_iter().collect()
    }
}

impl ArrivalProcess for Poisson {
    /// Uses one random word.
    fn next(&mut self, stream: &mut Stream) -> Option<Span> {
        Some(Span::from_seconds(self.every.seconds() * stream.exponential()))
    }
}
