//! The compute time that a party announces to others.

use super::population::PartyTraits;
use crate::rng::Key;

/// The time in seconds that a party announces for one unit of work: the median time of a job on its device, without
/// random slowdowns; 0 if its jobs take no time. `network` is the network's node of the seed tree, from which the
/// device's slowness is drawn.
#[must_use]
pub fn announced_seconds(name: &str, party: &PartyTraits, network: Key) -> f64 {
    let model = party.compute.as_dyn();
    if model.is_instant() {
        return 0.0;
    }
    let slowness =
        model.slowness_numbered(party.number, network.child("compute").child(name).stream().open_uniform());
    // A job is slowed down if its last draw is small, so the largest draw below 1 excludes random slowdowns.
    model.job(slowness, 0.5, 1.0f64.next_down()).seconds()
}
