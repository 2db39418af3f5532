//! A trained statistic: logistic regression on a transcript's numbers and their squares, for unknown output densities.

use crate::gp::Cholesky;

/// A fitted score: the larger it is, the more likely the transcript came from D, the first of the two neighbours.
#[derive(Clone, Debug)]
pub(super) struct Trained {
    mean: Vec<f64>,
    scale: Vec<f64>,
    weights: Vec<f64>,
}

/// Ridge penalty on every weight, that of the constant regressor included, per trial.
const RIDGE: f64 = 1e-3;
/// Largest number of Newton steps; near the solution each step doubles the number of correct digits.
const STEPS: usize = 12;
/// Largest number of features per transcript that are used, squares not counted.
pub(super) const MAX_FEATURES: usize = 256;

impl Trained {
    /// Fits the statistic to the features of the transcripts of runs on D (`sides[0]`) and on its neighbour D'
    /// (`sides[1]`). `None` if a side has no transcripts, if there are no features, or if a Newton step cannot be
    /// computed.
    pub(super) fn fit(sides: [&[Vec<f64>]; 2]) -> Option<Self> {
        let features = sides[0].first()?.len().min(MAX_FEATURES);
        if features == 0 || sides[1].is_empty() {
            return None;
        }
        let all = || sides[0].iter().chain(sides[1].iter());
        let n = all().count() as f64;
        let mut mean = vec![0.0; features];
        all().for_each(|row| mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n));
        let mut scale = vec![0.0; features];
        for row in all() {
            scale.iter_mut().zip(row).zip(&mean).for_each(|((s, v), m)| *s += (v - m) * (v - m) / n);
        }
        scale.iter_mut().for_each(|s| *s = if *s > 0.0 { s.sqrt() } else { 1.0 });
        let mut trained = Self { mean, scale, weights: Vec::new() };
        let expanded: [Vec<Vec<f64>>; 2] =
            [0, 1].map(|side| sides[side].iter().map(|row| trained.expand(row)).collect());
        let p = 2 * features + 1;
        let mut weights = vec![0.0; p];
        for _ in 0..STEPS {
            let mut gradient = vec![0.0; p];
            let mut hessian = vec![0.0; p * p];
            for (label, rows) in [(1.0, &expanded[0]), (0.0, &expanded[1])] {
                for row in rows {
                    let score: f64 = row.iter().zip(&weights).map(|(x, w)| x * w).sum();
                    let chance = 1.0 / (1.0 + libm::exp(-score.clamp(-40.0, 40.0)));
                    let curvature = (chance * (1.0 - chance)).max(1e-6);
                    for (i, x) in row.iter().enumerate() {
                        gradient[i] += (label - chance) * x;
                        let factor = curvature * x;
                        for (j, y) in row[..=i].iter().enumerate() {
                            hessian[j * p + i] += factor * y;
                        }
                    }
                }
            }
            for i in 0..p {
                let ridge = RIDGE * n;
                hessian[i * p + i] += ridge;
                gradient[i] -= ridge * weights[i];
            }
            let mut step = gradient;
            Cholesky::new(p, hessian).ok()?.solve(&mut step);
            let most = step.iter().map(|part| part.abs()).fold(0.0, f64::max);
            // Long steps are shortened, so that training does not diverge on perfectly separable data.
            let damping = if most > 5.0 { 5.0 / most } else { 1.0 };
            weights.iter_mut().zip(&step).for_each(|(w, part)| *w += damping * part);
            if most < 1e-8 {
                break;
            }
        }
        trained.weights = weights;
        Some(trained)
    }

    /// The regressors of a transcript: 1, each standardised number z, and z^2 - 1 for each z.
    fn expand(&self, row: &[f64]) -> Vec<f64> {
        let z: Vec<f64> = row
            .iter()
            .zip(&self.mean)
            .zip(&self.scale)
            .map(|((v, m), s)| ((v - m) / s).clamp(-1e6, 1e6))
            .collect();
        let squares = z.iter().map(|z| z * z - 1.0);
        std::iter::once(1.0).chain(z.iter().copied()).chain(squares).collect()
    }

    /// The score of a transcript.
    pub(super) fn score(&self, row: &[f64]) -> f64 {
        self.expand(row).iter().zip(&self.weights).map(|(x, w)| x * w).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn a_trained_statistic_learns_shifts_and_spreads() {
        let mut stream = Key::root(9).stream();
        let mut draw = |shift: f64, spread: f64| -> Vec<Vec<f64>> {
            (0..4000)
                .map(|_| vec![stream.normal(), shift + stream.normal(), spread * stream.normal()])
                .collect()
        };
        let sides = [draw(1.0, 2.0), draw(0.0, 1.0)];
        let trained = Trained::fit([&sides[0], &sides[1]]).unwrap();
        // The exact log-likelihood ratio is y - 1/2 + 3/8 z^2 - ln 2, with y the second and z the third number.
        for (y, z) in [(0.0, 0.0), (1.5, 0.3), (-1.0, 1.5)] {
            let exact = y - 0.5 + 0.375 * z * z - 2f64.ln();
            let found = trained.score(&[0.4, y, z]);
            assert!((found - exact).abs() < 0.25, "{found} for {exact}");
        }
        assert!(Trained::fit([&[], &sides[1]]).is_none());
    }
}
