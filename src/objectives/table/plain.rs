//! A table's inputs before scaling, and the unit of its values in words, for reports.

use super::{Goal, OutputScale, Raw, Table, Transform};
use crate::objectives::UnscaledInputs;
use std::sync::Arc;

impl Table {
    /// The inputs before scaling, with the names of their columns.
    pub(super) fn plain(&self, raw: &Raw) -> Arc<UnscaledInputs> {
        let name = |name: &String| {
            if self.log_inputs.contains(name) { format!("ln(1 + {name})") } else { name.clone() }
        };
        Arc::new(UnscaledInputs { names: raw.names.iter().map(name).collect(), rows: raw.rows.clone() })
    }

    /// The unit of values: "standard deviations of price", "units of 75 (price)".
    pub(super) fn unit_in_words(&self) -> String {
        let column = match self.output.columns().as_slice() {
            [(_, name)] => (*name).to_owned(),
            _ => "return on investment".to_owned(),
        };
        let of = match self.transform {
            Transform::Identity => column,
            Transform::Log => format!("ln({column})"),
            Transform::Log1p => format!("ln(1 + {column})"),
        };
        let of = if self.goal == Goal::Minimise { format!("-{of}") } else { of };
        match self.output_scale {
            OutputScale::FromData => format!("standard deviations of {of}"),
            OutputScale::Stated { unit, .. } if unit.get() == 1.0 => format!("units of {of}"),
            OutputScale::Stated { unit, .. } => format!("units of {} ({of})", unit.get()),
        }
    }
}
