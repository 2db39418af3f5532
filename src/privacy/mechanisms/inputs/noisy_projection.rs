//! A random projection with Gaussian noise added after it.

use super::input::{Input, RowsMechanism, noise_problems};
use super::spectral::{spectral_norm, worst_direction};
use crate::privacy::mechanisms::pair::{Distinguisher, Pair, under_gaussian};
use crate::privacy::mechanisms::real_deviates::rounded_normal;
use crate::privacy::mechanisms::rounded::Grid;
use crate::privacy::mechanisms::{
    Gaussian, Mechanism, MechanismError, NoiseArithmetic, Price, Rows, all_finite, moved,
};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Delta, Epsilon, Neighbours, Positive, Problem, Sampler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Releases X P + N(0, sigma^2), where P = M / sqrt(r) and M is a d x r matrix of N(0, 1) numbers that are drawn
/// independently of X. sigma is the smallest standard deviation with which the release is (epsilon, delta)-DP for the P
/// that was drawn (analytic Gaussian).
///
/// * Precondition: neighbouring data sets differ in one row, moved by at most a stated Euclidean distance. The L2
///   sensitivity is then that distance times the spectral norm of P. (Kenthapadi et al. use the largest norm of a row
///   of P. That norm is correct for neighbours that differ in a single attribute, and too small here.)
/// * Postcondition: (epsilon, delta)-DP, also towards somebody who knows P: P is public. With exact arithmetic X is
///   rounded to a lattice, P is an integer matrix times a step, and additional noise compensates for the rounding of X.
///
/// Source: Kenthapadi, Korolova, Mironov and Mishra 2013, "Privacy via the Johnson-Lindenstrauss transform",
/// Algorithm 1; named as future work by Kharkovskii, Dai and Low 2020.
///
/// Example: `NoisyProjection(epsilon: 3, delta: 1e-3, r: 2)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoisyProjection {
    /// Epsilon, above 0.
    pub epsilon: Epsilon,
    /// Delta, in (0, 1).
    pub delta: Delta,
    /// Columns of the projection, r, at least 1.
    pub r: NonZeroUsize,
    /// How the noise is sampled. Default: `Exact`. With `Exact`, the entries of P have at most 17 binary digits, and the
    /// product X P is computed in integers.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

const NAME: &str = "Gaussian noise on a projection";

/// In exact arithmetic: the number of binary digits of P's largest entry after its leading digit.
const DIGITS: i32 = 16;
/// The distance that a row moves, and the noise multiplier times this distance, are both below 2^(WIDEST + 1) spacings of
/// X's lattice. Multiplied by an integer entry of P (17 bits), each of the two numbers of spacings fits 64 bits.
const WIDEST: i32 = 36;
/// Largest sum of the noise's standard deviation and the sensitivity of X P, both in multiples of the lattice spacing of X
/// times the step of P.
const LARGEST: f64 = (1u64 << 61) as f64;

impl NoisyProjection {
    /// Draws the projection for inputs of `d` columns and computes the noise for a row that moves by at most
    /// `distance`.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] if there is no finite or no exact noise, for instance for inputs of 0 columns.
    pub fn drawn(
        &self,
        d: usize,
        distance: Positive,
        stream: &mut Stream,
    ) -> Result<DrawnProjection, MechanismError> {
        let r = self.r.get();
        let mut matrix = vec![0.0; d * r];
        stream.fill_normal(&mut matrix);
        let scale = 1.0 / (r as f64).sqrt();
        matrix.iter_mut().for_each(|value| *value *= scale);
        self.given(d, matrix, distance)
    }

    /// The mechanism with the projection P (d x r, row-major) given, instead of drawn as by
    /// [`drawn`](Self::drawn).
    ///
    /// # Errors
    /// [`MechanismError::Shape`] if P is not d x r, is zero or not finite, or if there is no finite or no exact noise
    /// for it.
    pub fn given(
        &self,
        d: usize,
        mut matrix: Vec<f64>,
        distance: Positive,
    ) -> Result<DrawnProjection, MechanismError> {
        let r = self.r.get();
        if d == 0 || matrix.len() != d * r {
            return Err(MechanismError::Shape {
                expected: format!("a projection matrix of {d} x {r} numbers, d at least 1"),
                found: format!("{} numbers", matrix.len()),
            });
        }
        let largest = matrix.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let step = libm::scalbn(1.0, libm::ilogb(largest).clamp(-500, 500) - DIGITS);
        if self.arithmetic == NoiseArithmetic::Exact {
            matrix.iter_mut().for_each(|value| *value = (*value / step).round() * step);
        }
        let norm = spectral_norm(d, r, &matrix);
        let sensitivity = Positive::new(norm * distance.get()).map_err(MechanismError::out_of_range)?;
        let noise = Gaussian::analytic(self.epsilon, self.delta, sensitivity)?;
        let standard_deviation = noise.standard_deviation();
        let arithmetic = self.arithmetic;
        let drawn =
            DrawnProjection { d, r, matrix, distance, sensitivity, standard_deviation, arithmetic, step };
        if arithmetic == NoiseArithmetic::Exact {
            drawn.exact()?;
        }
        Ok(drawn)
    }
}

/// [`NoisyProjection`] with its projection drawn and its noise computed.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnProjection {
    d: usize,
    r: usize,
    /// P, row-major.
    matrix: Vec<f64>,
    distance: Positive,
    sensitivity: Positive,
    standard_deviation: f64,
    arithmetic: NoiseArithmetic,
    /// With exact arithmetic, the entries of P are multiples of this power of two.
    step: f64,
}

impl DrawnProjection {
    /// The largest difference of X P between neighbours, in the Frobenius norm.
    #[must_use]
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity.get()
    }

    /// Standard deviation of the noise on every number, as calibrated: exact arithmetic draws slightly more noise.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        self.standard_deviation
    }

    fn multiplier(&self) -> f64 {
        self.standard_deviation / self.sensitivity.get()
    }

    /// The lattice for X, and the standard deviation of the noise in multiples of the lattice's spacing times the step of P.
    /// After rounding, the two versions of a row in neighbouring data sets are at most sqrt(d) spacings further apart than
    /// before. In multiples of the spacing, the rounded numbers are integers; in multiples of the step, the entries of P are
    /// integers. So the products of the two are exact.
    fn exact(&self) -> Result<(Grid, u64), MechanismError> {
        let distance = self.distance.get();
        let norm = self.sensitivity.get() / distance;
        let grid = Grid::of_width(self.multiplier() * distance, distance, WIDEST)?;
        let reach = norm / self.step * grid.l2(distance, self.d);
        if reach * (1.0 + self.multiplier()) > LARGEST {
            return Err(MechanismError::Shape {
                expected: "a smaller projection for exact arithmetic (write `arithmetic: Ideal`)".to_owned(),
                found: format!("{} x {}", self.d, self.r),
            });
        }
        Ok((grid, grid.scale(self.multiplier(), reach)))
    }

    fn exactly(&self, x: &Rows, stream: &mut Stream) -> Result<Rows, MechanismError> {
        all_finite(x.values())?;
        let (grid, scale) = self.exact()?;
        let integers: Vec<i128> = self.matrix.iter().map(|value| (value / self.step) as i128).collect();
        let spacing = grid.spacing() * self.step;
        let mut values = Vec::with_capacity(x.n() * self.r);
        let mut out = vec![0i128; self.r];
        for i in 0..x.n() {
            out.fill(0);
            for (x, weights) in x.row(i).iter().zip(integers.chunks_exact(self.r)) {
                let x = grid.round(*x);
                out.iter_mut().zip(weights).for_each(|(out, weight)| *out += x * weight);
            }
            values.extend(out.iter().map(|m| (m + rounded_normal(scale, stream)) as f64 * spacing));
        }
        Rows::new(x.n(), self.r, values)
    }

    fn fits(&self, x: &Rows) -> Result<(), MechanismError> {
        if x.d() == self.d {
            return Ok(());
        }
        Err(MechanismError::Shape {
            expected: format!("rows of {} numbers", self.d),
            found: format!("rows of {}", x.d()),
        })
    }

    /// X P, without noise. Like X, it is protected data.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] if X has another number of columns.
    pub fn projected(&self, x: &Rows) -> Result<Rows, MechanismError> {
        self.fits(x)?;
        let mut values = vec![0.0; x.n() * self.r];
        for (i, out) in values.chunks_exact_mut(self.r).enumerate() {
            for (x, weights) in x.row(i).iter().zip(self.matrix.chunks_exact(self.r)) {
                out.iter_mut().zip(weights).for_each(|(out, weight)| *out += x * weight);
            }
        }
        Rows::new(x.n(), self.r, values)
    }
}

impl Mechanism for DrawnProjection {
    type Input = Rows;
    type Output = Rows;

    fn price(&self, _: &Rows, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        moved(NAME, neighbours, self.distance)?;
        Ok(Price {
            mechanism: NAME,
            sampler: Sampler::Full,
            sensitivity: Some(self.sensitivity.get()),
            cost: Cost::Gaussian { noise_multiplier: self.multiplier() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.recorded(),
        })
    }

    fn privatise(&self, x: &Rows, stream: &mut Stream) -> Result<Rows, MechanismError> {
        self.fits(x)?;
        match self.arithmetic {
            NoiseArithmetic::Exact => self.exactly(x, stream),
            NoiseArithmetic::Ideal => self.projected(x)?.plus_noise(self.standard_deviation, stream),
        }
    }

    /// The first record moved by the whole distance in the direction that the projection stretches most.
    fn worst_pair(&self, like: &Rows) -> Option<Pair<Rows>> {
        let (direction, place) = self.worst_direction()?;
        let moved = like.moved(0, &direction, self.distance.get());
        let words = format!("one record moved by {} {place}", self.distance);
        Some(Pair::new(like.clone(), moved, words))
    }

    fn distinguisher(&self, [a, b]: [&Rows; 2]) -> Result<Distinguisher<Rows>, MechanismError> {
        let means = [self.projected(a)?, self.projected(b)?];
        Ok(under_gaussian([means[0].values(), means[1].values()], self.standard_deviation, Rows::values))
    }
}

impl RowsMechanism for DrawnProjection {
    fn worst_direction(&self) -> Option<(Vec<f64>, &'static str)> {
        Some((worst_direction(self.d, self.r, &self.matrix), "where the projection stretches most"))
    }
}

impl Input for NoisyProjection {
    fn columns(&self, _: u64) -> u64 {
        self.r.get() as u64
    }

    fn release_name(&self) -> &'static str {
        "projected inputs Z"
    }

    fn about(&self, rows: &Rows) -> String {
        format!("a known projection of {} records to {} numbers, with Gaussian noise", rows.n(), self.r)
    }

    fn delta(&self) -> f64 {
        self.delta.get()
    }

    fn problems(&self) -> Vec<Problem> {
        noise_problems(self.epsilon, self.delta)
    }

    fn mechanism(
        &self,
        d: usize,
        distance: Positive,
        public: &mut Stream,
    ) -> Result<Option<Box<dyn RowsMechanism>>, MechanismError> {
        Ok(Some(Box::new(self.drawn(d, distance, public)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::single::gaussian_delta;
    use crate::rng::Key;
    use faer::MatRef;
    use proptest::prelude::*;

    fn recipe(r: usize) -> NoisyProjection {
        NoisyProjection {
            epsilon: Epsilon::new(1.0).unwrap(),
            delta: Delta::new(1e-5).unwrap(),
            r: NonZeroUsize::new(r).unwrap(),
            arithmetic: NoiseArithmetic::Exact,
        }
    }

    fn one() -> Positive {
        Positive::new(1.0).unwrap()
    }

    proptest! {
        /// The projections of random neighbours are never further apart than the sensitivity. The projections of neighbours
        /// that differ along the worst direction are as far apart as the sensitivity, up to one millionth.
        #[test]
        fn no_neighbour_moves_the_projection_by_more_than_the_sensitivity(
            n in 1usize..8, d in 1usize..7, r in 1usize..9, seed in 0u64..1_000_000,
        ) {
            let mut stream = Key::root(seed).stream();
            let mechanism = recipe(r).drawn(d, one(), &mut stream).unwrap();
            let mut x = vec![0.0; n * d];
            stream.fill_normal(&mut x);
            let before = mechanism.projected(&Rows::new(n, d, x.clone()).unwrap()).unwrap();
            let matrix = MatRef::from_row_major_slice(&mechanism.matrix, d, r);
            let svd = matrix.thin_svd().unwrap();
            let worst: Vec<f64> = svd.U().col(0).iter().copied().collect();
            prop_assert!((mechanism.sensitivity() / svd.S()[0] - 1.0).abs() < 1e-8);
            for attempt in 0..20 {
                let mut step = worst.clone();
                if attempt > 0 {
                    stream.fill_normal(&mut step);
                    let norm = step.iter().map(|v| v * v).sum::<f64>().sqrt();
                    let length = stream.uniform().max(0.9) / norm;
                    step.iter_mut().for_each(|v| *v *= length);
                }
                let row = stream.below(n as u64) as usize;
                let mut moved = x.clone();
                moved[row * d..][..d].iter_mut().zip(&step).for_each(|(v, s)| *v += s);
                let after = mechanism.projected(&Rows::new(n, d, moved).unwrap()).unwrap();
                let squares = before.values().iter().zip(after.values()).map(|(a, b)| (a - b) * (a - b));
                let distance = squares.sum::<f64>().sqrt();
                prop_assert!(distance <= mechanism.sensitivity(), "{distance}");
                prop_assert!(attempt > 0 || distance > 0.999_999 * mechanism.sensitivity());
            }
        }
    }

    /// Kenthapadi's largest norm of a row of P, here 4, is the sensitivity only for a change of one attribute. If a row of X
    /// moves by 1 in the direction (0.6, 0.8), which changes two attributes, X P moves by 5.
    #[test]
    fn the_largest_row_norm_would_be_too_small() {
        let mechanism = recipe(1).given(2, vec![3.0, 4.0], one()).unwrap();
        assert!((mechanism.sensitivity() - 5.0).abs() < 1e-8, "{}", mechanism.sensitivity());
        let x = Rows::new(1, 2, vec![0.6, 0.8]).unwrap();
        assert!((mechanism.projected(&x).unwrap().values()[0] - 5.0).abs() < 1e-12, "larger than 4");
    }

    #[test]
    fn the_noise_is_what_epsilon_needs_for_the_projection_drawn() {
        let mechanism = recipe(10).drawn(2, one(), &mut Key::root(7).stream()).unwrap();
        let ratio = mechanism.standard_deviation() / mechanism.sensitivity();
        assert!((gaussian_delta(1.0 / ratio, 1.0) / 1e-5 - 1.0).abs() < 1e-6, "{ratio}");
        let x = Rows::new(3, 2, vec![1.0; 6]).unwrap();
        let price = mechanism.price(&x, &Neighbours::RowMoved { distance: 1.0 }).unwrap();
        assert_eq!(price.cost, Cost::Gaussian { noise_multiplier: ratio });
        assert_eq!((price.sensitivity, price.basis), (Some(mechanism.sensitivity()), Basis::Proven));
        assert!(mechanism.price(&x, &Neighbours::RowMoved { distance: 2.0 }).is_err());
        let wrong = Rows::new(3, 1, vec![1.0; 3]).unwrap();
        assert!(mechanism.privatise(&wrong, &mut Key::root(1).stream()).is_err());
        assert!(recipe(1).given(1, vec![0.0], one()).is_err(), "a projection to nothing");
        let released = mechanism.privatise(&x, &mut Key::root(8).stream()).unwrap();
        assert_eq!((released.n(), released.d()), (3, 10));
        assert_ne!(released, mechanism.projected(&x).unwrap());
    }

    /// The entries of P are the normal deviates of the stream, divided by the square root of r. The sensitivity of X P is
    /// the largest singular value of P times the distance.
    #[test]
    fn the_projection_is_drawn_from_the_stream() {
        let ideal = NoisyProjection { arithmetic: NoiseArithmetic::Ideal, ..recipe(4) };
        let drawn = ideal.drawn(3, one(), &mut Key::root(9).stream()).unwrap();
        let mut normals = vec![0.0; 12];
        Key::root(9).stream().fill_normal(&mut normals);
        assert_eq!(drawn.matrix, normals.iter().map(|value| value * 0.5).collect::<Vec<f64>>());
        let far = ideal.given(1, vec![3.0, 0.0, 4.0, 0.0], Positive::new(2.0).unwrap()).unwrap();
        assert!((far.sensitivity() - 10.0).abs() < 1e-6, "{}", far.sensitivity());
        let wrong = |d, numbers| ideal.given(d, vec![1.0; numbers], one()).unwrap_err().to_string();
        for (d, numbers) in [(0, 0), (2, 7), (2, 9)] {
            assert!(wrong(d, numbers).contains(&format!("{d} x 4 numbers")), "{d} {numbers}");
        }
    }

    /// By hand, with P = (1, 1): a row of X that moves by a distance of 4 moves by 4 / spacing multiples of the spacing, and
    /// by 1 more for rounding. X P moves by this number times the norm of P.
    #[test]
    fn exact_noise_is_the_multiplier_times_the_move_in_integers() {
        let distance = Positive::new(4.0).unwrap();
        let drawn = recipe(2).given(1, vec![1.0, 1.0], distance).unwrap();
        let (grid, noise) = drawn.exact().unwrap();
        let multiplier = drawn.standard_deviation() / drawn.sensitivity();
        let moved = 4.0 / grid.spacing() + 1.0;
        let expected = multiplier * 2f64.sqrt() / drawn.step * moved;
        let relative = noise as f64 / expected - 1.0;
        assert!((0.0..2e-9).contains(&relative), "{relative}");
        // The distance, which is smaller than the noise, is 2^30 spacings.
        assert_eq!(grid.spacing(), libm::exp2(-28.0));
        let zero = drawn.privatise(&Rows::new(1, 1, vec![0.0]).unwrap(), &mut Key::root(4).stream()).unwrap();
        let first = rounded_normal(noise, &mut Key::root(4).stream()) as f64 * grid.spacing() * drawn.step;
        assert_eq!(zero.values()[0], first);
    }

    /// With one input and r equal entries of P, a move of X by 1 is 2^30 + 1 spacings (1 for rounding). The integers of X P
    /// move by sqrt(r) 2^16 times as much. The projection is refused as soon as noise and move of these integers together
    /// exceed 2^61.
    #[test]
    fn a_projection_that_is_too_large_for_integers_is_refused() {
        let of = |r: usize| NoisyProjection { epsilon: Epsilon::new(0.05).unwrap(), ..recipe(r) };
        let multiplier = of(1).given(1, vec![1.0], one()).unwrap().multiplier();
        assert!((32.0..127.0).contains(&multiplier), "the spacing is 2^-30, {multiplier}");
        let limit = libm::exp2(61.0 - 16.0) / ((libm::exp2(30.0) + 1.0) * (1.0 + multiplier));
        for (share, fits) in [(0.999, true), (1.001, false)] {
            let r = (limit * limit * share) as usize;
            let found = of(r).given(1, vec![1.0; r], one()).map(|_| ()).map_err(|error| error.to_string());
            assert_eq!(found.is_ok(), fits, "{r}: {found:?}");
        }
        let r = (limit * limit * 1.001) as usize;
        let refused = of(r).given(1, vec![1.0; r], one()).unwrap_err().to_string();
        assert!(refused.contains(&format!("found 1 x {r}")), "{refused}");
        let tiny = Positive::new(1e-300).unwrap();
        assert!(recipe(1).given(1, vec![1.0], tiny).is_err());
        let ideal = NoisyProjection { arithmetic: NoiseArithmetic::Ideal, ..recipe(1) };
        assert!(ideal.given(1, vec![1.0], tiny).is_ok());
    }
}
