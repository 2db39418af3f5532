//! Posteriors and a GP-UCB run against numbers from dense formulas in numpy (tests/oracles).

use serde_json::Value;
use std::sync::Arc;
use subrosa::gp::covariance::Covariance;
use subrosa::gp::{ArmCovariance, Points, Posterior};
use subrosa::learners::{Arms, GpUcb, LearnerRecipe, ProblemConstants};
use subrosa::rng::Key;

fn oracle() -> Value {
    serde_json::from_str(include_str!("../oracles/outsourced_release_units.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

#[test]
fn tiny_posteriors() {
    for case in oracle()["gp_tiny"].as_array().unwrap() {
        let number = |key: &str| case[key].as_f64().unwrap();
        let rows = |key: &str| case[key].as_array().unwrap().iter().flat_map(numbers).collect::<Vec<f64>>();
        let (data, wanted) = (rows("X"), rows("Xstar"));
        let (n, m) = (data.len() / 2, wanted.len() / 2);
        let points = Arc::new(Points::new(n + m, 2, [data, wanted].concat()));
        let covariance = match case["kernel"].as_str().unwrap() {
            "se" => Covariance::squared_exponential(number("l"), number("sigma_y2")),
            "matern52" => Covariance::matern52(number("l"), number("sigma_y2")),
            other => panic!("unknown kernel {other}"),
        };
        let mut posterior =
            Posterior::new(ArmCovariance::of_inputs(points, covariance), number("sigma_n2"), number("mean"));
        for (arm, outcome) in numbers(&case["y"]).into_iter().enumerate() {
            posterior.observe(arm, outcome).unwrap();
        }
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-9, "{found} for {expected} in {case}");
        };
        for (k, expected) in numbers(&case["post_mean"]).into_iter().enumerate() {
            near(posterior.mean()[n + k], expected);
        }
        for (k, expected) in numbers(&case["post_var_latent"]).into_iter().enumerate() {
            near(posterior.variance()[n + k], expected);
        }
        near(posterior.covariance(n, n + 1), number("post_cov_01"));
        near(posterior.covariance(n, n), posterior.variance()[n]);
        near(posterior.log_marginal_likelihood(), number("log_marginal_likelihood"));
        assert_eq!(posterior.jitter(), 0.0);
    }
}

#[test]
fn a_run_of_gp_ucb_visits_the_same_arms() {
    let trace = &oracle()["gp_ucb_trace"];
    let x: Vec<f64> = (0..21).map(|k| -2.0 + 0.2 * f64::from(k)).collect();
    let f = |x: f64| (3.0 * x).sin() * (-0.2 * x * x).exp() + 0.3 * x;
    let arms = Arms {
        n: 21,
        covariance: Some(ArmCovariance::of_inputs(
            Arc::new(Points::new(21, 1, x.clone())),
            Covariance::squared_exponential(0.5, 1.0),
        )),
        noise_variance: trace["sigma_n2_model"].as_f64().unwrap(),
        mean: 0.0,
        facts: ProblemConstants::default(),
    };
    let recipe: GpUcb = ron::from_str("(beta: FiniteDomain(delta: 0.025))").unwrap();
    let mut learner = recipe.build(&arms).unwrap();
    let mut stream = Key::root(1).stream();
    let mut visited = vec![7];
    learner.observe(7, f(x[7])).unwrap();
    for _ in 0..8 {
        let arm = learner.suggest(&mut stream);
        learner.observe(arm, f(x[arm])).unwrap();
        visited.push(arm);
    }
    let expected: Vec<usize> = numbers(&trace["indices"]).into_iter().map(|v| v as usize).collect();
    assert_eq!(visited, expected);
    let best = x.iter().map(|&x| f(x)).fold(f64::NEG_INFINITY, f64::max);
    let found = visited.iter().map(|&arm| f(x[arm])).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(best - found, trace["simple_regret"].as_f64().unwrap());
}
