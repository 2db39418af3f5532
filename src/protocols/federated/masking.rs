//! Masks that cancel in a sum, and secret shares to compute and remove the masks that do not cancel.
//!
//! Every pair of agents agrees on a seed; if the graph of masks is not complete, only pairs of neighbours in this graph
//! do. One agent of a pair adds the pseudorandom words that are generated from the pair's seed, and the other agent
//! subtracts the same words. Every agent also adds words generated from a seed of its own. After the end of a round, each
//! agent that answered sends one share for every agent (the owner) of whose secrets it holds shares. If the owner
//! answered too, this is a share of the owner's own seed; otherwise it is a share of the owner's secret for key agreement.
//! So a server that follows the protocol, and with which no more agents collude than stated, can compute the sum. It
//! cannot compute any single answer, not even an answer that arrives late. Source: Bonawitz et al. 2017, "Practical
//! secure aggregation for privacy-preserving machine learning", figure 4. Key agreement is in a group of 61 bits, with
//! keys and shares of 8 bytes. Parties exchange messages of the sizes, and make the computations, of a real key agreement
//! in this group; but a group this small protects nothing outside a simulation.

use super::mask_graph::MaskGraph;
use crate::rng::{Key, Stream};

/// The prime 2^61 - 1: shares and keys are computed modulo it.
const PRIME: u64 = (1 << 61) - 1;
/// The public key of a secret s is this base to the power s, modulo the prime.
const BASE: u64 = 37;

fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

fn multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // 2^61 = 1 modulo the prime.
    let folded = (product & u128::from(PRIME)) as u64 + (product >> 61) as u64;
    if folded >= PRIME { folded - PRIME } else { folded }
}

fn power(base: u64, exponent: u64) -> u64 {
    let (mut result, mut square, mut left) = (1, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = multiply(result, square);
        }
        square = multiply(square, square);
        left >>= 1;
    }
    result
}

fn inverse(a: u64) -> u64 {
    power(a, PRIME - 2)
}

/// The two secrets that each agent has in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The secret for its key agreements with the other agents.
    Pair,
    /// The seed of its own mask.
    Own,
}

/// Computes the keys of all agents, and the shares of their secrets, when they are needed. An agent uses this struct only
/// for its own secrets, for public keys and for the shares that it holds. The server uses it only for public keys.
#[derive(Debug)]
pub(super) struct MaskSecrets {
    /// Node of the seed tree for each agent's secrets.
    pub(super) keys: Vec<Key>,
    /// The pairs of agents that share masks.
    pub(super) graph: MaskGraph,
}

impl MaskSecrets {
    /// Number of shares that recover a secret: a majority of all shares of this secret.
    pub(super) fn threshold(&self) -> usize {
        self.graph.threshold()
    }

    fn polynomial(&self, owner: usize, kind: Kind, round: u64) -> Stream {
        let label = match kind {
            Kind::Pair => "pair secret",
            Kind::Own => "own seed",
        };
        self.keys[owner].child(label).index(round).stream()
    }

    /// A secret of an agent; only `owner` itself may call this.
    pub(super) fn secret(&self, owner: usize, kind: Kind, round: u64) -> u64 {
        self.polynomial(owner, kind, round).word() % PRIME
    }

    /// The public key of an agent.
    pub(super) fn public(&self, owner: usize, round: u64) -> u64 {
        power(BASE, self.secret(owner, Kind::Pair, round))
    }

    /// Shamir's share of a secret: the value, at the holder's point, of a random polynomial whose value at 0 is the
    /// secret. The holder's point is the holder's number plus 1.
    pub(super) fn share(&self, owner: usize, kind: Kind, round: u64, holder: usize) -> u64 {
        let mut stream = self.polynomial(owner, kind, round);
        let coefficients: Vec<u64> = (0..self.threshold()).map(|_| stream.word() % PRIME).collect();
        let place = holder as u64 + 1;
        coefficients.iter().rev().fold(0, |sum, &c| add(multiply(sum, place), c))
    }
}

/// Lagrange coefficients at 0: the secret is the sum of these holders' shares, each times its coefficient.
pub(super) fn lagrange(holders: &[usize]) -> Vec<u64> {
    let place = |holder: usize| holder as u64 + 1;
    holders
        .iter()
        .map(|&own| {
            let (mut above, mut below) = (1, 1);
            for &other in holders.iter().filter(|&&other| other != own) {
                above = multiply(above, place(other));
                below = multiply(below, add(place(other), PRIME - place(own)));
            }
            multiply(above, inverse(below))
        })
        .collect()
}

/// The secret: the sum of the shares, each times its Lagrange coefficient.
pub(super) fn recover(shares: impl Iterator<Item = u64>, factors: &[u64]) -> u64 {
    shares.zip(factors).fold(0, |sum, (share, &factor)| add(sum, multiply(share, factor)))
}

/// The seed that two agents agree on, from the secret of one and the public key of the other.
pub(super) fn agreed(secret: u64, public: u64) -> u64 {
    power(public, secret)
}

/// Adds or subtracts the words that are generated from a seed.
pub(super) fn mask(words: &mut [u64], seed: u64, adds: bool) {
    let mut stream = Key::root(seed).child("mask").stream();
    for word in words {
        let noise = stream.word();
        *word = if adds { word.wrapping_add(noise) } else { word.wrapping_sub(noise) };
    }
}

/// Whether agent `own` adds the words it shares with `other`; `other` then subtracts them.
pub(super) fn adds(own: usize, other: usize) -> bool {
    own < other
}

/// Numbers are encoded as multiples of 2^-40, in 64-bit words. A sum of encoded numbers is exact if its absolute value is
/// below 2^23; larger sums wrap around.
const SCALE: f64 = (1u64 << 40) as f64;

/// A number as a word, rounded to a multiple of 2^-40. A number beyond 2^23 in absolute value becomes the largest or
/// the smallest number that a word can encode.
pub(super) fn encode(value: f64) -> u64 {
    (value * SCALE).round() as i64 as u64
}

/// The number that a word encodes.
pub(super) fn decode(word: u64) -> f64 {
    word as i64 as f64 / SCALE
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secrets(agents: u64) -> MaskSecrets {
        let graph = MaskGraph::Complete(agents as usize);
        MaskSecrets { keys: (0..agents).map(|n| Key::root(5).index(n)).collect(), graph }
    }

    #[test]
    fn both_ends_agree_on_a_seed() {
        let secrets = secrets(4);
        let seed = |own, other| agreed(secrets.secret(own, Kind::Pair, 3), secrets.public(other, 3));
        assert_eq!(seed(0, 2), seed(2, 0));
        assert_ne!(seed(0, 2), seed(0, 1));
        assert_eq!(multiply(inverse(123_456_789), 123_456_789), 1);
    }

    proptest! {
        /// The shares of any majority recover a secret; with one share fewer the result is another number.
        #[test]
        fn a_majority_recovers(agents in 3u64..12, owner in 0usize..3, mut order in any::<u64>()) {
            let secrets = secrets(agents);
            let mut holders: Vec<usize> = (0..agents as usize).collect();
            for last in (1..holders.len()).rev() {
                holders.swap(last, (order % (last as u64 + 1)) as usize);
                order = order.rotate_left(7);
            }
            let from = |holders: &[usize]| {
                let shares = holders.iter().map(|&holder| secrets.share(owner, Kind::Own, 9, holder));
                recover(shares, &lagrange(holders))
            };
            let secret = secrets.secret(owner, Kind::Own, 9);
            prop_assert_eq!(from(&holders[..secrets.threshold()]), secret);
            prop_assert_ne!(from(&holders[..secrets.threshold() - 1]), secret);
        }

        #[test]
        fn sums_of_words_are_sums_of_numbers(values in prop::collection::vec(-1000.0f64..1000.0, 1..50)) {
            let words = values.iter().fold(0u64, |sum, &value| sum.wrapping_add(encode(value)));
            prop_assert!((decode(words) - values.iter().sum::<f64>()).abs() < 1e-9);
        }
    }
}
