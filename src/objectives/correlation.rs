//! Columns of recorded readings as arms, such as stocks or sensors, with their empirical correlation as the kernel.

use super::instance::{Instance, ProblemFacts, PublicFacts, Surrogate};
use super::noise::{Noise, Recorded};
use super::scaling::standardise;
use super::table::{CsvTable, OutputScale, Quantity, TableError, TableFields, zero};
use super::{DataSource, Extent, Fitted, Objective, ObjectiveError, Prepared, Resources, Stated};
use crate::gp::Points;
use crate::gp::covariance::{Covariance, Shape};
use crate::rng::Key;
use crate::vocab::{Finite, Origin, Positive, Problem, PublicFact};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Every column of a CSV file is an arm, except those in `ignore`; an outcome of an arm is one of its recorded readings,
/// drawn at random.
///
/// An arm's value is the mean of its readings. The kernel is the matrix of correlations between the columns of a training
/// file: an arm's input is its standardised training column, divided by the square root of the number of rows, so the
/// inner product of two inputs is the correlation of the two columns. Readings are in the units of the file unless
/// `output_scale` is set. In the protocol `Local`, learners assume a bound B on the distance of the function from
/// `prior_mean`, and a bound R on the noise. By default, B is the largest distance of an arm's mean from `prior_mean`,
/// and R is the largest distance of a reading from its arm's mean. Source: Zhou and Tan 2021, section 5.1, after
/// Chowdhury and Gopalan 2019, section 5 (29 stocks; 41 light sensors).
///
/// Example: `Correlation(file: "stocks.csv", ignore: ["Date"])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Correlation {
    /// The file of readings from which outcomes are drawn, relative to the scenario's own folder or to the folder of
    /// `--data`. First line: names of columns.
    pub file: PathBuf,
    /// The training file: the file from whose columns the correlations are computed. Default: `file`.
    #[serde(default)]
    pub training: Option<PathBuf>,
    /// Columns that are not arms, such as dates. Default: none.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// How readings are scaled: value = (reading - centre) / unit. With `FromData`, centre and unit are the mean and the
    /// standard deviation of all readings of all arms; the report lists these two numbers as taken as public. The
    /// learner's model has variance 1 and mean `prior_mean`; it suits standardised readings, and rarely readings in the
    /// unit of a file.
    /// Default: `Stated(centre: 0, unit: 1)`, which leaves readings as they are in the file.
    #[serde(default = "as_in_file")]
    pub output_scale: OutputScale,
    /// Prior mean that a learner assumes, in the unit of the scaled readings. It is taken as public: choose it independently
    /// of the data. Default: 0.
    #[serde(default = "zero")]
    pub prior_mean: Finite,
}

fn as_in_file() -> OutputScale {
    let unit = Positive::new(1.0).expect("1 is above 0");
    OutputScale::Stated { centre: zero(), unit }
}

/// The numbers computed from the files: for each arm, its input, the mean of its readings, and the readings' deviations
/// from this mean.
struct Readings {
    inputs: Points,
    values: Vec<f64>,
    deviations: Vec<Vec<f64>>,
}

#[derive(Debug)]
struct Ready(Instance);

impl Correlation {
    fn training(&self) -> &Path {
        self.training.as_deref().unwrap_or(&self.file)
    }

    /// Facts taken as public. Those about the learner's model are computed from recorded readings.
    fn facts(&self) -> PublicFacts {
        let computed = |what: String| PublicFact::new(what, Origin::ComputedFromData);
        PublicFacts {
            shape: vec![PublicFact::new("number and names of the arms", Origin::Shape)],
            model: vec![
                computed(format!("correlations of the readings in {}", self.training().display())),
                computed(format!("variance of the readings in {}", self.file.display())),
            ],
            outcomes: match self.output_scale {
                OutputScale::FromData => vec![self.output_scale.fact()],
                OutputScale::Stated { .. } => Vec::new(),
            },
            ..PublicFacts::default()
        }
    }

    /// Scales the readings of all arms by the same centre and unit.
    fn scale(&self, readings: &mut [Vec<f64>], table: &CsvTable) -> Result<(), TableError> {
        if self.output_scale == as_in_file() {
            return Ok(());
        }
        let file = || table.file.clone();
        let mut all = readings.concat();
        let constant = || TableError::Constant { file: file(), of: Quantity::Output };
        let (centre, unit) = self.output_scale.apply(&mut all).ok_or_else(constant)?;
        if !all.iter().all(|reading| reading.is_finite()) {
            return Err(TableError::NotScalable { file: file(), of: Quantity::Output });
        }
        readings.iter_mut().flatten().for_each(|reading| *reading = (*reading - centre) / unit);
        Ok(())
    }

    /// The numbers computed from the files; if the resources keep the contents of files, files need not be read again.
    fn readings(&self, resources: &Resources) -> Result<Arc<Readings>, TableError> {
        resources.contents.read(&(self, &resources.base, &resources.data), || self.read(resources))
    }

    fn read(&self, resources: &Resources) -> Result<Readings, TableError> {
        let table = CsvTable::read(&resources.place(&self.file))?;
        let training = CsvTable::read(&resources.place(self.training()))?;
        for column in &self.ignore {
            table.texts(column)?;
        }
        let arms: Vec<&String> = table.names().iter().filter(|name| !self.ignore.contains(name)).collect();
        let (mut rows, mut readings) = (Vec::new(), Vec::new());
        let (mut values, mut deviations) = (Vec::new(), Vec::new());
        let length = (training.len() as f64).sqrt();
        for name in &arms {
            let mut column = training.numbers(name)?;
            standardise(&mut column).ok_or_else(|| TableError::Constant {
                file: training.file.clone(),
                of: Quantity::Column((*name).clone()),
            })?;
            rows.extend(column.iter().map(|value| value / length));
            readings.push(table.numbers(name)?);
        }
        self.scale(&mut readings, &table)?;
        for own in readings {
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            deviations.push(own.iter().map(|value| value - mean).collect());
            values.push(mean);
        }
        Ok(Readings { inputs: Points::new(arms.len(), training.len(), rows), values, deviations })
    }
}

/// Names the objective's fields in messages about its files, which may be in the scenario's folder or in the folder of
/// `--data`.
struct Named<'a> {
    correlation: &'a Correlation,
    resources: &'a Resources,
}

impl TableFields for Named<'_> {
    fn file(&self, file: &Path) -> String {
        let field = if self.resources.place(&self.correlation.file) == file { "file" } else { "training" };
        field.to_owned()
    }

    /// The path of the entry of `ignore` that names the column. A scenario names no other columns, so for any other
    /// column the result is the field that names the file.
    fn column(&self, file: &Path, column: &str) -> String {
        let ignored = self.correlation.ignore.iter().position(|name| name == column);
        ignored.map_or_else(|| self.file(file), |index| format!("ignore[{index}]"))
    }

    fn cell_cure(&self) -> &'static str {
        "correct the cell, drop the row, or name its column in `ignore`"
    }

    fn unit(&self, _: &Path, _: &Quantity) -> String {
        "output_scale".to_owned()
    }

    fn constant(&self, file: &Path, of: &Quantity) -> (String, &'static str, &'static str) {
        if *of == Quantity::Output {
            return (self.file(file), "readings that vary", "state an output_scale");
        }
        (self.file(file), "columns that vary", "name the column in `ignore`")
    }
}

impl Objective for Correlation {
    fn is_always_the_same(&self) -> bool {
        true
    }

    fn problems(&self, resources: &Resources) -> Vec<Problem> {
        match self.readings(resources) {
            Ok(readings) if readings.values.is_empty() => {
                let cure = "leave a column out of `ignore`";
                vec![Problem::wrong("ignore", "at least one column that is an arm", "none", cure)]
            }
            Ok(_) => Vec::new(),
            Err(error) => vec![error.problem(&Named { correlation: self, resources })],
        }
    }

    fn files(&self, resources: &Resources) -> Vec<PathBuf> {
        let mut files = vec![resources.place(&self.file), resources.place(self.training())];
        files.dedup();
        files
    }

    fn extent(&self, resources: &Resources) -> Extent {
        // The numbers of the files are kept in several forms: as text, as columns, as standardised columns, and as
        // deviations.
        let Ok(readings) = self.readings(resources) else { return Extent::default() };
        let (n, rows) = (readings.values.len() as u64, readings.inputs.d() as u64);
        let mut extent = Extent::of(n, rows);
        extent.prepared = extent.prepared.times(3.0);
        extent
    }

    fn stated(&self) -> Stated {
        Stated { linear: Some(true), ..Stated::recorded() }
    }

    fn unit(&self) -> String {
        match self.output_scale {
            OutputScale::FromData => "standard deviations of the readings".to_owned(),
            OutputScale::Stated { unit, .. } if unit.get() == 1.0 => "units of the file".to_owned(),
            OutputScale::Stated { unit, .. } => format!("units of {} in the file", unit.get()),
        }
    }

    fn prepare(
        &self,
        resources: &Resources,
        _: Option<&Fitted>,
        _: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        let readings = self.read(resources)?;
        let noise = Noise::Recorded(Arc::new(Recorded::new(readings.deviations)));
        Ok(Box::new(Ready(Instance {
            inputs: Arc::new(readings.inputs),
            values: Arc::new(readings.values),
            surrogate: Surrogate {
                covariance: Covariance::new(Shape::Linear, 1.0, 1.0),
                noise_variance: noise.variance(),
                mean: self.prior_mean.get(),
            },
            noise,
            background: ProblemFacts { fitted: true, ..ProblemFacts::public(self.facts()) },
        })))
    }
}

impl Prepared for Ready {
    fn realise(&self, _: Key) -> Result<Instance, ObjectiveError> {
        Ok(self.0.clone())
    }

    fn source(&self) -> DataSource {
        DataSource::Recorded
    }
}
