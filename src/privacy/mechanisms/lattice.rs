//! Rounding to a lattice before exact noise is added, and the sensitivity after rounding.

use super::pair::Pair;
use super::{MechanismError, all_finite};
use crate::vocab::Positive;

/// A lattice: the multiples of a spacing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    spacing: Positive,
}

/// Largest multiple that a number is rounded to: integers of this size are exact in a double.
const LARGEST: f64 = (1u64 << 52) as f64;

impl Lattice {
    /// The lattice with this spacing. A power of two is best, since its multiples are exact in floating point.
    #[must_use]
    pub const fn new(spacing: Positive) -> Self {
        Self { spacing }
    }

    /// The spacing of the lattice.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.spacing.get()
    }

    /// Rounds each number to the nearest multiple of the spacing, halves away from 0, and returns how many spacings each
    /// multiple is. A number beyond the largest multiple becomes that multiple, which moves no two numbers further apart; an
    /// error instead would reveal that the number is large.
    pub(super) fn round(&self, values: &[f64]) -> Result<Vec<i64>, MechanismError> {
        all_finite(values)?;
        let multiple = |value: &f64| (value / self.spacing.get()).round().clamp(-LARGEST, LARGEST);
        Ok(values.iter().map(|value| multiple(value) as i64).collect())
    }

    /// The largest number of spacings by which rounding moves two numbers further apart. If the spacing is a power of two,
    /// this is 1. Otherwise the division of a number by the spacing is rounded too; for two quotients of up to 2^52, the
    /// errors of both divisions together are at most 1/2.
    fn rounding(&self) -> f64 {
        let power = libm::scalbn(1.0, libm::ilogb(self.spacing.get())) == self.spacing.get();
        if power { 1.0 } else { 1.5 }
    }

    pub(super) fn values(&self, multiples: impl Iterator<Item = i64>) -> Vec<f64> {
        multiples.map(|multiple| multiple as f64 * self.spacing.get()).collect()
    }

    /// Two inputs of `length` numbers that differ in the first number. The first number is minus half a spacing in one
    /// input, and larger by the sensitivity in the other input. Rounding moves these two values up to one spacing
    /// further apart.
    pub(super) fn worst_pair(&self, sensitivity: Positive, length: usize) -> Option<Pair<Vec<f64>>> {
        let low = -0.5 * self.spacing.get();
        let (mut given, mut moved) = (vec![0.0; length], vec![0.0; length]);
        *given.first_mut()? = low;
        *moved.first_mut()? = sensitivity.get() + low;
        let ends = self.multiples([&given, &moved]).ok()?;
        let words = format!(
            "one number, {low} or {}, at sensitivity {sensitivity}: rounded to {} and {} spacings",
            moved[0], ends[0][0], ends[1][0]
        );
        Some(Pair::new(given, moved, words))
    }

    /// Two inputs in multiples of the spacing, after rounding.
    pub(super) fn multiples(&self, inputs: [&Vec<f64>; 2]) -> Result<[Vec<f64>; 2], MechanismError> {
        let multiples = |input: &[f64]| -> Result<Vec<f64>, MechanismError> {
            Ok(self.round(input)?.into_iter().map(|multiple| multiple as f64).collect())
        };
        Ok([multiples(inputs[0])?, multiples(inputs[1])?])
    }

    /// An output in multiples of the spacing.
    pub(super) fn in_spacings(&self, output: &[f64]) -> Vec<f64> {
        output.iter().map(|y| y / self.spacing.get()).collect()
    }

    /// 1 if a number of the output is not a multiple of the spacing; else 0. If the spacing is a power of two, no input
    /// gives such an output; with other spacings, rounding errors may give one.
    pub(super) fn is_off_lattice(&self, output: &[f64]) -> f64 {
        let off = output.iter().any(|y| (y / self.spacing.get()).fract() != 0.0);
        f64::from(u8::from(off))
    }

    /// The L1 sensitivity in multiples, after rounding `length` numbers: each number may differ by up to 1 further
    /// multiple, or 1.5 if the spacing is no power of two.
    pub(super) fn l1(&self, sensitivity: f64, length: usize) -> f64 {
        sensitivity / self.spacing.get() + self.rounding() * length as f64
    }

    /// The L2 sensitivity in multiples, after rounding `length` numbers; see [`Self::l1`].
    pub(super) fn l2(&self, sensitivity: f64, length: usize) -> f64 {
        sensitivity / self.spacing.get() + self.rounding() * (length as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A very large number used to be refused while its neighbour was not: the refusal distinguished the two despite a
    /// finite cost in the ledger.
    #[test]
    fn very_large_numbers_are_clamped_and_not_refused() {
        let lattice = Lattice::new(Positive::new(0.25).unwrap());
        assert_eq!(lattice.round(&[1e300, -1e300]).unwrap(), [1 << 52, -(1 << 52)]);
        assert!(lattice.round(&[f64::INFINITY]).is_err());
    }

    /// The quotient of a number and a spacing that is no power of two is rounded twice: in floating point, then to an
    /// integer. Earlier versions of the cost left out the first rounding.
    #[test]
    fn the_sensitivity_includes_double_rounding() {
        let (tenth, quarter) =
            (Lattice::new(Positive::new(0.1).unwrap()), Lattice::new(Positive::new(0.25).unwrap()));
        assert_eq!((quarter.l1(1.0, 3), quarter.l2(1.0, 4)), (7.0, 6.0));
        assert_eq!((tenth.l1(1.0, 2), tenth.l2(1.0, 4)), (13.0, 13.0));
    }

    #[test]
    fn values_are_multiples_of_the_spacing_and_others_are_off_it() {
        let of = |spacing| Lattice::new(Positive::new(spacing).unwrap());
        assert_eq!(of(0.25).values([3, -2].into_iter()), [0.75, -0.5]);
        for (spacing, y, off) in [(2.0, 3.0, 1.0), (2.0, 4.0, 0.0), (0.25, -0.75, 0.0), (0.25, 0.375, 1.0)] {
            assert_eq!(of(spacing).is_off_lattice(&[0.0, y]), off, "{spacing} {y}");
        }
    }
}
