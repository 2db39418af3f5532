//! Holm's adjustment of p-values for several comparisons.

/// The adjusted p-values, in the order of `p`. If every hypothesis whose adjusted p-value is at most alpha is rejected, the
/// probability that any true hypothesis is rejected is at most alpha, however the tests depend on each other.
///
/// The i-th smallest of m values becomes the largest of min(1, (m - j + 1) p_(j)) over j <= i, where p_(j) is the j-th
/// smallest value. Source: Holm 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
/// Statistics 6:65-70.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut largest = 0.0f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max((p.len() - rank) as f64 * p[index]).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn a_worked_example() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02.
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, known) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - known).abs() < 1e-15, "{found} {known}");
        }
        assert_eq!(holm(&[0.7, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    /// The step-down procedure as Holm states it: the smallest p-value is compared with alpha/m, the next with
    /// alpha/(m-1), and so on, until a hypothesis is not rejected. None of the later hypotheses is rejected either.
    #[test]
    fn the_adjusted_values_reject_what_the_procedure_rejects() {
        let mut stream = Key::root(1).child("holm").stream();
        for _ in 0..300 {
            let p: Vec<f64> = (0..1 + stream.below(8)).map(|_| stream.uniform() * stream.uniform()).collect();
            let alpha = 0.01 + 0.3 * stream.uniform();
            let adjusted = holm(&p);
            let mut order: Vec<usize> = (0..p.len()).collect();
            order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
            let mut going = true;
            for (rank, &index) in order.iter().enumerate() {
                going &= p[index] <= alpha / (p.len() - rank) as f64;
                assert_eq!(adjusted[index] <= alpha, going, "{p:?} at {alpha}");
            }
        }
    }
}
