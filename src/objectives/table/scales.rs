//! The scales of a table's inputs and outputs: stated in the scenario, or computed from the data.

use crate::objectives::scaling::{centre_and_scale, standardise};
use crate::vocab::{Finite, Origin, Positive, Problem, PublicFact};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How outcomes are scaled: value = (outcome - centre) / unit, after the transform, with the sign changed if the
/// output is to be minimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum OutputScale {
    /// Centre and unit are mean and standard deviation of all outcomes in the file. A change of one outcome then changes
    /// every value, so privacy losses about an outcome are conditional on these two numbers being public.
    #[default]
    FromData,
    /// Constants that were chosen independently of the data.
    ///
    /// Example: `Stated(centre: 12.2, unit: 0.5)`.
    Stated {
        /// The outcome that gets the value 0. It is stated after the transform: with `transform: Log`, it is a logarithm.
        centre: Finite,
        /// The difference of two outcomes, after the transform, that becomes a difference of 1 in value.
        unit: Positive,
    },
}

/// How input columns are scaled: x = (number - centre) / unit / length-scale * max_norm / radius. In a column of
/// `log_inputs`, ln(1 + number) takes the place of number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum InputScale {
    /// Centre and unit are mean and standard deviation of each column in the file, and the radius is the largest norm
    /// of a row after division by units and length-scales. A change of one row then changes all other rows, so privacy
    /// losses about a record are conditional on these numbers being public.
    #[default]
    FromData,
    /// Constants that were chosen independently of the data.
    ///
    /// Example: `Stated(centres: [38.58, -121.49], units: [0.05, 0.05], radius: 9)`.
    Stated {
        /// The number in each column that is scaled to 0.
        centres: Vec<Finite>,
        /// The unit of each column: the number by which differences in that column are divided. The column's length-scale is
        /// in this unit.
        units: Vec<Positive>,
        /// The Euclidean norm that is scaled to `max_norm`; it is the norm of a row after division by units and
        /// length-scales. A row with a larger norm is not clipped and is protected like the others, since the noise of a
        /// private release does not depend on norms. A distance of 1 between scaled rows is a distance of radius / max_norm
        /// before the multiplication by max_norm / radius.
        radius: Positive,
    },
}

impl OutputScale {
    /// Scales all values; returns centre and unit, or `None` if the unit is to be computed from values that are all the
    /// same.
    pub(in crate::objectives) fn apply(&self, values: &mut [f64]) -> Option<(f64, f64)> {
        match self {
            Self::FromData => standardise(values),
            Self::Stated { centre, unit } => {
                let (centre, unit) = (centre.get(), unit.get());
                values.iter_mut().for_each(|value| *value = (*value - centre) / unit);
                Some((centre, unit))
            }
        }
    }

    /// The scale for outcomes with changed sign.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::FromData => Self::FromData,
            Self::Stated { centre, unit } => {
                let centre = Finite::new(-centre.get()).unwrap_or(centre);
                Self::Stated { centre, unit }
            }
        }
    }

    pub(in crate::objectives) fn fact(&self) -> PublicFact {
        match self {
            Self::FromData => {
                PublicFact::new("mean and standard deviation of the outcomes", Origin::ComputedFromData)
            }
            Self::Stated { .. } => PublicFact::new("centre and unit of the outcomes", Origin::Stated),
        }
    }
}

impl InputScale {
    /// Centres column `index` and divides it by its unit. Returns the unit; `None` if the unit is to be computed from
    /// numbers that are all the same, or if no centre or no unit is stated for the column.
    pub(super) fn apply(&self, index: usize, column: &mut [f64]) -> Option<f64> {
        match self {
            Self::FromData => standardise(column).map(|(_, sd)| sd),
            Self::Stated { centres, units, .. } => {
                let (centre, unit) = (centres.get(index)?.get(), units.get(index)?.get());
                column.iter_mut().for_each(|value| *value = (*value - centre) / unit);
                Some(unit)
            }
        }
    }

    /// Multiplies rows by one factor, so that the largest norm of a row, or the stated `radius`, becomes `max_norm`. Returns
    /// the factor. The rows have `d` columns, each already divided by its length-scale.
    pub(super) fn to_norm(&self, rows: &mut [f64], d: usize, max_norm: f64) -> f64 {
        match self {
            // The means of the columns are 0 already, so `centre_and_scale` moves them by rounding errors only.
            Self::FromData => centre_and_scale(rows, d, max_norm),
            Self::Stated { radius, .. } => {
                let factor = max_norm / radius.get();
                rows.iter_mut().for_each(|value| *value *= factor);
                factor
            }
        }
    }

    pub(super) fn problems(&self, inputs: usize) -> Vec<Problem> {
        let Self::Stated { centres, units, .. } = self else { return Vec::new() };
        [("centres", centres.len()), ("units", units.len())]
            .into_iter()
            .filter(|(_, found)| *found != inputs)
            .map(|(field, found)| {
                Problem::wrong(
                    format!("input_scale.Stated.{field}"),
                    format!("one number for each of the {inputs} inputs"),
                    found.to_string(),
                    "write as many as there are inputs",
                )
            })
            .collect()
    }

    pub(super) fn fact(&self) -> PublicFact {
        match self {
            Self::FromData => PublicFact::new(
                "mean and standard deviation of each input column and the norm of the outermost row",
                Origin::ComputedFromData,
            ),
            Self::Stated { .. } => {
                PublicFact::new("centre and unit of each input column, and the radius", Origin::Stated)
            }
        }
    }
}
