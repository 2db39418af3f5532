//! Noise, answers and losses of the above-threshold and sparse-vector mechanisms.

use super::*;
use crate::rng::Key;

fn of(epsilon: f64, threshold: f64, cutoff: u32) -> SparseVector {
    let (epsilon, one) = (Epsilon::new(epsilon).unwrap(), Positive::new(1.0).unwrap());
    SparseVector::new(epsilon, one, Finite::new(threshold).unwrap(), NonZeroU32::new(cutoff).unwrap())
        .with_values(Epsilon::new(1.0).unwrap())
}

/// n comparisons have n + 1 possible results with cutoff 1, and 2^n with a large cutoff. If there are more than 500, none is
/// listed.
#[test]
fn results_are_listed_up_to_their_limit() {
    let listed = |cutoff, numbers| of(1.0, 0.0, cutoff).every_comparison(numbers).count();
    assert_eq!([0, 1, 2, 499, 500].map(|numbers| listed(1, numbers)), [1, 2, 3, 500, 0]);
    assert_eq!([1, 8, 9].map(|numbers| listed(1000, numbers)), [2, 256, 0]);
    // At most two of four numbers are above: 1 + 4 results have fewer than two numbers above, and 1 + 2 + 3 results end at
    // the second number above, which is number 2, 3 or 4.
    assert_eq!(listed(2, 4), 11);
}

/// A number is above if the number plus its noise is at least the threshold plus the threshold's noise. The stream's
/// deviates are used in this order: first the threshold's; then, for each number, the number's, and its value's if the
/// number is above.
#[test]
fn noise_is_added_to_threshold_number_and_value() {
    let numbers = vec![0.3, -0.4, 0.9, 1.4, -0.2, 0.8];
    let own = of(3.0, 0.5, 2);
    let mut seen = [0; 3];
    for seed in 0..200 {
        let mut stream = Key::root(seed).stream();
        let scales = own.scales();
        let threshold = 0.5 + scales.threshold * stream.laplace();
        let mut expected = Vec::new();
        let mut above = 0;
        for number in &numbers {
            if above == 2 {
                break;
            }
            if number + scales.number * stream.laplace() >= threshold {
                above += 1;
                let noise = scales.value.unwrap() * stream.laplace();
                expected.push(Compared::Above(Some(number + noise)));
            } else {
                expected.push(Compared::Below);
            }
        }
        seen[above] += 1;
        let ideal = own.with(NoiseArithmetic::Ideal);
        assert_eq!(ideal.privatise(&numbers, &mut Key::root(seed).stream()).unwrap(), expected);

        let (grid, scales) = own.exact().unwrap();
        let mut stream = Key::root(seed).stream();
        let threshold = grid.round(0.5) + rounded_laplace(scales.threshold, &mut stream);
        let expected: Vec<bool> = own
            .privatise(&numbers, &mut Key::root(seed).stream())
            .unwrap()
            .into_iter()
            .zip(&numbers)
            .map(|(answer, number)| {
                let noisy = grid.round(*number) + rounded_laplace(scales.number, &mut stream);
                if let Compared::Above(value) = answer {
                    let scale = scales.value.unwrap();
                    assert_eq!(value, Some(grid.plus_laplace(grid.round(*number), scale, &mut stream)));
                }
                (noisy >= threshold) == (answer != Compared::Below)
            })
            .collect();
        assert!(expected.iter().all(|agrees| *agrees), "seed {seed}: {expected:?}");
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

/// `value_tail(a)` is a size that the noise on a value exceeds with probability at most e^-a. With noise on a lattice, this
/// size is a times the scale, plus one spacing.
#[test]
fn the_tail_of_a_value_includes_one_spacing() {
    let exact = of(2.0, 0.0, 1);
    let spacing = exact.exact().unwrap().0.spacing();
    assert_eq!(exact.value_tail(0.0), Some(spacing));
    let ideal = exact.with(NoiseArithmetic::Ideal);
    let over = exact.value_tail(3.0).unwrap() / ideal.value_tail(3.0).unwrap() - 1.0;
    assert!(over > 0.0 && over < 1e-6, "{over}");
    assert_eq!(ideal.value_tail(3.0), ideal.scales().value.map(|scale| 3.0 * scale));
}

/// Only the distances to the threshold count: the loss of numbers x with threshold t is that of x - t with threshold 0.
/// If there are too many results to list, the largest loss is unknown.
#[test]
fn the_loss_depends_on_distances_to_the_threshold() {
    let ratio = |threshold: f64| {
        let given = vec![threshold + 0.2, threshold - 1.0];
        let neighbour = vec![threshold - 0.8, threshold];
        let answers = vec![Compared::Below, Compared::Above(Some(threshold + 0.7))];
        of(2.0, threshold, 1).distinguisher([&given, &neighbour]).unwrap().log_ratio(&answers)
    };
    assert!((ratio(0.0) - ratio(5.0)).abs() < 1e-9 && ratio(0.0).abs() > 0.01, "{}", ratio(0.0));
    let (zeros, ones) = (vec![0.0; 600], vec![1.0; 600]);
    let many = of(2.0, 0.0, 1).distinguisher([&zeros, &ones]).unwrap();
    assert_eq!(many.laws, None);
}
