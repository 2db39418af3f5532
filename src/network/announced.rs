//! The compute time that a party announces to others.

use super::population::PartyTraits;
use crate::rng::Key;

/// The time in seconds that a party announces for one unit of work: the median time of a job of one unit on the party's
/// device, without random slowdowns; 0 if the party's jobs take no time. `network` is the network's node of the seed tree.
/// The device's slowness is drawn from a stream below this node.
#[must_use]
pub fn announced_seconds(name: &str, party: &PartyTraits, network: Key) -> f64 {
    let model = party.compute.as_dyn();
    if model.is_instant() {
        return 0.0;
    }
    let drawn = network.child("compute").child(name).stream().open_uniform();
    let slowness = model.slowness_numbered(party.number, party.device(name, network, drawn));
    // The last argument of `job` is the draw for a random slowdown. Small draws slow a job down, so the largest number
    // below 1 excludes slowdowns, unless every job is slowed down.
    model.job(slowness, 0.5, 1.0f64.next_down()).seconds()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::availability::AvailabilityModel;
    use crate::network::compute::{ComputeModel, Heterogeneous};
    use crate::network::latency::{Constant, LatencyModel};
    use crate::network::together::{PartyQuantity, Together};
    use crate::vocab::{Finite, NonNegative};
    use std::sync::Arc;

    /// If the speed of devices is correlated with heterogeneity, faster devices still announce shorter times.
    #[test]
    fn devices_announce_their_actual_speed() {
        let together = Together {
            of: vec![PartyQuantity::Heterogeneity, PartyQuantity::Speed],
            correlation: Some(Finite::new(-0.6).unwrap()),
            matrix: None,
        };
        let time = LatencyModel::from(Constant("300ms".parse().unwrap()));
        let party = PartyTraits {
            group: None,
            number: 0,
            availability: AvailabilityModel::default(),
            compute: ComputeModel::from(Heterogeneous { time, sigma: NonNegative::new(0.5).unwrap() }),
            access: crate::network::bandwidth::Access::default(),
            together: Some(Arc::new(together)),
        };
        let network = Key::root(3).child("network");
        let mut parties: Vec<(f64, f64)> = (0..30)
            .map(|i| {
                let name = format!("phone-{i}");
                let level = party.level(PartyQuantity::Speed, &name, network).unwrap();
                (level, announced_seconds(&name, &party, network))
            })
            .collect();
        parties.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(parties.windows(2).all(|pair| pair[0].1 > pair[1].1), "{parties:?}");
    }
}
