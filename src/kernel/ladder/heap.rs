//! A 4-ary heap of keys, for events that are scheduled when their bucket of the ladder queue has already been emptied.

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
        while let Some(smallest) = self.smallest_child(parent) {
            let key = self.keys[smallest];
            if last <= key {
                break;
            }
            self.keys[parent] = key;
            parent = smallest;
        }
        self.keys[parent] = last;
        Some(first)
    }

    /// The index of the smallest child; `None` if there are no children. Four children are compared in two pairs, so that
    /// the processor can compare both pairs at once.
    #[inline(always)]
    fn smallest_child(&self, parent: usize) -> Option<usize> {
        let first = parent * ARITY + 1;
        let children = self.keys.get(first..)?;
        if let Some([a, b, c, d]) = children.first_chunk::<ARITY>() {
            let (left, right) = (usize::from(b < a), 2 + usize::from(d < c));
            return Some(first + if b.min(a) < d.min(c) { left } else { right });
        }
        let mut smallest = 0;
        for child in 1..children.len() {
            if children[child] < children[smallest] {
                smallest = child;
            }
        }
        (!children.is_empty()).then_some(first + smallest)
    }
}
