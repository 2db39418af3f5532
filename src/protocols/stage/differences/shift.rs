//! How far the function of each agent is shifted.

use crate::gp::MAX_ARMS;
use crate::objectives::Objective;
use crate::rng::Stream;
use crate::vocab::{Finite, NonNegative, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shift s of each agent's function: the function f(x) becomes f(x - s), so the optimum x* of f moves to x* + s if
/// x* + s is in the domain. Shifts are in units of the domain's side along each input. `RkhsSum` and `BraninHoo` round
/// shifts to whole steps of their grid, and so do `GpSample` and `MultiTaskSample` with their default kernel. Beyond the
/// domain, `GpSample` and `MultiTaskSample` with the default kernel are continued by a draw from the prior, given the values
/// at all arms. `RkhsSum` and `BraninHoo` are continued by their formula, and so is a `TestFunction` of real inputs on
/// linear scales. On a box, shifts are refused unless a best point of the `TestFunction` is sure to stay in the box, so that
/// the largest value of the shifted function stays known.
///
/// Every other objective that can be shifted, such as a `Table` or a tuned model, is known at its points only. Between and
/// beyond these points, the objective's surrogate continues the function: f(x) = m(x) + c(x, x') (f(x') - m(x')). Here m is
/// the posterior mean given all values, x' is the known point that is nearest to x, and c is the surrogate's correlation of
/// x and x'. The result is clipped to the range from the smallest to the largest known value.
///
/// Source: Volpp et al. 2020, "Meta-learning acquisition functions for transfer learning in Bayesian optimization"
/// (translated test functions).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Shift {
    /// Along each input, drawn uniformly between minus this size and plus this size. The size is from 0 to 1.
    ///
    /// Example: `Uniform(0.1)`.
    Uniform(NonNegative),
    /// Along each input, drawn from a normal distribution with mean 0 and this standard deviation, which is from 0 to
    /// 0.3. The distribution is truncated at three standard deviations. So the shifts have a standard deviation of 0.987
    /// times the stated one.
    ///
    /// Example: `Normal(0.05)`.
    Normal(NonNegative),
    /// Stated: agent k of the group, counted from 0, has entry k of the list, modulo the list's length; an entry has a
    /// number from -1 to 1 for each input.
    ///
    /// Example: `Given([[0.1], [-0.1]])`.
    Given(Vec<Vec<Finite>>),
}

/// Largest standard deviation: shifts stay below the domain's side.
const MAX_SD: f64 = 0.3;
/// Number of standard deviations at which the normal distribution is truncated.
const TRUNCATED: f64 = 3.0;

impl Shift {
    /// The largest possible shift along an input, as an absolute value in units of the domain's side.
    pub(in crate::protocols) fn reach(&self) -> f64 {
        match self {
            Self::Uniform(size) => size.get(),
            Self::Normal(sd) => TRUNCATED * sd.get(),
            Self::Given(list) => {
                list.iter().flatten().fold(0.0, |most, shift| f64::max(most, shift.get().abs()))
            }
        }
    }

    /// Number of stated shifts; 1 if they are drawn.
    pub(in crate::protocols) fn stated(&self) -> usize {
        match self {
            Self::Uniform(_) | Self::Normal(_) => 1,
            Self::Given(list) => list.len(),
        }
    }

    /// Whether any shift may be other than 0.
    pub(in crate::protocols) fn moves(&self) -> bool {
        self.reach() > 0.0
    }

    /// Whether two agents of a group may have different shifts.
    pub(in crate::protocols) fn between_agents(&self) -> bool {
        match self {
            Self::Uniform(_) | Self::Normal(_) => self.moves(),
            Self::Given(list) => list.iter().any(|shift| shift != &list[0]),
        }
    }

    /// What is wrong with the values.
    pub(in crate::protocols) fn problem(&self) -> Option<Problem> {
        let units = "in units of the domain's side";
        match self {
            Self::Uniform(size) => (size.get() > 1.0).then(|| {
                let expected = format!("at most 1, {units}");
                Problem::wrong("Uniform", expected, size.to_string(), "write 0.1, for example")
            }),
            Self::Normal(sd) => (sd.get() > MAX_SD).then(|| {
                let expected = format!("a standard deviation of at most {MAX_SD}, {units}");
                Problem::wrong("Normal", expected, sd.to_string(), "write 0.05, for example")
            }),
            Self::Given(list) if list.is_empty() => {
                let cure = "write Given([[0.1]]), for example";
                Some(Problem::wrong("Given", "at least one shift", "none", cure))
            }
            Self::Given(list) => {
                let mut all =
                    list.iter().enumerate().flat_map(|(k, shift)| shift.iter().map(move |s| (k, s)));
                let (k, found) = all.find(|(_, shift)| shift.get().abs() > 1.0)?;
                let expected = format!("a number from -1 to 1, {units}");
                Some(Problem::wrong(
                    format!("Given[{k}]"),
                    expected,
                    found.to_string(),
                    "bring it closer to 0",
                ))
            }
        }
    }

    /// The problem of a shift that this objective does not allow.
    pub(in crate::protocols) fn problem_with(&self, objective: &dyn Objective) -> Option<Problem> {
        if objective.domain().is_some() {
            return self.problem_on_box(&objective.best_points());
        }
        let Some(counts) = objective.shift_grid() else {
            let found = if objective.stated().linear == Some(true) {
                "one whose inputs are readings"
            } else if objective.has_categories() {
                "one with categories"
            } else {
                return None;
            };
            let expected = "an objective whose inputs are numbers, along which its functions can be shifted";
            return Some(Problem::wrong("", expected, found, "leave it out, or take another objective"));
        };
        if let Some(problem) = self.problem_with_inputs(counts.len()) {
            return Some(problem);
        }
        let longest = counts.iter().map(|count| count.get()).max().unwrap_or(1);
        if self.reach() * ((longest - 1) as f64) < 0.5 {
            let expected =
                format!("shifts of at least half a step of the grid, {}", 0.5 / (longest - 1) as f64);
            let cure = "write a larger shift, or a finer grid: shifts are rounded to whole steps";
            return Some(Problem::wrong("", expected, self.reach().to_string(), cure));
        }
        let along = longest as f64 * (1.0 + 2.0 * self.reach());
        (along > MAX_ARMS as f64).then(|| {
            let expected = format!(
                "at most {MAX_ARMS} points along an input, counting the points beyond the domain to which shifted functions are continued"
            );
            Problem::wrong("", expected, format!("{along:.0}"), "write a smaller shift, or a coarser grid")
        })
    }

    /// The problem of a stated shift that does not have one number for each of the objective's inputs.
    pub(in crate::protocols) fn problem_with_inputs(&self, inputs: usize) -> Option<Problem> {
        let Self::Given(list) = self else { return None };
        let (k, shift) = list.iter().enumerate().find(|(_, shift)| shift.len() != inputs)?;
        let expected = format!("a number for each of the {inputs} inputs");
        let (place, found) = (format!("Given[{k}]"), shift.len().to_string());
        Some(Problem::wrong(place, expected, found, "write one number per input"))
    }

    /// The problem of shifts of a function on a box. The function is largest at the points `best`, given in the unit cube. A
    /// shift must leave at least one of these points in the box, or the shifted function's largest value would not be known.
    /// Drawn shifts are accepted only if one of the points stays in the box whatever the draw. If `best` is empty, the
    /// function cannot be shifted.
    fn problem_on_box(&self, best: &[Vec<f64>]) -> Option<Problem> {
        let Some(first) = best.first() else {
            let expected = "a function on a box whose best point is known, of real inputs on linear scales";
            let cure = "leave it out, or take a TestFunction without whole numbers, categories and logarithmic scales";
            return Some(Problem::wrong("", expected, "no such function", cure));
        };
        let stays = "so that a best point of the shifted function is in the box and regret is exact";
        if let Self::Given(list) = self {
            let leaves = |shift: &Vec<Finite>| {
                let inside = |place: &Vec<f64>| {
                    place.iter().zip(shift).all(|(x, s)| (0.0..=1.0).contains(&(x + s.get())))
                };
                shift.len() != first.len() || !best.iter().any(inside)
            };
            let (k, shift) = list.iter().enumerate().find(|(_, shift)| leaves(shift))?;
            let (expected, found) = if shift.len() == first.len() {
                let numbers: Vec<String> = shift.iter().map(ToString::to_string).collect();
                (format!("a smaller shift, {stays}"), format!("[{}]", numbers.join(", ")))
            } else {
                (format!("a number for each of the {} inputs", first.len()), shift.len().to_string())
            };
            return Some(Problem::wrong(
                format!("Given[{k}]"),
                expected,
                found,
                "write numbers closer to 0, one per input",
            ));
        }
        let margin =
            |place: &Vec<f64>| place.iter().fold(f64::INFINITY, |least, x| least.min(x.min(1.0 - x)));
        let most = best.iter().map(margin).fold(0.0, f64::max);
        (self.reach() > most).then(|| {
            let (name, most, found) = match self {
                Self::Normal(sd) => ("Normal", most / TRUNCATED, sd.to_string()),
                _ => ("Uniform", most, self.reach().to_string()),
            };
            // Rounded down, so that the number in the message is accepted.
            let most = libm::floor(most * 1e4) / 1e4;
            Problem::wrong(name, format!("at most {most}, {stays}"), found, "write a smaller number")
        })
    }

    /// The shift of agent k of its group along each of `inputs` inputs, in units of the domain's side.
    pub(in crate::protocols) fn of(&self, k: usize, inputs: usize, stream: &mut Stream) -> Vec<f64> {
        let along = |input: usize| match self {
            Self::Uniform(size) => stream.uniform_between(-size.get(), size.get()),
            Self::Normal(sd) => loop {
                let z = stream.normal();
                if z.abs() <= TRUNCATED {
                    break sd.get() * z;
                }
            },
            Self::Given(list) => list[k % list.len()].get(input).map_or(0.0, |shift| shift.get()),
        };
        (0..inputs).map(along).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn shares(text: &str) -> Vec<f64> {
        let shift: Shift = crate::scenario::part(text).unwrap();
        (0..20_000).flat_map(|k| shift.of(0, 1, &mut Key::root(2).index(k).stream())).collect()
    }

    /// The mean square of 20,000 shifts has the standard error variance * sqrt((kurtosis - 1) / 20,000). The kurtosis is the
    /// fourth moment over the squared variance; it is at most 3 here. Errors of up to six standard errors are allowed.
    #[test]
    fn shifts_have_the_variance_and_the_bounds_of_their_laws() {
        // The variance of a standard normal truncated at 3: 1 - 6 phi(3) / (2 Phi(3) - 1) = 0.973337.
        for (text, variance, reach) in
            [("Uniform(0.3)", 0.09 / 3.0, 0.3), ("Normal(0.1)", 0.01 * 0.973_337, 0.3)]
        {
            let shares = shares(text);
            let mean = shares.iter().sum::<f64>() / 20_000.0;
            let square = shares.iter().map(|s| s * s).sum::<f64>() / 20_000.0;
            assert!(mean.abs() < 6.0 * (variance / 20_000.0f64).sqrt(), "{text}: {mean}");
            let error = 6.0 * variance * (2.0f64 / 20_000.0).sqrt();
            assert!((square - variance).abs() < error, "{text}: {square} for {variance}");
            let most = shares.iter().fold(0.0, |most, s| f64::max(most, s.abs()));
            assert!(most <= reach && most > 0.9 * reach, "{text}: {most}");
        }
    }
}
