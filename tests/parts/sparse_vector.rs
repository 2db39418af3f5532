//! The sparse vector technique against its formulas: scales of the noise, answers, values and likelihood ratios.

use std::num::NonZeroU32;
use subrosa::privacy::mechanisms::{BudgetSplit, Compared, Laws, Mechanism, NoiseArithmetic, SparseVector};
use subrosa::rng::Key;
use subrosa::vocab::{Cost, Epsilon, Finite, Neighbours, Positive};

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// Epsilon 2 for comparisons with 0.5, sensitivity 3.
fn sparse(cutoff: u32) -> SparseVector {
    let cutoff = NonZeroU32::new(cutoff).unwrap();
    SparseVector::new(epsilon(2.0), Positive::new(3.0).unwrap(), Finite::new(0.5).unwrap(), cutoff)
}

/// Lyu, Su and Li 2017: the scale on a number is 2 c / epsilon_2, or c / epsilon_2 for monotonic numbers, where epsilon_1 :
/// epsilon_2 is 1 : (2 c)^(2/3), or 1 : c^(2/3), or 1 : 1. It is the largest of the scales, unless values have less epsilon.
#[test]
fn the_least_epsilon_is_that_of_the_largest_noise() {
    for cutoff in [1, 4, 9] {
        for (own, sides) in [(sparse(cutoff), 2.0), (sparse(cutoff).monotonic(), 1.0)] {
            let c = sides * f64::from(cutoff);
            let ratio = c.powf(2.0 / 3.0);
            for (own, ratio) in [(own, ratio), (own.split(BudgetSplit::Even), 1.0)] {
                let number = c / (2.0 * ratio / (1.0 + ratio));
                let threshold = (1.0 + ratio) / 2.0;
                let expected = 1.0 / number.max(threshold);
                assert!(
                    (own.least_epsilon() / expected - 1.0).abs() < 1e-9,
                    "{own:?}: {}",
                    own.least_epsilon()
                );
                let with_values = own.with_values(epsilon(0.01)).least_epsilon();
                assert!(
                    (with_values * f64::from(cutoff) / 0.01 - 1.0).abs() < 1e-9,
                    "{own:?}: {with_values}"
                );
            }
        }
    }
    let dwork_and_roth =
        SparseVector::above_threshold(epsilon(2.0), Positive::new(3.0).unwrap(), Finite::new(0.5).unwrap());
    assert!((dwork_and_roth.least_epsilon() - 0.5).abs() < 1e-9, "{}", dwork_and_roth.least_epsilon());
}

/// The cost is the sum of the three parts, and the name says whether more than one answer can be "above".
#[test]
fn the_price_is_the_sum_of_the_parts() {
    for (own, cost, name) in [
        (sparse(1), 2.0, "above threshold"),
        (sparse(2), 2.0, "sparse vector"),
        (sparse(2).with_values(epsilon(0.75)), 2.75, "sparse vector"),
    ] {
        let price = own.price(&vec![0.0; 3], &Neighbours::AnyValue).unwrap();
        assert_eq!((price.mechanism, price.cost), (name, Cost::PureDp { epsilon: cost }));
    }
}

/// Numbers far above the threshold: as many answers as the cutoff, each with a value, whose mean is the number and whose
/// variance is 2 b^2 with b = c 3 / epsilon_3; the tail at a is exceeded in a share e^-a of the draws.
#[test]
fn values_have_the_mean_variance_and_tail_of_laplace_noise() {
    let numbers = [1000.0; 9];
    for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
        let own = sparse(3).with_values(epsilon(1.5)).with(arithmetic);
        let (b, mut stream, mut found) = (6.0, Key::root(41).stream(), Vec::new());
        for _ in 0..4000 {
            let answers = own.privatise(&numbers.to_vec(), &mut stream).unwrap();
            assert_eq!(answers.len(), 3);
            found.extend(answers.into_iter().map(|answer| match answer {
                Compared::Above(Some(value)) => value - 1000.0,
                other => panic!("{other:?}"),
            }));
        }
        let n = found.len() as f64;
        let mean = found.iter().sum::<f64>() / n;
        let variance = found.iter().map(|x| x * x).sum::<f64>() / n;
        // The fourth moment of Laplace noise is 24 b^4.
        assert!(mean.abs() < 5.0 * b * (2.0 / n).sqrt(), "{mean}");
        assert!((variance - 2.0 * b * b).abs() < 5.0 * b * b * (20.0 / n).sqrt(), "{variance}");
        let tail = own.value_tail(1.0).unwrap();
        assert!((tail / b - 1.0).abs() < 1e-6, "{tail}");
        let beyond = found.iter().filter(|x| x.abs() > tail).count() as f64 / n;
        let p = (-1f64).exp();
        assert!((beyond - p).abs() < 5.0 * (p * (1.0 - p) / n).sqrt(), "{beyond}");
        assert!((own.value_tail(4.0).unwrap() / b - 4.0).abs() < 1e-5);
        assert_eq!(sparse(3).with(arithmetic).value_tail(1.0), None);
    }
    let tails = [NoiseArithmetic::Exact, NoiseArithmetic::Ideal]
        .map(|arithmetic| sparse(3).with_values(epsilon(1.5)).with(arithmetic).value_tail(1.0).unwrap());
    assert!(tails[0] > tails[1], "exact noise is rounded to a lattice, which adds to its tail: {tails:?}");
}

/// One number at a distance d below the threshold, by hand: with noise of scale a on the threshold and b on the number, it
/// is above with probability (b^2 e^(-d/b) - a^2 e^(-d/a)) / (2 (b^2 - a^2)).
#[test]
fn one_comparison_has_the_closed_form() {
    let ratio = 4f64.cbrt();
    let (a, b) = (3.0 * (1.0 + ratio) / 2.0, 3.0 * 2.0 * (1.0 + ratio) / (2.0 * ratio));
    let n = 40_000;
    for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
        for d in [0.0f64, 2.0, 7.0] {
            let p = (b * b * (-d / b).exp() - a * a * (-d / a).exp()) / (2.0 * (b * b - a * a));
            let (own, mut stream) = (sparse(1).with(arithmetic), Key::root(43).stream());
            let above = (0..n)
                .filter(|_| own.privatise(&vec![0.5 - d], &mut stream).unwrap()[0] != Compared::Below)
                .count();
            let share = above as f64 / f64::from(n);
            assert!((share - p).abs() < 5.0 * (p * (1.0 - p) / f64::from(n)).sqrt(), "{d}: {share} for {p}");
        }
    }
}

/// All answers to these numbers, each "above" without a value.
fn every_answer(numbers: usize, cutoff: usize) -> Vec<Vec<Compared>> {
    (0..1u32 << numbers)
        .filter_map(|bits| {
            let mut left = cutoff;
            let mut answers = Vec::new();
            for place in 0..numbers {
                if left == 0 {
                    // The bits after the end count once.
                    return (bits >> place == 0).then_some(answers);
                }
                let above = bits >> place & 1 == 1;
                left -= usize::from(above);
                answers.push(if above { Compared::Above(None) } else { Compared::Below });
            }
            Some(answers)
        })
        .collect()
}

/// The losses that are stated for the two directions are the largest log-likelihood ratio of all answers, including the
/// largest ratio of their values, and that of its opposite; a value has the ratio of two Laplace densities.
#[test]
fn the_stated_loss_is_the_largest_of_all_answers() {
    let inputs = [vec![0.5, 2.0, -1.0, 3.5], vec![3.5, -0.5, 1.0, 2.0]];
    for cutoff in [1, 2, 3] {
        let own = sparse(cutoff);
        let test = own.distinguisher([&inputs[0], &inputs[1]]).unwrap();
        let answers = every_answer(4, cutoff as usize);
        let largest = |ratios: &[[f64; 2]]| {
            [0, 1].map(|k| ratios.iter().map(|ratios| ratios[k]).fold(f64::NEG_INFINITY, f64::max))
        };
        let agree = |stated: [f64; 2], largest: [f64; 2], error: f64| {
            let near = stated.iter().zip(&largest).all(|(stated, largest)| (stated - largest).abs() < error);
            assert!(near, "{cutoff}: {stated:?} for {largest:?}");
        };
        let stated = |own: &SparseVector| match own
            .distinguisher([&inputs[0], &inputs[1]])
            .unwrap()
            .laws
            .unwrap()
            .laws
        {
            Laws::Largest(losses) => losses,
            other => panic!("{other:?}"),
        };
        let ratios: Vec<[f64; 2]> =
            answers.iter().map(|answers| test.log_ratio(answers)).map(|ratio| [ratio, -ratio]).collect();
        agree(stated(&own), largest(&ratios), 1e-9);
        // With values: b = c 3 / epsilon_3; an answer "above" adds at most its distance of numbers over b.
        let b = f64::from(cutoff) * 3.0 / 1.5;
        let differ: Vec<f64> = inputs[0].iter().zip(&inputs[1]).map(|(a, b)| (a - b).abs()).collect();
        let with_values = answers.iter().map(|answers| {
            let above = answers.iter().zip(&differ).filter(|(answer, _)| **answer != Compared::Below);
            let (ratio, most) = (test.log_ratio(answers), above.map(|(_, by)| by / b).sum::<f64>());
            [ratio + most, most - ratio]
        });
        let valued = own.with_values(epsilon(1.5));
        agree(stated(&valued), largest(&with_values.collect::<Vec<_>>()), 1e-6);
        // Two values of the same answers: the ratio changes by the difference of the two Laplace densities.
        let test = valued.distinguisher([&inputs[0], &inputs[1]]).unwrap();
        let ratio = |value: f64| test.log_ratio(&vec![Compared::Below, Compared::Above(Some(value))]);
        let of_value = |value: f64| ((value + 0.5).abs() - (value - 2.0).abs()) / b;
        for (one, other) in [(-4.0, 9.0), (0.5, 1.5), (-3.0, 0.0)] {
            let (found, expected) = (ratio(one) - ratio(other), of_value(one) - of_value(other));
            assert!((found - expected).abs() < 1e-6, "{cutoff}: {found} for {expected}");
        }
    }
}
