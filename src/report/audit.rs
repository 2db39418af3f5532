//! What an audit found: a page of text per finding, a table of several, JSON, and a picture of the two distributions.

use super::number::{delta, epsilon, quantity_of};
use super::plots::{Axis, Chart, Kind, Line, Point};
use super::text::{table, wrapped};
use crate::privacy::audit::{Finding, Histogram, World};
use serde_json::{Value, json};

/// One finding in full, at most 80 columns.
#[must_use]
pub fn audit_text(finding: &Finding) -> String {
    let (statement, evidence) = (&finding.statement, &finding.evidence);
    let mut out = String::new();
    wrapped(&mut out, 0, &format!("{}: {}", statement.name, statement.about));
    // Padding that `wrapped` does not take for a space between words.
    let mut row = |label: &str, text: &str| {
        let padding = PAD.repeat(12usize.saturating_sub(label.chars().count()));
        wrapped(&mut out, 2, &format!("{}{padding}{text}", label.replace(' ', PAD)));
    };
    row("D and D'", &statement.neighbours);
    row("observer", &statement.observer);
    let at = if statement.delta > 0.0 { delta(statement.delta) } else { "0".to_owned() };
    match &statement.claim {
        Some((value, source)) => {
            row("claimed", &format!("epsilon {} at delta {at} ({source})", epsilon(*value)));
        }
        None => row("claimed", "nothing"),
    }
    match &statement.proven {
        Some((value, basis)) => {
            row("upper bound", &format!("epsilon <= {} at delta {at} ({basis})", epsilon(*value)));
        }
        None => row("upper bound", "none is known"),
    }
    let percent = 100.0 * evidence.confidence;
    row(
        "measured",
        &format!(
            "epsilon >= {} at delta {at} with {percent:.0} % confidence, by the {} test",
            epsilon(evidence.epsilon_lower),
            evidence.test
        ),
    );
    row(
        "ceiling",
        &format!(
            "{}, the most that {} counted trials per world permit",
            epsilon(evidence.ceiling),
            evidence.counted
        ),
    );
    if let Some(model) = evidence.gaussian_model.filter(|_| statement.disjoint.is_none()) {
        row(
            "by a model",
            &format!("epsilon >= {} if the system leaks like one Gaussian mechanism", epsilon(model)),
        );
    }
    let attack = &evidence.membership;
    row(
        "membership",
        &format!(
            "AUC {:.3}, recognised at 1 % false alarms {:.3}, advantage {:.3}",
            attack.auc, attack.tpr_at_1_percent_fpr, attack.advantage
        ),
    );
    if let Some(rebuilt) = &finding.reconstruction {
        row(
            "rebuilt",
            &format!(
                "from {} known records the other {}: {:.1} % of them exactly (largest error {:.1e}, range {})",
                rebuilt.known,
                rebuilt.rebuilt,
                100.0 * rebuilt.success,
                rebuilt.largest_error,
                quantity_of(rebuilt.range)
            ),
        );
    }
    row("verdict", &finding.verdict.to_string().to_uppercase());
    for note in &finding.notes {
        wrapped(&mut out, 4, note);
    }
    out.push_str(&bars(&evidence.histogram));
    out.replace(PAD, " ")
}

/// Stands for a space that must stay.
const PAD: &str = "\u{1}";

/// Two rows of blocks: how the scores are spread under D and under D'.
fn bars(histogram: &Histogram) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = histogram.given.iter().chain(&histogram.neighbour).copied().fold(0.0, f64::max);
    let line = |shares: &[f64]| -> String {
        shares
            .iter()
            .map(|share| {
                let height = (share / most * 8.0).ceil();
                BLOCKS[(height as usize).min(8)]
            })
            .collect()
    };
    let (low, high) = (format!("{:.3}", histogram.low), format!("{:.3}", histogram.high));
    let gap = " ".repeat(histogram.given.len().saturating_sub(low.len() + high.len()));
    format!(
        "  score under {:<3}|{}|\n  score under {:<3}|{}|\n{}{low}{gap}{high}\n",
        World::Given.symbol(),
        line(&histogram.given),
        World::Neighbour.symbol(),
        line(&histogram.neighbour),
        " ".repeat(18),
    )
}

/// Several findings, a line each, at most 80 columns.
#[must_use]
pub fn audit_table(title: &str, findings: &[Finding]) -> String {
    let header = ["audited", "verdict", "claimed", "proven", "measured", "AUC"].map(str::to_owned).to_vec();
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let rows = findings
        .iter()
        .map(|finding| {
            let (statement, evidence) = (&finding.statement, &finding.evidence);
            vec![
                statement.name.clone(),
                finding.verdict.to_string(),
                figure(statement.claim.as_ref().map(|claim| claim.0)),
                figure(statement.proven.as_ref().map(|proven| proven.0)),
                format!("{:.3}", evidence.epsilon_lower),
                format!("{:.3}", evidence.membership.auc),
            ]
        })
        .collect();
    let mut out = String::new();
    // The ceiling hardly depends on delta: the largest stands for all.
    let ceiling = findings.iter().map(|finding| finding.evidence.ceiling).fold(0.0, f64::max);
    table(&mut out, &format!("{title}, ceiling {}", epsilon(ceiling)), header, rows, 2);
    wrapped(
        &mut out,
        0,
        "measured: no smaller epsilon is possible, with 95 % confidence; ceiling: the most that so many trials permit. \
         A pass proves nothing.",
    );
    out.trim_start().to_owned()
}

/// The findings as one JSON document.
#[must_use]
pub fn audit_json(findings: &[Finding]) -> Value {
    json!({ "findings": findings })
}

/// The two distributions of the chosen test's score.
#[must_use]
pub fn audit_chart(finding: &Finding) -> Chart {
    let (statement, evidence) = (&finding.statement, &finding.evidence);
    let histogram = &evidence.histogram;
    let points = |shares: &[f64]| -> Vec<Point> {
        shares
            .iter()
            .enumerate()
            .map(|(bin, share)| Point {
                x: histogram.middle(bin),
                y: *share,
                error: 0.0,
                at: format!("score {:.3}", histogram.middle(bin)),
                says: format!("{:.2} %", 100.0 * share),
            })
            .collect()
    };
    let both = [points(&histogram.given), points(&histogram.neighbour)];
    let all = || both.iter().flatten();
    Chart {
        id: "audit".to_owned(),
        beyond: Vec::new(),
        title: format!("{}: {}", statement.name, finding.verdict),
        x_label: format!("score of the {} test", evidence.test),
        y_label: "share of the transcripts".to_owned(),
        x: Axis::plain(all().map(|point| (point.x, 0.0))),
        y: Axis::plain(all().map(|point| (point.y, 0.0))),
        legend: vec!["D, the data as given".to_owned(), "D', the neighbour".to_owned()],
        lines: both
            .iter()
            .enumerate()
            .map(|(key, points)| Line { key, kind: Kind::Band, points: points.clone() })
            .collect(),
        note: format!(
            "{} Tested: epsilon {} at delta {}; measured: at least {} with 95 % confidence, of {} that {} counted trials \
             per world permit. D and D': {}.",
            if statement.broken { "BROKEN on purpose." } else { "" },
            statement.tested().map_or_else(|| "none".to_owned(), epsilon),
            if statement.delta > 0.0 { delta(statement.delta) } else { "0".to_owned() },
            epsilon(evidence.epsilon_lower),
            epsilon(evidence.ceiling),
            evidence.counted,
            statement.neighbours
        )
        .trim_start()
        .to_owned(),
    }
}
