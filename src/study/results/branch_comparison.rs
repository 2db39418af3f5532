//! Compares the branches of a forked run with the unchanged branch, replication by replication.

use super::comparable::CompareError;
use super::compare::{Compared, Comparison, compare};
use crate::study::plan::fork_branches::ForkBranches;
use serde_json::Value;

/// Compares each branch of a forked run with the unchanged branch. The `point` of each row has the values of the study's
/// axes in the cells compared, and the name of the branch. `None` for a run that was not forked.
///
/// # Errors
/// [`CompareError`] if records cannot be read, or if the branches cannot be compared.
pub fn compare_branches(
    run: Compared<'_>,
    with_series: Option<&str>,
) -> Result<Option<Comparison>, CompareError> {
    let Some(ForkBranches { axis, branches, .. }) = &run.plan.fork else { return Ok(None) };
    let Some((unchanged, others)) = branches.split_first() else { return Ok(None) };
    let mut whole: Option<Comparison> = None;
    for branch in others {
        let a = Compared { branch: Some(&unchanged.name), ..run };
        let b = Compared { branch: Some(&branch.name), series: with_series, ..run };
        let mut found = compare(a, b)?;
        for row in &mut found.rows {
            row.point.insert(axis.clone(), Value::String(branch.name.clone()));
        }
        match &mut whole {
            Some(whole) => {
                whole.rows.append(&mut found.rows);
                found.notes.retain(|note| !whole.notes.contains(note));
                whole.notes.append(&mut found.notes);
            }
            None => whole = Some(found),
        }
    }
    Ok(whole.map(|mut whole| {
        whole.a = format!("{}, {axis} \"{}\"", run.name, unchanged.name);
        let names: Vec<String> = others.iter().map(|branch| format!("\"{}\"", branch.name)).collect();
        whole.b = format!("{}, {axis} {}", run.name, names.join(", "));
        // So far, p-values were adjusted within each branch only; here they are adjusted for all
        // branches together.
        whole.adjust();
        whole
    }))
}
