//! What makes two computations the same: the hash of all that a result depends on.

use crate::rng::TREE_VERSION;
use crate::scenario::OwnMember;
use std::sync::OnceLock;

/// Hash of the sources and of the versions of all dependencies that this program was built from (`build.rs`).
pub const BUILD: &str = env!("SUBROSA_SOURCES");

/// The build that plays scenarios which name these members of a program's own: [`BUILD`] where there are none, else a hash of
/// that and of the program's file, which holds the members' code. The file is read once.
#[must_use]
pub fn build_with(own: &[OwnMember]) -> String {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    if own.is_empty() {
        return BUILD.to_owned();
    }
    let program = PROGRAM.get_or_init(|| {
        let bytes = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        hasher.update(BUILD.as_bytes());
        hasher.update(&bytes);
        hasher.finalize().to_hex()[..BUILD.len().min(64)].to_owned()
    });
    program.clone()
}

/// A hash over labelled parts, in order.
#[derive(Debug)]
pub(in crate::study) struct Identity(blake3::Hasher);

impl Identity {
    /// Begins with the build too, so that a program of other sources never reuses a result. A run of a time when builds
    /// were not told apart has an empty one.
    pub(in crate::study) fn of_build(purpose: &str, build: &str) -> Self {
        let mut identity = Self::new(purpose);
        if !build.is_empty() {
            identity.text(build);
        }
        identity
    }

    /// Begins with the program's version.
    pub(in crate::study) fn new(purpose: &str) -> Self {
        let mut identity = Self(blake3::Hasher::new());
        identity.text(purpose);
        identity.text(env!("CARGO_PKG_VERSION"));
        identity.word(u64::from(TREE_VERSION));
        identity
    }

    pub(in crate::study) fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    pub(in crate::study) fn word(&mut self, word: u64) {
        self.0.update(&word.to_le_bytes());
    }

    /// 64 hexadecimal digits.
    pub(in crate::study) fn hex(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}
