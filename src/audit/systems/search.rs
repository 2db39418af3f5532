//! The audit of one release. A few trials on each candidate pair of neighbours find the worst pair; new trials on this pair
//! measure the lower bound of epsilon.

use super::system::{Candidates, System};
use crate::audit::error::AuditError;
use crate::audit::measure::{Effort, FEWEST, measure};
use crate::audit::verdict::Finding;
use crate::rng::Key;

/// For each candidate, the search runs the audit's number of trials divided by this constant, but at least [`FEWEST`].
const SEARCH_SHARE: u64 = 10;

/// The number of trials that an audit of `candidates` runs in all, on both data sets of each pair of neighbours together.
#[must_use]
pub fn effort(candidates: &Candidates, trials: u64) -> u64 {
    let search = if candidates.len() > 1 { pilot(trials) * candidates.len() as u64 } else { 0 };
    2 * (trials + search)
}

fn pilot(trials: u64) -> u64 {
    (trials / SEARCH_SHARE).max(FEWEST)
}

/// Audits one release: finds the worst pair of neighbours by a few trials on each candidate, and measures the lower bound of
/// epsilon by new trials on this pair.
///
/// `done` is called after each batch of trials, with the number of trials in that batch, from several threads.
///
/// # Errors
/// [`AuditError::NoNeighbours`] without candidates; otherwise if the trials on a pair of neighbours cannot be run or
/// scored.
pub fn audit(
    mut candidates: Candidates,
    trials: u64,
    key: Key,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Finding, AuditError> {
    let tried = candidates.len();
    if tried == 0 {
        return Err(AuditError::NoNeighbours);
    }
    let mut best = 0;
    if tried > 1 {
        let mut most = f64::NEG_INFINITY;
        for (index, system) in candidates.iter().enumerate() {
            let effort = Effort {
                trials: pilot(trials),
                key: key.child("search").index(index as u64),
                delta: system.statement.delta,
                models: false,
            };
            let evidence = measure(&*system.experiment, effort, done)?;
            // Between equal lower bounds, for example if all are 0, the larger advantage of the membership attack decides.
            // An advantage is at most 1, so it cannot outweigh a difference of more than 1e-3 between two lower bounds.
            let figure = evidence.epsilon_lower + 1e-3 * evidence.membership.advantage;
            if figure > most {
                (best, most) = (index, figure);
            }
        }
    }
    let System { statement, experiment, notes, reconstruction } = candidates.swap_remove(best);
    let effort = Effort { trials, key: key.child("audit"), delta: statement.delta, models: true };
    let evidence = measure(&*experiment, effort, done)?;
    let mut finding = Finding::new(statement, evidence);
    if tried > 1 {
        finding.notes.push(format!("the worst of {tried} neighbours that were tried"));
    }
    finding.notes.extend(notes);
    finding.reconstruction = reconstruction;
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_without_neighbours_is_an_error() {
        let found = audit(Vec::new(), 1_000, Key::root(1), &|_| ());
        assert!(matches!(found, Err(AuditError::NoNeighbours)), "{found:?}");
    }
}
