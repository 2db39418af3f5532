//! Answers that are computed from whole studies: where one series stops being better than another, and which of the varied
//! values matter.

pub(in crate::study) mod crossing;
pub(in crate::study) mod design;
pub(in crate::study) mod explain;
pub(in crate::study) mod factorial;
pub(in crate::study) mod grid;
pub(in crate::study) mod isotonic;
pub(in crate::study) mod resampling;
pub(in crate::study) mod tables;
pub(in crate::study) mod threshold;
