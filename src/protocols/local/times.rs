//! Checks of the distributions of the time until a user answers, and of the interval between two users. They must not come
//! from a file.

use crate::network::latency::LatencyModel;
use crate::vocab::Problem;

/// What is wrong with such a distribution. Protocols read no files, so a distribution from a file would be empty, and every
/// time drawn from it would be 0.
pub(super) fn time_problems(law: &LatencyModel) -> Vec<Problem> {
    let name = law.name();
    let mut found = law.as_dyn().problems();
    found.extend(law.outside_of_links());
    if let Some(file) = law.as_dyn().files().first() {
        let expected = "a distribution without a file (files of times are for links, parties and outages)";
        let cure = "write a distribution with parameters that fit the file";
        found.push(Problem::wrong("", expected, file.display().to_string(), cure));
    }
    found
        .into_iter()
        .map(|problem| if problem.path.is_empty() { problem } else { problem.below(name) })
        .collect()
}
