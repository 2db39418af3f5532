//! Personalised privacy: every user or agent has an epsilon of their own.

use crate::rng::Stream;
use crate::vocab::{Epsilon, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An epsilon for each user or agent: Phi(u) of personalised differential privacy. A mechanism M is Phi-personalised if
/// for every user u, for all data D and D' that differ in u's data only, and for all events S: P(M(D) in S) <= e^Phi(u)
/// P(M(D') in S).
///
/// The epsilons themselves are taken as public: they must not be chosen because of the data that they protect.
/// Source: Jorgensen, Yu and Cormode 2015, "Conservative or liberal? Personalized differential privacy", definition 6.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum PersonalEpsilons {
    /// An epsilon for each cohort of users or group of agents; every cohort (or group) must be named.
    ///
    /// Example: `ByGroup({"phone": 0.5, "tablet": 2})`.
    ByGroup(BTreeMap<String, Epsilon>),
    /// Stated in a list: user (or person, or agent) n, counted from 0, has the entry with index n modulo the length of
    /// the list.
    ///
    /// Example: `Given([0.5, 1, 2])`.
    Given(Vec<Epsilon>),
    /// Drawn at random for each user, person or agent, once per replication, from stated levels.
    ///
    /// Example: `Drawn([Level(epsilon: 0.1, share: 0.54), Level(epsilon: 1, share: 0.46)])`.
    Drawn(Vec<Level>),
}

/// One level of privacy that users choose.
///
/// Example: `Level(epsilon: 0.1, share: 0.54)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The epsilon.
    pub epsilon: Epsilon,
    /// How many users choose this level, relative to the other levels: probabilities are shares divided by their sum.
    /// Default: 1.
    #[serde(default = "one")]
    pub share: Positive,
}

fn one() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

impl PersonalEpsilons {
    /// The epsilon of unit `n` (user, person or agent) in a group; `stream` has the unit's own random numbers. `None` if
    /// `ByGroup` does not name the group, or if a list is empty.
    #[must_use]
    pub fn of(&self, n: u64, group: &str, stream: &mut Stream) -> Option<Epsilon> {
        match self {
            Self::ByGroup(by_group) => by_group.get(group).copied(),
            Self::Given(list) => {
                let place = n.checked_rem(list.len() as u64)?;
                list.get(place as usize).copied()
            }
            Self::Drawn(levels) => {
                let total: f64 = levels.iter().map(|level| level.share.get()).sum();
                let mut left = stream.uniform() * total;
                let reached = |level: &&Level| {
                    left -= level.share.get();
                    left < 0.0
                };
                levels.iter().find(reached).or(levels.last()).map(|level| level.epsilon)
            }
        }
    }

    /// Each epsilon that occurs, in ascending order, with the expected share of units that have it; `groups` has the
    /// share of units in each group.
    #[must_use]
    pub fn shares(&self, groups: &[(&str, f64)]) -> Vec<(Epsilon, f64)> {
        let mut found: Vec<(Epsilon, f64)> = match self {
            Self::ByGroup(by_group) => {
                let of = |(name, share): &(&str, f64)| Some((*by_group.get(*name)?, *share));
                groups.iter().filter_map(of).collect()
            }
            Self::Given(list) => list.iter().map(|epsilon| (*epsilon, 1.0)).collect(),
            Self::Drawn(levels) => levels.iter().map(|level| (level.epsilon, level.share.get())).collect(),
        };
        found.sort_by(|a, b| a.0.get().total_cmp(&b.0.get()));
        let total: f64 = found.iter().map(|(_, share)| share).sum();
        let mut merged: Vec<(Epsilon, f64)> = Vec::with_capacity(found.len());
        for (epsilon, share) in found {
            match merged.last_mut() {
                Some(last) if last.0 == epsilon => last.1 += share / total,
                _ => merged.push((epsilon, share / total)),
            }
        }
        merged
    }

    /// What is wrong with the epsilons for these groups or cohorts. `noun` is the word for one of them, such as "cohort".
    #[must_use]
    pub fn problems(&self, groups: &[&str], noun: &'static str) -> Vec<Problem> {
        match self {
            Self::ByGroup(by_group) => {
                let known: Vec<String> = groups.iter().map(|name| (*name).to_owned()).collect();
                let strange = by_group.keys().filter(|name| !known.contains(name));
                let mut found: Vec<Problem> =
                    strange.map(|name| Problem::unknown("ByGroup", noun, name, &known)).collect();
                if let Some(missing) = known.iter().find(|name| !by_group.contains_key(*name)) {
                    let expected = format!("an epsilon for every {noun}");
                    let cure = format!("write \"{missing}\": 1, for example");
                    found.push(Problem::wrong("ByGroup", expected, format!("none for \"{missing}\""), cure));
                }
                if known.is_empty() {
                    let cure = "write Given([..]) or Drawn([..])";
                    found.push(Problem::wrong("ByGroup", format!("a scenario with a {noun}"), "none", cure));
                }
                found
            }
            Self::Given(list) if list.is_empty() => {
                vec![Problem::wrong(
                    "Given",
                    "at least one epsilon",
                    "none",
                    "write Given([0.5, 2]), for example",
                )]
            }
            Self::Drawn(levels) if levels.is_empty() => {
                let cure = "write Drawn([Level(epsilon: 0.5), Level(epsilon: 2)]), for example";
                vec![Problem::wrong("Drawn", "at least one level", "none", cure)]
            }
            Self::Given(_) | Self::Drawn(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn epsilons(text: &str) -> PersonalEpsilons {
        crate::scenario::part(text).unwrap()
    }

    /// 20,000 draws; six standard errors of a share are 6 sqrt(0.25 / 20,000) = 0.021.
    #[test]
    fn levels_are_drawn_with_their_shares() {
        let drawn = epsilons("Drawn([Level(epsilon: 0.1, share: 54), Level(epsilon: 1, share: 46)])");
        let of = |n: u64| drawn.of(n, "", &mut Key::root(4).index(n).stream()).unwrap().get();
        let low = (0..20_000).filter(|&n| of(n) == 0.1).count() as f64 / 20_000.0;
        assert!((low - 0.54).abs() < 0.021, "{low}");
        let shares: Vec<(f64, f64)> = drawn.shares(&[]).iter().map(|(e, share)| (e.get(), *share)).collect();
        assert_eq!(shares, [(0.1, 0.54), (1.0, 0.46)]);
    }

    #[test]
    fn lists_are_repeated_and_each_group_has_its_own_epsilon() {
        let mut stream = Key::root(4).stream();
        let given = epsilons("Given([2, 0.5, 2])");
        let found: Vec<f64> = (0..4).map(|n| given.of(n, "", &mut stream).unwrap().get()).collect();
        assert_eq!(found, [2.0, 0.5, 2.0, 2.0]);
        let shares = given.shares(&[]);
        assert_eq!((shares.len(), shares[0].0.get()), (2, 0.5));
        assert!((shares[1].1 - 2.0 / 3.0).abs() < 1e-12);
        let groups = epsilons("ByGroup({\"a\": 3, \"b\": 1})");
        assert_eq!(groups.of(7, "b", &mut stream).unwrap().get(), 1.0);
        assert!(groups.of(7, "c", &mut stream).is_none());
        assert_eq!(groups.shares(&[("a", 0.25), ("b", 0.75)])[0].1, 0.75);
        assert!(groups.problems(&["a", "b"], "cohort").is_empty());
        let found = format!("{:?}", groups.problems(&["a", "c"], "cohort"));
        assert!(found.contains("none for \\\"c\\\""), "{found}");
    }
}
