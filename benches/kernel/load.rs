//! What every engine has to do: who sends to whom, and after which delay. One word of one stream per party and event
//! tells the addressee and the delay, so engines differ in their event loops only.

use subrosa::rng::{Key, Stream};

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

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every message is passed on to a random party; as many are pending at any time as there are parties.
    Phold,
    /// Every message is passed on to the next party of a ring, as in queues in tandem; as many are pending as in PHOLD.
    Ring,
    /// Party 0 sends to all others and waits for all answers, which take a random time.
    Star,
}

/// A pattern of traffic among so many parties, with a law of delays.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub pattern: Pattern,
    pub law: Law,
    pub parties: u32,
}

impl Load {
    /// The addressee of the message that party `me` passes on, and the draw of its delay, from one word.
    #[inline]
    pub fn split(self, me: u32, word: u64) -> (u32, u32) {
        let to = match self.pattern {
            Pattern::Phold => (((word >> 32) * u64::from(self.parties)) >> 32) as u32,
            Pattern::Ring if me + 1 == self.parties => 0,
            Pattern::Ring => me + 1,
            Pattern::Star => 0,
        };
        (to, word as u32)
    }

    /// One stream for each party.
    pub fn streams(self) -> Vec<Stream> {
        let key = Key::root(1).child("party");
        (0..self.parties).map(|party| key.index(u64::from(party)).stream()).collect()
    }
}

const CELL_BITS: u32 = 7;
const CELLS: u32 = 1 << CELL_BITS;

impl Law {
    /// The delay in nanoseconds that is exceeded with this probability.
    fn quantile(self, tail: f64) -> u64 {
        let seconds = match self {
            Self::Exponential => -libm::log(tail),
            Self::Constant => 1.0,
            Self::HalfZero if tail > 0.5 => 0.0,
            Self::HalfZero => -libm::log(2.0 * tail),
            Self::Bimodal if tail > 0.1 => 1.5 - tail,
            Self::Bimodal => 1000.0 * (1.0 - tail),
            Self::Pareto => 0.1 * libm::pow(tail, -1.0 / 1.1),
        };
        (1e9 * seconds) as u64
    }
}

/// Draws delays by a table of quantiles: the bench is to measure event loops rather than logarithms. For each power of
/// two of the probability of longer delays there are 128 cells, with a straight line within each.
#[derive(Clone, Debug)]
pub struct Delays {
    quantiles: Vec<u64>,
}

impl Delays {
    pub fn new(law: Law) -> Self {
        let octave = |octave: u32| {
            let most = libm::exp2(-f64::from(octave));
            (0..=CELLS).map(move |cell| law.quantile(most * 0.5 * (1.0 + f64::from(cell) / f64::from(CELLS))))
        };
        Self { quantiles: (0..=32).flat_map(octave).collect() }
    }

    /// The delay that a uniform draw, in units of 2^-32, stands for.
    #[inline(always)]
    pub fn of(&self, draw: u32) -> u64 {
        // The probability of longer delays is (draw + 1/2) / 2^32. Its leading one tells the octave and is shifted out;
        // what follows it tells the cell and the place in it.
        let odd = 2 * u64::from(draw) + 1;
        let zeros = odd.leading_zeros();
        let fraction = odd << zeros << 1;
        let cell = (zeros - 31) * (CELLS + 1) + (fraction >> (64 - CELL_BITS)) as u32;
        let (long, short) = (self.quantiles[cell as usize], self.quantiles[cell as usize + 1]);
        let within = fraction << CELL_BITS;
        long - ((u128::from(long - short) * u128::from(within)) >> 64) as u64
    }
}
