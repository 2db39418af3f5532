//! Every mechanism of the family on its worst known neighbours, with what is claimed and what is to be expected.

use super::broken::{DataScaledNoise, HalfNoise};
use super::low_bits::{reachable_gaussian, reachable_laplace};
use super::releases::{RATIO, SUPPORT, Score, Words, case};
use super::run::Experiment;
use super::verdict::{Statement, Verdict};
use super::{World, projection, rows};
use crate::privacy::mechanisms::clipping::Range;
use crate::privacy::mechanisms::{
    Argmax, ClippedGaussian, ClippedLaplace, Ctl, Disclosure, DiscreteGaussian, DiscreteLaplace, Divisor,
    ExponentialMechanism, FederatedSum, FixedSizeGaussian, Gathered, Gaussian, Laplace, Lattice,
    NoiseArithmetic, Participation, PoissonGaussian, RandomizedResponse, ReportNoisyMax, SensitivityRule,
};
use crate::vocab::{Delta, Epsilon, Finite, Neighbours, Positive, Probability};
use std::num::NonZeroU32;
use std::sync::Arc;

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

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("above 0")
}

/// ln of the ratio of two densities at the first number of an output.
fn ratio(log_density: impl Fn(f64, World) -> f64 + Send + Sync + 'static) -> (&'static str, Score<Vec<f64>>) {
    let score = move |y: &Vec<f64>| log_density(y[0], World::Given) - log_density(y[0], World::Neighbour);
    (RATIO, Box::new(score))
}

/// ln of a mixture of normal densities, up to a constant.
fn log_mixture(y: f64, sd: f64, parts: [(f64, f64); 2]) -> f64 {
    let logs = parts.map(|(weight, mean)| {
        if weight > 0.0 {
            libm::log(weight) - (y - mean) * (y - mean) / (2.0 * sd * sd)
        } else {
            f64::NEG_INFINITY
        }
    });
    let most = logs[0].max(logs[1]);
    most + libm::log(logs.iter().map(|log| libm::exp(log - most)).sum())
}

const DELTA: f64 = 1e-5;
/// 200^-1.1, the delta of DP-FTS-DE's synthetic experiment.
const FEDERATED_DELTA: f64 = 0.002_943_520_093_262_371_6;

/// All cases: the family first, then what is broken on purpose, then the low bits.
#[must_use]
pub fn suite() -> Vec<Case> {
    let mut cases = additive();
    cases.extend(choices());
    cases.extend(sampled());
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
        ),
        case(
            Words {
                name: "discrete-laplace",
                about: "exact Laplace noise of scale 9 on a lattice of spacing 1/8",
                neighbours: moved,
                expected: Verdict::Consistent,
            },
            DiscreteLaplace::new(lattice, steps(9), unit),
            number(0.0, 1.0),
            (1, 0.0, Neighbours::AnyValue),
            vec![
                on_lattice(World::Given),
                ratio(move |y, world| -((y - world.index() as f64) / spacing).abs() / 9.0),
            ],
        ),
        case(
            Words {
                name: "discrete-gaussian",
                about: "exact Gaussian noise of 30 spacings on a lattice of spacing 1/8",
                neighbours: moved,
                expected: Verdict::Consistent,
            },
            DiscreteGaussian::new(lattice, steps(30), unit).expect("a small standard deviation"),
            number(0.0, 1.0),
            (1, DELTA, Neighbours::AnyValue),
            vec![
                on_lattice(World::Given),
                ratio(move |y, world| -((y - world.index() as f64) / spacing).powi(2) / 1800.0),
            ],
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
            vec![(RATIO, Box::new(move |&i| libm::log(probabilities[0][i] / probabilities[1][i])))],
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
        ),
    ]
}

fn sampled() -> Vec<Case> {
    let quarter = Probability::new(0.25).expect("a probability");
    let poisson = PoissonGaussian::new(quarter, positive(1.0), positive(1.0));
    let units = |target: f64| vec![vec![target], vec![0.0], vec![0.0], vec![0.0]];
    let mixed = || {
        ratio(|y, world| match world {
            World::Given => log_mixture(y, 1.0, [(0.75, 0.0), (0.25, 1.0)]),
            World::Neighbour => log_mixture(y, 1.0, [(1.0, 0.0), (0.0, 0.0)]),
        })
    };
    let zeroed = "one unit's contribution of full norm replaced by zero, all others zero";
    let sum = FederatedSum {
        participation: Participation::Poisson(quarter),
        clip: Some(positive(11.0)),
        noise_multiplier: 1.0,
        divisor: Divisor::Planned,
        multiplicity: 1,
        keeps_coin: false,
        visible: false,
        sensitivity: SensitivityRule::LargestWeight,
        claimed_rate: None,
        is_forgotten: false,
        arithmetic: NoiseArithmetic::Exact,
    };
    let gathered = |target: f64| Gathered {
        population: 20,
        vectors: (0..20).map(|n| (n, Arc::new(vec![if n == 0 { target } else { 0.0 }, 0.0]))).collect(),
        weights: Arc::new(vec![vec![0.05; 20]]),
        second_coin: Vec::new(),
        length: 2,
    };
    // One agent moves the sum by w S / q, the noise is z w S / q: at its own scale both are 1.
    let scale = 0.05 * 11.0 / 0.25;
    vec![
        case(
            Words {
                name: "poisson-gaussian",
                about: "Gaussian noise on a Poisson sample, q = 0.25, z = 1, once",
                neighbours: zeroed,
                expected: Verdict::Consistent,
            },
            poisson,
            [units(1.0), units(0.0)],
            (1, DELTA, Neighbours::ZeroOut),
            vec![mixed()],
        ),
        case(
            Words {
                name: "poisson-gaussian-40",
                about: "the same 40 times, as DP-FTS-DE has it",
                neighbours: zeroed,
                expected: Verdict::Consistent,
            },
            poisson,
            [units(1.0), units(0.0)],
            (40, FEDERATED_DELTA, Neighbours::ZeroOut),
            vec![mixed()],
        ),
        case(
            Words {
                name: "fixed-size-gaussian",
                about: "Gaussian noise on 1 of 4 units drawn without replacement, z = 2",
                neighbours: "one unit's contribution of full norm turned round, all others zero",
                expected: Verdict::Consistent,
            },
            FixedSizeGaussian::new(1, positive(1.0), positive(2.0)),
            [units(1.0), units(-1.0)],
            (1, DELTA, Neighbours::ReplaceOne),
            vec![ratio(|y, world| {
                let mean = 1.0 - 2.0 * world.index() as f64;
                log_mixture(y, 2.0, [(0.75, 0.0), (0.25, mean)])
            })],
        ),
        case(
            Words {
                name: "federated-sum",
                about: "DP-FTS-DE's sum over 20 agents, q = 0.25, z = 1, S = 11, once",
                neighbours: "one agent's vector of full norm replaced by zero, all others zero",
                expected: Verdict::Consistent,
            },
            sum,
            [gathered(11.0), gathered(0.0)],
            (1, DELTA, Neighbours::ZeroOut),
            vec![(
                RATIO,
                Box::new(move |sums: &Vec<Vec<f64>>| {
                    let y = sums[0][0] / scale;
                    log_mixture(y, 1.0, [(0.75, 0.0), (0.25, 1.0)])
                        - log_mixture(y, 1.0, [(1.0, 0.0), (0.0, 0.0)])
                }),
            )],
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
        ),
        case(
            low("laplace-low-bits", "Laplace noise of scale 1 in floating point, by its low bits"),
            Laplace::new(unit, unit).with(NoiseArithmetic::Ideal),
            number(0.0, 1.0),
            (1, 0.0, Neighbours::AnyValue),
            vec![reach(reachable_laplace, 1.0), ratio(laplace)],
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
        ),
    ]
}
