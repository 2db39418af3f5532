//! Published numbers beside the measured ones.

use crate::accounting::{AccountantName, largest_finite};
use crate::scenario::{Metric, Published, PublishedLoss};
use crate::study::results::privacy_report::PrivacyRow;
use crate::study::results::series::SeriesSummary;
use crate::study::results::statistics::Estimate;
use crate::vocab::Finite;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A figure from a paper beside ours.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PublishedRow {
    /// Its source.
    pub source: String,
    /// Name of the series.
    pub series: String,
    /// What was measured.
    pub metric: Metric,
    /// The paper's figure.
    pub published: f64,
    /// Ours; absent if nothing was measured.
    pub measured: Option<Estimate>,
}

/// A privacy loss from a paper beside ours, of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PublishedLossRow {
    /// Its source.
    pub source: String,
    /// Name of the series.
    pub series: String,
    /// The paper's epsilon.
    pub published: f64,
    /// The moments accountant's, which most papers use, where it gives one.
    pub moments: Option<f64>,
    /// The tight accountant's, where it gives one.
    pub tight: Option<f64>,
}

/// Whether a figure belongs to a point of the study.
fn is_here(at: &BTreeMap<String, Finite>, point: &[(String, String)]) -> bool {
    at.iter().all(|(name, value)| {
        let found = point.iter().find(|(known, _)| known == name);
        found.is_some_and(|(_, text)| text.trim().parse() == Ok(value.get()))
    })
}

/// The figures that belong to a point, with ours.
pub(in crate::study) fn published_rows(
    published: &[Published],
    point: &[(String, String)],
    series: &[SeriesSummary],
) -> Vec<PublishedRow> {
    published
        .iter()
        .filter(|figure| is_here(&figure.at, point))
        .map(|figure| {
            let measured = series.iter().find(|series| series.name == figure.series).and_then(|series| {
                match figure.metric {
                    Metric::SimpleRegret => series.metrics.simple_regret,
                    Metric::CumulativeRegret => series.metrics.cumulative_regret,
                }
            });
            PublishedRow {
                source: figure.source.clone(),
                series: figure.series.clone(),
                metric: figure.metric,
                published: figure.value.get(),
                measured,
            }
        })
        .collect()
}

/// The losses that belong to a point, with ours: of the observer with the largest loss, for releases with a finite
/// price.
pub(in crate::study) fn published_losses(
    published: &[PublishedLoss],
    point: &[(String, String)],
    privacy: &[PrivacyRow],
) -> Vec<PublishedLossRow> {
    let ours = |series: &str, accountant: AccountantName| {
        let rows = privacy.iter().filter(|row| row.series == series);
        largest_finite(rows.flat_map(|row| &row.losses), accountant)
    };
    published
        .iter()
        .filter(|loss| is_here(&loss.at, point))
        .map(|loss| PublishedLossRow {
            source: loss.source.clone(),
            series: loss.series.clone(),
            published: loss.epsilon.get(),
            moments: ours(&loss.series, AccountantName::Moments),
            tight: ours(&loss.series, AccountantName::Tight),
        })
        .collect()
}
