//! The points at which a test function is smallest.
//!
//! Up to one side length beyond its domain, no test function has a value below its smallest value on the domain.

use super::Function;
use std::f64::consts::{FRAC_PI_2, PI};

/// The coordinates of the point at which Michalewicz' function with 16 inputs is smallest. The first d of these
/// coordinates are the point for d inputs. Each coordinate is a root of the derivative of its term of the function,
/// computed with 40 digits (mpmath 1.3).
const MICHALEWICZ: [f64; 16] = [
    2.202_905_520_172_609_4,
    FRAC_PI_2,
    1.284_991_570_552_924_4,
    1.923_058_469_866_362_9,
    1.720_469_772_565_841_3,
    FRAC_PI_2,
    1.454_413_971_362_379,
    1.756_086_520_945_026_4,
    1.655_717_416_821_029_2,
    FRAC_PI_2,
    1.497_728_803_556_070_8,
    1.696_616_300_797_461,
    1.630_076_080_396_455_3,
    FRAC_PI_2,
    1.517_546_114_667_673,
    1.666_064_511_726_265,
];

impl Function {
    /// The points of the function's domain with the smallest value, `[d]` each, in the function's own units.
    ///
    /// Up to one side length beyond the domain, no value is smaller than at these points. Branin, Ackley, Levy,
    /// Rosenbrock, Griewank and Rastrigin are sums, and at these points each term has its smallest value over all real
    /// numbers. Hartmann's functions are minus sums of Gaussians: they are negative and tend to 0 far away, so they are
    /// smallest at a stationary point. At a stationary point, each coordinate is a weighted mean of the centres'
    /// coordinates. The centres' coordinates lie within [0, 1], so the stationary points lie within the domain. The
    /// six-hump camel function is above 0 everywhere outside its domain, because its terms in x^6 and y^4 exceed its
    /// negative terms there; its smallest value is below 0. Each term of Michalewicz' function is -sin(x) times an
    /// even power of another sine. Within [0, pi], the term's smallest value is below 0. In [-pi, 0] and [pi, 2 pi] sin(x)
    /// is not positive, so the term is not below 0 there.
    pub(super) fn best_places(self) -> Vec<Vec<f64>> {
        match self {
            Self::Branin => vec![vec![-PI, 12.275], vec![PI, 2.275], vec![3.0 * PI, 2.475]],
            Self::Hartmann3 => {
                vec![vec![0.114_588_876_655_068_97, 0.555_648_894_616_93, 0.852_546_984_686_677_4]]
            }
            Self::Hartmann6 => vec![vec![
                0.201_689_511_006_705_42,
                0.150_010_691_823_457_97,
                0.476_873_974_221_897,
                0.275_332_430_494_056_1,
                0.311_651_616_600_113_25,
                0.657_300_534_065_620_3,
            ]],
            Self::SixHumpCamel => {
                let (x, y) = (0.089_842_013_100_318_06, 0.712_656_403_020_739_6);
                vec![vec![x, -y], vec![-x, y]]
            }
            Self::Michalewicz { dimensions } => vec![MICHALEWICZ[..dimensions.get().min(16)].to_vec()],
            Self::Ackley { .. }
            | Self::Levy { .. }
            | Self::Rosenbrock { .. }
            | Self::Griewank { .. }
            | Self::Rastrigin { .. } => vec![vec![self.whole_place().unwrap_or(0.0); self.d()]],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, sobol};

    /// The smallest value is attained at each of the best points. None of 16,384 quasi-random points of a larger box,
    /// which reaches one side length beyond the domain in every direction, has a smaller value.
    #[test]
    fn no_value_beyond_the_domain_is_smaller_than_at_the_best_points() {
        for text in [
            "Branin",
            "Hartmann3",
            "Hartmann6",
            "SixHumpCamel",
            "Ackley(dimensions: 3)",
            "Levy(dimensions: 2)",
            "Rosenbrock(dimensions: 2)",
            "Michalewicz(dimensions: 2)",
            "Michalewicz(dimensions: 16)",
            "Griewank(dimensions: 2)",
            "Rastrigin(dimensions: 2)",
        ] {
            let function: Function = ron::from_str(text).unwrap();
            let domain = function.domain();
            for place in function.best_places() {
                assert!(domain.contains(&place), "{text}");
                let error = (function.at(&place) - function.least()).abs();
                assert!(error < 1e-13 * function.least().abs().max(30.0), "{text}: {error}");
            }
            for unit in sobol::points(16_384, function.d(), Key::root(1)) {
                let sides = unit.iter().zip(domain.sides());
                let beyond: Vec<f64> =
                    sides.map(|(u, (low, high))| low + (high - low) * (3.0 * u - 1.0)).collect();
                assert!(function.at(&beyond) > function.least() - 1e-12, "{text}: {beyond:?}");
            }
        }
    }
}
