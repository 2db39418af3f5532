//! What publishing every run of a study would cost, where all runs are on the same data, in words.

use super::number::delta;
use super::words::{person, rests_on, unit};
use crate::accounting::StudyPrivacy;

/// What the figures are about.
pub(super) const WHAT: &str = "Every run is on the same records: this is what all of them together cost the worst-off \
                               one, were every run published or seen by the same observer.";

pub(super) fn title(row: &StudyPrivacy) -> String {
    format!("Privacy loss of the whole study (epsilon at delta {})", delta(row.delta))
}

/// Who would learn about whom.
pub(super) fn about(row: &StudyPrivacy) -> String {
    if row.person {
        return format!("{} about {}", row.observer, person(&row.protected));
    }
    format!("{} about {} of {}", row.observer, unit(&row.unit), row.protected)
}

/// Epsilons by accountant.
pub(super) fn figures(row: &StudyPrivacy) -> [(&'static str, f64); 3] {
    [("tight", row.epsilon_tight), ("rdp", row.epsilon_rdp), ("basic", row.epsilon_basic)]
}

/// On what they rest.
pub(super) fn rests(row: &StudyPrivacy) -> String {
    rests_on(row.basis, row.arithmetic, None)
}

/// What to know about them. What has no price is named with the losses of one run.
pub(super) fn note(row: &StudyPrivacy) -> &str {
    if row.figures_are_finite() { &row.note } else { "" }
}
