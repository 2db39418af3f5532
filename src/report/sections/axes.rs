//! The axes of a study along which results are drawn: axes with numbers, with durations, or with at least three words.

use super::cells::{axes, point};
use crate::report::plots::Axis;
use crate::study::{CellSummary, Summary};

/// Smallest number of values of an axis of words that is drawn along; two values are clearer as two lines.
const LEAST_WORDS: usize = 3;
/// Number of characters of the longest word that fits below an axis.
const FITTING: usize = 12;

/// An axis of a study.
pub(super) struct Along {
    /// Its position among the study's axes.
    pub(super) index: usize,
    /// Its name.
    pub(super) name: String,
    scale: Scale,
}

enum Scale {
    Numbers(Vec<f64>),
    /// Seconds, each with the duration as the scenario writes it.
    Durations(Vec<(f64, String)>),
    Words(Vec<String>),
}

/// All axes with at least two values that are all numbers or all durations, followed by axes with at least
/// [`LEAST_WORDS`] other values.
pub(super) fn along(summary: &Summary) -> Vec<Along> {
    let names = axes(summary);
    let mut numeric = Vec::new();
    let mut wordy = Vec::new();
    for (index, name) in names.into_iter().enumerate() {
        let number = |cell: &CellSummary| cell.point.get(&name).and_then(serde_json::Value::as_f64);
        let numbers: Option<Vec<f64>> = summary.cells.iter().map(number).collect();
        if let Some(mut numbers) = numbers {
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            if numbers.len() > 1 {
                numeric.push(Along { index, name, scale: Scale::Numbers(numbers) });
            }
            continue;
        }
        if let Some(durations) = durations(summary, index) {
            if durations.len() > 1 {
                numeric.push(Along { index, name, scale: Scale::Durations(durations) });
            }
            continue;
        }
        let mut words: Vec<String> = Vec::new();
        for word in summary.cells.iter().filter_map(|cell| point(cell).into_iter().nth(index)) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        if words.len() >= LEAST_WORDS {
            wordy.push(Along { index, name, scale: Scale::Words(words) });
        }
    }
    numeric.extend(wordy);
    numeric
}

/// The values of an axis in seconds, ascending, each as the scenario writes it; `None` if one is not a duration.
fn durations(summary: &Summary, index: usize) -> Option<Vec<(f64, String)>> {
    let mut found: Vec<(f64, String)> = Vec::new();
    for cell in &summary.cells {
        let word = point(cell).into_iter().nth(index)?;
        let seconds = duration(&word)?;
        if !found.iter().any(|(known, _)| known.total_cmp(&seconds).is_eq()) {
            found.push((seconds, word));
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
    /// The value of a cell on the axis, and its label; `None` if the cell has no value there.
    pub(super) fn place(&self, cell: &CellSummary) -> Option<(f64, String)> {
        let x = match &self.scale {
            Scale::Numbers(_) => cell.point.get(&self.name)?.as_f64()?,
            Scale::Durations(_) => duration(&point(cell).into_iter().nth(self.index)?)?,
            Scale::Words(words) => {
                let word = point(cell).into_iter().nth(self.index)?;
                words.iter().position(|known| *known == word)? as f64 + 1.0
            }
        };
        let said = match &self.scale {
            Scale::Numbers(_) => x.to_string(),
            Scale::Durations(_) => point(cell).into_iter().nth(self.index)?,
            Scale::Words(words) => words[x as usize - 1].clone(),
        };
        Some((x, format!("{} = {said}", self.name)))
    }

    /// The axis for a chart, with ticks at the values.
    pub(super) fn axis(&self) -> Axis {
        match &self.scale {
            Scale::Numbers(values) => Axis::chosen(values),
            Scale::Durations(values) => {
                let seconds: Vec<f64> = values.iter().map(|(seconds, _)| *seconds).collect();
                let mut axis = Axis::chosen(&seconds);
                axis.ticks.clone_from(values);
                axis
            }
            Scale::Words(words) => {
                let places: Vec<f64> = (1..=words.len()).map(|place| place as f64).collect();
                let mut axis = Axis::chosen(&places);
                axis.ticks = places.into_iter().zip(self.ticks(words)).collect();
                axis
            }
        }
    }

    fn ticks(&self, words: &[String]) -> Vec<String> {
        if words.iter().all(|word| word.chars().count() <= FITTING) {
            return words.to_vec();
        }
        ('A'..='Z').map(String::from).take(words.len()).collect()
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
