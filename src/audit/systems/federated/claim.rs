//! The loss claimed for the sums of a run, which is computed as if no answer were late or missing.

use crate::accounting::claims;
use crate::privacy::mechanisms::Price;
use crate::vocab::Delta;

/// The planned loss of all broadcasts together, which ignores late and missing answers.
pub(super) fn claimed(prices: &[Price], delta: Delta) -> Option<(f64, String)> {
    let claimed = claims(prices.iter().map(|price| &price.claim));
    let sources: Vec<String> = claimed.sources.iter().cloned().collect();
    (claimed.claimed > 0).then(|| (claimed.epsilon_at(delta), sources.join("; ")))
}
