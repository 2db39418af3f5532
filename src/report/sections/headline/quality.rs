//! The card "How good": the best private series beside the best one without privacy, and the worst series.

use super::measure::{Measure, MeasuredSeries};
use super::protection::{MODERATE, Protection, UnprotectedLosses};
use crate::report::document::{Card, Span};
use crate::report::number::{brief, three_digits_up, two_digits_up};
use crate::report::sections::lines::capital;
use crate::report::sections::terms::meaning;
use crate::study::{CellSummary, SeriesSummary, Summary};
use crate::vocab::counted;

/// The card.
pub(super) fn card(summary: &Summary) -> Card {
    let mut sentences = Vec::new();
    match Measure::of(summary) {
        Some(measure) => sentences.extend(measured(summary, measure)),
        None => sentences.extend(unmeasured(summary)),
    }
    sentences.extend(missing(summary));
    Card::new("good", "How good", sentences)
}

/// The two series that are compared in one cell.
struct Pair<'a> {
    /// The best series with a proven and moderate privacy loss. If there is none, the best with a finite privacy loss. If
    /// there is none either, the best that claims or protects something although its privacy loss has no finite bound.
    private: Option<MeasuredSeries<'a>>,
    /// The best search without privacy. If there is none, the best search that releases nothing. If there is none either,
    /// the best random search without privacy, or else the best random search that releases nothing.
    free: Option<MeasuredSeries<'a>>,
}

/// The rank of a private series: 0 with a proven epsilon of at most [`MODERATE`], 1 with another finite epsilon, 2 without a
/// finite epsilon. `None` for a series that releases nothing, or releases everything unprotected.
fn tier(protection: Protection) -> Option<u8> {
    match protection {
        _ if protection.is_sound() => Some(0),
        Protection::Bounded(..) => Some(1),
        Protection::Broken => Some(2),
        Protection::Silent | Protection::Open => None,
    }
}

impl<'a> Pair<'a> {
    fn of(measure: Measure, cell: &'a CellSummary, unguarded: &UnprotectedLosses<'_>) -> Self {
        let rated = measure.rated(cell, unguarded);
        let best = |wanted: u8| rated.iter().find(|one| tier(one.protection) == Some(wanted)).copied();
        let of = |protection: Protection, at_random: bool| {
            rated
                .iter()
                .find(|one| one.protection == protection && one.series.at_random == at_random)
                .copied()
        };
        Self {
            private: best(0).or_else(|| best(1)).or_else(|| best(2)),
            free: of(Protection::Open, false)
                .or_else(|| of(Protection::Silent, false))
                .or_else(|| of(Protection::Open, true))
                .or_else(|| of(Protection::Silent, true)),
        }
    }

    /// The rank of the private series; `None` without one.
    fn tier(&self) -> Option<u8> {
        tier(self.private?.protection)
    }

    /// By how much the private series is worse than the one without privacy; 0 if it is not worse.
    fn gap(&self) -> Option<f64> {
        Some((self.private?.value.mean - self.free?.value.mean).max(0.0))
    }
}

/// The private series and the series without privacy of one cell. A cell has at most one private series that is compared
/// (see [`Pair`]). Of the cells whose private series has the best rank (see [`tier`]), the cell is chosen whose private
/// series has the smallest value of the measure.
pub(super) fn chosen(
    summary: &Summary,
    measure: Measure,
) -> Option<(MeasuredSeries<'_>, Option<MeasuredSeries<'_>>)> {
    let unguarded = UnprotectedLosses::of(summary);
    let pairs = summary.cells.iter().map(|cell| Pair::of(measure, cell, &unguarded));
    let mut found = pairs.filter_map(|pair| Some((pair.private?, pair.free))).collect::<Vec<_>>();
    let least = found.iter().filter_map(|(private, _)| tier(private.protection)).min();
    found.retain(|(private, _)| tier(private.protection) == least);
    found.into_iter().min_by(|(a, _), (b, _)| {
        let by_epsilon = a.protection.epsilon().total_cmp(&b.protection.epsilon());
        a.value.mean.total_cmp(&b.value.mean).then(by_epsilon)
    })
}

fn measured(summary: &Summary, measure: Measure) -> Vec<Vec<Span>> {
    let unguarded = UnprotectedLosses::of(summary);
    let all: Vec<MeasuredSeries<'_>> =
        summary.cells.iter().flat_map(|cell| measure.rated(cell, &unguarded)).collect();
    let mut sentences = Vec::new();
    let name = Span::plain(measure.words()).explained(meaning(measure.words()));
    let mut told: Vec<&str> = Vec::new();
    let mut has_baseline = false;
    if let Some((private, free)) = chosen(summary, measure) {
        sentences.push(of_private(summary, &private, free.as_ref(), name));
        told.push(&private.series.name);
        told.extend(free.map(|free| free.series.name.as_str()));
        let worse = worse_than_baseline(summary, measure, &unguarded);
        if let Some(baseline) = baseline(measure, private.cell, &unguarded)
            .filter(|one| !told.contains(&one.series.name.as_str()))
        {
            // For a sweep, the sentence `worse` already counts the cells in which a baseline is better.
            if worse.is_none() || private.value.mean <= baseline.value.mean {
                sentences.push(baseline_sentence(&private, &baseline));
            }
            told.push(&baseline.series.name);
            has_baseline = true;
        }
        has_baseline |= worse.is_some();
        sentences.extend(worse);
    } else if let Some(best) = all.iter().min_by(|a, b| a.value.mean.total_cmp(&b.value.mean)) {
        let whose = if all.len() == 1 { "The only series, " } else { "No series is private. The best, " };
        let whose = if best.protection == Protection::Silent { "The best series, " } else { whose };
        let end = format!(" {} ({}).", brief(best.value), replications(best.value.n));
        sentences.push(vec![
            Span::plain(whose),
            Span::strong(&best.series.name),
            Span::plain(format!("{}, ends at ", best.place(summary))),
            name,
            Span::plain(end),
        ]);
        told.push(&best.series.name);
    }
    sentences.extend(over_cells(summary, measure));
    let worst = all.iter().max_by(|a, b| a.value.mean.total_cmp(&b.value.mean));
    // Beside a baseline the worst series says little, and the cards must fit one screen of a phone.
    if let Some(worst) =
        worst.filter(|worst| !has_baseline && all.len() > 1 && !told.contains(&worst.series.name.as_str()))
    {
        let whose = format!("{}{}", worst.series.name, worst.place(summary));
        let end = format!("The largest {} is that of {whose}: {}.", measure.words(), brief(worst.value));
        sentences.push(vec![Span::plain(end)]);
    }
    sentences
}

fn of_private(
    summary: &Summary,
    private: &MeasuredSeries<'_>,
    free: Option<&MeasuredSeries<'_>>,
    name: Span,
) -> Vec<Span> {
    let (whose, what) = match private.protection {
        Protection::Bounded(epsilon, basis) => {
            let whose = if private.protection.is_sound() {
                "The best private series, ".to_owned()
            } else {
                format!(
                    "No private series has a proven epsilon of at most {MODERATE}. The best private series with \
                     a finite epsilon, "
                )
            };
            (whose, format!(" (epsilon at most {} in one run, {}),", three_digits_up(epsilon), basis.words()))
        }
        _ => ("No private series has a finite privacy loss. ".to_owned(), String::new()),
    };
    let mut words = vec![Span::plain(whose), Span::strong(&private.series.name)];
    words.push(Span::plain(format!("{}{what}", private.place(summary))));
    let value = brief(private.value);
    let n = replications(private.value.n);
    let Some(free) = free else {
        words.extend([Span::plain(" ends at "), name, Span::plain(format!(" {value} ({n})."))]);
        return words;
    };
    let gap = (private.value.mean - free.value.mean).max(0.0);
    let than = match free.protection {
        _ if free.series.at_random => "random search",
        Protection::Open => "search without privacy",
        _ => "a series that releases nothing",
    };
    words.push(Span::plain(match free.protection {
        _ if gap == 0.0 => format!(" is on average no worse than {than}: "),
        Protection::Open if !free.series.at_random => {
            format!(" ends within {} of {than}: ", two_digits_up(gap))
        }
        _ => format!(" is worse than {than} by {}: ", two_digits_up(gap)),
    }));
    words.push(name);
    let beside = format!(" {value}, {} {} ({n}).", free.series.name, brief(free.value));
    words.push(Span::plain(beside));
    words
}

/// The best of those series of a cell that need no protected data: they release nothing, or query at random.
fn baseline<'a>(
    measure: Measure,
    cell: &'a CellSummary,
    unguarded: &UnprotectedLosses<'_>,
) -> Option<MeasuredSeries<'a>> {
    let needs_none = |one: &MeasuredSeries<'_>| one.series.at_random || one.protection == Protection::Silent;
    measure.rated(cell, unguarded).into_iter().find(needs_none)
}

/// A baseline in words.
fn baseline_text(baseline: &MeasuredSeries<'_>) -> String {
    match baseline.series.at_random {
        true => "random search".to_owned(),
        false => format!("{}, which releases nothing,", baseline.series.name),
    }
}

/// A sentence that compares the best private series with a baseline. It is short: the cards must fit the screen of a
/// phone.
fn baseline_sentence(private: &MeasuredSeries<'_>, baseline: &MeasuredSeries<'_>) -> Vec<Span> {
    let (what, value) = (baseline_text(baseline), brief(baseline.value));
    let what = what.trim_end_matches(',');
    if private.value.mean > baseline.value.mean {
        return vec![Span::plain(format!("That is worse than {what}: {value}.")).emphasised(true)];
    }
    vec![Span::plain(format!("{}: {value}.", capital(what)))]
}

/// A sentence on the cells of a sweep in which the best private series (of the best rank, see [`tier`]) is worse than a
/// baseline; `None` if there is no such cell, or if the study has only one cell.
fn worse_than_baseline(
    summary: &Summary,
    measure: Measure,
    unguarded: &UnprotectedLosses<'_>,
) -> Option<Vec<Span>> {
    let cells = summary.cells.iter().filter(|_| summary.cells.len() > 1);
    let worse: Vec<(MeasuredSeries<'_>, MeasuredSeries<'_>)> = cells
        .filter_map(|cell| {
            Some((Pair::of(measure, cell, unguarded).private?, baseline(measure, cell, unguarded)?))
        })
        .filter(|(private, baseline)| private.value.mean > baseline.value.mean)
        .collect();
    let (private, baseline) = worse.first()?;
    let cells = match summary.cells.len() {
        all if all == worse.len() => format!("all {all}"),
        all => format!("{} of {all}", worse.len()),
    };
    let name = baseline_text(baseline);
    let one_baseline = worse.iter().all(|(_, other)| baseline_text(other) == name);
    let than =
        if one_baseline { name.trim_end_matches(',') } else { "the best series that releases nothing" };
    let text = format!(
        "In {cells} cells the best private series is worse than {than}: {}{} ends at {}, against {}.",
        private.series.name,
        private.place(summary),
        brief(private.value),
        brief(baseline.value)
    );
    Some(vec![Span::plain(text).emphasised(true)])
}

/// A sentence on the gap between the best private series and the series without privacy: its smallest and its largest value
/// over the cells of a sweep. `None` if fewer than two cells have a gap, or if all gaps are equal.
fn over_cells(summary: &Summary, measure: Measure) -> Option<Vec<Span>> {
    let unguarded = UnprotectedLosses::of(summary);
    let pairs: Vec<Pair<'_>> = summary.cells.iter().map(|cell| Pair::of(measure, cell, &unguarded)).collect();
    // Only cells count whose private series has the same rank as the private series of the card's first sentence. If this is
    // the rank 2 (without a finite epsilon), no cell counts.
    let least = pairs.iter().filter_map(Pair::tier).min().filter(|tier| *tier < 2);
    let alike = pairs.iter().filter(|pair| pair.tier() == least && least.is_some());
    let gaps: Vec<(f64, MeasuredSeries<'_>)> =
        alike.filter_map(|pair| Some((pair.gap()?, pair.private?))).collect();
    let least = gaps.iter().map(|(gap, _)| *gap).reduce(f64::min)?;
    let (most, worst) = gaps.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    (gaps.len() > 1 && *most > least).then(|| {
        let cells = counted(gaps.len() as u64, "cell");
        let low = if least == 0.0 { "0".to_owned() } else { two_digits_up(least) };
        vec![Span::plain(format!(
            "Over {cells} the gap between the best private series and the best without privacy goes from \
             {low} to {} ({}{}).",
            two_digits_up(*most),
            worst.series.name,
            worst.place(summary)
        ))]
    })
}

fn replications(n: u64) -> String {
    if n == 1 { "one replication, so no error is known".to_owned() } else { format!("n = {n}") }
}

/// A sentence on why there is no regret.
fn unmeasured(summary: &Summary) -> Vec<Vec<Span>> {
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series);
    let early = all.any(|series: &SeriesSummary| series.ended_early > 0 || !series.curve.is_empty());
    let told = if early {
        "No replication reached its last round, so there is no final regret."
    } else if summary.cells.iter().all(|cell| cell.series.is_empty()) {
        "No replication finished."
    } else {
        "This protocol optimises nothing: there is no regret."
    };
    vec![vec![Span::plain(told)]]
}

/// Warnings about replications that failed, and about runs that ended early and are left out of final regrets.
fn missing(summary: &Summary) -> Vec<Vec<Span>> {
    let mut sentences = Vec::new();
    if !summary.complete {
        sentences.push(vec![
            Span::plain("Some replications failed: the numbers cover those that finished.").emphasised(true),
        ]);
    }
    let all = || summary.cells.iter().flat_map(|cell| &cell.series);
    let early: u64 = all().map(|series| series.ended_early).sum();
    let total: u64 = all().map(|series| series.replications).sum();
    if early > 0 {
        let told = format!("{early} of {total} runs ended early and are left out of final regrets.");
        sentences.push(vec![Span::plain(told).emphasised(true)]);
    }
    sentences
}
