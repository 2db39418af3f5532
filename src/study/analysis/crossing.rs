//! Finds where a mean crosses 0 along a grid, from noisy observations, with an interval of stated confidence.
//!
//! Assumption: the mean is positive at all values of the grid before one place, and not above 0 at all values behind it (or
//! the reverse). Every value of the grid that is looked at is tested by two one-sided t tests: whether the mean is above 0,
//! and whether it is below 0. Each of the two tests has the level alpha / ((d + 4) R), where d is how often the range can be
//! halved, R is the number of looks, and 1 - alpha is the confidence. A look is one search with a fixed number of
//! observations of each value; if a look does not give the answer, the next look has more observations. The first of two
//! bisections searches for the last value that is shown to lie before the crossing. The second bisection searches for the
//! first value that is shown to lie behind the crossing. At an undecided value, the first bisection turns left (to smaller
//! values) and the second bisection turns right.
//!
//! The interval covers the crossing with probability at least 1 - alpha, if each test has its level. (For t tests this is
//! exact if observations are normally distributed, and approximate otherwise.) The reason is as follows. A bisection that
//! knows the true signs looks at d fixed values. The first bisection errs if a test declares that a value behind the
//! crossing lies before the crossing. Until its first error, the first bisection has turned left at every value behind the
//! crossing, as the bisection with the true signs does. Once the first bisection has turned left at a value before the
//! crossing, all further values lie before the crossing, where the first bisection cannot err. So the first bisection makes
//! its first error at one of those of the d fixed values that lie behind the crossing. Likewise, the second bisection makes
//! its first error at one of those of the d fixed values that lie before the crossing. So each of the d values has one wrong
//! sign that matters. At each of the two ends of the range, both signs are counted as if they could be wrong. So at most
//! d + 4 errors matter in each of the R looks, and each of these errors has at most the probability alpha / ((d + 4) R). By
//! Bonferroni's inequality, the probability of any error is at most alpha, however observations at different values and
//! looks depend on each other. This is the argument of Hsu and Berger 1999, "Stepwise confidence intervals without
//! multiplicity adjustment for dose-response and toxicity studies" (JASA 94:468-482), for a bisection instead of a walk.
//! Waeber, Frazier and Henderson 2013, "Bisection search with noisy responses" (SIAM J. Control Optim. 51:2261-2279), search
//! in the same way, with tests that end at random times.

use super::grid::Grid;
use super::isotonic::{crossing, falling};
use crate::study::results::statistics::{Estimate, student_quantile};
use serde::Serialize;
use std::collections::BTreeMap;

/// If all observations at a value are equal, their mean is trusted only if there are at least this number of observations.
const WITHOUT_SPREAD: u64 = 64;
/// Number of undecided values that a bisection passes in one look; in the last look, there is no such limit. At the next
/// undecided value, the bisection waits for the next look, which has more observations.
const PATIENCE: usize = 1;

/// What is shown about the mean at one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    /// The mean is above the margin, which is 0 by default.
    Better,
    /// The mean is below the margin.
    Worse,
    /// Neither of the two is shown.
    Undecided,
}

impl Sign {
    /// The sign in one word, for reports.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Undecided => "undecided",
        }
    }
}

/// One value of the grid that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// The value.
    pub value: f64,
    /// Mean gain with its standard error, in the unit of the metric: by how much the first series is better than the second.
    pub gain: Estimate,
    /// Lower end of the interval of the mean gain; the value was judged by this interval. Absent for fewer than two
    /// observations.
    pub low: Option<f64>,
    /// Upper end of this interval; absent for fewer than two observations.
    pub high: Option<f64>,
    /// What is shown about the mean gain.
    pub sign: Sign,
}

/// The answer of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The crossing lies in an interval as narrow as asked.
    Found,
    /// The crossing lies in an interval that is wider than asked.
    Wide,
    /// Only one end of the interval is known.
    HalfOpen,
    /// It is shown that the first series is better at both ends of the range.
    BetterThroughout,
    /// It is shown that the first series is not better at either end of the range.
    WorseThroughout,
    /// The signs that are shown change more than once along the range.
    Several,
    /// Nothing is shown at either end of the range.
    Unknown,
}

/// What the first series does along the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// It is better at the beginning of the range, and stops being better.
    StopsBeingBetter,
    /// It is not better at the beginning of the range, and begins to be better.
    BeginsToBeBetter,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// The answer.
    pub outcome: Outcome,
    /// What the first series does along the range; absent if this is not shown.
    pub direction: Option<Direction>,
    /// Lower end of the interval, a value of the grid; absent if the interval has no lower end.
    pub low: Option<f64>,
    /// Upper end of the interval, a value of the grid; absent if the interval has no upper end.
    pub high: Option<f64>,
    /// An estimate of the crossing, by monotone regression of the means.
    pub estimate: Option<f64>,
    /// Number of replications of every value that was looked at.
    pub replications: u64,
    /// The level of each one-sided test: the largest probability with which the test may show a sign that is wrong.
    pub level: f64,
    /// The values that were looked at, in ascending order.
    pub probes: Vec<Probe>,
}

/// The rules of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Probability with which the interval is to cover the crossing.
    pub(super) confidence: f64,
    /// The value that the mean crosses, in place of 0.
    pub(super) margin: f64,
    /// Number of observations of each value in the first look.
    pub(super) first: u64,
    /// Largest number of observations of a value.
    pub(super) most: u64,
}

impl Rules {
    /// The numbers of observations after which the search looks: the first number, doubled again and again, and the largest
    /// number.
    fn looks(&self) -> Vec<u64> {
        let mut looks = vec![self.first.min(self.most)];
        while let Some(&last) = looks.last().filter(|last| **last < self.most) {
            looks.push(last.saturating_mul(2).min(self.most));
        }
        looks
    }

    /// Whether no further look is needed. If both ends of the range have the same answer, the search continues while the
    /// mean at some value between them is on the other side of the margin.
    fn settled(&self, found: &Crossing) -> bool {
        let above = found.probes.iter().filter(|probe| probe.gain.mean > self.margin).count();
        match found.outcome {
            Outcome::Found | Outcome::Several => true,
            Outcome::BetterThroughout => above == found.probes.len(),
            Outcome::WorseThroughout => above == 0,
            Outcome::Wide | Outcome::HalfOpen | Outcome::Unknown => false,
        }
    }

    fn judged(&self, value: f64, gains: &[f64], level: f64) -> Probe {
        let gain = Estimate::of(gains).unwrap_or(Estimate { mean: 0.0, se: 0.0, n: 0 });
        let half = (gain.n > 1).then(|| student_quantile(1.0 - level, (gain.n - 1) as f64) * gain.se);
        let (low, high) = (half.map(|half| gain.mean - half), half.map(|half| gain.mean + half));
        // The mean of equal numbers may differ from them by rounding, so their standard error may be slightly above 0.
        let told = gain.se > 1e-12 * gain.mean.abs() || gain.n >= WITHOUT_SPREAD;
        let sign = match (low, high) {
            (Some(low), _) if told && low > self.margin => Sign::Better,
            (_, Some(high)) if told && high < self.margin => Sign::Worse,
            _ => Sign::Undecided,
        };
        Probe { value, gain, low, high, sign }
    }
}

/// Returns the first n observations at each of some values, given the values and n.
pub(super) type Observe<'a, E> = dyn FnMut(&[f64], u64) -> Result<Vec<Vec<f64>>, E> + 'a;

/// Searches for the crossing. `observe` returns the first observations at each of some values of the grid, as many as
/// requested. The values of each call begin with those of the previous call.
pub(super) fn search<E>(grid: &Grid, rules: &Rules, observe: &mut Observe<'_, E>) -> Result<Crossing, E> {
    let looks = rules.looks();
    let level = (1.0 - rules.confidence) / (f64::from(grid.depth() + 4) * looks.len() as f64);
    // The ends of the range, and the points that divide it into quarters, are observed in any case, so that a second
    // crossing can be detected.
    let last = grid.last();
    let mut probed: Vec<usize> = Vec::new();
    for index in [0, last, last / 2, last / 4, usize::midpoint(last / 2, last)] {
        if !probed.contains(&index) {
            probed.push(index);
        }
    }
    let mut found = None;
    for (look, &replications) in looks.iter().enumerate() {
        let patience = if look + 1 == looks.len() { usize::MAX } else { PATIENCE };
        loop {
            let values: Vec<f64> = probed.iter().map(|index| grid.value(*index)).collect();
            let observed = observe(&values, replications)?;
            let judge = |(index, gains): (&usize, &Vec<f64>)| {
                (*index, rules.judged(grid.value(*index), gains, level))
            };
            let seen = Seen { grid, rules, probes: probed.iter().zip(&observed).map(judge).collect() };
            let (crossing, further) = seen.crossing(replications, level, patience);
            if further.is_empty() {
                found = Some(crossing);
                break;
            }
            probed.extend(further);
        }
        if found.as_ref().is_some_and(|found| rules.settled(found)) {
            break;
        }
    }
    Ok(found.expect("there is at least one look"))
}

/// The values that were looked at, by their positions in the grid.
struct Seen<'a> {
    grid: &'a Grid,
    rules: &'a Rules,
    probes: BTreeMap<usize, Probe>,
}

impl Seen<'_> {
    fn sign(&self, index: usize) -> Option<Sign> {
        self.probes.get(&index).map(|probe| probe.sign)
    }

    /// The answer so far, and the values that must be looked at for a better answer, by their positions in the grid.
    fn crossing(&self, replications: u64, level: f64, patience: usize) -> (Crossing, Vec<usize>) {
        let last = self.grid.last();
        let mut crossing = Crossing {
            outcome: Outcome::Unknown,
            direction: None,
            low: None,
            high: None,
            estimate: None,
            replications,
            level,
            probes: self.probes.values().copied().collect(),
        };
        let mut shown: Vec<Sign> = self.probes.values().map(|probe| probe.sign).collect();
        shown.retain(|sign| *sign != Sign::Undecided);
        shown.dedup();
        if shown.len() > 2 {
            crossing.outcome = Outcome::Several;
            return (crossing, Vec::new());
        }
        let ends = (self.sign(0), self.sign(last));
        let (before, after) = match ends {
            (Some(Sign::Better), Some(Sign::Better)) => {
                crossing.outcome = Outcome::BetterThroughout;
                return (crossing, Vec::new());
            }
            (Some(Sign::Worse), Some(Sign::Worse)) => {
                crossing.outcome = Outcome::WorseThroughout;
                return (crossing, Vec::new());
            }
            (Some(Sign::Better), _) | (_, Some(Sign::Worse)) => (Sign::Better, Sign::Worse),
            (Some(Sign::Worse), _) | (_, Some(Sign::Better)) => (Sign::Worse, Sign::Better),
            _ => return (crossing, Vec::new()),
        };
        crossing.direction = Some(match before {
            Sign::Better => Direction::StopsBeingBetter,
            _ => Direction::BeginsToBeBetter,
        });
        let mut further = Vec::new();
        let mut bound = |side: Sign| {
            let (bound, missing) = self.bisect(side, side == before, patience);
            further.extend(missing);
            bound
        };
        let low = (ends.0 == Some(before)).then(|| bound(before));
        let high = (ends.1 == Some(after)).then(|| bound(after));
        further.dedup();
        crossing.low = low.map(|index| self.grid.value(index));
        crossing.high = high.map(|index| self.grid.value(index));
        crossing.outcome = match (low, high) {
            (Some(low), Some(high)) if self.grid.narrow(low, high) => Outcome::Found,
            (Some(_), Some(_)) => Outcome::Wide,
            _ => Outcome::HalfOpen,
        };
        crossing.estimate = self.estimate(if before == Sign::Better { 1.0 } else { -1.0 });
        // If the interval is as narrow as requested, no further values are needed.
        if crossing.outcome == Outcome::Found {
            further.clear();
        }
        (crossing, further)
    }

    /// Runs one of the two bisections. If `before` is true, `side` is the sign before the crossing, and the bisection
    /// searches for the last value with this sign. Otherwise `side` is the sign behind the crossing, and the bisection
    /// searches for the first value with this sign. Returns the position of the value found so far, and the position that
    /// must be looked at to continue, if any.
    fn bisect(&self, side: Sign, before: bool, patience: usize) -> (usize, Option<usize>) {
        let (mut low, mut high) = (0, self.grid.last());
        let mut undecided = 0;
        let mut missing = None;
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            let Some(sign) = self.sign(middle) else {
                missing = Some(middle);
                break;
            };
            if sign == Sign::Undecided {
                undecided += 1;
                if undecided > patience {
                    break;
                }
            }
            // With `before`, a value with another or an undecided sign counts as lying behind the
            // crossing; without it, as lying before the crossing.
            if (sign == side) == before {
                low = middle;
            } else {
                high = middle;
            }
        }
        (if before { low } else { high }, missing)
    }

    /// Where the monotone regression of the means crosses the margin.
    fn estimate(&self, orientation: f64) -> Option<f64> {
        let probes: Vec<&Probe> = self.probes.values().collect();
        let means: Vec<f64> =
            probes.iter().map(|probe| orientation * (probe.gain.mean - self.rules.margin)).collect();
        let (at, share) = crossing(&falling(&means))?;
        let next = probes.get(at + 1).map_or(probes[at].value, |probe| probe.value);
        Some(self.grid.between(probes[at].value, next, share))
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::Spacing;
    use super::*;
    use crate::rng::Key;
    use std::convert::Infallible;

    const RULES: Rules = Rules { confidence: 0.95, margin: 0.0, first: 20, most: 1_280 };

    /// Searches along `mean`. Each observation has two noises: one that all values share in a replication, and one of
    /// its own.
    fn searched(mean: &dyn Fn(f64) -> f64, noise: f64, grid: &Grid, rules: &Rules, seed: u64) -> Crossing {
        let key = Key::root(seed).child("crossing");
        let gains = |value: f64, n: u64| -> Vec<f64> {
            let (mut common, mut own) = (key.stream(), key.index(value.to_bits()).stream());
            (0..n).map(|_| mean(value) + noise * (common.normal() + own.exponential() - 1.0)).collect()
        };
        let mut observe = |values: &[f64], n: u64| -> Result<Vec<Vec<f64>>, Infallible> {
            Ok(values.iter().map(|value| gains(*value, n)).collect())
        };
        search(grid, rules, &mut observe).unwrap_or_else(|never| match never {})
    }

    fn grid() -> Grid {
        Grid::new(0.0, 1.0, Some(0.1), Spacing::Linear).unwrap()
    }

    fn covers(found: &Crossing, truth: f64) -> bool {
        found.low.is_none_or(|low| low <= truth) && found.high.is_none_or(|high| truth <= high)
    }

    /// If each of 200 searches covers the crossing with probability at least .95, the probability that fewer than 177 cover
    /// it is at most 1e-4. One part of the noise is skewed, the other part is common to all values. The crossings lie
    /// between two values of the grid, at a value of the grid, and near an end of the range.
    #[test]
    fn intervals_cover_the_crossing() {
        for truth in [0.3, 0.5, 0.94] {
            let found: Vec<Crossing> =
                (0..200).map(|seed| searched(&|x| truth - x, 0.2, &grid(), &RULES, seed)).collect();
            let covered = found.iter().filter(|found| covers(found, truth)).count();
            assert!(covered >= 177, "{covered} of 200 at {truth}");
            let ended = found.iter().filter(|found| found.outcome == Outcome::Found).count();
            assert!(ended >= 100 || truth > 0.9, "{ended} of 200 at {truth}");
        }
    }

    /// With little noise, the search ends after the first look. The answer is two values of the grid, one on each side
    /// of the crossing. They are at most the requested width of 0.1 apart (the steps of the grid are 1/32). If the
    /// crossing is a value of the grid, the answer is that value's two neighbours.
    #[test]
    fn little_noise_gives_neighbours() {
        let found = searched(&|x| 0.3 - x, 1e-4, &grid(), &RULES, 1);
        assert_eq!((found.outcome, found.replications), (Outcome::Found, 20));
        assert_eq!((found.low, found.high), (Some(0.25), Some(0.3125)));
        assert!((found.estimate.unwrap() - 0.3).abs() < 1e-3, "{found:?}");
        let found = searched(&|x| 0.5 - x, 1e-4, &grid(), &RULES, 1);
        assert_eq!((found.low, found.high), (Some(0.46875), Some(0.53125)), "{found:?}");
        // The other direction.
        let found = searched(&|x| x - 0.3, 1e-4, &grid(), &RULES, 1);
        assert_eq!(found.direction, Some(Direction::BeginsToBeBetter));
        assert_eq!((found.low, found.high), (Some(0.25), Some(0.3125)));
        // A margin moves the crossing.
        let found = searched(&|x| 0.5 - x, 1e-4, &grid(), &Rules { margin: 0.2, ..RULES }, 1);
        assert_eq!((found.low, found.high), (Some(0.25), Some(0.3125)));
    }

    #[test]
    fn whole_numbers_and_ratios() {
        let grid = Grid::new(1.0, 40.0, Some(1.0), Spacing::Whole).unwrap();
        let found = searched(&|x| x - 12.5, 0.01, &grid, &RULES, 1);
        assert_eq!((found.low, found.high), (Some(12.0), Some(13.0)));
        assert!(found.probes.iter().all(|probe| probe.value.fract() == 0.0));
        let grid = Grid::new(0.01, 100.0, Some(2.0), Spacing::Logarithmic).unwrap();
        let found = searched(&|x| libm::log(x / 3.0), 0.01, &grid, &RULES, 1);
        let (low, high) = (found.low.unwrap(), found.high.unwrap());
        assert!(low < 3.0 && 3.0 < high && high / low <= 2.0, "{low} {high}");
    }

    #[test]
    fn a_search_without_a_crossing_says_so() {
        let of = |mean: &dyn Fn(f64) -> f64| searched(mean, 0.1, &grid(), &RULES, 2);
        assert_eq!(of(&|_| 1.0).outcome, Outcome::BetterThroughout);
        assert_eq!(of(&|_| -1.0).outcome, Outcome::WorseThroughout);
        assert_eq!(of(&|x| (x - 0.25) * (x - 0.75)).outcome, Outcome::Several);
        assert_eq!(of(&|x| 1.0 - 8.0 * (x - 0.5).abs().min(0.25)).outcome, Outcome::Several);
        let nothing = of(&|_| 0.0);
        assert_eq!((nothing.outcome, nothing.replications), (Outcome::Unknown, 1_280));
        // The mean is 0 up to .5 and positive above: only the upper end of the interval is known.
        let half = of(&|x: f64| (x - 0.5).max(0.0));
        assert_eq!((half.outcome, half.low), (Outcome::HalfOpen, None));
        assert!(half.high.unwrap() > 0.5 && half.high.unwrap() < 0.7, "{half:?}");
        // Equal observations are not trusted before there are 64 of them. The first three looks have 20, 40 and 80.
        let equal = searched(&|x| 0.3 - x, 0.0, &grid(), &RULES, 2);
        assert_eq!((equal.outcome, equal.replications), (Outcome::Found, 80));
    }

    #[test]
    fn noise_leads_to_more_replications() {
        let found = searched(&|x| 0.3 - x, 0.3, &grid(), &RULES, 3);
        assert!(found.replications > 20 && covers(&found, 0.3), "{found:?}");
        let few = searched(&|x| 0.3 - x, 3.0, &grid(), &Rules { most: 50, ..RULES }, 3);
        assert_eq!(few.replications, 50);
        assert!(!matches!(few.outcome, Outcome::Found | Outcome::Several) && covers(&few, 0.3), "{few:?}");
        // Every one-sided test has an equal part of the error probability 0.05: 5 halvings and 4 tests of the ends, in 7
        // looks.
        assert!((found.level - 0.05 / (9.0 * 7.0)).abs() < 1e-15, "{}", found.level);
    }
}
