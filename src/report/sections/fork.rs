//! The report of a fork: its branches compared with the unchanged branch.

use crate::report::document::{Block, Document, Section, Table, Visibility};
use crate::report::number::{quantity, regret, seconds};
use crate::study::{BranchRow, Forked, Plan};
use crate::vocab::counted;

/// The comparison of all branches.
pub(in crate::report) fn document(plan: &Plan, at: &str, forked: &Forked) -> Document {
    let branches = counted(forked.branches.len() as u64 - 1, "branch");
    let replications = counted(plan.replications, "replication");
    let run = format!("{}: forked {at}, {branches}, {replications}, seed {}", plan.name, plan.first_seed());
    let rows = forked.rows();
    let reached = forked.reached.iter().flatten().copied();
    let (first, last) = reached.fold((f64::INFINITY, 0.0f64), |(a, b), t| (a.min(t), b.max(t)));
    let parted = if first == last {
        format!("The branches begin at {} of virtual time.", seconds(first))
    } else {
        format!("The branches begin at {} to {} of virtual time.", seconds(first), seconds(last))
    };
    let mut heading = vec![Block::statement(run, Visibility::Everywhere)];
    if first.is_finite() {
        heading.push(Block::statement(parted, Visibility::Everywhere));
    }
    let mut blocks = Vec::new();
    let many = plan.cells.len() > 1;
    let table = |title: &str, names: &[&str], numbers: &dyn Fn(&BranchRow) -> Vec<String>| {
        let heads = [if many { &["cell"][..] } else { &[] }, &["series", "branch"]].concat();
        let header = heads.iter().chain(names).map(|&name| name.to_owned()).collect();
        let body = rows.iter().map(|row| {
            let cell = many.then(|| row.cell.to_string());
            cell.into_iter().chain([row.series.clone(), row.branch.clone()]).chain(numbers(row)).collect()
        });
        Block::Table(Table::new(title, header, body.collect(), heads.len()))
    };
    // A protocol that optimises nothing has no regret.
    if rows.iter().any(|row| row.simple_regret.is_some()) {
        blocks.push(table(
            "Regret at the end (against unchanged: difference of cumulative regret, replication by replication)",
            &["simple", "cumulative", "against unchanged"],
            &|row| {
                let against = match row.difference {
                    Some(_) if row.unchanged == plan.replications => "the same".to_owned(),
                    Some(difference) => regret(difference),
                    None => String::new(),
                };
                let regrets = [row.simple_regret, row.cumulative_regret];
                let regrets = regrets.map(|found| found.map_or_else(String::new, regret));
                regrets.into_iter().chain([against]).collect()
            },
        ));
    }
    // If branches make different numbers of queries ("questions"), their cumulative regrets cannot be compared.
    let asks_otherwise = |row: &BranchRow| {
        let alike = |other: &&BranchRow| (other.cell, &other.series) == (row.cell, &row.series);
        rows.iter().find(alike).is_some_and(|unchanged| unchanged.questions != row.questions)
    };
    if rows.iter().any(asks_otherwise) {
        blocks.push(table(
            "Branches asked different numbers of questions, so compare regret per question",
            &["questions", "regret per question"],
            &|row| {
                let asked: Vec<f64> = row.questions.iter().flatten().copied().collect();
                let asked = asked.iter().sum::<f64>() / asked.len().max(1) as f64;
                vec![format!("{asked:.2}"), row.regret_per_question.map_or_else(String::new, regret)]
            },
        ));
    }
    let title = "Network (mean over replications; time is virtual)";
    blocks.push(table(title, &["time", "messages", "lost"], &|row| {
        vec![seconds(row.virtual_seconds), quantity(row.messages), quantity(row.messages_lost)]
    }));
    for row in &rows {
        if let Some(reason) = &row.ended_early {
            blocks.push(Block::warning(format!("\"{}\", {}: ended early: {reason}", row.series, row.branch)));
        }
    }
    let sections = vec![Section { blocks, ..Section::default() }];
    Document { title: plan.name.clone(), heading, sections, ..Document::default() }
}
