//! Monotone (non-increasing) regression, and where it crosses 0.

/// The non-increasing sequence that is closest to `values` in the sense of least squares; all values have equal
/// weights. Source: the pool-adjacent-violators algorithm (Barlow, Bartholomew, Bremner and Brunk 1972,
/// "Statistical Inference under Order Restrictions").
#[must_use]
pub(super) fn falling(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for &value in values {
        pools.push((value, 1));
        while let [.., (before, m), (last, n)] = pools[..] {
            if before >= last {
                break;
            }
            let mean = (before * m as f64 + last * n as f64) / (m + n) as f64;
            pools.truncate(pools.len() - 2);
            pools.push((mean, m + n));
        }
    }
    pools.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

/// Where a non-increasing sequence crosses 0: the index of the last value at or before the crossing, and how far the
/// crossing lies on the way to the next value, as a share of this way. If the sequence is 0 along a stretch, the crossing is
/// the middle of the stretch. `None` unless the sequence has a value above 0 and a value below 0.
#[must_use]
pub(super) fn crossing(falling: &[f64]) -> Option<(usize, f64)> {
    let above = falling.iter().rposition(|value| *value > 0.0)?;
    let below = falling.iter().position(|value| *value < 0.0)?;
    if below == above + 1 {
        return Some((above, falling[above] / (falling[above] - falling[below])));
    }
    // Zeros from above + 1 to below - 1.
    let twice = above + below;
    Some((twice / 2, if twice % 2 == 1 { 0.5 } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violators_are_pooled() {
        assert_eq!(falling(&[3.0, 1.0, 2.0, -1.0]), [3.0, 1.5, 1.5, -1.0]);
        assert_eq!(falling(&[1.0, 2.0, 3.0]), [2.0; 3]);
        assert!(falling(&[]).is_empty());
    }

    #[test]
    fn a_crossing_is_between_two_values() {
        assert_eq!(crossing(&[3.0, 1.0, -3.0]), Some((1, 0.25)));
        assert_eq!(crossing(&[1.0, 0.0, -1.0]), Some((1, 0.0)));
        assert_eq!(crossing(&[1.0, 0.0, 0.0, -1.0]), Some((1, 0.5)));
        assert_eq!((crossing(&[1.0, 0.5]), crossing(&[-1.0]), crossing(&[])), (None, None, None));
    }
}
