//! Dense operations by own loops and by faer, on the same numbers, in one run: nanoseconds, and a hash of the bits of each.
//!
//! `cargo bench -p subrosa-benches --bench dense` prints the rows of docs/design.md (Dense algebra) that are not a solver's.
//! Run the built program under `qemu-x86_64-static -cpu Haswell` and `-cpu Nehalem` to see which bits depend on the CPU.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::SolveLstsq;
use faer::{Accum, Mat, MatRef, Par, Side};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use subrosa::gp::covariance::Covariance;
use subrosa::gp::{ArmCovariance, ArmPosterior, Cholesky, Eigen, Nystrom, Points};
use subrosa::privacy::mechanisms::{Mechanism, NoiseArithmetic, NoisyProjection, Rows};
use subrosa::rng::Key;
use subrosa::vocab::{Delta, Epsilon, Positive};

/// One thread, as in the library.
const PAR: Par = Par::Seq;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    println!(
        "{:<44} {:>12} {:>12}  {:<16} {:<16}",
        "operation", "own, ns", "faer, ns", "own bits", "faer bits"
    );
    for n in [100, 400] {
        posterior(n);
    }
    for (n, m) in [(100, 20), (400, 40)] {
        nystrom(n, m);
    }
    for n in [64, 256] {
        root(n);
    }
    for (n, d, r) in [(500, 8, 5), (2000, 15, 10)] {
        tables(n, d, r);
    }
}

/// The least nanoseconds of a run, over half a second at least.
fn least<T>(mut run: impl FnMut() -> T) -> f64 {
    let (begun, mut least, mut runs) = (Instant::now(), f64::INFINITY, 0);
    while runs < 5 || begun.elapsed().as_secs_f64() < 0.5 {
        let start = Instant::now();
        black_box(run());
        least = least.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    1e9 * least
}

/// A hash of the bits of numbers, in order.
fn bits(numbers: impl IntoIterator<Item = f64>) -> u64 {
    let absorb =
        |hash: u64, number: f64| (hash ^ number.to_bits()).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    numbers.into_iter().fold(0xcbf2_9ce4_8422_2325, absorb)
}

fn of_matrix(matrix: MatRef<'_, f64>) -> u64 {
    bits((0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| matrix[(i, j)])))
}

fn row(name: &str, own: (f64, u64), faer: Option<(f64, u64)>) {
    let (of_faer, its_bits) = faer
        .map_or(("-".to_owned(), "-".to_owned()), |(ns, bits)| (format!("{ns:.0}"), format!("{bits:016x}")));
    println!("{name:<44} {:>12.0} {of_faer:>12}  {:016x} {its_bits:<16}", own.0, own.1);
}

fn arms(n: usize) -> ArmCovariance {
    let points = Points::new(n, 1, (0..n).map(|i| i as f64 / (n - 1) as f64).collect());
    ArmCovariance::of_inputs(Arc::new(points), Covariance::squared_exponential(0.1, 1.0))
}

fn dense(arms: &ArmCovariance, n: usize) -> Vec<f64> {
    let ArmCovariance::Inputs { points, covariance } = arms else { return Vec::new() };
    let entry = |i: usize, j: usize| {
        let distance = (points.row(i)[0] - points.row(j)[0]) / 0.1;
        covariance.variance * libm::exp(-0.5 * distance * distance)
    };
    (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect()
}

/// A new outcome in arm space: the covariance of all arms less an outer product.
fn posterior(n: usize) {
    let arms = arms(n);
    let start = ArmPosterior::new(&arms, 0.1, 0.0);
    let own = |posterior: &mut ArmPosterior, t: usize| {
        posterior.observe(t * 7 % n, (t % 5) as f64).expect("the noise is positive");
    };
    let mut posterior = start.clone();
    let mut t = 0;
    let ns = least(|| {
        own(&mut posterior, t);
        t += 1;
    });
    let mut posterior = start;
    (0..20).for_each(|t| own(&mut posterior, t));
    let found =
        bits((0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| posterior.covariance(i, j)));

    let values = dense(&arms, n);
    let start = Mat::from_fn(n, n, |i, j| values[i * n + j]);
    let step = |covariance: &mut Mat<f64>, column: &mut Mat<f64>, t: usize| {
        let arm = t * 7 % n;
        column.col_mut(0).copy_from(covariance.col(arm));
        let pivot = covariance[(arm, arm)] + 0.1;
        let (left, right) = (column.as_ref(), column.as_ref().transpose());
        matmul(covariance.as_mut(), Accum::Add, left, right, -1.0 / pivot, PAR);
    };
    let (mut covariance, mut column) = (start.clone(), Mat::zeros(n, 1));
    let mut t = 0;
    let theirs = least(|| {
        step(&mut covariance, &mut column, t);
        t += 1;
    });
    let mut covariance = start;
    (0..20).for_each(|t| step(&mut covariance, &mut column, t));
    row(
        &format!("posterior of an outcome, {n} arms"),
        (ns, found),
        Some((theirs, of_matrix(covariance.as_ref()))),
    );
}

/// Nystrom features on m of n arms, and the sum of their outer products.
fn nystrom(n: usize, m: usize) {
    let values = dense(&arms(n), n);
    let basis: Vec<usize> = (0..m).map(|k| k * n / m).collect();
    let own = || Nystrom::new(n, &values, basis.clone()).expect("a positive semidefinite matrix");
    let features = own();
    let all = MatRef::from_row_major_slice(&values, n, n);
    let theirs = || {
        let inner = Mat::from_fn(m, m, |i, j| all[(basis[i], basis[j])]);
        let eigen = inner.self_adjoint_eigen(Side::Lower).expect("finite entries");
        let (vectors, sizes) = (eigen.U(), eigen.S().column_vector());
        // As ours: directions of rounding errors are left out.
        let kept: Vec<usize> = (0..m).filter(|&k| sizes[k] > 1e-12 * sizes[m - 1]).collect();
        let scaled = Mat::from_fn(m, kept.len(), |i, k| vectors[(i, kept[k])] / sizes[kept[k]].sqrt());
        let columns = Mat::from_fn(n, m, |i, j| all[(i, basis[j])]);
        let mut out = Mat::zeros(n, kept.len());
        matmul(out.as_mut(), Accum::Replace, columns.as_ref(), scaled.as_ref(), 1.0, PAR);
        out
    };
    let found = bits((0..n).flat_map(|arm| features.coordinates(arm).to_vec()));
    let name = format!("Nystrom features, {n} arms, {m} in the basis");
    row(&name, (least(own), found), Some((least(theirs), of_matrix(theirs().as_ref()))));

    let counts: Vec<f64> = (0..n).map(|arm| (1 + arm % 3) as f64).collect();
    let coordinates = features.as_faer();
    let rank = features.rank();
    let theirs = || {
        let weighted = Mat::from_fn(n, rank, |i, k| counts[i] * coordinates[(i, k)]);
        let mut gram = Mat::identity(rank, rank);
        matmul(gram.as_mut(), Accum::Add, coordinates.transpose(), weighted.as_ref(), 1.0, PAR);
        gram
    };
    let own = || features.gram(&counts, 1.0);
    let name = format!("sum of outer products, {n} arms, rank {rank}");
    row(&name, (least(own), bits(own())), Some((least(theirs), of_matrix(theirs().as_ref()))));
}

/// The square root of a correlation matrix.
fn root(n: usize) {
    let values = dense(&arms(n), n);
    let own = || Eigen::new(n, values.clone()).expect("finite entries").function(|size| size.max(0.0).sqrt());
    let matrix = MatRef::from_row_major_slice(&values, n, n);
    let theirs = || {
        let eigen = matrix.self_adjoint_eigen(Side::Lower).expect("finite entries");
        let (vectors, sizes) = (eigen.U(), eigen.S().column_vector());
        let scaled = Mat::from_fn(n, n, |i, k| vectors[(i, k)] * sizes[k].max(0.0).sqrt());
        let mut out = Mat::zeros(n, n);
        matmul(out.as_mut(), Accum::Replace, scaled.as_ref(), vectors.transpose(), 1.0, PAR);
        out
    };
    let name = format!("square root, order {n}");
    row(&name, (least(own), bits(own())), Some((least(theirs), of_matrix(theirs().as_ref()))));
}

/// X^T X, by rows.
fn normal(rows: &Rows) -> Vec<f64> {
    let d = rows.d();
    let mut gram = vec![0.0; d * d];
    for i in 0..rows.n() {
        let row = rows.row(i);
        for (out, a) in gram.chunks_mut(d).zip(row) {
            out.iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b);
        }
    }
    gram
}

/// What is done with a table of n rows and d columns, and a projection to r.
fn tables(n: usize, d: usize, r: usize) {
    let mut stream = Key::root(7).stream();
    let mut values = vec![0.0; n * d];
    stream.fill_normal(&mut values);
    let x = Rows::new(n, d, values).expect("n times d numbers");
    let own = || x.singular().expect("finite entries").values().to_vec();
    let theirs = || {
        let svd = x.as_faer().thin_svd().expect("finite entries");
        svd.S().column_vector().iter().copied().collect::<Vec<f64>>()
    };
    let (ours, others) = ((least(own), bits(own())), (least(theirs), bits(theirs())));
    row(&format!("singular values and vectors, {n} x {d}"), ours, Some(others));

    let targets: Vec<f64> = (0..n).map(|i| x.row(i).iter().sum::<f64>() + libm::sin(i as f64)).collect();
    let own = || {
        let mut right = vec![0.0; d];
        for (i, target) in targets.iter().enumerate() {
            right.iter_mut().zip(x.row(i)).for_each(|(sum, value)| *sum += target * value);
        }
        let factor = Cholesky::new(d, normal(&x)).expect("full rank");
        factor.solve(&mut right);
        right
    };
    let sought = Mat::from_fn(n, 1, |i, _| targets[i]);
    let theirs = || x.as_faer().qr().solve_lstsq(&sought);
    let (ours, others) = ((least(own), bits(own())), (least(theirs), of_matrix(theirs().as_ref())));
    row(&format!("least squares, {n} x {d} (own: normal eq.)"), ours, Some(others));

    let recipe = NoisyProjection {
        epsilon: Epsilon::new(1.0).expect("above 0"),
        delta: Delta::new(1e-5).expect("between 0 and 1"),
        r: std::num::NonZeroUsize::new(r).expect("above 0"),
        arithmetic: NoiseArithmetic::Exact,
    };
    let drawn = recipe.drawn(d, Positive::new(1.0).expect("above 0"), &mut stream).expect("finite noise");
    let own = || drawn.privatise(&x, &mut Key::root(8).stream()).expect("finite rows");
    let name = format!("X P in integers and its noise, {n} x {d} x {r}");
    row(&name, (least(own), bits(own().values().to_vec())), None);
}
