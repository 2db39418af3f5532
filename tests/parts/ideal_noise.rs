//! Mechanisms in floating point, against formulas; and what releases say about themselves.

use std::num::NonZeroUsize;
use subrosa::privacy::mechanisms::clipping::Range;
use subrosa::privacy::mechanisms::inputs::{Input, Withheld};
use subrosa::privacy::mechanisms::outcomes::Outcome;
use subrosa::privacy::mechanisms::{
    ClippedGaussian, ClippedLaplace, Disclosed, ExponentialMechanism, JlVariant, JohnsonLindenstrauss,
    Mechanism, NoiseArithmetic, NoisyProjection, ReportNoisyMax, Rows,
};
use subrosa::rng::Key;
use subrosa::vocab::{Delta, Epsilon, Finite, Positive};

const DRAWS: u32 = 40_000;
/// A normal variable is further than this many standard errors off once in 150,000 times.
const FAR: f64 = 4.5;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn share_of_best(mechanism: &dyn Mechanism<Input = Vec<f64>, Output = usize>) -> f64 {
    let mut stream = Key::root(8).child("choices").stream();
    let utilities = vec![0.0, 1.0];
    let best = (0..DRAWS).filter(|_| mechanism.privatise(&utilities, &mut stream).unwrap() == 1).count();
    best as f64 / f64::from(DRAWS)
}

fn agrees(found: f64, expected: f64) {
    let error = (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
    assert!((found - expected).abs() < FAR * error, "{found} instead of {expected}");
}

/// Two utilities that differ by 1, sensitivity 1/2, epsilon 0.8. The exponential mechanism chooses the better one with
/// probability 1 / (1 + e^(-epsilon / (2 sensitivity))); the noisy maximum with exponential noise of mean
/// 2 sensitivity / epsilon with probability 1 - e^(-epsilon / (2 sensitivity)) / 2.
#[test]
fn choices_in_floating_point_have_the_probabilities_of_the_formulas() {
    let (epsilon, sensitivity) = (epsilon(0.8), positive(0.5));
    let less = (-0.8_f64).exp();
    let exponential = ExponentialMechanism::new(epsilon, sensitivity).with(NoiseArithmetic::Ideal);
    agrees(share_of_best(&exponential), 1.0 / (1.0 + less));
    let noisy = ReportNoisyMax::new(epsilon, sensitivity).with(NoiseArithmetic::Ideal);
    agrees(share_of_best(&noisy), 1.0 - less / 2.0);
}

#[test]
fn outcomes_in_floating_point_have_noise_of_the_stated_variance() {
    let range = Range { low: Finite::new(-1.0).unwrap(), high: Finite::new(3.0).unwrap() };
    let arithmetic = NoiseArithmetic::Ideal;
    let laplace = ClippedLaplace { epsilon: epsilon(2.0), range, arithmetic };
    let key = Key::root(9);
    assert_eq!(laplace.privatise(&7.0, &mut key.stream()).unwrap(), 3.0 + 2.0 * key.stream().laplace());
    let delta = Delta::new(1e-6).unwrap();
    let gaussian = ClippedGaussian { epsilon: epsilon(2.0), delta, range, arithmetic };
    let noise = gaussian.privatise(&1.0, &mut key.stream()).unwrap() - 1.0;
    let sd = gaussian.variance().unwrap().sqrt();
    assert!((noise - sd * key.stream().normal()).abs() < 1e-12 * sd);
    assert_eq!(gaussian.delta(), 1e-6);
}

/// What the report prints about a release of inputs.
#[test]
fn releases_of_inputs_state_what_is_released() {
    let rows = Rows::try_from(faer::Mat::from_fn(5, 2, |i, j| (i + j) as f64).as_ref()).unwrap();
    let r = NonZeroUsize::new(3).unwrap();
    let disclosed = Disclosed {};
    assert_eq!(disclosed.about(&rows), "5 records of 2 numbers as they are");
    assert_eq!(disclosed.unprotected(), Some("sent without protection: nothing is claimed"));
    let withheld = Withheld {};
    assert_eq!(withheld.about(&rows), "that there are 5 records");
    assert_eq!(withheld.unprotected(), Some("withheld: only the number of rows is released"));
    let projection = NoisyProjection {
        epsilon: epsilon(1.0),
        delta: Delta::new(1e-6).unwrap(),
        r,
        arithmetic: NoiseArithmetic::Exact,
    };
    assert_eq!(projection.release_name(), "projected inputs Z");
    assert_eq!(projection.about(&rows), "a known projection of 5 records to 3 numbers, with Gaussian noise");
    assert_eq!(projection.unprotected(), None);
    let johnson = JohnsonLindenstrauss {
        epsilon: epsilon(1.0),
        delta: Delta::new(1e-4).unwrap(),
        r,
        variant: JlVariant::Paper,
    };
    assert_eq!(johnson.delta(), 1e-4);
    assert!(johnson.about(&rows).contains('5'), "{}", johnson.about(&rows));
}
