//! The section on outcomes: numbers at the end of a series, with theorems' bounds on them.

use super::cells::rows;
use super::lines::capital;
use super::nonresponse_bias;
use super::outcome_charts;
use crate::report::document::{Block, Section};
use crate::report::number::{percent, quantity_of, regret};
use crate::report::words::outcome;
use crate::study::{OutcomeRow, Summary};

/// The section, with charts if `charts` is true; `None` if no series has outcomes.
pub(super) fn section(summary: &Summary, charts: bool) -> Option<Section> {
    let mut blocks = tables(summary);
    if blocks.is_empty() {
        return None;
    }
    blocks.splice(0..0, nonresponse_bias::statements(summary));
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.outcomes);
    let bounded = all.any(|outcome| group(&outcome.name).is_none() && outcome.bound.is_some());
    if charts {
        blocks.extend(outcome_charts::figures(summary).into_iter().map(Block::Figure));
    }
    let title = if bounded { "Outcomes and their bounds" } else { "Outcomes" };
    Some(Section::new("outcomes", "Outcomes", title, blocks))
}

/// Explanations of groups of outcomes, by the name that the outcomes of a group share before ": ".
const NOTES: [(&str, &str); 6] = [
    (
        "share of answers heard by simple regret",
        "The agents are sorted by their simple regret at the end and cut into four groups of equal size, from the lowest to \
         the highest regret. The numbers are the shares of the answers due from each group that the server had when it \
         closed a round, or that came late and entered the next sum. An agent that is reached less often also measures less, which raises its \
         regret.",
    ),
    (
        "Records of agents",
        "Distances are means over all pairs of agents: of the shares of classes (total variation and Jensen-Shannon, 0 to 1), \
         and of the means of features in standard deviations. For the reader of this simulation: no party learns them.",
    ),
    (
        "Functions of agents",
        "All values are those of round 0. correlation: of two agents' functions over the points, mean of all pairs. \
         regret at the common optimum: the regret of an agent's own function at the point that is best for the mean of \
         all functions, mean over agents. value lost at other points: the best value of an agent's function over all \
         points minus the best over its own points, mean over agents; regret does not contain this difference. common \
         points: the share of an agent's points that another agent has too, mean of all pairs. For the reader of this \
         simulation: no party learns them.",
    ),
    (
        "Overlap of domains",
        "share of the domain: the share of all points that are common. With `CommonPoints`, a point is common if at \
         least the stated share of agents can measure it: agents follow sums only to common points. With \
         `CoveredRegions`, a point is common if the sum of its region contains all agents. share of own points lost: of \
         the points that an agent can measure, the share that is not common or (`CoveredRegions`) whose region has a sum \
         without this agent. value lost at other points: the best value of an agent's function over its own points \
         minus the best over its own common points, in round 0, mean over agents that follow sums anywhere. agents in \
         a sum: how many agents the sum of a region contains.",
    ),
    (
        "PO-GP-UCB's design rule",
        "Computed from the inputs for the reader of this simulation: no party learns it, and it is no release. Whoever chooses \
         r by it reveals something about the inputs for which the ledger does not account. lifted: 1 if sigma_min < omega; C': the \
         constant C' of Theorem 2; largest r: the largest r at which no singular value is lifted, 0 if there is none.",
    ),
    (
        "PO-GP-UCB's Theorem 3",
        "r required: the smallest r for which there is an epsilon_ucb. dominant up to outcome: number of outcomes, \
         from the first on, for which the covariance of the queried rows is diagonally dominant (Definition 3). Terms: \
         the square roots of the bound's summands, with constant 1 in C1 and C2; epsilon_ucb is empty where r allows \
         none. assumptions hold: 1 if every assumption holds in every run; only then is the bound shown.",
    ),
];

/// The group of an outcome and its name within it, such as "rule" and "a" of "rule: a"; `None` for an outcome without a
/// group.
fn group(name: &str) -> Option<(&str, &str)> {
    name.split_once(": ")
}

/// A number as text. A whole number below 1e5, such as a count or a flag, has no decimal places; any other number is
/// written by `quantity_of`.
fn whole_or(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e5 { format!("{value}") } else { quantity_of(value) }
}

/// A table of a group's outcomes side by side, without standard errors, and the explanation of the group.
fn side_by_side(summary: &Summary, of: &str, names: &[&str]) -> Vec<Block> {
    let members: Vec<&str> =
        names.iter().copied().filter(|name| group(name).is_some_and(|(first, _)| first == of)).collect();
    let found = rows(summary, |_, series| {
        let value = |name: &&str| {
            let found = series.outcomes.iter().find(|outcome| outcome.name == *name);
            found.map_or_else(String::new, |outcome| whole_or(outcome.value.mean))
        };
        let exact: Vec<_> = members
            .iter()
            .map(|name| series.outcomes.iter().find(|outcome| outcome.name == *name).cloned())
            .collect();
        (exact, members.iter().map(value).collect())
    })
    .filled();
    let same = found.remark();
    let columns = members.iter().filter_map(|name| Some(group(name)?.1));
    let mut blocks = vec![Block::Table(found.table(format!("{of} (means over replications)"), columns))];
    let note = NOTES.iter().find(|(known, _)| *known == of).map(|(_, note)| Block::remark(*note));
    blocks.extend(same.into_iter().chain(note));
    blocks
}

/// One table for each outcome without a group and one for each group, in the order in which they first occur. Remarks below
/// a table state the sources of bounds, or explain the group.
fn tables(summary: &Summary) -> Vec<Block> {
    let all = || summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.outcomes);
    let mut names: Vec<&str> = Vec::new();
    for outcome in all() {
        if !names.contains(&outcome.name.as_str()) {
            names.push(&outcome.name);
        }
    }
    let table = |name: &str| {
        let here = || all().filter(|outcome| outcome.name == name);
        let bounded = here().any(|outcome| outcome.bound.is_some());
        // Series without this outcome are left out.
        let found = rows(summary, |_, series| {
            let found = series.outcomes.iter().find(|outcome| outcome.name == name);
            (found.cloned(), numbers(found, bounded))
        })
        .filled();
        let same = found.remark();
        let mut columns = vec!["mean"];
        if bounded {
            columns.extend(["bound", "holds for", "held in"]);
        }
        let mut sources: Vec<&str> = Vec::new();
        for bound in here().filter_map(|row| row.bound.as_ref()) {
            if !sources.contains(&bound.source.as_str()) {
                sources.push(&bound.source);
            }
        }
        let words = outcome(name);
        let formula = if words == name { String::new() } else { format!("{name}; ") };
        let title = format!("{} ({formula}mean ± standard error over replications)", capital(words));
        let mut blocks = vec![Block::Table(found.table(title, columns))];
        let bound = (!sources.is_empty()).then(|| Block::remark(format!("bound: {}", sources.join("; "))));
        blocks.extend(bound.into_iter().chain(same));
        blocks
    };
    let mut groups: Vec<&str> = Vec::new();
    let mut blocks = Vec::new();
    for name in &names {
        match group(name) {
            Some((of, _)) if groups.contains(&of) => {}
            Some((of, _)) => {
                groups.push(of);
                blocks.extend(side_by_side(summary, of, &names));
            }
            None => blocks.extend(table(name)),
        }
    }
    blocks
}

fn numbers(row: Option<&OutcomeRow>, bounded: bool) -> Vec<String> {
    let mut cells = vec![row.map_or_else(String::new, |row| regret(row.value))];
    if bounded {
        let bound = row.and_then(|row| row.bound.as_ref());
        cells.extend(bound.map_or_else(
            || vec![String::new(); 3],
            |bound| vec![quantity_of(bound.at_most), percent(bound.probability), percent(bound.held)],
        ));
    }
    cells
}
