//! Searches of a box by egobox (efficient global optimisation in Rust), beside runs of scenarios/search/PROBLEM.ron.
//!
//!   cargo run --release --manifest-path benches/egobox/Cargo.toml -- PROBLEM RUN OUT [SEEDS]
//!
//! PROBLEM is branin, hartmann6 or ackley10, RUN the folder of a run of its scenario. Search k begins with the design of replication
//! k, as in benches/peers_search.py, which compares the lines of JSON that are added to OUT, one per search. egobox as it is by
//! default: log expected improvement, one Gaussian process with a constant mean and a squared-exponential correlation, no noise.

use cpu_time::ProcessTime;
use egobox_ego::EgorBuilder;
use ndarray::{Array2, ArrayView2};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use subrosa::objectives::Function;

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
fn search(function: Function, design: &[Vec<f64>], seed: u64) -> Result<(Vec<f64>, Vec<f64>), AnyError> {
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
        .configure(|config| config.doe(&doe).max_iters(iterations).seed(seed))
        .min_within(&sides)?
        .run()?;
    let (values, seconds) = asked.lock().map_err(|_| "a search panicked")?.clone();
    let mut best = f64::INFINITY;
    let regret = values.iter().map(|value| {
        best = best.min(*value);
        best - function.least()
    });
    Ok((regret.collect(), seconds.iter().map(|at| at - seconds[0]).collect()))
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
    // One thread: egobox takes those of rayon.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let d = function.d();
    for (seed, design) in designs(Path::new(run), d, 2 * (d + 1))?.iter().take(seeds).enumerate() {
        let (regret, seconds) = search(function, design, seed as u64)?;
        let mut file = OpenOptions::new().create(true).append(true).open(out)?;
        writeln!(
            file,
            "{{\"peer\": \"egobox\", \"problem\": \"{problem}\", \"seed\": {seed}, \"regret\": {regret:?}, \"seconds\": {seconds:?}}}"
        )?;
    }
    Ok(())
}
