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
            match laws {
                Laws::Costs(each) => {
                    costs.extend(each.iter().map(|cost| (cost.clone(), times)));
                    kinds[0] |= !each.is_empty();
                }
                // Equal output distributions add nothing to the loss.
                Laws::Shown { mu, .. } if *mu <= 0.0 => continue,
                Laws::Largest([0.0, 0.0]) => continue,
                _ if times == 0 => continue,
                Laws::DiscreteGaussian { steps, .. } if *steps == 0.0 => continue,
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
mod tests {
    use super::*;
    use crate::accounting::exact_pair::root;
    use crate::accounting::single;
    use crate::accounting::{Accountant, Composition, Tight};
    use crate::vocab::Delta;

    /// A mixture of normal distributions with the same standard deviation: weight and mean of each.
    type Mixture = Vec<(f64, f64)>;

    fn density(mixture: &Mixture, sd: f64, y: f64) -> f64 {
        let normal =
            |mean: f64| libm::exp(-0.5 * ((y - mean) / sd).powi(2)) / (sd * std::f64::consts::TAU.sqrt());
        mixture.iter().map(|(weight, mean)| weight * normal(*mean)).sum()
    }

    /// The hockey-stick divergence by the trapezoid rule, the larger of both directions; computed without any
    /// accountant.
    fn delta_of(sides: &[Mixture; 2], sd: f64, epsilon: f64) -> f64 {
        let one_way = |p: &Mixture, q: &Mixture| {
            let steps = 20_000;
            let (low, high) = (-14.0 * sd - 2.0, 14.0 * sd + 2.0);
            let step = (high - low) / f64::from(steps);
            (0..=steps)
                .map(|k| {
                    let y = low + step * f64::from(k);
                    (density(p, sd, y) - libm::exp(epsilon) * density(q, sd, y)).max(0.0) * step
                })
                .sum::<f64>()
        };
        one_way(&sides[0], &sides[1]).max(one_way(&sides[1], &sides[0]))
    }

    fn proven(cost: Cost) -> f64 {
        let composition: Composition = [(&cost, 1)].into_iter().collect();
        Tight.price(&composition, Delta::new(1e-5).unwrap()).epsilon
    }

    /// The loss of each worst known pair, by quadrature of its densities, equals the mechanism's proven
    /// bound.
    #[test]
    fn worst_known_pairs_attain_the_proven_bounds() {
        let by_quadrature = |sides: &[Mixture; 2], sd| root(1e-5, |epsilon| delta_of(sides, sd, epsilon));
        let whole = |mean: f64| vec![(1.0, mean)];
        for (name, sides, sd, cost) in [
            ("Gaussian", [whole(1.0), whole(0.0)], 3.7, Cost::Gaussian { noise_multiplier: 3.7 }),
            (
                "Poisson sample, others zero",
                [vec![(0.75, 0.0), (0.25, 1.0)], whole(0.0)],
                1.0,
                Cost::PoissonGaussian { rate: 0.25, noise_multiplier: 1.0 },
            ),
            (
                "fixed size, others against it",
                [vec![(0.75, -1.0), (0.25, 1.0)], whole(-1.0)],
                2.0,
                Cost::FixedSizeGaussian { population: 4, size: 1, noise_multiplier: 2.0 },
            ),
        ] {
            let (exact, bound) = (by_quadrature(&sides, sd), proven(cost));
            assert!((exact / bound - 1.0).abs() < 1e-5, "{name}: {exact} of {bound}");
        }
        // A weaker pair, on which the vectors of all other units are zero: the bound is more than 1.5 times its exact
        // loss.
        let weak = [vec![(0.75, 0.0), (0.25, 1.0)], vec![(0.75, 0.0), (0.25, -1.0)]];
        let bound = proven(Cost::FixedSizeGaussian { population: 4, size: 1, noise_multiplier: 2.0 });
        assert!(by_quadrature(&weak, 2.0) < bound / 1.5, "{} of {bound}", by_quadrature(&weak, 2.0));
    }

    /// The laws that mechanisms state for single releases are combined into one pair. There is no pair if they cannot be
    /// composed, or if the law of a release is not known.
    #[test]
    fn releases_of_one_kind_compose() {
        let (gaussian, none) = (KnownLaws::gaussian(0.5), KnownLaws::gaussian(0.0));
        let of = |releases: &[(Option<&KnownLaws>, u64)]| KnownPair::of(releases.iter().copied());
        let four = of(&[(Some(&gaussian), 3), (Some(&none), 7), (Some(&gaussian), 1)]).unwrap();
        let exact = KnownPair::gaussian(1.0).epsilon(1e-5);
        assert!((four.epsilon(1e-5) - exact).abs() < four.loss(1e-5).error, "{}", four.epsilon(1e-5));
        let largest = KnownLaws::largest(0.5);
        assert_eq!(of(&[(Some(&largest), 4)]).unwrap().epsilon(0.0), 2.0);
        // A release with the losses .5 and -.25, twice, and one with .1 and -2: at most 1.1, and at least -2.5.
        let unequal = [KnownLaws::largest_of([0.5, -0.25]), KnownLaws::largest_of([-2.0, 0.1])];
        assert_eq!(of(&[(Some(&unequal[0]), 2), (Some(&unequal[1]), 1)]).unwrap().epsilon(0.0), 2.5);
        assert!(of(&[(Some(&none), 1)]).is_none() && of(&[(None, 1), (Some(&gaussian), 1)]).is_none());
        assert!(of(&[(Some(&largest), 1), (Some(&gaussian), 1)]).is_none());
    }

    /// Several rounds, each with a sample of fixed size: the worst known pair has the same laws as a pair with Poisson
    /// samples and half the noise multiplier. The proven bound composes a law that is the worst possible one in both
    /// directions at the same time. No known pair has such a law, so this pair stays below the bound.
    #[test]
    fn several_rounds_of_fixed_size_stay_below_the_bound() {
        let delta = 200f64.powf(-1.1);
        let pair =
            KnownPair::composed(vec![(Cost::PoissonGaussian { rate: 0.25, noise_multiplier: 0.5 }, 4)], "");
        let bound: Composition =
            [(&Cost::FixedSizeGaussian { population: 20, size: 5, noise_multiplier: 1.0 }, 4)]
                .into_iter()
                .collect();
        let bound = Tight.price(&bound, Delta::new(delta).unwrap()).epsilon;
        let exact = pair.epsilon(delta);
        assert!((7.86..7.90).contains(&exact) && (8.02..8.04).contains(&bound), "{exact} of {bound}");
    }

    #[test]
    fn curves_without_a_contour_agree_with_known_ones() {
        let (discrete, continuous) =
            (KnownPair::discrete_gaussian(30.0, 9.0).epsilon(1e-5), KnownPair::gaussian(0.3).epsilon(1e-5));
        assert!((discrete / continuous - 1.0).abs() < 1e-3, "{discrete} for {continuous}");
        let laplace = |delta: f64| {
            let composition: Composition = [(&Cost::Laplace { scale: 1.5 }, 1)].into_iter().collect();
            Tight.price(&composition, Delta::new(delta).unwrap()).epsilon
        };
        let pair = KnownPair::composed(vec![(Cost::Laplace { scale: 1.5 }, 1)], "");
        for delta in [1e-5, 0.1, 0.5] {
            assert!((pair.epsilon(delta) - laplace(delta)).abs() < 1e-3, "{delta}");
        }
        let coarse = KnownPair::discrete_gaussian(1.0, 1.0);
        // The result is compared with the sum over the integers, at delta 0.3.
        let curve = |epsilon: f64| {
            let mass = |x: i32| libm::exp(-0.5 * f64::from(x * x));
            let total: f64 = (-9..=9).map(mass).sum();
            (-8..=9).map(|x| (mass(x) - epsilon.exp() * mass(x - 1)).max(0.0)).sum::<f64>() / total
        };
        assert!((curve(coarse.epsilon(0.3)) - 0.3).abs() < 1e-9);
    }

    /// Exact losses lie between the accountant's two bounds, and the stated error reaches to the lower bound. Where the two
    /// bounds are close to each other, the stated error is small.
    #[test]
    fn the_exact_loss_is_exact_to_its_stated_error() {
        let sampled = |rate, noise_multiplier| Cost::PoissonGaussian { rate, noise_multiplier };
        for costs in [
            vec![(sampled(0.25, 1.0), 4)],
            vec![(sampled(0.35, 0.9), 4)],
            vec![(sampled(0.25, 0.3), 4)],
            vec![(sampled(0.5, 0.8), 2), (sampled(0.25, 1.5), 3)],
            vec![(Cost::Gaussian { noise_multiplier: 2.0 }, 3)],
            vec![(Cost::Laplace { scale: 1.0 }, 3)],
            vec![(sampled(0.03, 1.0), 17)],
            vec![(sampled(0.01, 0.5), 17)],
        ] {
            let composition: Composition = costs.iter().map(|(cost, count)| (cost, *count)).collect();
            for delta in [1e-5, 200f64.powf(-1.1), 0.1] {
                let bound = Tight.price(&composition, Delta::new(delta).unwrap());
                let ExactLoss { epsilon: exact, error } = KnownPair::composed(costs.clone(), "").loss(delta);
                let lower = bound.lower.unwrap();
                // Where the accountant's two bounds are apart, the truth lies between them.
                assert!(exact - error <= lower && lower <= exact + 1e-4, "{costs:?}, {delta}: {exact}");
                assert!(exact <= bound.epsilon + 1e-4, "{costs:?}, {delta}: {exact} above {}", bound.epsilon);
                assert!(error <= (1.001 * (bound.epsilon - lower)).max(1e-4), "{costs:?}, {delta}: {error}");
            }
        }
    }

    /// With visible sampling of rate q, the unit was in neither of two rounds with probability (1 - q)^2, and the curve
    /// is a weighted mean of Gaussian curves.
    #[test]
    fn visible_sampling_mixes_gaussian_curves() {
        let pair = KnownPair::shown(&[(0.25, 1.0), (0.25, 1.0)]).unwrap();
        let epsilon = pair.epsilon(1e-3);
        let mean = 0.375 * single::gaussian_delta(1.0, epsilon)
            + 0.0625 * single::gaussian_delta(2f64.sqrt(), epsilon);
        assert!((mean / 1e-3 - 1.0).abs() < 1e-9, "{mean}");
        let many: Vec<(f64, f64)> = (0..40).map(|k| (0.5, 1.0 + 1e-3 * f64::from(k * k))).collect();
        assert!(KnownPair::shown(&many).is_none());
    }

    /// Releases with equal output distributions change neither the loss of the other releases nor its premise; without
    /// other releases there is no loss to state.
    #[test]
    fn equal_output_distributions_add_nothing() {
        let laws = |laws: Laws, premise: &'static str| KnownLaws { laws, premise };
        let equal = [
            laws(Laws::Largest([0.0; 2]), "a"),
            laws(Laws::DiscreteGaussian { sigma: 2.0, steps: 0.0 }, "b"),
            laws(Laws::Shown { rate: 0.5, mu: 0.0 }, "c"),
        ];
        let releases = || equal.iter().map(|known| (Some(known), 3));
        assert_eq!(KnownPair::of(releases()), None);
        let costs = laws(Laws::Costs(vec![Cost::Gaussian { noise_multiplier: 1.5 }]), "d");
        let alone = KnownPair::of([(Some(&costs), 1)]).unwrap();
        assert_eq!(KnownPair::of([(Some(&costs), 1)].into_iter().chain(releases())), Some(alone));
    }
}
