//! Published regrets beside the measured regrets, and published privacy losses beside the computed losses.

use crate::accounting::{AccountantName, largest_finite};
use crate::scenario::{Metric, Published, PublishedLoss};
use crate::study::results::privacy_report::PrivacyRow;
use crate::study::results::series::SeriesSummary;
use crate::study::results::statistics::Estimate;
use crate::vocab::Finite;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A published regret beside the measured one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PublishedRow {
    /// The source of the published number.
    pub source: String,
    /// Name of the series.
    pub series: String,
    /// The metric.
    pub metric: Metric,
    /// The published number.
    pub published: f64,
    /// The measured number; absent if nothing was measured.
    pub measured: Option<Estimate>,
}

/// A published privacy loss of one run beside the losses that the accountants compute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PublishedLossRow {
    /// The source of the published loss.
    pub source: String,
    /// Name of the series.
    pub series: String,
    /// The published epsilon.
    pub published: f64,
    /// The largest finite epsilon by the moments accountant; absent if there is none.
    pub moments: Option<f64>,
    /// The largest finite epsilon by the tight accountant; absent if there is none.
    pub tight: Option<f64>,
}

/// Whether a published number belongs to a point of the study, that is, whether the point has every value that `at` states.
fn is_here(at: &BTreeMap<String, Finite>, point: &[(String, String)]) -> bool {
    at.iter().all(|(name, value)| {
        let found = point.iter().find(|(known, _)| known == name);
        found.is_some_and(|(_, text)| text.trim().parse() == Ok(value.get()))
    })
}

/// The published numbers that belong to a point, with the measured ones.
pub(in crate::study) fn published_rows(
    published: &[Published],
    point: &[(String, String)],
    series: &[SeriesSummary],
) -> Vec<PublishedRow> {
    published
        .iter()
        .filter(|figure| is_here(&figure.at, point))
        .map(|figure| {
            let of = series.iter().find(|series| series.name == figure.series);
            let measured = of.and_then(|series| series.metrics.regret(figure.metric));
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

/// The published losses that belong to a point, each beside two epsilons of its series. These are the largest finite
/// epsilon by the moments accountant and the largest finite epsilon by the tight accountant, over all owners, units of
/// protection and observers.
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
