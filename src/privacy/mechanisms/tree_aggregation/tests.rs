//! Noise, laws and prices of tree aggregation.

use super::*;
use crate::rng::Key;

fn tree(steps: u64, contributions: u64, restart: u64) -> TreeAggregation {
    let number = |n| NonZeroU64::new(n).unwrap();
    let plan = TreePlan {
        steps: number(steps),
        contributions: number(contributions),
        restart: NonZeroU64::new(restart),
    };
    TreeAggregation::new(plan, Positive::new(3.0).unwrap(), Positive::new(1.0).unwrap())
}

/// Without noise, the output is the exact sums. The sum at step t of a tree contains the noise of as many partial sums as t
/// has binary digits 1, and, with restarts after 4 steps, the noise of one further partial sum for each earlier tree. The
/// variances of 4000 draws of 13 steps are within 5 standard errors of this number times the variance of one partial sum.
#[test]
fn sums_have_the_noise_of_their_partial_sums() {
    let values: Vec<Vec<f64>> = (0..13).map(|t| vec![f64::from(t), 1.0]).collect();
    let own = tree(13, 1, 0);
    let exact = own.sums(&values, |partial| partial);
    assert_eq!(exact[12], vec![78.0, 13.0]);
    for (restart, digits) in
        [(0, [1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3]), (4, [1, 1, 2, 1, 2, 2, 3, 2, 3, 3, 4, 3, 4])]
    {
        for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
            let own = tree(13, 1, restart).with(arithmetic);
            let mut squares = [0.0; 13];
            let n = 4000;
            for draw in 0..n {
                let sums = own.privatise(&values, &mut Key::root(5).index(draw).stream()).unwrap();
                for (t, sum) in sums.iter().enumerate() {
                    squares[t] += (sum[0] - exact[t][0]).powi(2) / n as f64;
                }
            }
            for (t, digits) in digits.iter().enumerate() {
                let expected = 9.0 * f64::from(*digits);
                let error = 5.0 * expected * (2.0 / n as f64).sqrt();
                assert!(
                    (squares[t] - expected).abs() < error,
                    "{restart} {t}: {} for {expected}",
                    squares[t]
                );
            }
        }
    }
}

/// The first sums do not depend on later values, so values may be chosen depending on earlier sums.
#[test]
fn sums_of_a_prefix_are_the_first_sums() {
    let values: Vec<Vec<f64>> = (0..11).map(|t| vec![f64::from(t)]).collect();
    for estimate in [SumEstimate::FewestPartialSums, SumEstimate::Honaker] {
        let own = tree(11, 1, 3).estimated_by(estimate);
        let all = own.privatise(&values, &mut Key::root(6).stream()).unwrap();
        let first = own.privatise(&values[..7].to_vec(), &mut Key::root(6).stream()).unwrap();
        assert_eq!(first[..], all[..7]);
    }
}

/// The variance of every sum, computed from the weights of the partial sums in it, is the one that `variance` states,
/// with and without Honaker's estimate and restarts. Honaker's formula for a node of 2^l values, 1 / (2 - 2^-l), solves
/// the recursion of inverse variances.
#[test]
fn variances_are_those_of_the_combined_partial_sums() {
    let mut v = 1.0f64;
    for level in 0..12u32 {
        let plan = tree(1 << level, 1, 0).plan;
        assert!((SumEstimate::Honaker.relative_variance(&plan, 1 << level) / v - 1.0).abs() < 1e-14);
        v = 1.0 / (1.0 + 1.0 / (2.0 * v));
    }
    for estimate in [SumEstimate::FewestPartialSums, SumEstimate::Honaker] {
        for (steps, restart) in [(21, 0), (21, 4), (21, 6), (16, 16), (5, 9)] {
            let own = tree(steps, 1, restart).estimated_by(estimate);
            let columns = own.by_partial_sum(steps as usize);
            for t in 0..steps as usize {
                let found: f64 = columns.iter().map(|column| column[t] * column[t]).sum();
                let stated = own.variance(t as u64 + 1) / 9.0;
                assert!((found / stated - 1.0).abs() < 1e-12, "{estimate:?} {restart} {t}: {found} {stated}");
                // If all values are 1, the sum without noise is the number of values up to its step.
                let value = own.sums(&vec![vec![1.0]; steps as usize], |partial| partial)[t][0];
                assert!((value - (t + 1) as f64).abs() < 1e-9);
            }
        }
    }
}

/// 4000 draws with Honaker's estimate have the stated variances, within 5 standard errors, in both arithmetics.
#[test]
fn drawn_sums_have_the_variance_of_honakers_estimate() {
    let values: Vec<Vec<f64>> = (0..13).map(|t| vec![f64::from(t)]).collect();
    for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
        let own = tree(13, 1, 0).estimated_by(SumEstimate::Honaker).with(arithmetic);
        let exact = own.sums(&values, |partial| partial);
        let (mut squares, n) = ([0.0; 13], 4000);
        for draw in 0..n {
            let sums = own.privatise(&values, &mut Key::root(8).index(draw).stream()).unwrap();
            for (t, sum) in sums.iter().enumerate() {
                squares[t] += (sum[0] - exact[t][0]).powi(2) / n as f64;
            }
        }
        for (t, found) in squares.iter().enumerate() {
            let expected = own.variance(t as u64 + 1);
            assert!(
                (found / expected - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt(),
                "{t}: {found} {expected}"
            );
        }
    }
}

/// With Honaker's estimate the released sums are functions of the noisy partial sums. So the loss of the released sums is at
/// most the joint loss of the noisy partial sums. In these examples it is not far below the joint loss, which is at most the
/// price.
#[test]
fn honakers_sums_cost_no_more_than_their_partial_sums() {
    for (steps, contributions, restart) in [(1, 1, 0), (8, 1, 0), (13, 1, 4), (16, 3, 0), (16, 16, 0)] {
        let own = tree(steps, contributions, restart).estimated_by(SumEstimate::Honaker);
        let like = vec![vec![0.0]; steps as usize];
        let pair = own.worst_pair(&like).unwrap();
        let told = own.distinguisher([&pair.inputs[0], &pair.inputs[1]]).unwrap();
        let Cost::Gaussian { noise_multiplier } = own.price(&like, &Neighbours::ReplaceOne).unwrap().cost
        else {
            panic!("another cost")
        };
        let super::super::Laws::Costs(costs) = told.laws.unwrap().laws else { panic!("other laws") };
        let [Cost::Gaussian { noise_multiplier: found }] = costs[..] else { panic!("{costs:?}") };
        // The noise multiplier of all partial sums together on this pair. Partial sums reveal at least as much as the sums.
        let means = pair.inputs.map(|values| {
            let mut partial_sums = Vec::new();
            own.sums(&values, |partial| {
                partial_sums.push(partial);
                partial
            });
            partial_sums
        });
        let apart: f64 = means[0].iter().zip(&means[1]).map(|(a, b)| (a - b) * (a - b)).sum();
        let of_all = 3.0 / apart.sqrt();
        assert!(of_all >= noise_multiplier * (1.0 - 1e-12), "{steps} {contributions}: {of_all}");
        assert!(found >= of_all * (1.0 - 1e-9) && found < 1.3 * of_all, "{steps}: {found} {of_all}");
    }
}

/// The loss on the worst pair is exactly the price: for one contribution, and for as many contributions as steps. (The pair
/// differs in the first k steps, for k contributions; with other numbers k, other steps may have a larger loss.)
#[test]
fn the_law_of_the_worst_pair_is_the_price() {
    for (steps, contributions, restart) in [(1, 1, 0), (8, 1, 0), (13, 1, 0), (13, 1, 4), (16, 16, 0)] {
        let own = tree(steps, contributions, restart);
        let like = vec![vec![0.0]; steps as usize];
        let pair = own.worst_pair(&like).unwrap();
        let test = own.distinguisher([&pair.inputs[0], &pair.inputs[1]]).unwrap();
        let price = own.price(&like, &Neighbours::ReplaceOne).unwrap();
        let Cost::Gaussian { noise_multiplier } = price.cost else { panic!("{:?}", price.cost) };
        let laws = test.laws.unwrap().laws;
        let super::super::Laws::Costs(costs) = laws else { panic!("{laws:?}") };
        let [Cost::Gaussian { noise_multiplier: found }] = costs[..] else { panic!("{costs:?}") };
        assert!((found / noise_multiplier - 1.0).abs() < 1e-12, "{steps} {contributions}: {found}");
    }
}

/// More values than steps, values of unequal length and NaN are refused, also by `distinguisher`. Noise for which no lattice
/// exists is refused only in exact arithmetic. Without any number there is no worst pair.
#[test]
fn values_that_do_not_fit_are_refused() {
    let own = tree(2, 1, 0);
    let good = vec![vec![0.0]; 2];
    for bad in [vec![vec![0.0]; 3], vec![vec![0.0], vec![]], vec![vec![f64::NAN]]] {
        assert!(own.privatise(&bad, &mut Key::root(1).stream()).is_err(), "{bad:?}");
        assert!(own.distinguisher([&good, &bad]).is_err(), "{bad:?}");
    }
    assert!(own.worst_pair(&vec![]).is_none() && own.worst_pair(&vec![vec![]]).is_none());
    let tiny = Positive::new(1e-300).unwrap();
    let tiny = TreeAggregation::new(own.plan, tiny, tiny);
    assert!(tiny.price(&good, &Neighbours::ReplaceOne).is_err());
    assert!(tiny.with(NoiseArithmetic::Ideal).price(&good, &Neighbours::ReplaceOne).is_ok());
}

/// The log ratio of a single sum y is ((y - b)^2 - (y - a)^2) / (2 sd^2), for the means a = 2 and b = -1 and the noise's
/// sd = 3. Each estimate has its own form of the covariance matrix, and with Honaker's estimate the laws are known for up to
/// 256 sums.
#[test]
fn one_sum_has_the_ratio_of_two_normal_densities() {
    for estimate in [SumEstimate::FewestPartialSums, SumEstimate::Honaker] {
        let own = tree(1, 1, 0).estimated_by(estimate);
        let found = own.distinguisher([&vec![vec![2.0]], &vec![vec![-1.0]]]).unwrap();
        for y in [-4.0f64, 0.0, 0.7, 9.0] {
            let expected = ((y + 1.0).powi(2) - (y - 2.0).powi(2)) / 18.0;
            assert!((found.log_ratio(&vec![vec![y]]) - expected).abs() < 1e-12, "{estimate:?} {y}");
        }
        assert_eq!(own.by_partial_sum(1), [[1.0]]);
        let by_weights = matches!(own.noise_of_sums(1), SumNoise::Weights(_));
        assert_eq!(by_weights, estimate == SumEstimate::Honaker);
    }
    let known = |steps: u64| {
        let own = tree(steps, 1, 1).estimated_by(SumEstimate::Honaker);
        let (zero, mut moved) = (vec![vec![0.0]; steps as usize], vec![vec![0.0]; steps as usize]);
        moved[0][0] = 1.0;
        own.distinguisher([&zero, &moved]).unwrap().laws.is_some()
    };
    assert!(known(MOST_SEEN as u64) && !known(MOST_SEEN as u64 + 1));
}
