//! Every mechanism of the family on its worst known neighbours, with what is claimed and what is to be expected.

use super::broken::{DataScaledNoise, HalfNoise};
use super::low_bits::{reachable_gaussian, reachable_laplace};
use super::releases::{RATIO, SUPPORT, Score, Words, case};
use super::run::Experiment;
use super::verdict::{Statement, Verdict};
use super::{KnownPair, World, projection, rows, sampled};
use crate::privacy::mechanisms::clipping::Range;
use crate::privacy::mechanisms::{
    Argmax, ClippedGaussian, ClippedLaplace, Ctl, Disclosure, DiscreteGaussian, DiscreteLaplace,
    ExponentialMechanism, Gaussian, Laplace, Lattice, NoiseArithmetic, RandomizedResponse, ReportNoisyMax,
};
use crate::vocab::{Cost, Delta, Epsilon, Finite, Neighbours, Positive};
use std::num::NonZeroU32;

/// One audit that the program can do by name.
pub struct Case {
    /// What is said about it.
    pub statement: Statement,
    /// How it is run.
    pub experiment: Box<dyn Experiment + Send>,
    /// The verdict that enough trials must give.
    pub expected: Verdict,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Case").field("statement", &self.statement).finish_non_exhaustive()
    }
}

pub(super) fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("above 0")
}

/// One release with Laplace noise of a scale, on inputs 1 apart.
fn laplace_pair(scale: f64) -> Option<KnownPair> {
    let premise = "the noise is Laplace and only its size is unknown";
    Some(KnownPair::composed(vec![(Cost::Laplace { scale }, 1)], premise))
}

/// ln of the ratio of two densities at the first number of an output.
pub(super) fn ratio(
    log_density: impl Fn(f64, World) -> f64 + Send + Sync + 'static,
) -> (&'static str, Score<Vec<f64>>) {
    let score = move |y: &Vec<f64>| log_density(y[0], World::Given) - log_density(y[0], World::Neighbour);
    (RATIO, Box::new(score))
}

pub(super) const DELTA: f64 = 1e-5;

/// All cases: the family first, then what is broken on purpose, then the low bits.
#[must_use]
pub fn suite() -> Vec<Case> {
    let mut cases = additive();
    cases.extend(choices());
    cases.extend(sampled::cases());
    cases.extend(local());
    cases.extend(rows::cases());
    cases.extend(projection::cases());
    cases.extend(broken());
    cases
}

fn additive() -> Vec<Case> {
    let unit = positive(1.0);
    let gaussian = Gaussian::analytic(epsilon(1.0), Delta::new(DELTA).expect("a probability"), unit)
        .expect("epsilon 1 can be had");
    let sd = gaussian.standard_deviation();
    let spacing = 0.125;
    let lattice = Lattice::new(positive(spacing));
    let steps = |n: u32| NonZeroU32::new(n).expect("not zero");
    let on_lattice = |_: World| -> (&'static str, Score<Vec<f64>>) {
        // Every multiple of the spacing can come from either secret, and nothing else from any.
        let score = move |y: &Vec<f64>| if (y[0] / spacing).fract() == 0.0 { 0.0 } else { 1.0 };
        (SUPPORT, Box::new(score))
    };
    let number = |a: f64, b: f64| [vec![a], vec![b]];
    let moved = "one number, 0 or 1, at sensitivity 1";
    // Rounding, halves away from 0, takes these two numbers 1 apart to multiples 9 apart.
    let rounded = "one number, -1/16 or 15/16, at sensitivity 1: rounded to -1 and 8 spacings";
    let apart = [-1.0, 8.0];
    vec![
        case(
            Words {
                name: "laplace",
                about: "Laplace noise of scale 1",
                neighbours: moved,
                expected: Verdict::Consistent,
            },
            Laplace::new(unit, unit),
            number(0.0, 1.0),
            (1, 0.0, Neighbours::AnyValue),
            vec![ratio(|y, world| -(y - world.index() as f64).abs())],
            laplace_pair(1.0),
        ),
        case(
            Words {
                name: "gaussian",
                about: "Gaussian noise calibrated to (1, 1e-5)",
                neighbours: moved,
                expected: Verdict::Consistent,
            },
            gaussian,
            number(0.0, 1.0),
            (1, DELTA, Neighbours::AnyValue),
            vec![ratio(move |y, world| -(y - world.index() as f64).powi(2) / (2.0 * sd * sd))],
            Some(KnownPair::gaussian(1.0 / sd)),
        ),
        case(
            Words {
                name: "discrete-laplace",
                about: "exact Laplace noise of scale 9 on a lattice of spacing 1/8",
                neighbours: rounded,
                expected: Verdict::Consistent,
            },
            DiscreteLaplace::new(lattice, steps(9), unit),
            number(-0.5 * spacing, 1.0 - 0.5 * spacing),
            (1, 0.0, Neighbours::AnyValue),
            vec![
                on_lattice(World::Given),
                ratio(move |y, world| -(y / spacing - apart[world.index()]).abs() / 9.0),
            ],
            Some(KnownPair::largest((apart[1] - apart[0]) / 9.0)),
        ),
        case(
            Words {
                name: "discrete-gaussian",
                about: "exact Gaussian noise of 30 spacings on a lattice of spacing 1/8",
                neighbours: rounded,
                expected: Verdict::Consistent,
            },
            DiscreteGaussian::new(lattice, steps(30), unit).expect("a small standard deviation"),
            number(-0.5 * spacing, 1.0 - 0.5 * spacing),
            (1, DELTA, Neighbours::AnyValue),
            vec![
                on_lattice(World::Given),
                ratio(move |y, world| -(y / spacing - apart[world.index()]).powi(2) / 1800.0),
            ],
            Some(KnownPair::discrete_gaussian(30.0, apart[1] - apart[0])),
        ),
    ]
}

fn choices() -> Vec<Case> {
    let exponential = ExponentialMechanism::new(epsilon(1.0), positive(1.0));
    let utilities = || {
        let mut high = vec![0.0; 21];
        high[0] = 1.0;
        [high.clone(), high.iter().map(|u| 1.0 - u).collect()]
    };
    let probabilities = utilities().map(|u| exponential.probabilities(&u));
    let loss: Vec<f64> = probabilities[0]
        .iter()
        .zip(&probabilities[1])
        .map(|(given, neighbour)| libm::log(given / neighbour))
        .collect();
    let largest = loss.iter().fold(0.0f64, |most, loss| most.max(loss.abs()));
    // With exponential noise of rate 1/2 the first of n wins with probability (1 - (1 - a)^n) / (n a) where it is 1
    // ahead, a = e^(-1/2), and with a / n where it is 1 behind.
    let behind = libm::exp(-0.5);
    let of_noisy_max = libm::log1p(-libm::pow(1.0 - behind, 21.0)) + 1.0;
    let words = "utilities of 21 options, each moved by 1";
    // All options but the first are alike in both worlds.
    let first =
        || -> Vec<(&'static str, Score<usize>)> { vec![(RATIO, Box::new(|&i| f64::from(u8::from(i == 0))))] };
    let response = RandomizedResponse::new(epsilon(1.0));
    vec![
        case(
            Words {
                name: "randomized-response",
                about: "randomised response on one bit, epsilon 1",
                neighbours: "the bit",
                expected: Verdict::Consistent,
            },
            response,
            [true, false],
            (1, 0.0, Neighbours::AnyValue),
            vec![(RATIO, Box::new(|&bit| if bit { 1.0 } else { -1.0 }))],
            Some(KnownPair::largest(1.0)),
        ),
        case(
            Words {
                name: "exponential",
                about: "exponential mechanism, epsilon 1",
                neighbours: words,
                expected: Verdict::Consistent,
            },
            exponential,
            utilities(),
            (1, 0.0, Neighbours::AnyValue),
            vec![(RATIO, Box::new(move |&i| loss[i]))],
            Some(KnownPair::largest(largest)),
        ),
        case(
            Words {
                name: "report-noisy-max",
                about: "report noisy max with exponential noise, epsilon 1",
                neighbours: words,
                expected: Verdict::Consistent,
            },
            ReportNoisyMax::new(epsilon(1.0), positive(1.0)),
            utilities(),
            (1, 0.0, Neighbours::AnyValue),
            first(),
            Some(KnownPair::largest(of_noisy_max)),
        ),
        case(
            Words {
                name: "argmax",
                about: "the best index, without noise: nothing is claimed",
                neighbours: words,
                expected: Verdict::Inconclusive,
            },
            Argmax,
            utilities(),
            (1, 0.0, Neighbours::AnyValue),
            first(),
            None,
        ),
        case(
            Words {
                name: "disclosure",
                about: "a number as it is: nothing is claimed",
                neighbours: "the number",
                expected: Verdict::Inconclusive,
            },
            Disclosure::<f64>::new(),
            [1.0, 0.0],
            (1, 0.0, Neighbours::AnyValue),
            vec![(SUPPORT, Box::new(|&y| y))],
            None,
        ),
    ]
}

fn local() -> Vec<Case> {
    let curator = |clip| Ctl::new(epsilon(1.0), positive(5.0), clip).expect("a finite scale");
    let score = |bound: f64| -> Vec<(&'static str, Score<f64>)> {
        vec![(RATIO, Box::new(move |&y| ((y + bound).abs() - (y - bound).abs()) / 10.0))]
    };
    let end = |value| Finite::new(value).expect("a finite number");
    let range = Range { low: end(-5.0), high: end(5.0) };
    let sd = Gaussian::analytic(epsilon(1.0), Delta::new(DELTA).expect("a probability"), positive(10.0))
        .expect("epsilon 1 can be had")
        .standard_deviation();
    let rewards = "a reward of 50 or -50, where 5 is the largest that is assumed";
    vec![
        case(
            Words {
                name: "ctl",
                about: "CTL with clipping to [-5, 5], epsilon 1",
                neighbours: rewards,
                expected: Verdict::Consistent,
            },
            curator(true),
            [50.0, -50.0],
            (1, 0.0, Neighbours::AnyValue),
            score(5.0),
            laplace_pair(1.0),
        ),
        case(
            Words {
                name: "ctl-unclipped",
                about: "CTL without clipping, epsilon 1 claimed",
                neighbours: rewards,
                expected: Verdict::Refuted,
            },
            curator(false),
            [50.0, -50.0],
            (1, 0.0, Neighbours::AnyValue),
            score(50.0),
            laplace_pair(0.1),
        ),
        case(
            Words {
                name: "clipped-laplace",
                about: "an outcome clipped to [-5, 5], Laplace noise, epsilon 1",
                neighbours: "an outcome of 50 or -50",
                expected: Verdict::Consistent,
            },
            ClippedLaplace { epsilon: epsilon(1.0), range, arithmetic: NoiseArithmetic::Exact },
            [50.0, -50.0],
            (1, 0.0, Neighbours::AnyValue),
            score(5.0),
            laplace_pair(1.0),
        ),
        case(
            Words {
                name: "clipped-gaussian",
                about: "an outcome clipped to [-5, 5], Gaussian noise for (1, 1e-5)",
                neighbours: "an outcome of 50 or -50",
                expected: Verdict::Consistent,
            },
            ClippedGaussian {
                epsilon: epsilon(1.0),
                delta: Delta::new(DELTA).expect("a probability"),
                range,
                arithmetic: NoiseArithmetic::Exact,
            },
            [50.0, -50.0],
            (1, DELTA, Neighbours::AnyValue),
            // Proportional to the ratio's logarithm.
            vec![(RATIO, Box::new(|&y| y))],
            Some(KnownPair::gaussian(10.0 / sd)),
        ),
    ]
}

fn broken() -> Vec<Case> {
    let unit = positive(1.0);
    let gaussian = Gaussian::analytic(epsilon(1.0), Delta::new(DELTA).expect("a probability"), unit)
        .expect("epsilon 1 can be had");
    let number = |a: f64, b: f64| [vec![a], vec![b]];
    let moved = "one number, 0 or 1, at sensitivity 1";
    let low = |name, about| Words { name, about, neighbours: moved, expected: Verdict::Refuted };
    let reach = |test: fn(f64, f64, f64) -> bool, scale: f64| -> (&'static str, Score<Vec<f64>>) {
        let can = move |secret, y| f64::from(u8::from(test(secret, scale, y)));
        (SUPPORT, Box::new(move |y: &Vec<f64>| can(0.0, y[0]) - can(1.0, y[0])))
    };
    let laplace = |y: f64, world: World| -(y - world.index() as f64).abs();
    let sd = gaussian.standard_deviation();
    vec![
        case(
            Words {
                name: "broken-half-noise",
                about: "BROKEN on purpose: Laplace noise, half of what epsilon 1 needs",
                neighbours: moved,
                expected: Verdict::Refuted,
            },
            HalfNoise(Laplace::new(unit, unit).with(NoiseArithmetic::Ideal)),
            number(0.0, 1.0),
            (1, 0.0, Neighbours::AnyValue),
            vec![ratio(|y, world| -(y - world.index() as f64).abs() / 0.5)],
            laplace_pair(0.5),
        ),
        case(
            Words {
                name: "broken-data-scaled-noise",
                about: "BROKEN on purpose: Laplace noise scaled to the data's own largest number, epsilon 1",
                neighbours: "one number, 1 or 2, at sensitivity 1",
                expected: Verdict::Refuted,
            },
            DataScaledNoise { epsilon: unit },
            number(2.0, 1.0),
            (1, 0.0, Neighbours::AnyValue),
            vec![ratio(|y, world| {
                let scale = 2.0 - world.index() as f64;
                -libm::log(scale) - (y - scale).abs() / scale
            })],
            None,
        ),
        case(
            low("laplace-low-bits", "Laplace noise of scale 1 in floating point, by its low bits"),
            Laplace::new(unit, unit).with(NoiseArithmetic::Ideal),
            number(0.0, 1.0),
            (1, 0.0, Neighbours::AnyValue),
            vec![reach(reachable_laplace, 1.0), ratio(laplace)],
            None,
        ),
        case(
            low("gaussian-low-bits", "Gaussian noise for (1, 1e-5) in floating point, by its low bits"),
            gaussian.with(NoiseArithmetic::Ideal),
            number(0.0, 1.0),
            (1, DELTA, Neighbours::AnyValue),
            vec![
                reach(reachable_gaussian, sd),
                ratio(move |y, world| -(y - world.index() as f64).powi(2) / (2.0 * sd * sd)),
            ],
            None,
        ),
    ]
}
