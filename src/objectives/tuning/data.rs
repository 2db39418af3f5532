//! Reads a file into training and validation records of norm at most 1.

use super::records::Records;
use crate::gp::dot;
use crate::objectives::scaling::scales;
use crate::objectives::split::{self, Holder, Share};
use crate::objectives::table::{CsvTable, InputColumns, Missing, Quantity, TableError};
use crate::rng::Stream;
use crate::vocab::Finite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// The label that is predicted: one of two classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Label {
    /// Whether a column of numbers exceeds a threshold.
    ///
    /// Example: `Above(column: "annual_inc", threshold: 60000)`.
    Above {
        /// Name of the column.
        column: String,
        /// The threshold, in units of the column.
        threshold: Finite,
    },
    /// Whether a column has a certain value.
    ///
    /// Example: `Equals(column: "Class", value: "good")`.
    Equals {
        /// Name of the column.
        column: String,
        /// The value, as written in the file.
        value: String,
    },
}

impl Label {
    /// The path of the scenario's field that names the column.
    pub(super) fn path(&self) -> &'static str {
        match self {
            Self::Above { .. } => "label.Above.column",
            Self::Equals { .. } => "label.Equals.column",
        }
    }

    /// Name of the column.
    fn column(&self) -> &str {
        let (Self::Above { column, .. } | Self::Equals { column, .. }) = self;
        column
    }

    /// 1 or -1 for every row; an error unless both classes occur.
    fn of(&self, table: &CsvTable) -> Result<Vec<f64>, TableError> {
        let sign = |yes: bool| if yes { 1.0 } else { -1.0 };
        let (labels, what): (Vec<f64>, String) = match self {
            Self::Above { column, threshold } => {
                let numbers = table.numbers(column)?;
                let labels = numbers.iter().map(|&number| sign(number > threshold.get())).collect();
                (labels, format!("column \"{column}\" above {threshold}"))
            }
            Self::Equals { column, value } => {
                let texts = table.texts_with(column, value)?;
                let labels = texts.iter().map(|&text| sign(text == value)).collect();
                (labels, format!("column \"{column}\" equal to \"{value}\""))
            }
        };
        if labels.iter().all(|&label| label == labels[0]) {
            return Err(TableError::Constant { file: table.file.clone(), of: Quantity::Class(what) });
        }
        Ok(labels)
    }
}

/// The features and the labels of all records. Features are as in the file; a missing feature is NaN.
#[derive(Clone, Debug)]
pub(super) struct RawRecords {
    pub(super) d: usize,
    /// Names of the features.
    pub(super) names: Vec<String>,
    pub(super) features: Vec<f64>,
    pub(super) labels: Vec<f64>,
    /// Who holds which records, as the columns `agent` state it; empty without such columns.
    pub(super) holders: Vec<Holder>,
}

/// Records for training and for validation.
#[derive(Clone, Debug)]
pub(super) struct Parted {
    pub(super) training: Records,
    pub(super) validation: Records,
}

/// Reads the columns `inputs` of a file, the class of each record by `label`, and its holder by the columns `agent`.
pub(super) fn read(
    file: &Path,
    (inputs, agent): (InputColumns<'_>, &[String]),
    missing: Missing,
    label: &Label,
) -> Result<RawRecords, TableError> {
    let (table, inputs) = inputs.computed(CsvTable::read(file)?, missing != Missing::Refuse)?;
    let table = match missing {
        // Means are computed later, from the training records only: no other records may influence
        // a public number.
        Missing::Mean => Missing::Drop.completed(table, &[], &[label.column()])?,
        Missing::Refuse | Missing::Drop => missing.completed(table, &inputs, &[label.column()])?,
    };
    let (n, d) = (table.len(), inputs.len());
    let mut features = vec![0.0; n * d];
    for (index, name) in inputs.iter().enumerate() {
        let column = match missing {
            Missing::Mean => table.numbers_and_gaps(name)?,
            Missing::Refuse | Missing::Drop => table.numbers(name)?.into_iter().map(Some).collect(),
        };
        let cells = features[index..].iter_mut().step_by(d);
        cells.zip(column).for_each(|(cell, value)| *cell = value.unwrap_or(f64::NAN));
    }
    let named: Vec<Vec<&str>> = agent.iter().map(|column| table.texts(column)).collect::<Result<_, _>>()?;
    let holders = if named.is_empty() { Vec::new() } else { split::by_columns(&named, n) };
    Ok(RawRecords { d, names: inputs, features, labels: label.of(&table)?, holders })
}

/// The number of training records among `n`: `share` of them, rounded.
pub(super) fn training_records(n: usize, share: f64) -> usize {
    (n as f64 * share).round() as usize
}

impl RawRecords {
    /// The features of all records. A missing feature is replaced by the feature's mean over those of `records` that have
    /// it, or by 0 if none of `records` has it.
    fn without_gaps(&self, records: &[usize]) -> Cow<'_, [f64]> {
        if !self.features.iter().any(|x| x.is_nan()) {
            return Cow::Borrowed(&self.features);
        }
        let mut filled = self.features.clone();
        for column in 0..self.d {
            let known =
                records.iter().map(|row| self.features[row * self.d + column]).filter(|x| !x.is_nan());
            let (sum, count) = known.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
            let mean = if count > 0.0 { sum / count } else { 0.0 };
            let gaps = filled[column..].iter_mut().step_by(self.d).filter(|x| x.is_nan());
            gaps.for_each(|x| *x = mean);
        }
        Cow::Owned(filled)
    }

    /// The records of one agent.
    pub(super) fn of_share(all: &Self, share: &Share) -> Self {
        let labels = share.holder.rows.iter().map(|&row| all.labels[row]).collect();
        Self {
            d: all.d,
            names: all.names.clone(),
            features: share.features.clone(),
            labels,
            holders: Vec::new(),
        }
    }

    /// The features of these records, row-major.
    pub(super) fn features_of(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|&row| &self.features[row * self.d..][..self.d]).copied().collect()
    }

    /// The class of every record: 1 if the record meets the condition that its [`Label`] states, else 0.
    pub(super) fn classes(&self) -> Vec<usize> {
        self.labels.iter().map(|&label| usize::from(label > 0.0)).collect()
    }

    /// Draws the training records, at least one and not all; all other records are for validation.
    ///
    /// The centre and the scale of each feature are computed from the training records only. A constant feature 1 is added.
    /// All records are then divided by the largest norm of a training record, except that a validation record with a larger
    /// norm is divided by its own norm.
    pub(super) fn split(&self, share: f64, stream: &mut Stream) -> Parted {
        let n = self.labels.len();
        let mut order = stream.distinct(n, n);
        let held_out = order.split_off(training_records(n, share).clamp(1, n.max(2) - 1));
        let features = self.without_gaps(&order);
        let plain = |row: usize| &features[row * self.d..][..self.d];
        let scales = scales(self.d, &order, plain);
        let row = |row: usize| {
            let scaled =
                plain(row).iter().zip(&scales).map(|(cell, (centre, factor))| (cell - centre) * factor);
            scaled.chain([1.0]).collect::<Vec<f64>>()
        };
        let norm = |row: &[f64]| dot(row, row).sqrt();
        let longest = order.iter().map(|&index| norm(&row(index))).fold(0.0, f64::max);
        let records = |indices: &[usize]| {
            let signed = indices.iter().flat_map(|&index| {
                let row = row(index);
                // The divisor is at least 1, because a constant 1 is among the features.
                let factor = self.labels[index] / longest.max(norm(&row));
                row.into_iter().map(move |cell| factor * cell)
            });
            Records { d: self.d + 1, signed: signed.collect() }
        };
        Parted { training: records(&order), validation: records(&held_out) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn a_feature_that_is_constant_in_training_is_left_out() {
        // The second feature is 0.1 in all records but the last, which is held out for about one seed in ten.
        let features = (0..10).flat_map(|i| [f64::from(i), if i < 9 { 0.1 } else { 0.2 }]).collect();
        let labels = (0..10).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let raw = RawRecords { d: 2, names: Vec::new(), features, labels, holders: Vec::new() };
        let left_out = |records: &Records| records.signed.chunks(3).all(|row| row[1] == 0.0);
        let splits = (0..100).map(|seed| raw.split(0.9, &mut Key::root(seed).stream()));
        let constant: Vec<Parted> = splits.filter(|split| left_out(&split.training)).collect();
        assert!((1..50).contains(&constant.len()), "{}", constant.len());
        assert!(constant.iter().all(|split| left_out(&split.validation)));
    }

    /// A missing feature becomes the mean of the training records, whatever the validation records have.
    #[test]
    fn missing_features_depend_on_training_records_only() {
        let raw = |last: f64| RawRecords {
            d: 2,
            names: Vec::new(),
            holders: Vec::new(),
            features: vec![1.0, 5.0, f64::NAN, 6.0, 4.0, f64::NAN, last, f64::NAN],
            labels: vec![1.0, -1.0, 1.0, -1.0],
        };
        let filled = raw(100.0).without_gaps(&[0, 1, 2]).into_owned();
        assert_eq!(filled, [1.0, 5.0, 2.5, 6.0, 4.0, 5.5, 100.0, 5.5]);
        assert_eq!(raw(7.0).without_gaps(&[0, 1, 2])[..6], filled[..6]);
        // No training record has the first feature.
        assert_eq!(raw(7.0).without_gaps(&[1])[2], 0.0);
    }

    #[test]
    fn records_have_norm_at_most_one_and_each_goes_to_one_side() {
        let mut stream = Key::root(3).stream();
        let features = (0..300).map(|_| 10.0 + 5.0 * stream.normal()).collect();
        let labels = (0..100).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let raw = RawRecords { d: 3, names: Vec::new(), features, labels, holders: Vec::new() };
        let split = raw.split(0.2, &mut stream);
        assert_eq!((split.training.len(), split.validation.len()), (20, 80));
        let longest =
            |records: &Records| records.signed.chunks(4).map(|row| dot(row, row).sqrt()).fold(0.0, f64::max);
        assert!((longest(&split.training) - 1.0).abs() < 1e-12);
        // Some of the 80 validation records have a larger norm than the 20 training records, and are scaled to norm 1.
        assert!((longest(&split.validation) - 1.0).abs() < 1e-12);
    }
}
