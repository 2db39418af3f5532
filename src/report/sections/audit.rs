//! The result of an audit: one section for each finding, a table of several findings, and a chart of the distributions of
//! the chosen test's score under D and under D', the two neighbouring data sets.

use crate::audit::systems::NotAudited;
use crate::audit::{Factors, Finding, Histogram, NeighbourSide, Verdict};
use crate::report::document::{Block, Facts, Section, Span, Table, Visibility};
use crate::report::number::{delta, epsilon, error_bound, lower, quantity_of, upper};
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use serde::Serialize;

/// One finding in full.
pub(in crate::report) fn of_finding(finding: &Finding) -> Section {
    let (statement, evidence) = (&finding.statement, &finding.evidence);
    let mut rows: Vec<(String, Vec<Span>)> = Vec::new();
    let mut row = |label: &str, text: &str| rows.push((label.to_owned(), vec![Span::plain(text)]));
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
            row("upper bound", &format!("epsilon <= {} at delta {at} ({basis})", upper(*value, 4)));
        }
        None => row("upper bound", "none is known"),
    }
    let percent = 100.0 * evidence.confidence;
    row(
        "measured",
        &format!(
            "epsilon >= {} at delta {at} with {percent:.0} % confidence, by counting ({} test)",
            lower(evidence.epsilon_lower, 4),
            evidence.test
        ),
    );
    row(
        "ceiling",
        &format!(
            "{}, the largest lower bound that {} counted trials for each of D and D' can show",
            epsilon(evidence.ceiling),
            evidence.counted
        ),
    );
    if let Some(model) = evidence.model.as_ref().filter(|_| statement.disjoint.is_none()) {
        row(
            "by a model",
            &format!(
                "epsilon >= {} at delta {at} with {percent:.0} % confidence if {}",
                lower(model.epsilon_lower, 4),
                model.premise
            ),
        );
    }
    if let Some(run) = &evidence.one_run {
        row(
            "in one run",
            &format!(
                "epsilon >= {} at delta {at} with {percent:.0} % confidence, {} of {} guesses were right, {} canaries",
                lower(run.epsilon_lower, 4),
                run.correct,
                run.guesses,
                run.canaries
            ),
        );
    }
    if let Some(pair) = evidence.pair.filter(|_| statement.disjoint.is_none()) {
        row(
            "exact",
            &format!(
                "epsilon {} at delta {at} for this D and D', by their output distributions, exact to {}",
                epsilon(pair.epsilon),
                error_bound(pair.error)
            ),
        );
    }
    let attack = &evidence.membership;
    row(
        "membership",
        &format!(
            "AUC {:.3}, true positive rate at 1 % false positives {:.3}, advantage {:.3}",
            attack.auc, attack.tpr_at_1_percent_fpr, attack.advantage
        ),
    );
    if let Some(rebuilt) = &finding.reconstruction {
        row(
            "rebuilt",
            &format!(
                "{} records from {} known ones: {:.1} % of them to within a millionth of the range (largest error {:.1e}; \
                 range, the largest difference of two records in one column: {})",
                rebuilt.rebuilt,
                rebuilt.known,
                100.0 * rebuilt.success,
                rebuilt.largest_error,
                quantity_of(rebuilt.range)
            ),
        );
    }
    row("verdict", &verdict(finding));
    if let [claimed, bound] = finding.tests.as_slice() {
        row("both tests", &format!("claimed: {}; upper bound: {}", claimed.verdict, bound.verdict));
    }
    if finding.verdict == Verdict::Consistent
        && let Some(factors) = &finding.factors
        && let (Some(above), Some(below)) = (factors.bound_over_pair, factors.pair_over_measured)
    {
        row(
            "factor",
            &format!(
                "{above:.2} from the exact loss of this D and D' up to the tested epsilon, {below:.2} from the measured \
                 lower bound up to that loss{}",
                if below < 1.0 { " (below 1 by chance or by its error)" } else { "" }
            ),
        );
    }
    let about = format!("{}: {}", statement.name, statement.about);
    let mut blocks = vec![
        Block::statement(about, Visibility::Everywhere),
        Block::Facts(Facts { rows, indent: 2, width: 12, shown: Visibility::Everywhere }),
    ];
    blocks.extend(finding.notes.iter().map(Block::detail));
    let label = "Scores under D and under D'".to_owned();
    blocks.push(Block::Listing { label, text: bars(&evidence.histogram) });
    Section { blocks, ..Section::default() }
}

/// The verdict in words. If a conditional upper bound is refuted, the verdict is followed by the condition of this bound. An
/// inconclusive verdict is followed by its reason. The verdict "consistent" is followed by the factors by which the tested
/// epsilon exceeds the two measured bounds (by counting and by the model), as far as these factors are known.
fn verdict(finding: &Finding) -> String {
    let word = finding.verdict.to_string().to_uppercase();
    if finding.verdict == Verdict::Refuted {
        let why = finding.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        return format!("{word}, by counting{why}");
    }
    if let Some(why) = &finding.why {
        return format!("{word}: {why}");
    }
    let Some(factors) = &finding.factors else { return word };
    match (finding.verdict, factors.counted, factors.modelled) {
        (Verdict::Consistent, Some(counted), Some(model)) => {
            format!("{word} within a factor of {counted:.2} by counting, {model:.2} by the model")
        }
        (Verdict::Consistent, Some(counted), None) => {
            format!("{word} within a factor of {counted:.2} by counting")
        }
        (Verdict::Consistent, None, Some(model)) => {
            format!("{word} within a factor of {model:.2} by the model, none by counting")
        }
        _ => word,
    }
}

/// The verdict for a cell of a table.
fn verdict_cell(finding: &Finding) -> String {
    if finding.verdict != Verdict::Consistent {
        return finding.verdict.to_string();
    }
    match finding.factors.as_ref().and_then(Factors::smallest) {
        // The text is short enough to fit beside the longest name in 80 columns.
        Some((factor, by_model)) => {
            let digits = if factor < 10.0 { 2 } else { usize::from(factor < 100.0) };
            format!("within {factor:.digits$} ({})", if by_model { "model" } else { "count" })
        }
        None => finding.verdict.to_string(),
    }
}

/// The distributions of the scores under D and under D', each as a row of block characters.
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
        NeighbourSide::Given.symbol(),
        line(&histogram.given),
        NeighbourSide::Neighbour.symbol(),
        line(&histogram.neighbour),
        " ".repeat(18),
    )
}

/// Several findings, a line each.
pub(in crate::report) fn of_findings(title: &str, findings: &[Finding]) -> Section {
    let header = ["audited", "verdict", "tested", "counted", "model"].map(str::to_owned).to_vec();
    let figure = |value: Option<f64>, rounded: fn(f64, i32) -> String| {
        value.map_or_else(|| "-".to_owned(), |value| rounded(value, 3))
    };
    let rows = findings
        .iter()
        .map(|finding| {
            let (statement, evidence) = (&finding.statement, &finding.evidence);
            let model = evidence.model.as_ref().filter(|_| statement.disjoint.is_none());
            vec![
                statement.name.clone(),
                verdict_cell(finding),
                figure(statement.tested(), upper),
                figure(Some(evidence.epsilon_lower), lower),
                figure(model.map(|model| model.epsilon_lower), lower),
            ]
        })
        .collect();
    // The ceiling hardly depends on delta, so one ceiling is shown for all findings: the largest.
    let ceiling = findings.iter().map(|finding| finding.evidence.ceiling).fold(0.0, f64::max);
    let title = format!("{title}, ceiling {}", epsilon(ceiling));
    let mut blocks = vec![Block::Table(Table::new(title, header, rows, 2))];
    for finding in findings {
        if let Some(why) = &finding.why {
            blocks.push(Block::statement(
                format!("{}: {}: {why}", finding.statement.name, finding.verdict),
                Visibility::Everywhere,
            ));
        }
    }
    blocks.push(Block::statement(
        "tested: the smaller of the claimed epsilon and the upper bound, rounded up. counted: a lower bound on epsilon by \
         counting, with 95 % confidence for each line, whatever the system does, rounded down; ceiling: the largest \
         lower bound that so many trials can show. model: a lower bound if the noise is of the stated kind and only \
         its size is unknown, rounded down. within f: consistent; the tested epsilon is f times the larger of the two \
         lower bounds, by counting (count) or by the model (model). A pass shows no more than that. Only counting \
         refutes.",
        Visibility::Everywhere,
    ));
    Section { blocks, ..Section::default() }
}

/// The series, or parts of series, that were not audited, a line each; empty if everything was audited.
pub(in crate::report) fn of_left_out(left_out: &[NotAudited]) -> Section {
    let told = left_out.iter().map(|NotAudited { series, protected, why }| {
        let kind = if *protected { "not audited" } else { "not audited, unprotected" };
        Block::statement(format!("{kind}: {series}: {why}"), Visibility::Everywhere)
    });
    Section { blocks: told.collect(), ..Section::default() }
}

/// The findings, and the series or parts of series that were not audited, as a JSON document.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AuditDocument<'a> {
    /// The findings.
    pub findings: &'a [Finding],
    /// The series, or parts of series, that were not audited, each with the reason.
    pub not_audited: &'a [NotAudited],
}

/// A chart of the distributions of the chosen test's score under D and under D'.
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
        caption: String::new(),
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
            "{} Tested: epsilon {} at delta {}; measured: at least {} with 95 % confidence, where {} is the largest lower \
             bound that {} counted trials for each of D and D' can show. D and D': {}.",
            if statement.broken { "BROKEN on purpose." } else { "" },
            statement.tested().map_or_else(|| "none".to_owned(), epsilon),
            if statement.delta > 0.0 { delta(statement.delta) } else { "0".to_owned() },
            lower(evidence.epsilon_lower, 4),
            epsilon(evidence.ceiling),
            evidence.counted,
            statement.neighbours
        )
        .trim_start()
        .to_owned(),
    }
}
