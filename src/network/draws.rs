//! The random numbers of a link's messages.

use crate::rng::{Key, Stream, open_unit, unit};

/// Number of messages whose random words are computed together: their 32 words of 64 bits fill four blocks of ChaCha.
const TOGETHER: usize = 16;

/// The random draws of a link: two random words per message, the first for its latency, the second for its loss.
/// Message k (from 0) always uses words 2k and 2k + 1, whatever the models are. A link that has carried at most one message
/// stores only the key of its stream. A key takes a tenth of the memory of a stream, and in a network of a million links,
/// most links carry at most one message.
#[derive(Clone, Debug)]
pub(super) enum Draws {
    None(Key),
    One(Key),
    Many(Ahead),
}

/// The draws of a link that has carried several messages. In a network of thousands of links, a link's words are usually not
/// in the processor's caches when a message is sent. Therefore the draws of a message are read when the message before it is
/// sent, and stored with the link: the processor can fetch the words while it handles the earlier message.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// The draws of the next message.
    next: (f64, f64),
    /// The number, from 0, of the message after the next one; its words are read next.
    read: u64,
    /// The words of the [`TOGETHER`] messages that include message `read`. If `read` is a multiple of [`TOGETHER`], they
    /// have not been computed yet.
    words: Box<[[u64; 2]; TOGETHER]>,
    key: Key,
}

impl Ahead {
    /// The draws of message `first` and of all later messages.
    fn new(key: Key, first: u64) -> Self {
        let mut draws = Self { next: (0.0, 0.0), read: first, words: Box::new([[0; 2]; TOGETHER]), key };
        if !first.is_multiple_of(TOGETHER as u64) {
            draws.fill();
        }
        draws.next();
        draws
    }

    /// The draws of the next message.
    #[inline]
    fn next(&mut self) -> (f64, f64) {
        let place = self.read as usize % TOGETHER;
        if place == 0 {
            self.fill();
        }
        let [latency, loss] = self.words[place];
        self.read += 1;
        std::mem::replace(&mut self.next, (open_unit(latency), unit(loss)))
    }

    /// Computes the words of the [`TOGETHER`] messages that include message `read`.
    #[cold]
    fn fill(&mut self) {
        let first = self.read / TOGETHER as u64 * TOGETHER as u64;
        let mut stream = self.key.stream_from(2 * first);
        *self.words = std::array::from_fn(|_| [stream.word(), stream.word()]);
    }
}

impl Draws {
    /// Skips the draws of this many messages.
    pub(super) fn skip(&mut self, messages: u64) {
        for _ in 0..messages {
            self.next();
        }
    }

    /// The draws of the next message: for its latency in (0, 1), for its loss in [0, 1).
    #[inline]
    pub(super) fn next(&mut self) -> (f64, f64) {
        match self {
            Self::Many(draws) => draws.next(),
            Self::None(_) | Self::One(_) => self.first_or_second(),
        }
    }

    /// The draws of the next message of a link that has carried at most one.
    #[cold]
    fn first_or_second(&mut self) -> (f64, f64) {
        match self {
            Self::Many(draws) => draws.next(),
            Self::None(key) => {
                let mut stream: Stream = key.stream();
                let first = (stream.open_uniform(), stream.uniform());
                *self = Self::One(*key);
                first
            }
            Self::One(key) => {
                let mut draws = Ahead::new(*key, 1);
                let second = draws.next();
                *self = Self::Many(draws);
                second
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_draws_the_words_of_its_stream_in_order() {
        let key = Key::root(5).child("link");
        let (mut draws, mut stream) = (Draws::None(key), key.stream());
        for _ in 0..100 {
            assert_eq!(draws.next(), (stream.open_uniform(), stream.uniform()));
        }
    }
}
