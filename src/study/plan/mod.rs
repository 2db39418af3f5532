//! What a study is before it is played: its cells, and what makes two computations the same.

pub(in crate::study) mod cells;
pub(in crate::study) mod identity;
