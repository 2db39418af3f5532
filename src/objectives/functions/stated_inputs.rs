//! Inputs that a scenario states for a test function, checked so that the function's smallest value on the box of these
//! inputs stays known.

use super::Function;
use crate::objectives::dimension::{self, Dimension};
use crate::vocab::Problem;

/// The coordinate at which the function is evaluated if an input has the value `number`. `top` is the coordinate, along
/// this input, of the point at which the function is smallest. A category's number k, from 0, stands for `top` + k, so
/// that the first category stands for `top`.
pub(super) fn coordinate(dimension: &Dimension, top: f64, number: f64) -> f64 {
    if dimension.categories().is_empty() { number } else { top + number }
}

/// What is wrong with one input of a function. Along this input, the function's domain extends from `least` to `most`,
/// and the point at which the function is smallest has the coordinate `top`.
fn problems_of(dimension: &Dimension, place: &str, (least, most): (f64, f64), top: f64) -> Vec<Problem> {
    let (low, high) = dimension.ends();
    let mut problems = Vec::new();
    let mut wrong = |field: &str, expected: String, found: String, cure: &str| {
        let place = format!("{place}.{}.{field}", dimension.word());
        problems.push(Problem::wrong(place, expected, found, cure));
    };
    if !dimension.categories().is_empty() {
        let fitting = (most - top).floor() as usize + 1;
        if dimension.categories().len() > fitting {
            let expected = format!(
                "at most {fitting} values: value number k, from 0, stands for {top} + k, which may be at most {most}"
            );
            wrong("values", expected, dimension.categories().len().to_string(), "write fewer values");
        }
        return problems;
    }
    let within = "so that the box contains the best point, whose value gives the regret";
    let cure = "write a number within this range";
    if low < least || low > top {
        wrong("low", format!("a number from {least} to {top}, {within}"), low.to_string(), cure);
    }
    if high > most || high < top {
        wrong("high", format!("a number from {top} to {most}, {within}"), high.to_string(), cure);
    }
    problems
}

/// All problems of the stated inputs of a function.
pub(super) fn problems(function: Function, dimensions: &[Dimension]) -> Vec<Problem> {
    let Some(top) = function.whole_place() else {
        return vec![Problem::wrong(
            "dimensions",
            "Ackley, Levy, Rosenbrock, Griewank or Rastrigin, whose best point has whole numbers",
            function.name(),
            "leave out `dimensions`, or choose one of these functions",
        )];
    };
    let mut problems = Vec::new();
    if dimensions.len() != function.d() {
        problems.push(Problem::wrong(
            "dimensions",
            format!("{} inputs, those of {}", function.d(), function.name()),
            dimensions.len().to_string(),
            "write a Real, an Integer or a Categorical for each input",
        ));
    } else {
        problems.extend(dimension::problems(dimensions));
    }
    let side = function.domain().sides().first().copied().unwrap_or((0.0, 1.0));
    for (index, dimension) in dimensions.iter().enumerate() {
        problems.extend(problems_of(dimension, &format!("dimensions[{index}]"), side, top));
    }
    problems
}
