//! The axes of a study along which results are drawn: axes with numbers, with durations, or with at least
//! three values in words.

use super::points::Axes;
use crate::report::plots::Axis;
use crate::study::{CellSummary, Summary};

/// An axis whose values are words becomes the horizontal axis of a chart only if it has at least this number of values. The
/// results at only two such values are clearer as two lines in the charts along other axes.
const MIN_WORDS: usize = 3;
/// Number of characters of the longest word that fits below an axis.
const FITTING: usize = 12;

/// An axis of a study.
pub(super) struct Along {
    /// Its position among the study's axes.
    pub(super) index: usize,
    /// Its name.
    pub(super) name: String,
    scale: Scale,
    axes: Axes,
}

enum Scale {
    /// Each number, with its text in the scenario.
    Numbers(Vec<(f64, String)>),
    /// Seconds, each with the duration as the scenario writes it.
    Durations(Vec<(f64, String)>),
    Words(Vec<String>),
}

/// The axes along which results are drawn. First come the axes whose values are all numbers or all durations, if they have
/// at least two different values. Then come those other axes that have at least [`MIN_WORDS`] different values; their values
/// are taken as words.
pub(super) fn along(summary: &Summary) -> Vec<Along> {
    let axes = Axes::of(summary);
    let mut numeric = Vec::new();
    let mut wordy = Vec::new();
    for (index, name) in axes.names.iter().cloned().enumerate() {
        let number = |cell: &CellSummary| {
            Some((cell.point.get(&name).and_then(serde_json::Value::as_f64)?, axes.value(cell, index)?))
        };
        let numbers: Option<Vec<(f64, String)>> = summary.cells.iter().map(number).collect();
        if let Some(mut numbers) = numbers {
            numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
            numbers.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
            if numbers.len() > 1 {
                numeric.push(Along { index, name, scale: Scale::Numbers(numbers), axes: axes.clone() });
            }
            continue;
        }
        if let Some(durations) = durations(summary, &name) {
            if durations.len() > 1 {
                numeric.push(Along { index, name, scale: Scale::Durations(durations), axes: axes.clone() });
            }
            continue;
        }
        let mut words: Vec<String> = Vec::new();
        for word in summary.cells.iter().filter_map(|cell| axes.value(cell, index)) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        if words.len() >= MIN_WORDS {
            wordy.push(Along { index, name, scale: Scale::Words(words), axes: axes.clone() });
        }
    }
    numeric.extend(wordy);
    numeric
}

/// The values of an axis in seconds, in ascending order, each with its text in the scenario; `None` if some value is not a
/// duration.
fn durations(summary: &Summary, name: &str) -> Option<Vec<(f64, String)>> {
    let mut found: Vec<(f64, String)> = Vec::new();
    for cell in &summary.cells {
        let word = cell.point.get(name)?.as_str()?;
        let seconds = duration(word)?;
        if !found.iter().any(|(known, _)| known.total_cmp(&seconds).is_eq()) {
            found.push((seconds, word.to_owned()));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(found)
}

/// A duration as scenarios write it, in seconds.
fn duration(word: &str) -> Option<f64> {
    humantime::parse_duration(word).ok().map(|duration| duration.as_secs_f64())
}

impl Along {
    /// The value of a cell on the axis as a number, and its label. A word is given by its position among the words, counted
    /// from 1. `None` if the cell has no value on the axis.
    pub(super) fn place(&self, cell: &CellSummary) -> Option<(f64, String)> {
        let value = cell.point.get(&self.name)?;
        let of = |known: &[(f64, String)], x: f64| {
            let (_, words) = known.iter().find(|(other, _)| other.total_cmp(&x).is_eq())?;
            Some((x, words.clone()))
        };
        let (x, said) = match &self.scale {
            Scale::Numbers(known) => of(known, value.as_f64()?)?,
            Scale::Durations(known) => of(known, duration(value.as_str()?)?)?,
            Scale::Words(known) => {
                let word = self.axes.value(cell, self.index)?;
                (known.iter().position(|other| *other == word)? as f64 + 1.0, word)
            }
        };
        Some((x, format!("{} = {said}", self.name)))
    }

    /// The axis for a chart. For numbers, the ticks are at the values if these are far enough apart, otherwise at round
    /// numbers. For durations and words, the ticks are at the values, or at some of them if there is no room for all.
    pub(super) fn axis(&self) -> Axis {
        match &self.scale {
            Scale::Numbers(values) => {
                Axis::chosen(&values.iter().map(|(value, _)| *value).collect::<Vec<f64>>())
            }
            Scale::Durations(values) => Axis::labelled(values),
            Scale::Words(words) => Axis::in_order(&self.ticks(words)),
        }
    }

    fn ticks(&self, words: &[String]) -> Vec<String> {
        if words.iter().all(|word| word.chars().count() <= FITTING) {
            return words.to_vec();
        }
        (0..words.len()).map(letters).collect()
    }

    /// An explanation of ticks that are letters; empty if the ticks are the values themselves.
    pub(super) fn note(&self) -> String {
        let Scale::Words(words) = &self.scale else { return String::new() };
        let ticks = self.ticks(words);
        if ticks == *words {
            return String::new();
        }
        let told: Vec<String> =
            ticks.iter().zip(words).map(|(tick, word)| format!("{tick}: {word}")).collect();
        format!(" {}, {}.", self.name, told.join("; "))
    }
}

/// A, B, .., Z, AA, AB, ..
fn letters(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    if index < 26 { last.to_string() } else { format!("{}{last}", letters(index / 26 - 1)) }
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn letters_do_not_end_at_z() {
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(letters), ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
