//! Who learned what about whom, with what each accountant says about it.

use super::loss::{Loss, LossStanding, joined, larger, losses, multiple};
use super::record::ReplicationRecord;
use super::units::{cost_alike, units};
use crate::protocols::BookedRelease;
use crate::vocab::{Delta, Neighbours, PrivacyEvent, ProtectedUnit};
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

    /// Where runs differ, a claim and the loss beside it may be those of different runs, and the claim exceeded in a
    /// third.
    fn tell_of_runs(&mut self) {
        let figure = |losses: &[Loss], claim: bool| {
            let wanted = |loss: &&Loss| match claim {
                true => loss.standing == LossStanding::Claim,
                false => loss.accountant == "tight",
            };
            losses.iter().find(wanted).map(|loss| (loss.epsilon, loss.times_claim))
        };
        let (Some((claimed, Some(times))), Some((tight, _))) =
            (figure(&self.losses, true), figure(&self.losses, false))
        else {
            return;
        };
        if self.runs_differ && tight.is_finite() && (tight / claimed / times - 1.0).abs() > 1e-6 {
            let note = format!(
                "runs differ: in one of them tight is {} what is claimed for it, while these figures are each those of \
                 the run where they are largest",
                multiple(times)
            );
            for loss in self.losses.iter_mut().filter(|loss| loss.times_claim.is_some()) {
                loss.note = joined([loss.note.as_str(), &note]);
            }
        }
    }

    fn finish(mut self, series: &str) -> PrivacyRow {
        self.tell_of_runs();
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
