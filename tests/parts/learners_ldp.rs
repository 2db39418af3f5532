//! The learners of LDP-BO: against the oracle's numbers, as bandits, and under losses.

use serde_json::Value;
use std::sync::Arc;
use subrosa::gp::covariance::Covariance;
use subrosa::gp::{ArmCovariance, ArmPosterior, CovarianceMatrix, Nystrom, Points, nystrom};
use subrosa::learners::{Arms, Knowledge, LearnerModel, MomaGpUcb, ProblemConstants, medoid};
use subrosa::rng::{Key, Stream};

fn oracle() -> Value {
    serde_json::from_str(include_str!("../oracles/ldp_federated_units.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected}");
}

fn five() -> ArmCovariance {
    let points = Arc::new(Points::new(5, 1, vec![0.0, 0.25, 0.5, 0.75, 1.0]));
    ArmCovariance::of_inputs(points, Covariance::squared_exponential(0.2, 1.0))
}

#[test]
fn features_and_gram_matrices_of_the_oracle() {
    let matrix = five().dense();
    for (name, case) in oracle()["nystrom"].as_object().unwrap() {
        let Some(basis) = case.get("D") else { continue };
        let basis: Vec<usize> = numbers(basis).into_iter().map(|arm| arm as usize).collect();
        let duplicates = name.contains("duplicate");
        let features = Nystrom::new(5, &matrix, basis).unwrap();
        for arm in 0..5 {
            let phi = features.features(arm);
            for (row, found) in case["Phi_m_by_5"].as_array().unwrap().iter().zip(&phi) {
                near(*found, row[arm].as_f64().unwrap(), 1e-12);
            }
            let c = features.coordinates(arm);
            for other in 0..5 {
                let gram: f64 = c.iter().zip(features.coordinates(other)).map(|(a, b)| a * b).sum();
                near(gram, case["gram_Phi^T_Phi"][arm][other].as_f64().unwrap(), 1e-12);
            }
        }
        assert_eq!(features.rank(), 3, "three distinct arms, {duplicates}");
    }
}

#[test]
fn nystrom_variances_and_inclusion_of_the_oracle() {
    let oracle = oracle();
    let case = &oracle["nystrom"]["posterior"];
    let counts = numbers(&case["counts"]);
    let matrix = five().dense();
    let variances = |basis: Vec<usize>| {
        let features = Nystrom::new(5, &matrix, basis).unwrap();
        let factor = features.factor(&counts, 1.0).unwrap();
        (0..5)
            .map(|arm| {
                let mut whitened = features.coordinates(arm).to_vec();
                factor.forward(&mut whitened);
                features.variance(arm, &whitened, 1.0)
            })
            .collect::<Vec<f64>>()
    };
    for (found, expected) in variances(vec![0, 2, 4]).iter().zip(numbers(&case["sigma2"])) {
        near(*found, expected, 1e-12);
    }
    let partial = &oracle["nystrom"]["posterior_partial_D04"]["sigma2"];
    for (found, expected) in variances(vec![0, 4]).iter().zip(numbers(partial)) {
        near(*found, expected, 1e-12);
    }
    let inclusion = &oracle["nystrom"]["inclusion"];
    let q = nystrom::oversampling(1e4, 0.1, 0.5);
    near(q, inclusion["q_T1e4_delta0.1_acc0.5"].as_f64().unwrap(), 1e-9);
    let variances = numbers(&inclusion["sigma2"]);
    for (variance, expected) in variances.iter().zip(numbers(&inclusion["p"])) {
        near(nystrom::inclusion(q, *variance, 1.0), expected, 1e-12);
    }
    for (variance, expected) in
        variances.iter().zip(numbers(&inclusion["unique_arm_inclusion_with_n_plays_50"]))
    {
        near(nystrom::inclusion(q, *variance, 50.0), expected, 1e-12);
    }
}

#[test]
fn arm_space_is_the_exact_posterior_of_the_oracle() {
    let oracle = oracle();
    let case = &oracle["nystrom"]["posterior"];
    let mut posterior = ArmPosterior::new(&five(), 1.0, 0.0);
    // Counts 3, 0, 2, 0, 1 and reward sums 1.5, 0, -0.8, 0, 2.
    for (arm, outcome) in [(0, 0.5), (2, -0.4), (0, 0.5), (4, 2.0), (2, -0.4), (0, 0.5)] {
        posterior.observe(arm, outcome).unwrap();
    }
    for arm in 0..5 {
        near(posterior.mean()[arm], case["exact_gp_mu"][arm].as_f64().unwrap(), 1e-12);
        near(posterior.variance()[arm], case["exact_gp_sigma2"][arm].as_f64().unwrap(), 1e-12);
    }
    // The oracle's gain is that of the features on all arms played, which are exact there.
    near(posterior.information_gain(), case["info_gain_half_logdet"].as_f64().unwrap(), 1e-12);
}

#[test]
fn medoids_of_the_oracle() {
    let oracle = oracle();
    // In z = L^T theta the norm of V is the Euclidean one; V = [[2, .5], [.5, 1]].
    let l = [[2.0_f64.sqrt(), 0.0], [0.5 / 2.0_f64.sqrt(), (1.0 - 0.125_f64).sqrt()]];
    for case in [&oracle["moma"], &oracle["moma"]["k5"]] {
        let (first, second) = (numbers(&case["theta_cols"][0]), numbers(&case["theta_cols"][1]));
        let points: Vec<Vec<f64>> =
            first.iter().zip(&second).map(|(a, b)| vec![l[0][0] * a + l[1][0] * b, l[1][1] * b]).collect();
        let rows: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        assert_eq!(medoid(&rows), Some(case["kstar_0based"].as_u64().unwrap() as usize));
    }
}

#[test]
fn repetitions_and_width_of_the_oracle() {
    let recipe: MomaGpUcb = ron::from_str("(accuracy: 0.5)").unwrap();
    assert_eq!(recipe.repetitions(1e4), 334);
    assert_eq!(recipe.repetitions(4e4), 367);
    let known = Knowledge {
        bound: 4.0,
        horizon: 1e4,
        raw_moment: 217.0,
        central_moment: 201.0,
        alpha: 1.0,
        laplace: Some((5.0, 10.0)),
        tail: None,
    };
    near(recipe.width(&known, 20.0, 7.0), 580.2880836787973, 1e-9);
    let recipe: MomaGpUcb = ron::from_str("(delta: 0.05)").unwrap();
    assert_eq!(recipe.repetitions(1e3), 295);
}

/// 100 points on [0, 1] and f = sum of a_i k(., x_i), as in the paper's experiments.
fn problem(key: Key) -> (ArmCovariance, Vec<f64>) {
    let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 99.0).collect();
    let covariance = Covariance::squared_exponential(0.2, 1.0);
    let mut stream = key.child("function").stream();
    let mut f = vec![0.0; 100];
    for _ in 0..100 {
        let (a, centre) = (stream.uniform_between(-1.0, 1.0), x[stream.below(100) as usize]);
        f.iter_mut().zip(&x).for_each(|(f, &x)| *f += a * covariance.between(&[x], &[centre]));
    }
    (ArmCovariance::of_inputs(Arc::new(Points::new(100, 1, x)), covariance), f)
}

/// Plays and returns the cumulative regret; outcomes have uniform noise in [-1, 1] and Laplace noise.
fn regret(recipe: &str, key: Key, rounds: u64, epsilon: f64) -> f64 {
    let (covariance, f) = problem(key);
    let bound = f.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    let scale = 2.0 * (bound + 1.0) / epsilon;
    let arms = Arms {
        n: 100,
        covariance: Some(covariance),
        noise_variance: 2.0 * scale * scale,
        mean: 0.0,
        facts: ProblemConstants {
            horizon: Some(rounds),
            bound: Some(bound),
            noise_bound: Some(1.0),
            laplace_scale: Some(scale),
        },
    };
    let model: LearnerModel = subrosa::scenario::part(recipe).unwrap();
    let mut learner = model.as_dyn().build(&arms).unwrap();
    let (mut choices, mut noise) = (key.child("learner").stream(), key.child("noise").stream());
    let best = f.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let mut total = 0.0;
    for _ in 0..rounds {
        let arm = learner.suggest(&mut choices);
        total += best - f[arm];
        let outcome = f[arm] + noise.uniform_between(-1.0, 1.0) + scale * noise.laplace();
        learner.observe(arm, outcome).unwrap();
    }
    total
}

#[test]
fn every_learner_finds_good_arms_when_outcomes_are_hardly_noisy() {
    let (rounds, epsilon) = (3000, 500.0);
    let random = regret("Random()", Key::root(8), rounds, epsilon);
    for recipe in [
        "GpUcb(beta: Constant(beta: 2))",
        "ThompsonSampling()",
        "ThompsonSampling(sampling: Marginal)",
        "ExpectedImprovement()",
        "TgpUcb(constants: OrderWise, beta_scale: 0.1)",
        "AtaGpUcb(constants: OrderWise, beta_scale: 0.1)",
        "MomaGpUcb(constants: OrderWise, repetitions: Some(14), beta_scale: 0.3)",
        "MomaGpUcb(constants: OrderWise, repetitions: Some(14), beta_scale: 0.3, middle: GeometricMedian)",
    ] {
        let found = regret(recipe, Key::root(8), rounds, epsilon);
        assert!(found < 0.35 * random, "{recipe}: {found} against {random} of random play");
    }
}

#[test]
fn moma_asks_again_for_lost_outcomes() {
    let (covariance, f) = problem(Key::root(2));
    let recipe: MomaGpUcb = ron::from_str("(repetitions: Some(5))").unwrap();
    let facts = ProblemConstants {
        horizon: Some(200),
        bound: Some(4.0),
        noise_bound: Some(1.0),
        laplace_scale: Some(1.0),
    };
    let arms = Arms { n: 100, covariance: Some(covariance), noise_variance: 1.0, mean: 0.0, facts };
    let build = || LearnerModel::from(recipe.clone()).as_dyn().build(&arms).unwrap();
    let outcome = |arm: usize, noise: &mut Stream| f[arm] + noise.laplace();
    // Without losses, and with every third outcome lost: the same outcomes arrive, so the same epochs are played.
    let play = |lossy: bool| {
        let mut learner = build();
        let (mut choices, mut noise) = (Key::root(3).stream(), Key::root(4).stream());
        let (mut arrived, mut asked) = (Vec::new(), 0_u64);
        while arrived.len() < 100 {
            let wanted = learner.wanted();
            assert!((1..=5).contains(&wanted));
            let arm = learner.suggest(&mut choices);
            asked += 1;
            if lossy && asked.is_multiple_of(3) {
                assert_eq!(learner.suggest(&mut choices), arm, "a lost outcome is asked for again");
                continue;
            }
            let value = outcome(arm, &mut noise);
            learner.observe(arm, value).unwrap();
            arrived.push((arm, value));
        }
        arrived
    };
    let whole = play(false);
    assert_eq!(whole, play(true));
    for epoch in whole.chunks(5) {
        assert!(epoch.iter().all(|(arm, _)| *arm == epoch[0].0), "an arm is played five times");
    }
}

#[test]
fn an_explicit_matrix_gives_the_same_choices_as_its_function() {
    let (covariance, f) = problem(Key::root(5));
    let matrix = CovarianceMatrix::new(100, covariance.dense()).unwrap();
    let facts = ProblemConstants {
        horizon: Some(300),
        bound: Some(4.0),
        noise_bound: Some(0.1),
        laplace_scale: Some(0.1),
    };
    for recipe in ["TgpUcb()", "AtaGpUcb()", "MomaGpUcb(repetitions: Some(3))", "GpUcb()"] {
        let model: LearnerModel = subrosa::scenario::part(recipe).unwrap();
        let play = |covariance: ArmCovariance| {
            let arms = Arms { n: 100, covariance: Some(covariance), noise_variance: 0.1, mean: 0.0, facts };
            let mut learner = model.as_dyn().build(&arms).unwrap();
            let (mut choices, mut noise) = (Key::root(6).stream(), Key::root(7).stream());
            (0..300)
                .map(|_| {
                    let arm = learner.suggest(&mut choices);
                    learner.observe(arm, f[arm] + 0.1 * noise.laplace()).unwrap();
                    arm
                })
                .collect::<Vec<_>>()
        };
        let of_function = play(covariance.clone());
        assert!(of_function == play(ArmCovariance::Matrix(Arc::new(matrix.clone()))), "{recipe}");
    }
    assert!(CovarianceMatrix::new(2, vec![1.0, 2.0, 2.0, 1.0]).is_err());
    assert!(CovarianceMatrix::new(2, vec![1.0, 0.5, 0.4, 1.0]).is_err());
}
