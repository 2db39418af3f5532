//! The fields of a table in a scenario, at which problems of the table's file are reported.

use super::failure::{Quantity, TableFields};
use super::{Output, Table};
use crate::objectives::split;
use std::path::Path;

impl TableFields for Table {
    fn file(&self, _: &Path) -> String {
        "file".to_owned()
    }

    fn column(&self, _: &Path, column: &str) -> String {
        let of_output = || {
            let (field, _) = self.output.columns().into_iter().find(|(_, name)| *name == column)?;
            Some(format!("output.{field}"))
        };
        let of_agent = || split::field(&self.agent, column);
        let of_inputs = self.input_columns().field(column);
        of_inputs.or_else(of_output).or_else(of_agent).unwrap_or_else(|| "output".to_owned())
    }

    fn value(&self, file: &Path, column: &str) -> String {
        match self.output {
            Output::ReturnOnInvestment { .. } => "output.ReturnOnInvestment.repaid".to_owned(),
            Output::Column(_) => self.column(file, column),
        }
    }

    fn constant(&self, _: &Path, of: &Quantity) -> (String, &'static str, &'static str) {
        match of {
            Quantity::Column(name) => {
                let field = self.input_columns().field(name).unwrap_or_else(|| "inputs".to_owned());
                (field, "columns that vary", "leave the column out, or state an input_scale")
            }
            Quantity::Output | Quantity::Class(_) => (
                "output".to_owned(),
                "an output that varies",
                "name another column, or state an output_scale",
            ),
        }
    }

    fn logarithm(&self, _: &Path, of: &Quantity) -> String {
        let listed = self.log_inputs.iter().position(|name| *of == Quantity::Column(name.clone()));
        listed.map_or_else(|| "transform".to_owned(), |index| format!("log_inputs[{index}]"))
    }

    fn unit(&self, _: &Path, of: &Quantity) -> String {
        match of {
            Quantity::Output => "output_scale".to_owned(),
            Quantity::Column(_) | Quantity::Class(_) => "input_scale".to_owned(),
        }
    }
}
