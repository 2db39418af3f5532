//! Test functions of optimisation, on a box or on a finite set of points of a box.

mod best_places;
mod function;
mod hartmann;
mod stated_inputs;
mod valleys;
mod waves;

pub use function::Function;

use super::dimension::{self, Dimension};
use super::grid_function::grid_problems;
use super::instance::{Continuum, Instance, PointFunction, ProblemFacts, Surrogate, UnscaledInputs};
use super::scaling::{combinations, spread};
use super::{
    Extent, Fitted, Kernel, LengthScales, Noise, Objective, ObjectiveError, Prepared, Resources, Stated,
};
use crate::gp::Points;
use crate::gp::covariance::{Covariance, LengthScale};
use crate::rng::{Key, sobol};
use crate::vocab::{Finite, NonNegative, Positive, Problem, SearchBox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Minus a test function, so that larger values are better. Values are in the function's own units. The objective's
/// largest value is known, so that regret is exact. The model sees inputs as points of the unit cube.
///
/// Example: `TestFunction(function: Hartmann6)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestFunction {
    /// The function.
    pub function: Function,
    /// The points of the function's domain that can be queried. Default: `Box`, all of them.
    #[serde(default)]
    pub points: DomainPoints,
    /// The function's inputs, in order: real or whole numbers with a name, on a linear or a logarithmic scale, and
    /// categories. Inputs can be stated only for functions whose best point, the point at which the function is smallest,
    /// has whole coordinates (Ackley, Levy, Rosenbrock, Griewank, Rastrigin). The box of the inputs must lie within the
    /// function's domain and contain the best point, so that regret stays exact. The first value of a categorical input
    /// stands for the best point's coordinate along this input. Every further value stands for a coordinate that is
    /// larger by 1 than the coordinate of the value before it. Default: real numbers on the function's own domain, named
    /// x1, x2 and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Vec<Dimension>>,
    /// Variance of the noise of an outcome. The model assumes the same noise variance, but at least 1e-6 of its prior
    /// variance. Default: 0.
    #[serde(default = "no_noise")]
    pub noise_variance: NonNegative,
    /// Kernel that the model assumes. Default: `Matern52`.
    #[serde(default = "matern52")]
    pub kernel: Kernel,
    /// Length-scale that the model assumes, as a share of a side of the box, or a list with one for each input.
    /// Default: 0.2 sqrt(d), where d is the number of inputs.
    #[serde(default)]
    pub length_scale: Option<LengthScales>,
    /// Prior variance that the model assumes. Default: the variance of the values at 1,024 Sobol' points of the box.
    #[serde(default)]
    pub variance: Option<Positive>,
    /// Prior mean that the model assumes. Default: the mean of the values at 1,024 Sobol' points of the box.
    #[serde(default)]
    pub mean: Option<Finite>,
}

/// The points of a box that can be queried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum DomainPoints {
    /// All points of the box: a query is a point. This needs a protocol and learners that search a box.
    #[default]
    Box,
    /// This many Sobol' points, at most 1000000. They are moved by a random digital shift, which is the same in all
    /// replications. The points are a finite set of arms, and regret is measured against the best arm.
    ///
    /// Example: `Sobol(1024)`.
    Sobol(NonZeroUsize),
    /// A regular grid with this many points along each input, at most 1000000 in all. Two or more points along an input
    /// include both ends of its interval; a single point is the middle.
    ///
    /// Example: `Grid([32, 32])`.
    Grid(Vec<NonZeroUsize>),
}

fn no_noise() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not negative")
}

fn matern52() -> Kernel {
    Kernel::Matern52
}

/// Number of points from which the default mean and variance of the model are computed; also the number of points that
/// represent a box where a finite set is needed, as for estimates of time and memory.
const SAMPLE: usize = 1024;
/// Largest number of points of a finite set.
const MAX_POINTS: usize = 1_000_000;
/// Smallest noise variance that the model assumes, as a share of the model's prior variance: without noise, queries of
/// nearby points would make the model's covariance matrix singular.
const LEAST_NOISE: f64 = 1e-6;

#[derive(Debug)]
struct Ready {
    instance: Instance,
    /// The function and its domain, if the function can be shifted.
    formula: Option<(Negated, SearchBox)>,
}

/// Minus a test function, evaluated at a point of the stated inputs or, without stated inputs, of the function's domain.
#[derive(Debug)]
struct Negated {
    function: Function,
    dimensions: Option<Vec<Dimension>>,
}

impl PointFunction for Negated {
    fn at(&self, point: &[f64]) -> f64 {
        let Some(dimensions) = &self.dimensions else { return -self.function.at(point) };
        let top = self.function.whole_place().unwrap_or(0.0);
        let inputs = dimensions.iter().zip(point);
        let x: Vec<f64> =
            inputs.map(|(dimension, x)| stated_inputs::coordinate(dimension, top, *x)).collect();
        -self.function.at(&x)
    }
}

impl TestFunction {
    /// The box that is searched, for a recipe without problems.
    fn search_box(&self) -> SearchBox {
        self.dimensions.as_deref().map_or_else(|| self.function.domain(), dimension::domain)
    }

    /// Problems of the function and of its inputs.
    fn domain_problems(&self) -> Vec<Problem> {
        match (self.function.problem(), &self.dimensions) {
            (Some(problem), _) => vec![problem.below("function")],
            (None, Some(dimensions)) => stated_inputs::problems(self.function, dimensions),
            (None, None) => Vec::new(),
        }
    }

    /// The points of the unit cube that can be queried, or that represent the box: the coordinates of all points, row-major.
    fn unit_points(&self, key: Key) -> Vec<f64> {
        let d = self.function.d();
        let of = |count| sobol::points(count, d, key.child("design")).concat();
        let rows = match &self.points {
            DomainPoints::Box => of(SAMPLE),
            DomainPoints::Sobol(count) => of(count.get()),
            DomainPoints::Grid(counts) => {
                let axis = |count: &NonZeroUsize| {
                    let steps = count.get();
                    let share = |step: usize| if steps > 1 { step as f64 / (steps - 1) as f64 } else { 0.5 };
                    (0..steps).map(share).collect()
                };
                combinations(&counts.iter().map(axis).collect::<Vec<Vec<f64>>>())
            }
        };
        let domain = self.search_box();
        rows.chunks(d).flat_map(|shares| domain.at_shares(shares)).collect()
    }

    fn negated(&self) -> Negated {
        Negated { function: self.function, dimensions: self.dimensions.clone() }
    }

    /// The value at a point of the unit cube.
    fn value(&self, unit: &[f64]) -> f64 {
        self.negated().at(&self.search_box().from_unit(unit))
    }

    fn surrogate(&self, key: Key) -> Result<Surrogate, ObjectiveError> {
        let d = self.function.d();
        let sample = sobol::points(SAMPLE, d, key.child("sample"));
        let domain = self.search_box();
        let values: Vec<f64> = sample.iter().map(|shares| self.value(&domain.at_shares(shares))).collect();
        let (mean, sd) =
            spread(values.iter().copied()).ok_or(ObjectiveError::Constant { name: "the test function" })?;
        let variance = self.variance.map_or(sd * sd, Positive::get);
        let length_scale = match &self.length_scale {
            Some(stated) => stated.of_coordinates(|inputs| domain.of_coordinates(inputs)),
            None => LengthScale::Same(0.2 * (d as f64).sqrt()),
        };
        Ok(Surrogate {
            covariance: Covariance { shape: self.kernel.shape(), length_scale, variance },
            noise_variance: self.noise_variance.get().max(LEAST_NOISE * variance),
            mean: self.mean.map_or(mean, Finite::get),
        })
    }
}

impl Objective for TestFunction {
    fn is_always_the_same(&self) -> bool {
        true
    }

    fn problems(&self, _: &Resources) -> Vec<Problem> {
        let mut problems = self.domain_problems();
        let stated = self.length_scale.as_ref();
        problems.extend(stated.and_then(|stated| stated.problem("length_scale", self.function.d())));
        match &self.points {
            DomainPoints::Box => {}
            DomainPoints::Sobol(count) if count.get() > MAX_POINTS => problems.push(Problem::wrong(
                "points.Sobol",
                format!("at most {MAX_POINTS} points"),
                count.to_string(),
                "write points: Sobol(1024), for example",
            )),
            DomainPoints::Sobol(_) => {}
            DomainPoints::Grid(counts) => {
                let place = |problem: Problem| Problem { path: "points.Grid".to_owned(), ..problem };
                problems.extend(grid_problems(counts).into_iter().map(place));
                if counts.len() != self.function.d() {
                    problems.push(Problem::wrong(
                        "points.Grid",
                        format!(
                            "{} numbers, one for each input of {}",
                            self.function.d(),
                            self.function.name()
                        ),
                        counts.len().to_string(),
                        "write the number of points along each input",
                    ));
                }
            }
        }
        problems
    }

    fn extent(&self, _: &Resources) -> Extent {
        let arms = match &self.points {
            DomainPoints::Box => SAMPLE,
            DomainPoints::Sobol(count) => count.get(),
            DomainPoints::Grid(counts) => {
                counts.iter().fold(1, |product: usize, count| product.saturating_mul(count.get()))
            }
        };
        let extent = Extent::of(arms as u64, self.function.d() as u64).due_to("points", arms as u64);
        if matches!(self.points, DomainPoints::Box) { extent.of_box() } else { extent }
    }

    fn stated(&self) -> Stated {
        Stated::gaussian(self.noise_variance.get().sqrt())
    }

    fn domain(&self) -> Option<SearchBox> {
        (self.points == DomainPoints::Box && self.domain_problems().is_empty()).then(|| self.search_box())
    }

    fn best_points(&self) -> Vec<Vec<f64>> {
        match self.domain() {
            Some(domain) if domain.is_linear() => {
                let places = self.function.best_places();
                places
                    .iter()
                    .filter(|place| domain.contains(place))
                    .map(|place| domain.to_unit(place))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    fn has_categories(&self) -> bool {
        let is = |dimension: &Dimension| matches!(dimension, Dimension::Categorical { .. });
        self.dimensions.iter().flatten().any(is)
    }

    /// If all inputs are real numbers on linear scales, the function's formula can be evaluated beyond the domain.
    fn continues(&self) -> bool {
        self.domain_problems().is_empty() && self.search_box().is_linear()
    }

    fn unit(&self) -> String {
        format!("units of {}", self.function.name())
    }

    fn prepare(
        &self,
        _: &Resources,
        _: Option<&Fitted>,
        key: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        let rows = self.unit_points(key);
        let domain = self.search_box();
        let width = domain.width();
        let values: Vec<f64> = rows.chunks(width).map(|unit| self.value(unit)).collect();
        let plain: Vec<f64> = rows.chunks(width).flat_map(|unit| domain.from_unit(unit)).collect();
        let names = domain.columns();
        let continuum = Continuum {
            domain,
            function: Arc::new(self.negated()),
            best: -self.function.least(),
            best_is_known: true,
        };
        let instance = Instance {
            inputs: Arc::new(Points::new(values.len(), width, rows)),
            values: Arc::new(values),
            noise: Noise::gaussian(self.noise_variance.get().sqrt()),
            surrogate: self.surrogate(key)?,
            background: ProblemFacts {
                plain: Some(Arc::new(UnscaledInputs { names, rows: plain })),
                continuum: (self.points == DomainPoints::Box).then_some(continuum),
                ..ProblemFacts::with_stated_inputs()
            },
        };
        let formula = self.continues().then(|| (self.negated(), self.search_box()));
        Ok(Box::new(Ready { instance, formula }))
    }
}

impl Prepared for Ready {
    fn realise(&self, _: Key) -> Result<Instance, ObjectiveError> {
        Ok(self.instance.clone())
    }

    fn shifted(&self, _: Key, shifts: &[Vec<f64>]) -> Option<Result<Vec<Vec<f64>>, ObjectiveError>> {
        let (function, domain) = self.formula.as_ref()?;
        let inputs = &self.instance.inputs;
        let at = |shift: &[f64], arm: usize| {
            let moved = inputs.row(arm).iter().zip(shift).map(|(x, s)| x - s);
            let ends = domain.sides().iter();
            function.at(&moved.zip(ends).map(|(u, (low, high))| low + (high - low) * u).collect::<Vec<f64>>())
        };
        let of = |shift: &Vec<f64>| match shift.iter().all(|s| *s == 0.0) {
            true => self.instance.values.to_vec(),
            false => (0..inputs.n()).map(|arm| at(shift, arm)).collect(),
        };
        Some(Ok(shifts.iter().map(of).collect()))
    }
}
