//! `subrosa calibrate --scenario`: for every projection of a scenario, the largest number of columns r at which no
//! singular value of the inputs is lifted. The singular values are lifted, that is, increased, if the smallest of them,
//! sigma_min, is below a threshold omega, which depends on r.

use super::exit::Exit;
use super::load::load_to;
use super::options::{CalibrateArguments, Format, ScenarioArguments};
use super::output::{eprint_line, print, width};
use super::programs;
use crate::privacy::mechanisms::MechanismError;
use crate::programs::ProgramUse;
use crate::protocols::outsourced::{ColumnsRow, Outsourced};
use crate::report;
use crate::study::{CellRunner, Failure, Plan};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// One projection of one cell.
#[derive(Serialize)]
struct ProjectionRow {
    point: BTreeMap<String, String>,
    #[serde(flatten)]
    row: ColumnsRow,
}

/// Prints the largest r for each projection of the scenario, computed from the inputs of the first replication.
pub(super) fn columns(scenario: &Path, arguments: &CalibrateArguments) -> Exit {
    let scenario = ScenarioArguments {
        overrides: arguments.overrides.clone(),
        data: arguments.data.clone(),
        format: arguments.format,
        ..ScenarioArguments::of(scenario)
    };
    // As in an audit, only the programs of the objective are started.
    let plan = match load_to(&scenario, ProgramUse::ToAudit, None) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    programs::announce_to(&plan, ProgramUse::ToAudit);
    let found = match found(&plan) {
        Ok(found) => found,
        Err(reason) => {
            eprint_line(format_args!("error: {reason}"));
            return Exit::Internal;
        }
    };
    if found.is_empty() {
        eprint_line(format_args!(
            "error: {} has no series with `release: JohnsonLindenstrauss(..)`, so there is no r to choose",
            scenario.scenario.display()
        ));
        return Exit::Usage;
    }
    match arguments.format {
        Format::Json => print(&report::json(&found)),
        Format::Text => print(&text(&found, arguments.all, width())),
    }
    Exit::Ok
}

/// The design rule applied to every projection of every cell, with the inputs of the cell's first replication.
fn found(plan: &Plan) -> Result<Vec<ProjectionRow>, Failure> {
    let mut all = Vec::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        let Some(recipe) = cell.scenario.draft().protocol.get::<Outsourced>() else { continue };
        let (stage, _) = CellRunner::without_folder(index, cell, plan).replication_setup(0)?;
        let Some(instance) = &stage.instance else { continue };
        let point: BTreeMap<String, String> = cell.point.iter().cloned().collect();
        let failed = |error: MechanismError| Failure {
            cell: index,
            point: cell.point.clone(),
            replication: Some(0),
            reason: error.to_string(),
            interrupted: false,
        };
        let rows = recipe.columns(instance).map_err(failed)?;
        all.extend(rows.into_iter().map(|row| ProjectionRow { point: point.clone(), row }));
    }
    Ok(all)
}

/// A table with one line for each distinct result. A line has the largest r, sigma_min, the thresholds omega at this r and
/// at the next larger r, and the number of projections with this result. With `all`, also a table with one line for each
/// projection.
fn text(found: &[ProjectionRow], all: bool, width: usize) -> String {
    let mut answers: Vec<(&ColumnsRow, Vec<&ProjectionRow>)> = Vec::new();
    for one in found {
        let row = &one.row;
        let same = |other: &ColumnsRow| {
            (other.largest_r, other.sigma_min, other.omega_at_next)
                == (row.largest_r, row.sigma_min, row.omega_at_next)
        };
        match answers.iter_mut().find(|(other, _)| same(other)) {
            Some((_, those)) => those.push(one),
            None => answers.push((row, vec![one])),
        }
    }
    let header = ["largest r", "sigma_min", "omega at this r", "omega at the next r", "projections"];
    let mut table = Vec::new();
    for (row, those) in &answers {
        table.push(vec![
            row.largest_r.map_or_else(|| "none".to_owned(), |r| r.to_string()),
            format!("{:.2}", row.sigma_min),
            row.omega_at_largest.map_or_else(String::new, |omega| format!("{omega:.2}")),
            format!("{:.2}", row.omega_at_next),
            those.len().to_string(),
        ]);
    }
    let mut out = report::plain_table(header.map(str::to_owned).to_vec(), table, width);
    let mut tell = |said: &str| out.push_str(&report::message(said, width));
    if answers.iter().any(|(row, _)| row.largest_r.is_none()) {
        tell("none: values are lifted even at r = 1; a larger epsilon or delta would be needed");
    }
    if all {
        let header = ["projection", "r", "omega", "largest r"];
        let mut list = Vec::new();
        for ProjectionRow { point, row } in found {
            let place: String = point.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
            let largest = row.largest_r.map_or_else(|| "none".to_owned(), |r| r.to_string());
            let omega =
                format!("{:.2}{}", row.omega, if row.sigma_min < row.omega { ", lifted" } else { "" });
            list.push(vec![format!("{}{place}", row.series), row.r.to_string(), omega, largest]);
        }
        out.push('\n');
        out.push_str(&report::plain_table(header.map(str::to_owned).to_vec(), list, width));
    } else {
        tell("each projection's own r and omega: --all");
    }
    out.push('\n');
    out.push_str(&report::message(
        "The largest r depends on the inputs, and no release in the ledger accounts for that. Whoever \
         learns r learns that sigma_min lies between omega at r and omega at the next r.",
        width,
    ));
    out
}
