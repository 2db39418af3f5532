//! The low bits of floating-point noise: the set of numbers that a sampler can output for a given secret.
//!
//! Noise has 2^52 possible values, and the sum of noise and secret is rounded, so the set of possible outputs depends
//! on the secret. An output that is possible for only one of two secrets reveals with certainty which of the two was
//! the input.
//!
//! Source: Mironov 2012, "On significance of the least significant bits for differential privacy".

use crate::special::{normal_cdf, normal_quantile};

/// Number of points of the sampler's grid that are tried on either side of one point: the point that the inverse of the
/// sampler gives for the output. More than one point must be tried for two reasons. First, the sampler and its inverse
/// are wrong by a few units in the last place. Second, several grid points may lead to the same rounded sum; if the
/// noise is about as large as the secret, only a few do.
const WINDOW: i64 = 64;
const GRID: f64 = (1u64 << 52) as f64;

/// Whether `secret + scale * x` can be `output` for a number x that [`Stream::laplace`](crate::rng::Stream::laplace)
/// can return. The absolute value of the secret may be at most some hundred times `scale`.
#[must_use]
pub fn reachable_laplace(secret: f64, scale: f64, output: f64) -> bool {
    let noise = (output - secret) / scale;
    // The sampler takes the logarithm of (2 k + 1) / 2^52.
    let place = (libm::exp(-noise.abs()) * GRID - 1.0) / 2.0;
    around(place, 1i64 << 51).any(|k| {
        let size = -libm::log((2 * k + 1) as f64 / GRID);
        // Every size of the noise occurs with both signs; near 0 either sign may give the output.
        secret + scale * size == output || secret + scale * -size == output
    })
}

/// Whether `secret + standard_deviation * z` can be `output` for a number z that
/// [`Stream::normal`](crate::rng::Stream::normal) can return.
#[must_use]
pub fn reachable_gaussian(secret: f64, standard_deviation: f64, output: f64) -> bool {
    let noise = (output - secret) / standard_deviation;
    let place = normal_cdf(noise) * GRID - 0.5;
    around(place, 1i64 << 52)
        .any(|k| secret + standard_deviation * normal_quantile((k as f64 + 0.5) / GRID) == output)
}

fn around(place: f64, end: i64) -> impl Iterator<Item = i64> {
    let middle = place as i64;
    (middle - WINDOW).max(0)..=(middle + WINDOW).min(end - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// A false "unreachable" would be a false refutation, so every number that was drawn must be recognised as
    /// reachable.
    #[test]
    fn every_drawn_number_is_reachable() {
        let mut stream = Key::root(31).stream();
        for (secret, scale) in [(0.0, 1.0), (1.0, 1.0), (1.0, 0.25), (-3.0, 2.0)] {
            for _ in 0..20_000 {
                assert!(reachable_laplace(secret, scale, secret + scale * stream.laplace()));
            }
            for _ in 0..5_000 {
                assert!(reachable_gaussian(secret, scale, secret + scale * stream.normal()));
            }
        }
    }

    #[test]
    fn many_drawn_numbers_are_unreachable_from_another_secret() {
        let mut stream = Key::root(32).stream();
        let draws: Vec<f64> = (0..2000).map(|_| stream.laplace()).collect();
        let impossible = draws.iter().filter(|output| !reachable_laplace(1.0, 1.0, **output)).count();
        assert!(impossible > 400, "{impossible}");
    }
}
