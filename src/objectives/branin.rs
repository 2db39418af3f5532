//! The Branin-Hoo function on a regular grid.

use super::grid_function::{default_norm, grid_problems};
use super::instance::{Instance, ProblemFacts, Surrogate, UnscaledInputs};
use super::lattice::{Lattice, whole_steps};
use super::scaling::{centre_and_scale, combinations, grid};
use super::{
    Extent, Fitted, Kernel, LengthScales, Noise, Objective, ObjectiveError, Prepared, Resources, Stated,
};
use crate::gp::Points;
use crate::rng::Key;
use crate::vocab::{NonNegative, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The negative Branin-Hoo function on [-5, 10] x [0, 15]. Values are standardised over the grid's points to mean 0 and
/// variance 1; inputs are centred and scaled so that their largest norm is `max_norm`.
///
/// In unscaled inputs, the function's three maxima are at (-pi, 12.275), (pi, 2.275) and (9.42478, 2.475).
/// Source: Kharkovskii, Dai and Low 2020, appendix A; the default hyperparameters are those of the authors' public code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BraninHoo {
    /// Points along each of the two dimensions. Default: [100, 100].
    #[serde(default = "default_grid")]
    pub grid: Vec<NonZeroUsize>,
    /// Largest Euclidean norm of a scaled input. Default: 25.
    #[serde(default = "default_norm")]
    pub max_norm: Positive,
    /// Kernel that the learner assumes. Default: `SquaredExponential`.
    #[serde(default)]
    pub kernel: Kernel,
    /// Length-scale that the learner assumes, in units of the scaled inputs, or a list of two, one for each input.
    /// Default: 6.645.
    #[serde(default = "default_length_scale")]
    pub length_scale: LengthScales,
    /// Prior variance that the learner assumes. Default: 1.05.
    #[serde(default = "default_variance")]
    pub variance: Positive,
    /// Noise variance that the learner assumes; also that of an outcome, unless `measurement_noise` is stated. Default: 0.1.
    #[serde(default = "default_noise")]
    pub noise_variance: NonNegative,
    /// Variance of the noise that is added to an outcome. It may differ from the variance that the learner assumes: in
    /// the authors' public code, the learner assumes 0.1, and no noise is added. Default: `noise_variance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measurement_noise: Option<NonNegative>,
}

fn default_grid() -> Vec<NonZeroUsize> {
    const HUNDRED: NonZeroUsize = NonZeroUsize::new(100).expect("100 is not zero");
    vec![HUNDRED; 2]
}

fn default_length_scale() -> LengthScales {
    LengthScales::same(6.645).expect("6.645 is above 0")
}

fn default_variance() -> Positive {
    Positive::new(1.05).expect("1.05 is above 0")
}

fn default_noise() -> NonNegative {
    NonNegative::new(0.1).expect("0.1 is above 0")
}

/// The Branin-Hoo function (Branin 1972); minimum 0.397887 at three places.
pub(super) fn branin(x1: f64, x2: f64) -> f64 {
    let parabola = x2 - 5.1 / (4.0 * PI * PI) * x1 * x1 + 5.0 / PI * x1 - 6.0;
    parabola * parabola + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * libm::cos(x1) + 10.0
}

impl Default for BraninHoo {
    fn default() -> Self {
        Self {
            grid: default_grid(),
            max_norm: default_norm(),
            kernel: Kernel::default(),
            length_scale: default_length_scale(),
            variance: default_variance(),
            noise_variance: default_noise(),
            measurement_noise: None,
        }
    }
}

#[derive(Debug)]
struct Ready {
    instance: Instance,
    counts: Vec<usize>,
    /// Mean and standard deviation by which values were standardised.
    scale: (f64, f64),
}

/// The lower and the upper end of each input.
const BOUNDS: [(f64, f64); 2] = [(-5.0, 10.0), (0.0, 15.0)];

impl Objective for BraninHoo {
    fn is_always_the_same(&self) -> bool {
        true
    }

    fn problems(&self, _: &Resources) -> Vec<Problem> {
        let mut problems = grid_problems(&self.grid);
        if self.grid.len() != 2 {
            let found = format!("{} numbers", self.grid.len());
            let expected = "points along each of the two dimensions";
            problems.push(Problem::wrong("grid", expected, found, "write [100, 100]"));
        } else if self.grid.iter().all(|count| count.get() == 1) {
            problems.push(Problem::wrong("grid", "more than one point", "one point", "write [100, 100]"));
        }
        problems.extend(self.length_scale.problem("length_scale", 2));
        problems
    }

    fn extent(&self, _: &Resources) -> Extent {
        Extent::of_values("grid", &self.grid.iter().map(|count| count.get()).collect::<Vec<_>>())
    }

    fn shift_grid(&self) -> Option<Vec<NonZeroUsize>> {
        Some(self.grid.clone())
    }

    fn stated(&self) -> Stated {
        Stated::gaussian(self.measurement_noise.unwrap_or(self.noise_variance).get().sqrt())
    }

    fn unit(&self) -> String {
        "standard deviations of the function over the grid".to_owned()
    }

    fn prepare(
        &self,
        _: &Resources,
        _: Option<&Fitted>,
        _: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        let counts: Vec<usize> = self.grid.iter().map(|count| count.get()).collect();
        let mut rows = grid(&counts, &BOUNDS);
        let mut values: Vec<f64> = rows.chunks(2).map(|x| -branin(x[0], x[1])).collect();
        let scale = super::scaling::standardise(&mut values)
            .ok_or(ObjectiveError::Constant { name: "Branin-Hoo" })?;
        let plain = Some(UnscaledInputs::coordinates(2, rows.clone()));
        centre_and_scale(&mut rows, 2, self.max_norm.get());
        let instance = Instance {
            inputs: Arc::new(Points::new(values.len(), 2, rows)),
            values: Arc::new(values),
            noise: Noise::gaussian(self.measurement_noise.unwrap_or(self.noise_variance).get().sqrt()),
            surrogate: Surrogate {
                covariance: self.length_scale.covariance(self.kernel, self.variance.get()),
                noise_variance: self.noise_variance.get(),
                mean: 0.0,
            },
            background: ProblemFacts { plain, ..ProblemFacts::with_stated_inputs() },
        };
        Ok(Box::new(Ready { instance, counts, scale }))
    }
}

impl Prepared for Ready {
    fn realise(&self, _: Key) -> Result<Instance, ObjectiveError> {
        Ok(self.instance.clone())
    }

    /// The values come from the function's formula, which is also defined outside the domain.
    fn shifted(&self, _: Key, shifts: &[Vec<f64>]) -> Option<Result<Vec<Vec<f64>>, ObjectiveError>> {
        let shifts = whole_steps(&self.counts, shifts);
        let lattice = Lattice::reaching(&self.counts, &shifts);
        let axis = |axis: usize| -> Vec<f64> {
            let (low, high) = BOUNDS[axis];
            let count = self.counts[axis];
            let share = |step: f64| if count > 1 { step / (count - 1) as f64 } else { 0.5 };
            lattice.steps(axis).into_iter().map(|step| low + (high - low) * share(step)).collect()
        };
        let (mean, sd) = self.scale;
        let rows = combinations(&[axis(0), axis(1)]);
        let values: Vec<f64> = rows.chunks(2).map(|x| (-branin(x[0], x[1]) - mean) / sd).collect();
        Some(Ok(lattice.shifted(&values, &shifts)))
    }
}

#[cfg(test)]
mod tests {
    use super::branin;
    use std::f64::consts::PI;

    #[test]
    fn minima_are_where_the_literature_has_them() {
        for (x1, x2) in [(-PI, 12.275), (PI, 2.275), (9.424_78, 2.475)] {
            assert!((branin(x1, x2) - 0.397_887).abs() < 1e-5, "({x1}, {x2}): {}", branin(x1, x2));
        }
    }
}
