//! Two runs side by side: the mean difference of every metric with an interval, on common random numbers.
//!
//! Two replications with the same seed and number, one of each run, draw the same random numbers and form a pair. Runs are
//! compared pair by pair, so that common variation cancels. Cells that differ only in the seed form one group.

use crate::study::disk::store::StoredRecords;
use crate::study::plan::cells::Plan;
use crate::study::results::comparable::{CompareError, ComparedCell};
use crate::study::results::group_metric::{GroupsFound, values_of};
use crate::study::results::holm::holm;
use crate::study::results::power::Needed;
use crate::study::results::rows::{METRICS, Row, rows};
use crate::study::results::statistics::{Estimate, half_width, student_quantile, student_tail};
use crate::study::results::summary::point_of;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Name and version of the document's schema.
const SCHEMA: &str = "subrosa.comparison/1";
/// Two numbers that differ by at most this share of the larger one count as equal, since sums of the same terms in
/// different orders may differ by about as much.
const ROUNDING: f64 = 1e-12;
/// Probability with which each interval should cover the true difference.
const CONFIDENCE: f64 = 0.95;

/// Two runs side by side.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Name and version of the document's schema.
    pub schema: &'static str,
    /// The first run.
    pub a: String,
    /// The second run.
    pub b: String,
    /// Probability with which each interval alone covers the true difference, if differences are nearly normal. The adjusted
    /// p-values hold for all comparisons of a metric together.
    pub confidence: f64,
    /// One row per group of cells, series and metric.
    pub rows: Vec<ComparisonRow>,
    /// Notes on what was left out, and on differences between the runs.
    pub notes: Vec<String>,
}

/// One metric of one series in both runs.
#[derive(Clone, Debug, Serialize)]
pub struct ComparisonRow {
    /// The point of the cells, without the axes that vary together with the seed.
    pub point: Map<String, Value>,
    /// Name of the series in the first run.
    pub series_a: String,
    /// Name of the series in the second run.
    pub series_b: String,
    /// The metric.
    pub metric: String,
    /// Mean in the first run; over the pairs only, if the samples are paired.
    pub a: f64,
    /// Mean in the second run; over the pairs only, if the samples are paired.
    pub b: f64,
    /// Mean of the second run minus that of the first, with its standard error. `n` is the number of pairs, or the
    /// size of the smaller sample if the samples are not paired.
    pub difference: Estimate,
    /// Lower end of the interval; absent for a single pair or a sample of one.
    pub low: Option<f64>,
    /// Upper end of the interval; absent if the lower end is.
    pub high: Option<f64>,
    /// Whether the difference is computed from pairs with common random numbers.
    pub paired: bool,
    /// The two-sided p-value of the hypothesis that the true difference is 0: by Student's t for pairs, else by Welch's.
    /// Absent for a single pair or a sample of one, and where the means are equal and the standard error is 0.
    pub p: Option<f64>,
    /// The p-value adjusted by Holm's method for all comparisons of this metric that have a p-value.
    pub p_adjusted: Option<f64>,
    /// The number of comparisons for which `p_adjusted` is adjusted.
    pub comparisons: u64,
    /// The number of replications that are needed to find an effect of a stated size. Absent if no size is stated, if the
    /// samples are not paired, for a single pair, or if the differences of all pairs are equal.
    pub needed: Option<Needed>,
    /// Correlation of the pairs: the closer to 1, the more pairing helps. Absent without pairs or without spread.
    pub correlation: Option<f64>,
}

/// A run to compare.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its plan.
    pub plan: &'a Plan,
    /// Its records.
    pub stored: &'a StoredRecords,
    /// The only series to compare; if absent, all series, each with the series of the same name.
    pub series: Option<&'a str>,
    /// If present, only the regrets of this group of agents or cohort of users are compared. For
    /// [`WORST`](crate::study::WORST), each regret is the largest value among all groups in a replication.
    pub group: Option<&'a str>,
    /// The only branch to compare, for a run that was forked; if absent, all branches.
    pub branch: Option<&'a str>,
}

/// A metric by seed and replication.
type Samples = BTreeMap<(u64, u64), f64>;

impl Comparison {
    /// Adjusts the p-values of each metric for the number of its comparisons.
    pub(in crate::study) fn adjust(&mut self) {
        let metrics: BTreeSet<String> = self.rows.iter().map(|row| row.metric.clone()).collect();
        for metric in metrics {
            let mut family: Vec<&mut ComparisonRow> =
                self.rows.iter_mut().filter(|row| row.metric == metric && row.p.is_some()).collect();
            let p: Vec<f64> = family.iter().filter_map(|row| row.p).collect();
            for (row, adjusted) in family.iter_mut().zip(holm(&p)) {
                row.p_adjusted = Some(adjusted);
                row.comparisons = p.len() as u64;
            }
        }
    }

    /// Uses the paired differences as a pilot study, and computes how many replications are needed to find a mean
    /// difference of `effect` with probability `power`. Only the rows of `metric` are kept.
    pub fn plan_for(&mut self, metric: &str, effect: f64, power: f64) {
        self.rows.retain(|row| row.metric == metric);
        for row in self.rows.iter_mut().filter(|row| row.paired) {
            row.needed = Needed::of(row.difference, effect, power, self.confidence);
        }
    }
}

/// Cells that differ only in the seed, and their samples.
#[derive(Debug)]
struct Group {
    /// The axes on which all cells of the group agree.
    point: Map<String, Value>,
    /// The objective and the protocol of the cells.
    subject: ComparedCell,
    /// The samples by series and metric.
    values: BTreeMap<String, BTreeMap<String, Samples>>,
    /// The number of records of series: one for each series of each replication.
    records: u64,
    /// How many of these records ended early.
    ended_early: u64,
}

/// Compares two runs.
///
/// # Errors
/// [`CompareError`] if records cannot be read, if a run has no regrets of the requested group, or if nothing is left to
/// compare because cells with the same point have different objectives or protocols. Where no points agree at all, the
/// comparison has no rows.
pub fn compare(a: Compared<'_>, b: Compared<'_>) -> Result<Comparison, CompareError> {
    let (groups_a, groups_b) = (groups(a)?, groups(b)?);
    let mut comparison = Comparison {
        schema: SCHEMA,
        a: a.name.to_owned(),
        b: b.name.to_owned(),
        confidence: CONFIDENCE,
        rows: Vec::new(),
        notes: Vec::new(),
    };
    let mut unmatched = 0;
    let mut refused: Vec<CompareError> = Vec::new();
    let mut subjects: BTreeSet<String> = BTreeSet::new();
    let mut unmatched_series: BTreeSet<String> = BTreeSet::new();
    for one in &groups_a {
        let alike = |other: &&Group| {
            one.point.iter().all(|(axis, value)| other.point.get(axis).is_none_or(|there| there == value))
        };
        let mut partners: Vec<&Group> = groups_b.iter().filter(alike).collect();
        if partners.is_empty() {
            unmatched += 1;
        }
        partners.retain(|other| match one.subject.differs(&other.subject) {
            Some(difference) => {
                refused.push(difference);
                false
            }
            None => true,
        });
        for other in partners {
            subjects.extend(one.subject.notes(&other.subject));
            let mut point = one.point.clone();
            point.extend(other.point.clone());
            for (name_a, metrics_a) in &one.values {
                let name_b = b.series.unwrap_or(name_a);
                let Some(metrics_b) = other.values.get(name_b) else {
                    unmatched_series.insert(name_b.to_owned());
                    continue;
                };
                for (metric, samples_a) in in_order(metrics_a) {
                    if let Some(samples_b) = metrics_b.get(metric)
                        && let Some(row) = row(samples_a, samples_b)
                    {
                        comparison.rows.push(ComparisonRow {
                            point: point.clone(),
                            series_a: name_a.clone(),
                            series_b: name_b.to_owned(),
                            metric: metric.clone(),
                            ..row
                        });
                    }
                }
            }
        }
    }
    if comparison.rows.is_empty() && !refused.is_empty() {
        return Err(refused.swap_remove(0));
    }
    if let Some(first) = refused.first() {
        comparison.notes.push(format!("{} pairs of cells are left out: {first}", refused.len()));
    }
    comparison.notes.extend(subjects);
    comparison.notes.extend(unmatched_axes(&groups_a, &groups_b, ["first", "second"]));
    comparison.notes.extend(unmatched_axes(&groups_b, &groups_a, ["second", "first"]));
    if unmatched > 0 {
        comparison
            .notes
            .push(format!("{unmatched} groups of cells of the first run have no counterpart in the second"));
    }
    for name in unmatched_series {
        comparison.notes.push(format!(
            "series \"{name}\" is not in the second run; --series-a and --series-b compare series of different names"
        ));
    }
    for (name, groups) in [(&comparison.a, &groups_a), (&comparison.b, &groups_b)] {
        let (early, all) =
            groups.iter().fold((0, 0), |(e, n), group| (e + group.ended_early, n + group.records));
        if early > 0 {
            comparison.notes.push(format!(
                "in {name}, {early} of {all} results (one for each series of each replication) ended early; they have no \
                 regret at the end, so their regrets are not compared"
            ));
        }
    }
    if comparison.rows.iter().any(|row| !row.paired) {
        comparison.notes.push(
            "where fewer than two replications of the same seed and number are in both runs, the runs are compared as \
             independent samples, with Welch's interval"
                .to_owned(),
        );
    }
    comparison.adjust();
    Ok(comparison)
}

/// A note for each axis of `ours` that no group of `theirs` has.
fn unmatched_axes(ours: &[Group], theirs: &[Group], [here, there]: [&str; 2]) -> Vec<String> {
    let has = |groups: &[Group], axis: &String| groups.iter().any(|group| group.point.contains_key(axis));
    let mut axes: Vec<&String> = ours.iter().flat_map(|group| group.point.keys()).collect();
    axes.sort();
    axes.dedup();
    let alone = axes.into_iter().filter(|axis| !has(theirs, axis));
    let note = |axis: &String| {
        format!(
            "only the {here} run has the axis \"{axis}\": each of its values is compared with the one setting of the \
             {there} run"
        )
    };
    alone.map(note).collect()
}

fn groups(side: Compared<'_>) -> Result<Vec<Group>, CompareError> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut found = GroupsFound::default();
    for (index, cell) in side.plan.cells.iter().enumerate() {
        let mut draft = cell.scenario.draft().clone();
        draft.seed = 0;
        draft.about.clear();
        let key = serde_json::to_string(&draft).expect("a draft is plain data with text keys");
        let mut point = point_of(&cell.point);
        if let (Some(wanted), Some(fork)) = (side.branch, &side.plan.fork) {
            let of = point.shift_remove(&fork.axis);
            if of.is_none_or(|name| name.as_str() != Some(wanted)) {
                continue;
            }
        }
        let group = *known.entry(key).or_insert_with(|| {
            groups.push(Group {
                point: point.clone(),
                subject: ComparedCell::of(&draft),
                values: BTreeMap::new(),
                records: 0,
                ended_early: 0,
            });
            groups.len() - 1
        });
        let group = &mut groups[group];
        // If the cells of the group differ on an axis, the axis varies together with the seed, and is not part of the point.
        group.point.retain(|axis, value| point.get(axis) == Some(value));
        for record in side.stored.in_order(index, side.plan.replications) {
            for row in rows(index, cell, [&record?]) {
                if side.series.is_none_or(|wanted| wanted == row.series) {
                    found.add(&row);
                    group.take(&row, side.group);
                }
            }
        }
    }
    if let Some(group) = side.group {
        found.check("simple_regret", group)?;
    }
    Ok(groups)
}

impl Group {
    fn take(&mut self, row: &Row, group: Option<&str>) {
        let key = (row.seed, row.replication);
        self.records += 1;
        self.ended_early += u64::from(row.ended_early);
        let series = self.values.entry(row.series.clone()).or_default();
        for (name, value) in group.map_or_else(|| row.named(), |group| values_of(&row.groups, group)) {
            series.entry(name).or_default().insert(key, value);
        }
    }
}

/// The metrics of [`METRICS`] in their order there, then the other metrics by name.
fn in_order<V>(metrics: &BTreeMap<String, V>) -> Vec<(&String, &V)> {
    let place = |name: &str| METRICS.iter().position(|known| *known == name).unwrap_or(METRICS.len());
    let mut found: Vec<(&String, &V)> = metrics.iter().collect();
    found.sort_by_key(|(name, _)| place(name));
    found
}

/// The numbers of a row, without its names; `None` if one of the two samples is empty.
fn row(a: &Samples, b: &Samples) -> Option<ComparisonRow> {
    let pairs: Vec<(f64, f64)> = a.iter().filter_map(|(key, x)| Some((*x, *b.get(key)?))).collect();
    let empty = ComparisonRow {
        point: Map::new(),
        series_a: String::new(),
        series_b: String::new(),
        metric: String::new(),
        a: 0.0,
        b: 0.0,
        difference: Estimate { mean: 0.0, se: 0.0, n: 0 },
        low: None,
        high: None,
        paired: true,
        p: None,
        p_adjusted: None,
        comparisons: 0,
        needed: None,
        correlation: None,
    };
    // A single pair gives no interval. If a sample then has further values, all values are compared without pairing.
    if pairs.len() > 1 || (pairs.len() == 1 && a.len() == 1 && b.len() == 1) {
        let (of_a, of_b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let differences: Vec<f64> = pairs.iter().map(|(x, y)| difference(*x, *y)).collect();
        let difference = Estimate::of(&differences)?;
        let half = half_width(&differences, CONFIDENCE);
        return Some(ComparisonRow {
            a: Estimate::of(&of_a)?.mean,
            b: Estimate::of(&of_b)?.mean,
            low: half.map(|half| difference.mean - half),
            high: half.map(|half| difference.mean + half),
            correlation: correlation(&pairs),
            p: difference.p_value(),
            difference,
            ..empty
        });
    }
    let (x, y): (Vec<f64>, Vec<f64>) = (a.values().copied().collect(), b.values().copied().collect());
    let (one, two) = (Estimate::of(&x)?, Estimate::of(&y)?);
    // Welch's interval, with the degrees of freedom of Welch and Satterthwaite.
    let (u, v) = (one.se * one.se, two.se * two.se);
    // If all numbers of each sample are equal, there is no spread: a standard error as small as the rounding of the means
    // counts as 0.
    let se =
        if libm::sqrt(u + v) <= ROUNDING * one.mean.abs().max(two.mean.abs()) { 0.0 } else { (u + v).sqrt() };
    let spread = u * u / (one.n as f64 - 1.0) + v * v / (two.n as f64 - 1.0);
    let enough = one.n > 1 && two.n > 1;
    let mean = difference(one.mean, two.mean);
    let df = (u + v) * (u + v) / spread;
    let half = enough.then(|| if se > 0.0 { student_quantile(0.5 + CONFIDENCE / 2.0, df) * se } else { 0.0 });
    let p = match (enough, se > 0.0) {
        (true, true) => Some((2.0 * student_tail((mean / se).abs(), df)).min(1.0)),
        (true, false) if mean != 0.0 => Some(0.0),
        _ => None,
    };
    Some(ComparisonRow {
        a: one.mean,
        b: two.mean,
        difference: Estimate { mean, se, n: one.n.min(two.n) },
        low: half.map(|half| mean - half),
        high: half.map(|half| mean + half),
        paired: false,
        p,
        ..empty
    })
}

/// The second number minus the first; 0 if they differ only by rounding.
fn difference(a: f64, b: f64) -> f64 {
    if (b - a).abs() <= ROUNDING * a.abs().max(b.abs()) { 0.0 } else { b - a }
}

/// Pearson's correlation; `None` where one side has no spread.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
    let moment =
        |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|pair| of(pair.0 - x, pair.1 - y)).sum::<f64>();
    let (xx, yy, xy) = (moment(&|a, _| a * a), moment(&|_, b| b * b), moment(&|a, b| a * b));
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(seed: u64, values: &[f64]) -> Samples {
        values.iter().enumerate().map(|(index, value)| ((seed, index as u64), *value)).collect()
    }

    #[test]
    fn a_worked_example_of_pairs() {
        // Differences 1, 2, 3: mean 2, se 1/sqrt(3), t(0.975, 2) = 4.302653.
        let row = row(&samples(1, &[5.0, 1.0, 9.0]), &samples(1, &[6.0, 3.0, 12.0])).unwrap();
        assert!(row.paired);
        assert_eq!((row.a, row.b, row.difference.mean, row.difference.n), (5.0, 7.0, 2.0, 3));
        let half = 4.302_652_729_911_275 / 3.0_f64.sqrt();
        assert!((row.low.unwrap() - (2.0 - half)).abs() < 1e-9);
        assert!((row.high.unwrap() - (2.0 + half)).abs() < 1e-9);
        // Sums of squares 32 and 42, sum of products 36.
        assert!((row.correlation.unwrap() - 36.0 / (32.0_f64 * 42.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn rounding_is_no_difference() {
        let (x, y) = (samples(1, &[0.1 + 0.2, 14.0]), samples(1, &[0.3, 14.0]));
        let row = row(&x, &y).unwrap();
        assert_eq!((row.difference.mean, row.difference.se, row.low), (0.0, 0.0, Some(0.0)));
        let far = samples(2, &[0.3, 0.3 + 1e-16]);
        let row = super::row(&samples(1, &[0.1 + 0.2, 0.3]), &far).unwrap();
        assert_eq!((row.paired, row.difference.mean, row.difference.se), (false, 0.0, 0.0));
    }

    #[test]
    fn other_seeds_are_independent_samples() {
        // Variances 2.5 and 10, five values in each sample: se sqrt(2.5), df 5.882353, t(0.975) = 2.458828 (R's t.test).
        let (x, y) = (samples(1, &[1.0, 2.0, 3.0, 4.0, 5.0]), samples(2, &[2.0, 4.0, 6.0, 8.0, 10.0]));
        let row = row(&x, &y).unwrap();
        assert!(!row.paired);
        assert_eq!((row.difference.mean, row.correlation), (3.0, None));
        assert!((row.low.unwrap() - -0.887_82).abs() < 1e-3, "{:?}", row.low);
        // R: t.test(c(1, 2, 3, 4, 5), c(2, 4, 6, 8, 10)) has t = 1.897367 and p = 0.10753.
        assert!((row.p.unwrap() - 0.107_531_2).abs() < 1e-6, "{:?}", row.p);
    }
}
