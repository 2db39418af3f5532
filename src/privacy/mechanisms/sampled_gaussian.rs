//! Gaussian noise on a sum over a random sample of units: the code that the mechanism for Poisson samples and the mechanism
//! for samples of fixed size share.

use super::clipping::clip_norm;
use super::mean_shift::SubsampledShift;
use super::pair::{Distinguisher, Pair};
use super::rounded::Grid;
use super::{MechanismError, NoiseArithmetic, all_finite};
use crate::rng::Stream;
use crate::vocab::Positive;

/// The contribution of each unit. All contributions have the same length.
pub type Contributions = Vec<Vec<f64>>;

/// Checks shapes and returns the length of a contribution.
pub(super) fn length(units: &Contributions) -> Result<usize, MechanismError> {
    let Some(first) = units.first() else {
        return Err(MechanismError::Shape {
            expected: "the contribution of at least one unit".to_owned(),
            found: "none".to_owned(),
        });
    };
    match units.iter().find(|unit| unit.len() != first.len()) {
        Some(odd) => Err(MechanismError::Shape {
            expected: format!("contributions of {} numbers each", first.len()),
            found: format!("one of {}", odd.len()),
        }),
        None => Ok(first.len()),
    }
}

/// The clipping norm, and the scale and arithmetic of the noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Noise {
    /// The clipping norm: the largest L2 norm of a contribution after clipping.
    pub(super) norm: Positive,
    /// Standard deviation of the noise on every number, as a multiple of `norm`.
    pub(super) multiplier: Positive,
    pub(super) arithmetic: NoiseArithmetic,
}

impl Noise {
    /// The lattice for contributions of `length` numbers, and the standard deviation of the noise in multiples of the
    /// lattice's spacing. Each contribution is rounded to integers separately. So the integers of one contribution have at
    /// most the norm to which the noise is scaled, and the integers of all contributions are added up exactly.
    pub(super) fn exact(&self, length: usize) -> Result<(Grid, u64), MechanismError> {
        let grid = Grid::between(self.multiplier.get() * self.norm.get(), self.norm.get())?;
        Ok((grid, grid.scale(self.multiplier.get(), grid.norm(self.norm.get(), length))))
    }

    /// Refuses noise that no lattice can represent.
    pub(super) fn check(&self, length: usize) -> Result<(), MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            self.exact(length)?;
        }
        Ok(())
    }

    /// Two inputs with as many vectors as `like`, each as long as the vectors of `like`. Every vector is a multiple of one
    /// vector whose norm is the clipping norm: on D the first unit's vector is 1 times this vector, on D' it is `moved`
    /// times this vector. The vector of every other unit is `others` times this vector. `None` if `like` has no vectors, or
    /// if its vectors have no numbers.
    pub(super) fn worst_pair(
        &self,
        like: &Contributions,
        others: f64,
        moved: f64,
    ) -> Option<Pair<Contributions>> {
        let unit = |factor: f64| -> Vec<f64> {
            (0..like.first().map_or(0, Vec::len))
                .map(|i| if i == 0 { factor * self.norm.get() } else { 0.0 })
                .collect()
        };
        let all = |first: f64| (0..like.len()).map(|i| unit(if i == 0 { first } else { others })).collect();
        (!unit(1.0).is_empty()).then(|| Pair::new(all(1.0), all(moved), String::new()))
    }

    /// The test that distinguishes two inputs that differ in the vector of at most one unit. `rate` is the probability that
    /// this unit is drawn. If `size` is given, that many units are drawn without replacement, and the clipped vectors of the
    /// units that do not differ must be equal to each other. If `size` is not given, each unit is drawn independently, and
    /// the vectors of the units that do not differ must be zero. For inputs without these properties, nothing is known.
    pub(super) fn distinguisher(
        &self,
        [given, neighbour]: [&Contributions; 2],
        rate: f64,
        size: Option<u64>,
    ) -> Result<Distinguisher<Vec<f64>>, MechanismError> {
        let length = length(given)?;
        let clipped = |unit: &Vec<f64>| {
            let mut unit = unit.clone();
            clip_norm(&mut unit, self.norm);
            unit
        };
        let differ: Vec<usize> = (0..given.len()).filter(|&i| neighbour.get(i) != Some(&given[i])).collect();
        let one = differ.first().copied().unwrap_or(0);
        let mut others = (0..given.len()).filter(|i| *i != one).map(|i| clipped(&given[i]));
        let other = others.next().unwrap_or_else(|| vec![0.0; length]);
        let known = others.all(|unit| unit == other) && (size.is_some() || other.iter().all(|v| *v == 0.0));
        if differ.len() > 1 || !known || neighbour.len() != given.len() {
            return Ok(Distinguisher::unknown());
        }
        // In a sample of fixed size, the unit that differs takes the place of another unit if it is drawn. The sum then
        // contains the vector of the unit that differs instead of the other unit's vector.
        let moved = [given, neighbour]
            .map(|units| clipped(&units[one]).iter().zip(&other).map(|(own, other)| own - other).collect());
        let base = other.iter().map(|value| size.unwrap_or(0) as f64 * value).collect();
        let sd = self.multiplier.get() * self.norm.get();
        Ok(SubsampledShift { rate, sd, base, moved }.distinguisher())
    }

    /// The sum of the clipped contributions of the chosen units, plus noise. Noise is drawn even if no unit was chosen.
    pub(super) fn noisy_sum(
        &self,
        units: &Contributions,
        chosen: impl Iterator<Item = usize>,
        stream: &mut Stream,
    ) -> Result<Vec<f64>, MechanismError> {
        let length = length(units)?;
        let clipped = chosen.map(|index| {
            let mut unit = units[index].clone();
            clip_norm(&mut unit, self.norm);
            unit
        });
        if self.arithmetic == NoiseArithmetic::Exact {
            let (grid, scale) = self.exact(length)?;
            let mut sum = vec![0i128; length];
            for unit in clipped {
                sum.iter_mut().zip(&unit).for_each(|(sum, value)| *sum += grid.round(*value));
            }
            return Ok(sum.into_iter().map(|sum| grid.plus_normal(sum, scale, stream)).collect());
        }
        let mut sum = vec![0.0; length];
        for unit in clipped {
            sum.iter_mut().zip(&unit).for_each(|(sum, value)| *sum += value);
        }
        let sd = self.multiplier.get() * self.norm.get();
        sum.iter_mut().for_each(|value| *value += sd * stream.normal());
        all_finite(&sum)?;
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::pair::Laws;
    use crate::rng::Key;
    use crate::vocab::Cost;

    /// Without exact arithmetic, the release is the sum of the chosen contributions, each clipped to norm 1, plus 2
    /// times the next normal deviates of the stream, in the order of the numbers.
    #[test]
    fn a_sum_in_floating_point_has_clipped_parts_and_noise_of_the_stated_size() {
        let one = Positive::new(1.0).unwrap();
        let noise =
            Noise { norm: one, multiplier: Positive::new(2.0).unwrap(), arithmetic: NoiseArithmetic::Ideal };
        let units = vec![vec![3.0, 4.0], vec![9.0, 9.0], vec![0.25, -0.5]];
        let sum = noise.noisy_sum(&units, [0, 2].into_iter(), &mut Key::root(2).stream()).unwrap();
        let mut stream = Key::root(2).stream();
        for (sum, clipped) in sum.iter().zip([0.6 + 0.25, 0.8 - 0.5]) {
            assert!((sum - (clipped + 2.0 * stream.normal())).abs() < 1e-12);
        }
    }

    fn noise() -> Noise {
        let of = |value| Positive::new(value).unwrap();
        Noise { norm: of(2.0), multiplier: of(1.5), arithmetic: NoiseArithmetic::Exact }
    }

    /// The log ratio is compared with one that is computed directly: that of a mixture of two normal densities on D and one
    /// normal density on D', all of standard deviation 3.
    #[test]
    fn a_unit_that_may_be_drawn_gives_the_ratio_of_its_mixtures() {
        let density = |y: &[f64], mean: [f64; 2]| {
            let square = (y[0] - mean[0]).powi(2) + (y[1] - mean[1]).powi(2);
            libm::exp(-square / 18.0)
        };
        // Poisson sampling: on D one unit's vector has norm 3 and is clipped to (1.2, 1.6); every other vector is zero.
        let given = vec![vec![0.0, 0.0], vec![1.8, 2.4], vec![0.0, 0.0]];
        let neighbour = vec![vec![0.0, 0.0]; 3];
        let poisson = noise().distinguisher([&given, &neighbour], 0.25, None).unwrap();
        let cost = |rate, noise_multiplier| {
            Some(Laws::Costs(vec![Cost::PoissonGaussian { rate, noise_multiplier }]))
        };
        let laws = |found: &Distinguisher<Vec<f64>>| found.laws.as_ref().map(|laws| laws.laws.clone());
        assert_eq!(laws(&poisson), cost(0.25, 1.5));
        // Two of three units are drawn: the unit that differs is (2, 0) on D and (-2, 0) on D', the other two are (-2, 0).
        // The test states the rate 0.75 instead of 2/3; `distinguisher` does not compute the rate itself.
        let opposite = vec![vec![2.0, 0.0], vec![-2.0, 0.0], vec![-2.0, 0.0]];
        let alike = vec![vec![-2.0, 0.0]; 3];
        let fixed = noise().distinguisher([&opposite, &alike], 0.75, Some(2)).unwrap();
        assert_eq!(laws(&fixed), cost(0.75, 0.75));
        for y in [[0.3, -1.0], [-7.0, 2.0], [5.0, 5.0]] {
            let none = density(&y, [0.0, 0.0]);
            let expected = libm::log((0.75 * none + 0.25 * density(&y, [1.2, 1.6])) / none);
            assert!((poisson.log_ratio(&y.to_vec()) - expected).abs() < 1e-12);
            let (plain, drawn) = (density(&y, [-4.0, 0.0]), density(&y, [0.0, 0.0]));
            let expected = libm::log((0.25 * plain + 0.75 * drawn) / plain);
            assert!((fixed.log_ratio(&y.to_vec()) - expected).abs() < 1e-12);
        }
        // Inputs for which nothing is known: two units differ; the other units are unequal; the other units are not
        // zero with Poisson sampling; the numbers of units differ.
        let two = vec![vec![1.0, 0.0], vec![1.0, 0.0], vec![0.0, 0.0]];
        let unequal = vec![vec![2.0, 0.0], vec![-2.0, 0.0], vec![-1.0, 0.0]];
        let unequal_too = vec![vec![0.0, 0.0], vec![-2.0, 0.0], vec![-1.0, 0.0]];
        let fewer = vec![vec![0.0, 0.0]; 2];
        let cases = [
            ([&two, &neighbour], None),
            ([&unequal, &unequal_too], Some(2)),
            ([&opposite, &alike], None),
            ([&neighbour, &fewer], None),
        ];
        for (inputs, size) in cases {
            assert!(noise().distinguisher(inputs, 0.5, size).unwrap().tests.is_empty(), "{inputs:?}");
        }
        assert_eq!(
            laws(&noise().distinguisher([&alike, &alike], 0.5, Some(2)).unwrap()),
            Some(Laws::Costs(vec![]))
        );
    }

    #[test]
    fn all_vectors_of_the_worst_pair_have_one_direction() {
        let pair = noise().worst_pair(&vec![vec![7.0, 7.0]; 3], -1.0, 0.5).unwrap();
        let others = [vec![-2.0, 0.0], vec![-2.0, 0.0]];
        assert_eq!(pair.inputs[0], [&[vec![2.0, 0.0]][..], &others].concat());
        assert_eq!(pair.inputs[1], [&[vec![1.0, 0.0]][..], &others].concat());
        assert!(noise().worst_pair(&vec![Vec::new()], 0.0, 0.0).is_none());
        assert!(length(&Vec::new()).is_err() && length(&vec![vec![1.0], vec![]]).is_err());
    }

    /// The spacing follows from the smaller of noise and norm. The noise in spacings is scaled to the largest norm of one
    /// contribution after rounding. Noise for which no lattice exists is refused in exact arithmetic only.
    #[test]
    fn exact_noise_has_its_lattice_or_is_refused() {
        let of = |norm, multiplier, arithmetic| Noise {
            norm: Positive::new(norm).unwrap(),
            multiplier: Positive::new(multiplier).unwrap(),
            arithmetic,
        };
        let (grid, scale) = of(1.0 / 64.0, 0.125, NoiseArithmetic::Exact).exact(4).unwrap();
        assert_eq!(grid.spacing(), libm::exp2(-39.0));
        // The norm is 2^33 spacings. Rounding moves each of four numbers by at most half a spacing, and so adds at most one
        // spacing to the norm. The sum is multiplied by 1/8 and rounded up.
        assert_eq!(scale, (1 << 30) + 1);
        assert!(of(1e-300, 1.0, NoiseArithmetic::Exact).check(1).is_err());
        assert!(of(1e-300, 1.0, NoiseArithmetic::Ideal).check(1).is_ok());
    }

    /// Norm 2 and noise multiplier 1.5 give a standard deviation of 3.
    #[test]
    fn noise_in_floating_point_is_norm_times_multiplier() {
        let noise = Noise { arithmetic: NoiseArithmetic::Ideal, ..noise() };
        let sum = noise.noisy_sum(&vec![vec![0.0]], std::iter::empty(), &mut Key::root(3).stream()).unwrap();
        assert_eq!(sum, [3.0 * Key::root(3).stream().normal()]);
    }
}
