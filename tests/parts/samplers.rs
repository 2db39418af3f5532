//! Our samplers, made by inversion, against those of `rand_distr`, made by other methods: two-sample
//! Kolmogorov-Smirnov tests with fixed seeds. With n = m = 40,000 the statistic exceeds 1.95 sqrt(2 / n) with
//! probability 0.001 when both laws are the same (Smirnov's limit law).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, Gumbel, StandardNormal};
use subrosa::rng::{Key, Stream};

const N: usize = 40_000;

fn largest_gap(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let (mut i, mut j, mut gap) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        if a[i] <= b[j] {
            i += 1;
        } else {
            j += 1;
        }
        gap = gap.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    gap
}

fn check(name: &str, ours: impl Fn(&mut Stream) -> f64, theirs: impl Fn(&mut ChaCha8Rng) -> f64) {
    let mut stream = Key::root(5).child(name).stream();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let a = (0..N).map(|_| ours(&mut stream)).collect();
    let b: Vec<f64> = (0..N).map(|_| theirs(&mut rng)).collect();
    let threshold = 1.95 * (2.0 / N as f64).sqrt();
    let gap = largest_gap(a, b.clone());
    assert!(gap < threshold, "{name}: {gap} > {threshold}");
    // The test sees a shift of a tenth of the scale.
    let shifted = (0..N).map(|_| ours(&mut stream) + 0.1).collect();
    assert!(largest_gap(shifted, b) > threshold, "{name}: a shift goes unseen");
}

#[test]
fn laws_agree_with_an_independent_library() {
    check("normal", Stream::normal, |rng| StandardNormal.sample(rng));
    check("exponential", Stream::exponential, |rng| Exp1.sample(rng));
    let gumbel = Gumbel::new(0.0, 1.0).unwrap();
    check("gumbel", Stream::gumbel, move |rng| gumbel.sample(rng));
    check("laplace", Stream::laplace, |rng| {
        let (a, b): (f64, f64) = (Exp1.sample(rng), Exp1.sample(rng));
        a - b
    });
}
