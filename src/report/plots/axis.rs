//! Axes of charts: a linear or logarithmic range around given values, with a few round ticks.

use serde::Serialize;

/// Positive values that span more than this factor get a logarithmic axis.
const LOG_FROM: f64 = 30.0;
/// Approximate number of ticks on a linear axis.
const TICKS: f64 = 5.0;
/// Least distance between two ticks that are placed at given values instead of round ones, as a share of the axis's
/// length.
const APART: f64 = 0.08;
/// Largest number of labels on an axis made by [`Axis::in_order`].
const MAX_LABELS: usize = 40;

/// One axis. Positions on it are its values, or their decimal logarithms if it is logarithmic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// Whether positions are decimal logarithms.
    pub log: bool,
    /// Position where it begins.
    pub low: f64,
    /// Position where it ends.
    pub high: f64,
    /// Positions with labels.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis for pairs of a value and its error to either side: logarithmic if all values are positive and span more than
    /// a factor of 30. A pair is ignored if its value or its error is not finite.
    #[must_use]
    pub fn fit(values: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::fitted(values, true)
    }

    /// A linear axis for pairs of a value and its error to either side.
    #[must_use]
    pub fn plain(values: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::fitted(values, false)
    }

    fn fitted(values: impl IntoIterator<Item = (f64, f64)>, may_be_log: bool) -> Self {
        let values: Vec<(f64, f64)> =
            values.into_iter().filter(|(value, error)| value.is_finite() && error.is_finite()).collect();
        let least = values.iter().map(|(value, _)| *value).fold(f64::INFINITY, f64::min);
        let most = values.iter().map(|(value, _)| *value).fold(f64::NEG_INFINITY, f64::max);
        if values.is_empty() {
            return Self::linear(0.0, 1.0);
        }
        let top = values.iter().map(|(value, error)| value + error).fold(most, f64::max);
        if may_be_log && least > 0.0 && most / least > LOG_FROM {
            // A value minus its error may be 0 or negative, which this axis cannot show. So the range begins no lower than
            // half of the smallest value, and the axis begins a little below the range.
            let bottom = values.iter().map(|(value, error)| value - error).fold(least, f64::min);
            return Self::logarithmic(bottom.max(least / 2.0), top);
        }
        let bottom = values.iter().map(|(value, error)| value - error).fold(least, f64::min);
        // If no value is negative, and the smallest value minus error is negative or small against the largest value plus
        // error, the axis begins at 0.
        let bottom = if least >= 0.0 && bottom < 0.4 * top { 0.0 } else { bottom };
        Self::linear(bottom, top)
    }

    /// An axis for values that a user chose. Each value has a tick if all values are far enough apart; otherwise the
    /// ticks are at round numbers.
    #[must_use]
    pub fn chosen(values: &[f64]) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else {
            return Self::linear(0.0, 1.0);
        };
        let log = least > 0.0 && most / least > LOG_FROM;
        let mut axis = if log { Self::logarithmic(least, most) } else { Self::linear(least, most) };
        axis.fill(least, most);
        let ticks: Vec<(f64, String)> =
            sorted.iter().filter_map(|value| Some((axis.position(*value)?, short(*value)))).collect();
        let apart = ticks.windows(2).all(|pair| pair[1].0 - pair[0].0 > APART * (axis.high - axis.low));
        if apart {
            axis.ticks = ticks;
        } else {
            axis.ticks.retain(|(at, _)| (axis.low..=axis.high).contains(at));
        }
        axis
    }

    /// As [`Axis::chosen`], with a given label for each value. The values must be in increasing order; labels that
    /// would overlap are left out.
    #[must_use]
    pub fn labelled(values: &[(f64, String)]) -> Self {
        let mut axis = Self::chosen(&values.iter().map(|(value, _)| *value).collect::<Vec<f64>>());
        axis.ticks.clear();
        for (value, label) in values {
            let Some(at) = axis.position(*value) else { continue };
            let apart = |(last, _): &(f64, String)| at - last > APART * (axis.high - axis.low);
            if axis.ticks.last().is_none_or(apart) {
                axis.ticks.push((at, label.clone()));
            }
        }
        axis
    }

    /// A linear axis for items that have no numeric value, at 1, 2, .., each with a label; of more than 40 labels only
    /// some are shown.
    #[must_use]
    pub fn in_order(labels: &[String]) -> Self {
        let most = labels.len().max(1) as f64;
        let mut axis = Self::linear(1.0, most);
        axis.fill(1.0, most);
        let every = labels.len().div_ceil(MAX_LABELS).max(1);
        let places = labels.iter().enumerate().step_by(every);
        axis.ticks = places.map(|(index, label)| (index as f64 + 1.0, label.clone())).collect();
        axis
    }

    /// Makes the axis begin a little below and end a little above these values, unless they are equal.
    fn fill(&mut self, least: f64, most: f64) {
        let (Some(low), Some(high)) = (self.position(least), self.position(most)) else { return };
        if most > least {
            let margin = ((high - low) * 0.06).max(1e-9);
            (self.low, self.high) = (low - margin, high + margin);
        }
    }

    /// As [`Axis::chosen`], but a single positive value is in the middle of an axis that begins at 0.
    #[must_use]
    pub fn around(values: &[f64]) -> Self {
        let mut axis = Self::chosen(values);
        if axis.ticks.len() == 1 && !axis.log {
            let at = axis.ticks[0].0;
            axis = Self::plain([(0.0, 0.0), (2.0 * at, 0.0)]);
        }
        axis
    }

    /// The axis with the labels that `words` gives to the values at its ticks, without trailing zeros after the decimal
    /// point.
    #[must_use]
    pub fn relabelled(mut self, words: impl Fn(f64) -> String) -> Self {
        for (at, label) in &mut self.ticks {
            let value = if self.log { libm::pow(10.0, *at) } else { *at };
            let text = words(value);
            let short = text.trim_end_matches('0').trim_end_matches('.');
            *label = if text.contains('.') && !text.contains('e') { short.to_owned() } else { text };
        }
        self
    }

    /// The axis extended at its upper end by a tick for infinite values.
    #[must_use]
    pub fn with_infinity(mut self) -> Self {
        let wide = self.high - self.low;
        // Ticks of finite values near that of infinite values are removed.
        self.high += 0.14 * wide;
        let most = self.high - 0.1 * wide;
        self.ticks.retain(|(at, _)| *at < most);
        self.ticks.push((self.high, "∞".to_owned()));
        self
    }

    /// An axis for whole numbers.
    #[must_use]
    pub fn counting(values: impl IntoIterator<Item = u64>) -> Self {
        let (least, most) = values.into_iter().fold((u64::MAX, 0), |(l, m), v| (l.min(v), m.max(v)));
        let least = least.min(most) as f64;
        let mut axis = Self::linear(least, (most as f64).max(least + 1.0));
        (axis.low, axis.high) = (least, (most as f64).max(least + 1.0));
        axis.ticks.retain(|(at, _)| at.fract() == 0.0 && (axis.low..=axis.high).contains(at));
        for (at, label) in &mut axis.ticks {
            *label = short(*at);
        }
        axis
    }

    /// A logarithmic axis for whole numbers from 1 to `most`; [`Axis::clamped`] moves 0 to 1.
    #[must_use]
    pub fn magnitudes(most: u64) -> Self {
        let most = most.max(2) as f64;
        let mut axis = Self::logarithmic(1.0, most);
        (axis.low, axis.high) = (0.0, libm::log10(most));
        axis.ticks.retain(|(at, _)| (axis.low..=axis.high).contains(at));
        axis
    }

    fn linear(bottom: f64, top: f64) -> Self {
        let (bottom, top) = match () {
            () if top > bottom => (bottom, top),
            // All values are 0; the quantity is assumed to be non-negative.
            () if bottom == 0.0 => (0.0, 1.0),
            () => (bottom - 0.5, bottom + 0.5),
        };
        // The step must be above 0. If the range is as small as the smallest positive number, a fifth of it is rounded to 0,
        // so the step is at least 1e-300.
        let step = round_step(((top - bottom) / TICKS).max(1e-300));
        let low = if bottom == 0.0 { 0.0 } else { bottom - (top - bottom) * 0.03 };
        let high = top + (top - bottom) * 0.03;
        let first = libm::ceil(low / step - 1e-9) as i64;
        let last = libm::floor(high / step + 1e-9) as i64;
        let places = (-libm::floor(libm::log10(step) + 1e-9)).clamp(0.0, 9.0) as usize;
        let large = low.abs().max(high.abs()) >= 1e5 || step < 1e-5;
        let ticks = (first..=last).map(|index| {
            let at = index as f64 * step;
            let label = match () {
                () if index == 0 => "0".to_owned(),
                () if large => exponential(at),
                () => format!("{at:.places$}"),
            };
            (at, label)
        });
        Self { log: false, low, high, ticks: ticks.collect() }
    }

    fn logarithmic(bottom: f64, top: f64) -> Self {
        let low = libm::log10(bottom) - 0.03;
        let high = libm::log10(top) + (0.035 * (libm::log10(top) - low)).max(0.05);
        let decades = libm::floor(low) as i32..=libm::ceil(high) as i32;
        let wide = high - low > 6.5;
        let steps: &[f64] = if high - low < 2.2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut ticks = Vec::new();
        for decade in decades.filter(|decade| !wide || decade % 2 == 0) {
            for step in steps {
                let at = f64::from(decade) + libm::log10(*step);
                if (low..=high).contains(&at) {
                    ticks.push((at, short(step * libm::pow(10.0, f64::from(decade)))));
                }
            }
        }
        Self { log: true, low, high, ticks }
    }

    /// The position of a value; `None` if it is not finite, or not positive on a logarithmic axis.
    #[must_use]
    pub fn position(&self, value: f64) -> Option<f64> {
        let position = if self.log { libm::log10(value) } else { value };
        position.is_finite().then_some(position)
    }

    /// The position of a value, moved to the nearer end of the axis if it lies outside.
    #[must_use]
    pub fn clamped(&self, value: f64) -> f64 {
        let outside = if value > 0.0 { self.high } else { self.low };
        self.position(value).map_or(outside, |position| position.clamp(self.low, self.high))
    }
}

/// The smallest number that is at least `step` (up to rounding) and is 1, 2 or 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(step)));
    let digit = step / power;
    power * [1.0, 2.0, 5.0].into_iter().find(|round| digit <= *round * 1.000_001).unwrap_or(10.0)
}

/// A number rounded to four significant digits, or from 1e4 on to a whole number, without trailing zeros after the
/// point. Below 1e-4 and from 1e5 on, the number is in exponential notation with at most three significant digits.
fn short(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e5).contains(&size) {
        return exponential(value);
    }
    let places = if size == 0.0 { 0.0 } else { (3.0 - libm::floor(libm::log10(size))).clamp(0.0, 8.0) };
    let text = format!("{value:.*}", places as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn exponential(value: f64) -> String {
    let text = format!("{value:.2e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn a_wide_span_of_positive_values_is_logarithmic_and_zero_prevents_it() {
        let wide = Axis::fit([(2.0, 0.1), (0.001, 0.002)]);
        assert!(wide.log);
        assert_eq!(labels(&wide), ["0.001", "0.01", "0.1", "1"]);
        assert!(!Axis::fit([(2.0, 0.1), (0.0, 0.0), (0.001, 0.0)]).log);
        assert!(!Axis::fit([(2.0, 0.1), (0.1, 0.0)]).log);
    }

    #[test]
    fn linear_ticks_are_few_and_round() {
        assert_eq!(
            labels(&Axis::fit([(0.01, 0.0), (0.23, 0.02)])),
            ["0", "0.05", "0.10", "0.15", "0.20", "0.25"]
        );
        let axis = Axis::counting(0..=50);
        assert_eq!((labels(&axis), axis.high), (vec!["0", "10", "20", "30", "40", "50"], 50.0));
        assert_eq!(labels(&Axis::counting([0, 1, 2])), ["0", "1", "2"]);
        assert_eq!(labels(&Axis::counting([1, 40])), ["10", "20", "30", "40"]);
        // Between 0 and the smallest positive number there is no room for steps, so the axis has at most two ticks.
        assert!(Axis::fit([(0.0, 0.0), (5e-324, 0.0)]).ticks.len() < 3);
        for most in [1e-12, 3.7e-3, 1.0, 77.0, 8.1e9] {
            let count = Axis::fit([(most, 0.0), (most / 7.0, 0.0)]).ticks.len();
            assert!((3..=7).contains(&count), "{most}: {count}");
        }
    }

    #[test]
    fn chosen_values_are_their_own_ticks_unless_they_crowd() {
        assert_eq!(
            labels(&Axis::chosen(&[3.0, 6.0, 8.0, 10.0, 15.0, 20.0])),
            ["3", "6", "8", "10", "15", "20"]
        );
        assert_eq!(labels(&Axis::chosen(&[3.004_166, 1.0, 2.4596])), ["1", "2.46", "3.004"]);
        assert!(Axis::chosen(&[0.01, 0.1, 1.0]).log);
        assert!(labels(&Axis::chosen(&(0..99).map(f64::from).collect::<Vec<_>>())).len() < 9);
        assert_eq!(labels(&Axis::chosen(&[4.0])), ["4"]);
    }

    #[test]
    fn labels_stand_at_their_values() {
        let delays = [(0.01, "10ms"), (0.1, "100ms"), (1.0, "1s")].map(|(at, word)| (at, word.to_owned()));
        let axis = Axis::labelled(&delays);
        assert!(axis.log);
        assert_eq!(labels(&axis), ["10ms", "100ms", "1s"]);
        assert!(axis.ticks.iter().zip([-2.0, -1.0, 0.0]).all(|((at, _), place)| (at - place).abs() < 1e-12));
        let many: Vec<(f64, String)> = (1..=20).map(|at| (f64::from(at), format!("{at}s"))).collect();
        let axis = Axis::labelled(&many);
        assert!(!axis.log && (3..13).contains(&axis.ticks.len()), "{axis:?}");
        let words: Vec<String> = (0..35).map(|index| format!("w{index}")).collect();
        let axis = Axis::in_order(&words);
        assert!(!axis.log, "{axis:?}");
        assert_eq!(labels(&axis), words);
        assert_eq!(axis.ticks[34].0.to_bits(), 35.0_f64.to_bits());
        assert!(axis.low < 1.0 && axis.high > 35.0);
    }

    #[test]
    fn infinite_values_are_at_the_edge_of_their_axis() {
        for axis in
            [Axis::fit([(1.0, 0.0), (100.0, 0.0)]), Axis::plain([(0.0, 0.0), (3.0, 0.0)]), Axis::fit([])]
        {
            let wide = axis.clone().with_infinity();
            assert_eq!(wide.clamped(f64::INFINITY).to_bits(), wide.high.to_bits());
            assert_eq!(wide.ticks.last().unwrap().1, "∞");
            assert!(wide.high > axis.high && wide.clamped(1.0) < wide.high);
        }
    }

    #[test]
    fn empty_and_non_finite_values_make_an_axis_with_ticks() {
        for axis in [
            Axis::fit([]),
            Axis::fit([(f64::NAN, 0.0)]),
            Axis::chosen(&[]),
            Axis::counting([]),
            Axis::fit([(0.0, 0.0)]),
        ] {
            assert!(axis.low < axis.high && !axis.ticks.is_empty(), "{axis:?}");
        }
    }
}
