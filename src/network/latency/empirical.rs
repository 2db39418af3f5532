//! A delay drawn from a file of measured delays.

use super::Latency;
use crate::network::data_file::{self, Loaded};
use crate::vocab::{DataFolders, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// A delay drawn from a column of a CSV file, each row with the same probability.
///
/// Example: `Empirical(file: "delays.csv", column: "ms", unit: "1ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Empirical {
    /// A CSV file with a header line; relative to the scenario's folder or to the folder of `--data`. Lines that begin
    /// with # are comments.
    pub file: PathBuf,
    /// Name of the column.
    pub column: String,
    /// Unit of the numbers in the column. Default: 1 s.
    #[serde(default = "second")]
    pub unit: Span,
    #[serde(skip)]
    sorted: Loaded<Vec<Span>>,
}

fn second() -> Span {
    Span::from_millis(1000)
}

impl Empirical {
    /// A latency whose file has not been read.
    #[must_use]
    pub fn new(file: PathBuf, column: String, unit: Span) -> Self {
        Self { file, column, unit, sorted: None }
    }
}

impl Latency for Empirical {
    /// The quantile of the distribution in which each row has the same probability; zero if the file has not been read.
    fn quantile(&self, u: f64) -> Span {
        let Some(sorted) = &self.sorted else { return Span::ZERO };
        let place = (u * sorted.len() as f64) as usize;
        sorted[place.min(sorted.len() - 1)]
    }

    fn mean_seconds(&self) -> f64 {
        let Some(sorted) = &self.sorted else { return 0.0 };
        sorted.iter().map(|delay| delay.seconds()).sum::<f64>() / sorted.len() as f64
    }

    fn probability_within(&self, delay: Span) -> f64 {
        let Some(sorted) = &self.sorted else { return 1.0 };
        sorted.partition_point(|known| *known <= delay) as f64 / sorted.len() as f64
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        match data_file::column(base, &self.file, &self.column) {
            Ok(values) => {
                let unit = self.unit.seconds();
                let mut delays: Vec<Span> =
                    values.into_iter().map(|value| Span::from_seconds(value * unit)).collect();
                delays.sort_unstable();
                self.sorted = Some(Arc::new(delays));
                Vec::new()
            }
            Err(problem) => vec![problem],
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }

    fn is_unread(&self) -> bool {
        self.sorted.is_none()
    }

    fn problems(&self) -> Vec<Problem> {
        if self.unit > Span::ZERO {
            return Vec::new();
        }
        vec![Problem::wrong(
            "unit",
            "a duration above 0",
            "0",
            "write unit: \"1ms\" for a column of milliseconds",
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> (tempfile::TempDir, Empirical, Vec<Problem>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("delays.csv"), text).unwrap();
        let mut law = Empirical::new("delays.csv".into(), "ms".to_owned(), Span::from_millis(1));
        let problems = law.load(&folder.path().into());
        (folder, law, problems)
    }

    #[test]
    fn each_row_is_as_likely_as_every_other() {
        let (_folder, law, problems) = written("# measured\nms,from\n30,a\n10,b\n20,c\n40,d\n");
        assert_eq!(problems, []);
        assert_eq!(
            [0.1, 0.3, 0.6, 0.9, 0.999].map(|u| law.quantile(u).nanos() / 1_000_000),
            [10, 20, 30, 40, 40]
        );
        assert_eq!(law.mean_seconds(), 0.025);
    }

    #[test]
    fn errors_in_a_file_name_the_line() {
        let (_folder, _, problems) = written("ms\n30\n-4\n");
        assert!(format!("{problems:?}").contains("delays.csv:3"), "{problems:?}");
        let (_folder, _, problems) = written("seconds\n30\n");
        assert_eq!(problems[0].path, "column");
        let (_folder, _, problems) = written("ms\n");
        assert!(format!("{problems:?}").contains("no rows"));
    }
}
