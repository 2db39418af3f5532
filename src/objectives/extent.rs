//! The size of the optimisation problem that an objective creates, and an estimate of the memory and time for creating
//! it. The size and the estimate are found before the problem is created.

use crate::vocab::Effort;
use crate::vocab::effort::{ARMS, COVARIANCE, MULTIPLY, NUMBER, OUTCOMES};

/// The size of the optimisation problems that an objective creates, and the memory and time for creating them.
#[derive(Clone, Debug, PartialEq)]
pub struct Extent {
    /// Number of arms, n.
    pub arms: u64,
    /// Whether queries are points of a box; `arms` is then the number of points of the sample that represents the box.
    pub is_box: bool,
    /// Number of inputs of an arm, d.
    pub inputs: u64,
    /// The path of the field that states the number of arms, and the value of that field (for the fields `grid` and `axes`,
    /// the largest number of points along a dimension). The path is relative to the recipe, or to the scenario if it begins
    /// with a slash; it is empty for the recipe as a whole.
    pub stated: (String, u64),
    /// The path of the field that states the number of agents whose data the objective has, as in `stated`, and that number;
    /// `None` if the objective has no data of agents.
    pub agents: Option<(String, u64)>,
    /// Whether every draw of the objective gives the same values (`Objective::is_always_the_same`). The check of a
    /// scenario sets this.
    pub always_the_same: bool,
    /// Whether functions are known at the arms only, so that the values of shifted functions, between and beyond the
    /// arms, come from the surrogate. The check of a scenario sets this too.
    pub continued_by_surrogate: bool,
    /// The work that all replications share.
    pub prepared: Effort,
    /// The work for creating the optimisation problem of one replication.
    pub drawn: Effort,
}

/// Number of arms that is assumed for an objective that does not state its size.
const ASSUMED: u64 = 1_000;

impl Default for Extent {
    fn default() -> Self {
        Self::of(ASSUMED, 2)
    }
}

impl Extent {
    /// A problem of `arms` arms with `inputs` inputs each. The inputs are stored twice, by rows and by columns.
    #[must_use]
    pub fn of(arms: u64, inputs: u64) -> Self {
        let (n, d) = (arms as f64, inputs as f64);
        let prepared = Effort::new(2.0 * NUMBER * n * d, n * d * COVARIANCE);
        Self {
            arms,
            is_box: false,
            inputs,
            stated: (String::new(), arms),
            agents: None,
            always_the_same: false,
            continued_by_surrogate: false,
            prepared,
            drawn: Effort::new(NUMBER * n, n * COVARIANCE),
        }
    }

    /// The same extent, marked as that of a box.
    #[must_use]
    pub fn of_box(self) -> Self {
        Self { is_box: true, ..self }
    }

    /// The same extent, with its memory attributed to the number `value` that the field `path` states. `path` and `value`
    /// become `stated`.
    #[must_use]
    pub fn due_to(mut self, path: &str, value: u64) -> Self {
        let count = |effort: Effort| Effort::due_to(path, value, effort.bytes, effort.seconds);
        (self.prepared, self.drawn) = (count(self.prepared), count(self.drawn));
        self.stated = (path.to_owned(), value);
        self
    }

    /// The same extent with paths relative to the scenario, in which the recipe is at `prefix`.
    #[must_use]
    pub fn at(mut self, prefix: &str) -> Self {
        let whole = |path: &str| match path {
            "" => format!("/{prefix}"),
            _ => format!("/{prefix}.{path}"),
        };
        let (stated, value) = self.stated;
        self.stated = (whole(&stated), value);
        self.agents = self.agents.map(|(path, count)| (whole(&path), count));
        (self.prepared, self.drawn) = (self.prepared.placed(whole), self.drawn.placed(whole));
        self
    }

    /// The `effort` of a learner for this problem. The placeholders `ARMS` and `OUTCOMES` are replaced by the fields
    /// that state the numbers of arms and of outcomes, because a learner does not know these fields. `outcomes` is the
    /// path of the field that states the number of outcomes, relative to the calling recipe, and the value of that
    /// field.
    #[must_use]
    pub fn of_learner(&self, mut effort: Effort, outcomes: (&str, u64)) -> Effort {
        if let Some(most) = &mut effort.most {
            (most.path, most.value) = match most.path.as_str() {
                ARMS => self.stated.clone(),
                OUTCOMES => (outcomes.0.to_owned(), outcomes.1),
                _ => return effort,
            };
        }
        effort
    }

    /// The extent of problems on a grid, for an objective that computes the value of each point separately. `counts` are
    /// the numbers of points along the grid's dimensions; the field `place` states them.
    pub(super) fn of_values(place: &'static str, counts: &[usize]) -> Self {
        let arms = counts.iter().fold(1u64, |product, &count| product.saturating_mul(count as u64));
        let longest = counts.iter().copied().max().unwrap_or(0) as u64;
        let mut extent = Self::of(arms, counts.len() as u64);
        let n = arms as f64;
        extent.drawn = extent.drawn.and(Effort::new(NUMBER * n, COVARIANCE * n));
        extent.due_to(place, longest)
    }

    /// The extent of problems on a grid, for an objective that draws a function with one matrix per dimension. `counts`
    /// are the numbers of points along the grid's dimensions; the field `grid` states them.
    pub(super) fn of_grid(counts: &[usize]) -> Self {
        let of_all = |power: i32| counts.iter().map(|&count| (count as f64).powi(power)).sum::<f64>();
        let mut extent = Self::of_values("grid", counts);
        // For each dimension: a matrix, its eigenvectors and its square root. Computing the eigenvalues and eigenvectors
        // takes roughly ten multiplications for each pair of an entry and a row of the matrix.
        let roots = Effort::new(3.0 * NUMBER * of_all(2), 10.0 * MULTIPLY * of_all(3));
        let longest = counts.iter().copied().max().unwrap_or(0) as u64;
        extent.prepared = extent.prepared.and(roots);
        extent.drawn = extent.drawn.and(Effort::new(0.0, extent.arms as f64 * MULTIPLY * of_all(1)));
        extent.due_to("grid", longest)
    }
}
