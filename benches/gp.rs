//! The GP core against the machine's limit and its peers: first a table of ratios measured in this run, then divan.
//!
//! `cargo bench -p subrosa-benches --bench gp` prints both; `cargo bench -p subrosa-benches --bench gp -- table` only the
//! table. With SUBROSA_PYTHON set to a Python that has NumPy and scikit-learn, benches/peers_gp.py takes part.

use divan::{Bencher, black_box};
use friedrich::gaussian_process::GaussianProcess;
use friedrich::kernel::Gaussian;
use friedrich::prior::{Prior, ZeroPrior};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;
use subrosa::gp::covariance::Covariance;
use subrosa::gp::prior::GridPrior;
use subrosa::gp::simd::{self, Level};
use subrosa::gp::{
    ArmCovariance, ArmPosterior, FeatureLength, FourierFeatures, Points, Posterior, WeightPosterior, dot,
    largest, upper_bounds,
};
use subrosa::learners::{Arms, LearnerModel, ProblemConstants};
use subrosa::rng::Key;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return divan::main();
    }
    table();
    if !std::env::args().any(|argument| argument == "table") {
        divan::main();
    }
}

struct Problem {
    model: ArmCovariance,
    values: Vec<f64>,
}

fn problem(n: usize, d: usize) -> Problem {
    let mut stream = Key::root(1).stream();
    let rows: Vec<f64> = (0..n * d).map(|_| stream.normal()).collect();
    let values = rows.chunks(d).map(|row| row.iter().sum::<f64>().sin()).collect();
    let covariance = Covariance::squared_exponential((d as f64).sqrt(), 1.0);
    Problem { model: ArmCovariance::of_inputs(Arc::new(Points::new(n, d, rows)), covariance), values }
}

/// Rounds of GP-UCB from the prior: bounds, argmax and posterior of every round.
fn gp_ucb(problem: &Problem, rounds: usize) -> usize {
    let mut posterior = Posterior::new(problem.model.clone(), 1e-2, 0.0);
    let mut scores = vec![0.0; problem.values.len()];
    let mut arm = 0;
    for _ in 0..rounds {
        upper_bounds(posterior.mean(), posterior.variance(), 3.0, &mut scores);
        arm = largest(&scores);
        posterior.observe(arm, problem.values[arm]).expect("the noise is positive");
    }
    arm
}

fn friedrich_ucb(problem: &Problem, rounds: usize) -> usize {
    let ArmCovariance::Inputs { points, .. } = &problem.model else { return 0 };
    let inputs: Vec<Vec<f64>> = (0..points.n()).map(|arm| points.row(arm).to_vec()).collect();
    let kernel = Gaussian::new((points.d() as f64).sqrt(), 1.0);
    let prior = ZeroPrior::default(points.d());
    let mut model =
        GaussianProcess::new(prior, kernel, 0.1, None, vec![inputs[0].clone()], vec![problem.values[0]]);
    let mut arm = 0;
    for _ in 1..rounds {
        let (mean, variance) = model.predict_mean_variance(&inputs);
        let scores: Vec<f64> = mean.iter().zip(&variance).map(|(m, v)| m + 3.0 * v.max(0.0).sqrt()).collect();
        arm = largest(&scores);
        model.add_samples(&vec![inputs[arm].clone()], &vec![problem.values[arm]]);
    }
    arm
}

/// The least seconds of several runs: what the machine can do when nobody disturbs it.
fn least<T>(runs: usize, mut run: impl FnMut() -> T) -> f64 {
    let once = |()| {
        let start = Instant::now();
        black_box(run());
        start.elapsed().as_secs_f64()
    };
    std::iter::repeat_n((), runs).map(once).fold(f64::INFINITY, f64::min)
}

/// Bytes of V that T rounds read: t - 1 rows of n numbers in round t.
fn bytes(n: usize, rounds: usize) -> f64 {
    (rounds * (rounds - 1) / 2 * n * 8) as f64
}

/// Bytes of inputs that T rounds read: all coordinates in each.
fn input_bytes(n: usize, d: usize, rounds: usize) -> f64 {
    (rounds * n * d * 8) as f64
}

/// GB/s of one thread reading two arrays of this many bytes together, in eight partial sums.
fn read_bandwidth(bytes: usize) -> f64 {
    let half = bytes / 16;
    let (a, b) = (vec![1.0; half], vec![0.5; half]);
    let passes = (512 << 20) / bytes.max(1) + 1;
    let seconds = least(5, || (0..passes).map(|_| dot(black_box(&a), &b)).sum::<f64>());
    (passes * bytes) as f64 / seconds / 1e9
}

fn table() {
    println!("instruction set: {:?} (force another with {})", simd::level(), simd::VARIABLE);
    println!(
        "\nGP-UCB, milliseconds a round; GB/s of V, and of V and the inputs; plain reads of as many bytes as V"
    );
    println!("and inputs have, and of memory (512 MB); what V and the inputs reach of the latter");
    println!(
        "{:>7} {:>3} {:>5} {:>9} {:>7} {:>7} {:>7} {:>7} {:>6}",
        "n", "d", "T", "ms", "V", "V + in", "read", "stream", "share"
    );
    for (n, d, rounds, runs) in
        [(10_000, 2, 50, 9), (36_000, 15, 50, 9), (10_000, 2, 1000, 4), (36_000, 15, 1000, 2)]
    {
        let problem = problem(n, d);
        let read = read_bandwidth(n * (rounds + d) * 8);
        let stream = read_bandwidth(512 << 20);
        let seconds = least(runs, || gp_ucb(&problem, rounds));
        let speed = bytes(n, rounds) / seconds / 1e9;
        let whole = speed + input_bytes(n, d, rounds) / seconds / 1e9;
        let ms = 1e3 * seconds / rounds as f64;
        println!(
            "{n:>7} {d:>3} {rounds:>5} {ms:>9.4} {speed:>7.1} {whole:>7.1} {read:>7.1} {stream:>7.1} {:>5.0}%",
            100.0 * whole / stream
        );
    }
    println!("\npeers, T = 50: times ours");
    for (n, d) in [(10_000, 2), (36_000, 15)] {
        let problem = problem(n, d);
        let ours = least(9, || gp_ucb(&problem, 50)) / 50.0;
        let friedrich = least(1, || friedrich_ucb(&problem, 50)) / 50.0;
        println!("{n:>7} {d:>3} friedrich {:.0}", friedrich / ours);
        if let Ok(python) = std::env::var("SUBROSA_PYTHON") {
            match peers(&python, n, d) {
                Some((numpy, scikit)) => println!(
                    "{n:>7} {d:>3} NumPy incremental {:.2}, scikit-learn {:.0}",
                    numpy / ours,
                    scikit / ours
                ),
                None => println!("{python} did not run benches/peers_gp.py"),
            }
        }
    }
    println!("\nother paths");
    let arms = hundred();
    let seconds = least(3, || arm_space(&arms, 100_000));
    println!("100 arms, 100,000 rounds in arm space: {:.2} us a round", 10.0 * seconds);
    let features = features();
    let seconds = least(3, || weights(&features));
    println!("posterior weights, 200 agents x 40 rounds, M = 100: {:.2} us a sample", 1e6 * seconds / 8000.0);
    let axis: Vec<f64> = (0..100).map(|i| f64::from(i) * 0.05).collect();
    let prior = GridPrior::new(&[axis.clone(), axis], 1.25, 1.0).expect("a positive definite grid");
    let mut stream = Key::root(3).stream();
    let seconds = least(20, || prior.sample(&mut stream));
    println!("a sample on a 100 x 100 grid: {:.3} ms", 1e3 * seconds);
    match table_1() {
        Some(seconds) => println!("Table 1 of PO-GP-UCB from the command line, as shipped: {seconds:.1} s"),
        None => println!("Table 1 of PO-GP-UCB did not run"),
    }
    println!();
}

/// Seconds a round of benches/peers_gp.py.
fn peers(python: &str, n: usize, d: usize) -> Option<(f64, f64)> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers_gp.py");
    let output = Command::new(python)
        .args([script, &n.to_string(), &d.to_string(), "50"])
        .env("OMP_NUM_THREADS", "1")
        .env("OPENBLAS_NUM_THREADS", "1")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut words = text.split_whitespace().map(|word| word.parse::<f64>().ok());
    Some((words.next()??, words.next()??))
}

/// The program, built beside this benchmark.
fn built() -> Option<PathBuf> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let mut built = Command::new(env!("CARGO"));
    built.args(["build", "--release", "--bin", "subrosa", "--manifest-path", manifest]);
    let bench = std::env::current_exe().ok()?;
    let program = bench.parent()?.parent()?.join("subrosa");
    built.status().ok()?.success().then_some(program)
}

/// The study of Table 1, end to end.
fn table_1() -> Option<f64> {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/papers/po-gp-ucb/table1.ron");
    let program = built()?;
    let folder = tempfile::tempdir().ok()?;
    let start = Instant::now();
    let status = Command::new(&program)
        .args(["run", scenario])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .ok()?;
    status.success().then(|| start.elapsed().as_secs_f64())
}

fn hundred() -> ArmCovariance {
    let points = Points::new(100, 1, (0..100).map(|i| f64::from(i) / 99.0).collect());
    ArmCovariance::of_inputs(Arc::new(points), Covariance::squared_exponential(0.2, 1.0))
}

fn arm_space(arms: &ArmCovariance, rounds: usize) -> f64 {
    let mut posterior = ArmPosterior::new(arms, 1.0, 0.0);
    let mut scores = [0.0; 100];
    for t in 0..rounds {
        upper_bounds(posterior.mean(), posterior.variance(), 3.0, &mut scores);
        let arm = largest(&scores);
        posterior.observe(arm, (t % 7) as f64).expect("the noise is positive");
    }
    posterior.mean()[0]
}

/// Features of 400 inputs.
fn features() -> Vec<Vec<f64>> {
    let covariance = Covariance::squared_exponential(0.05, 1.0);
    let features =
        FourierFeatures::draw(&covariance, 1, 100, FeatureLength::Exact, &mut Key::root(2).stream())
            .expect("a stationary covariance");
    (0..400).map(|i| features.of(&[f64::from(i) / 399.0])).collect()
}

/// 200 agents, each with 40 outcomes and a draw of its weights after each.
fn weights(features: &[Vec<f64>]) -> f64 {
    let mut stream = Key::root(4).stream();
    let mut sum = 0.0;
    for _ in 0..200 {
        let mut posterior = WeightPosterior::new(100, 0.01).expect("positive noise");
        for _ in 0..40 {
            let place = stream.below(400) as usize;
            posterior.observe(&features[place], place as f64 / 400.0).expect("a finite outcome");
            sum += posterior.sample(&mut stream)[0];
        }
    }
    sum
}

#[divan::bench(args = [(10_000, 2), (36_000, 15)], sample_count = 10)]
fn gp_ucb_50_rounds(bencher: Bencher, (n, d): (usize, usize)) {
    let problem = problem(n, d);
    bencher.bench_local(|| gp_ucb(&problem, 50));
}

#[divan::bench(args = ["baseline", "avx2", "avx512"], sample_count = 10)]
fn gp_ucb_50_rounds_by_level(bencher: Bencher, level: &str) {
    let wanted = match level {
        "baseline" => Level::Baseline,
        "avx2" => Level::Avx2,
        _ => Level::Avx512,
    };
    let before = simd::level();
    simd::force(wanted);
    let problem = problem(10_000, 2);
    bencher.bench_local(|| gp_ucb(&problem, 50));
    simd::force(before);
}

#[divan::bench(sample_count = 10)]
fn arm_space_1000_rounds(bencher: Bencher) {
    let arms = hundred();
    bencher.bench_local(|| arm_space(&arms, 1000));
}

#[divan::bench(sample_count = 10)]
fn posterior_weights_8000_samples(bencher: Bencher) {
    let features = features();
    bencher.bench_local(|| weights(&features));
}

#[divan::bench(args = [
    "GpUcb", "ThompsonSampling", "ExpectedImprovement", "TgpUcb", "AtaGpUcb", "MomaGpUcb", "MomaGpUcb(repetitions: 14)",
], sample_count = 3, sample_size = 1)]
fn learners_2000_rounds_100_arms(bencher: Bencher, recipe: &str) {
    let arms = Arms {
        n: 100,
        covariance: Some(hundred()),
        noise_variance: 1.0,
        mean: 0.0,
        facts: ProblemConstants {
            horizon: Some(2000),
            bound: Some(4.0),
            noise_bound: Some(1.0),
            laplace_scale: Some(10.0),
        },
    };
    let model: LearnerModel = subrosa::scenario::part(recipe).expect("a learner's recipe");
    bencher.bench_local(|| {
        let mut learner = model.as_dyn().build(&arms).expect("everything is known");
        let (mut choices, mut noise) = (Key::root(5).stream(), Key::root(6).stream());
        for _ in 0..2000 {
            let arm = learner.suggest(&mut choices);
            learner.observe(arm, arm as f64 / 50.0 + 10.0 * noise.laplace()).expect("a finite outcome");
        }
    });
}
