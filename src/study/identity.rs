//! What makes two computations the same: the hash of all that a result depends on.

use crate::rng::TREE_VERSION;

/// A hash over labelled parts, in order.
#[derive(Debug)]
pub(super) struct Identity(blake3::Hasher);

impl Identity {
    /// Begins with the program's version, so that another version never reuses a result.
    pub(super) fn new(purpose: &str) -> Self {
        let mut identity = Self(blake3::Hasher::new());
        identity.text(purpose);
        identity.text(env!("CARGO_PKG_VERSION"));
        identity.word(u64::from(TREE_VERSION));
        identity
    }

    pub(super) fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    pub(super) fn word(&mut self, word: u64) {
        self.0.update(&word.to_le_bytes());
    }

    /// 64 hexadecimal digits.
    pub(super) fn hex(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}
