//! A protocol whose messages, timers and facts are all one word.

use subrosa::kernel::{Digest, Digestible, Payload, Protocol};

#[derive(Clone, Debug)]
pub struct World;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Word(pub u64);

impl Digestible for Word {
    fn digest(&self, digest: &mut Digest) {
        digest.word(self.0);
    }
}

impl Payload for Word {
    fn wire_bytes(&self) -> u64 {
        40
    }
    fn label(&self) -> &'static str {
        "Word"
    }
}

impl Protocol for World {
    type Message = Word;
    type Timer = Word;
    type Fact = Word;
}
