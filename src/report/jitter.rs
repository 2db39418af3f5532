//! What a report says of the jitter that models needed.

use crate::study::Summary;
use std::collections::BTreeSet;

/// How much was added to diagonals at most and in which series, in words; nothing if no model needed any.
pub(super) fn jitter(summary: &Summary) -> Option<String> {
    let needed = || summary.cells.iter().flat_map(|cell| &cell.series).filter(|series| series.jitter > 0.0);
    let most = needed().map(|series| series.jitter).fold(0.0, f64::max);
    let names: BTreeSet<String> = needed().map(|series| format!("\"{}\"", series.name)).collect();
    (most > 0.0).then(|| {
        format!(
            "jitter: up to {most:.1e} was added to the diagonal of a covariance matrix that rounding had made singular, in {}",
            names.into_iter().collect::<Vec<String>>().join(", ")
        )
    })
}
