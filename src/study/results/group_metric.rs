//! Regrets of one group of agents, or of one cohort of users, as metrics, such as "simple_regret of phone".

use crate::protocols::GroupOutcome;
use crate::study::disk::error::FolderError;
use crate::study::disk::store::StoredRecords;
use crate::study::plan::cells::Plan;
use crate::study::results::rows::{Row, rows};
use std::collections::BTreeSet;
use thiserror::Error;

/// The name that selects the largest value of all groups in each replication, unless a group has this name.
pub const WORST: &str = "worst";

/// The regrets that groups have, named as in the report.
const REGRETS: [&str; 4] = ["simple_regret", "worst_simple_regret", "cumulative_regret", "regret_per_user"];

/// Why the requested group does not exist, or does not have the requested regret.
#[derive(Debug, Error)]
pub enum GroupError {
    /// Records cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The requested metric is not a regret, and groups have regrets only.
    #[error(
        "expected a regret that groups have ({}), found the metric {metric:?} (take one of these, or leave the group out)",
        REGRETS.join(", ")
    )]
    NotARegret {
        /// The metric.
        metric: String,
    },
    /// The series have no groups.
    #[error(
        "expected series with regrets by group, found none: agents of Federated have groups, and users of Local have cohorts if the \
         scenario names cohorts (leave the group out)"
    )]
    NoGroups,
    /// No group has this name.
    #[error("no series has a group called {group:?}: the groups are {}, or {WORST}", quoted(.known))]
    Unknown {
        /// The name.
        group: String,
        /// The names of all groups.
        known: Vec<String>,
    },
    /// The groups have regrets, but not this one.
    #[error("the groups of these series have no {metric}: they have {}", .known.join(", "))]
    Without {
        /// The metric.
        metric: String,
        /// The regrets that the groups have.
        known: Vec<String>,
    },
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<String>>().join(", ")
}

/// The name of a regret of a group, as a metric.
#[must_use]
pub fn metric_of_group(metric: &str, group: &str) -> String {
    format!("{metric} of {group}")
}

/// One regret of one group; `None` if the group evaluated nothing, or if it does not have this regret.
fn regret(metric: &str, group: &GroupOutcome) -> Option<f64> {
    let found = match metric {
        "simple_regret" => Some(group.simple_regret),
        "worst_simple_regret" => Some(group.worst_simple_regret),
        "cumulative_regret" => Some(group.cumulative_regret),
        "regret_per_user" => group.regret_per_user,
        _ => None,
    };
    found.filter(|_| group.evaluations > 0.0)
}

/// The regret `metric` of the group called `name`. If `name` is [`WORST`] and no group has this name, the largest value of
/// the regret `metric` among all groups.
fn value(groups: &[GroupOutcome], metric: &str, name: &str) -> Option<f64> {
    if let Some(group) = groups.iter().find(|group| group.group == name) {
        return regret(metric, group);
    }
    let all = groups.iter().filter(|_| name == WORST).filter_map(|group| regret(metric, group));
    all.reduce(f64::max)
}

/// The value of a metric whose name has the form that [`metric_of_group`] gives.
pub(in crate::study) fn value_called(groups: &[GroupOutcome], called: &str) -> Option<f64> {
    REGRETS.into_iter().find_map(|metric| {
        let group = called.strip_prefix(metric)?.strip_prefix(" of ")?;
        value(groups, metric, group)
    })
}

/// Every regret that a group has, by the name of its metric.
pub(in crate::study) fn values_of(groups: &[GroupOutcome], group: &str) -> Vec<(String, f64)> {
    let found = REGRETS.into_iter();
    found.filter_map(|metric| Some((metric_of_group(metric, group), value(groups, metric, group)?))).collect()
}

/// The groups that some series have, and their regrets.
#[derive(Clone, Debug, Default)]
pub(in crate::study) struct GroupsFound {
    names: Vec<String>,
    regrets: BTreeSet<&'static str>,
}

impl GroupsFound {
    pub(in crate::study) fn add(&mut self, row: &Row) {
        for group in &row.groups {
            if !self.names.contains(&group.group) {
                self.names.push(group.group.clone());
            }
            let has = |metric: &&str| *metric != "regret_per_user" || group.regret_per_user.is_some();
            self.regrets.extend(REGRETS.into_iter().filter(has));
        }
    }

    /// Checks that a group is called `group`, or that `group` is [`WORST`], and that some group has the regret `metric`.
    ///
    /// # Errors
    /// [`GroupError`].
    pub(in crate::study) fn check(&self, metric: &str, group: &str) -> Result<(), GroupError> {
        if !REGRETS.contains(&metric) {
            return Err(GroupError::NotARegret { metric: metric.to_owned() });
        }
        if self.names.is_empty() {
            return Err(GroupError::NoGroups);
        }
        if group != WORST && !self.names.iter().any(|name| name == group) {
            return Err(GroupError::Unknown { group: group.to_owned(), known: self.names.clone() });
        }
        if !self.regrets.contains(metric) {
            let known = REGRETS.into_iter().filter(|known| self.regrets.contains(known));
            return Err(GroupError::Without {
                metric: metric.to_owned(),
                known: known.map(str::to_owned).collect(),
            });
        }
        Ok(())
    }
}

/// Checks that a run has a group called `group`, or any group if `group` is [`WORST`], and that some group of the run has
/// the regret `metric`.
///
/// # Errors
/// [`GroupError`].
pub fn check_group(plan: &Plan, stored: &StoredRecords, metric: &str, group: &str) -> Result<(), GroupError> {
    let mut found = GroupsFound::default();
    for (cell, planned) in plan.cells.iter().enumerate() {
        for record in stored.in_order(cell, u64::MAX) {
            rows(cell, planned, [&record?]).iter().for_each(|row| found.add(row));
        }
    }
    found.check(metric, group)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, simple: f64, evaluations: f64) -> GroupOutcome {
        GroupOutcome {
            group: name.to_owned(),
            agents: 2,
            simple_regret: simple,
            worst_simple_regret: 2.0 * simple,
            cumulative_regret: 10.0 * simple,
            evaluations,
            regret_per_user: None,
        }
    }

    #[test]
    fn the_worst_group_is_that_with_the_largest_regret_of_those_that_have_one() {
        // The record also has regrets of a group that evaluated nothing; they do not count.
        let groups = [group("a", 0.2, 3.0), group("b of c", 0.5, 3.0), group("idle", 9.0, 0.0)];
        let value = |called: &str| value_called(&groups, called);
        assert_eq!(value("simple_regret of a"), Some(0.2));
        assert_eq!(value("worst_simple_regret of b of c"), Some(1.0));
        assert_eq!(value("cumulative_regret of worst"), Some(5.0));
        assert_eq!(value("simple_regret of idle"), None);
        assert_eq!(value("regret_per_user of a"), None);
        assert_eq!(value("simple_regret"), None);
        assert_eq!(value("bias of reported rewards"), None);
        // If a group is called "worst", the name selects that group.
        let named = [group("a", 0.2, 3.0), group("worst", 0.1, 3.0)];
        assert_eq!(value_called(&named, "simple_regret of worst"), Some(0.1));
        assert_eq!(values_of(&groups, "a").len(), 3);
    }
}
