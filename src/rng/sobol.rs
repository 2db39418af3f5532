//! Sobol' points: quasi-random points, which fill the unit cube more evenly than random points do.

use super::Key;

/// Number of binary digits of a coordinate.
const DIGITS: u32 = 32;
/// Number of values of a coordinate: 2^32.
const CELLS: f64 = 4_294_967_296.0;

/// For each dimension from the second on: the degree of its primitive polynomial, the polynomial's inner coefficients as a
/// binary number, and the first direction numbers. Source: Joe and Kuo 2008, "Constructing Sobol sequences with better
/// two-dimensional projections" (SIAM J. Sci. Comput. 30:2635-2654), the table new-joe-kuo-6.
const DIRECTIONS: [(u32, u32, &[u32]); 15] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
];

/// Largest number of dimensions.
pub const MOST_DIMENSIONS: usize = DIRECTIONS.len() + 1;

/// The direction numbers of the dimension with the number `dimension` (the first dimension has the number 0), as 32-bit
/// fractions. There is one direction number for each binary digit of a point's index, the least significant digit first.
fn directions(dimension: usize) -> [u32; DIGITS as usize] {
    let mut found = [0; DIGITS as usize];
    let Some((degree, inner, first)) = dimension.checked_sub(1).map(|place| DIRECTIONS[place]) else {
        for (digit, direction) in found.iter_mut().enumerate() {
            *direction = 1 << (DIGITS - 1 - digit as u32);
        }
        return found;
    };
    let s = degree as usize;
    for (digit, number) in first.iter().enumerate() {
        found[digit] = number << (DIGITS - 1 - digit as u32);
    }
    for digit in s..DIGITS as usize {
        let mut direction = found[digit - s] ^ (found[digit - s] >> degree);
        for place in 1..degree {
            if inner >> (degree - 1 - place) & 1 == 1 {
                direction ^= found[digit - place as usize];
            }
        }
        found[digit] = direction;
    }
    found
}

/// The first `count` Sobol' points with a random digital shift: each coordinate is uniformly distributed on the middles of
/// 2^32 equal cells of (0, 1). `dimensions` is at most [`MOST_DIMENSIONS`].
///
/// # Panics
/// If `dimensions` exceeds [`MOST_DIMENSIONS`].
#[must_use]
pub fn points(count: usize, dimensions: usize, key: Key) -> Vec<Vec<f64>> {
    let axes: Vec<([u32; DIGITS as usize], u32)> = (0..dimensions)
        .map(|dimension| (directions(dimension), (key.index(dimension as u64).stream().word() >> 32) as u32))
        .collect();
    let coordinate = |index: usize, (directions, shift): &([u32; DIGITS as usize], u32)| {
        let digits = (0..DIGITS).filter(|digit| index >> digit & 1 == 1);
        let bits = digits.fold(0, |bits, digit| bits ^ directions[digit as usize]);
        // The coordinate is the middle of a cell of width 2^-32, so it is never 0 or 1.
        (f64::from(bits ^ shift) + 0.5) / CELLS
    };
    (0..count).map(|index| axes.iter().map(|axis| coordinate(index, axis)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Among the first 2^m points, exactly one lies in each of 2^m equal intervals, in every dimension. In the first two
    /// dimensions, exactly one lies in each dyadic box of area 2^-m. An even number among the first direction numbers of
    /// `DIRECTIONS` breaks the first property; a wrong odd number does not. A digital shift keeps both properties.
    #[test]
    fn points_are_even() {
        for m in 1..=8 {
            let count = 1usize << m;
            let all = points(count, MOST_DIMENSIONS, Key::root(5));
            let place = |value: f64, bits: usize| (value * (1usize << bits) as f64) as usize;
            for dimension in 0..MOST_DIMENSIONS {
                let mut seen = vec![false; count];
                all.iter().for_each(|point| seen[place(point[dimension], m)] = true);
                assert!(seen.iter().all(|seen| *seen), "dimension {dimension}, {count} points");
            }
            for bits in 0..=m {
                let mut seen = vec![false; count];
                for point in &all {
                    seen[(place(point[0], bits) << (m - bits)) | place(point[1], m - bits)] = true;
                }
                assert!(seen.iter().all(|seen| *seen), "{bits} of {m} digits");
            }
        }
    }

    /// Compares the first three coordinates of the second to the fifth published point with those computed without a
    /// shift. The first published point is 0.
    #[test]
    fn the_first_points_are_the_published_ones() {
        let unshifted = |index: usize, dimension: usize| {
            let directions = directions(dimension);
            let bits = (0..DIGITS).filter(|digit| index >> digit & 1 == 1);
            f64::from(bits.fold(0, |bits, digit| bits ^ directions[digit as usize])) / CELLS
        };
        // The published points are in the order of Antonov and Saleev. The second to the fifth of them are the points
        // with the indices 1, 3, 2, 6 in the binary order.
        let found: Vec<[f64; 3]> = [1, 3, 2, 6].map(|index| [0, 1, 2].map(|d| unshifted(index, d))).to_vec();
        let known = [[0.5; 3], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75], [0.375, 0.375, 0.625]];
        assert_eq!(found, known);
    }
}
