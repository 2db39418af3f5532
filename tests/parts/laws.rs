//! The laws of latencies and noise, computed by quantiles, against numbers of `rand_distr`, which rejects: two-sample
//! Kolmogorov-Smirnov tests with fixed seeds. With n = m = 40,000 the statistic exceeds 1.95 sqrt(2 / n) with probability
//! 0.001 when both laws are the same (Smirnov's limit law; steps make it smaller).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardNormal, StandardUniform};
use std::num::NonZeroU32;
use subrosa::network::latency::{self, Latency, LatencyModel};
use subrosa::objectives::noise::NoiseModel;
use subrosa::rng::{Key, Stream};
use subrosa::vocab::{Positive, Span};

const N: usize = 40_000;

/// The largest distance of two empirical distribution functions; equal numbers count at once.
fn largest_gap(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let (mut i, mut j, mut gap) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        i += a[i..].iter().take_while(|x| **x <= value).count();
        j += b[j..].iter().take_while(|x| **x <= value).count();
        gap = gap.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    gap
}

/// Both draw numbers of the order of 1.
fn check(name: &str, mut ours: impl FnMut(&mut Stream) -> f64, theirs: impl Fn(&mut ChaCha8Rng) -> f64) {
    let mut stream = Key::root(15).child(name).stream();
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    let a: Vec<f64> = (0..N).map(|_| ours(&mut stream)).collect();
    let b: Vec<f64> = (0..N).map(|_| theirs(&mut rng)).collect();
    let threshold = 1.95 * (2.0 / N as f64).sqrt();
    let gap = largest_gap(a.clone(), b.clone());
    assert!(gap < threshold, "{name}: {gap} > {threshold}");
    // The test sees a shift by a tenth.
    let shifted = a.iter().map(|x| x + 0.1).collect();
    assert!(largest_gap(shifted, b) > threshold, "{name}: a shift goes unseen");
}

fn positive(number: f64) -> Positive {
    Positive::new(number).unwrap()
}

fn seconds(number: f64) -> Span {
    Span::from_seconds(number)
}

fn boxed(law: impl Into<LatencyModel>) -> Box<LatencyModel> {
    Box::new(law.into())
}

fn latency(name: &str, law: impl Latency, theirs: impl Fn(&mut ChaCha8Rng) -> f64) {
    // To microseconds, so that steps of ours are steps of theirs.
    let rounded = |x: f64| (x * 1e6).round() / 1e6;
    check(name, |stream| rounded(law.quantile(stream.open_uniform()).seconds()), |rng| rounded(theirs(rng)));
}

/// A number that satisfies a condition.
fn given(rng: &mut ChaCha8Rng, law: &impl Distribution<f64>, holds: impl Fn(f64) -> bool) -> f64 {
    loop {
        let x = law.sample(rng);
        if holds(x) {
            return x;
        }
    }
}

#[test]
fn latencies_have_the_laws_of_an_independent_library() {
    let (a, b) = (seconds(0.5), seconds(2.0));
    let law = rand_distr::Weibull::new(0.5, 0.8).unwrap();
    latency("weibull", latency::Weibull { scale: a, shape: positive(0.8) }, move |rng| law.sample(rng));
    let law = rand_distr::Triangular::new(0.5, 3.0, 2.0).unwrap();
    let ours = latency::Triangular { low: a, mode: b, high: seconds(3.0) };
    latency("triangular", ours, move |rng| law.sample(rng));
    let law = rand_distr::Gumbel::new(0.5, 1.0).unwrap();
    let ours = latency::Gumbel { location: a, scale: seconds(1.0) };
    latency("gumbel", ours, move |rng| given(rng, &law, |x| x >= 0.0));
    // The difference of two Gumbel numbers is logistic.
    let law = rand_distr::Gumbel::new(0.0, 1.0).unwrap();
    let ours = latency::LogLogistic { median: a, shape: positive(3.0) };
    latency("log-logistic", ours, move |rng| 0.5 * ((law.sample(rng) - law.sample(rng)) / 3.0_f64).exp());
    for shape in [0.3, 2.5, 40.0] {
        let law = rand_distr::Gamma::new(shape, 1.0 / shape).unwrap();
        let ours = latency::Gamma { shape: positive(shape), scale: seconds(1.0 / shape) };
        latency("gamma", ours, move |rng| law.sample(rng));
    }
    let ours = latency::Erlang { stages: NonZeroU32::new(3).unwrap(), mean: a };
    latency("erlang", ours, |rng| (0..3).map(|_| Distribution::<f64>::sample(&Exp1, rng)).sum::<f64>() / 6.0);
    for (alpha, beta) in [(2.0, 5.0), (0.4, 0.7)] {
        let law = rand_distr::Beta::new(alpha, beta).unwrap();
        let ours = latency::Beta { a: positive(alpha), b: positive(beta), low: a, high: b };
        latency("beta", ours, move |rng| 0.5 + 1.5 * law.sample(rng));
    }
}

#[test]
fn laws_made_of_laws_are_what_they_say() {
    let exponential = || latency::Exponential { mean: seconds(0.5) };
    let uniform = latency::Uniform { low: seconds(1.0), high: seconds(3.0) };
    let part = |weight, law: LatencyModel| latency::Part { weight: positive(weight), law };
    let parts = vec![part(3.0, exponential().into()), part(1.0, uniform.into())];
    latency("mixture", latency::Mixture { parts }, |rng| {
        let [which, u, e]: [f64; 3] =
            [StandardUniform.sample(rng), StandardUniform.sample(rng), Exp1.sample(rng)];
        if which < 0.75 { 0.5 * e } else { 1.0 + 2.0 * u }
    });
    let exp = |rng: &mut ChaCha8Rng| 0.5 * Distribution::<f64>::sample(&Exp1, rng);
    let ours = latency::Shifted { law: boxed(exponential()), later: Span::ZERO, earlier: seconds(0.2) };
    latency("earlier", ours, move |rng| (exp(rng) - 0.2).max(0.0));
    let ours = latency::Shifted { law: boxed(exponential()), later: seconds(0.2), earlier: Span::ZERO };
    latency("later", ours, move |rng| exp(rng) + 0.2);
    let ours = latency::Scaled { law: boxed(exponential()), factor: positive(1.7) };
    latency("scaled", ours, move |rng| 1.7 * exp(rng));
    let ours = latency::Truncated { law: boxed(exponential()), from: seconds(0.3), to: Some(seconds(1.0)) };
    let law = rand_distr::Exp::new(2.0).unwrap();
    latency("truncated", ours, move |rng| given(rng, &law, |x| (0.3..=1.0).contains(&x)));
}

fn noise(text: &str, theirs: impl Fn(&mut ChaCha8Rng) -> f64) {
    let model: NoiseModel = subrosa::scenario::part(text).unwrap();
    check(text, |stream| model.as_dyn().draw(stream), theirs);
}

#[test]
fn noise_has_the_laws_of_an_independent_library() {
    const EULER: f64 = 0.577_215_664_901_532_9;
    let uniform = |rng: &mut ChaCha8Rng| -> f64 { StandardUniform.sample(rng) };
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    noise("Triangular(bound: 2)", move |rng| 2.0 * (uniform(rng) + uniform(rng) - 1.0));
    noise("TruncatedGaussian(sd: 1, bound: 1.2)", |rng| given(rng, &StandardNormal, |x| x.abs() <= 1.2));
    let law = rand_distr::Gumbel::new(0.0, 0.7).unwrap();
    noise("Gumbel(scale: 0.7)", move |rng| law.sample(rng) - 0.7 * EULER);
    let law = rand_distr::Gamma::new(2.0, 0.5).unwrap();
    noise("Gamma(shape: 2, scale: 0.5)", move |rng| law.sample(rng) - 1.0);
    let law = rand_distr::Beta::new(2.0, 3.0).unwrap();
    noise("Beta(a: 2, b: 3, width: 4)", move |rng| 4.0 * law.sample(rng) - 1.6);
    let text = "Mixture(parts: [(weight: 9, law: Gaussian(sd: 0.3)), (weight: 1, law: Uniform(bound: 2))])";
    noise(text, move |rng| {
        let [narrow, wide] = [0.3 * normal(rng), 4.0 * uniform(rng) - 2.0];
        if uniform(rng) < 0.9 { narrow } else { wide }
    });
}

/// A party of one's own that draws by rand and rand_distr.
mod party {
    use subrosa::prelude::*;

    #[derive(Clone, Debug)]
    struct Queue;

    impl Protocol for Queue {
        type Message = f64;
        type Timer = ();
        type Fact = f64;
    }

    impl Rounds for Queue {}

    #[derive(Clone, Debug)]
    struct Server(Stream);

    impl Party<Queue> for Server {
        fn handle(&mut self, input: Input<Queue>, ctx: &mut Context<'_, Queue>) {
            if ctx.now().seconds() >= 100.0 {
                return ctx.stop();
            }
            if let Input::Start | Input::Timer(()) = input {
                let law = laws::Gamma::new(2.0, 1.0).expect("shape and scale above 0");
                let time = self.0.draw(&law);
                let mut order: Vec<u64> = (0..10).collect();
                order.shuffle(&mut self.0);
                let place = self.0.random_range(0..10u64);
                ctx.record(time + order[place as usize] as f64 * 1e-3);
                ctx.after(Span::from_seconds(time), ());
            }
        }
    }

    fn played() -> (Vec<f64>, String) {
        let stage =
            ReplicationSetup::new(["server".to_owned()], Network::new(Mesh {}.into(), Link::default()));
        let key = Key::root(9);
        let server: Box<dyn Party<Queue>> = Box::new(Server(key.child("party").child("server").stream()));
        let mut times = Vec::new();
        let record = stage
            .run("queue", vec![server], key, &mut |_, event| {
                if let Event::Recorded { fact, .. } = event {
                    times.push(**fact);
                }
            })
            .unwrap();
        (times, record.digest)
    }

    #[test]
    fn rand_works_inside_parties() {
        let (times, digest) = played();
        // 100 s of services of mean 2 and variance 2: 50, with a standard deviation of sqrt(100 * 2 / 8) = 5; six of them.
        assert!((20..80).contains(&times.len()), "{}", times.len());
        assert_eq!((times, digest), played());
    }
}
