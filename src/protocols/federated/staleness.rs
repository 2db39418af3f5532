//! The weight of a vector that arrives after the end of its round.

use crate::vocab::{NonNegative, Positive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The behaviour of a discount of stale vectors.
pub trait Staleness {
    /// The factor, from 0 to 1, on the weight of a vector of `late` rounds ago; 1 if `late` is 0. The factor must depend
    /// only on `late`. It then reveals nothing about data, because the time at which a vector arrives is taken as
    /// independent of all data. A factor above 1 counts as 1, since the privacy loss is computed for a factor of 1.
    fn factor(&self, late: u64) -> f64;
}

crate::family! {
    /// The factor on the weight of a vector of an earlier round.
    pub struct StalenessDiscount(StalenessMember): dyn Staleness, "staleness discount" {
        Polynomial(Polynomial),
        Hinge(Hinge),
    }
}

/// The factor (1 + s)^-a for a vector of s rounds ago: `Polynomial(power: 0.5)`. Source: Xie, Koyejo and Gupta 2019,
/// "Asynchronous federated optimization", section 5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Polynomial {
    /// a, the exponent. Default: 0.5, as in the paper.
    #[serde(default = "half")]
    pub power: NonNegative,
}

/// The factor 1 for a vector of at most b rounds ago, and 1 / (a (s - b) + 1) for a vector of s > b rounds ago:
/// `Hinge(slope: 10, after: 4)`.
/// Source: Xie, Koyejo and Gupta 2019, "Asynchronous federated optimization", section 5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hinge {
    /// a, the slope of the denominator. Default: 10, as in the paper.
    #[serde(default = "ten")]
    pub slope: Positive,
    /// b, the number of rounds without a discount. Default: 4, as in the paper.
    #[serde(default = "four")]
    pub after: u64,
}

fn half() -> NonNegative {
    NonNegative::new(0.5).expect("0.5 is not below 0")
}

fn ten() -> Positive {
    Positive::new(10.0).expect("10 is above 0")
}

fn four() -> u64 {
    4
}

impl Staleness for Polynomial {
    fn factor(&self, late: u64) -> f64 {
        libm::pow(1.0 + late as f64, -self.power.get())
    }
}

impl Staleness for Hinge {
    fn factor(&self, late: u64) -> f64 {
        let beyond = late.saturating_sub(self.after) as f64;
        1.0 / (self.slope.get() * beyond + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: (1 + 3)^-0.5 = 1/2, and 1 / (10 * 2 + 1).
    #[test]
    fn the_factors_of_the_paper() {
        let polynomial = Polynomial { power: half() };
        let hinge = Hinge { slope: ten(), after: 4 };
        assert_eq!([0, 3].map(|late| polynomial.factor(late)), [1.0, 0.5]);
        assert_eq!([0, 4, 6].map(|late| hinge.factor(late)), [1.0, 1.0, 1.0 / 21.0]);
    }
}
