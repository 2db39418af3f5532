//! The records of a table before scaling.

use super::failure::{Quantity, TableError};
use super::{
    CsvTable, Goal, Hyperparameters, InputScale, Missing, OutputScale, Raw, Table, Transform, no_noise, zero,
};
use crate::objectives::Resources;
use crate::objectives::grid_function::default_norm;
use std::path::Path;
use std::sync::Arc;

impl Table {
    /// The records of the file.
    pub(super) fn raw(&self, resources: &Resources) -> Result<Arc<Raw>, TableError> {
        let file = resources.place(&self.file);
        // Fields that the records do not depend on have their defaults here, so that tables that differ only in these
        // fields share the records.
        let table = Self {
            split: Vec::new(),
            output_scale: OutputScale::default(),
            input_scale: InputScale::default(),
            prior_mean: zero(),
            max_norm: default_norm(),
            noise_sd: no_noise(),
            hyperparameters: Hyperparameters::default(),
            ..self.clone()
        };
        resources.contents.read(&(&file, &table), || table.read(&file))
    }

    fn read(&self, file: &Path) -> Result<Raw, TableError> {
        let table = CsvTable::read(file)?;
        let (table, names) = self.input_columns().computed(table, self.missing != Missing::Refuse)?;
        let of_output = self.output.columns();
        let of_output: Vec<&str> = of_output.iter().map(|(_, column)| *column).collect();
        let table = self.missing.completed(table, &names, &of_output)?;
        let mut numbers: Vec<&str> = names.iter().map(String::as_str).collect();
        numbers.extend(self.output.numbers().filter(|column| !names.iter().any(|input| input == column)));
        table.all_numbers(&numbers)?;
        let (n, d) = (table.len(), names.len());
        let mut rows = vec![0.0; n * d];
        for (index, name) in names.iter().enumerate() {
            let mut column = table.numbers(name)?;
            if self.log_inputs.contains(name) {
                apply(Transform::Log1p, &mut column, &table, || Quantity::Column(name.clone()))?;
            }
            rows[index..].iter_mut().step_by(d).zip(column).for_each(|(cell, value)| *cell = value);
        }
        let mut values = self.output.values(&table)?;
        apply(self.transform, &mut values, &table, || Quantity::Output)?;
        if self.goal == Goal::Minimise {
            values.iter_mut().for_each(|value| *value = -*value);
        }
        let holders = self.named_holders(&table)?;
        Ok(Raw { file: table.file, names, rows, values, holders })
    }
}

fn apply(
    transform: Transform,
    values: &mut [f64],
    table: &CsvTable,
    of: impl Fn() -> Quantity,
) -> Result<(), TableError> {
    let (lowest, logarithm, ln): (f64, &str, fn(f64) -> f64) = match transform {
        Transform::Identity => return Ok(()),
        Transform::Log => (0.0, "ln(x)", libm::log),
        Transform::Log1p => (-1.0, "ln(1 + x)", libm::log1p),
    };
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    if smallest <= lowest {
        return Err(TableError::NoLogarithm { file: table.file.clone(), of: of(), logarithm, smallest });
    }
    values.iter_mut().for_each(|value| *value = ln(*value));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objectives::KeptFiles;

    /// The file is removed after it was read once, so that reading it again is an error.
    #[test]
    fn tables_that_differ_after_reading_share_records_while_these_are_kept() {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::write(folder.path().join("t.csv"), "a,b,y\n1,5,2\n2,7,3\n").unwrap();
        let table = |rest: &str| -> Table {
            let text = format!("(file: \"t.csv\", inputs: [\"a\"], output: Column(\"y\"), {rest})");
            ron::Options::default()
                .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
                .from_str(&text)
                .unwrap()
        };
        let base = folder.path().to_owned();
        let anew = Resources { base, ..Resources::default() };
        let kept = Resources { contents: KeptFiles::kept(), ..anew.clone() };
        let first = table("").raw(&kept).unwrap();
        std::fs::remove_file(folder.path().join("t.csv")).unwrap();
        for same in [
            "noise_sd: 0.5",
            "max_norm: 3",
            "prior_mean: 1",
            "hyperparameters: Given(length_scales: [1], variance: 1, noise_variance: 1)",
            "output_scale: Stated(centre: 1, unit: 2)",
            "input_scale: Stated(centres: [1], units: [2], radius: 1)",
        ] {
            assert_eq!(table(same).raw(&kept).unwrap().values, first.values, "{same}");
            assert!(table(same).raw(&anew).is_err(), "{same}");
        }
        for other in
            ["goal: Minimise", "transform: Log", "log_inputs: [\"a\"]", "agent: [\"b\"]", "missing: Drop"]
        {
            assert!(table(other).raw(&kept).is_err(), "{other}");
        }
    }
}
