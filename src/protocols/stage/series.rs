//! Checks, common to all protocols, of the series of a scenario.

use crate::learners::LearnerModel;
use crate::objectives::Extent;
use crate::vocab::Problem;

/// The recipe of one series.
pub trait Series {
    /// Its name in tables and figures.
    fn name(&self) -> &str;
}

/// The names of all series, in order.
pub(in crate::protocols) fn names<S: Series>(all: &[S]) -> Vec<String> {
    all.iter().map(|series| series.name().to_owned()).collect()
}

/// The problem that there is no series; `fields` lists the fields of a `Series`, for the suggested cure.
pub(in crate::protocols) fn none<S: Series>(all: &[S], fields: &str) -> Option<Problem> {
    let cure = format!("add Series({fields})");
    all.is_empty().then(|| Problem::wrong("series", "at least one series", "none", cure))
}

/// The problem that the series with this index has the name of an earlier series.
pub(in crate::protocols) fn taken<S: Series>(all: &[S], index: usize) -> Option<Problem> {
    let name = all[index].name();
    all[..index].iter().any(|earlier| earlier.name() == name).then(|| {
        Problem::wrong(
            format!("series[{index}].name"),
            "a name that no earlier series has",
            name,
            "give each series a name of its own: name: \"..\"",
        )
    })
}

/// The problem that there are no rounds; `cure` suggests a number of rounds.
pub(in crate::protocols) fn no_rounds(rounds: u64, expected: &str, cure: &str) -> Option<Problem> {
    (rounds == 0).then(|| Problem::wrong("rounds", expected, "0", cure))
}

/// The problem of a learner that cannot choose among as many points as the objective has. `problem` is the size of the
/// objective.
pub(in crate::protocols) fn too_many_points(learner: &LearnerModel, problem: &Extent) -> Option<Problem> {
    let most = learner.as_dyn().most_arms().filter(|most| problem.arms > *most)?;
    Some(Problem::wrong(
        learner.name(),
        format!("an objective of at most {most} points, over which this learner stores a matrix"),
        format!("{} points", problem.arms),
        "make the objective's grid coarser, or use another learner, such as GpUcb()",
    ))
}

/// The problems of those learners, among the learners of all series, that cannot choose among as many points as the
/// objective has. `problem` is the size of the objective.
pub(in crate::protocols) fn learners_limits<'a>(
    learners: impl Iterator<Item = &'a LearnerModel>,
    problem: &Extent,
) -> Vec<Problem> {
    let of_series = |(index, learner)| {
        Some(too_many_points(learner, problem)?.below(&format!("series[{index}].learner")))
    };
    learners.enumerate().filter_map(of_series).collect()
}

/// The problem that one party has two roles; `path` is the field of the second role.
pub(in crate::protocols) fn same_party(
    path: &str,
    expected: &str,
    [one, other]: [&str; 2],
) -> Option<Problem> {
    let cure = "name a second party under `parties` and give it one of the two roles";
    (one == other).then(|| Problem::wrong(path, expected, other, cure))
}
