//! The kernels and length-scales that scenarios state for objectives.

use serde_json::{Value, json};
use std::num::NonZeroUsize;
use subrosa::gp::covariance::{Covariance, LengthScale, Shape};
use subrosa::objectives::{
    DomainPoints, Function, GpSample, Instance, LengthScales, Objective, Resources, TestFunction,
};
use subrosa::rng::Key;
use subrosa::vocab::Problem;

fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn first(objective: &dyn Objective, resources: &Resources) -> Instance {
    assert_eq!(objective.problems(resources), Vec::<Problem>::new());
    objective.prepare(resources, None, Key::root(1)).unwrap().realise(Key::root(2)).unwrap()
}

/// Functions drawn on a grid have the covariance of the stated kernel, with a length-scale for each dimension.
#[test]
fn functions_on_a_grid_have_the_stated_covariance() {
    for kernel in ["SquaredExponential", "Matern12", "Matern32", "Matern52"] {
        let recipe: GpSample = from(
            json!({ "grid": [3, 4], "max_norm": 1, "length_scale": [0.4, 1.5], "kernel": kernel, "variance": 2 }),
        );
        let ready = recipe.prepare(&Resources::default(), None, Key::root(1)).unwrap();
        let draws = 3000;
        let mut products = vec![0.0; 144];
        for k in 0..draws {
            let values = ready.realise(Key::root(3).index(k)).unwrap().values;
            for (place, product) in products.iter_mut().enumerate() {
                *product += values[place / 12] * values[place % 12] / draws as f64;
            }
        }
        let instance = ready.realise(Key::root(3)).unwrap();
        let shape = match kernel {
            "SquaredExponential" => Shape::SquaredExponential,
            "Matern12" => Shape::Matern12,
            "Matern32" => Shape::Matern32,
            _ => Shape::Matern52,
        };
        let covariance = Covariance::per_dimension(shape, vec![0.4, 1.5], 2.0);
        assert_eq!(instance.surrogate.covariance, covariance);
        for (place, found) in products.iter().enumerate() {
            let expected =
                covariance.between(instance.inputs.row(place / 12), instance.inputs.row(place % 12));
            // The product of two normals of variance 2 has variance at most 8; six standard errors of 3000 draws.
            let most = 6.0 * (8.0 / draws as f64).sqrt();
            assert!((found - expected).abs() < most, "{kernel} {place}: {found} for {expected}");
        }
    }
}

/// A list of equal length-scales draws the function that one number draws.
#[test]
fn equal_length_scales_are_one_length_scale() {
    let at = |length_scale: Value| {
        let recipe: GpSample = from(json!({ "grid": [5, 6], "length_scale": length_scale }));
        first(&recipe, &Resources::default()).values
    };
    assert_eq!(at(json!(6.25)), at(json!([6.25, 6.25])));
    assert_ne!(at(json!(6.25)), at(json!([6.25, 6.5])));
}

/// On a box, the length-scale of a category is that of each of its coordinates.
#[test]
fn a_category_has_one_length_scale() {
    let dimensions = json!([
        { "Real": { "name": "rate", "low": -1, "high": 5 } },
        { "Categorical": { "name": "solver", "values": ["a", "b", "c"] } },
    ]);
    let recipe: TestFunction = from(json!({
        "function": { "Levy": { "dimensions": 2 } }, "dimensions": dimensions, "length_scale": [0.3, 0.7],
    }));
    assert_eq!(recipe.points, DomainPoints::Box);
    let found = first(&recipe, &Resources::default()).surrogate.covariance.length_scale;
    assert_eq!(found, LengthScale::PerDimension(vec![0.3, 0.7, 0.7, 0.7]));
    let plain = TestFunction { length_scale: None, dimensions: None, ..recipe.clone() };
    let found = first(&plain, &Resources::default()).surrogate.covariance.length_scale;
    assert_eq!(found, LengthScale::Same(0.2 * 2.0_f64.sqrt()));
    let wrong = TestFunction { function: Function::Hartmann6, dimensions: None, ..recipe };
    let problems = wrong.problems(&Resources::default());
    assert!(problems.iter().any(|problem| problem.path == "length_scale"), "{problems:?}");
}

/// Agents that tune on records assume the stated kernel.
#[test]
fn agents_that_tune_on_records_assume_the_stated_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..16).map(|i| format!("{},{i},{}\n", ["a", "b"][i / 8], i % 2)).collect();
    std::fs::write(folder.path().join("r.csv"), format!("who,x,kind\n{rows}")).unwrap();
    let resources = Resources { base: folder.path().to_owned(), ..Resources::default() };
    let covariance = |change: Value| {
        let mut recipe = json!({
            "file": "r.csv", "agent": ["who"], "inputs": ["x"], "label": "kind", "prior_mean": 0.6, "prior_sd": 0.2,
            "model": { "LogisticRegression": {
                "lambda": { "values": [0.1, 1] }, "steps": { "values": [1, 2] }, "intercept": { "values": [1] },
            } },
        });
        recipe.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let recipe: subrosa::objectives::FederatedTuning = from(recipe);
        first(&recipe, &resources).surrogate.covariance
    };
    let variance = 0.2 * 0.2;
    assert_eq!(covariance(json!({})), Covariance::squared_exponential(0.3, variance));
    let stated = covariance(json!({ "kernel": "Matern32", "length_scale": [0.1, 0.2, 0.3] }));
    assert_eq!(stated, Covariance::per_dimension(Shape::Matern32, vec![0.1, 0.2, 0.3], variance));
}

/// A length-scale is written back as it was read, and a wrong one is refused.
#[test]
fn length_scales_are_numbers_or_lists() {
    for text in ["0.5", "[0.5,2.0]"] {
        let read: LengthScales = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
    for wrong in ["0", "[0.5, -1]", "\"0.5\"", "[\"a\"]"] {
        let error = serde_json::from_str::<LengthScales>(wrong).unwrap_err().to_string();
        assert!(error.contains("above 0") || error.contains("number"), "{wrong}: {error}");
    }
}

/// Grids whose whole covariance matrix would not fit are refused for kernels that need it, and only for these.
#[test]
fn large_grids_are_refused_for_kernels_that_are_no_product() {
    let count = |n| NonZeroUsize::new(n).unwrap();
    let recipe =
        |kernel: &str| -> GpSample { from(json!({ "grid": [65, 64], "length_scale": 1, "kernel": kernel })) };
    let problems = |recipe: &GpSample| recipe.problems(&Resources::default());
    assert!(problems(&recipe("SquaredExponential")).is_empty());
    let found = problems(&recipe("Matern52"));
    assert!(found[0].complaint.to_string().contains("4096 points in all for Matern52"), "{found:?}");
    assert!(problems(&GpSample { grid: vec![count(64); 2], ..recipe("Matern52") }).is_empty());
}
