//! The values among which a threshold is searched for. They are fixed before anything is run, so that the probability of
//! errors can be bounded.

use serde::Serialize;
use thiserror::Error;

/// Largest number of steps between the two ends.
const MAX_STEPS: f64 = (1u64 << 20) as f64;
/// Fewest steps of a range of real numbers: with four, the quarters of the range are values of the grid.
const FEWEST_STEPS: f64 = 4.0;
/// Number of steps in the requested width of the threshold's confidence interval. The ends of this interval are values of
/// the grid. If the threshold is itself a value of the grid, the interval reaches from the value before it to the value
/// after it. With two steps, it then has at most the requested width.
const STEPS_OF_A_WIDTH: f64 = 2.0;

/// How the values of a range are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Real numbers at equal distances.
    Linear,
    /// Real numbers at equal ratios.
    Logarithmic,
    /// Whole numbers.
    Whole,
}

/// Why a range cannot be searched.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum BadRange {
    /// The ends are not finite numbers in ascending order.
    #[error("expected finite numbers with --from below --to, found {from} and {to}")]
    Ends {
        /// The first value.
        from: f64,
        /// The last value.
        to: f64,
    },
    /// Equal ratios need positive ends.
    #[error("expected --from above 0 for --log, found {0}")]
    NotPositive(f64),
    /// The ends are not whole, but the varied value takes whole numbers only.
    #[error(
        "expected whole numbers for --from and --to, since the value takes whole numbers only, found {from} and {to}"
    )]
    NotWhole {
        /// The first value.
        from: f64,
        /// The last value.
        to: f64,
    },
    /// The requested width is not possible.
    #[error("expected a --max-width {expected}, found {found}")]
    Width {
        /// Which widths are possible.
        expected: &'static str,
        /// The width.
        found: f64,
    },
    /// The requested width is too small for the range: there would be too many steps.
    #[error(
        "expected at most 1048576 steps from --from to --to, each half a --max-width or less, found {0:.0} (bring the ends closer together)"
    )]
    TooFine(f64),
}

/// The values of a range, in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    values: Vec<f64>,
    spacing: Spacing,
    width: f64,
}

impl Grid {
    /// The grid from `from` to `to` for a threshold whose confidence interval is to be at most `width` wide. Steps are
    /// at most half of `width`, but at least 1 for [`Spacing::Whole`]. For [`Spacing::Logarithmic`], `width` is a ratio
    /// above 1, and steps are ratios of at most its square root. If `width` is `None`, it is a twentieth of the range. For
    /// [`Spacing::Logarithmic`], it is then the twentieth root of the ratio of the two ends; for [`Spacing::Whole`], it is
    /// then rounded up, and at least 2.
    ///
    /// # Errors
    /// [`BadRange`].
    pub fn new(from: f64, to: f64, width: Option<f64>, spacing: Spacing) -> Result<Self, BadRange> {
        if !(from.is_finite() && to.is_finite() && from < to) {
            return Err(BadRange::Ends { from, to });
        }
        if spacing == Spacing::Logarithmic && from <= 0.0 {
            return Err(BadRange::NotPositive(from));
        }
        if spacing == Spacing::Whole && (from.fract() != 0.0 || to.fract() != 0.0) {
            return Err(BadRange::NotWhole { from, to });
        }
        let default = match spacing {
            Spacing::Linear => (to - from) / 20.0,
            Spacing::Logarithmic => libm::pow(to / from, 1.0 / 20.0),
            Spacing::Whole => libm::ceil((to - from) / 20.0).max(2.0),
        };
        let width = width.unwrap_or(default);
        let (least, expected) = match spacing {
            Spacing::Linear => (0.0, "above 0"),
            Spacing::Logarithmic => {
                (1.0, "above 1 for --log, where it is the ratio of the ends of the interval")
            }
            Spacing::Whole => (0.999_999, "of at least 1 for a value that takes whole numbers only"),
        };
        if !(width.is_finite() && width > least) {
            return Err(BadRange::Width { expected, found: width });
        }
        let range = match spacing {
            Spacing::Logarithmic => libm::log(to / from) / libm::log(width),
            Spacing::Linear | Spacing::Whole => (to - from) / width,
        };
        let steps = range * STEPS_OF_A_WIDTH;
        if spacing == Spacing::Whole {
            let step = libm::floor(width / STEPS_OF_A_WIDTH).max(1.0);
            let count = libm::ceil((to - from) / step);
            if count > MAX_STEPS {
                return Err(BadRange::TooFine(count));
            }
            let inner = (0..count as u32).map(|index| from + step * f64::from(index));
            return Ok(Self { values: inner.chain([to]).collect(), spacing, width });
        }
        if steps > MAX_STEPS {
            return Err(BadRange::TooFine(steps));
        }
        // The number of steps is rounded up to a power of two. The values then have fewer digits, and the range is
        // halved no more often than without rounding.
        let count = (libm::ceil(steps - 1e-9).max(FEWEST_STEPS) as u32).next_power_of_two();
        let value = |index: u32| {
            let share = f64::from(index) / f64::from(count);
            let exact = match spacing {
                Spacing::Logarithmic => from * libm::pow(to / from, share),
                Spacing::Linear | Spacing::Whole => from + (to - from) * share,
            };
            tidy(exact)
        };
        let inner = (1..count).map(value);
        Ok(Self { values: std::iter::once(from).chain(inner).chain([to]).collect(), spacing, width })
    }

    /// The position of the last value.
    #[must_use]
    pub fn last(&self) -> usize {
        self.values.len() - 1
    }

    /// The value at a position.
    #[must_use]
    pub fn value(&self, index: usize) -> f64 {
        self.values[index]
    }

    /// How often the range can be halved until two neighbours are left.
    #[must_use]
    pub fn depth(&self) -> u32 {
        (self.last() as u64).next_power_of_two().trailing_zeros()
    }

    /// How the values are spaced.
    #[must_use]
    pub fn spacing(&self) -> Spacing {
        self.spacing
    }

    /// The largest width that the threshold's confidence interval is to have: a distance, or a ratio.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Whether the interval between the values at two positions is at most as wide as requested.
    pub(super) fn narrow(&self, low: usize, high: usize) -> bool {
        let (low, high) = (self.values[low], self.values[high]);
        let found = if self.spacing == Spacing::Logarithmic { high / low } else { high - low };
        found <= self.width * (1.0 + 1e-9)
    }

    /// The value at a share of the way between two values.
    pub(super) fn between(&self, low: f64, high: f64, share: f64) -> f64 {
        match self.spacing {
            Spacing::Logarithmic => low * libm::pow(high / low, share),
            Spacing::Linear | Spacing::Whole => low + (high - low) * share,
        }
    }
}

/// The number rounded to ten significant digits: 0.3 for 0.30000000000000004.
pub(super) fn tidy(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(from: f64, to: f64, width: f64, spacing: Spacing) -> Grid {
        Grid::new(from, to, Some(width), spacing).unwrap()
    }

    #[test]
    fn steps_are_at_most_half_a_width() {
        let linear = grid(0.0, 0.5, 0.06, Spacing::Linear);
        assert_eq!((linear.last(), linear.depth(), linear.value(8)), (32, 5, 0.125));
        assert!(linear.narrow(7, 9) && !linear.narrow(7, 12));
        let ratios = grid(0.1, 10.0, 1.5, Spacing::Logarithmic);
        assert_eq!((ratios.last(), ratios.value(16), ratios.value(32)), (32, 1.0, 10.0));
        assert!(ratios.value(1) / ratios.value(0) < 1.5f64.sqrt());
        let whole = grid(10.0, 21.0, 5.0, Spacing::Whole);
        assert_eq!(whole.values, [10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 21.0]);
        assert_eq!(whole.depth(), 3);
        assert_eq!(grid(1.0, 3.0, 1.0, Spacing::Whole).values, [1.0, 2.0, 3.0]);
        // A step of whole numbers is at least 1.
        assert_eq!(grid(0.0, 1e6, 1.0, Spacing::Whole).last(), 1_000_000);
        assert_eq!(Grid::new(0.0, 1.0, None, Spacing::Linear).unwrap().last(), 64);
    }

    #[test]
    fn impossible_ranges_are_refused() {
        let told = |from, to, width, spacing| Grid::new(from, to, width, spacing).unwrap_err().to_string();
        for (found, words) in [
            (told(1.0, 1.0, None, Spacing::Linear), "--from below --to, found 1 and 1"),
            (told(0.0, f64::INFINITY, None, Spacing::Linear), "finite"),
            (told(0.0, 1.0, None, Spacing::Logarithmic), "above 0 for --log, found 0"),
            (told(0.5, 3.0, None, Spacing::Whole), "whole numbers for --from and --to"),
            (told(0.0, 1.0, Some(0.0), Spacing::Linear), "--max-width above 0"),
            (told(1.0, 2.0, Some(0.5), Spacing::Logarithmic), "--max-width above 1"),
            (told(1.0, 9.0, Some(0.5), Spacing::Whole), "of at least 1"),
            (told(0.0, 1.0, Some(1e-9), Spacing::Linear), "at most 1048576"),
            (told(0.0, 1e9, Some(1.0), Spacing::Whole), "at most 1048576"),
        ] {
            assert!(found.contains(words), "{found}");
        }
    }
}
