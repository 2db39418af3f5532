//! The card "At what cost": cumulative regret, and the rounds until most of the simple regret is gone, each with and without
//! privacy; also virtual time, messages, bytes and lost messages.

use super::measure::Measure;
use super::quality::chosen;
use crate::report::document::{Card, Span};
use crate::report::number::{brief, two_digits};
use crate::report::sections::terms::meaning;
use crate::study::{SeriesSummary, Summary};
use crate::vocab::counted;

/// Share of the initial simple regret; rounds are counted until no more than this share is left.
const PROGRESS: f64 = 0.1;

/// The card.
pub(super) fn card(summary: &Summary) -> Card {
    let mut sentences: Vec<Vec<Span>> = Vec::new();
    sentences.extend(questions(summary));
    sentences.extend(traffic(summary));
    if sentences.is_empty() {
        sentences.push(vec![Span::plain("No replication finished, so no cost is known.")]);
    }
    Card::new("cost", "At what cost", sentences)
}

/// The cost of privacy: cumulative regret, and the rounds until most of the simple regret is gone, beside those of a series
/// without privacy. `None` unless the study is judged by simple regret, and has a private series and a series without
/// privacy, each with a cumulative regret.
fn questions(summary: &Summary) -> Option<Vec<Span>> {
    let measure = Measure::of(summary).filter(|measure| *measure == Measure::Simple)?;
    let (private, free) = chosen(summary, measure)?;
    let free = free?;
    let (of_private, of_free) =
        (private.series.metrics.cumulative_regret?, free.series.metrics.cumulative_regret?);
    let mut words = vec![
        Span::strong(&private.series.name),
        Span::plain(format!("{} has ", private.place(summary))),
        Span::plain("cumulative regret").explained(meaning("cumulative regret")),
        Span::plain(format!(" {}, {} {}", brief(of_private), free.series.name, brief(of_free))),
    ];
    if let (Some(slow), Some(fast)) = (progress(private.series), progress(free.series))
        && (slow.is_some() || fast.is_some())
    {
        let rounds = |found: Option<u64>| match found {
            Some(t) => format!("after {}", counted(t, "round")),
            None => "in no round".to_owned(),
        };
        words.push(Span::plain(format!(
            "; {} is down to a tenth of its first simple regret {}, {} {}",
            private.series.name,
            rounds(slow),
            free.series.name,
            rounds(fast)
        )));
    }
    words.push(Span::plain("."));
    Some(words)
}

/// The first round at which mean simple regret is at most a tenth of that at the first point of the curve. `Some(None)` if
/// there is no such round; `None` without a curve, or if regret is 0 from the start.
fn progress(series: &SeriesSummary) -> Option<Option<u64>> {
    let first = series.curve.first().filter(|point| point.simple_regret.mean > 0.0)?;
    let least = PROGRESS * first.simple_regret.mean;
    Some(series.curve.iter().find(|point| point.simple_regret.mean <= least).map(|point| point.t))
}

/// The least and the largest of a number over all series of all cells.
fn range(summary: &Summary, of: impl Fn(&SeriesSummary) -> f64) -> Option<(f64, f64)> {
    let all = summary.cells.iter().flat_map(|cell| &cell.series).map(of);
    all.fold(None, |known, value| match known {
        None => Some((value, value)),
        Some((least, most)) => Some((f64::min(least, value), f64::max(most, value))),
    })
}

/// A range in words, such as "106 to 112"; one number if both ends have the same words.
fn between(range: (f64, f64), words: impl Fn(f64) -> String) -> String {
    let (least, most) = (words(range.0), words(range.1));
    if least == most { least } else { format!("{least} to {most}") }
}

fn traffic(summary: &Summary) -> Vec<Vec<Span>> {
    let of = |value: fn(&SeriesSummary) -> f64| range(summary, value);
    let (Some(time), Some(messages), Some(bytes)) = (
        of(|series| series.metrics.virtual_seconds),
        of(|series| series.metrics.messages),
        of(|series| series.metrics.bytes),
    ) else {
        return Vec::new();
    };
    let share = |series: &SeriesSummary| match series.metrics.messages {
        sent if sent > 0.0 => 100.0 * series.metrics.messages_lost / sent,
        _ => 0.0,
    };
    let lost = match range(summary, share) {
        Some((_, most)) if most > 0.0 => {
            format!(
                "; {} % of the messages are lost",
                between(range(summary, share).unwrap_or_default(), two_digits)
            )
        }
        _ => "; no message is lost".to_owned(),
    };
    vec![vec![
        Span::plain("A run takes "),
        Span::plain(between(time, duration)),
        Span::plain(" of "),
        Span::plain("virtual time").explained(meaning("virtual time")),
        Span::plain(format!(" and {} messages, {}{lost}.", between(messages, number), between(bytes, size))),
    ]]
}

/// A duration in virtual time, in a suitable unit, with two significant digits and its whole part in full.
fn duration(seconds: f64) -> String {
    const UNITS: [(f64, f64, &str); 5] = [
        (1.0, 1e-3, "ms"),
        (120.0, 1.0, "s"),
        (7200.0, 60.0, "min"),
        (172_800.0, 3600.0, "h"),
        (f64::INFINITY, 86_400.0, "days"),
    ];
    if seconds <= 0.0 {
        return "no time".to_owned();
    }
    let &(_, unit, name) = UNITS.iter().find(|(below, ..)| seconds < *below).unwrap_or(&UNITS[4]);
    format!("{} {name}", two_digits(seconds / unit))
}

fn number(count: f64) -> String {
    match count {
        // Rounded to thousands, such a number would be written as 1000,000 or with still more digits before the comma.
        c if c >= 999_500.0 => format!("{} million", two_digits(c / 1e6)),
        c if c >= 1e4 => format!("{},000", two_digits(libm::round(c / 1e3))),
        c => format!("{:.0}", libm::round(c)),
    }
}

fn size(bytes: f64) -> String {
    match bytes {
        b if b >= 1e9 => format!("{} GB", two_digits(b / 1e9)),
        b if b >= 1e6 => format!("{} MB", two_digits(b / 1e6)),
        b if b >= 1e3 => format!("{} kB", two_digits(b / 1e3)),
        b => format!("{b:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn large_counts_are_read_in_thousands_or_millions() {
        assert_eq!(
            [999.6, 12_400.0, 996_000.0, 999_600.0, 1.26e6].map(number),
            ["1000", "12,000", "996,000", "1.0 million", "1.3 million"]
        );
    }
}
