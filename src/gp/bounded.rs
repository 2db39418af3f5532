//! Local maxima of a smooth function on a box, by a quasi-Newton method that may end at a bound.
//!
//! The method is limited-memory BFGS on the inputs that are not held at a bound, with steps that are projected onto the
//! box (Bertsekas 1982, "Projected Newton methods for optimization problems with simple constraints"). Its line search
//! halves a step a bounded number of times. The L-BFGS of argmin is not used: it has no bounds, and its line search may
//! take any number of steps. A search that replaces the bounds by a sigmoid, as in `multi_start`, never reaches a bound,
//! where acquisition functions often have their maxima.

use super::dot;
use std::collections::VecDeque;

/// Largest number of past steps that are stored, each with the change of the gradient along it.
const MEMORY: usize = 8;
/// Largest number of halvings of a step.
const HALVINGS: usize = 20;
/// A step must increase the function by at least this share of the increase that the gradient predicts (Armijo's
/// rule).
const ARMIJO: f64 = 1e-4;
/// While no past step is stored, a step goes along the gradient (with 0 for the inputs that are held at a bound). Before any
/// halving, the largest coordinate of a step along the gradient is this share of the box's longest side.
const FIRST_STEP: f64 = 0.1;
/// Largest number of moves to a neighbour (another value of one discrete input) in one search.
const STEPS: usize = 64;

/// When a search for a local maximum ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Climb {
    /// The search ends after this many attempts at a step.
    pub(crate) max_steps: usize,
    /// The search ends when no derivative, multiplied by the length of the box along its input, exceeds this number in
    /// absolute value. Derivatives along inputs that are held at a bound do not count.
    pub(crate) gradient_tolerance: f64,
    /// The search ends when a step increases the function by less than this.
    pub(crate) value_tolerance: f64,
}

impl Climb {
    /// Searches for a local maximum of `function` in the box `bounds`, `[d]`, from the point
    /// `start`, `[d]`; returns the best point found, `[d]`, and its value. `function` returns its
    /// value at a point and writes its gradient. The search never moves to a point without a finite
    /// value; the result is `None` if the starting point has no finite value.
    pub(crate) fn from(
        self,
        start: &[f64],
        bounds: &[(f64, f64)],
        function: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Option<(Vec<f64>, f64)> {
        let d = start.len();
        let sides: Vec<f64> = bounds.iter().map(|(low, high)| high - low).collect();
        let longest = sides.iter().copied().fold(0.0, f64::max);
        let clamp = |x: f64, i: usize| x.clamp(bounds[i].0, bounds[i].1);
        let mut x: Vec<f64> = start.iter().enumerate().map(|(i, &x)| clamp(x, i)).collect();
        let mut gradient = vec![0.0; d];
        let mut value = function(&x, &mut gradient);
        if !value.is_finite() {
            return None;
        }
        let mut memory: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::new();
        for _ in 0..self.max_steps {
            let held: Vec<bool> = (0..d)
                .map(|i| {
                    (x[i] <= bounds[i].0 && gradient[i] <= 0.0) || (x[i] >= bounds[i].1 && gradient[i] >= 0.0)
                })
                .collect();
            let free: Vec<f64> = (0..d).map(|i| if held[i] { 0.0 } else { gradient[i] }).collect();
            let slope = free.iter().zip(&sides).map(|(g, side)| (g * side).abs()).fold(0.0, f64::max);
            if slope.is_nan() || slope <= self.gradient_tolerance {
                break;
            }
            let mut direction = uphill(&memory, &free);
            direction.iter_mut().zip(&held).filter(|(_, held)| **held).for_each(|(step, _)| *step = 0.0);
            let along = dot(&direction, &free);
            if memory.is_empty() || along.is_nan() || along <= 0.0 {
                memory.clear();
                let size = free.iter().fold(0.0f64, |most, g| most.max(g.abs()));
                direction = free.iter().map(|g| FIRST_STEP * longest * g / size).collect();
            }
            let Some((next, better, slopes)) = step(&x, value, &gradient, &direction, &clamp, function)
            else {
                if memory.is_empty() {
                    break;
                }
                memory.clear();
                continue;
            };
            let moved: Vec<f64> = next.iter().zip(&x).map(|(a, b)| a - b).collect();
            let change: Vec<f64> = gradient.iter().zip(&slopes).map(|(a, b)| a - b).collect();
            let curvature = dot(&moved, &change);
            if curvature > 1e-12 * (dot(&moved, &moved) * dot(&change, &change)).sqrt() && curvature > 0.0 {
                memory.push_back((moved, change));
                if memory.len() > MEMORY {
                    memory.pop_front();
                }
            }
            let gained = better - value;
            (x, value, gradient) = (next, better, slopes);
            if gained < self.value_tolerance {
                break;
            }
        }
        Some((x, value))
    }
}

/// The search direction of limited-memory BFGS, by the two-loop recursion over the stored steps
/// (Nocedal and Wright 2006, algorithm 7.4).
fn uphill(memory: &VecDeque<(Vec<f64>, Vec<f64>)>, gradient: &[f64]) -> Vec<f64> {
    let mut direction = gradient.to_vec();
    let mut shares = Vec::with_capacity(memory.len());
    for (moved, change) in memory.iter().rev() {
        let share = dot(moved, &direction) / dot(moved, change);
        direction.iter_mut().zip(change).for_each(|(q, y)| *q -= share * y);
        shares.push(share);
    }
    if let Some((moved, change)) = memory.back() {
        let scale = dot(moved, change) / dot(change, change);
        direction.iter_mut().for_each(|q| *q *= scale);
    }
    for ((moved, change), share) in memory.iter().zip(shares.into_iter().rev()) {
        let other = dot(change, &direction) / dot(moved, change);
        direction.iter_mut().zip(moved).for_each(|(q, s)| *q += (share - other) * s);
    }
    direction
}

/// A step along a direction, projected onto the box: the new point, its value and its gradient.
/// `None` if even the shortest step that is tried increases the function too little.
fn step(
    x: &[f64],
    value: f64,
    gradient: &[f64],
    direction: &[f64],
    clamp: &impl Fn(f64, usize) -> f64,
    function: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Option<(Vec<f64>, f64, Vec<f64>)> {
    let mut length = 1.0;
    let mut slopes = vec![0.0; x.len()];
    for _ in 0..=HALVINGS {
        let next: Vec<f64> = (0..x.len()).map(|i| clamp(x[i] + length * direction[i], i)).collect();
        let promised: f64 = (0..x.len()).map(|i| gradient[i] * (next[i] - x[i])).sum();
        let found = function(&next, &mut slopes);
        if found.is_finite() && promised > 0.0 && found >= value + ARMIJO * promised {
            return Some((next, found, slopes));
        }
        length *= 0.5;
    }
    None
}

/// In each group of candidates, starts a search for a local maximum from each of the `refined` candidates with the largest
/// values. Returns the best point that any search found, with its value; if several points have the same value, the point
/// found first. A candidate is a point, `[d]`. `None` if no candidate has a finite value. `value` computes only the value of
/// the function at a point, `function` the value and the gradient.
pub(crate) fn maximum_in_box(
    groups: &[Vec<Vec<f64>>],
    bounds: &[(f64, f64)],
    (refined, climb): (usize, Climb),
    value: &mut impl FnMut(&[f64]) -> f64,
    function: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Option<(Vec<f64>, f64)> {
    best_refined(groups, refined, value, &mut |start| climb.from(start, bounds, function))
}

/// As [`maximum_in_box`], for a function of which some inputs take discrete values only. `discrete`, `[d]`, says for each
/// input whether it is discrete. The discrete inputs of the candidates must have valid values. A neighbour of a point has
/// another value of one discrete input; `neighbours` returns the neighbours of a point. A search from a candidate alternates
/// two steps: a search for a local maximum along the inputs that are not discrete, and a move to the best neighbour of this
/// maximum. The alternation ends when no neighbour of the maximum is better, or after 64 moves. The function is computed at
/// valid points only.
///
/// Source: BoTorch 0.18.1, `optimize_acqf_mixed_alternating` (alternation); Garrido-Merchan and Hernandez-Lobato 2020,
/// "Dealing with categorical and integer-valued variables in Bayesian optimization with Gaussian processes" (a model that
/// sees valid points only).
pub(crate) fn maximum_in_mixed(
    groups: &[Vec<Vec<f64>>],
    (bounds, discrete): (&[(f64, f64)], &[bool]),
    (refined, climb): (usize, Climb),
    neighbours: &impl Fn(&[f64]) -> Vec<Vec<f64>>,
    value: &mut impl FnMut(&[f64]) -> f64,
    function: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Option<(Vec<f64>, f64)> {
    let held_at = |point: &[f64]| -> Vec<(f64, f64)> {
        let ends = bounds.iter().zip(discrete).zip(point);
        ends.map(|((ends, discrete), x)| if *discrete { (*x, *x) } else { *ends }).collect()
    };
    let mut refine = |start: &[f64]| {
        let mut unused = vec![0.0; start.len()];
        let mut best = climb.from(start, &held_at(start), function)?;
        for _ in 0..STEPS {
            let mut better: Option<(Vec<f64>, f64)> = None;
            for point in neighbours(&best.0) {
                let found = function(&point, &mut unused);
                if found > better.as_ref().map_or(best.1, |better| better.1) {
                    better = Some((point, found));
                }
            }
            let Some((point, _)) = better else { break };
            best = climb.from(&point, &held_at(&point), function)?;
        }
        Some(best)
    };
    best_refined(groups, refined, value, &mut refine)
}

/// Applies `refine`, a local search, to the `refined` best candidates of each group, and returns
/// the best result.
fn best_refined(
    groups: &[Vec<Vec<f64>>],
    refined: usize,
    value: &mut impl FnMut(&[f64]) -> f64,
    refine: &mut impl FnMut(&[f64]) -> Option<(Vec<f64>, f64)>,
) -> Option<(Vec<f64>, f64)> {
    let mut best: Option<(Vec<f64>, f64)> = None;
    for candidates in groups {
        let mut scored: Vec<(f64, &Vec<f64>)> = candidates
            .iter()
            .map(|point| (value(point), point))
            .filter(|(score, _)| score.is_finite())
            .collect();
        // A stable sort: of candidates with equal values, the first is refined first.
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, start) in scored.into_iter().take(refined) {
            let found = refine(start);
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| found.1 > best.1)
            {
                best = Some(found);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIMB: Climb = Climb { max_steps: 200, gradient_tolerance: 1e-9, value_tolerance: 0.0 };

    /// Minus Rosenbrock's function: a curved ridge whose top is at (1, 1).
    fn ridge(x: &[f64], gradient: &mut [f64]) -> f64 {
        let (curve, along) = (x[1] - x[0] * x[0], x[0] - 1.0);
        gradient[0] = 400.0 * curve * x[0] - 2.0 * along;
        gradient[1] = -200.0 * curve;
        -100.0 * curve * curve - along * along
    }

    #[test]
    fn the_search_follows_a_curved_ridge_to_its_top_and_to_a_bound() {
        let (top, value) = CLIMB.from(&[-1.2, 1.0], &[(-5.0, 10.0); 2], &mut ridge).unwrap();
        assert!((top[0] - 1.0).abs() < 1e-5 && (top[1] - 1.0).abs() < 1e-5, "{top:?}");
        assert!(value > -1e-10);
        // With the first input at most 0.5 the maximum is at (0.5, 0.25), on the bound.
        let (top, _) = CLIMB.from(&[-1.2, 1.0], &[(-5.0, 0.5), (-5.0, 10.0)], &mut ridge).unwrap();
        assert_eq!(top[0], 0.5);
        assert!((top[1] - 0.25).abs() < 1e-6, "{top:?}");
    }

    #[test]
    fn a_corner_is_reached_exactly_and_points_without_a_value_are_not_entered() {
        let mut plane = |x: &[f64], gradient: &mut [f64]| {
            gradient.copy_from_slice(&[1.0, -2.0]);
            x[0] - 2.0 * x[1]
        };
        let found = CLIMB.from(&[0.3, 0.6], &[(0.0, 1.0); 2], &mut plane).unwrap();
        assert_eq!(found, (vec![1.0, 0.0], 1.0));
        let mut half = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0;
            if x[0] < 0.6 { x[0] } else { f64::NAN }
        };
        let (top, _) = CLIMB.from(&[0.1], &[(0.0, 1.0)], &mut half).unwrap();
        assert!((0.5..0.6).contains(&top[0]), "{top:?}");
        assert_eq!(CLIMB.from(&[0.9], &[(0.0, 1.0)], &mut half), None);
    }

    /// The function -(x - 2.4)^2 - (y - 0.3 x)^2 with an integer x has its maximum at x = 2, y = 0.6. A search over
    /// real x that rounds x at the end would return y = 0.72, the best y for x = 2.4.
    #[test]
    fn integer_inputs_stay_integers_and_the_others_are_optimised_for_them() {
        let mut function = |p: &[f64], gradient: &mut [f64]| {
            assert!(p[0].fract() == 0.0, "only valid points: {p:?}");
            let (a, b) = (p[0] - 2.4, p[1] - 0.3 * p[0]);
            gradient[0] = -2.0 * a + 0.6 * b;
            gradient[1] = -2.0 * b;
            -a * a - b * b
        };
        let bounds = [(-9.0, 9.0), (-9.0, 9.0)];
        let neighbours = |p: &[f64]| vec![vec![p[0] - 1.0, p[1]], vec![p[0] + 1.0, p[1]]];
        let mut value = |p: &[f64]| -(p[0] - 2.4) * (p[0] - 2.4);
        let found = maximum_in_mixed(
            &[vec![vec![-7.0, 4.0]]],
            (&bounds, &[true, false]),
            (1, CLIMB),
            &neighbours,
            &mut value,
            &mut function,
        );
        let (top, best) = found.unwrap();
        assert!(top[0] == 2.0 && (top[1] - 0.6).abs() < 1e-6 && (best + 0.16).abs() < 1e-9, "{top:?} {best}");
    }

    #[test]
    fn the_higher_of_two_hills_is_found_from_candidates_on_both() {
        let hill = |x: f64, height: f64, top: f64| {
            let value = height * libm::exp(-(x - top) * (x - top));
            (value, -2.0 * (x - top) * value)
        };
        let mut function = |x: &[f64], gradient: &mut [f64]| {
            let ((a, da), (b, db)) = (hill(x[0], 1.0, 0.0), hill(x[0], 2.0, 4.0));
            gradient[0] = da + db;
            a + b
        };
        // Of the two candidates, the one near the lower hill has the larger value.
        let groups = [vec![vec![2.6], vec![0.1]]];
        let at = |x: f64| function(&[x], &mut [0.0]);
        assert!(at(0.1) > at(2.6));
        for (refined, top) in [(1, 0.0), (2, 4.0)] {
            let mut value = |x: &[f64]| {
                let ((a, _), (b, _)) = (hill(x[0], 1.0, 0.0), hill(x[0], 2.0, 4.0));
                a + b
            };
            let bounds = [(-3.0, 7.0)];
            let found =
                maximum_in_box(&groups, &bounds, (refined, CLIMB), &mut value, &mut function).unwrap();
            assert!((found.0[0] - top).abs() < 1e-4, "{refined}: {found:?}");
        }
    }
}
