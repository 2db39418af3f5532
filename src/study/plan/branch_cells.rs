//! A forked study as a study of its branches: it has every cell once for each branch.

use super::cells::{CellPlan, Plan};
use super::fork_branches::{ForkBranch, ForkBranches, UNCHANGED};
use super::identity::Identity;

/// Name of the axis whose values are the branches, unless the scenario has an axis of this name.
const AXIS: &str = "branch";

impl Plan {
    /// The name of the run folder of a fork at the moment `at`. Another moment, other branches or other
    /// settings give another name.
    #[must_use]
    pub fn fork_folder_name(&self, at: &str, branches: &[(String, Self)]) -> String {
        let mut identity = Identity::new("fork");
        identity.text(at);
        self.identities().into_iter().for_each(|cell| identity.text(cell));
        for (name, branch) in branches {
            identity.text(name);
            branch.identities().into_iter().for_each(|cell| identity.text(cell));
        }
        format!("{}{}-fork", self.folder_prefix(), &identity.hex()[..10])
    }

    /// One plan for all branches of a fork at the point `at` (in words): the cells of `base`, each followed by the same cell
    /// of every branch. Every cell gets a new identity, since a branch has other results than a run that uses the branch's
    /// settings from the start.
    ///
    /// # Panics
    /// If a branch has another number of cells than `base`.
    #[must_use]
    pub fn of_branches(base: Self, at: String, branches: Vec<(String, Self)>) -> Self {
        let mut axis = AXIS.to_owned();
        while base.cells.iter().flat_map(|cell| &cell.point).any(|(name, _)| *name == axis) {
            axis.push_str(" of the fork");
        }
        let mut all = vec![ForkBranch { name: UNCHANGED.to_owned(), overrides: base.overrides.clone() }];
        let Self { cells, .. } = base;
        let count = cells.len();
        let mut points = Vec::new();
        let mut rows: Vec<Vec<CellPlan>> = Vec::new();
        for cell in cells {
            points.push((cell.point.clone(), cell.identity.clone()));
            rows.push(vec![cell]);
        }
        for (name, branch) in branches {
            assert_eq!(branch.cells.len(), count, "a branch has as many cells as the base");
            all.push(ForkBranch { name, overrides: branch.overrides });
            rows.iter_mut().zip(branch.cells).for_each(|(row, cell)| row.push(cell));
        }
        for (row, (point, trunk)) in rows.iter_mut().zip(points) {
            for (cell, branch) in row.iter_mut().zip(&all) {
                let mut identity = Identity::new("future");
                [&at, &trunk, &cell.identity, &branch.name].into_iter().for_each(|text| identity.text(text));
                cell.identity = identity.hex();
                cell.point.clone_from(&point);
                let name = serde_json::to_string(&branch.name).expect("a text");
                cell.point.push((axis.clone(), name));
            }
        }
        Self {
            cells: rows.into_iter().flatten().collect(),
            fork: Some(ForkBranches { at, axis, branches: all }),
            ..base
        }
    }

    /// The same plan, in which the axis of the branches has this name; unchanged if the plan has no branches. If a plan is
    /// made again for a run folder, its axis thus gets the name that the folder has stored, even if [`Self::of_branches`]
    /// would choose another name.
    pub(crate) fn with_branch_axis(mut self, axis: &str) -> Self {
        if let Some(fork) = &mut self.fork {
            axis.clone_into(&mut fork.axis);
            let names = self.cells.iter_mut().filter_map(|cell| cell.point.last_mut());
            names.for_each(|(name, _)| axis.clone_into(name));
        }
        self
    }
}
