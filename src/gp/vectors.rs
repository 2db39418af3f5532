//! Loops over vectors, to be inlined into functions that are compiled for several instruction sets.
//!
//! The functions loop over indices: in a build without LTO, an iterator such as `Zip` is a function call if its code is in
//! another codegen unit.

#![allow(clippy::needless_range_loop, reason = "see above")]

/// Subtracts a multiple of `other` from `row`. If one of them is longer, its surplus numbers are ignored.
#[inline(always)]
pub(super) fn subtract_multiple(row: &mut [f64], factor: f64, other: &[f64]) {
    add_multiple(row, -factor, other);
}

/// Adds a multiple of `other` to `row`. If one of them is longer, its surplus numbers are ignored.
#[inline(always)]
pub(super) fn add_multiple(row: &mut [f64], factor: f64, other: &[f64]) {
    let length = row.len().min(other.len());
    let (row, other) = (&mut row[..length], &other[..length]);
    for i in 0..length {
        row[i] += factor * other[i];
    }
}

/// The sum of eight partial sums, always added in the same order.
#[inline(always)]
pub(super) fn total(sums: [f64; 8]) -> f64 {
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

/// The inner product of two vectors of equal length. The products of entries are added one after the other. The sum begins
/// with -0, as in `Iterator::sum`.
#[inline(always)]
pub(super) fn products(a: &[f64], b: &[f64]) -> f64 {
    let b = &b[..a.len()];
    let mut sum = -0.0;
    for i in 0..a.len() {
        sum += a[i] * b[i];
    }
    sum
}

/// The inner product of two vectors of equal length. In each block of eight entries, the product of the entries at place i
/// is added to the i-th of eight partial sums. The products of the entries after the last whole block have a sum of their
/// own. The order of all additions is fixed.
#[inline(always)]
pub(super) fn inner(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let length = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..length].as_chunks::<8>(), b[..length].as_chunks::<8>());
    let tail = products(a_rest, b_rest);
    for block in 0..a.len() {
        for lane in 0..8 {
            sums[lane] += a[block][lane] * b[block][lane];
        }
    }
    total(sums) + tail
}
