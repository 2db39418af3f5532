//! Asks the programs of plans for their versions, which are part of the cells' identities.

use super::cells::{Plan, programs_of};
use crate::programs::{Program, ProgramFailure, ProgramIdentity, ProgramUse, version};
use std::path::Path;

/// Asks each program of some plans for its version, and returns the same plans with the versions in the cells' identities.
/// Starts each program once, in the folder `base` of the first plan. All plans must have the same `base`.
///
/// # Errors
/// The first [`ProgramFailure`].
pub fn ask_programs(plans: Vec<Plan>) -> Result<Vec<Plan>, ProgramFailure> {
    let cells = || plans.iter().flat_map(|plan| &plan.cells);
    let mut known = Vec::new();
    for identity in programs_of(&plans) {
        let named = cells().flat_map(|cell| cell.scenario.programs(ProgramUse::ToPlay));
        let own = named.filter(|program| program.command == identity.command);
        // The longest timeout that any cell states for this program.
        let timeout = own.map(|program| program.timeout).max().unwrap_or_else(Program::default_timeout);
        let program = Program { command: identity.command.clone(), timeout, files: Vec::new() };
        let base = plans.first().map_or(Path::new(""), |plan| &plan.base);
        known.push(ProgramIdentity { version: version(&program, base)?, ..identity });
    }
    Ok(plans.into_iter().map(|plan| plan.with_programs(&known)).collect())
}

impl Plan {
    /// Asks each program for its version, and returns the plan of the same study with the versions in the cells' identities.
    /// Starts each program once.
    ///
    /// # Errors
    /// The first [`ProgramFailure`].
    pub fn ask_programs(self) -> Result<Self, ProgramFailure> {
        Ok(ask_programs(vec![self])?.remove(0))
    }
}
