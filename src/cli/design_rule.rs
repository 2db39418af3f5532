//! `subrosa calibrate --scenario`: the largest r of every projection of a scenario at which no singular value is lifted.

use super::exit::Exit;
use super::load::load;
use super::options::{CalibrateArguments, Format, ScenarioArguments};
use super::output::{print, say};
use crate::privacy::mechanisms::MechanismError;
use crate::protocols::outsourced::{ColumnsRow, Outsourced};
use crate::report;
use crate::study::{CellRunner, Failure, Plan};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// One projection of one cell.
#[derive(Serialize)]
struct Found {
    point: BTreeMap<String, String>,
    #[serde(flatten)]
    row: ColumnsRow,
}

/// Prints the rule for each projection of the scenario, for the inputs of the first replication.
pub(super) fn columns(scenario: &Path, arguments: &CalibrateArguments) -> Exit {
    let scenario = ScenarioArguments {
        scenario: scenario.to_owned(),
        overrides: arguments.overrides.clone(),
        seed: None,
        data: arguments.data.clone(),
        replications: None,
        format: arguments.format,
    };
    let plan = match load(&scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let found = match found(&plan) {
        Ok(found) => found,
        Err(reason) => {
            say(format_args!("error: {reason}"));
            return Exit::Internal;
        }
    };
    if found.is_empty() {
        say(format_args!(
            "error: {} has no series with release: JohnsonLindenstrauss(..), whose r could be chosen",
            scenario.scenario.display()
        ));
        return Exit::Usage;
    }
    match arguments.format {
        Format::Json => print(&report::json(&found)),
        Format::Text => print(&text(&found)),
    }
    Exit::Ok
}

/// What a cell's first replication is about, by the rule.
fn found(plan: &Plan) -> Result<Vec<Found>, Failure> {
    let mut all = Vec::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        let Some(recipe) = cell.scenario.draft().protocol.get::<Outsourced>() else { continue };
        let (stage, _) = CellRunner::without_folder(index, cell, plan).world(0)?;
        let Some(instance) = &stage.instance else { continue };
        let point: BTreeMap<String, String> = cell.point.iter().cloned().collect();
        let failed = |error: MechanismError| Failure {
            cell: index,
            point: cell.point.clone(),
            replication: Some(0),
            reason: error.to_string(),
        };
        let rows = recipe.columns(instance).map_err(failed)?;
        all.extend(rows.into_iter().map(|row| Found { point: point.clone(), row }));
    }
    Ok(all)
}

fn text(found: &[Found]) -> String {
    let mut out = String::new();
    for Found { point, row } in found {
        let place: String = point.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
        let largest = row
            .largest_r
            .map_or_else(|| "none: a larger epsilon or delta would be needed".to_owned(), |r| r.to_string());
        writeln!(
            out,
            "{}{place}: largest r {largest} (sigma_min {:.2}; omega {:.2} at r = {})",
            row.series, row.sigma_min, row.omega, row.r
        )
        .expect("writing to memory does not fail");
    }
    out.push_str(
        "\nr is chosen by the inputs here: it is a function of them, and no release in the ledger accounts for it. Whoever \
         learns r learns whether sigma_min reaches omega.\n",
    );
    out
}
