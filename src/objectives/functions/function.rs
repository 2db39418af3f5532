//! The test functions that a scenario may name: formula, domain and smallest value of each.

use super::{hartmann, valleys, waves};
use crate::objectives::branin::branin;
use crate::rng::sobol::MOST_DIMENSIONS;
use crate::vocab::{Problem, SearchBox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::num::NonZeroUsize;

/// A function with which optimisers are tested. The test function is minimised: an objective's value is minus the
/// function's value.
///
/// Formulas, constants and domains are those of Surjanovic and Bingham, "Virtual library of simulation experiments:
/// test functions and datasets". The crate argmin_testfunctions has most of these functions, but computes
/// transcendental functions (sines, exponentials and the like) by the standard library, whose results differ in the last
/// bits between CPUs. Here libm computes them, as it does for everything on which a replay depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Function {
    /// Branin-Hoo on [-5, 10] x [0, 15]; smallest value 0.397887 at three points.
    Branin,
    /// Three inputs in [0, 1], four local minima; smallest value -3.86278.
    Hartmann3,
    /// Six inputs in [0, 1], six local minima; smallest value -3.32237.
    Hartmann6,
    /// On [-3, 3] x [-2, 2], six local minima; smallest value -1.03163 at two points.
    SixHumpCamel,
    /// Inputs in [-32.768, 32.768], nearly flat far from the minimum; smallest value 0 at the origin.
    ///
    /// Example: `Ackley(dimensions: 10)`.
    Ackley {
        /// Number of inputs, 1 to 16.
        dimensions: NonZeroUsize,
    },
    /// Inputs in [-10, 10]; smallest value 0 at (1, .., 1).
    ///
    /// Example: `Levy(dimensions: 5)`.
    Levy {
        /// Number of inputs, 1 to 16.
        dimensions: NonZeroUsize,
    },
    /// Inputs in [-5, 10], one curved valley; smallest value 0 at (1, .., 1).
    ///
    /// Example: `Rosenbrock(dimensions: 4)`.
    Rosenbrock {
        /// Number of inputs, 2 to 16.
        dimensions: NonZeroUsize,
    },
    /// Inputs in [0, pi], steep valleys (steepness parameter m = 10); smallest value -4.687658 with five inputs.
    ///
    /// Example: `Michalewicz(dimensions: 5)`.
    Michalewicz {
        /// Number of inputs, 1 to 16.
        dimensions: NonZeroUsize,
    },
    /// Inputs in [-600, 600], a bowl with small waves; smallest value 0 at the origin.
    ///
    /// Example: `Griewank(dimensions: 6)`.
    Griewank {
        /// Number of inputs, 1 to 16.
        dimensions: NonZeroUsize,
    },
    /// Inputs in [-5.12, 5.12], a bowl with large waves; smallest value 0 at the origin.
    ///
    /// Example: `Rastrigin(dimensions: 4)`.
    Rastrigin {
        /// Number of inputs, 1 to 16.
        dimensions: NonZeroUsize,
    },
}

impl Function {
    /// The function's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Branin => "Branin",
            Self::Hartmann3 => "Hartmann3",
            Self::Hartmann6 => "Hartmann6",
            Self::SixHumpCamel => "SixHumpCamel",
            Self::Ackley { .. } => "Ackley",
            Self::Levy { .. } => "Levy",
            Self::Rosenbrock { .. } => "Rosenbrock",
            Self::Michalewicz { .. } => "Michalewicz",
            Self::Griewank { .. } => "Griewank",
            Self::Rastrigin { .. } => "Rastrigin",
        }
    }

    /// Number of inputs, d.
    #[must_use]
    pub fn d(self) -> usize {
        match self {
            Self::Branin | Self::SixHumpCamel => 2,
            Self::Hartmann3 => 3,
            Self::Hartmann6 => 6,
            Self::Ackley { dimensions }
            | Self::Levy { dimensions }
            | Self::Rosenbrock { dimensions }
            | Self::Michalewicz { dimensions }
            | Self::Griewank { dimensions }
            | Self::Rastrigin { dimensions } => dimensions.get(),
        }
    }

    /// What is wrong with the number of inputs, if the function cannot have that many.
    pub(super) fn problem(self) -> Option<Problem> {
        let least = if matches!(self, Self::Rosenbrock { .. }) { 2 } else { 1 };
        let usable = (least..=MOST_DIMENSIONS).contains(&self.d());
        (!usable).then(|| {
            let expected = format!("{least} to {MOST_DIMENSIONS} inputs");
            Problem::wrong(
                format!("{}.dimensions", self.name()),
                expected,
                self.d().to_string(),
                "write dimensions: 10, for example",
            )
        })
    }

    /// The box on which the function is defined.
    #[must_use]
    pub fn domain(self) -> SearchBox {
        let side = match self {
            Self::Branin => return SearchBox::new(vec![(-5.0, 10.0), (0.0, 15.0)]),
            Self::SixHumpCamel => return SearchBox::new(vec![(-3.0, 3.0), (-2.0, 2.0)]),
            Self::Hartmann3 | Self::Hartmann6 => (0.0, 1.0),
            Self::Ackley { .. } => (-32.768, 32.768),
            Self::Levy { .. } => (-10.0, 10.0),
            Self::Rosenbrock { .. } => (-5.0, 10.0),
            Self::Michalewicz { .. } => (0.0, PI),
            Self::Griewank { .. } => (-600.0, 600.0),
            Self::Rastrigin { .. } => (-5.12, 5.12),
        };
        SearchBox::new(vec![side; self.d()])
    }

    /// Every coordinate of the point at which the function is smallest, if all coordinates of this point are the same
    /// whole number; else `None`.
    pub(super) fn whole_place(self) -> Option<f64> {
        match self {
            Self::Ackley { .. } | Self::Griewank { .. } | Self::Rastrigin { .. } => Some(0.0),
            Self::Levy { .. } | Self::Rosenbrock { .. } => Some(1.0),
            _ => None,
        }
    }

    /// The function's value at a point of its domain, `[d]`.
    #[must_use]
    pub fn at(self, x: &[f64]) -> f64 {
        match self {
            Self::Branin => branin(x[0], x[1]),
            Self::Hartmann3 => hartmann::hartmann3(x),
            Self::Hartmann6 => hartmann::hartmann6(x),
            Self::SixHumpCamel => valleys::six_hump_camel(x),
            Self::Ackley { .. } => waves::ackley(x),
            Self::Levy { .. } => waves::levy(x),
            Self::Rosenbrock { .. } => valleys::rosenbrock(x),
            Self::Michalewicz { .. } => waves::michalewicz(x),
            Self::Griewank { .. } => waves::griewank(x),
            Self::Rastrigin { .. } => waves::rastrigin(x),
        }
    }

    /// The function's smallest value on its domain.
    #[must_use]
    pub fn least(self) -> f64 {
        match self {
            // At (pi, 2.275) the squared term is 0 and the cosine is -1, so what remains is 10 / (8 pi).
            Self::Branin => 10.0 / (8.0 * PI),
            Self::Hartmann3 => hartmann::HARTMANN3_MIN,
            Self::Hartmann6 => hartmann::HARTMANN6_MIN,
            Self::SixHumpCamel => valleys::LEAST_CAMEL,
            Self::Michalewicz { dimensions } => {
                -waves::MICHALEWICZ.iter().take(dimensions.get()).sum::<f64>()
            }
            Self::Ackley { .. }
            | Self::Levy { .. }
            | Self::Rosenbrock { .. }
            | Self::Griewank { .. }
            | Self::Rastrigin { .. } => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Function {
        ron::from_str(text).unwrap()
    }

    /// The expected values are those of `evaluate_true` in botorch.test_functions.synthetic (BoTorch 0.18.1), in double
    /// precision, at two points of the domain, k = 0 and k = 1. Coordinate i of point k in the unit cube, for i = 1 to d,
    /// is the fractional part of 0.137 i (k + 1) + 0.21 k. BoTorch stores the constants of Hartmann's functions in single
    /// precision, so the values of these functions agree to eight digits only; another test checks their optima.
    #[test]
    fn values_are_those_of_botorch() {
        for (text, values) in [
            ("Hartmann3", [-0.420_341_940_449_22, -0.003_473_821_107_950_61]),
            ("Hartmann6", [-0.254_087_722_537_646, -0.116_472_266_319_496]),
            ("Ackley(dimensions: 5)", [19.867_256_963_262_2, 20.773_233_770_911_4]),
            ("Levy(dimensions: 4)", [33.304_678_809_062_2, 58.473_593_784_928_8]),
            ("Rosenbrock(dimensions: 3)", [9_178.185_281_062_5, 203_562.828_837]),
            ("Michalewicz(dimensions: 5)", [-1.030_150_731_544_14, -0.196_962_573_239_599]),
            ("Griewank(dimensions: 4)", [70.662_195_556_969_1, 117.050_422_851_008]),
            ("Rastrigin(dimensions: 3)", [47.493_363_535_665_6, 58.472_908_150_514_2]),
            ("SixHumpCamel", [8.672_465_375_390_07, 0.214_622_380_445_663]),
        ] {
            let function = of(text);
            let share = if text.starts_with("Hartmann") { 1e-8 } else { 2e-12 };
            for (k, expected) in values.into_iter().enumerate() {
                let k = k as f64;
                let unit: Vec<f64> = (1..=function.d())
                    .map(|i| {
                        let place = 0.137 * i as f64 * (k + 1.0) + 0.21 * k;
                        place - place.floor()
                    })
                    .collect();
                let found = function.at(&function.domain().from_unit(&unit));
                assert!(
                    (found - expected).abs() <= share * expected.abs().max(1.0),
                    "{text}: {found} {expected}"
                );
            }
        }
    }

    /// The smallest value is attained at the point that the literature names. Every point of a quasi-random design has a
    /// larger value.
    #[test]
    fn the_smallest_value_is_known_exactly() {
        let ones = |d: usize| vec![1.0; d];
        let places = [
            ("Branin", vec![PI, 2.275]),
            ("Hartmann3", vec![0.114_588_876_655_068_97, 0.555_648_894_616_93, 0.852_546_984_686_677_4]),
            (
                "Hartmann6",
                vec![
                    0.201_689_511_006_705_42,
                    0.150_010_691_823_457_97,
                    0.476_873_974_221_897,
                    0.275_332_430_494_056_1,
                    0.311_651_616_600_113_25,
                    0.657_300_534_065_620_3,
                ],
            ),
            ("SixHumpCamel", vec![0.089_842_013_100_318_06, -0.712_656_403_020_739_6]),
            ("Ackley(dimensions: 4)", vec![0.0; 4]),
            ("Levy(dimensions: 5)", ones(5)),
            ("Rosenbrock(dimensions: 4)", ones(4)),
            (
                "Michalewicz(dimensions: 4)",
                vec![2.202_905_520_172_609_4, PI / 2.0, 1.284_991_570_552_924_3, 1.923_058_469_866_362_9],
            ),
            ("Griewank(dimensions: 3)", vec![0.0; 3]),
            ("Rastrigin(dimensions: 3)", vec![0.0; 3]),
        ];
        for (text, place) in places {
            let function = of(text);
            assert!(function.domain().contains(&place), "{text}");
            assert!(
                (function.at(&place) - function.least()).abs() < 1e-14 * function.least().abs().max(30.0)
            );
            let design = crate::rng::sobol::points(4096, function.d(), crate::rng::Key::root(1));
            for unit in design {
                assert!(function.at(&function.domain().from_unit(&unit)) > function.least(), "{text}");
            }
        }
        assert!((of("Michalewicz(dimensions: 10)").least() + 9.660_151_715_6).abs() < 1e-9);
        assert!(of("Rosenbrock(dimensions: 1)").problem().is_some());
        assert!(of("Levy(dimensions: 17)").problem().is_some());
    }
}
