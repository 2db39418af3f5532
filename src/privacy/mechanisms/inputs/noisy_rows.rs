//! Gaussian noise on the rows of a data set, with a proven guarantee.

use super::input::{Input, RowsMechanism, noise_problems};
use crate::privacy::mechanisms::pair::{Distinguisher, Pair, under_gaussian};
use crate::privacy::mechanisms::{Gaussian, Mechanism, MechanismError, NoiseArithmetic, Price, Rows, moved};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Delta, Epsilon, Neighbours, Positive, Problem, Sampler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Releases the inputs X with independent N(0, sigma^2) noise on every number. sigma is the smallest standard deviation with
/// which the release is (epsilon, delta)-DP (analytic Gaussian).
///
/// * Precondition: neighbouring data sets differ in one row, moved by at most a stated Euclidean distance, in the
///   units of X. That distance is the L2 sensitivity of the whole table. The scaling of X is taken as public.
/// * Postcondition: (epsilon, delta)-DP, with the cost of one Gaussian of noise multiplier sigma / distance. With exact
///   noise, rounding to a lattice can move each of the d numbers of the moved row by one spacing further. To compensate
///   for this, the noise is larger by a factor of about 1 + sqrt(d) 2^-30, or by a larger factor if sigma and the
///   distance differ by a factor above 2^21.
///
/// Source: Balle and Wang 2018, "Improving the Gaussian mechanism for differential privacy", Theorem 8, for the
/// neighbouring relation of Kharkovskii, Dai and Low 2020, Definition 1.
///
/// Example: `NoisyRows(epsilon: 3, delta: 1e-3)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoisyRows {
    /// Epsilon, above 0.
    pub epsilon: Epsilon,
    /// Delta, in (0, 1).
    pub delta: Delta,
    /// How the noise is sampled. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

const NAME: &str = "Gaussian noise on rows";

impl NoisyRows {
    /// This release for rows that move by at most `distance`.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] as for [`Gaussian::analytic`].
    pub fn calibrated(&self, distance: Positive) -> Result<CalibratedRows, MechanismError> {
        let noise = Gaussian::analytic(self.epsilon, self.delta, distance)?;
        Ok(CalibratedRows { distance, noise, arithmetic: self.arithmetic })
    }
}

/// [`NoisyRows`] with its noise computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibratedRows {
    distance: Positive,
    noise: Gaussian,
    arithmetic: NoiseArithmetic,
}

impl CalibratedRows {
    /// Standard deviation of the noise on every number.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        self.noise.standard_deviation()
    }
}

impl Mechanism for CalibratedRows {
    type Input = Rows;
    type Output = Rows;

    fn price(&self, x: &Rows, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        moved(NAME, neighbours, self.distance)?;
        if self.arithmetic == NoiseArithmetic::Exact {
            self.noise.exact(x.d())?;
        }
        Ok(Price {
            mechanism: NAME,
            sampler: Sampler::Full,
            sensitivity: Some(self.distance.get()),
            cost: Cost::Gaussian { noise_multiplier: self.standard_deviation() / self.distance.get() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.recorded(),
        })
    }

    fn privatise(&self, x: &Rows, stream: &mut Stream) -> Result<Rows, MechanismError> {
        match self.arithmetic {
            NoiseArithmetic::Exact => {
                // The lattice must allow for the numbers that can differ between neighbours: those of one row.
                let (grid, scale) = self.noise.exact(x.d())?;
                x.each(|value| grid.plus_normal(grid.round(value), scale, stream))
            }
            NoiseArithmetic::Ideal => x.plus_noise(self.standard_deviation(), stream),
        }
    }

    /// The first record moved by the whole distance; the loss is the same in every direction.
    fn worst_pair(&self, like: &Rows) -> Option<Pair<Rows>> {
        let direction = match like.d() {
            1 => vec![1.0],
            d => (0..d).map(|column| [0.6, 0.8].get(column).copied().unwrap_or(0.0)).collect(),
        };
        let words = format!("one record moved by {}", self.distance);
        Some(Pair::new(like.clone(), like.moved(0, &direction, self.distance.get()), words))
    }

    fn distinguisher(&self, [a, b]: [&Rows; 2]) -> Result<Distinguisher<Rows>, MechanismError> {
        Ok(under_gaussian([a.values(), b.values()], self.standard_deviation(), Rows::values))
    }
}

impl RowsMechanism for CalibratedRows {}

impl Input for NoisyRows {
    fn release_name(&self) -> &'static str {
        "noisy inputs"
    }

    fn about(&self, rows: &Rows) -> String {
        format!("{} records of {} numbers with Gaussian noise", rows.n(), rows.d())
    }

    fn delta(&self) -> f64 {
        self.delta.get()
    }

    fn problems(&self) -> Vec<Problem> {
        noise_problems(self.epsilon, self.delta)
    }

    fn mechanism(
        &self,
        _: usize,
        distance: Positive,
        _: &mut Stream,
    ) -> Result<Option<Box<dyn RowsMechanism>>, MechanismError> {
        Ok(Some(Box::new(self.calibrated(distance)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::single::gaussian_delta;
    use crate::rng::Key;

    fn recipe(epsilon: f64) -> NoisyRows {
        let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(1e-5).unwrap());
        NoisyRows { epsilon, delta, arithmetic: NoiseArithmetic::Exact }
    }

    fn one() -> Positive {
        Positive::new(1.0).unwrap()
    }

    #[test]
    fn the_release_states_its_size_and_delta() {
        let rows = Rows::new(3, 2, vec![0.0; 6]).unwrap();
        assert_eq!(recipe(1.0).about(&rows), "3 records of 2 numbers with Gaussian noise");
        assert_eq!(recipe(1.0).delta(), 1e-5);
        let projection = "(epsilon: 1, delta: 1e-4, r: 2)";
        let projection: crate::privacy::mechanisms::inputs::NoisyProjection =
            ron::from_str(projection).unwrap();
        assert_eq!((projection.delta(), projection.columns(7)), (1e-4, 2));
    }

    #[test]
    fn the_noise_is_what_epsilon_needs_and_grows_with_the_distance() {
        // The values of sigma at delta 1e-5 are those of tests/oracles/outsourced_release_units.json, entry
        // `analytic_gaussian_sigma`; Balle and Wang's formula for delta then gives 1e-5 again.
        for (epsilon, sigma) in [(3.004_166_023_946_433_4, 1.389), (1.0, 3.730_631_6)] {
            let noise = recipe(epsilon).calibrated(one()).unwrap().standard_deviation();
            assert!((noise - sigma).abs() < 1e-3, "{noise} for {sigma}");
            assert!((gaussian_delta(1.0 / noise, epsilon) / 1e-5 - 1.0).abs() < 1e-6);
            let twice = recipe(epsilon).calibrated(Positive::new(2.0).unwrap()).unwrap();
            assert!((twice.standard_deviation() / noise - 2.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_price_is_of_one_gaussian_and_covers_no_larger_distance() {
        let mechanism = recipe(1.0).calibrated(one()).unwrap();
        let x = Rows::new(2, 1, vec![0.0, 5.0]).unwrap();
        let price = mechanism.price(&x, &Neighbours::RowMoved { distance: 1.0 }).unwrap();
        assert_eq!((price.sensitivity, &price.basis), (Some(1.0), &Basis::Proven));
        assert_eq!(price.cost, Cost::Gaussian { noise_multiplier: mechanism.standard_deviation() });
        for neighbours in [Neighbours::RowMoved { distance: 1.1 }, Neighbours::ReplaceOne] {
            assert!(mechanism.price(&x, &neighbours).is_err());
        }
    }

    #[test]
    fn the_noise_drawn_is_the_noise_priced() {
        let mechanism = recipe(1.0).calibrated(one()).unwrap();
        let x = Rows::new(20_000, 2, vec![7.0; 40_000]).unwrap();
        let released = mechanism.privatise(&x, &mut Key::root(3).stream()).unwrap();
        let variance = mechanism.standard_deviation().powi(2);
        let square = released.values().iter().map(|v| (v - 7.0).powi(2)).sum::<f64>() / 40_000.0;
        // Six standard errors of a mean of squares of normals.
        assert!(
            (square / variance - 1.0).abs() < 6.0 * (2.0f64 / 40_000.0).sqrt(),
            "{square} for {variance}"
        );
        let bad = Rows::new(1, 1, vec![f64::NAN]).unwrap();
        assert!(mechanism.privatise(&bad, &mut Key::root(3).stream()).is_err());
    }

    /// With distance 2 the noise multiplier is the same and the noise twice as large; noise for which no lattice exists
    /// is refused only in exact arithmetic.
    #[test]
    fn the_multiplier_is_relative_to_the_distance() {
        let x = Rows::new(2, 1, vec![0.0, 5.0]).unwrap();
        let price = |distance: f64, arithmetic| {
            let own = NoisyRows { arithmetic, ..recipe(1.0) };
            let own = own.calibrated(Positive::new(distance).unwrap()).unwrap();
            own.price(&x, &Neighbours::RowMoved { distance })
        };
        assert_eq!(
            price(2.0, NoiseArithmetic::Exact).unwrap().cost,
            price(1.0, NoiseArithmetic::Exact).unwrap().cost
        );
        assert!(price(1e-300, NoiseArithmetic::Exact).is_err());
        assert!(price(1e-300, NoiseArithmetic::Ideal).is_ok());
    }

    /// Every release with Gaussian noise reports a problem for an epsilon and a delta that no noise gives.
    #[test]
    fn a_guarantee_that_no_noise_gives_is_a_problem() {
        let (epsilon, delta) = (Epsilon::new(1e-12).unwrap(), Delta::new(1e-12).unwrap());
        let impossible = NoisyRows { epsilon, delta, arithmetic: NoiseArithmetic::Exact };
        let r = std::num::NonZeroUsize::MIN;
        let projection =
            super::super::NoisyProjection { epsilon, delta, r, arithmetic: NoiseArithmetic::Exact };
        for problems in [impossible.problems(), projection.problems()] {
            assert!(
                matches!(&problems[..], [one] if one.complaint.to_string().contains("raise epsilon or delta"))
            );
        }
        assert!(recipe(1.0).problems().is_empty());
    }

    /// Every release states its name, whether it shows inputs, and in how many columns.
    #[test]
    fn every_release_has_its_name_and_columns() {
        for (text, name, shows, columns) in [
            ("Disclosure()", "inputs X", true, 7),
            ("Withheld()", "number of rows", false, 7),
            ("NoisyRows(epsilon: 1, delta: 1e-5)", "noisy inputs", true, 7),
            ("NoisyProjection(epsilon: 1, delta: 1e-5, r: 3)", "projected inputs Z", true, 3),
            ("JohnsonLindenstrauss(epsilon: 1, delta: 1e-5, r: 4)", "projected inputs Z", true, 4),
        ] {
            let release: super::super::InputRelease = crate::scenario::part(text).unwrap();
            let own = release.as_dyn();
            assert_eq!((own.release_name(), own.shows_inputs(), own.columns(7)), (name, shows, columns));
            assert_eq!(release.shows_inputs(), shows, "{text}");
            let mechanism = own.mechanism(2, one(), &mut Key::root(1).stream()).unwrap();
            assert_eq!(mechanism.is_some(), shows, "{text}");
            let affine = mechanism.is_some_and(|own| own.is_affine());
            assert_eq!(affine, text.starts_with("Johnson"), "{text}");
        }
    }
}
