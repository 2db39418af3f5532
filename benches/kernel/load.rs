//! What every engine has to do: who sends to whom, and after which delay. One word of one stream per party and event
//! tells the addressee and the delay, so engines differ in their event loops only.

use subrosa::rng::{Key, Stream};

pub const PARTIES: u32 = 1000;
/// What the hub's messages take in a star, in nanoseconds.
pub const BROADCAST_DELAY: u64 = 1_000_000;

/// A law of delays, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub enum Law {
    Exponential,
    Constant,
    HalfZero,
    Bimodal,
    Pareto,
}

/// One pattern of traffic: PHOLD over a law of delays, or a star.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// Every message is passed on to a random party; as many are pending at any time as there are parties.
    Phold(Law),
    /// Party 0 sends to all others and waits for all answers, which take a random time.
    Star,
}

impl Load {
    /// The delays of its random messages.
    pub fn law(self) -> Law {
        match self {
            Self::Phold(law) => law,
            Self::Star => Law::Exponential,
        }
    }
}

const CELLS: u32 = 512;

/// Draws delays. The logarithm comes from a table of 512 cells, exact to 5e-7, so that the bench measures event
/// loops rather than logarithms.
#[derive(Clone, Debug)]
pub struct Delays {
    law: Law,
    logarithms: Vec<f64>,
}

impl Delays {
    pub fn new(law: Law) -> Self {
        let logarithms =
            (0..=CELLS).map(|cell| libm::log(1.0 + f64::from(cell) / f64::from(CELLS))).collect();
        Self { law, logarithms }
    }

    /// The delay that a uniform draw, in units of 2^-32, stands for.
    #[inline(always)]
    pub fn of(&self, draw: u32) -> u64 {
        const MEAN: f64 = 1e9;
        match self.law {
            Law::Exponential => (-MEAN * self.logarithm(draw)) as u64,
            Law::Constant => MEAN as u64,
            Law::HalfZero => {
                if draw.is_multiple_of(2) {
                    0
                } else {
                    (-MEAN * self.logarithm(draw)) as u64
                }
            }
            Law::Bimodal => {
                let uniform = (f64::from(draw) + 0.5) / 4_294_967_296.0;
                (if uniform < 0.9 { 0.5 + uniform } else { 1000.0 * uniform } * MEAN) as u64
            }
            Law::Pareto => (0.1 * MEAN * libm::exp(-self.logarithm(draw) / 1.1)) as u64,
        }
    }

    /// ln((draw + 1/2) / 2^32).
    #[inline(always)]
    fn logarithm(&self, draw: u32) -> f64 {
        let odd = 2 * u64::from(draw) + 1;
        let zeros = odd.leading_zeros();
        // The leading one is shifted out; what follows is the fraction above it.
        let fraction = odd << zeros << 1;
        let cell = (fraction >> 55) as usize;
        let within = (fraction << 9 >> 9) as f64 / (1u64 << 55) as f64;
        let (low, high) = (self.logarithms[cell], self.logarithms[cell + 1]);
        let exponent = 63.0 - f64::from(zeros) - 33.0;
        exponent * std::f64::consts::LN_2 + low + within * (high - low)
    }
}

/// The addressee and the draw of a delay, from one word.
#[inline]
pub fn split(word: u64) -> (u32, u32) {
    let party = ((word >> 32) * u64::from(PARTIES)) >> 32;
    (party as u32, word as u32)
}

/// One stream for each party.
pub fn streams() -> Vec<Stream> {
    let key = Key::root(1).child("party");
    (0..PARTIES).map(|party| key.index(u64::from(party)).stream()).collect()
}
