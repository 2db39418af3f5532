//! Checks a scenario, and prints the memory and time that a run takes, or what is wrong with the scenario.

use serde_json::json;
use std::error::Error;
use std::path::Path;
use subrosa::objectives::{Resources, RunLimits};
use subrosa::scenario::{Diagnostics, Document};
use subrosa::study::Plan;
use subrosa::vocab::Memory;

/// A scenario that is estimated to take more memory is refused: 2 GiB, half of what a WebAssembly program can have.
const MOST_MEMORY: Memory = Memory(2 << 30);

/// The plan of a scenario file. Paths in the scenario are relative to the file's folder.
pub(crate) fn plan(file: &Path) -> Result<Plan, Diagnostics> {
    let document = Document::load(file)?;
    let base = file.parent().unwrap_or(Path::new("")).to_owned();
    let limits = RunLimits { memory: MOST_MEMORY, threads: 1 };
    let resources = Resources { base, limits, ..Resources::default() };
    let cells = document.cells(&[], &resources)?;
    Ok(Plan::new(document.ron()?, Vec::new(), &resources, cells))
}

/// Prints what is wrong with a scenario, as `subrosa check` does.
pub(crate) fn refuse(diagnostics: &Diagnostics) {
    println!(
        "{}",
        json!({ "kind": "refused", "problems": diagnostics.json(), "text": diagnostics.render() })
    );
}

/// Checks a scenario, and prints its counts with the memory and time that a run takes.
pub(crate) fn check(file: &Path) -> Result<(), Box<dyn Error>> {
    let plan = match plan(file) {
        Ok(plan) => plan,
        Err(diagnostics) => {
            refuse(&diagnostics);
            return Ok(());
        }
    };
    let needs = plan.needs(1);
    println!(
        "{}",
        json!({
            "kind": "valid",
            "name": plan.name,
            "cells": plan.cells.len(),
            "replications": plan.replications,
            "seed": plan.first_seed(),
            "bytes": needs.bytes,
            "seconds": needs.seconds,
            "fork": plan.cells[0].scenario.draft().fork.is_some(),
        })
    );
    Ok(())
}
