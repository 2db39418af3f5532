//! Products of matrices, computed tile by tile.
//!
//! Every entry of a product is a sum of terms, one for each k = 0, 1, .., and each term is a product of two numbers. The
//! terms are added one after the other, in the order of k. So the division into tiles changes the speed but no bit of a
//! result.

#![allow(
    clippy::needless_range_loop,
    reason = "without LTO, an iterator whose code is in another codegen unit is not inlined"
)]

use super::simd::multiversion;

/// Number of columns of a full tile. At the right edge of a product, tiles may be narrower. The sums of a tile are kept in
/// registers.
const WIDE: usize = 8;
/// Number of rows of a full tile. The rows that are left at the bottom of a product are tiles of one row.
const HIGH: usize = 4;

multiversion! {
    /// sums += left^T right, with `right` `[terms, width]`, `left` `[terms, height]` and `sums` `[height, width]`.
    pub(super) fn add_products(left: &[f64], right: &[f64], width: usize, sums: &mut [f64]) {
        if width == 0 {
            return;
        }
        let height = sums.len() / width;
        let size = (height, width);
        let mut top = 0;
        while top + HIGH <= height {
            let mut at = 0;
            while at + WIDE <= width {
                four::<WIDE>(left, right, size, (top, at), sums);
                at += WIDE;
            }
            if at + 4 <= width {
                four::<4>(left, right, size, (top, at), sums);
                at += 4;
            }
            while at < width {
                four::<1>(left, right, size, (top, at), sums);
                at += 1;
            }
            top += HIGH;
        }
        while top < height {
            let mut at = 0;
            while at + WIDE <= width {
                one::<WIDE>(left, right, size, (top, at), sums);
                at += WIDE;
            }
            while at < width {
                one::<1>(left, right, size, (top, at), sums);
                at += 1;
            }
            top += 1;
        }
    }
}

/// sums += factor * values.
#[inline(always)]
fn add<const W: usize>(sums: &mut [f64; W], factor: f64, values: &[f64; W]) {
    for lane in 0..W {
        sums[lane] += factor * values[lane];
    }
}

/// The `W` numbers from `place` on.
#[inline(always)]
fn chunk<const W: usize>(numbers: &[f64], place: usize) -> &[f64; W] {
    numbers[place..].first_chunk().expect("a tile lies within its matrix")
}

/// Adds all terms to the sums of a tile of four rows. (`top`, `at`) are the row and the column of the tile's first entry in
/// the product. The sums of each row are an array of their own, because the compiler turns an array of arrays into gather
/// instructions.
#[inline(always)]
fn four<const W: usize>(
    left: &[f64],
    right: &[f64],
    (height, width): (usize, usize),
    (top, at): (usize, usize),
    sums: &mut [f64],
) {
    let place = |row: usize| (top + row) * width + at;
    let mut a: [f64; W] = *chunk(sums, place(0));
    let mut b: [f64; W] = *chunk(sums, place(1));
    let mut c: [f64; W] = *chunk(sums, place(2));
    let mut d: [f64; W] = *chunk(sums, place(3));
    for k in 0..right.len() / width {
        let (factors, values) = (chunk::<HIGH>(left, k * height + top), chunk(right, k * width + at));
        add(&mut a, factors[0], values);
        add(&mut b, factors[1], values);
        add(&mut c, factors[2], values);
        add(&mut d, factors[3], values);
    }
    sums[place(0)..][..W].copy_from_slice(&a);
    sums[place(1)..][..W].copy_from_slice(&b);
    sums[place(2)..][..W].copy_from_slice(&c);
    sums[place(3)..][..W].copy_from_slice(&d);
}

/// Adds all terms to the sums of a tile of one row; the arguments are those of [`four`].
#[inline(always)]
fn one<const W: usize>(
    left: &[f64],
    right: &[f64],
    (height, width): (usize, usize),
    (top, at): (usize, usize),
    sums: &mut [f64],
) {
    let place = top * width + at;
    let mut row: [f64; W] = *chunk(sums, place);
    for k in 0..right.len() / width {
        add(&mut row, left[k * height + top], chunk(right, k * width + at));
    }
    sums[place..][..W].copy_from_slice(&row);
}

/// The transpose of a matrix with `width` columns.
pub(super) fn transposed(matrix: &[f64], width: usize) -> Vec<f64> {
    let height = matrix.len() / width.max(1);
    let mut out = vec![0.0; matrix.len()];
    for i in 0..height {
        for j in 0..width {
            out[j * height + i] = matrix[i * width + j];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn every_sum_has_the_bits_of_its_terms_in_order() {
        let mut stream = Key::root(3).stream();
        for (terms, height, width) in
            [(1, 1, 1), (7, 5, 16), (3, 4, 15), (20, 9, 37), (33, 33, 33), (0, 3, 17), (4, 0, 5)]
        {
            let mut draw = |count: usize| (0..count).map(|_| stream.normal()).collect::<Vec<f64>>();
            let (left, right, before) = (draw(terms * height), draw(terms * width), draw(height * width));
            let mut sums = before.clone();
            add_products(&left, &right, width, &mut sums);
            for (place, (found, before)) in sums.iter().zip(&before).enumerate() {
                let (i, j) = (place / width, place % width);
                let expected =
                    (0..terms).fold(*before, |sum, k| sum + left[k * height + i] * right[k * width + j]);
                assert_eq!(found.to_bits(), expected.to_bits(), "{terms} {height} {width}: {i} {j}");
            }
            assert_eq!(transposed(&transposed(&left, height.max(1)), terms.max(1)), left);
        }
    }
}
