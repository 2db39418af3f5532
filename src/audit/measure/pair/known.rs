//! A pair of neighbours with known output distributions, and its exact loss.

use crate::accounting::exact_pair::{self, Curve, Discrete};
use crate::privacy::mechanisms::{KnownLaws, Laws};
use crate::vocab::Cost;
use serde::Serialize;

/// The two output laws of one pair of neighbours, known up to the size of the noise.
///
/// An audit uses them twice. With the stated noise they give the exact loss of the pair, which an audit with very many
/// trials would measure. If the size of the noise is taken as unknown, they are a model: the counts of an audit's trials
/// then bound the size of the noise from above, and this gives a lower bound on epsilon. That bound also includes the loss
/// at outputs in the tail that occurred in no trial.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownPair {
    pub(super) law: Law,
    /// The assumption of the model, as the words that follow "if".
    pub premise: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Law {
    /// Releases whose output distributions on this pair are exactly those that their costs describe.
    Composed(Vec<(Cost, u64)>),
    /// A mixture of Gaussians whose component the observer sees: for each component its probability, and the distance of
    /// the two inputs in standard deviations.
    Shown(Vec<(f64, f64)>),
    /// Discrete Gaussian noise on two integers; [`Discrete`] has the noise and the distance of the integers.
    Discrete(Discrete),
    /// Only the largest loss is known, without a model.
    Largest(f64),
}

/// The loss of a pair of neighbours by their exact output distributions, up to a numerical error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ExactLoss {
    /// The smallest epsilon, at least 0, that holds for this pair in both directions; infinite if no epsilon does.
    #[serde(rename = "pair_epsilon")]
    pub epsilon: f64,
    /// The exact epsilon differs from `epsilon` by at most this number, in either direction.
    #[serde(rename = "pair_error")]
    pub error: f64,
}

impl ExactLoss {
    /// The smallest error that is stated; it covers rounding and the search for epsilon.
    const LEAST_ERROR: f64 = 1e-4;

    /// A lower bound on the exact epsilon.
    #[must_use]
    pub fn lower(&self) -> f64 {
        self.epsilon - self.error
    }

    /// Whether the exact loss is above `epsilon`, whatever its numerical error.
    #[must_use]
    pub fn exceeds(&self, epsilon: f64) -> bool {
        self.lower() > epsilon
    }

    /// The same loss, now known to be at most `epsilon` too. `epsilon` must be at least [`Self::lower`]; the lower bound
    /// does not change.
    #[must_use]
    pub fn at_most(self, epsilon: f64) -> Self {
        let above = (self.epsilon - epsilon).max(0.0);
        Self { epsilon: self.epsilon.min(epsilon), error: (self.error - above).max(0.0) }
    }
}

impl KnownPair {
    /// Independent releases on one pair of neighbours, each with its count, as their mechanisms describe them. `None`
    /// in four cases: the output distributions of a release are unknown; no composition of these kinds of distributions
    /// is implemented; all output distributions on the two neighbours are equal; or [`Self::shown`] returns `None`.
    #[must_use]
    pub fn of<'a>(releases: impl IntoIterator<Item = (Option<&'a KnownLaws>, u64)>) -> Option<Self> {
        let (mut costs, mut shown, mut largest) = (Vec::new(), Vec::new(), [0.0; 2]);
        let (mut alone, mut kinds, mut premise) = (None, [false; 4], "");
        for (known, times) in releases {
            let KnownLaws { laws, premise: of_this } = known?;
            // Nothing is released, so nothing is lost.
            if times == 0 {
                continue;
            }
            match laws {
                // Equal output distributions add nothing to the loss.
                Laws::Costs(each) if each.is_empty() => continue,
                Laws::Shown { mu, .. } if *mu <= 0.0 => continue,
                Laws::Largest([0.0, 0.0]) => continue,
                Laws::DiscreteGaussian { steps, .. } if *steps == 0.0 => continue,
                Laws::Costs(each) => {
                    costs.extend(each.iter().map(|cost| (cost.clone(), times)));
                    kinds[0] = true;
                }
                Laws::Shown { rate, mu } => {
                    shown.extend((0..times).map(|_| (*rate, *mu)));
                    kinds[1] = true;
                }
                Laws::Largest(losses) => {
                    // Losses add up in each of the two directions.
                    largest = [0, 1].map(|k| largest[k] + times as f64 * losses[k]);
                    kinds[2] = true;
                }
                Laws::DiscreteGaussian { sigma, steps } => {
                    // No composition of discrete Gaussians is implemented.
                    if kinds[3] || times != 1 {
                        return None;
                    }
                    alone = Some((*sigma, *steps));
                    kinds[3] = true;
                }
            }
            premise = of_this;
        }
        match (kinds, alone) {
            ([true, false, false, false], _) => Some(Self::composed(costs, premise)),
            ([false, true, false, false], _) => Self::shown(&shown),
            ([false, false, true, false], _) => Some(Self::largest(largest[0].max(largest[1]))),
            ([false, false, false, true], Some((sigma, steps))) => {
                Some(Self::discrete_gaussian(sigma, steps))
            }
            _ => None,
        }
    }

    /// The same pair under another assumption, given as the words that follow "if".
    #[must_use]
    pub fn on_premise(self, premise: &str) -> Self {
        Self { premise: premise.to_owned(), ..self }
    }

    /// Independent releases, each given by its cost and its count. The output distributions of a release on this pair
    /// must be exactly those that its cost describes: Gaussian, Laplace, or the Poisson-subsampled Gaussian on data
    /// with and without the unit.
    #[must_use]
    pub fn composed(costs: Vec<(Cost, u64)>, premise: &str) -> Self {
        let mut merged: Vec<(Cost, u64)> = Vec::new();
        for (cost, count) in costs {
            match merged.iter_mut().find(|(known, _)| *known == cost) {
                Some((_, known)) => *known += count,
                None => merged.push((cost, count)),
            }
        }
        Self { law: Law::Composed(merged), premise: premise.to_owned() }
    }

    /// Gaussian noise on two inputs that lie `mu` standard deviations apart.
    #[must_use]
    pub fn gaussian(mu: f64) -> Self {
        let premise = "the noise is Gaussian and only its size is unknown";
        Self::composed(vec![(Cost::Gaussian { noise_multiplier: 1.0 / mu }, 1)], premise)
    }

    /// Gaussian noise in independent rounds; the observer sees in each round whether the unit is sampled. `rounds` has,
    /// for each round, the sampling probability and the distance of the two inputs in standard deviations. The loss
    /// depends on the sum of the squared distances of those rounds in which the unit is sampled; `None` if this sum can
    /// have more than 4096 different values.
    #[must_use]
    pub fn shown(rounds: &[(f64, f64)]) -> Option<Self> {
        const MOST: usize = 4096;
        // Sums of squared distances with their probabilities; sums that agree in twelve digits are merged.
        let mut sums: Vec<(f64, f64)> = vec![(1.0, 0.0)];
        for &(rate, mu) in rounds {
            let mut next: Vec<(f64, f64)> = Vec::with_capacity(2 * sums.len());
            for &(weight, sum) in &sums {
                next.push((weight * (1.0 - rate), sum));
                next.push((weight * rate, mu.mul_add(mu, sum)));
            }
            next.retain(|(weight, _)| *weight > 0.0);
            next.sort_by(|a, b| a.1.total_cmp(&b.1));
            sums = next.into_iter().fold(Vec::new(), |mut merged: Vec<(f64, f64)>, (weight, sum)| {
                match merged.last_mut() {
                    Some(last) if sum - last.1 <= 1e-12 * sum => last.0 += weight,
                    _ => merged.push((weight, sum)),
                }
                merged
            });
            if sums.len() > MOST {
                return None;
            }
        }
        let law = Law::Shown(sums.into_iter().map(|(weight, sum)| (weight, sum.sqrt())).collect());
        let premise = "the noise is Gaussian, participation is as stated and visible, and only the noise's size is unknown";
        Some(Self { law, premise: premise.to_owned() })
    }

    /// Discrete Gaussian noise with standard deviation `sigma` on two integers that are `steps` apart.
    #[must_use]
    pub fn discrete_gaussian(sigma: f64, steps: f64) -> Self {
        let premise = "the noise is discrete Gaussian and only its size is unknown".to_owned();
        Self { law: Law::Discrete(Discrete::new(sigma, steps)), premise }
    }

    /// A pair for which only the largest loss is known.
    #[must_use]
    pub fn largest(epsilon: f64) -> Self {
        Self { law: Law::Largest(epsilon), premise: String::new() }
    }

    /// Whether counts can bound the size of the noise.
    #[must_use]
    pub fn is_model(&self) -> bool {
        !matches!(self.law, Law::Largest(_))
    }

    /// The exact loss of this pair at `delta`. Its error is the distance to the further of a lower and an upper bound, but
    /// at least 1e-4. The lower bound is that of the tight accountant. The upper bound is computed by dividing the range of
    /// the privacy loss into cells; where `in_cells` returns `None`, it is that of the tight accountant. With a closed form,
    /// both bounds equal epsilon. If only the largest loss is known, `delta` must be 0.
    #[must_use]
    pub fn loss(&self, delta: f64) -> ExactLoss {
        let (lower, closed) = self.without_cells(delta);
        let (epsilon, upper) = self.extrapolated(delta).unwrap_or((closed, closed));
        let error = (epsilon - lower).max(upper - epsilon);
        ExactLoss { epsilon, error: error.max(ExactLoss::LEAST_ERROR) }
    }

    /// The epsilon of [`Self::loss`] alone.
    #[must_use]
    pub fn epsilon(&self, delta: f64) -> f64 {
        self.extrapolated(delta).map_or_else(|| self.without_cells(delta).1, |(epsilon, _)| epsilon)
    }

    /// The two epsilons of [`Self::in_cells`], extrapolated to cells of width 0, and the upper bound by the finer cells;
    /// `None` if `in_cells` returns `None`. The error of the cells falls with the square of their width.
    fn extrapolated(&self, delta: f64) -> Option<(f64, f64)> {
        self.in_cells(delta).map(|(rough, fine)| ((fine - (rough - fine) / 3.0).max(0.0), fine))
    }

    /// A lower and an upper bound on the pair's exact epsilon at `delta`, computed without cells. They differ only for a
    /// composition that has no closed form.
    pub(super) fn without_cells(&self, delta: f64) -> (f64, f64) {
        let epsilon = match &self.law {
            Law::Composed(costs) => return exact_pair::composed(costs, delta),
            Law::Shown(cases) => exact_pair::gaussian_mixture(cases, delta),
            Law::Discrete(noise) => noise.epsilon(delta),
            Law::Largest(epsilon) => *epsilon,
        };
        (epsilon, epsilon)
    }

    /// Two upper bounds on epsilon, both a little too large. They are computed by dividing the range of the privacy loss
    /// into cells ([`Curve`]): of the usual width, and of half that width. `None` if
    /// [`Self::few`] returns no releases, if no cells are implemented for a cost, or if `delta` is 0 or at most the
    /// probability of the tail that the cells leave out. For such a small delta the accountant is more accurate.
    pub(super) fn in_cells(&self, delta: f64) -> Option<(f64, f64)> {
        let costs = self.few().filter(|_| delta > 0.0)?;
        let [rough, fine] = [1.0, 2.0].map(|finer| Curve::of(costs, finer).map(|curve| curve.epsilon(delta)));
        Some((rough?, fine?)).filter(|(rough, fine)| rough.is_finite() && fine.is_finite())
    }

    /// The releases, if there are 2 to 16 of them; for so few, cells are faster than the accountant's contour integral.
    /// `None` for other numbers, and for distributions that no costs describe.
    pub(super) fn few(&self) -> Option<&[(Cost, u64)]> {
        const MOST: u64 = 16;
        match &self.law {
            Law::Composed(costs) if (2..=MOST).contains(&costs.iter().map(|(_, count)| count).sum()) => {
                Some(costs)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
