//! The axes of a study, and the values of its cells in words that tell different values apart.

use crate::study::{CellSummary, Summary};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Number of significant digits with which a long number is written, if this number of digits tells all values of its axis
/// apart; otherwise the number is written with more digits.
const DIGITS: usize = 4;
/// Number of significant digits that tell any two numbers apart.
const MAX_DIGITS: usize = 17;
/// Number of characters up to which a number is written with all its digits.
const SHORT: usize = 7;

/// The axes of a study.
#[derive(Clone, Debug)]
pub(super) struct Axes {
    /// Their names, in order.
    pub(super) names: Vec<String>,
    /// For each axis, the number of significant digits with which its long numbers are written.
    digits: Vec<usize>,
}

impl Axes {
    /// The axes of a study. Two cells have the same words for an axis only if they have the same value there.
    pub(super) fn of(summary: &Summary) -> Self {
        let names: Vec<String> =
            summary.cells.first().map(|cell| cell.point.keys().cloned().collect()).unwrap_or_default();
        let digits = names.iter().map(|name| {
            // There may be many cells, but they have few distinct values.
            let values = summary.cells.iter().filter_map(|cell| cell.point.get(name));
            let exact: BTreeMap<String, &Value> =
                values.map(|value| (words(value, MAX_DIGITS), value)).collect();
            let apart = |digits: &usize| {
                let shorter: BTreeSet<String> = exact.values().map(|value| words(value, *digits)).collect();
                shorter.len() == exact.len()
            };
            (DIGITS..MAX_DIGITS).find(apart).unwrap_or(MAX_DIGITS)
        });
        Self { digits: digits.collect(), names }
    }

    /// How many axes there are.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The value of a cell on each axis, in words.
    pub(super) fn point(&self, cell: &CellSummary) -> Vec<String> {
        cell.point.values().zip(&self.digits).map(|(value, digits)| words(value, *digits)).collect()
    }

    /// The value of a cell on one axis, in words.
    pub(super) fn value(&self, cell: &CellSummary, axis: usize) -> Option<String> {
        Some(words(cell.point.values().nth(axis)?, *self.digits.get(axis)?))
    }

    /// For each axis, its name and the value of a cell on it, such as "epsilon = 1.0".
    pub(super) fn axis_values(&self, cell: &CellSummary) -> Vec<String> {
        self.names.iter().zip(self.point(cell)).map(|(name, value)| format!("{name} = {value}")).collect()
    }
}

/// A value on an axis, with all its digits.
pub(super) fn value(value: &Value) -> String {
    words(value, MAX_DIGITS)
}

fn words(value: &Value, digits: usize) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number
            .as_f64()
            .filter(|value| value.fract() != 0.0)
            .map_or_else(|| number.to_string(), |value| short(value, digits)),
        other => other.to_string(),
    }
}

/// A number in words: with all its digits if these take at most [`SHORT`] characters, otherwise with `digits`
/// significant digits. A number with `digits` digits has an exponent if its magnitude is below 1e-4 or at least 1e7;
/// otherwise its digits before the decimal point are never cut off.
fn short(value: f64, digits: usize) -> String {
    let exact = format!("{value}");
    if exact.len() <= SHORT {
        return exact;
    }
    let size = value.abs();
    if !(1e-4..1e7).contains(&size) {
        // As many digits as the number has, at most `digits`.
        let whole = format!("{value:e}");
        let rounded = format!("{value:.*e}", digits - 1);
        let rounded = rounded.split_once('e').map_or(rounded.clone(), |(number, exponent)| {
            format!("{}e{exponent}", number.trim_end_matches('0').trim_end_matches('.'))
        });
        return if whole.len() <= rounded.len() { whole } else { rounded };
    }
    let places = (digits as f64 - 1.0 - libm::floor(libm::log10(size))).max(0.0) as usize;
    let rounded = format!("{value:.places$}");
    match rounded.contains('.') {
        // With 17 digits, a number such as 0.1 + 0.2 is not shorter than `exact`.
        _ if rounded.len() >= exact.len() => exact,
        true => rounded.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => rounded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_short_and_small_ones_are_not_zero() {
        let told = |value: f64| short(value, DIGITS);
        assert_eq!(
            [0.5, 0.00001, 0.1 + 0.2, 1.0 / 3.0, 10.0 / 3.0, 12_345.678_9, -2.0 / 3.0].map(told),
            ["0.5", "0.00001", "0.3", "0.3333", "3.333", "12346", "-0.6667"]
        );
        assert_eq!([0.000_001, 0.000_000_2, 1.0 / 3e9].map(told), ["1e-6", "2e-7", "3.333e-10"]);
        assert_eq!(short(0.1 + 0.2, MAX_DIGITS), "0.30000000000000004");
    }
}
