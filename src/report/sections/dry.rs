//! The report of a dry run: durations of rounds, late answers, messages.

use crate::report::document::{Block, Document, Section, Table, Visibility};
use crate::report::number::{quantity, seconds};
use crate::study::{Answers, DrySeries, Plan, Quantiles};
use crate::vocab::counted;

/// The whole report of a dry run.
pub(in crate::report) fn document(plan: &Plan, all: &[DrySeries]) -> Document {
    let replications = counted(plan.replications, "replication");
    let run = format!("{}: dry run, {replications}, seed {}", plan.name, plan.first_seed());
    let nothing = "Nothing was measured, learned or made private, and no folder was written.";
    let heading = vec![
        Block::statement(run, Visibility::Everywhere),
        Block::statement(nothing, Visibility::Everywhere),
    ];
    let mut blocks = Vec::new();
    let axes: Vec<String> = plan.cells[0].point.iter().map(|(name, _)| name.clone()).collect();
    let number = |value: Option<f64>| value.map_or_else(String::new, seconds);
    let head = |series: &DrySeries| {
        let mut row = vec![series.name.clone()];
        row.extend(series.point.iter().map(|(_, value)| value.clone()));
        row
    };
    let header = |more: &[&str]| {
        let mut header = vec!["series".to_owned()];
        header.extend(axes.iter().cloned());
        header.extend(more.iter().map(|&name| name.to_owned()));
        header
    };
    let first = 1 + axes.len();

    let rows = all.iter().map(|series| {
        let mut row = head(series);
        let of = |value: fn(&Quantiles) -> f64| number(series.rounds.as_ref().map(value));
        let closed = series.rounds.map(|rounds| quantity(rounds.count as f64 / series.replications as f64));
        row.extend([
            closed.unwrap_or_else(|| "none stated".to_owned()),
            of(|s| s.mean),
            of(|s| s.p50),
            of(|s| s.p95),
            of(|s| s.most),
        ]);
        row
    });
    let names = header(&["rounds", "mean", "p50", "p95", "longest"]);
    let title = "Virtual time of a round, from the end of the round before to the end of this round";
    blocks.push(Block::Table(Table::new(title, names, rows.collect(), first)));

    let rows = all.iter().flat_map(|series| {
        series.groups.iter().map(|answers| {
            let mut row = head(series);
            row.extend(cells(answers));
            row
        })
    });
    let names = header(&["who", "asked", "in time", "late", "missing", "p50", "p95"]);
    let title = "Answers to the requests of a round";
    blocks.push(Block::Table(Table::new(title, names, rows.collect(), first + 1)));

    let mut rows = Vec::new();
    for series in all {
        for answers in &series.latest {
            let mut row = head(series);
            row.extend(cells(answers));
            rows.push(row);
        }
    }
    if !rows.is_empty() {
        let names = header(&["who", "asked", "in time", "late", "missing", "p50", "p95"]);
        let title = "Who failed to answer in time most often";
        blocks.push(Block::Table(Table::new(title, names, rows, first + 1)));
    }

    let rows = all.iter().map(|series| {
        let mut row = head(series);
        row.extend([
            seconds(series.virtual_seconds),
            quantity(series.messages),
            quantity(series.bytes),
            quantity(series.messages_lost),
            number(series.latency_seconds.map(|[p50, _]| p50)),
            number(series.latency_seconds.map(|[_, p99]| p99)),
        ]);
        row
    });
    let names = header(&["time", "messages", "bytes", "lost", "p50", "p99"]);
    let title = "Network (mean over replications; time is virtual; p50, p99: latency of one message)";
    blocks.push(Block::Table(Table::new(title, names, rows.collect(), first)));
    for series in all.iter().filter(|series| series.rounds.is_none()) {
        blocks.push(Block::warning(format!(
            "\"{}\": no round ended; its protocol does not state when a round ends (`Rounds::closes`), or the series ended \
             before its first round did",
            series.name
        )));
    }
    for series in all {
        if let Some(reason) = &series.ended_early {
            blocks.push(Block::warning(format!("\"{}\" ended early: {reason}", series.name)));
        }
    }
    let sections = vec![Section { blocks, ..Section::default() }];
    Document { title: plan.name.clone(), heading, sections, ..Document::default() }
}

fn cells(answers: &Answers) -> Vec<String> {
    let of =
        |value: fn(&Quantiles) -> f64| answers.seconds.as_ref().map(value).map_or_else(String::new, seconds);
    let share = |part: u64| format!("{:.1} %", 100.0 * part as f64 / answers.asked as f64);
    vec![
        answers.who.clone(),
        answers.asked.to_string(),
        share(answers.in_time),
        share(answers.late),
        share(answers.missing),
        of(|s| s.p50),
        of(|s| s.p95),
    ]
}
