//! Divides one distribution of the loss into cells of different widths, which gives two discrete
//! distributions: a pessimistic one (`worse`) for an upper bound of epsilon, and an optimistic one (`better`)
//! for a lower bound.

use super::masses::{Cell, Masses};
use crate::accounting::laws::{Grid, Law};

/// Smallest number of cells in an octave (see [`plain`]) of the loss of a single release.
const OCTAVE: f64 = 16.0;
/// Smallest number of cells for the loss of a single release, if the law states no bulk and so is not divided into
/// octaves.
const EVEN: f64 = 2048.0;

/// A range of losses, and the cells that it is divided into.
pub(super) type Window = ((f64, f64), Grid);

/// The two discrete laws that are computed from one law.
#[derive(Debug, Default)]
pub(super) struct DiscretePair {
    pub(super) worse: Masses,
    pub(super) better: Masses,
    /// The worse law's mass at an infinite loss.
    pub(super) infinite: f64,
}

fn cells(offset: f64, spacing: f64) -> Grid {
    Grid { spacing, pieces: 1, offset }
}

/// Windows that are chosen without the results of a previous pass. If the law states a bulk, the windows are octaves of
/// the distance from the centre of the bulk: on each side of the centre, each window ends at twice the distance at
/// which the window before it ends. Here `sought` is an estimate of epsilon. A window on the upper side that begins
/// less than 2 `sought` above the centre has cells of a width of about 2 `sought` / `points`, but at least [`OCTAVE`]
/// cells and at most the larger of `points` and [`OCTAVE`]. Every other window has [`OCTAVE`]
/// cells. If the law states no bulk, there is one window, with [`EVEN`] cells or more.
pub(super) fn plain(law: &dyn Law, (low, high): (f64, f64), points: f64, sought: f64) -> Vec<Window> {
    let Some((centre, scale)) = law.bulk() else {
        // In most laws with a pitch, all atoms are multiples of the pitch. The pitch is a multiple of the spacing, so
        // such atoms lie on lattice points. Densities need narrow cells, so the spacing is at most `finest`.
        let finest = (high - low) / EVEN;
        let spacing = law.pitch().map_or(finest, |pitch| pitch / (pitch / finest).ceil().max(1.0));
        return vec![((low, high), cells(law.anchor(), spacing))];
    };
    let scale = scale.max(1e-12 * (high - low) + 1e-9 * centre.abs());
    let mut sides = Vec::new();
    for sign in [-1.0, 1.0] {
        let (mut near, mut far) = (0.0, scale);
        loop {
            let ends = (centre + sign * near, centre + sign * far);
            let ends = (ends.0.min(ends.1).max(low), ends.0.max(ends.1).min(high));
            if ends.0 < ends.1 {
                let finest = 2.0 * sought / points;
                let counts = if sign > 0.0 && near < 2.0 * sought { (far - near) / finest } else { 0.0 };
                let counts = counts.clamp(OCTAVE, points.max(OCTAVE));
                sides.push((ends, cells(centre, (far - near) / counts)));
            }
            if ends.0 <= low && sign < 0.0 || ends.1 >= high && sign > 0.0 || sides.len() > 200 {
                break;
            }
            (near, far) = (far, 2.0 * far);
        }
    }
    sides.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    sides
}

/// The range from `low` to `high`, divided at the points of a grid that lie inside it; each window is a single cell.
pub(super) fn between(grid: &[f64], (low, high): (f64, f64)) -> Vec<Window> {
    let inner = grid.iter().copied().filter(|point| low < *point && *point < high);
    let points: Vec<f64> = [low].into_iter().chain(inner).chain([high]).collect();
    points.windows(2).map(|ends| ((ends[0], ends[1]), cells(ends[0], ends[1] - ends[0]))).collect()
}

/// Divides a law into the cells of all windows; `None` if there are no windows, or if a window would have too many cells or
/// a cell with too large an index.
pub(super) fn cut(law: &dyn Law, windows: &[Window]) -> Option<DiscretePair> {
    let mut found = DiscretePair::default();
    let mut masses: Vec<(f64, f64)> = Vec::new();
    let last = windows.len().checked_sub(1)?;
    for (k, (ends, grid)) in windows.iter().enumerate() {
        let cells = law.cells(*grid, ends.0, ends.1);
        if cells.grid.spacing > grid.spacing {
            return None;
        }
        let width = cells.width();
        if k == 0 && cells.swept > 0.0 {
            masses.push((ends.0.max(cells.grid.offset + cells.first as f64 * width), cells.swept));
        }
        for (j, (mass, up)) in cells.mass.iter().zip(&cells.up).enumerate() {
            if *mass <= 0.0 {
                continue;
            }
            let from = cells.grid.offset + (cells.first + j as i64) as f64 * width;
            let rest = (mass - up).max(0.0);
            masses.push((from, rest));
            masses.push((from + width, up.min(*mass)));
            let q = rest * libm::exp(-from) + up * libm::exp(-from - width);
            let u = -rest * libm::expm1(-from) - up * libm::expm1(-from - width);
            found.better.merge(Cell { p: *mass, q, u });
        }
        if k == last {
            found.infinite += cells.beyond;
        }
    }
    masses.sort_by(|a, b| a.0.total_cmp(&b.0));
    masses.into_iter().for_each(|(loss, p)| found.worse.put(loss, p));
    Some(found)
}
