//! A 4-ary heap of keys, for events that are scheduled after their bucket has been emptied.

use super::node::Key;

const ARITY: usize = 4;

/// A heap whose first key is the smallest.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    keys: Vec<Key>,
}

impl Heap {
    pub(super) fn first(&self) -> Option<&Key> {
        self.keys.first()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// All keys, in no particular order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Key> {
        self.keys.drain(..)
    }

    pub(super) fn push(&mut self, key: Key) {
        let mut child = self.keys.len();
        self.keys.push(key);
        while child > 0 {
            let parent = (child - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[child] = self.keys[parent];
            child = parent;
        }
        self.keys[child] = key;
    }

    pub(super) fn pop(&mut self) -> Option<Key> {
        let last = self.keys.pop()?;
        let Some(&first) = self.keys.first() else { return Some(last) };
        let mut parent = 0;
        loop {
            let children = parent * ARITY + 1;
            let end = (children + ARITY).min(self.keys.len());
            let Some(smallest) = (children..end).min_by_key(|&child| self.keys[child]) else { break };
            if last <= self.keys[smallest] {
                break;
            }
            self.keys[parent] = self.keys[smallest];
            parent = smallest;
        }
        self.keys[parent] = last;
        Some(first)
    }
}
