//! The random numbers of a link's messages.

use crate::rng::{Key, Stream};

/// The random draws of a link: two words per message, the first for its latency, the second for its loss. Message k always
/// uses words 2k and 2k + 1, whatever the models. A link that has carried at most one message stores only the key of its
/// stream, which takes a tenth of the stream's memory; in a network of a million links, most are of this kind.
#[derive(Clone, Debug)]
pub(super) enum Draws {
    None(Key),
    One(Key),
    Many(Box<Stream>),
}

impl Draws {
    /// Passes over the draws of this many messages.
    pub(super) fn skip(&mut self, messages: u64) {
        for _ in 0..messages {
            self.next();
        }
    }

    /// The draws of the next message: for its latency in (0, 1), for its loss in [0, 1).
    pub(super) fn next(&mut self) -> (f64, f64) {
        let pair = |stream: &mut Stream| (stream.open_uniform(), stream.uniform());
        match self {
            Self::Many(stream) => pair(stream),
            Self::None(key) => {
                let first = pair(&mut key.stream());
                *self = Self::One(*key);
                first
            }
            Self::One(key) => {
                let mut stream = Box::new(key.stream());
                pair(&mut stream);
                let second = pair(&mut stream);
                *self = Self::Many(stream);
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
        for _ in 0..50 {
            assert_eq!(draws.next(), (stream.open_uniform(), stream.uniform()));
        }
    }
}
