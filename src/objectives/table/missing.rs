//! Missing cells of a table: refused, dropped with their rows, or replaced by a mean.

use super::failure::TableError;
use super::reader::CsvTable;
use crate::vocab::{Origin, PublicFact, is_missing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What happens to missing cells of the columns used. A cell is missing if it is empty, or one of `NA`, `N/A`, `NaN`,
/// `null`, `None`, `?` and `-`, in upper or lower case. In columns of numbers, any other cell that is not a number is an
/// error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Missing {
    /// A missing cell is an error.
    #[default]
    Refuse,
    /// A row with a missing cell is left out. Which rows these are depends on the records and is taken as public.
    Drop,
    /// First, a row whose output or label is missing is left out. Then a missing input is replaced by the mean of the
    /// column's known cells (in `Tuning`, of the known cells of training records), before any logarithm. The means are
    /// computed from the data, so privacy losses about a record of a `Table` are conditional on these means being public.
    Mean,
}

impl Missing {
    /// The table without missing cells in the columns of inputs and output; with `Refuse`, the table as it is.
    ///
    /// # Errors
    /// With `Refuse` none. With `Drop` and `Mean`, [`TableError`] for a column that does not exist or occurs twice, and if
    /// no row is left. With `Mean`, also for an input column that has missing cells and either no number or a cell that is
    /// neither missing nor a number.
    pub(in crate::objectives) fn completed(
        self,
        mut table: CsvTable,
        inputs: &[String],
        output: &[&str],
    ) -> Result<CsvTable, TableError> {
        if self == Self::Refuse {
            return Ok(table);
        }
        let missing = |table: &CsvTable, column: &str| -> Result<BTreeSet<usize>, TableError> {
            let texts = table.texts(column)?;
            Ok((0..texts.len()).filter(|row| is_missing(texts[*row])).collect())
        };
        let mut dropped = BTreeSet::new();
        for column in output {
            dropped.extend(missing(&table, column)?);
        }
        if self == Self::Drop {
            for column in inputs {
                dropped.extend(missing(&table, column)?);
            }
        }
        table.drop_rows(&dropped)?;
        if self == Self::Mean {
            for column in inputs {
                let gaps = missing(&table, column)?;
                if gaps.is_empty() {
                    continue;
                }
                let known = table.numbers_except(column, &gaps)?;
                if known.is_empty() {
                    return Err(table.wrong(column, 0, "a number in at least one row"));
                }
                let mean = known.iter().sum::<f64>() / known.len() as f64;
                // `{mean:?}` writes the shortest text that is read as the same number.
                table.replace(column, &gaps, &format!("{mean:?}"))?;
            }
        }
        Ok(table)
    }

    /// What is taken as public because of missing cells: a fact about the shape of the data, and a fact about the inputs.
    pub(in crate::objectives) fn facts(self) -> (Option<PublicFact>, Option<PublicFact>) {
        let shape = |what: &str| Some(PublicFact::new(what, Origin::Shape));
        match self {
            Self::Refuse => (None, None),
            Self::Drop => (shape("which records have a missing cell, and so are left out"), None),
            Self::Mean => (
                shape("which inputs are missing, and which records have no outcome"),
                Some(PublicFact::new(
                    "mean of the known cells of each input column, in place of its missing cells",
                    Origin::ComputedFromData,
                )),
            ),
        }
    }
}
