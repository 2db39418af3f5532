//! Keys of the seed tree: a child's key is a hash of the child's label or number, keyed with the parent's key.

use super::Stream;

/// Version of the labels and of the hash. A change of either gives every run new random numbers, so this version is part
/// of the replay format.
pub(crate) const TREE_VERSION: u32 = 1;

/// A node of the seed tree. The streams of a node's children are independent of each other and of the node's own stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// The root of the tree of a seed.
    #[must_use]
    pub fn root(seed: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("subrosa seed tree version 1");
        hasher.update(&seed.to_le_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The child named `label`.
    #[must_use]
    pub fn child(&self, label: &str) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(b"label\0");
        hasher.update(label.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The child with the number `index`. A numbered child differs from every named child.
    #[must_use]
    pub fn index(&self, index: u64) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(b"index\0");
        hasher.update(&index.to_le_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The stream of draws of this node.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream::from_seed(self.0)
    }

    /// The stream of draws of this node, starting at the word with the number `first`, counted from 0. `first` should be a
    /// multiple of 8, because ChaCha computes whole blocks of eight words.
    #[must_use]
    pub(crate) fn stream_from(&self, first: u64) -> Stream {
        Stream::from_seed_at(self.0, first)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({:02x}{:02x}{:02x}{:02x}..)", self.0[0], self.0[1], self.0[2], self.0[3])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_and_parents_are_independent_addresses() {
        let root = Key::root(7);
        assert_ne!(root.child("a"), root.child("b"));
        assert_ne!(root.index(0), root.index(1));
        assert_ne!(root.child("a").child("b"), root.child("ab"));
        assert_ne!(Key::root(7), Key::root(8));
    }

    #[test]
    fn first_words_are_frozen() {
        let mut stream = Key::root(42).child("replication").index(3).stream();
        assert_eq!(
            [stream.word(), stream.word(), stream.word()],
            [6947153634505238133, 18254395401674943275, 2762954797648318475],
            "the seed tree is part of the replay format; a change must raise TREE_VERSION"
        );
    }
}
