//! The privacy loss that is claimed for the sums of a run; it is computed as if no answer were late or missing.

use crate::accounting::claims;
use crate::privacy::mechanisms::Price;
use crate::vocab::Delta;

/// The epsilon that is claimed for all sums with these prices together, and the sources of the claim; `None` if nothing
/// is claimed.
pub(super) fn claimed(prices: &[Price], delta: Delta) -> Option<(f64, String)> {
    let claimed = claims(prices.iter().map(|price| &price.claim));
    let sources: Vec<String> = claimed.sources.iter().cloned().collect();
    (claimed.claimed > 0).then(|| (claimed.epsilon_at(delta), sources.join("; ")))
}
