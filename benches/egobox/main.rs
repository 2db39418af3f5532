//! Searches of a box by egobox (efficient global optimisation in Rust) and by `Acquisition()` alone, beside runs of
//! scenarios/search/PROBLEM.ron.
//!
//!   cargo run --release --manifest-path benches/egobox/Cargo.toml -- PROBLEM RUN OUT [SEEDS [matern]]
//!
//! PROBLEM is branin, hartmann6 or ackley10, RUN the folder of a run of its scenario. Search k begins with the design of
//! replication k, as in benches/peers_search.py, which compares the lines of JSON that are added to OUT, one per search. The
//! learner alone, without network and report, searches from all designs, so that both programs are timed in the same
//! minutes; egobox from the first SEEDS of them.
//!
//! egobox as it is by default: log expected improvement, one Gaussian process with a constant mean and a squared-exponential
//! correlation, no noise. With `matern`: the Matern 5/2 correlation and the 90 starts of its example ackley.rs.

use cpu_time::ProcessTime;
use egobox_ego::EgorBuilder;
use egobox_moe::CorrelationSpec;
use ndarray::{Array2, ArrayView2};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use subrosa::learners::{Acquisition, BoxModel, LearnerRecipe, ProblemConstants};
use subrosa::objectives::{Function, Objective, Resources, TestFunction};
use subrosa::rng::Key;

type AnyError = Box<dyn std::error::Error>;

/// Queries of a search, those of the design included.
const QUERIES: usize = 100;

/// The inputs of the first `count` lines of each replication of the series "log-EI" in iterations.csv.
fn designs(run: &Path, d: usize, count: usize) -> Result<Vec<Vec<Vec<f64>>>, AnyError> {
    let mut lines = BufReader::new(File::open(run.join("iterations.csv"))?).lines();
    let header = lines.next().ok_or("iterations.csv has no line")??;
    let names: Vec<&str> = header.split(',').collect();
    let column =
        |name: &str| names.iter().position(|known| *known == name).ok_or(format!("no column {name}"));
    let (replication, series) = (column("replication")?, column("series")?);
    let inputs: Result<Vec<usize>, String> = (1..=d).map(|input| column(&format!("x.x{input}"))).collect();
    let inputs = inputs?;
    let mut found: Vec<Vec<Vec<f64>>> = Vec::new();
    for line in lines {
        let line = line?;
        let cells: Vec<&str> = line.split(',').collect();
        if cells[series] != "log-EI" {
            continue;
        }
        let place: usize = cells[replication].parse()?;
        found.resize_with(found.len().max(place + 1), Vec::new);
        if found[place].len() < count {
            found[place].push(inputs.iter().map(|&input| cells[input].parse()).collect::<Result<_, _>>()?);
        }
    }
    Ok(found)
}

/// Regret after each query, and processor seconds since the design before each.
type Trace = (Vec<f64>, Vec<f64>);

/// Regret after each of these values of the function.
fn regrets(function: Function, values: &[f64]) -> Vec<f64> {
    let mut best = f64::INFINITY;
    let after = values.iter().map(|value| {
        best = best.min(*value);
        best - function.least()
    });
    after.collect()
}

/// The learner alone. It draws a design of its own, whose points are replaced by those of `design`.
fn learner(function: Function, design: &[Vec<f64>], seed: u64) -> Result<Trace, AnyError> {
    let objective: TestFunction = ron::from_str(&format!("(function: {})", ron::to_string(&function)?))?;
    let key = Key::root(seed);
    let instance = objective.prepare(&Resources::default(), None, key)?.realise(key)?;
    let model = BoxModel {
        domain: function.domain(),
        covariance: instance.surrogate.covariance,
        noise_variance: instance.surrogate.noise_variance,
        mean: instance.surrogate.mean,
        facts: ProblemConstants::default(),
    };
    let mut learner = Acquisition::default().build_on_box(&model)?;
    let mut stream = key.child("learner").stream();
    let (mut values, mut seconds, mut asking) = (Vec::new(), Vec::new(), 0.0);
    for query in 0..QUERIES {
        let begun = ProcessTime::now();
        let mut arm = learner.suggest(&mut stream);
        if let Some(point) = design.get(query) {
            arm = learner.add_point(point).ok_or("a box has points")?;
        } else {
            asking += begun.elapsed().as_secs_f64();
        }
        let point = learner.point(arm).ok_or("a box has points")?.to_vec();
        values.push(function.at(&point));
        seconds.push(asking);
        let begun = ProcessTime::now();
        learner.observe(arm, -values[query])?;
        if query >= design.len() {
            asking += begun.elapsed().as_secs_f64();
        }
    }
    Ok((regrets(function, &values), seconds))
}

fn egobox(function: Function, design: &[Vec<f64>], seed: u64, matern: bool) -> Result<Trace, AnyError> {
    let d = function.d();
    let sides: Vec<f64> = function.domain().sides().iter().flat_map(|&(low, high)| [low, high]).collect();
    let sides = Array2::from_shape_vec((d, 2), sides)?;
    let doe = Array2::from_shape_vec((design.len(), d), design.concat())?;
    let asked: Arc<Mutex<(Vec<f64>, Vec<f64>)>> = Arc::default();
    let log = Arc::clone(&asked);
    let begun = ProcessTime::now();
    let objective = move |x: &ArrayView2<f64>| {
        let values: Vec<f64> = x.rows().into_iter().map(|row| function.at(&row.to_vec())).collect();
        if let Ok(mut log) = log.lock() {
            log.0.extend(&values);
            log.1.extend(values.iter().map(|_| begun.elapsed().as_secs_f64()));
        }
        Array2::from_shape_fn((values.len(), 1), |(row, _)| values[row])
    };
    let iterations = QUERIES - design.len();
    EgorBuilder::optimize(objective)
        .configure(|config| {
            let config = config.doe(&doe).max_iters(iterations).seed(seed);
            if !matern {
                return config;
            }
            config.configure_gp(|gp| gp.correlation_spec(CorrelationSpec::MATERN52)).n_start(90)
        })
        .min_within(&sides)?
        .run()?;
    let (values, seconds) = asked.lock().map_err(|_| "a search panicked")?.clone();
    Ok((regrets(function, &values), seconds.iter().map(|at| at - seconds[0]).collect()))
}

fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [problem, run, out, rest @ ..] = &arguments[..] else {
        println!("name a problem, a run folder and a file: see benches/egobox/main.rs");
        return Ok(());
    };
    let function: Function = ron::from_str(match problem.as_str() {
        "branin" => "Branin",
        "hartmann6" => "Hartmann6",
        "ackley10" => "Ackley(dimensions: 10)",
        _ => return Err("the problems are branin, hartmann6 and ackley10".into()),
    })?;
    let seeds: usize = rest.first().map_or(Ok(20), |seeds| seeds.parse())?;
    let matern = rest.get(1).is_some_and(|word| word == "matern");
    // One thread: egobox takes those of rayon.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let add = |peer: &str, seed: usize, (regret, seconds): Trace| -> Result<(), AnyError> {
        let mut file = OpenOptions::new().create(true).append(true).open(out)?;
        writeln!(
            file,
            "{{\"peer\": \"{peer}\", \"problem\": \"{problem}\", \"seed\": {seed}, \"regret\": {regret:?}, \"seconds\": {seconds:?}}}"
        )?;
        Ok(())
    };
    let d = function.d();
    for (seed, design) in designs(Path::new(run), d, 2 * (d + 1))?.iter().enumerate() {
        add("Acquisition() alone", seed, learner(function, design, seed as u64)?)?;
        if seed < seeds {
            let peer = if matern { "egobox, Matern" } else { "egobox" };
            add(peer, seed, egobox(function, design, seed as u64, matern)?)?;
        }
    }
    Ok(())
}
