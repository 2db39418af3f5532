//! The report of the command `threshold`: the answer in words, the probed values, and a chart of the gains at these
//! values.

use crate::report::document::{Block, Document, Section, Table, Visibility};
use crate::report::number::{quantity_of, regret, two_digits};
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::study::{Direction, Probe, Sign, Spacing, Threshold, ThresholdOutcome};
use crate::vocab::counted;

/// A value of the axis, rounded to six significant digits.
fn value(value: f64) -> String {
    let short: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    format!("{short}")
}

/// In words: where one series begins to be better than the other, or stops being better.
fn answer(found: &Threshold) -> String {
    let question = &found.question;
    let (series, against, axis) = (&question.series, &question.against, &question.axis);
    let margin = match question.margin {
        0.0 => String::new(),
        margin => format!(" by more than {}", two_digits(margin)),
    };
    let confidence = format!("{} %", two_digits(100.0 * question.confidence));
    let crossing = &found.crossing;
    let stops = crossing.direction == Some(Direction::StopsBeingBetter);
    let verb = if stops { "stops being better" } else { "begins to be better" };
    let estimate =
        crossing.estimate.map_or_else(String::new, |estimate| format!(", estimate {}", value(estimate)));
    let after = format!("after {}", counted(crossing.replications, "replication"));
    let end = |at: Option<f64>| at.map_or_else(String::new, value);
    let (low, high) = (end(crossing.low), end(crossing.high));
    let both = format!("{axis} = {} and {}", value(found.from), value(found.to));
    match crossing.outcome {
        ThresholdOutcome::Found => format!(
            "\"{series}\" {verb} than \"{against}\"{margin} between {axis} = {low} and {high} ({confidence} interval{estimate})."
        ),
        ThresholdOutcome::Wide => format!(
            "\"{series}\" {verb} than \"{against}\"{margin} between {axis} = {low} and {high} ({confidence} interval{estimate}). \
             That is wider than the requested {}: {after} no narrower interval is known (raise \
             --max-replications).",
            value(found.width)
        ),
        ThresholdOutcome::HalfOpen => match (stops, crossing.low.is_some()) {
            (true, true) => format!(
                "\"{series}\" is better than \"{against}\"{margin} up to {axis} = {low} at least ({confidence} confidence). That it \
                 stops being better before {} is not shown {after}.",
                value(found.to)
            ),
            (true, false) => format!(
                "\"{series}\" is not better than \"{against}\"{margin} from {axis} = {high} on ({confidence} confidence). That it is \
                 better anywhere below is not shown {after}."
            ),
            (false, false) => format!(
                "\"{series}\" is better than \"{against}\"{margin} from {axis} = {high} on at least ({confidence} confidence). Below, \
                 neither is shown to be better {after}."
            ),
            (false, true) => format!(
                "\"{series}\" is not better than \"{against}\"{margin} up to {axis} = {low} ({confidence} confidence). That it begins to \
                 be better before {} is not shown {after}.",
                value(found.to)
            ),
        },
        ThresholdOutcome::BetterThroughout => format!(
            "No threshold in this range: \"{series}\" is better than \"{against}\"{margin} at both ends, {both}."
        ),
        ThresholdOutcome::WorseThroughout => format!(
            "No threshold in this range: \"{series}\" is not better than \"{against}\"{margin} at either end, {both}."
        ),
        ThresholdOutcome::Several => format!(
            "More than one threshold: along {axis}, \"{series}\" changes more than once between being better than \"{against}\"{margin} \
             and not, as the table shows. Search each part of the range separately."
        ),
        ThresholdOutcome::Unknown => format!(
            "Nothing is shown {after}: neither at {axis} = {} nor at {} is it known whether \"{series}\" is \
             better than \"{against}\"{margin} (raise --max-replications, or widen the range).",
            value(found.from),
            value(found.to)
        ),
    }
}

fn row(probe: &Probe) -> Vec<String> {
    let interval = match (probe.low, probe.high) {
        (Some(low), Some(high)) => format!("{} to {}", quantity_of(low), quantity_of(high)),
        _ => "none".to_owned(),
    };
    let words = if probe.sign == Sign::Worse { "not better" } else { probe.sign.words() };
    vec![value(probe.value), regret(probe.gain), interval, probe.gain.n.to_string(), words.to_owned()]
}

/// The report: the answer, the probed values and the assumptions.
pub(in crate::report) fn document(found: &Threshold) -> Document {
    let question = &found.question;
    let metric = question.metric.replace('_', " ");
    let title =
        format!("Gain of \"{}\" over \"{}\" in {metric}, pair by pair", question.series, question.against);
    let header = [question.axis.as_str(), "mean gain", "interval", "n", "shown"].map(str::to_owned).to_vec();
    let rows = found.crossing.probes.iter().map(row).collect();
    let better = if question.larger_is_better { "larger" } else { "smaller" };
    let compared = match question.margin {
        0.0 => "above 0".to_owned(),
        margin => format!("above the margin {}", two_digits(margin)),
    };
    let mut blocks = vec![
        Block::statement(answer(found), Visibility::Everywhere),
        Block::Table(Table::new(title, header, rows, 1)),
        Block::remark(format!(
            "The gain is how much {better} the {metric} of the first series is; n counts replications, in which both \
             series and all values draw the same random numbers. A value counts as better if its whole interval is \
             {compared}. Each interval is a Student's t interval that errs to one side with probability {}, so that \
             the answer covers the threshold with {} % confidence.",
            quantity_of(found.crossing.level),
            two_digits(100.0 * question.confidence)
        )),
        Block::remark(
            "Assumed: along the range, the mean gain minus the margin changes its sign at most once; mean gains are nearly normal.",
        ),
    ];
    if found.without_pair > 0 {
        blocks.push(Block::warning(format!(
            "warning: at some value, {} of {} replications have no pair, because a series ended early or has no {metric}: the gain is \
             computed from the other replications",
            found.without_pair, found.crossing.replications
        )));
    }
    blocks.push(Block::statement(format!("run: {}", found.run), Visibility::Everywhere));
    Document { sections: vec![Section { blocks, ..Section::default() }], ..Document::default() }
}

/// A chart of the gain at every probed value.
#[must_use]
pub fn threshold_chart(found: &Threshold) -> Chart {
    let question = &found.question;
    let probes = &found.crossing.probes;
    let point = |probe: &Probe| Point {
        x: probe.value,
        y: probe.gain.mean,
        error: probe.high.map_or(0.0, |high| high - probe.gain.mean),
        at: format!("{} {}", question.axis, value(probe.value)),
        says: regret(probe.gain),
    };
    let flat = |x: f64| Point {
        x,
        y: question.margin,
        error: 0.0,
        at: "margin".to_owned(),
        says: value(question.margin),
    };
    let drawn: Vec<Point> = probes.iter().map(point).collect();
    let values: Vec<f64> = probes.iter().map(|probe| probe.value).collect();
    let heights = drawn.iter().map(|point| (point.y, point.error)).chain([(question.margin, 0.0)]);
    let interval = match (found.crossing.low, found.crossing.high) {
        (Some(low), Some(high)) => format!(" The threshold lies between {} and {}.", value(low), value(high)),
        _ => String::new(),
    };
    let metric = question.metric.replace('_', " ");
    let mut x = Axis::chosen(&values);
    if found.spacing == Spacing::Logarithmic && !x.log {
        // The values span at most a factor of 30, so the axis is linear; it has ticks at the ends of the range only.
        x = Axis::chosen(&[found.from, found.to]);
    }
    Chart {
        id: "threshold".to_owned(),
        title: format!("{} against {}", question.series, question.against),
        x_label: question.axis.clone(),
        y_label: format!("gain in {metric}"),
        x,
        y: Axis::plain(heights),
        legend: vec![format!("gain of {}", question.series), "margin".to_owned()],
        lines: vec![
            Line { key: 0, kind: Kind::Bars, points: drawn },
            Line { key: 1, kind: Kind::Bound(0), points: vec![flat(found.from), flat(found.to)] },
        ],
        note: format!(
            "Mean gain over {}, with the interval of each test.{interval}",
            counted(found.crossing.replications, "replication")
        ),
        caption: "Assumed: the mean gain minus the margin changes its sign at most once along the range."
            .to_owned(),
        beyond: Vec::new(),
    }
}
