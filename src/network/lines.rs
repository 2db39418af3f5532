//! The rates of links and access lines during a run.

use super::bandwidth::{Access, Bandwidth};
use super::party::AccessLine;
use super::population::PartyTraits;
use super::throughput::{LineOwner, LineRate, RateCurve};
use crate::rng::Key;
use crate::vocab::PartyId;

/// A party's number, and the place of its device among all devices in order of slowness: in (0, 1), near 1 for the slowest
/// devices. The party's compute model uses the same place.
fn owner(name: &str, party: &PartyTraits, key: Key) -> LineOwner {
    let drawn = key.child("compute").child(name).stream().open_uniform();
    LineOwner { slowness: party.device(name, key, drawn), number: party.number }
}

/// The rate of a party's access line in one direction. `way` is the name of the direction in the seed tree: `up` or `down`.
pub(super) fn access_rate(
    rate: &Option<LineRate>,
    name: &str,
    party: &PartyTraits,
    key: Key,
    way: &str,
) -> Option<RateCurve> {
    rate.as_ref().map(|rate| match rate {
        LineRate::Constant(rate) => RateCurve::constant(*rate),
        LineRate::Model(_) => {
            rate.curve(owner(name, party, key), key.child("throughput").child(way).child(name).stream())
        }
    })
}

/// The access lines of all parties in one direction. `way` is the name of the direction in the seed tree: `up` or `down`.
pub(super) fn access_lines(
    names: &[String],
    traits: &[PartyTraits],
    key: Key,
    way: &str,
    of: impl Fn(&Access) -> &Option<LineRate>,
) -> Vec<AccessLine> {
    let parties = names.iter().zip(traits);
    parties
        .map(|(name, party)| AccessLine::new(access_rate(of(&party.access), name, party, key, way)))
        .collect()
}

/// The rate of the link from one party to another. If the rate differs between devices, the link has the rate of the
/// sender's device.
pub(super) fn link_rate(
    bandwidth: &Bandwidth,
    names: &[String],
    traits: &[PartyTraits],
    (from, to): (PartyId, PartyId),
    key: Key,
) -> RateCurve {
    match &bandwidth.rate {
        LineRate::Constant(rate) => RateCurve::constant(*rate),
        LineRate::Model(_) => {
            let (from, to) = (from.index(), to.index());
            let stream = key.child("throughput").child(&names[from]).child(&names[to]).stream();
            bandwidth.rate.curve(owner(&names[from], &traits[from], key), stream)
        }
    }
}
