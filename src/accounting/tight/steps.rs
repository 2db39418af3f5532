//! The tight accountant on a lattice of losses that is refined until the lower and the upper bound on epsilon (the two
//! "ends") are close.
//!
//! Each law (the distribution of the privacy loss of one release) is moved to the lattice twice: to a law with
//! certainly larger hockey-stick divergences ("worse"), and to one with certainly smaller ones ("better"; module
//! `rounded`). The sum of all losses is formed within a window, once from the worse and once from the better laws
//! (module `convolution`). So the two results enclose the true epsilon for any spacing and window. A first, coarse
//! lattice finds the range of the total loss; then spacing and window follow from the epsilon found so far. Short sums
//! are formed term by term, long ones by a tilted Fourier transform (`tilted`). For laws with rare large losses, graded
//! grids are tried first (`graded_grids`). The cells of a graded grid are narrow where most of the mass is and wide far
//! away.
//!
//! Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022, "Connect the dots: tighter discrete approximations of
//! privacy loss distributions"; the enclosure from both sides after Gopi, Lee and Wutschitz 2021.

use super::contour::{EpsilonBounds, Laws};
use super::convolution::{self, Rules};
use super::graded_grids::{self, Shape};
use super::grid_placement::PassResults;
use super::{staircase, tilted};
use crate::accounting::laws::Grid;

/// Wanted relative distance of the two ends.
const WANTED: f64 = 3e-4;
/// Wanted relative distance of the two ends if all laws have a pitch (see `Law::pitch`) and so consist of atoms and
/// exponential densities.
const FINEST: f64 = 2e-7;
/// A part of delta. Leaving out the mass on either side of a window changes delta by at most about this part. The
/// probability that the loss of a release lies below its span (`Law::span`), added up over all releases, is at most this
/// part of delta; so is the probability that it lies above.
const LOST: f64 = 1e-5;
/// Number of pieces into which a cell is divided, for the better law.
const PIECES: usize = 4;
/// Number of points of the first lattice.
const FIRST_POINTS: f64 = 256.0;
/// Largest number of points for which sums are formed term by term.
const SHORT: f64 = 400.0;
/// Largest number of points of a Fourier transform.
const MAX_POINTS: f64 = 65536.0;
/// Largest error of a transform, as a part of delta, for which further transforms are used.
const DOUBT: f64 = 3e-3;
/// If graded grids bring the two ends to at most this relative distance, lattices are not tried.
const POOR: f64 = 1e-2;
/// Largest number of releases for which graded grids are tried.
const MOST: f64 = 1e7;
/// Wanted relative distance of the two ends with graded grids.
const WANTED_GRADED: f64 = 1e-3;
/// The relative distance of the two ends that a further graded grid is designed for.
const AIMED_GRADED: f64 = 8e-4;
/// Number of points of the first graded grid. [`SECOND_GRADED`] is that of the second one, and [`MAX_GRADED`] is the
/// largest number of points.
const FIRST_GRADED: f64 = 64.0;
const SECOND_GRADED: f64 = 104.0;
const MAX_GRADED: f64 = 640.0;
const MAX_GRADED_PASSES: usize = 6;
/// Number of lattice points that are kept beyond the smallest and the largest total loss. The displacements of losses
/// to lattice points rarely add up to more than this number of points.
const SPREAD: f64 = 64.0;
const MAX_PASSES: usize = 14;
/// Largest number of multiplications of one pass; eight times as many are allowed if all laws have a pitch.
const MAX_WORK: f64 = 4e6;

/// Both ends of epsilon (at least 0) at `delta`; they may remain far apart. The caller knows that epsilon is at most
/// `most`. The search stops early once epsilon is known to be at most `floor` or at least `ceiling`.
pub(super) fn epsilon(laws: &Laws, delta: f64, most: f64, floor: f64, ceiling: f64) -> EpsilonBounds {
    let mut best = EpsilonBounds { lower: 0.0, upper: most };
    // The masses of atoms and of exponential densities in cells have closed forms, which are fast.
    let cheap = laws.iter().all(|(law, _)| law.pitch().is_some());
    let (wanted, most_work) = if cheap { (FINEST, 8.0 * MAX_WORK) } else { (WANTED, MAX_WORK) };
    let releases: f64 = laws.iter().map(|(_, count)| *count as f64).sum();
    let spans: Vec<(f64, f64)> = laws.iter().map(|(law, _)| law.span(LOST * delta / releases)).collect();
    let sum = |end: fn(&(f64, f64)) -> f64| -> f64 {
        laws.iter().zip(&spans).map(|((_, count), span)| *count as f64 * end(span)).sum()
    };
    let (deepest, farthest) = (sum(|span| span.0), sum(|span| span.1));
    // The probability that any of the losses exceeds the upper end of its span is at most LOST times delta, which is
    // below delta, so epsilon is at most the sum of these upper ends, `farthest`.
    best.upper = best.upper.min(farthest.max(0.0));
    if best.upper <= floor {
        return best;
    }
    // If any of the laws has a bulk that may be far narrower than the largest losses, all laws are summed on graded
    // grids.
    let is_graded = laws.iter().any(|(law, _)| law.bulk().is_some()) && releases <= MOST;
    if is_graded {
        on_graded_grids(laws, &spans, delta, (floor, ceiling), &mut best);
        if is_done(&best, POOR, floor, ceiling) {
            best.lower = best.lower.min(best.upper);
            return best;
        }
    }
    if !is_graded && ceiling < best.upper && releases <= MOST {
        // A single coarse graded grid may show that epsilon is outside the range of interest, at most `floor` or at
        // least `ceiling`.
        let shape = Shape { points: FIRST_GRADED, sought: best.upper, lost: 0.1 * LOST * delta, releases };
        if let Some((ends, _)) = graded_grids::ends(laws, &spans, &shape, None, delta) {
            best.upper = best.upper.min(ends.upper);
            best.lower = best.lower.max(ends.lower);
        }
        if best.lower >= ceiling || best.upper <= floor {
            best.lower = best.lower.min(best.upper);
            return best;
        }
    }
    let widest = spans.iter().fold(0.0, |most: f64, span| most.max(span.1));
    let mut high = farthest.min(widest.max(2.0 * most));
    let mut low = deepest.max(-high);
    // If the noise is very small, the two ends of a span may be equal after rounding, so the range may be 0.
    let mut spacing = ((high - low) / FIRST_POINTS).max(1e-9 * high.abs().max(low.abs()));
    let mut transform = true;
    let mut tilted_range: Option<f64> = None;
    for _ in 0..MAX_PASSES {
        if !(spacing > 0.0 && (high - low).is_finite()) {
            break;
        }
        let own_range = high.min(farthest) - low.max(deepest);
        let tilted = transform && (tilted_range.is_some() || own_range / spacing > SHORT);
        let range = if tilted { tilted_range.unwrap_or(own_range) } else { own_range };
        let mut limited = false;
        while work(laws, &spans, range, spacing, tilted) > most_work {
            spacing *= 1.1;
            limited = true;
        }
        let (cut_to, cut) = cut(laws, &spans, aligned(laws, spacing));
        spacing = cut_to;
        let ends = if tilted {
            let counted: Vec<_> = cut.into_iter().zip(laws).map(|(law, (_, count))| (law, *count)).collect();
            let Some((found, needed)) = transformed(&counted, spacing, best.upper, delta) else {
                transform = false;
                continue;
            };
            tilted_range = Some(needed);
            transform = found.error < DOUBT;
            found.ends
        } else {
            let pass = pass(laws, cut, (deepest, farthest), (low, high), spacing, delta);
            if pass.infinite > 0.1 * delta && high < farthest {
                high = farthest.min(4.0 * high);
                low = deepest.max(-high);
                spacing = (high - low) / FIRST_POINTS;
                continue;
            }
            (low, high) = (pass.low, pass.high);
            pass.ends
        };
        best.upper = best.upper.min(ends.upper);
        best.lower = best.lower.max(ends.lower);
        let gap = best.upper - best.lower;
        if gap <= wanted * best.upper || best.upper <= floor || best.upper <= 0.0 || best.lower >= ceiling {
            break;
        }
        if tilted && !transform {
            continue;
        }
        let by = (0.8 * (wanted * best.upper / gap).sqrt()).clamp(1.0 / 64.0, 0.7);
        let next = if tilted { tilted_range.unwrap_or(range) } else { high.min(farthest) - low.max(deepest) };
        if limited && next > 0.8 * range && (tilted || !transform) {
            break;
        }
        spacing *= by;
    }
    if !is_graded && releases <= MOST && !is_done(&best, WANTED_GRADED, floor, ceiling) {
        on_graded_grids(laws, &spans, delta, (floor, ceiling), &mut best);
    }
    best.lower = best.lower.min(best.upper);
    best
}

/// Whether the relative distance of the ends is at most `wanted`, or epsilon is outside the range of interest.
fn is_done(ends: &EpsilonBounds, wanted: f64, floor: f64, ceiling: f64) -> bool {
    ends.upper - ends.lower <= wanted * ends.upper
        || ends.upper <= floor
        || ends.upper <= 0.0
        || ends.lower >= ceiling
}

/// Improves `best` by finer and finer graded grids, each designed for the epsilon that the previous grid found.
fn on_graded_grids(
    laws: &Laws,
    spans: &[(f64, f64)],
    delta: f64,
    (floor, ceiling): (f64, f64),
    best: &mut EpsilonBounds,
) {
    let releases: f64 = laws.iter().map(|(_, count)| *count as f64).sum();
    let mut points = FIRST_GRADED;
    let mut guide: Option<PassResults> = None;
    for _ in 0..MAX_GRADED_PASSES {
        let is_guided = guide.is_some();
        let shape = Shape { points, sought: best.upper, lost: 0.1 * LOST * delta, releases };
        let Some((ends, next)) = graded_grids::ends(laws, spans, &shape, guide.as_ref(), delta) else {
            return;
        };
        let before = best.upper;
        best.upper = best.upper.min(ends.upper);
        best.lower = best.lower.max(ends.lower);
        if is_done(best, WANTED_GRADED, floor, ceiling) {
            return;
        }
        guide = (ends.upper.is_finite() && best.lower <= best.upper)
            .then_some(PassResults { ends: *best, ..next });
        if points >= MAX_GRADED {
            return;
        }
        // The ends from a grid that was designed for a far larger epsilon do not show how many points are
        // needed.
        if best.upper >= 0.7 * before || guide.is_none() {
            let gap = (best.upper - best.lower) / (AIMED_GRADED * best.upper);
            let by = if is_guided { 1.1 * gap.sqrt() } else { SECOND_GRADED / FIRST_GRADED };
            points = (points * by.clamp(1.1, 8.0)).min(MAX_GRADED);
        } else {
            points = points.max(SECOND_GRADED);
        }
    }
}

/// The two ends by the last of a sequence of Fourier transforms, and the length of the window of this transform. The
/// first transform is tilted for a rough upper bound on epsilon, at most `most`; each later transform is tilted for the
/// epsilon that the previous one found. `None` if the first window is too long.
fn transformed(
    laws: &[(convolution::Laws, u64)],
    spacing: f64,
    most: f64,
    delta: f64,
) -> Option<(tilted::Found, f64)> {
    let mut about = most.min(tilted::enough(laws, spacing, delta));
    let mut last = None;
    for _ in 0..6 {
        let plan = tilted::plan(laws, spacing, about, delta, LOST);
        let range = plan.window.1 - plan.window.0;
        if range.is_nan() || range / spacing > MAX_POINTS {
            return last;
        }
        let found = tilted::ends(laws, spacing, plan, about, delta);
        let plain = if found.plain.is_finite() { found.plain.max(1e-2 * about) } else { 0.3 * about };
        let settled = found.error < DOUBT && (0.8..1.25).contains(&(plain / about)) || plain >= about;
        about = plain.min(about);
        last = Some((found, range));
        if settled {
            break;
        }
    }
    last
}

/// Approximate number of multiplications of a pass.
fn work(laws: &Laws, spans: &[(f64, f64)], range: f64, spacing: f64, transform: bool) -> f64 {
    let most = range / spacing + 2.0;
    let product = |n: f64, m: f64| 2.0 * n * m;
    let mut all = if transform { 20.0 * most * libm::log2(most) } else { 0.0 };
    for ((_, count), (low, high)) in laws.iter().zip(spans) {
        let one = (high - low) / spacing + 3.0;
        let mut length = one;
        // A piece of a cell costs about thirty multiplications.
        all += 30.0 * PIECES as f64 * one;
        if transform {
            all += 20.0 * most * libm::log2(most);
            continue;
        }
        for digit in (0..u64::BITS - 1 - count.leading_zeros()).rev() {
            all += product(length, length);
            length = most.min(2.0 * length);
            if count >> digit & 1 == 1 {
                all += product(length, one);
                length = most.min(length + one);
            }
        }
        all += if laws.len() > 1 { product(length, most) } else { 0.0 };
    }
    all
}

/// The result of one pass, on one lattice.
struct Pass {
    ends: EpsilonBounds,
    /// The lower end of the next window; `high` is its upper end. The mass outside this window is negligible.
    low: f64,
    high: f64,
    infinite: f64,
}

fn pass(
    laws: &Laws,
    cut: Vec<convolution::Laws>,
    ends: (f64, f64),
    (low, high): (f64, f64),
    spacing: f64,
    delta: f64,
) -> Pass {
    // Moving losses to the lattice displaces the total by up to one point per release, up or down. So where the window
    // reaches an end of the range of the total loss, the window is extended beyond this end.
    let window = (
        if low <= ends.0 { low - SPREAD * spacing } else { low },
        if high >= ends.1 { high + SPREAD * spacing } else { high },
    );
    let rules = Rules { spacing, window };
    let total = laws
        .iter()
        .zip(cut)
        .map(|((_, count), one)| one.times(*count, &rules))
        .reduce(|sum, many| sum.plus(&many, &rules))
        .unwrap_or_else(convolution::Laws::nothing);
    read(&total, spacing, high, delta)
}

/// The ends of epsilon from the law of the total loss, and the window for the next pass.
fn read(total: &convolution::Laws, spacing: f64, high: f64, delta: f64) -> Pass {
    let relative = 1.0 + total.relative + 1e-15 * total.worse.len() as f64;
    let last = total.first + total.worse.len() as i64 - 1;
    let bottom = total.offset + total.first as f64 * spacing;
    let top = total.offset + last as f64 * spacing;
    let solve = |masses: &[f64], target: f64| {
        staircase::epsilon_above(bottom, top, spacing, masses.iter().rev().copied(), target)
    };
    let upper = solve(&total.worse, delta / relative - relative * total.infinite);
    let lower = solve(&total.better, delta * relative);
    // If the lower bound is not above the smallest loss on the lattice, or not finite, 0 is used.
    let lower = if lower.is_finite() && lower > bottom { lower } else { 0.0 };
    // The next window: leaving out the mass beyond either of its ends changes delta by at most LOST times delta.
    let lost = LOST * delta;
    let position = |k: usize| total.offset + (total.first + k as i64) as f64 * spacing;
    let points = total.worse.len();
    let mut above = vec![total.infinite; points + 1];
    for k in (0..points).rev() {
        above[k] = above[k + 1] + total.worse[k];
    }
    let top = (0..points).rev().find(|&k| above[k] > total.infinite + lost).unwrap_or(0);
    let sought = if upper.is_finite() { upper } else { high };
    // The window also cuts sums of only some of the losses. If such a sum is at most the loss at point k, it contributes
    // to delta only if the remaining losses add up to at least epsilon minus the loss at point k. The law of the total
    // loss is used here in place of the laws of both parts.
    let bottom = [&total.worse, &total.better].map(|masses| {
        let mut below = 0.0;
        for (k, mass) in masses.iter().enumerate() {
            below += mass;
            let missing = ((sought - position(k) - position(0)) / spacing).max(0.0) as usize;
            if below * above[missing.min(points)] > lost {
                return k;
            }
        }
        0
    });
    let bottom = bottom[0].min(bottom[1]);
    Pass {
        ends: EpsilonBounds { lower, upper },
        low: position(bottom) - 2.0 * spacing,
        high: position(top) + 2.0 * spacing,
        infinite: total.infinite,
    }
}

/// The laws on a lattice with the requested spacing, or with a larger spacing if a law would otherwise have too many
/// cells. The spacing that was used is returned too.
fn cut(laws: &Laws, spans: &[(f64, f64)], spacing: f64) -> (f64, Vec<convolution::Laws>) {
    let mut spacing = spacing;
    loop {
        let cells: Vec<_> = laws
            .iter()
            .zip(spans)
            .map(|((law, _), (low, high))| {
                law.cells(Grid { spacing, pieces: PIECES, offset: law.anchor() }, *low, *high)
            })
            .collect();
        let widest = cells.iter().map(|cells| cells.grid.spacing).fold(spacing, f64::max);
        if widest > spacing {
            spacing = aligned(laws, widest);
            continue;
        }
        let cut = laws.iter().zip(&cells).map(|((law, _), cells)| convolution::Laws::of(law.as_ref(), cells));
        return (spacing, cut.collect());
    }
}

/// A spacing, at least `spacing`, chosen so that the laws' pitches (`Law::pitch`) are nearly whole multiples of it. The
/// pitch for which the product of pitch and number of releases is largest is an exact multiple. If this pitch is smaller
/// than `spacing`, the result is `spacing`.
fn aligned(laws: &Laws, spacing: f64) -> f64 {
    let pitches: Vec<(f64, f64)> =
        laws.iter().filter_map(|(law, count)| law.pitch().map(|pitch| (pitch, *count as f64))).collect();
    let Some(&(widest, _)) = pitches.iter().max_by(|a, b| (a.0 * a.1).total_cmp(&(b.0 * b.1))) else {
        return spacing;
    };
    let most = (widest / spacing).floor();
    if most < 1.0 {
        return spacing;
    }
    // The variance that is added by moving the atoms to a lattice of this spacing.
    let cost = |spacing: f64| -> f64 {
        let square = spacing * spacing;
        pitches
            .iter()
            .map(|(pitch, count)| {
                let share = (pitch / spacing).fract();
                count * square * share * (1.0 - share)
            })
            .sum()
    };
    let candidates = (0..64).map(|k| most - f64::from(k)).filter(|m| *m >= 1.0 && *m >= 0.8 * most);
    candidates.map(|m| widest / m).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(spacing)
}
