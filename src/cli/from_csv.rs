//! Makes a commented scenario from the user's CSV file: `subrosa new SYSTEM --csv FILE --output COLUMN`.

use super::csv_columns::{Columns, Gaps};
use crate::gp::MAX_ARMS;
use crate::objectives::CsvTable;
use crate::scenario::closest;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The arguments of `subrosa new` with --csv.
pub(super) struct CsvArguments<'a> {
    pub(super) system: &'a str,
    pub(super) csv: &'a Path,
    pub(super) output: &'a str,
    /// The scenario file to write.
    pub(super) file: &'a Path,
}

/// Why no scenario can be made from a CSV file.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoScenario {
    #[error(transparent)]
    Table(#[from] crate::objectives::TableError),
    #[error("{file} has no column \"{column}\": {cure}")]
    NoColumn { file: PathBuf, column: String, cure: String },
    #[error(
        "{file}: column \"{column}\" holds {found}: name a column of numbers with --output, or let `subrosa new release` tune a \
         classifier that predicts it"
    )]
    NotNumbers { file: PathBuf, column: String, found: String },
    #[error(
        "{file}: column \"{column}\" has {found}: fill in what is missing, drop such rows, or name another column with --output"
    )]
    Missing { file: PathBuf, column: String, found: String },
    #[error(
        "{file}: column \"{column}\" has {values} different texts in {rows} rows, too many for a class: name a column with few \
         values, such as yes and no"
    )]
    TooManyClasses { file: PathBuf, column: String, values: usize, rows: usize },
    #[error("{file}: column \"{column}\" is the same in every row: name one that varies with --output")]
    Constant { file: PathBuf, column: String },
    #[error("{file}: no other column than \"{column}\" can be an input: {}", left_out.join("; "))]
    NoInputs { file: PathBuf, column: String, left_out: Vec<String> },
    #[error(
        "{file} has {rows} rows, and the agents of a federation search at most {MAX_ARMS}: keep a part of the rows, or let \
         `subrosa new local` or `subrosa new outsourced` search all of them"
    )]
    TooManyRows { file: PathBuf, rows: usize },
}

/// A scenario that was made from a CSV file.
pub(super) struct Made {
    /// The scenario's text.
    pub(super) text: String,
    /// The columns that are neither inputs nor the output, each with the reason.
    pub(super) left_out: Vec<String>,
}

/// The scenario's text, and the columns that it leaves out.
///
/// # Errors
/// [`NoScenario`]: the file cannot be read or has too many rows; no column can be an input; or the output column is missing,
/// is constant, has no numbers where the system needs them, has texts among its numbers, or has too many different texts.
pub(super) fn scenario(wanted: &CsvArguments<'_>) -> Result<Made, NoScenario> {
    let table = CsvTable::read(wanted.csv)?;
    let (file, column) = (wanted.csv.to_owned(), wanted.output.to_owned());
    if !table.names().contains(&column) {
        let cure = match closest(&column, table.names()) {
            Some(near) => format!("did you mean --output {near:?}?"),
            None => format!("it has {}", table.names().join(", ")),
        };
        return Err(NoScenario::NoColumn { file, column, cure });
    }
    let found = Columns::of(&table, wanted.output);
    if found.inputs.is_empty() {
        return Err(NoScenario::NoInputs { file, column, left_out: found.left_out });
    }
    if wanted.system == "federated" && found.rows > MAX_ARMS {
        return Err(NoScenario::TooManyRows { file, rows: found.rows });
    }
    let mut text = opening(wanted, &found);
    match wanted.system {
        "release" => text.push_str(&release(wanted, &table, &found)?),
        system => {
            let Ok(cells) = table.numbers_and_gaps(wanted.output) else {
                let found = Gaps::of(&table, wanted.output)?.map_or_else(String::new, |gaps| gaps.told());
                return Err(NoScenario::NotNumbers { file, column, found });
            };
            let numbers: Vec<f64> = cells.iter().copied().flatten().collect();
            if numbers.iter().all(|&number| number.to_bits() == numbers[0].to_bits()) {
                return Err(NoScenario::Constant { file, column });
            }
            text.push_str(&search(system, wanted, &found, numbers.len() < cells.len()));
        }
    }
    Ok(Made { text, left_out: found.left_out })
}

/// A text as a RON string in quotation marks.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

fn list(names: &[String]) -> String {
    format!("[{}]", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
}

/// The path of the CSV file, as the scenario names it. Relative paths in a scenario begin at the scenario's folder. So the
/// path is left as given if the scenario is written to the current folder, and made absolute otherwise.
fn path_from(wanted: &CsvArguments<'_>) -> String {
    let here = wanted.file.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    let path = match wanted.csv.canonicalize() {
        Ok(absolute) if !here => absolute,
        _ => wanted.csv.to_owned(),
    };
    path.display().to_string()
}

/// The beginning of the scenario: comments, name, seed and replications.
fn opening(wanted: &CsvArguments<'_>, found: &Columns) -> String {
    let file = wanted.file.display();
    let stem =
        wanted.csv.file_stem().map_or_else(|| "data".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let plain: String =
        stem.chars().filter(|letter| letter.is_alphanumeric() || "-_.".contains(*letter)).collect();
    let mut text = format!(
        "// {} rows of {}, made into a scenario by `subrosa new`. Change what you like, then:\n//\n//   subrosa check {file}\n\
         //   subrosa run {file}\n//   subrosa list                 everything that a scenario may name\n",
        found.rows,
        wanted.csv.display().to_string().escape_debug()
    );
    if !found.left_out.is_empty() {
        text.push_str("// Columns that are not inputs:\n");
    }
    for column in &found.left_out {
        let _ = writeln!(text, "//   {column}");
    }
    let _ = writeln!(
        text,
        "Scenario(\n    name: {},\n    // Same version, scenario and seed: same results, digest included.\n    seed: 1,\n    \
         replications: 10,\n",
        quoted(&format!("{}-{plain}", wanted.system))
    );
    text
}

const NETWORK: &str =
    "default: Link(latency: LogNormal(median: \"40ms\", sigma: 0.5), loss: Independent(0.02)),";

/// The rest of a scenario of a system that searches for the row with the best output: every system but `release`.
fn search(system: &str, wanted: &CsvArguments<'_>, found: &Columns, no_outcome: bool) -> String {
    let (parties, hub) = match system {
        "local" => (r#""service": Party(), "users": Party()"#, "service"),
        "federated" => (r#""server": Party(), "agent": Party(count: 20)"#, "server"),
        _ => (r#""curator": Party(), "modeler": Party()"#, "curator"),
    };
    // Agents and users may query a row repeatedly; without noise every repetition would return the same number.
    let noise = if system == "outsourced" {
        ""
    } else {
        "\n        // Noise of a measurement, in standard deviations of the output.\n        noise_sd: 0.1,"
    };
    let objective = format!(
        "    // Every row is an arm: which one has the largest {output}?\n    objective: Table(\n        file: {file},\n        \
         inputs: {inputs},{missing}\n        output: Column({column}),\n        // Or Minimise.\n        goal: Maximise,{noise}\n        \
         // A model that is stated, not fitted, reveals nothing about the data. Length-scales are in standard\n        \
         // deviations of each input, variances in squared standard deviations of the output. Centres and units of inputs\n        \
         // and output are computed from the data and taken as public; `subrosa list InputScale` says how to state them.\n        \
         hyperparameters: Given(length_scales: [{scales}], variance: 1, noise_variance: 0.1),\n    ),\n",
        output = wanted.output.escape_debug(),
        file = quoted(&path_from(wanted)),
        inputs = list(&found.inputs),
        missing = one_hot_and_missing(found, no_outcome),
        column = quoted(wanted.output),
        scales = vec!["1"; found.width].join(", "),
    );
    let protocol = match system {
        "local" => LOCAL.to_owned(),
        "federated" => FEDERATED.to_owned(),
        _ => OUTSOURCED.replace("COLUMNS", &found.width.min(3).to_string()),
    };
    format!(
        "    parties: {{ {parties} }},\n    network: Network(\n        topology: Star(hub: \"{hub}\"),\n        {NETWORK}\n    ),\n\n\
         {objective}\n{protocol})\n"
    )
}

/// The scenario's lines on categories and on missing cells, each after a line break; only those that the file needs.
fn one_hot_and_missing(found: &Columns, no_outcome: bool) -> String {
    let mut lines = String::new();
    if !found.one_hot.is_empty() {
        let _ = write!(
            lines,
            "\n        // Each text of these columns is an input of its own: 1 in the rows that have it, 0 elsewhere.\n        \
             one_hot: {},",
            list(&found.one_hot)
        );
    }
    if found.gaps {
        lines.push_str(
            "\n        // A missing input is replaced by the column's mean. `Drop` leaves out such rows instead.\n        \
             missing: Mean,",
        );
    } else if no_outcome {
        lines.push_str("\n        // Rows without an outcome are left out.\n        missing: Drop,");
    }
    lines
}

/// The rest of a scenario of `release`: a classifier that predicts the output is tuned, and its best setting is published.
fn release(wanted: &CsvArguments<'_>, table: &CsvTable, found: &Columns) -> Result<String, NoScenario> {
    let column = quoted(wanted.output);
    let all_cells = table.texts_and_gaps(wanted.output)?;
    let cells: Vec<&str> = all_cells.iter().copied().flatten().collect();
    let label = match table.numbers_and_gaps(wanted.output) {
        Ok(numbers) if !cells.is_empty() => {
            let mut numbers: Vec<f64> = numbers.into_iter().flatten().collect();
            numbers.sort_by(f64::total_cmp);
            let middle = numbers[(numbers.len() - 1) / 2];
            let last = numbers[numbers.len() - 1];
            let below = numbers.iter().rev().find(|&&number| number < last).copied();
            let Some(below) = below else {
                return Err(NoScenario::Constant {
                    file: wanted.csv.to_owned(),
                    column: wanted.output.to_owned(),
                });
            };
            // Records above the threshold form one class. This class would be empty if the threshold were the largest value.
            format!("Above(column: {column}, threshold: {:?})", middle.min(below))
        }
        Ok(_) | Err(_) => {
            let (file, name) = (|| wanted.csv.to_owned(), || wanted.output.to_owned());
            // A column of numbers in which some cells are texts does not name classes.
            let gaps = Gaps::of(table, wanted.output)?.filter(Gaps::in_numbers);
            if let Some(gaps) = gaps.filter(|_| !cells.is_empty()) {
                return Err(NoScenario::Missing { file: file(), column: name(), found: gaps.told() });
            }
            let mut counts = std::collections::BTreeMap::new();
            for cell in &cells {
                *counts.entry(*cell).or_insert(0_usize) += 1;
            }
            if counts.len() < 2 {
                return Err(NoScenario::Constant { file: file(), column: name() });
            }
            if 2 * counts.len() > cells.len() {
                let (values, rows) = (counts.len(), cells.len());
                return Err(NoScenario::TooManyClasses { file: file(), column: name(), values, rows });
            }
            let most = counts.iter().max_by_key(|(_, count)| **count).map_or("", |(cell, _)| *cell);
            format!("Equals(column: {column}, value: {})", quoted(most))
        }
    };
    let more = one_hot_and_missing(found, cells.len() < all_cells.len());
    let more = more.replace("the column's mean", "the mean over the training records");
    let (inputs, file) = (list(&found.inputs) + "," + &more, quoted(&path_from(wanted)));
    Ok(filled(RELEASE, &[("NETWORK", NETWORK), ("LABEL", &label), ("INPUTS", &inputs), ("FILE", &file)]))
}

/// A template in which each placeholder is replaced by its value; `values` has pairs (placeholder, value). A
/// placeholder's name that occurs inside a value is not replaced.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let (mut text, mut rest) = (String::new(), template);
    let next = |rest: &str| {
        let found = values.iter().filter_map(|&(word, value)| Some((rest.find(word)?, word, value)));
        found.min_by_key(|&(at, ..)| at)
    };
    while let Some((at, word, value)) = next(rest) {
        text.push_str(&rest[..at]);
        text.push_str(value);
        rest = &rest[at + word.len()..];
    }
    text + rest
}

const OUTSOURCED: &str = r#"    protocol: Outsourced(
        curator: "curator",
        modeler: "modeler",
        rounds: 30,
        // All series have the same functions and network, so that they can be compared.
        series: [
            // Both inputs and outcomes are made private. `range` is in standard deviations of the output.
            Series(
                name: "private",
                // Each(name, values) may stand in place of any value; the scenario is then a study with a cell for each of these values.
                release: NoisyRows(epsilon: Each("epsilon", [1.0, 3.0, 10.0]), delta: 1e-5),
                outcomes: ClippedLaplace(epsilon: Each("epsilon", [1.0, 3.0, 10.0]), range: Range(low: -3, high: 3)),
                // An outcome is released once, so an arm is asked for once: asking again would return the same answer.
                learner: GpUcb(exclude_played: true),
            ),
            // The inputs are projected at random, as in PO-GP-UCB; outcomes are sent without noise for privacy.
            Series(
                name: "PO-GP-UCB",
                release: JohnsonLindenstrauss(epsilon: Each("epsilon", [1.0, 3.0, 10.0]), delta: 1e-5, r: COLUMNS),
                learner: GpUcb(),
            ),
            // Baselines: without protection, and without learning.
            Series(name: "non-private", release: Disclosure, learner: GpUcb),
            Series(name: "random", release: Withheld, learner: Random),
        ],
    ),
"#;

const LOCAL: &str = r#"    protocol: Local(
        service: "service",
        users: "users",
        rounds: 500,
        // All series serve the same users, with the same noise, so that they can be compared.
        series: [
            // Each(name, values) may stand in place of any value; the scenario is then a study with a cell for each of these values.
            // `bound` is in standard deviations of the output: rewards beyond it are clipped.
            Series(
                name: "private reports",
                report: Ctl(epsilon: Each("epsilon", [0.5, 1.0, 2.0]), bound: 3),
                learner: GpUcb(beta: Constant(beta: 2)),
            ),
            // Baselines: without protection, and without learning.
            Series(name: "non-private", report: Disclosure, learner: GpUcb(beta: Constant(beta: 2))),
            Series(name: "random", report: Disclosure, learner: Random),
        ],
    ),
"#;

const FEDERATED: &str = r#"    // Agents search the same table, each with a small deviation of its own (`perturbation`). Where the file has records
    // of several agents, let each tune a model on its own records: `subrosa list FederatedTuning`.
    protocol: Federated(
        server: "server",
        groups: [AgentGroup(members: "agent")],
        rounds: 15,
        initial_points: 5,
        features: 40,
        perturbation: 0.05,
        series: [
            Series(name: "alone", sharing: Alone, policy: Deadline(after: "3s")),
            // Each(name, values) may stand in place of any value; the scenario is then a study with a cell for each of these values.
            Series(
                name: "DP-FTS",
                sharing: Aggregate(
                    clip: 8,
                    noise_multiplier: Each("noise", [1.0, 2.0]),
                    participation: Poisson(0.25),
                    weights: Uniform,
                ),
                policy: Deadline(after: "3s"),
            ),
            Series(name: "no noise", sharing: Aggregate(weights: Uniform), policy: Deadline(after: "3s")),
        ],
    ),
    privacy: Privacy(delta: 1e-3),
"#;

const RELEASE: &str = r#"    parties: { "owner": Party(), "reader": Party() },
    network: Network(
        topology: Star(hub: "owner"),
        NETWORK
    ),

    // A classifier is trained for each strength of regularisation; which strength predicts best on the validation half?
    objective: Tuning(
        file: FILE,
        inputs: INPUTS
        // The class that is predicted.
        label: LABEL,
        training: LogisticRegression,
        loss: Ramp,
        lambda_min: 0.01,
        lambda_max: 1,
        settings: 10,
    ),

    protocol: Release(
        owner: "owner",
        readers: ["reader"],
        rounds: 10,
        series: [
            // Every setting is tried, and one is chosen privately. The privacy guarantee holds for every loss function that is bounded.
            // Each(name, values) may stand in place of any value; the scenario is then a study with a cell for each of these values.
            Series(name: "fixed grid", publication: FixedGrid(epsilon: Each("epsilon", [0.1, 1.0, 10.0]))),
            // Baselines: without protection, and without any release.
            Series(name: "non-private", publication: NonPrivate(learner: GpUcb)),
            Series(name: "blind", publication: Blind),
        ],
    ),
    privacy: Privacy(delta: 1e-6),
)
"#;
