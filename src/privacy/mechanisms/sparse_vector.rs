//! The sparse vector technique: which numbers of a sequence lie above a threshold, at a privacy cost that grows with
//! the number of answers "above" and not with the number of comparisons.

use super::computed::{largest_distance, on_computed_numbers};
use super::pair::{Distinguisher, KnownLaws, Pair};
use super::real_deviates::rounded_laplace;
use super::rounded::Grid;
use super::sparse_vector_law::{NoiseScales, log_probability};
use super::{Mechanism, MechanismError, NoiseArithmetic, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Epsilon, Finite, Neighbours, NonNegative, Positive, Sampler};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// If there are at most this many possible results of the comparisons, the largest privacy loss on two inputs is computed;
/// if there are more, it is unknown.
const MOST_LISTED: usize = 500;

/// The answer to one comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compared {
    /// The noisy number is below the noisy threshold.
    Below,
    /// The noisy number is not below the noisy threshold. If values are released, the answer also holds the number with
    /// fresh noise.
    Above(Option<f64>),
}

/// How the epsilon of the comparisons is divided between the noise on the threshold (epsilon_1) and the noise on the
/// numbers (epsilon_2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BudgetSplit {
    /// epsilon_1 = epsilon_2, as in Dwork and Roth 2014, Algorithm 1.
    Even,
    /// epsilon_1 : epsilon_2 = 1 : (2 c)^(2/3), or 1 : c^(2/3) for monotonic numbers, where c is the cutoff: the
    /// division with the least variance of a comparison (Lyu, Su and Li 2017, section 4.2).
    #[default]
    LeastVariance,
}

/// Compares numbers with a threshold, one after another, until c numbers were not below the threshold. c is the cutoff.
/// The threshold gets Laplace noise of scale sensitivity / epsilon_1 once; each number gets fresh Laplace noise of
/// scale 2 c sensitivity / epsilon_2 (c sensitivity / epsilon_2 for monotonic numbers). With [`Self::with_values`], for
/// each number that was not below, a value is released too: the number with fresh Laplace noise of scale
/// c sensitivity / epsilon_3.
///
/// The output has one answer for each number compared. If the cutoff is reached, the output ends with the answer that
/// reached it. The numbers may be chosen depending on earlier answers, because an answer depends only on the noise, on its
/// own number and on earlier numbers.
///
/// * Precondition: numbers are finite; each differs by at most `sensitivity` between neighbours, apart from the error
///   stated by [`computed_within`](Self::computed_within); if the numbers are stated to be monotonic, all of them
///   differ in the same direction. The threshold does not depend on the data.
/// * Postcondition: epsilon-DP with epsilon = epsilon_1 + epsilon_2 + epsilon_3, however many numbers are below. For
///   comparisons alone this epsilon is hardly larger than the largest loss: on the worst pair of 21 numbers, with c = 1
///   and an epsilon of at most 2, the loss is above 0.9998 epsilon.
///
/// Proof that an output has at least e^-epsilon times the probability on D' that it has on D, for any neighbours D and D'.
/// Fix the output, and let z be the noise on the threshold on D. On D', take the noise z + sensitivity. Its density is at
/// least e^-epsilon_1 times that of z, and the threshold is higher by the sensitivity. Take a number with the answer
/// "below". Relative to the threshold, it is not higher on D' than on D; so this answer has at least the same probability
/// on D'. Take a number with the answer "above". Relative to the threshold, it is at most 2 sensitivities lower on D' than
/// on D. If numbers are monotonic, it is at most 1 sensitivity lower. If no number is smaller on D' than on D, this is so
/// because only the threshold moves against the answer. If no number is larger on D' than on D, take the noise z on D' too:
/// answers "below" still have at least the same probability. The noise on numbers has the scale 2 c sensitivity / epsilon_2,
/// or half of it for monotonic numbers. So the answer "above" has, on D', at least e^(-epsilon_2 / c) times the probability
/// that it has on D, and there are at most c answers "above". Released values have separate noise: each costs epsilon_3 / c,
/// and there are at most c of them. The factors are the same for every z, so the bound holds for the integral over z too. In
/// exact arithmetic, threshold and numbers are integers, and noise is rounded Laplace noise. The proof holds for rounded
/// noise too: two integers that differ by j have probabilities that differ by a factor of at most e^(|j| / scale), as the
/// densities of real Laplace noise do.
///
/// Some variants are not offered, because they are not private at the epsilon that was stated for them (Lyu, Su and Li
/// 2017, Algorithms 3 to 6). Each has at least one of these faults: it releases the noisy number of the comparison itself
/// as the value (Roth 2011); its noise on numbers does not grow with the cutoff (Lee and Clifton 2014; Chen and others
/// 2015); it has no noise on numbers (Stoddard and others 2014); it has no cutoff (Chen and others 2015; Stoddard and
/// others 2014).
///
/// Source: Lyu, Su and Li 2017, "Understanding the sparse vector technique for differential privacy", Algorithm 7 and
/// section 4 (Algorithm 1 with the even division); Dwork and Roth 2014, Algorithm 1, for c = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseVector {
    /// epsilon_1 + epsilon_2.
    epsilon: Epsilon,
    /// epsilon_3.
    of_values: Option<Epsilon>,
    sensitivity: Positive,
    threshold: Finite,
    cutoff: NonZeroU32,
    split: BudgetSplit,
    monotonic: bool,
    /// Largest distance of a number from its exact value.
    error: f64,
    arithmetic: NoiseArithmetic,
}

impl SparseVector {
    /// From the epsilon of all comparisons, the sensitivity of a number, the threshold, and the cutoff: the number of
    /// answers "above" after which the comparisons end.
    #[must_use]
    pub fn new(epsilon: Epsilon, sensitivity: Positive, threshold: Finite, cutoff: NonZeroU32) -> Self {
        Self {
            epsilon,
            of_values: None,
            sensitivity,
            threshold,
            cutoff,
            split: BudgetSplit::default(),
            monotonic: false,
            error: 0.0,
            arithmetic: NoiseArithmetic::Exact,
        }
    }

    /// AboveThreshold (Dwork and Roth 2014, Algorithm 1): the first number above the threshold, with half of the epsilon for
    /// the threshold.
    #[must_use]
    pub fn above_threshold(epsilon: Epsilon, sensitivity: Positive, threshold: Finite) -> Self {
        Self { split: BudgetSplit::Even, ..Self::new(epsilon, sensitivity, threshold, NonZeroU32::MIN) }
    }

    /// The same mechanism with another division of its epsilon.
    #[must_use]
    pub const fn split(self, split: BudgetSplit) -> Self {
        Self { split, ..self }
    }

    /// The same mechanism for monotonic numbers: between neighbours all of them rise or stay, or all of them fall or
    /// stay, as counts do if one record is added. For a given epsilon_2, the noise on numbers is half as large.
    #[must_use]
    pub const fn monotonic(self) -> Self {
        Self { monotonic: true, ..self }
    }

    /// The same mechanism, which also releases a value for each number that was not below. All values together cost the
    /// additional `epsilon` (epsilon_3).
    #[must_use]
    pub const fn with_values(self, epsilon: Epsilon) -> Self {
        Self { of_values: Some(epsilon), ..self }
    }

    /// The scales of the noise on the threshold, on a number and on a value, each as a multiple of the sensitivity.
    fn multipliers(&self) -> NoiseScales {
        let sides = if self.monotonic { 1.0 } else { 2.0 };
        let cutoff = f64::from(self.cutoff.get());
        let ratio = match self.split {
            BudgetSplit::Even => 1.0,
            BudgetSplit::LeastVariance => libm::cbrt(sides * cutoff * sides * cutoff),
        };
        let of_threshold = self.epsilon.get() / (1.0 + ratio);
        let of_numbers = self.epsilon.get() - of_threshold;
        NoiseScales {
            threshold: (1.0 / of_threshold).next_up(),
            number: (sides * cutoff / of_numbers).next_up(),
            value: self.of_values.map(|epsilon| (cutoff / epsilon.get()).next_up()),
        }
    }

    /// The scales of the noise on the threshold, on a number and on a value, in the unit of the numbers.
    pub(super) fn scales(&self) -> NoiseScales {
        self.multipliers().map(|multiplier| multiplier * self.sensitivity.get())
    }

    /// The epsilon of a Laplace mechanism, of the same sensitivity, whose noise has the largest of these scales: that of the
    /// threshold, that of a number, and that of a value if values are released.
    #[must_use]
    pub fn least_epsilon(&self) -> f64 {
        let NoiseScales { threshold, number, value } = self.multipliers();
        1.0 / threshold.max(number).max(value.unwrap_or(0.0))
    }

    /// The size that the noise on a value exceeds with probability at most e^-a; `None` if no values are released.
    #[must_use]
    pub fn value_tail(&self, a: f64) -> Option<f64> {
        match self.exact() {
            Ok((grid, scales)) if self.arithmetic == NoiseArithmetic::Exact => {
                scales.value.map(|scale| grid.spacing() * (a * scale as f64 + 1.0))
            }
            _ => self.scales().value.map(|scale| a * scale),
        }
    }

    /// The lattice, and the three scales in multiples of its spacing.
    fn exact(&self) -> Result<(Grid, NoiseScales<u64>), MechanismError> {
        let (multipliers, scales) = (self.multipliers(), self.scales());
        let sizes = [Some(self.sensitivity.get()), Some(scales.threshold), Some(scales.number), scales.value];
        let sizes = || sizes.into_iter().flatten();
        let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
        let grid = Grid::between(least, most)?;
        let reach = grid.l1(largest_distance(self.sensitivity, self.error, 1)?, 1);
        Ok((grid, multipliers.map(|multiplier| grid.scale(multiplier, reach))))
    }

    /// All possible results of the comparisons of `numbers` numbers; each result says of every number compared whether it
    /// was above. Empty if there are more than [`MOST_LISTED`] results.
    fn every_comparison(&self, numbers: usize) -> impl Iterator<Item = Vec<bool>> {
        let cutoff = self.cutoff.get() as usize;
        let (mut open, mut ended) = (vec![(Vec::new(), 0)], Vec::new());
        for _ in 0..numbers {
            let mut next = Vec::new();
            for (results, above) in open {
                let with = |result: bool| [&results[..], &[result]].concat();
                next.push((with(false), above));
                if above + 1 == cutoff {
                    ended.push(with(true));
                } else {
                    next.push((with(true), above + 1));
                }
            }
            open = next;
            if open.len() + ended.len() > MOST_LISTED {
                (open, ended) = (Vec::new(), Vec::new());
                break;
            }
        }
        open.into_iter().map(|(results, _)| results).chain(ended)
    }

    /// Draws the noise on the threshold. The numbers are then compared one by one. If every comparison reads the same
    /// `stream` as this function, the answers are those of [`privatise`](Mechanism::privatise) with this stream. The
    /// returned state is secret: only the answers may be released, and the price covers the whole sequence of answers.
    ///
    /// # Errors
    /// [`MechanismError`] if exact arithmetic is not possible with these parameters.
    pub(crate) fn begin(&self, stream: &mut Stream) -> Result<Comparisons, MechanismError> {
        let noisy = match self.arithmetic {
            NoiseArithmetic::Exact => {
                let (grid, scales) = self.exact()?;
                let threshold = grid.round(self.threshold.get()) + rounded_laplace(scales.threshold, stream);
                Noisy::Exact { grid, scales, threshold }
            }
            NoiseArithmetic::Ideal => {
                let scales = self.scales();
                let threshold = self.threshold.get() + scales.threshold * stream.laplace();
                Noisy::Ideal { scales, threshold }
            }
        };
        Ok(Comparisons { noisy, left: self.cutoff.get() })
    }
}

/// Comparisons with a threshold whose noise has been drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparisons {
    noisy: Noisy,
    /// How many more answers may be "above"; the comparisons have ended when this is 0.
    left: u32,
}

/// Scales of the noise, and the noisy threshold.
#[derive(Clone, Copy, Debug)]
enum Noisy {
    /// In multiples of a lattice's spacing.
    Exact { grid: Grid, scales: NoiseScales<u64>, threshold: i128 },
    /// In the unit of the numbers.
    Ideal { scales: NoiseScales, threshold: f64 },
}

impl Comparisons {
    /// The answer for the next number; `None` if the comparisons have ended.
    pub(crate) fn compare(&mut self, number: f64, stream: &mut Stream) -> Option<Compared> {
        if self.left == 0 {
            return None;
        }
        let above = match self.noisy {
            Noisy::Exact { grid, scales, threshold } => {
                grid.round(number) + rounded_laplace(scales.number, stream) >= threshold
            }
            Noisy::Ideal { scales, threshold } => number + scales.number * stream.laplace() >= threshold,
        };
        if !above {
            return Some(Compared::Below);
        }
        self.left -= 1;
        Some(Compared::Above(match self.noisy {
            Noisy::Exact { grid, scales, .. } => {
                scales.value.map(|scale| grid.plus_laplace(grid.round(number), scale, stream))
            }
            Noisy::Ideal { scales, .. } => scales.value.map(|scale| number + scale * stream.laplace()),
        }))
    }
}

on_computed_numbers!(SparseVector);

impl Mechanism for SparseVector {
    type Input = Vec<f64>;
    type Output = Vec<Compared>;

    fn price(&self, _: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            self.exact()?;
        }
        Ok(Price {
            mechanism: if self.cutoff.get() == 1 { "above threshold" } else { "sparse vector" },
            sampler: Sampler::Full,
            sensitivity: Some(self.sensitivity.get()),
            cost: Cost::PureDp { epsilon: self.epsilon.get() + self.of_values.map_or(0.0, Epsilon::get) },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.recorded(),
        })
    }

    fn privatise(&self, numbers: &Vec<f64>, stream: &mut Stream) -> Result<Vec<Compared>, MechanismError> {
        all_finite(numbers)?;
        let mut comparisons = self.begin(stream)?;
        Ok(numbers.iter().map_while(|number| comparisons.compare(*number, stream)).collect())
    }

    /// As many numbers as `like` has. On D the last c lie one sensitivity above the threshold, and all numbers before them
    /// at the threshold. On D' the last c lie at the threshold, and all numbers before them one sensitivity above it. For
    /// monotonic numbers, D' is the same, and on D all numbers lie at the threshold.
    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        let (low, by) = (self.threshold.get(), self.sensitivity.get());
        let (n, last) = (like.len(), like.len().saturating_sub(self.cutoff.get() as usize));
        if n == 0 {
            return None;
        }
        let with = |first: f64, others: f64| (0..n).map(|i| if i < last { first } else { others }).collect();
        let given = if self.monotonic { with(low, low) } else { with(low, low + by) };
        let words = format!("{n} numbers around the threshold, each moved by at most {by}");
        Some(Pair::new(given, with(low + by, low), words))
    }

    /// The likelihood ratio of the comparisons, by integration over the noise on the threshold, times the likelihood
    /// ratio of the values.
    fn distinguisher(&self, inputs: [&Vec<f64>; 2]) -> Result<Distinguisher<Vec<Compared>>, MechanismError> {
        let scales = self.scales();
        let above_by =
            inputs.map(|numbers| numbers.iter().map(|x| x - self.threshold.get()).collect::<Vec<f64>>());
        let of_comparisons = move |above: &[bool]| {
            log_probability(&above_by[0], above, scales) - log_probability(&above_by[1], above, scales)
        };
        let known: BTreeMap<Vec<bool>, f64> = self
            .every_comparison(inputs[0].len())
            .map(|above| {
                let loss = of_comparisons(&above);
                (above, loss)
            })
            .collect();
        let of_values = |above: &[bool]| -> f64 {
            let Some(scale) = scales.value else { return 0.0 };
            let differ = inputs[0].iter().zip(inputs[1]).map(|(a, b)| (a - b).abs() / scale);
            differ.zip(above).filter(|(_, above)| **above).map(|(loss, _)| loss).sum()
        };
        // A value's loss reaches its largest size in both directions.
        let both = |(above, loss): (&Vec<bool>, &f64)| [loss + of_values(above), loss - of_values(above)];
        let laws = (!known.is_empty()).then(|| KnownLaws::largest_of(known.iter().flat_map(both)));
        let numbers = inputs.map(Clone::clone);
        let log_ratio = move |answers: &Vec<Compared>| {
            let above: Vec<bool> = answers.iter().map(|answer| *answer != Compared::Below).collect();
            let of_values = answers.iter().zip(numbers[0].iter().zip(&numbers[1])).map(|(answer, (a, b))| {
                match (answer, scales.value) {
                    (Compared::Above(Some(value)), Some(scale)) => {
                        ((value - b).abs() - (value - a).abs()) / scale
                    }
                    _ => 0.0,
                }
            });
            known.get(&above).copied().unwrap_or_else(|| of_comparisons(&above)) + of_values.sum::<f64>()
        };
        Ok(Distinguisher::by_ratio(log_ratio, laws))
    }
}

#[cfg(test)]
mod tests;
