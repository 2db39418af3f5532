//! A publication: the best outcome found, clipped to a public range and with Laplace noise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subrosa::learners::LearnerModel;
use subrosa::privacy::mechanisms::clipping::Range;
use subrosa::privacy::mechanisms::{
    ClippedLaplace, Distinguisher, Mechanism, MechanismError, NoiseArithmetic, Pair, Price, under_laplace,
};
use subrosa::protocols::release::{CannotRelease, Plan, Publication, Search, Task, ValueOf, ValueRelease};
use subrosa::rng::Stream;
use subrosa::vocab::{Epsilon, Neighbours, Problem};

/// The best outcome of any search with noise for the whole range that it is clipped to: epsilon-DP for any two data
/// sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClippedBest {
    /// Epsilon of the release.
    epsilon: Epsilon,
    /// Public range of outcomes.
    range: Range,
    /// The learner that chooses which settings are tried.
    learner: LearnerModel,
}

/// Clipped Laplace noise on each number of a list.
#[derive(Clone, Debug)]
struct Told(ClippedLaplace);

impl Mechanism for Told {
    type Input = Vec<f64>;
    type Output = Vec<f64>;

    /// The sensitivity is the width of the range, which covers any change of the data.
    fn price(&self, _: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        self.0.price(&0.0, &Neighbours::AnyValue)
    }

    fn privatise(&self, values: &Vec<f64>, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        values.iter().map(|value| self.0.privatise(value, stream)).collect()
    }

    fn worst_pair(&self, _: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        let pair = self.0.worst_pair(&0.0)?;
        let [a, b] = pair.inputs;
        Some(Pair::new(vec![a], vec![b], pair.words))
    }

    fn distinguisher(&self, [a, b]: [&Vec<f64>; 2]) -> Result<Distinguisher<Vec<f64>>, MechanismError> {
        let clip = |values: &[f64]| values.iter().map(|value| self.0.range.clip(*value)).collect::<Vec<_>>();
        let scale = self.0.range.width()?.get() / self.0.epsilon.get();
        Ok(under_laplace([&clip(a), &clip(b)], scale, Vec::as_slice))
    }
}

impl Publication for ClippedBest {
    fn problems(&self) -> Vec<Problem> {
        let empty = self.range.width().err().map(|error| {
            Problem::wrong("range", "an interval", error.to_string(), "write Range(low: -1, high: 1)")
        });
        empty.into_iter().chain(self.learner.as_dyn().problems()).collect()
    }

    fn search(&self, _: &Task) -> Result<Search, CannotRelease> {
        Ok(Search::Learner(self.learner.clone()))
    }

    fn plan(&self, _: &Task) -> Result<Plan, CannotRelease> {
        let arithmetic = NoiseArithmetic::Exact;
        let told = Told(ClippedLaplace { epsilon: self.epsilon, range: self.range, arithmetic });
        told.price(&vec![0.0], &Neighbours::ReplaceOne)?;
        Ok(Plan {
            setting: None,
            value: Some(ValueRelease { mechanism: Box::new(told), of: ValueOf::Best }),
            ..Plan::default()
        })
    }
}
