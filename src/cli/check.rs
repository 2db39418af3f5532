//! `subrosa check`: say all that is wrong with a scenario, run nothing.

use super::exit::Exit;
use super::load::load;
use super::options::{CheckArguments, Format};
use super::output::print;
use crate::vocab::counted;

/// Checks.
pub(super) fn check(arguments: &CheckArguments) -> Exit {
    let plan = match load(&arguments.scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let (cells, replications) = (plan.cells.len(), plan.replications);
    match arguments.scenario.format {
        Format::Text => {
            print(&format!(
                "{}: valid; {} of {}, seed {}\n",
                arguments.scenario.scenario.display(),
                counted(cells as u64, "cell"),
                counted(replications, "replication"),
                plan.first_seed()
            ));
        }
        Format::Json => {
            let document = serde_json::json!({
                "valid": true, "scenario": plan.name, "cells": cells, "replications": replications,
                "seed": plan.first_seed(), "diagnostics": [],
            });
            print(&format!("{document}\n"));
        }
    }
    Exit::Ok
}
