//! Checks of the distributions of users' times, which must not read a file.

use crate::network::latency::LatencyModel;
use crate::vocab::Problem;

/// What is wrong with the distribution of a user's time. Protocols read no files, so a distribution from a file would
/// be empty, and all its times 0.
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
