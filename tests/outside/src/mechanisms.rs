//! Mechanisms for inputs, outcomes and reports: each states its privacy cost and its worst known pair.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use subrosa::privacy::mechanisms::clipping::Range;
use subrosa::privacy::mechanisms::inputs::{Input, RowsMechanism};
use subrosa::privacy::mechanisms::outcomes::{Outcome, OutcomeMechanism};
use subrosa::privacy::mechanisms::reports::{ReportError, RewardFacts, RewardMechanism, RewardReport};
use subrosa::privacy::mechanisms::{
    Distinguisher, KnownLaws, Mechanism, MechanismError, Pair, Price, RandomizedResponse, Rows, any_value,
    moved, under_laplace,
};
use subrosa::rng::Stream;
use subrosa::vocab::{Arithmetic, Basis, Cost, Epsilon, Finite, Neighbours, Positive, Sampler};

/// Laplace noise on every number of a table: epsilon-DP for one row moved by a distance, whose numbers then move by at
/// most sqrt(d) times that in sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaplaceRows {
    /// Epsilon, above 0.
    epsilon: Epsilon,
}

#[derive(Clone, Debug)]
struct Calibrated {
    epsilon: Epsilon,
    distance: Positive,
}

impl Calibrated {
    /// Scale of the noise where rows have `d` numbers.
    fn scale(&self, d: usize) -> f64 {
        self.distance.get() * (d as f64).sqrt() / self.epsilon.get()
    }
}

const ROWS: &str = "Laplace noise on rows";

impl Mechanism for Calibrated {
    type Input = Rows;
    type Output = Rows;

    fn price(&self, rows: &Rows, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        moved(ROWS, neighbours, self.distance)?;
        Ok(Price {
            mechanism: ROWS,
            sampler: Sampler::Full,
            sensitivity: Some(self.distance.get() * (rows.d() as f64).sqrt()),
            cost: Cost::PureDp { epsilon: self.epsilon.get() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Ideal,
        })
    }

    fn privatise(&self, rows: &Rows, stream: &mut Stream) -> Result<Rows, MechanismError> {
        let scale = self.scale(rows.d());
        rows.each(|value| value + scale * stream.laplace())
    }

    fn worst_pair(&self, like: &Rows) -> Option<Pair<Rows>> {
        let direction = vec![1.0 / (like.d() as f64).sqrt(); like.d()];
        let words = format!("one record moved by {}, in all its numbers alike", self.distance);
        Some(Pair::new(like.clone(), like.moved(0, &direction, self.distance.get()), words))
    }

    fn distinguisher(&self, [a, b]: [&Rows; 2]) -> Result<Distinguisher<Rows>, MechanismError> {
        Ok(under_laplace([a.values(), b.values()], self.scale(a.d()), Rows::values))
    }
}

impl RowsMechanism for Calibrated {}

impl Input for LaplaceRows {
    fn release_name(&self) -> &'static str {
        "inputs with Laplace noise"
    }

    fn about(&self, rows: &Rows) -> String {
        format!("{} records of {} numbers with Laplace noise", rows.n(), rows.d())
    }

    fn mechanism(
        &self,
        _: usize,
        distance: Positive,
        _: &mut Stream,
    ) -> Result<Option<Box<dyn RowsMechanism>>, MechanismError> {
        Ok(Some(Box::new(Calibrated { epsilon: self.epsilon, distance })))
    }
}

/// One of two numbers, whose mean is the number clipped to a public range: rounded at random to an end of the range,
/// which randomised response then reports.
///
/// Source: Ding, Kulkarni and Yekhanin 2017, section 3 (1BitMean); Warner 1965.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneBit {
    /// Epsilon of one release, above 0.
    epsilon: Epsilon,
    /// What the number is clipped to, in its units.
    range: Range,
}

const BIT: &str = "one bit, randomised response";

impl OneBit {
    /// The position of a number in the range, from 0 to 1.
    fn place(&self, value: f64) -> Result<f64, MechanismError> {
        Ok((self.range.clip(value) - self.range.low.get()) / self.range.width()?.get())
    }

    /// The midpoint of the two answers, and their distance from it.
    fn answers(&self) -> Result<(f64, f64), MechanismError> {
        let half = self.range.width()?.get() / 2.0;
        let more_often_true = 2.0 * RandomizedResponse::new(self.epsilon).truth() - 1.0;
        let reach = Positive::new(half / more_often_true).map_err(MechanismError::out_of_range)?;
        Ok((self.range.low.get() + half, reach.get()))
    }
}

impl Mechanism for OneBit {
    type Input = f64;
    type Output = f64;

    fn price(&self, _: &f64, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        any_value(BIT, neighbours)?;
        self.answers()?;
        let price = RandomizedResponse::new(self.epsilon).price(&true, neighbours)?;
        Ok(Price { mechanism: BIT, ..price })
    }

    fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<f64, MechanismError> {
        let ((middle, reach), place) = (self.answers()?, self.place(*input)?);
        let high = stream.bernoulli(place);
        let told = RandomizedResponse::new(self.epsilon).privatise(&high, stream)?;
        Ok(if told { middle + reach } else { middle - reach })
    }

    fn worst_pair(&self, _: &f64) -> Option<Pair<f64>> {
        self.range.worst_pair()
    }

    fn distinguisher(&self, [a, b]: [&f64; 2]) -> Result<Distinguisher<f64>, MechanismError> {
        let bit = RandomizedResponse::new(self.epsilon).distinguisher([&true, &false])?.log_ratio(&true);
        let lie = 1.0 / (1.0 + libm::exp(bit));
        let log = |place: f64| libm::log(lie + place * (1.0 - 2.0 * lie));
        let ([a, b], (middle, _)) = ([self.place(*a)?, self.place(*b)?], self.answers()?);
        let (high, low) = (log(a) - log(b), log(1.0 - a) - log(1.0 - b));
        let largest = KnownLaws::largest_of([high, low]);
        Ok(Distinguisher::by_ratio(move |y: &f64| if *y > middle { high } else { low }, largest))
    }
}

impl Outcome for OneBit {
    fn mechanism(&self) -> Option<&OutcomeMechanism> {
        Some(self)
    }

    /// The largest variance over all numbers: that of a number in the middle of the range.
    fn variance(&self) -> Result<f64, MechanismError> {
        let (_, reach) = self.answers()?;
        Positive::new(reach * reach).map(Positive::get).map_err(MechanismError::out_of_range)
    }
}

/// [`OneBit`], whose price says half of its epsilon: a mistake that an audit has to find.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Understated {
    /// The mechanism.
    of: OneBit,
}

impl Mechanism for Understated {
    type Input = f64;
    type Output = f64;

    fn price(&self, input: &f64, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        let price = self.of.price(input, neighbours)?;
        Ok(Price { cost: Cost::PureDp { epsilon: self.of.epsilon.get() / 2.0 }, ..price })
    }

    fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<f64, MechanismError> {
        self.of.privatise(input, stream)
    }

    fn worst_pair(&self, like: &f64) -> Option<Pair<f64>> {
        self.of.worst_pair(like)
    }

    fn distinguisher(&self, inputs: [&f64; 2]) -> Result<Distinguisher<f64>, MechanismError> {
        self.of.distinguisher(inputs)
    }
}

impl Outcome for Understated {
    fn mechanism(&self) -> Option<&OutcomeMechanism> {
        Some(self)
    }

    fn variance(&self) -> Result<f64, MechanismError> {
        self.of.variance()
    }
}

/// [`OneBit`] for rewards: each report is epsilon-LDP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneBitReport {
    /// Epsilon of one report, above 0.
    epsilon: Epsilon,
    /// Rewards are clipped to [-bound, bound].
    bound: Positive,
}

#[derive(Clone, Debug)]
struct Reporting {
    bit: OneBit,
    bound: Positive,
}

impl Mechanism for Reporting {
    type Input = f64;
    type Output = f64;

    fn price(&self, input: &f64, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        self.bit.price(input, neighbours)
    }

    fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<f64, MechanismError> {
        self.bit.privatise(input, stream)
    }

    fn worst_pair(&self, like: &f64) -> Option<Pair<f64>> {
        self.bit.worst_pair(like)
    }

    fn distinguisher(&self, inputs: [&f64; 2]) -> Result<Distinguisher<f64>, MechanismError> {
        self.bit.distinguisher(inputs)
    }
}

impl RewardMechanism for Reporting {
    fn neighbours(&self) -> Neighbours {
        Neighbours::AnyValue
    }

    fn bound(&self) -> f64 {
        self.bound.get()
    }

    fn clips(&self) -> bool {
        true
    }

    fn exceeds(&self, reward: f64) -> bool {
        self.bit.range.exceeded_by(reward)
    }

    fn variance(&self) -> f64 {
        self.bit.variance().unwrap_or(f64::INFINITY)
    }

    fn about(&self) -> String {
        "a reward told by one bit".to_owned()
    }
}

impl RewardReport for OneBitReport {
    fn mechanism(&self, _: &RewardFacts<'_>) -> Result<Option<Arc<dyn RewardMechanism>>, ReportError> {
        let end = |value| Finite::new(value).map_err(MechanismError::out_of_range);
        let range = Range { low: end(-self.bound.get())?, high: end(self.bound.get())? };
        let bit = OneBit { epsilon: self.epsilon, range };
        bit.answers()?;
        Ok(Some(Arc::new(Reporting { bit, bound: self.bound })))
    }

    fn epsilon(&self) -> Option<f64> {
        Some(self.epsilon.get())
    }
}
