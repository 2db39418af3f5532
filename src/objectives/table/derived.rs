//! Columns that are computed from the columns of a file: by a formula, or as indicators. A column of categories has one
//! indicator column for each of its values.

use super::failure::TableError;
use super::reader::CsvTable;
use crate::vocab::{Origin, Problem, PublicFact, is_missing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of values of a column of categories: each becomes an input.
const MAX_CATEGORIES: usize = 100;

/// A number that is computed from other cells of the same row. It is missing where one of these cells is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Formula {
    /// The natural logarithm of a number, which must be above 0.
    ///
    /// Example: `Log("sqft")`.
    Log(
        /// Name of the column.
        String,
    ),
    /// The first number minus the second.
    ///
    /// Example: `Difference("latitude", "longitude")`.
    Difference(
        /// Name of the first column.
        String,
        /// Name of the second column.
        String,
    ),
    /// The first number divided by the second, which must not be 0.
    ///
    /// Example: `Ratio("sqft", "latitude")`.
    Ratio(
        /// Name of the first column.
        String,
        /// Name of the second column.
        String,
    ),
    /// 1 where a column has a certain value, 0 elsewhere.
    ///
    /// Example: `Equals(column: "type", value: "Condo")`.
    Equals {
        /// Name of the column.
        column: String,
        /// The value, as written in the file.
        value: String,
    },
}

impl Formula {
    /// The columns that the formula reads.
    fn columns(&self) -> Vec<&str> {
        match self {
            Self::Log(column) | Self::Equals { column, .. } => vec![column],
            Self::Difference(first, second) | Self::Ratio(first, second) => vec![first, second],
        }
    }

    /// One cell for each row of the table.
    fn cells(&self, table: &CsvTable, gaps: bool) -> Result<Vec<String>, TableError> {
        let numbers = |column: &str| -> Result<Vec<Option<f64>>, TableError> {
            if gaps {
                return table.numbers_and_gaps(column);
            }
            Ok(table.numbers(column)?.into_iter().map(Some).collect())
        };
        // `{number:?}` writes the shortest text that is read as the same number.
        let text = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number:?}"));
        match self {
            Self::Log(column) => {
                let numbers = numbers(column)?;
                if let Some(row) = numbers.iter().position(|x| x.is_some_and(|x| x <= 0.0)) {
                    return Err(table.wrong(column, row, "a number above 0, which has a logarithm"));
                }
                Ok(numbers.into_iter().map(|x| text(x.map(libm::log))).collect())
            }
            Self::Difference(first, second) => {
                let pairs = numbers(first)?.into_iter().zip(numbers(second)?);
                Ok(pairs.map(|(a, b)| text(a.zip(b).map(|(a, b)| a - b))).collect())
            }
            Self::Ratio(first, second) => {
                let divisors = numbers(second)?;
                if let Some(row) = divisors.iter().position(|x| *x == Some(0.0)) {
                    let expected = format!("a number other than 0, by which \"{first}\" is divided");
                    return Err(table.wrong(second, row, &expected));
                }
                let pairs = numbers(first)?.into_iter().zip(divisors);
                Ok(pairs.map(|(a, b)| text(a.zip(b).map(|(a, b)| a / b))).collect())
            }
            Self::Equals { column, value } => {
                let texts = table.texts_with(column, value)?;
                if let Some(row) = texts.iter().position(|text| !gaps && is_missing(text)) {
                    return Err(table.wrong(column, row, "a value (or state `missing`)"));
                }
                Ok(texts.iter().map(|text| indicator(text, value)).collect())
            }
        }
    }
}

/// The input columns that an objective names.
#[derive(Clone, Copy, Debug, Serialize)]
pub(in crate::objectives) struct InputColumns<'a> {
    /// The columns that are inputs.
    pub(in crate::objectives) inputs: &'a [String],
    /// Inputs that hold categories.
    pub(in crate::objectives) one_hot: &'a [String],
    /// The formula of each computed column, by the name of the computed column.
    pub(in crate::objectives) derived: &'a BTreeMap<String, Formula>,
}

impl<'a> InputColumns<'a> {
    /// The table with all computed columns, and the names of the columns that are inputs. With `gaps`, a cell that is
    /// computed from a missing cell is missing; without `gaps`, the missing cell is an error.
    ///
    /// # Errors
    /// [`TableError`] for a column that does not exist, occurs twice or has too many categories, for a value of
    /// [`Formula::Equals`] that never occurs, and for a cell from which nothing can be computed.
    pub(in crate::objectives) fn computed(
        &self,
        mut table: CsvTable,
        gaps: bool,
    ) -> Result<(CsvTable, Vec<String>), TableError> {
        let computed = self.derived.iter().map(|(name, formula)| Ok((name, formula.cells(&table, gaps)?)));
        for (name, cells) in computed.collect::<Result<Vec<_>, _>>()? {
            table.add_column(name, cells)?;
        }
        let mut names = Vec::new();
        for input in self.inputs {
            if self.one_hot.contains(input) {
                names.extend(indicators(&mut table, input, gaps)?);
            } else {
                names.push(input.clone());
            }
        }
        Ok((table, names))
    }

    /// The field of the scenario that is responsible for this column. It is the entry of `inputs` that names the column or,
    /// for an indicator, the column of categories from which the indicator is made. If there is none, it is the entry of
    /// `derived` that has this name or whose formula reads the column. `None` if there is no such entry either.
    pub(in crate::objectives) fn field(&self, column: &str) -> Option<String> {
        let is_of = |input: &String| {
            let category = || column.strip_prefix(input.as_str()).is_some_and(|rest| rest.starts_with('='));
            input == column || (self.one_hot.contains(input) && category())
        };
        if let Some(index) = self.inputs.iter().position(is_of) {
            return Some(format!("inputs[{index}]"));
        }
        let reads =
            |(name, formula): &(&String, &Formula)| *name == column || formula.columns().contains(&column);
        self.derived.iter().find(reads).map(|(name, _)| format!("derived[\"{name}\"]"))
    }

    /// The inputs that are numbers.
    pub(in crate::objectives) fn of_numbers(&self) -> Vec<String> {
        self.inputs.iter().filter(|input| !self.one_hot.contains(input)).cloned().collect()
    }

    /// The columns of the file that have these names, or from which the computed columns with these names are computed.
    pub(in crate::objectives) fn read_for(
        &self,
        columns: impl Iterator<Item = &'a str>,
    ) -> BTreeSet<&'a str> {
        columns.flat_map(|name| self.derived.get(name).map_or_else(|| vec![name], Formula::columns)).collect()
    }

    /// Problems of columns in `one_hot` that are not inputs.
    pub(in crate::objectives) fn problems(&self) -> Vec<Problem> {
        let stray = |(index, name): (usize, &String)| {
            let place = format!("one_hot[{index}]");
            (!self.inputs.contains(name))
                .then(|| Problem::unknown(place, "input column", name.clone(), self.inputs))
        };
        self.one_hot.iter().enumerate().filter_map(stray).collect()
    }

    /// What is taken as public: which categories there are, and that columns can be computed.
    pub(in crate::objectives) fn facts(&self) -> Vec<PublicFact> {
        let shape = |what: String| PublicFact::new(what, Origin::Shape);
        let mut facts = Vec::new();
        if !self.one_hot.is_empty() {
            let names = self.one_hot.join(", ");
            facts.push(shape(format!("which values occur in the columns of categories ({names})")));
        }
        if !self.derived.is_empty() {
            let names = self.derived.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            facts.push(shape(format!("that the computed columns ({names}) can be computed")));
        }
        facts
    }
}

/// The cell of an indicator column: 1 if the text is `value`; otherwise empty if the text stands for a missing cell, and 0
/// if it does not.
fn indicator(text: &str, value: &str) -> String {
    match text {
        text if text == value => "1",
        text if is_missing(text) => "",
        _ => "0",
    }
    .to_owned()
}

/// Adds an indicator column for each value that occurs in this column. An indicator is 1 where the row has the value, empty
/// where the row's cell is missing, and 0 elsewhere. Returns the names of the added columns, such as "type=Condo", in the
/// alphabetical order of the values.
fn indicators(table: &mut CsvTable, column: &str, gaps: bool) -> Result<Vec<String>, TableError> {
    let texts: Vec<String> = table.texts(column)?.into_iter().map(str::to_owned).collect();
    if let Some(row) = texts.iter().position(|text| !gaps && is_missing(text)) {
        return Err(table.wrong(column, row, "a category (or state `missing`)"));
    }
    let values: BTreeSet<&str> = texts.iter().map(String::as_str).filter(|text| !is_missing(text)).collect();
    if values.len() > MAX_CATEGORIES {
        let (file, column) = (table.file.clone(), column.to_owned());
        return Err(TableError::TooManyCategories {
            file,
            column,
            found: values.len(),
            most: MAX_CATEGORIES,
        });
    }
    let mut names = Vec::new();
    for value in values {
        let name = format!("{column}={value}");
        table.add_column(&name, texts.iter().map(|text| indicator(text, value)).collect())?;
        names.push(name);
    }
    Ok(names)
}
