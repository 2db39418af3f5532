//! Delays between named sites, and which party is at which site.

use super::LinkEnd;
use crate::vocab::{Problem, Span};
use std::collections::BTreeMap;

/// The list of sites of each party or group, by name. An entry of the scenario can stand for several parties, numbered from
/// 0. Party k of an entry is at the site whose index is k modulo the length of the list.
pub(super) type Sites = BTreeMap<String, Vec<String>>;

/// One-way delays between every two sites, as read from a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SiteDelays {
    names: Vec<String>,
    places: BTreeMap<String, usize>,
    /// The delay from site i to site j at index i n + j, where n is the number of sites; `None` where it is not known.
    delays: Vec<Option<Span>>,
    sorted: Vec<Span>,
}

impl SiteDelays {
    /// Stores the delays `given`: a matrix with one row for each sender and one column for each receiver, both in the order
    /// of `names`. An unknown delay is replaced by the delay in the other direction, if known; an unknown delay from a site
    /// to itself is 0.
    pub(super) fn new(names: Vec<String>, given: &[Option<Span>]) -> Self {
        let n = names.len();
        let of = |from: usize, to: usize| given[from * n + to].or(given[to * n + from]);
        let all = (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
        let delays: Vec<Option<Span>> =
            all.map(|(from, to)| of(from, to).or((from == to).then_some(Span::ZERO))).collect();
        let others = delays.iter().enumerate().filter(|(place, _)| place / n != place % n);
        let mut sorted: Vec<Span> = others.filter_map(|(_, delay)| *delay).collect();
        sorted.sort_unstable();
        let places = names.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        Self { names, places, delays, sorted }
    }

    /// All known delays between two different sites, in ascending order.
    pub(super) fn sorted(&self) -> &[Span] {
        &self.sorted
    }

    /// The quantile at `u` of the known delays between two different sites; zero if no delay is known.
    pub(super) fn quantile(&self, u: f64) -> Span {
        let place = (u * self.sorted.len() as f64) as usize;
        let last = self.sorted.len().saturating_sub(1);
        self.sorted.get(place.min(last)).copied().unwrap_or(Span::ZERO)
    }

    /// The mean of the known delays between two different sites, in seconds; 0 if no delay is known.
    pub(super) fn mean_seconds(&self) -> f64 {
        self.sorted.iter().map(|delay| delay.seconds()).sum::<f64>() / self.sorted.len().max(1) as f64
    }

    /// The index of a party's site and the site's name. The index is `None` if the file does not have the site. A party for
    /// which `sites` has no list is at the site that has the party's own name.
    fn site<'a>(&self, sites: &'a Sites, party: LinkEnd<'a>) -> (Option<usize>, &'a str) {
        let stated = sites.get(party.name).or_else(|| sites.get(party.group?));
        let named = stated.filter(|names| !names.is_empty()).map_or(party.name, |names| {
            names[usize::try_from(party.number % names.len() as u64).unwrap_or(0)].as_str()
        });
        (self.places.get(named).copied(), named)
    }

    /// The delay from one party to another; zero if a party's site is not known, or the delay between the two sites is not.
    pub(super) fn between(&self, sites: &Sites, from: LinkEnd<'_>, to: LinkEnd<'_>) -> Span {
        let places = self.site(sites, from).0.zip(self.site(sites, to).0);
        places.and_then(|(from, to)| self.delays[from * self.names.len() + to]).unwrap_or(Span::ZERO)
    }

    /// The problems of empty lists, of sites that the file does not have, of names that are neither a party nor a group, of
    /// parties without a site, and of sites in use (at which there are parties) between which no delay is known.
    pub(super) fn problems(&self, file: &str, sites: &Sites, parties: &[LinkEnd<'_>]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let groups = parties.iter().filter_map(|party| party.group);
        let mut known: Vec<String> =
            parties.iter().map(|party| party.name).chain(groups).map(Into::into).collect();
        known.sort_unstable();
        known.dedup();
        for (name, list) in sites {
            let path = format!("sites[\"{name}\"]");
            if !known.contains(name) {
                problems.push(Problem::unknown(path.clone(), "party or group", name, &known));
            }
            if list.is_empty() {
                problems.push(Problem::wrong(&*path, "at least one site", "none", "name a site of the file"));
            }
            let unknown = list.iter().enumerate().find(|(_, site)| !self.places.contains_key(*site));
            if let Some((index, site)) = unknown {
                problems.push(Problem::unknown(format!("{path}[{index}]"), "site", site, &self.names));
            }
        }
        if !problems.is_empty() {
            return problems;
        }
        let mut used: Vec<usize> = Vec::new();
        for party in parties {
            match self.site(sites, *party) {
                (Some(place), _) => used.push(place),
                (None, _) => {
                    let found = format!("none for \"{}\"", party.name);
                    let cure = format!("write sites: {{ \"{}\": [\"{}\"] }}", party.name, self.names[0]);
                    return vec![Problem::wrong(
                        "sites",
                        format!("a site of {file} for every party"),
                        found,
                        cure,
                    )];
                }
            }
        }
        used.sort_unstable();
        used.dedup();
        let pairs = used.iter().flat_map(|&from| used.iter().map(move |&to| (from, to)));
        let unknown =
            pairs.into_iter().find(|(from, to)| self.delays[from * self.names.len() + to].is_none());
        if let Some((from, to)) = unknown {
            let found = format!("none from \"{}\" to \"{}\" in {file}", self.names[from], self.names[to]);
            let cure = "move one of the parties to another site";
            problems.push(Problem::wrong("file", "a delay between every two sites in use", found, cure));
        }
        problems
    }
}
