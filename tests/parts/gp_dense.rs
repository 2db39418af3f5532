//! Posteriors, samples, gains and gradients against dense formulas, finite differences and frozen numbers of
//! scikit-learn (tests/oracles/scikit_learn.json says how they were made).

use proptest::prelude::*;
use serde_json::Value;
use std::sync::Arc;
use subrosa::gp::covariance::{Covariance, Shape};
use subrosa::gp::prior::{CholeskyPrior, FourierPrior, GridPrior};
use subrosa::gp::{
    AdaptivePosterior, ArmCovariance, ArmPosterior, Cholesky, FeatureLength, FourierFeatures, JointPosterior,
    Nystrom, Points, Posterior, WeightPosterior, dot, greedy_maximum, information_gain,
    log_marginal_likelihood,
};
use subrosa::rng::Key;

const SHAPES: [Shape; 5] =
    [Shape::SquaredExponential, Shape::Matern12, Shape::Matern32, Shape::Matern52, Shape::Linear];

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn rows(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().flat_map(numbers).collect()
}

/// Solves A X = B by Gaussian elimination with partial pivoting; also the logarithm of |det A|.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
    let n = a.len();
    let mut log_determinant = 0.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        log_determinant += a[k][k].abs().ln();
        for i in 0..n {
            if i != k {
                let factor = a[i][k] / a[k][k];
                let (from, other) = (a[k].clone(), b[k].clone());
                a[i].iter_mut().zip(&from).for_each(|(x, y)| *x -= factor * y);
                b[i].iter_mut().zip(&other).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    for k in 0..n {
        let pivot = a[k][k];
        b[k].iter_mut().for_each(|x| *x /= pivot);
    }
    (b, log_determinant)
}

/// Mean, covariance (n x n) and log likelihood from the textbook's formulas.
fn dense(k: &ArmCovariance, seen: &[(usize, f64)], noise: f64, mean: f64) -> (Vec<f64>, Vec<f64>, f64) {
    let (n, t) = (k.n(), seen.len());
    let a = (0..t)
        .map(|i| (0..t).map(|j| k.between(seen[i].0, seen[j].0) + if i == j { noise } else { 0.0 }).collect())
        .collect();
    // Right sides: the residuals, then k(x_i, .) for every arm.
    let b = (0..t)
        .map(|i| std::iter::once(seen[i].1 - mean).chain((0..n).map(|z| k.between(seen[i].0, z))).collect())
        .collect();
    let (x, log_determinant) = solve(a, b);
    let means =
        (0..n).map(|z| mean + (0..t).map(|i| k.between(seen[i].0, z) * x[i][0]).sum::<f64>()).collect();
    let mut covariance = vec![0.0; n * n];
    for z in 0..n {
        for w in 0..n {
            let explained: f64 = (0..t).map(|i| k.between(seen[i].0, z) * x[i][w + 1]).sum();
            covariance[z * n + w] = k.between(z, w) - explained;
        }
    }
    let fit: f64 = (0..t).map(|i| (seen[i].1 - mean) * x[i][0]).sum();
    let constant = t as f64 * (2.0 * std::f64::consts::PI).ln();
    (means, covariance, -0.5 * (fit + log_determinant + constant))
}

fn close(found: f64, expected: f64, tolerance: f64) -> Result<(), TestCaseError> {
    prop_assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_posteriors_are_the_dense_formulas(
        seed in any::<u64>(), shape in 0_usize..5, n in 2_usize..12, d in 1_usize..4, t in 1_usize..15,
        own_scales in any::<bool>(), noise in 1e-3_f64..1.0, mean in -1.0_f64..1.0,
    ) {
        let mut stream = Key::root(seed).stream();
        let points = Arc::new(Points::new(n, d, (0..n * d).map(|_| stream.normal()).collect()));
        let covariance = if own_scales {
            let scales = (0..d).map(|_| stream.uniform_between(0.3, 2.0)).collect();
            Covariance::per_dimension(SHAPES[shape], scales, 1.3)
        } else {
            Covariance::new(SHAPES[shape], 0.8, 1.3)
        };
        let model = ArmCovariance::of_inputs(points, covariance);
        let seen: Vec<(usize, f64)> =
            (0..t).map(|_| (stream.below(n as u64) as usize, stream.normal())).collect();
        let (means, covariances, likelihood) = dense(&model, &seen, noise, mean);
        let mut candidates = Posterior::new(model.clone(), noise, mean);
        let mut arms = ArmPosterior::new(&model, noise, mean);
        let mut adaptive = AdaptivePosterior::new(model.clone(), noise, mean);
        for &(arm, outcome) in &seen {
            candidates.observe(arm, outcome).unwrap();
            arms.observe(arm, outcome).unwrap();
            adaptive.observe(arm, outcome).unwrap();
        }
        prop_assert_eq!(matches!(adaptive, AdaptivePosterior::ArmSpace(_)), t > n);
        let converted = candidates.to_arm_space();
        let scale = 1e-9 * (1.0 + model.variances().iter().fold(0.0, |a: f64, &b| a.max(b))) / noise;
        for z in 0..n {
            for found in [candidates.mean()[z], arms.mean()[z], adaptive.mean()[z], converted.mean()[z]] {
                close(found, means[z], scale)?;
            }
            let variance = covariances[z * n + z];
            for found in [candidates.variance()[z], arms.variance()[z], adaptive.variance()[z]] {
                close(found, variance, scale)?;
            }
            for w in 0..n {
                for found in [candidates.covariance(z, w), arms.covariance(z, w), converted.covariance(z, w)] {
                    close(found, covariances[z * n + w], scale)?;
                }
            }
        }
        close(candidates.log_marginal_likelihood(), likelihood, scale * 10.0)?;
        close(arms.log_marginal_likelihood(), likelihood, scale * 10.0)?;
        let order: Vec<usize> = seen.iter().map(|(arm, _)| *arm).collect();
        let gain = information_gain(&model, &order, noise).unwrap();
        for found in [candidates.information_gain(), arms.information_gain(), adaptive.information_gain()] {
            close(found, gain, scale)?;
        }
    }

    #[test]
    fn gradients_are_finite_differences(
        seed in any::<u64>(), shape in 0_usize..5, n in 2_usize..10, d in 1_usize..3, own_scales in any::<bool>(),
    ) {
        let mut stream = Key::root(seed).stream();
        let points = Points::new(n, d, (0..n * d).map(|_| stream.normal()).collect());
        let y: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let count = if own_scales { d } else { 1 };
        let mut logs: Vec<f64> = (0..count).map(|_| stream.uniform_between(-0.7, 0.7)).collect();
        logs.extend([0.3, -1.5]);
        let at = |logs: &[f64]| {
            let e: Vec<f64> = logs.iter().map(|l| l.exp()).collect();
            let covariance = if own_scales {
                Covariance::per_dimension(SHAPES[shape], e[..d].to_vec(), e[d])
            } else {
                Covariance::new(SHAPES[shape], e[0], e[1])
            };
            log_marginal_likelihood(&points, &y, &covariance, e[count + 1]).unwrap()
        };
        let found = at(&logs);
        for (k, derivative) in found.gradient.iter().enumerate() {
            let moved = |h: f64| {
                let mut logs = logs.clone();
                logs[k] += h;
                at(&logs).value
            };
            let h = 1e-5;
            let difference = (moved(h) - moved(-h)) / (2.0 * h);
            close(*derivative, difference, 1e-5 * (1.0 + difference.abs()))?;
        }
    }

    #[test]
    fn weights_are_the_dense_regression(seed in any::<u64>(), m in 1_usize..8, t in 0_usize..12, lambda in 0.01_f64..2.0) {
        let mut stream = Key::root(seed).stream();
        let phi: Vec<Vec<f64>> = (0..t).map(|_| (0..m).map(|_| stream.normal()).collect()).collect();
        let y: Vec<f64> = (0..t).map(|_| stream.normal()).collect();
        let mut weights = WeightPosterior::new(m, lambda).unwrap();
        phi.iter().zip(&y).for_each(|(phi, &y)| weights.observe(phi, y).unwrap());
        let sigma: Vec<Vec<f64>> = (0..m)
            .map(|i| (0..m).map(|j| phi.iter().map(|p| p[i] * p[j]).sum::<f64>() + if i == j { lambda } else { 0.0 }).collect())
            .collect();
        let right = (0..m)
            .map(|i| {
                let first: f64 = phi.iter().zip(&y).map(|(p, y)| p[i] * y).sum();
                std::iter::once(first).chain((0..m).map(|j| f64::from(u8::from(i == j)))).collect()
            })
            .collect();
        let (x, _) = solve(sigma, right);
        for (i, nu) in weights.mean().iter().enumerate() {
            close(*nu, x[i][0], 1e-8 / lambda)?;
            let mut unit = vec![0.0; m];
            unit[i] = 1.0;
            close(weights.variance(&unit), lambda * x[i][i + 1], 1e-8 / lambda)?;
        }
    }
}

#[test]
fn posteriors_and_gradients_of_scikit_learn() {
    let oracle: Value = serde_json::from_str(include_str!("../oracles/scikit_learn.json")).unwrap();
    let (x, z, y) = (rows(&oracle["X"]), rows(&oracle["Z"]), numbers(&oracle["y"]));
    let (n, wanted) = (y.len(), z.len() / 2);
    let data = Points::new(n, 2, x.clone());
    let points = Arc::new(Points::new(n + wanted, 2, [x, z].concat()));
    for case in oracle["cases"].as_array().unwrap() {
        let name = case["kernel"].as_str().unwrap();
        let covariance = match name {
            "SquaredExponential" => Covariance::new(Shape::SquaredExponential, 0.4, 1.7),
            "Matern12" => Covariance::new(Shape::Matern12, 0.4, 1.7),
            "Matern32" => Covariance::new(Shape::Matern32, 0.4, 1.7),
            "Matern52" => Covariance::new(Shape::Matern52, 0.4, 1.7),
            "Linear" => Covariance::new(Shape::Linear, 1.0, 1.7),
            "SquaredExponentialPerDimension" => {
                Covariance::per_dimension(Shape::SquaredExponential, vec![0.3, 0.8], 1.7)
            }
            "Matern52PerDimension" => Covariance::per_dimension(Shape::Matern52, vec![0.3, 0.8], 1.7),
            other => panic!("unknown kernel {other}"),
        };
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-8, "{name}: found {found}, expected {expected}");
        };
        let model = ArmCovariance::of_inputs(Arc::clone(&points), covariance.clone());
        let mut posterior = Posterior::new(model, 0.01, 0.0);
        y.iter().enumerate().for_each(|(arm, &outcome)| posterior.observe(arm, outcome).unwrap());
        let (mean, covariances) = (numbers(&case["mean"]), rows(&case["covariance"]));
        for i in 0..wanted {
            near(posterior.mean()[n + i], mean[i]);
            for j in 0..wanted {
                near(posterior.covariance(n + i, n + j), covariances[i * wanted + j]);
            }
        }
        near(posterior.log_marginal_likelihood(), case["log_likelihood"].as_f64().unwrap());
        let likelihood = log_marginal_likelihood(&data, &y, &covariance, 0.01).unwrap();
        near(likelihood.value, case["log_likelihood"].as_f64().unwrap());
        // scikit-learn's order: variance, length-scales, noise. Its linear kernel has no length-scale.
        let theirs = numbers(&case["gradient_sklearn_order"]);
        let scales = likelihood.gradient.len() - 2;
        near(likelihood.gradient[scales], theirs[0]);
        near(likelihood.gradient[scales + 1], *theirs.last().unwrap());
        if name != "Linear" {
            (0..scales).for_each(|k| near(likelihood.gradient[k], theirs[k + 1]));
        }
    }
}

#[test]
fn greedy_gains_of_the_oracle() {
    let oracle: Value =
        serde_json::from_str(include_str!("../oracles/outsourced_release_units.json")).unwrap();
    let points = Arc::new(Points::new(6, 1, (0..6).map(|i| f64::from(i) / 5.0).collect()));
    for case in oracle["ku_gamma"].as_array().unwrap() {
        let number = |key: &str| case[key].as_f64().unwrap();
        let covariance = Covariance::squared_exponential(number("l"), 1.0);
        let model = ArmCovariance::of_inputs(Arc::clone(&points), covariance);
        let greedy = greedy_maximum(&model, number("T") as usize, number("sigma2")).unwrap();
        assert!((greedy.gains.last().unwrap() - number("greedy")).abs() < 1e-10);
        assert!(greedy.upper_bound() >= number("brute_force_multiset"));
        let again = information_gain(&model, &greedy.arms, number("sigma2")).unwrap();
        assert!((again - number("greedy")).abs() < 1e-10);
    }
    let model = ArmCovariance::of_inputs(points, Covariance::matern52(0.3, 1.0));
    assert!(greedy_maximum(&model, 3, 0.0).is_err());
}

#[test]
fn posterior_weights_of_the_oracle() {
    let oracle: Value = serde_json::from_str(include_str!("../oracles/ldp_federated_units.json")).unwrap();
    let case = &oracle["fts"]["omega_posterior"];
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    let mut weights = WeightPosterior::new(4, case["lambda"].as_f64().unwrap()).unwrap();
    for (phi, y) in case["Phi"].as_array().unwrap().iter().zip(numbers(&case["y"])) {
        weights.observe(&numbers(phi), y).unwrap();
    }
    weights.mean().iter().zip(numbers(&case["nu"])).for_each(|(found, expected)| near(*found, expected));
    let sample = &case["sample_nu+sqrt(lam)L^-T z (L lower Cholesky of Sigma)"];
    let found = weights.sample_from(&numbers(&case["z"]));
    found.iter().zip(numbers(sample)).for_each(|(found, expected)| near(*found, expected));
    for i in 0..4 {
        let mut unit = [0.0; 4];
        unit[i] = 1.0;
        near(weights.variance(&unit), case["cov_lambda_Sigma_inv"][i][i].as_f64().unwrap());
    }
    assert!(WeightPosterior::new(4, 0.0).is_err());
}

#[test]
fn fourier_features_approach_the_covariance() {
    // 40,000 cosines estimate a covariance with standard error at most sqrt(1/2 / 40,000) = 0.0036 (products of
    // sqrt(2) cosines have variance at most 1/2 + 1/2); six of them, with the bound 1 on the variance: 0.03.
    let x = [[0.0, 0.0], [0.4, 0.1], [1.0, -0.7]];
    for shape in [Shape::SquaredExponential, Shape::Matern12, Shape::Matern32, Shape::Matern52] {
        let covariance = Covariance::per_dimension(shape, vec![0.6, 1.1], 1.5);
        for length in [FeatureLength::Estimator, FeatureLength::Exact] {
            let mut stream = Key::root(9).stream();
            let features = FourierFeatures::draw(&covariance, 2, 40_000, length, &mut stream).unwrap();
            let phi: Vec<Vec<f64>> = x.iter().map(|x| features.of(x)).collect();
            for i in 0..3 {
                for j in 0..3 {
                    let (found, expected) = (dot(&phi[i], &phi[j]), covariance.between(&x[i], &x[j]));
                    assert!((found - expected).abs() < 0.03 * 1.5, "{shape:?} {i} {j}: {found} {expected}");
                }
                if length == FeatureLength::Exact {
                    assert!((dot(&phi[i], &phi[i]) - 1.5).abs() < 1e-12);
                }
            }
        }
    }
    let linear = Covariance::new(Shape::Linear, 1.0, 1.0);
    let mut stream = Key::root(9).stream();
    assert!(FourierFeatures::draw(&linear, 2, 5, FeatureLength::Exact, &mut stream).is_err());
}

#[test]
fn many_features_give_the_exact_posterior() {
    let covariance = Covariance::squared_exponential(0.5, 1.0);
    let x: Vec<f64> = (0..9).map(|i| f64::from(i) / 8.0).collect();
    let mut stream = Key::root(4).stream();
    let features = FourierFeatures::draw(&covariance, 1, 2000, FeatureLength::Exact, &mut stream).unwrap();
    let mut weights = WeightPosterior::new(2000, 0.1).unwrap();
    let model = ArmCovariance::of_inputs(Arc::new(Points::new(9, 1, x.clone())), covariance);
    let mut exact = Posterior::new(model, 0.1, 0.0);
    for (arm, outcome) in [(0, 0.5), (3, -1.0), (8, 0.7), (3, -0.8)] {
        weights.observe(&features.of(&[x[arm]]), outcome).unwrap();
        exact.observe(arm, outcome).unwrap();
    }
    let nu = weights.mean();
    for (arm, &x) in x.iter().enumerate() {
        let phi = features.of(&[x]);
        // 2,000 features err by about 1/sqrt(2,000) = 0.02 in a covariance, and the noise magnifies it.
        assert!((dot(&phi, &nu) - exact.mean()[arm]).abs() < 0.2);
        assert!((weights.variance(&phi) - exact.variance()[arm]).abs() < 0.1);
    }
}

#[test]
fn all_arms_as_basis_make_nystrom_exact() {
    let points = Points::new(40, 2, (0..80).map(|i| f64::from(i * i % 83) / 83.0).collect());
    for shape in SHAPES {
        let model = ArmCovariance::of_inputs(Arc::new(points.clone()), Covariance::new(shape, 0.4, 1.2));
        let features = Nystrom::new(40, &model.dense(), (0..40).collect()).unwrap();
        for arm in 0..40 {
            for other in 0..40 {
                let found = dot(features.coordinates(arm), features.coordinates(other));
                assert!((found - model.between(arm, other)).abs() < 1e-9, "{shape:?}");
            }
        }
    }
}

/// Mean and covariance of samples, each within six standard errors: a mean errs by at most sd / sqrt(count), a product
/// of two normals with variances a and b by at most sqrt(2 a b / count).
fn check_moments(samples: &[Vec<f64>], mean: &[f64], covariance: impl Fn(usize, usize) -> f64) {
    let (n, count) = (mean.len(), samples.len() as f64);
    for i in 0..n {
        let found = samples.iter().map(|s| s[i]).sum::<f64>() / count;
        let sd = covariance(i, i).max(1e-12).sqrt();
        assert!((found - mean[i]).abs() < 6.0 * sd / count.sqrt(), "mean {i}: {found} for {}", mean[i]);
        for j in 0..n {
            let found = samples.iter().map(|s| (s[i] - mean[i]) * (s[j] - mean[j])).sum::<f64>() / count;
            let allowed = 6.0 * sd * covariance(j, j).max(1e-12).sqrt() * (2.0 / count).sqrt();
            assert!((found - covariance(i, j)).abs() < allowed, "{i} {j}: {found} for {}", covariance(i, j));
        }
    }
}

#[test]
fn joint_samples_have_the_posterior_mean_and_covariance() {
    let points = Points::new(6, 1, (0..6).map(|i| f64::from(i) * 0.3).collect());
    let model = ArmCovariance::of_inputs(Arc::new(points), Covariance::matern52(0.5, 1.4));
    let mut posterior = Posterior::new(model.clone(), 0.2, 0.7);
    for (arm, outcome) in [(1, 1.0), (4, -0.6), (1, 0.5)] {
        posterior.observe(arm, outcome).unwrap();
    }
    let arm_space = posterior.to_arm_space();
    let prior = CholeskyPrior::new(&model).unwrap();
    assert_eq!(prior.jitter(), 0.0);
    let mut stream = Key::root(12).stream();
    let count = 20_000;
    let drawn: Vec<Vec<f64>> = (0..count).map(|_| prior.sample(&mut stream)).collect();
    check_moments(&drawn, &[0.0; 6], |i, j| model.between(i, j));
    let matheron: Vec<Vec<f64>> = drawn.iter().map(|f| posterior.sample(f, &mut stream)).collect();
    check_moments(&matheron, posterior.mean(), |i, j| posterior.covariance(i, j));
    let direct: Vec<Vec<f64>> = (0..count).map(|_| arm_space.sample(&mut stream).unwrap().0).collect();
    check_moments(&direct, posterior.mean(), |i, j| posterior.covariance(i, j));
}

/// With more outcomes than arms a model with joint draws keeps a factor of the covariance. Its means, covariances and draws
/// are those of the exact posterior, and the bits of every draw before the change are those of the rows.
#[test]
fn a_factor_of_the_covariance_follows_every_outcome() {
    let points = Points::new(6, 1, (0..6).map(|i| f64::from(i) * 0.3).collect());
    let model = ArmCovariance::of_inputs(Arc::new(points), Covariance::matern52(0.5, 1.4));
    let prior = Arc::new(Cholesky::new(6, model.dense()).unwrap());
    let mut rows = Posterior::new(model.clone(), 0.2, 0.7);
    let mut joint = JointPosterior::new(model.clone(), Arc::clone(&prior), 0.2, 0.7);
    let mut stream = Key::root(14).stream();
    let mut seen = Vec::new();
    for t in 0..25 {
        let (arm, outcome) = (stream.below(6) as usize, stream.normal());
        seen.push((arm, outcome));
        rows.observe(arm, outcome).unwrap();
        joint.observe(arm, outcome).unwrap();
        let (means, covariances, _) = dense(&model, &seen, 0.2, 0.7);
        let factor = rows.to_factor(&prior).unwrap();
        for z in 0..6 {
            assert!((joint.mean()[z] - means[z]).abs() < 1e-12, "{t} {z}");
            (0..6).for_each(|w| assert!((factor.covariance(z, w) - covariances[z * 6 + w]).abs() < 1e-12));
        }
        let (mut one, mut other) = (Key::root(t).stream(), Key::root(t).stream());
        let mut z = [0.0; 6];
        other.fill_normal(&mut z);
        let plain = rows.sample(&prior.times(&z), &mut other);
        let same = joint.draw(1.0, &mut one).iter().zip(plain).all(|(a, b)| (a - b).abs() < 1e-12);
        assert_eq!(same, t < 6, "after {} outcomes", t + 1);
    }
    assert_eq!((joint.observations(), joint.jitter()), (25, 0.0));
    let drawn: Vec<Vec<f64>> = (0..20_000).map(|_| joint.draw(1.0, &mut stream)).collect();
    check_moments(&drawn, rows.mean(), |i, j| rows.covariance(i, j));
    let wide: Vec<Vec<f64>> = (0..20_000).map(|_| joint.draw(3.0, &mut stream)).collect();
    check_moments(&wide, rows.mean(), |i, j| 9.0 * rows.covariance(i, j));
    // Without noise the covariance becomes singular: rows are kept.
    let mut exact = JointPosterior::new(model.clone(), prior, 0.0, 0.7);
    (0..6).for_each(|arm| exact.observe(arm, 1.0).unwrap());
    exact.observe(3, 1.0).unwrap();
    assert!(exact.draw(1.0, &mut stream).iter().all(|value| (value - 1.0).abs() < 1e-5));
}

#[test]
fn fourier_samples_have_the_covariance() {
    let covariance = Covariance::new(Shape::Matern32, 0.5, 1.4);
    let points = Points::new(5, 1, (0..5).map(|i| f64::from(i) * 0.3).collect());
    let prior = FourierPrior { covariance: &covariance, features: 200 };
    let mut stream = Key::root(13).stream();
    let drawn: Vec<Vec<f64>> = (0..20_000).map(|_| prior.sample(&points, &mut stream).unwrap()).collect();
    let model = ArmCovariance::of_inputs(Arc::new(points), covariance);
    // 200 features make a sample's fourth moment exceed the normal one by at most 3/2 / 200, far inside six errors.
    check_moments(&drawn, &[0.0; 5], |i, j| model.between(i, j));
}

#[test]
fn no_noise_and_tiny_noise_leave_no_negative_variance() {
    let axis: Vec<f64> = (0..20).map(|i| f64::from(i) * 0.25).collect();
    let f =
        GridPrior::new(&[axis.clone(), axis.clone()], 1.25, 1.0).unwrap().sample(&mut Key::root(1).stream());
    let rows: Vec<f64> = axis.iter().flat_map(|&a| axis.iter().flat_map(move |&b| [a, b])).collect();
    let points = Arc::new(Points::new(400, 2, rows));
    let model = ArmCovariance::of_inputs(points, Covariance::squared_exponential(1.25, 1.0));
    for noise in [1e-5, 1e-12, 0.0] {
        let mut posterior = Posterior::new(model.clone(), noise, 0.0);
        for t in 0..120 {
            let variance = posterior.variance();
            assert!(variance.iter().all(|&v| (0.0..=1.0).contains(&v)));
            let arm = (0..400).max_by(|&a, &b| variance[a].total_cmp(&variance[b])).unwrap();
            // Without noise there is an end: once all is known, an outcome would need a jitter.
            if noise == 0.0 && variance[arm] < 1e-12 {
                break;
            }
            posterior.observe(arm, f[arm]).unwrap();
            assert!(posterior.mean().iter().all(|m| m.is_finite()), "round {t}");
        }
        let worst = posterior.mean().iter().zip(&f).map(|(m, f)| (m - f).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-2, "noise {noise}: off by {worst}");
        assert_eq!(posterior.jitter(), 0.0);
    }
}
