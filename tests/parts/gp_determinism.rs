//! The same bits with every instruction set, frozen: a hash of everything the GP core computes with its own loops.

use std::sync::Arc;
use subrosa::gp::covariance::{Covariance, Shape};
use subrosa::gp::simd::{self, Level};
use subrosa::gp::{
    ArmCovariance, ArmPosterior, Cholesky, Eigen, FeatureLength, FourierFeatures, Points, Posterior,
    WeightPosterior, greedy_maximum, largest, log_marginal_likelihood, upper_bounds,
};
use subrosa::learners::{Arms, BoxModel, LearnerModel, ProblemConstants};
use subrosa::rng::Key;
use subrosa::vocab::SearchBox;

/// Hash of the bits of numbers, in order.
#[derive(Default)]
struct Bits(blake3::Hasher);

impl Bits {
    fn take(&mut self, numbers: &[f64]) {
        for x in numbers {
            self.0.update(&x.to_bits().to_le_bytes());
        }
    }

    fn name(&self) -> String {
        self.0.finalize().to_hex()[..16].to_owned()
    }
}

const SHAPES: [Shape; 5] =
    [Shape::SquaredExponential, Shape::Matern12, Shape::Matern32, Shape::Matern52, Shape::Linear];

/// Odd sizes, so that every loop has a remainder; more than one block of arms.
fn core() -> String {
    let mut bits = Bits::default();
    let mut stream = Key::root(31).stream();
    let n = 1237;
    let points = Arc::new(Points::new(n, 3, (0..3 * n).map(|_| stream.normal()).collect()));
    let mut scores = vec![0.0; n];
    for shape in SHAPES {
        let covariance = Covariance::per_dimension(shape, vec![0.7, 1.3, 2.1], 1.7);
        let model = ArmCovariance::of_inputs(Arc::clone(&points), covariance);
        let mut posterior = Posterior::new(model, 1e-3, 0.1);
        for _ in 0..23 {
            upper_bounds(posterior.mean(), posterior.variance(), 2.0, &mut scores);
            let arm = largest(&scores);
            posterior.observe(arm, points.row(arm)[0]).unwrap();
        }
        bits.take(posterior.mean());
        bits.take(posterior.variance());
        bits.take(&[posterior.log_marginal_likelihood(), posterior.information_gain()]);
    }
    let few = Points::new(41, 3, points.row_major()[..123].to_vec());
    let y: Vec<f64> = (0..41).map(|_| stream.normal()).collect();
    let covariance = Covariance::matern52(1.1, 1.3);
    let likelihood = log_marginal_likelihood(&few, &y, &covariance, 0.1).unwrap();
    bits.take(&[likelihood.value]);
    bits.take(&likelihood.gradient);
    let model = ArmCovariance::of_inputs(Arc::new(few), covariance.clone());
    bits.take(&greedy_maximum(&model, 60, 0.3).unwrap().gains);
    let eigen = Eigen::new(41, model.dense()).unwrap();
    bits.take(eigen.values());
    bits.take(&eigen.function(f64::sqrt));
    bits.take(&Cholesky::new(41, model.dense()).unwrap().times(&y));
    let mut arms = ArmPosterior::new(&model, 0.2, 0.0);
    (0..90).for_each(|t| arms.observe(t * 7 % 41, y[t % 41]).unwrap());
    bits.take(arms.mean());
    bits.take(&arms.sample(&mut stream).unwrap().0);
    let features = FourierFeatures::draw(&covariance, 3, 53, FeatureLength::Exact, &mut stream).unwrap();
    let mut weights = WeightPosterior::new(53, 0.05).unwrap();
    (0..37).for_each(|t| weights.observe(&features.of(points.row(t)), y[t]).unwrap());
    bits.take(&weights.sample(&mut stream));
    bits.name()
}

/// The choices and outcomes of every learner.
fn learners() -> String {
    let mut bits = Bits::default();
    let points = Points::new(60, 1, (0..60).map(|i| f64::from(i) / 59.0).collect());
    let arms = Arms {
        n: 60,
        covariance: Some(ArmCovariance::of_inputs(Arc::new(points), Covariance::matern52(0.2, 1.0))),
        noise_variance: 0.5,
        mean: 0.2,
        facts: ProblemConstants {
            horizon: Some(300),
            bound: Some(1.0),
            noise_bound: Some(0.1),
            laplace_scale: Some(0.5),
        },
    };
    // A program of a user's own has no bits to compare, and `Parallel` those of the learner in it; `searches` has
    // `Acquisition`.
    let others = ["External", "Parallel", "Acquisition"];
    for name in LearnerModel::names().iter().filter(|name| !others.contains(name)) {
        let model: LearnerModel = subrosa::scenario::part(name).unwrap();
        let mut learner = model.as_dyn().build(&arms).unwrap();
        let (mut choices, mut noise) = (Key::root(7).stream(), Key::root(8).stream());
        for _ in 0..300 {
            let arm = learner.suggest(&mut choices);
            let outcome = arm as f64 / 60.0 + 0.5 * noise.laplace();
            learner.observe(arm, outcome).unwrap();
            bits.take(&[arm as f64, outcome]);
        }
    }
    bits.name()
}

/// The points and outcomes of searches of a box by `Acquisition`.
fn searches() -> String {
    let mut bits = Bits::default();
    let model = BoxModel {
        domain: SearchBox::new(vec![(-5.0, 10.0), (0.0, 15.0)]),
        covariance: Covariance::matern52(0.3, 2500.0),
        noise_variance: 0.01,
        mean: -54.0,
        facts: ProblemConstants::default(),
    };
    for function in [
        "LogExpectedImprovement",
        "ProbabilityOfImprovement",
        "UpperConfidenceBound(beta: 4)",
        "ThompsonSampling(features: 64)",
        "MaxValueEntropySearch(draws: 8)",
        "LogNoisyExpectedImprovement(samples: 8)",
        "KnowledgeGradient(points: 8)",
    ] {
        let text = format!("Acquisition(function: {function}, refit: Every(4))");
        let recipe: LearnerModel = subrosa::scenario::part(&text).unwrap();
        let mut learner = recipe.as_dyn().build_on_box(&model).unwrap();
        let mut choices = Key::root(7).stream();
        for _ in 0..18 {
            let arm = learner.suggest(&mut choices);
            let point = learner.point(arm).unwrap().to_vec();
            let parabola = point[1] - 0.129 * point[0] * point[0] + 1.59 * point[0] - 6.0;
            let outcome = -parabola * parabola - 9.6 * libm::cos(point[0]);
            learner.observe(arm, outcome).unwrap();
            bits.take(&point);
        }
    }
    bits.name()
}

/// What this version computes, on every x86-64 with every instruction set. A change is value-breaking.
const CORE: &str = "c8f908c83f01718e";
const LEARNERS: &str = "83ad1b25fbafa08a";
const SEARCHES: &str = "1274e09ce89a8e41";

#[test]
fn the_bits_are_the_same_with_every_instruction_set() {
    for level in [Level::Baseline, Level::Avx2, Level::Avx512] {
        let used = simd::force(level);
        println!("{level:?} asked for, {used:?} used: core {}, learners {}", core(), learners());
        assert_eq!((core().as_str(), learners().as_str()), (CORE, LEARNERS), "with {used:?}");
        assert_eq!(searches(), SEARCHES, "with {used:?}");
    }
}

#[test]
fn threads_running_side_by_side_change_nothing() {
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| (core(), learners(), searches()))).collect();
    for thread in threads {
        let (core, learners, searches) = thread.join().unwrap();
        assert_eq!((core.as_str(), learners.as_str(), searches.as_str()), (CORE, LEARNERS, SEARCHES));
    }
}
