//! The worst pairs of neighbours of a sum, and the distributions that `moved` states for two inputs.

use super::tests::{AGENTS, LENGTH, plain, weights};
use super::*;
use crate::rng::Key;
use std::sync::Arc;

/// The sums on the two inputs of the worst pair are computed with the same random numbers. If the agent is drawn, these sums
/// differ by the difference of the two vectors that `moved` states. If the agent is not drawn, the sums are equal. Without
/// noise, the sums on the neighbour are the mean that `moved` states.
#[test]
fn the_worst_pair_moves_the_sums_as_stated() {
    for fixed in [false, true] {
        for divisor in [Divisor::Planned, Divisor::Arrived, Divisor::ArrivedOrGone] {
            for (counted, copies) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
                the_worst_pair_moves_as_stated(fixed, divisor, counted, copies);
            }
        }
    }
}

fn the_worst_pair_moves_as_stated(fixed: bool, divisor: Divisor, counted: bool, copies: usize) {
    let agent = 2;
    let (weights, present): (_, &[usize]) = if fixed {
        (Arc::new(vec![vec![1.0 / AGENTS as f64; AGENTS]; 2]), &[0, 1, 2, 3, 4, 5])
    } else {
        (weights(2, &mut Key::root(7).stream()), &[0, 2, 5])
    };
    let late = if copies == 2 && !fixed { vec![agent] } else { vec![] };
    let gathered = ReceivedVectors {
        population: AGENTS,
        vectors: present.iter().map(|agent| (*agent, Arc::new(vec![1.0; LENGTH]))).collect(),
        weights,
        late_sampling_draw: late,
        length: LENGTH,
        discounts: vec![],
    };
    let sum = FederatedSum {
        participation: if fixed {
            Participation::FixedSize(4)
        } else {
            plain(SensitivityRule::LargestWeight).participation
        },
        divisor,
        multiplicity: copies as u32,
        arithmetic: NoiseArithmetic::Ideal,
        count: counted.then(|| NormCount { sd: Positive::new(3.0).unwrap() }),
        ..plain(SensitivityRule::LargestWeight)
    };
    let pair = sum.pair_of(&gathered, agent, copies).unwrap();
    let [given, neighbour] = &pair.inputs;
    let moved = sum.moved([given, neighbour]).unwrap();
    let words = if fixed {
        "or negated; those of all other agents have full norm"
    } else {
        "or absent; the vectors of all other agents are zero"
    };
    assert!(pair.words.contains(words), "{}", pair.words);
    let planned_rate = if fixed { 4.0 / 6.0 } else { 0.6 };
    let rate = if copies == 2 && !fixed { 1.0 - 0.4 * 0.4 } else { planned_rate };
    assert!((moved.rate - rate).abs() < 1e-12 && moved.sd == sum.noise_sd(&gathered));
    let mut seen = [false; 2];
    for seed in 0..20 {
        let drawn = sum.drawn(given, &mut Key::root(seed).stream())[agent];
        seen[usize::from(drawn)] = true;
        let numbers = |sum: &FederatedSum, input: &ReceivedVectors| {
            sum.of_equal_noise(input, &sum.privatise(input, &mut Key::root(seed).stream()).unwrap())
        };
        let (on_given, on_neighbour) = (numbers(&sum, given), numbers(&sum, neighbour));
        assert_eq!(on_given.len(), 2 * LENGTH + usize::from(counted));
        for index in 0..on_given.len() {
            let expected = if drawn { moved.moved[0][index] - moved.moved[1][index] } else { 0.0 };
            let found = on_given[index] - on_neighbour[index];
            assert!(
                (found - expected).abs() < 1e-9,
                "{fixed} {divisor:?} {counted} {copies} {index}: {found} {expected}"
            );
        }
        let silent = FederatedSum { noise_multiplier: 0.0, count: None, ..sum.clone() };
        if !counted {
            for (index, found) in numbers(&silent, neighbour).into_iter().enumerate() {
                let expected = moved.base[index] + if drawn { moved.moved[1][index] } else { 0.0 };
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{fixed} {divisor:?} {index}: {found} for {expected}"
                );
            }
        }
    }
    assert_eq!(seen, [true, true]);
}

/// Where the distribution of the sums is not known, `moved` states nothing.
#[test]
fn no_shift_is_stated_for_other_inputs() {
    let of = |vectors: &[(usize, f64)], discounts: &[f64]| ReceivedVectors {
        population: AGENTS,
        vectors: vectors.iter().map(|(agent, x)| (*agent, Arc::new(vec![*x, 0.0, 0.0]))).collect(),
        weights: Arc::new(vec![vec![1.0 / AGENTS as f64; AGENTS]; 2]),
        late_sampling_draw: vec![],
        length: LENGTH,
        discounts: discounts.to_vec(),
    };
    let poisson = plain(SensitivityRule::LargestWeight);
    let stated = |a: &ReceivedVectors, b: &ReceivedVectors| poisson.moved([a, b]).is_some();
    let zero = of(&[(0, 0.0), (1, 0.0), (2, 0.0)], &[]);
    assert!(stated(&of(&[(0, 0.0), (1, 1.0), (2, 0.0)], &[]), &zero));
    assert!(stated(&zero, &zero), "equal inputs");
    assert!(!stated(&of(&[(0, 2.0), (1, 1.0), (2, 0.0)], &[]), &zero), "two agents differ");
    assert!(!stated(&of(&[(0, 0.0), (1, 1.0)], &[]), &zero), "another number of vectors");
    assert!(!stated(&of(&[(0, 0.0), (3, 1.0), (2, 0.0)], &[]), &zero), "another agent");
    let discounted = of(&[(0, 0.0), (1, 1.0), (2, 0.0)], &[1.0, 0.5, 1.0]);
    assert!(!stated(&discounted, &zero) && !stated(&zero, &discounted), "discounts");
    let (full, half) = (of(&[(0, 3.0), (1, 1.0), (2, 3.0)], &[]), of(&[(0, 3.0), (1, 0.5), (2, 3.0)], &[]));
    assert!(!stated(&full, &half), "other vectors are not zero");
    // In a sample of fixed size, the other agents' vectors may be non-zero if they are equal and every agent is present.
    let fixed = FederatedSum { participation: Participation::FixedSize(2), ..poisson.clone() };
    assert!(fixed.moved([&full, &half]).is_none());
    let everybody =
        |own: f64, odd: f64| of(&[(0, 3.0), (1, own), (2, 3.0), (3, 3.0), (4, odd), (5, 3.0)], &[]);
    assert!(fixed.moved([&everybody(1.0, 3.0), &everybody(0.5, 3.0)]).is_some());
    assert!(fixed.moved([&everybody(1.0, 2.0), &everybody(0.5, 2.0)]).is_none(), "others are unequal");
    // With two regions, vectors are clipped to norm sqrt(8) / sqrt(2) = 2. After clipping, vectors of norms 2 and 4 are
    // equal, but only the vector of norm 4 is counted as clipped.
    let clipped = FederatedSum { clip: Positive::new(8f64.sqrt()).ok(), ..fixed.clone() };
    let with_count =
        FederatedSum { count: Some(NormCount { sd: Positive::new(3.0).unwrap() }), ..clipped.clone() };
    let others = |first: f64, second: f64| {
        [1.0, 0.5]
            .map(|own| of(&[(0, first), (1, own), (2, second), (3, first), (4, first), (5, first)], &[]))
    };
    let stated = |sum: &FederatedSum, [a, b]: [ReceivedVectors; 2]| sum.moved([&a, &b]).is_some();
    assert!(stated(&clipped, others(2.0, 4.0)) && stated(&with_count, others(4.0, 4.0)));
    assert!(!stated(&with_count, others(2.0, 4.0)), "others are unequal in the count");
    let free = FederatedSum { clip: None, ..poisson.clone() };
    assert!(free.moved([&zero, &zero]).is_none() && free.pair_of(&zero, 0, 1).is_none());
}
