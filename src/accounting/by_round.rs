//! How a privacy loss grows over the rounds of a run: as claimed, by the tight accountant and by basic composition.

use super::{Accountant, AccountantName, History, Tight};
use crate::vocab::{Delta, in_order};

/// The epsilon, by one accountant or as claimed, of all releases up to and including each of several rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// The accountant; `AsPublished` for claimed epsilons.
    pub accountant: AccountantName,
    /// Rounds, each with its epsilon (natural logarithm of a likelihood ratio), which is at least 0 and finite. For
    /// claimed epsilons, rounds before the first release with a claim are left out. The list is empty if the epsilon after
    /// the last round is infinite.
    pub points: Vec<(u64, f64)>,
}

impl History {
    /// The epsilons at `delta` after each of the given `rounds`, a slice `[p]` of p numbers in rising order. The result
    /// begins with the claimed epsilons, if there is a claim. The epsilons by the tight accountant follow, then those by
    /// basic composition. Releases are assumed to be chosen adaptively.
    #[must_use]
    pub fn by_round(&self, delta: Delta, rounds: &[u64]) -> Vec<Growth> {
        let Some(&last) = rounds.last() else { return Vec::new() };
        let mut all = Vec::new();
        for name in [AccountantName::AsPublished, AccountantName::Tight, AccountantName::Basic] {
            let epsilon = |round: u64| match name.accountant() {
                None => {
                    let claimed = self.claimed_until(round);
                    (claimed.claimed > 0).then(|| claimed.epsilon_at(delta))
                }
                Some(accountant) => {
                    let priced = accountant.price(&self.composition_until(round), delta);
                    Some(priced.for_adaptive_releases().epsilon)
                }
            };
            let Some(at_last) = epsilon(last) else { continue };
            let mut points = Vec::new();
            // If the loss after the last round is infinite, the losses after earlier rounds are not computed.
            if at_last.is_finite() {
                let value = |round| if round == last { Some(at_last) } else { epsilon(round) };
                let known = in_order(rounds.to_vec(), |round| Some((round, value(round)?)));
                points.extend(known.into_iter().flatten().filter(|(_, epsilon)| epsilon.is_finite()));
            }
            all.push(Growth { accountant: name, points });
        }
        all
    }
}

/// The history with the largest loss by the tight accountant at `delta`, for adaptively chosen releases. Among
/// histories with equal losses, it is the first. Without a delta, it is the first of all histories. `None` if there are
/// no histories.
#[must_use]
pub fn worst(histories: Vec<History>, delta: Option<Delta>) -> Option<History> {
    let several = histories.len() > 1;
    let cost = |history: &History| match delta {
        Some(delta) if several => Tight.price(&history.composition(), delta).for_adaptive_releases().epsilon,
        Some(_) | None => 0.0,
    };
    let costs = histories.into_iter().map(|history| (cost(&history), history));
    costs.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, history)| history)
}
