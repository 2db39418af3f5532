//! The identity of a computation: the hash of everything that its result depends on.

use crate::rng::TREE_VERSION;
use crate::scenario::OwnMember;
use crate::vocab::process_id;
use std::sync::OnceLock;

/// Hash of the sources and of the versions of all dependencies that this program was built from (`build.rs`).
pub const BUILD: &str = env!("SUBROSA_SOURCES");

/// The identity of the build for scenarios that name the members `own`, which the user's own program has added to families.
/// If `own` is empty, the identity is [`BUILD`]. Otherwise it is a hash of [`BUILD`] and of the program's executable file,
/// which contains the members' code. The executable file is read once. If it cannot be read, each process has another
/// hash, so that no result is reused.
#[must_use]
pub fn build_with(own: &[OwnMember]) -> String {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    if own.is_empty() {
        return BUILD.to_owned();
    }
    let program = PROGRAM.get_or_init(|| hash_of_program(std::env::current_exe().and_then(std::fs::read)));
    program.clone()
}

fn hash_of_program(executable: std::io::Result<Vec<u8>>) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(BUILD.as_bytes());
    match executable {
        Ok(bytes) => hasher.update(&bytes),
        Err(_) => {
            // The results of another program must not be taken for those of this one. `RandomState` has other keys in each
            // process.
            let keys = std::collections::hash_map::RandomState::new();
            let unlike = std::hash::BuildHasher::hash_one(&keys, process_id());
            hasher.update(b"an executable that cannot be read").update(&unlike.to_le_bytes())
        }
    };
    hasher.finalize().to_hex()[..BUILD.len().min(64)].to_owned()
}

/// A hash over labelled parts, in order.
#[derive(Debug)]
pub(in crate::study) struct Identity(blake3::Hasher);

impl Identity {
    /// Begins an identity that includes the build, so that a program that was built from other sources never reuses a
    /// result. `build` is empty for runs of versions that did not record the build.
    pub(in crate::study) fn of_build(purpose: &str, build: &str) -> Self {
        let mut identity = Self::new(purpose);
        if !build.is_empty() {
            identity.text(build);
        }
        identity
    }

    /// Begins an identity with its purpose and the versions of the program and of the seed tree.
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

    /// The hash of the parts so far, as 64 hexadecimal digits.
    pub(in crate::study) fn hex(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two programs whose executable files cannot be read have different hashes.
    #[test]
    fn an_unreadable_program_shares_no_results() {
        let unreadable = || hash_of_program(Err(std::io::Error::other("not to be read")));
        assert_ne!(unreadable(), unreadable());
        assert_eq!(hash_of_program(Ok(vec![1])), hash_of_program(Ok(vec![1])));
    }
}
