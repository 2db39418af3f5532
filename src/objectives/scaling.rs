//! Scaling of inputs and values. Inputs are centred, then scaled so that the longest row has a given norm. The centre and
//! scale of a grid are public; if they are computed from records, a change of one record changes all rows.

/// Centres every column of `rows` (row-major, `d` columns) and multiplies all rows by one factor, so that the largest row norm
/// is `max_norm`. Returns the factor; 1 if all rows are the same.
pub(super) fn centre_and_scale(rows: &mut [f64], d: usize, max_norm: f64) -> f64 {
    let n = rows.len() / d;
    for column in 0..d {
        let mean = rows[column..].iter().step_by(d).sum::<f64>() / n as f64;
        rows[column..].iter_mut().step_by(d).for_each(|value| *value -= mean);
    }
    let norm = |row: &[f64]| row.iter().map(|v| v * v).sum::<f64>().sqrt();
    let longest = rows.chunks(d).map(norm).fold(0.0, f64::max);
    if longest == 0.0 {
        return 1.0;
    }
    let factor = max_norm / longest;
    rows.iter_mut().for_each(|value| *value *= factor);
    factor
}

/// The points of a regular grid over `bounds`, row-major, the last coordinate fastest.
pub(super) fn grid(counts: &[usize], bounds: &[(f64, f64)]) -> Vec<f64> {
    let n: usize = counts.iter().product();
    let mut rows = Vec::with_capacity(n * counts.len());
    for index in 0..n {
        let mut rest = index;
        let mut stride = n;
        for (&count, &(low, high)) in counts.iter().zip(bounds) {
            stride /= count;
            let step = rest / stride;
            rest %= stride;
            let share = if count > 1 { step as f64 / (count - 1) as f64 } else { 0.5 };
            rows.push(low + (high - low) * share);
        }
    }
    rows
}

/// Shifts and scales `values` to mean 0 and variance 1 (with divisor n). Returns the original mean and standard deviation;
/// `None`, with nothing changed, if the computed standard deviation is 0 or NaN.
pub(super) fn standardise(values: &mut [f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
    if sd.is_nan() || sd <= 0.0 {
        return None;
    }
    values.iter_mut().for_each(|value| *value = (*value - mean) / sd);
    Some((mean, sd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_grid_has_the_stated_spacing() {
        // outsourced_release_units.json, po_grid: 100 x 100, norm 25: spacing 0.357124...
        let mut rows = grid(&[100, 100], &[(0.0, 1.0), (0.0, 1.0)]);
        centre_and_scale(&mut rows, 2, 25.0);
        let spacing = rows[3] - rows[1];
        assert!((spacing - 0.357_124_636_962_900_87).abs() < 1e-12, "{spacing}");
        let longest = rows.chunks(2).map(|r| (r[0] * r[0] + r[1] * r[1]).sqrt()).fold(0.0, f64::max);
        assert!((longest - 25.0).abs() < 1e-12);
    }

    #[test]
    fn equal_rows_are_left_at_the_origin() {
        let mut rows = vec![3.0; 10];
        assert_eq!(centre_and_scale(&mut rows, 2, 25.0), 1.0);
        assert_eq!(rows, vec![0.0; 10]);
    }
}
