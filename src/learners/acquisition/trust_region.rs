//! The trust region of TuRBO: a box around the best point; the box grows with successes and shrinks with failures.

use crate::vocab::SearchBox;

/// Side of a new region, as a share of the side of the domain.
const FIRST: f64 = 0.8;
/// Largest side, as a share of the side of the domain.
const LARGEST: f64 = 1.6;
/// Below this side, as a share of the side of the domain, the search begins anew: 2^-7.
const SMALLEST: f64 = 0.007_812_5;
/// Successes in a row after which the side doubles.
const SUCCESSES: u32 = 3;
/// An outcome is a success if it exceeds the best earlier outcome by more than this share of the
/// absolute value of that best earlier outcome.
const BETTER: f64 = 1e-3;

/// A trust region.
///
/// Source: Eriksson, Pearce, Gardner, Turner and Poloczek 2019, "Scalable global optimization via local Bayesian
/// optimization", TuRBO-1, with the constants of section 3.1 and of the authors' public code.
#[derive(Clone, Debug)]
pub(super) struct TrustRegion {
    side: f64,
    successes: u32,
    failures: u32,
    /// Failures in a row after which the side is halved: the number of coordinates of a point, at least 4.
    patience: u32,
    best: Option<f64>,
}

impl TrustRegion {
    pub(super) fn new(d: usize) -> Self {
        Self { side: FIRST, successes: 0, failures: 0, patience: d.max(4) as u32, best: None }
    }

    /// Adds an outcome. `counts` says whether its point was chosen in the region; the outcome of an
    /// initial point is neither a success nor a failure. Returns whether the region has become so
    /// small that the search has to begin anew.
    pub(super) fn observe(&mut self, outcome: f64, counts: bool) -> bool {
        let better = self.best.is_none_or(|best| outcome > best + BETTER * best.abs());
        self.best = Some(self.best.map_or(outcome, |best| best.max(outcome)));
        if !counts {
            return false;
        }
        (self.successes, self.failures) =
            if better { (self.successes + 1, 0) } else { (0, self.failures + 1) };
        if self.successes == SUCCESSES {
            (self.side, self.successes) = ((2.0 * self.side).min(LARGEST), 0);
        } else if self.failures == self.patience {
            (self.side, self.failures) = (0.5 * self.side, 0);
        }
        self.side < SMALLEST
    }

    /// The region around a point of the unit cube, cut to the cube; before the cut its sides are proportional to the
    /// length-scales, whose geometric mean is 1.
    pub(super) fn around(&self, centre: &[f64], length_scales: &[f64]) -> SearchBox {
        let side = |(x, l): (&f64, &f64)| {
            let half = 0.5 * (self.side * l).max(1e-6);
            ((x - half).clamp(0.0, 1.0 - 1e-6), (x + half).clamp(1e-6, 1.0))
        };
        SearchBox::new(centre.iter().zip(length_scales).map(side).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[test]
    fn a_region_grows_with_successes_shrinks_with_failures_and_ends() {
        let mut region = TrustRegion::new(2);
        assert!(!region.observe(1.0, false) && !region.observe(0.5, false));
        (0..3).for_each(|n| assert!(!region.observe(2.0 + f64::from(n), true)));
        assert_eq!(region.side, LARGEST);
        assert_eq!(region.around(&[0.5, 0.0], &[0.5, 2.0]).sides(), [(0.5 - 0.4, 0.5 + 0.4), (0.0, 1.0)]);
        // An outcome that is better by less than a thousandth is a failure; four failures in a row halve the side.
        (0..4).for_each(|_| assert!(!region.observe(4.003, true)));
        assert_eq!(region.side, 0.8);
        let more = (1..).find(|_| region.observe(0.0, true)).unwrap();
        assert_eq!(more, 28, "seven halvings to 0.00625");
    }
    #[derive(Deserialize)]
    struct Known {
        trust_regions: Vec<Trace>,
        boxes: Vec<Sides>,
    }

    #[derive(Deserialize)]
    struct Trace {
        inputs: usize,
        design: Vec<f64>,
        /// An outcome, and the side after it.
        trace: Vec<(f64, f64)>,
    }

    #[derive(Deserialize)]
    struct Sides {
        centre: Vec<f64>,
        length_scales: Vec<f64>,
        length: f64,
        low: Vec<f64>,
        high: Vec<f64>,
    }

    fn known() -> Known {
        serde_json::from_str(include_str!("../../../tests/oracles/search.json")).unwrap()
    }

    /// Every side is 0.8 times a power of two, so the sides of this code and of BoTorch's tutorial must agree to the last
    /// bit.
    #[test]
    fn its_side_follows_the_rule_of_botorchs_tutorial_until_it_ends() {
        let traces = known().trust_regions;
        assert!(traces.len() == 2 && traces.iter().all(|trace| trace.trace.len() > 30));
        for Trace { inputs, design, trace } in traces {
            let mut region = TrustRegion::new(inputs);
            assert!(design.iter().all(|outcome| !region.observe(*outcome, false)));
            for (place, (outcome, side)) in trace.iter().enumerate() {
                let ended = region.observe(*outcome, true);
                assert_eq!(region.side, *side, "{inputs} inputs, outcome {place}");
                assert_eq!(ended, place + 1 == trace.len());
            }
        }
    }

    /// Unlike the tutorial, `around` also moves upper ends below 1e-6 to 1e-6, and lower ends above 1 - 1e-6 to 1 - 1e-6.
    /// The data have no such ends.
    #[test]
    fn its_box_is_that_of_botorchs_tutorial() {
        for Sides { centre, length_scales, length, low, high } in known().boxes {
            let logs: f64 = length_scales.iter().map(|l| libm::log(*l)).sum();
            let mean = libm::exp(logs / length_scales.len() as f64);
            let relative: Vec<f64> = length_scales.iter().map(|l| l / mean).collect();
            let region = TrustRegion { side: length, ..TrustRegion::new(3) };
            let found = region.around(&centre, &relative);
            for ((side, low), high) in found.sides().iter().zip(&low).zip(&high) {
                assert!(
                    (side.0 - low).abs() < 1e-12 && (side.1 - high).abs() < 1e-12,
                    "{side:?} {low} {high}"
                );
            }
        }
    }
}
