//! Conformance tests of arrival processes.

use super::{Violation, Violations, key};
use crate::protocols::local::Arrivals;
use crate::vocab::Span;

/// Checks the rules of arrival processes. Either the service asks users, or users arrive without being asked. If the
/// service asks, the patience (how long the service waits for a report) is above 0. If users arrive without being asked,
/// at least one user arrives, and the first 1,000 intervals obey three rules: not all intervals are 0; the same stream
/// gives the same intervals; a copy of the process continues as the original process does. The first interval is the time
/// until the first user arrives.
#[must_use]
pub fn arrivals(recipe: &dyn Arrivals) -> Vec<Violation> {
    let mut found = Violations::default();
    if let Some(patience) = recipe.patience() {
        found.require(patience > Span::ZERO, "a patience above 0", || patience.to_string());
        return found.0;
    }
    let (mut first, mut second) = (recipe.process(), recipe.process());
    let (mut stream, mut again) = (key("arrivals").stream(), key("arrivals").stream());
    let (mut copy, mut passed, mut came) = (None, 0.0, 0);
    for user in 0..1000 {
        if user == 500 {
            copy = Some((first.clone(), stream.clone()));
        }
        let interval = first.next(&mut stream);
        let other = second.next(&mut again);
        found.require(other == interval, "the same intervals for the same stream", || {
            format!("{other:?} and {interval:?}")
        });
        if let Some((copy, stream)) = &mut copy {
            let copied = copy.next(stream);
            found.require(copied == interval, "copies that continue identically", || {
                format!("{copied:?} and {interval:?}")
            });
        }
        let Some(interval) = interval else { break };
        (passed, came) = (passed + interval.seconds(), came + 1);
    }
    found.require(came > 0, "a patience, or users who arrive without being asked", || "neither".to_owned());
    found.require(came == 0 || passed > 0.0, "arrivals that are not all at one time", || {
        format!("{came} at once")
    });
    found.0
}
