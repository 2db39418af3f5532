//! The output of a table: one column, or a number computed from two.

use super::failure::TableError;
use super::reader::CsvTable;
use crate::vocab::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The output of a row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Output {
    /// The number in a column: `Column("target")`.
    ///
    /// Example: `Column("price")`.
    Column(
        /// Name of the column.
        String,
    ),
    /// Return on investment of a loan over one year, as a share of the principal. For a loan that was repaid, this is the
    /// interest rate; for any other loan, it is `loss_given_default` with a negative sign.
    ///
    /// Example: `ReturnOnInvestment(rate: "int_rate", outcome: "Class", repaid: "good", loss_given_default: 0.5)`.
    ReturnOnInvestment {
        /// Name of the column with the interest rate in percent a year.
        rate: String,
        /// Name of the column with the outcome of the loan.
        outcome: String,
        /// The outcome of a loan that was repaid; every other outcome counts as a loss.
        repaid: String,
        /// Share of the principal that is lost when a loan is not repaid.
        loss_given_default: Probability,
    },
}

impl Output {
    /// The columns needed: for each, the path of the field that names the column, and the column's name.
    #[must_use]
    pub fn columns(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::Column(name) => vec![("Column", name)],
            Self::ReturnOnInvestment { rate, outcome, .. } => {
                vec![("ReturnOnInvestment.rate", rate), ("ReturnOnInvestment.outcome", outcome)]
            }
        }
    }

    /// The names of the needed columns whose cells are numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = &str> {
        let (Self::Column(name) | Self::ReturnOnInvestment { rate: name, .. }) = self;
        std::iter::once(name.as_str())
    }

    /// One value per row.
    ///
    /// # Errors
    /// A table error for a column that is missing or occurs twice, a cell that is not a number or is too large a number, or
    /// a value `repaid` that never occurs.
    pub fn values(&self, table: &CsvTable) -> Result<Vec<f64>, TableError> {
        match self {
            Self::Column(name) => table.numbers(name),
            Self::ReturnOnInvestment { rate, outcome, repaid, loss_given_default } => {
                let rates = table.numbers(rate)?;
                let outcomes = table.texts_with(outcome, repaid)?;
                let value = |(rate, outcome): (&f64, &&str)| {
                    if *outcome == repaid { rate / 100.0 } else { -loss_given_default.get() }
                };
                Ok(rates.iter().zip(&outcomes).map(value).collect())
            }
        }
    }
}
