//! Inputs and results of accountants, as the report, `subrosa account` and charts use them.

use super::{
    Accountant, AccountantName, AccountedEpsilon, BasisSummary, Composition, EpsilonKind, LossBasis, Tight,
};
use crate::vocab::{Arithmetic, Cost, Delta};

/// Releases whose losses add up, and the delta at which to state their epsilon (natural logarithm of a likelihood ratio).
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Costs in the order of the history or file, each with its count, at least 1.
    pub costs: Vec<(Cost, u64)>,
    /// The same costs with the names and the conditions of the releases.
    pub composition: Composition,
    /// Delta at which epsilons are stated, in (0, 1).
    pub delta: Delta,
    /// The basis of the releases; absent for costs from a file.
    pub basis: Option<BasisSummary>,
}

/// An accountant's answer, and whether it is a bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The accountant.
    pub accountant: AccountantName,
    /// The answer.
    pub priced: AccountedEpsilon,
    /// Whether the answer is a bound, and which kind of bound.
    pub standing: EpsilonKind,
    /// The basis of the answer; `None` for costs from a file, unless the answer is an approximation.
    pub basis: Option<LossBasis>,
    /// The arithmetic for which the answer holds; `None` if the answer is not a finite bound, and for costs from a file.
    pub arithmetic: Option<Arithmetic>,
}

impl Figure {
    /// Whether the answer is a finite bound.
    #[must_use]
    pub fn certifies(&self) -> bool {
        self.standing != EpsilonKind::NotABound && self.priced.epsilon.is_finite()
    }
}

impl Statement {
    /// Costs from a file, each with its count.
    #[must_use]
    pub fn of_costs(costs: Vec<(Cost, u64)>, delta: Delta) -> Self {
        let composition = costs.iter().map(|(cost, count)| (cost, *count)).collect();
        Self { costs, composition, delta, basis: None }
    }

    /// The epsilon of every accountant, that of the tight accountant first.
    #[must_use]
    pub fn figures(&self) -> Vec<Figure> {
        let figure = |name: AccountantName| Some(self.figure(name, name.accountant()?));
        AccountantName::all().filter_map(figure).collect()
    }

    fn figure(&self, name: AccountantName, accountant: &dyn Accountant) -> Figure {
        let priced = self.price(accountant);
        let approximate = accountant.is_approximation();
        let standing = if approximate { EpsilonKind::NotABound } else { priced.standing };
        let basis = match self.basis.map(|summary| summary.basis) {
            // A refuted or unprotected release has no finite epsilon, by any accountant.
            known @ Some(LossBasis::Refuted | LossBasis::Unprotected) => known,
            _ if approximate => Some(LossBasis::Approximation),
            known => known,
        };
        let mut figure = Figure { accountant: name, priced, standing, basis, arithmetic: None };
        if figure.certifies() {
            figure.arithmetic = self.basis.map(|summary| summary.arithmetic);
        }
        figure
    }

    /// An accountant's answer. It holds for adaptive choices if the releases may have been chosen adaptively.
    pub(super) fn price(&self, accountant: &dyn Accountant) -> AccountedEpsilon {
        price(accountant, &self.composition, self.delta, self.is_adaptive())
    }

    /// Whether some releases may have been chosen adaptively; false for costs from a file.
    fn is_adaptive(&self) -> bool {
        self.basis.is_some_and(|summary| summary.is_adaptive)
    }

    /// The tight accountant's finite epsilons at deltas from 10^-0.25 down to 10^-12, as at most 48 pairs
    /// (epsilon, delta) by rising epsilon.
    #[must_use]
    pub fn tight_curve(&self) -> Vec<(f64, f64)> {
        let points = (1..=48).filter_map(|k| {
            let delta = Delta::new(libm::pow(10.0, -0.25 * f64::from(k))).ok()?;
            let epsilon = price(&Tight, &self.composition, delta, self.is_adaptive()).epsilon;
            epsilon.is_finite().then(|| (epsilon, delta.get()))
        });
        let mut points: Vec<(f64, f64)> = points.collect();
        // The sort is stable, so points with equal epsilons stay in the order of falling delta.
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }

    /// Epsilon by the tight accountant; at least 0, infinite if no finite epsilon holds.
    #[must_use]
    pub fn tight(&self) -> f64 {
        self.price(&Tight).epsilon
    }

    /// Whether this statement and another one have the same composition, delta, basis and arithmetic, and releases may have
    /// been chosen adaptively in both or in neither. Every accountant then has the same answer to both statements.
    fn has_same_inputs(&self, other: &Self) -> bool {
        let basis = |statement: &Self| statement.basis.map(|summary| (summary.basis, summary.arithmetic));
        let inputs = |statement: &Self| (statement.delta, statement.is_adaptive(), basis(statement));
        self.composition == other.composition && inputs(self) == inputs(other)
    }

    /// Finite epsilons of every accountant after the first k releases, for at most `points` values of k; the last k is
    /// the number of all releases.
    #[must_use]
    pub fn over_releases(&self, points: u64) -> Vec<(AccountantName, Vec<(u64, f64)>)> {
        let total = self.costs.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
        let points = points.min(total);
        // In 128 bits: k times a large total does not fit into 64.
        let step = |k: u64| (u128::from(k) * u128::from(total) / u128::from(points)) as u64;
        let first = |releases: u64| {
            let (mut left, mut composition) = (releases, Composition::new());
            for (cost, count) in &self.costs {
                let taken = (*count).min(left);
                composition.add(cost, taken);
                left -= taken;
            }
            composition
        };
        let curve = |name: AccountantName| {
            let accountant = name.accountant()?;
            let epsilon =
                |releases| price(accountant, &first(releases), self.delta, self.is_adaptive()).epsilon;
            let all = (1..=points).map(step).map(|releases| (releases, epsilon(releases)));
            Some((name, all.filter(|(_, epsilon)| epsilon.is_finite()).collect()))
        };
        AccountantName::all().filter_map(curve).collect()
    }
}

/// An accountant's answer, for adaptively chosen releases if `is_adaptive`, else for releases fixed in advance.
pub(super) fn price(
    accountant: &dyn Accountant,
    composition: &Composition,
    delta: Delta,
    is_adaptive: bool,
) -> AccountedEpsilon {
    let priced = accountant.price(composition, delta);
    if is_adaptive { priced.for_adaptive_releases() } else { priced }
}

/// The candidate with the largest loss by the tight accountant (the first one if losses are equal), and whether all
/// candidates have equal statements. Two statements are equal if they have the same composition, delta, basis and
/// arithmetic, and if releases may have been chosen adaptively in both or in neither. If all candidates have equal
/// statements, no loss is computed. `statements` returns the statements of a candidate; the largest loss of a candidate's
/// statements is the candidate's loss. `None` if there are no candidates.
#[must_use]
pub fn costliest<T>(candidates: Vec<T>, statements: impl Fn(&T) -> Vec<&Statement>) -> Option<(T, bool)> {
    let mut different: Vec<T> = Vec::new();
    for candidate in candidates {
        let same = |known: &T| {
            let (a, b) = (statements(known), statements(&candidate));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.has_same_inputs(b))
        };
        if !different.iter().any(same) {
            different.push(candidate);
        }
    }
    let alone = different.len() == 1;
    let loss = |candidate: &T| match alone {
        true => 0.0,
        false => statements(candidate).into_iter().map(Statement::tight).fold(0.0, f64::max),
    };
    let costs = different.into_iter().map(|candidate| (loss(&candidate), candidate));
    costs.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, candidate)| (candidate, alone))
}
