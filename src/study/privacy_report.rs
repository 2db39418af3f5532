//! Who learned what about whom, with what each accountant says about it.

use super::record::ReplicationRecord;
use super::units::units;
use crate::privacy::accountants::{self, Composition, Standing, claims};
use crate::protocols::{BookedRelease, over_rounds};
use crate::vocab::{Basis, Delta, Neighbours, PrivacyEvent, ProtectedUnit};
use serde::{Deserialize, Serialize};

/// Everything one observer learned about one kind of unit of one party, in one series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrivacyRow {
    /// Name of the series.
    pub series: String,
    /// Whose data.
    pub protected: String,
    /// Unit of protection.
    pub unit: ProtectedUnit,
    /// Who learned.
    pub observer: String,
    /// Neighbouring relation.
    pub neighbours: Neighbours,
    /// What was released, each kind once.
    pub released: Vec<String>,
    /// Releases in one run; the largest number over the replications.
    pub releases: u64,
    /// Releases about one and the same unit, where they are about different ones; the largest number over the units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub releases_per_unit: Option<u64>,
    /// What it amounts to for the worst-off unit in the worst run, by accountant.
    pub losses: Vec<Loss>,
    /// Whether runs cost differently, so that each loss is that of the run where it is largest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub runs_differ: bool,
}

/// A cumulative privacy loss as one accountant sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Who counted.
    pub accountant: String,
    /// What the figure is: a claim, a bound, a bound for releases fixed in advance, or no bound.
    pub standing: LossStanding,
    /// Epsilon; "inf" where no finite one holds.
    #[serde(with = "infinite")]
    pub epsilon: f64,
    /// No valid epsilon lies below this, where the accountant can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// This holds for certain, where the accountant gives both ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Order of the moment that gave the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<f64>,
    /// Delta that the epsilon is stated at.
    pub delta: f64,
    /// On what it rests.
    pub basis: String,
    /// What to know about it; empty if nothing.
    pub note: String,
}

/// What an epsilon in a report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossStanding {
    /// What a paper or a user claims.
    Claim,
    /// An upper bound, for adaptively chosen releases too.
    Bound,
    /// An upper bound for releases whose parameters were fixed in advance.
    NonAdaptiveBound,
    /// A figure for comparison; it can be too small.
    NotABound,
}

/// JSON has no infinity: it is written as the text "inf".
pub(super) mod infinite {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(in crate::study) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str("inf") }
    }

    pub(in crate::study) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) if text == "inf" => Ok(f64::INFINITY),
            value => value
                .as_f64()
                .ok_or_else(|| D::Error::custom(format!("expected a number or \"inf\", found {value}"))),
        }
    }
}

/// Delta at which epsilons are stated when neither the scenario nor a claim gives one.
const DEFAULT_DELTA: f64 = 1e-5;

/// The rows of one cell. Each replication is a run of its own on the same data, and replications may cost differently
/// (noise shared by those who arrived): every figure is that of the run with the largest.
pub(super) fn privacy_rows(records: &[&ReplicationRecord], delta: Option<Delta>) -> Vec<PrivacyRow> {
    let Some(first) = records.first() else { return Vec::new() };
    let mut rows = Vec::new();
    for index in 0..first.series.len() {
        let mut gathered: Vec<Gathered> = Vec::new();
        for series in records.iter().filter_map(|record| record.series.get(index)) {
            for group in grouped(&series.releases) {
                let event = &group[0].event;
                match gathered.iter_mut().find(|row| same_row(row.event, event)) {
                    Some(row) => row.take_in(&group, delta),
                    None => {
                        let mut row = Gathered::new(event);
                        row.take_in(&group, delta);
                        gathered.push(row);
                    }
                }
            }
        }
        rows.extend(gathered.into_iter().map(|row| row.finish(&first.series[index].name)));
    }
    rows
}

/// The releases of one run by row.
pub(super) fn grouped(releases: &[BookedRelease]) -> Vec<Vec<&BookedRelease>> {
    let mut groups: Vec<Vec<&BookedRelease>> = Vec::new();
    for booked in releases {
        match groups.iter_mut().find(|group| same_row(&group[0].event, &booked.event)) {
            Some(group) => group.push(booked),
            None => groups.push(vec![booked]),
        }
    }
    groups
}

fn same_row(a: &PrivacyEvent, b: &PrivacyEvent) -> bool {
    (&a.protected, &a.unit, &a.observer, &a.neighbours) == (&b.protected, &b.unit, &b.observer, &b.neighbours)
}

/// One row on the way, over the runs so far.
struct Gathered<'a> {
    event: &'a PrivacyEvent,
    released: Vec<String>,
    releases: u64,
    releases_per_unit: Option<u64>,
    /// What a unit went through, each kind of it once: most runs are alike, and pricing is dear.
    priced: Vec<Vec<BookedRelease>>,
    losses: Vec<Loss>,
    runs: u64,
    runs_differ: bool,
}

impl<'a> Gathered<'a> {
    fn new(event: &'a PrivacyEvent) -> Self {
        Self {
            event,
            released: Vec::new(),
            releases: 0,
            releases_per_unit: None,
            priced: Vec::new(),
            losses: Vec::new(),
            runs: 0,
            runs_differ: false,
        }
    }

    /// Takes in what one run released.
    fn take_in(&mut self, group: &[&BookedRelease], delta: Option<Delta>) {
        for booked in group {
            if !self.released.contains(&booked.event.released) {
                self.released.push(booked.event.released.clone());
            }
        }
        self.releases = self.releases.max(group.iter().map(|booked| booked.count).sum());
        let told = units(group);
        if told.apart {
            let count = |releases: &Vec<BookedRelease>| releases.iter().map(|booked| booked.count).sum();
            self.releases_per_unit =
                self.releases_per_unit.max(told.worst.iter().map(count).max().or(Some(0)));
        }
        for history in told.worst {
            if self.priced.iter().any(|known| cost_alike(known, &history)) {
                continue;
            }
            let count = |history: &[BookedRelease]| history.iter().map(|booked| booked.count).sum::<u64>();
            let longer = self.priced.iter().all(|known| count(known) < count(&history));
            self.losses = larger(std::mem::take(&mut self.losses), losses(&history, delta), longer);
            self.priced.push(history);
            self.runs_differ |= self.runs > 0;
        }
        self.runs += 1;
    }

    fn finish(self, series: &str) -> PrivacyRow {
        PrivacyRow {
            series: series.to_owned(),
            protected: self.event.protected.clone(),
            unit: self.event.unit.clone(),
            observer: self.event.observer.0.clone(),
            neighbours: self.event.neighbours.clone(),
            released: self.released,
            releases: self.releases,
            releases_per_unit: self.releases_per_unit,
            runs_differ: self.runs_differ && self.losses.iter().any(|loss| loss.epsilon.is_finite()),
            losses: self.losses,
        }
    }
}

/// Whether two histories cost the same by every accountant: they differ in when, where and about whom at most.
fn cost_alike(a: &[BookedRelease], b: &[BookedRelease]) -> bool {
    let alike = |(a, b): (&BookedRelease, &BookedRelease)| {
        let (x, y) = (&a.event, &b.event);
        a.count == b.count && x.cost == y.cost && x.claim == y.claim && x.basis == y.basis
    };
    a.len() == b.len() && over_rounds(a) == over_rounds(b) && a.iter().zip(b).all(alike)
}

/// For each accountant the larger of two losses; of equal ones (infinite as a rule) that of the longer history.
fn larger(mut all: Vec<Loss>, other: Vec<Loss>, longer: bool) -> Vec<Loss> {
    for loss in other {
        match all.iter_mut().find(|known| known.accountant == loss.accountant) {
            Some(known) if known.epsilon < loss.epsilon => *known = loss,
            Some(known) if known.epsilon.to_bits() == loss.epsilon.to_bits() && longer => *known = loss,
            Some(_) => {}
            None => all.push(loss),
        }
    }
    all
}

/// The delta at which to state an epsilon: the one asked for, that of the claims (0 without any), or the default.
pub(super) fn stated(asked: Option<Delta>, claimed: f64) -> Delta {
    asked
        .or_else(|| Delta::new(claimed).ok())
        .or_else(|| Delta::new(DEFAULT_DELTA).ok())
        .expect("the default delta is above 0 and below 1")
}

fn losses(history: &[BookedRelease], delta: Option<Delta>) -> Vec<Loss> {
    let group: Vec<(&PrivacyEvent, u64)> =
        history.iter().map(|booked| (&booked.event, booked.count)).collect();
    let each = || group.iter().flat_map(|&(event, count)| std::iter::repeat_n(event, count as usize));
    let mut losses = Vec::new();
    let claimed = claims(each());
    let stated = stated(delta, claimed.delta);
    if claimed.claimed > 0 {
        let mut note: Vec<String> =
            claimed.sources.iter().map(|source| format!("claimed by {source}")).collect();
        if claimed.unclaimed > 0 {
            note.push(format!("says nothing about {} further releases", claimed.unclaimed));
        }
        if group.iter().any(|(event, _)| matches!(event.basis, Basis::Refuted { .. })) {
            note.push("does not hold here, see below".to_owned());
        }
        losses.push(Loss {
            accountant: "as published".to_owned(),
            standing: LossStanding::Claim,
            epsilon: claimed.epsilon_at(stated),
            lower: None,
            upper: None,
            order: None,
            delta: if claimed.costs.count() > 0 { stated.get() } else { claimed.delta },
            basis: "as published".to_owned(),
            note: note.join("; "),
        });
    }
    let composition = Composition::of_events(each());
    let rounds = over_rounds(history);
    for accountant in accountants::all() {
        let priced = accountant.price(&composition, stated);
        let priced = if rounds { priced.one_after_another() } else { priced };
        losses.push(Loss {
            accountant: accountant.name().to_owned(),
            standing: match priced.standing {
                Standing::Bound => LossStanding::Bound,
                Standing::NonAdaptiveBound => LossStanding::NonAdaptiveBound,
                Standing::NotABound => LossStanding::NotABound,
            },
            epsilon: priced.epsilon,
            lower: priced.lower,
            upper: priced.upper.filter(|upper| upper.is_finite()),
            order: priced.order,
            delta: stated.get(),
            basis: basis_of(&group).to_owned(),
            note: priced.notes.join("; "),
        });
    }
    losses
}

/// The weakest basis of the group: what a reader must know first.
pub(super) fn basis_of(group: &[(&PrivacyEvent, u64)]) -> &'static str {
    let rank = |basis: &Basis| match basis {
        Basis::Refuted { .. } => 0,
        Basis::Unprotected => 1,
        Basis::AsPublished => 2,
        Basis::Conditional { .. } => 3,
        Basis::Proven => 4,
    };
    match group.iter().map(|(event, _)| &event.basis).min_by_key(|basis| rank(basis)) {
        Some(Basis::Refuted { .. }) => "refuted",
        Some(Basis::Unprotected) => "unprotected",
        Some(Basis::AsPublished) => "as published",
        Some(Basis::Conditional { .. }) => "conditional",
        Some(Basis::Proven) | None => "proven",
    }
}
