//! Facts that all protocols have in common, and how the record of a replication stores them.
//!
//! To add a fact, add a variant of [`Fact`], its number in digests, the way in which [`SharedFacts`] stores it, and, if
//! it has its own field in the record, that field.

use super::{BudgetReached, Releases, SeriesRecord};
use crate::kernel::{Digest, Digestible, Protocol};
use crate::vocab::PrivacyEvent;
use std::fmt;

/// A fact that a party records: one of the facts that protocols share, or one of the protocol's own.
#[derive(Clone)]
pub enum Fact<Own> {
    /// A fact of this protocol only.
    Own(Own),
    /// Something that depends on protected data was released.
    Released(Box<PrivacyEvent>),
    /// The privacy budget was reached.
    BudgetReached(BudgetReached),
    /// A model needed a larger jitter than before. The number is the jitter: the variance that was
    /// added to the diagonal of the model's covariance matrix.
    Jittered(f64),
    /// A party could not continue; the series ends here.
    Ended {
        /// Why.
        reason: String,
    },
}

/// A fact that only one protocol has.
pub trait ProtocolFact: Clone + fmt::Debug + Digestible {
    /// The number of [`Fact::Ended`] in a digest; that of `Released` is 0.
    const ENDED: u64;
    /// The number of [`Fact::BudgetReached`] in a digest. The default: the number after that of `Ended`.
    const BUDGET_REACHED: u64 = Self::ENDED + 1;
    /// The number of [`Fact::Jittered`] in a digest. The default: the second number after that of `Ended`.
    const JITTERED: u64 = Self::ENDED + 2;
    /// The numbers of the protocol's own facts in a digest. For an enum that [`vocabulary!`](crate::vocabulary) declares,
    /// write `const NUMBERS: &'static [u64] = Self::NUMBERS;`. A program in which two facts have the same number then does
    /// not compile. The default: an empty list, so that the protocol's own numbers are not compared.
    const NUMBERS: &'static [u64] = &[];

    /// The round that ends ("is closed") when this fact is recorded. The default: none.
    fn closes(&self) -> Option<u64> {
        None
    }
}

/// A protocol whose parties record shared facts in addition to its own facts.
pub trait RecordsFacts: Protocol<Fact = Fact<<Self as RecordsFacts>::Own>> {
    /// Its own facts.
    type Own: ProtocolFact;
}

impl<P: Protocol<Fact = Fact<Own>>, Own: ProtocolFact> RecordsFacts for P {
    type Own = Own;
}

impl<Own: ProtocolFact> Fact<Own> {
    /// The round that ends when this fact is recorded; none for a shared fact.
    #[must_use]
    pub fn closes(&self) -> Option<u64> {
        match self {
            Self::Own(own) => own.closes(),
            Self::Released(_) | Self::BudgetReached(_) | Self::Jittered(_) | Self::Ended { .. } => None,
        }
    }
}

impl<Own> From<Own> for Fact<Own> {
    fn from(own: Own) -> Self {
        Self::Own(own)
    }
}

/// One of the protocol's own facts has the debug format of the fact itself, without the name `Own` of the variant.
impl<Own: fmt::Debug> fmt::Debug for Fact<Own> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(own) => own.fmt(f),
            Self::Released(event) => f.debug_tuple("Released").field(event).finish(),
            Self::BudgetReached(reached) => f.debug_tuple("BudgetReached").field(reached).finish(),
            Self::Jittered(variance) => f.debug_tuple("Jittered").field(variance).finish(),
            Self::Ended { reason } => f.debug_struct("Ended").field("reason", reason).finish(),
        }
    }
}

impl<Own: ProtocolFact> Digestible for Fact<Own> {
    fn digest(&self, digest: &mut Digest) {
        const { assert!(all_differ(Own::NUMBERS), "each fact has a number of its own") };
        const { assert!(shared_are_free::<Own>(), "a shared fact and one of the protocol's own have one number") };
        // A new shared fact gets a number of at least 1 << 16; the numbers of protocols' own facts are smaller.
        match self {
            Self::Own(own) => own.digest(digest),
            Self::Released(event) => {
                digest.word(0);
                digest.text(&event.released);
                digest.text(&event.mechanism);
                digest.word(event.round);
            }
            Self::Ended { reason } => {
                digest.word(Own::ENDED);
                digest.text(reason);
            }
            Self::BudgetReached(BudgetReached { reason, .. }) => {
                digest.word(Own::BUDGET_REACHED);
                digest.text(reason);
            }
            Self::Jittered(variance) => {
                digest.word(Own::JITTERED);
                digest.float(*variance);
            }
        }
    }
}

/// Whether no number occurs twice.
const fn all_differ(numbers: &[u64]) -> bool {
    let mut i = 0;
    while i < numbers.len() {
        let mut j = 0;
        while j < i {
            if numbers[j] == numbers[i] {
                return false;
            }
            j += 1;
        }
        i += 1;
    }
    true
}

/// Whether the shared facts have different numbers, none of which is the number of one of the protocol's own facts.
const fn shared_are_free<Own: ProtocolFact>() -> bool {
    let mut k = 0;
    while k < Own::NUMBERS.len() {
        let own = Own::NUMBERS[k];
        if own == 0 || own == Own::ENDED || own == Own::BUDGET_REACHED || own == Own::JITTERED {
            return false;
        }
        k += 1;
    }
    all_differ(&[0, Own::ENDED, Own::BUDGET_REACHED, Own::JITTERED])
}

/// Collects the shared facts of one series, in the order in which they are recorded, for the series' record.
#[derive(Debug)]
pub(super) struct SharedFacts {
    releases: Releases,
    budget: Option<BudgetReached>,
    jitter: f64,
    ended_early: Option<String>,
}

impl SharedFacts {
    pub(super) fn new(releases: Releases) -> Self {
        Self { releases, budget: None, jitter: 0.0, ended_early: None }
    }

    /// Stores a shared fact and returns `None`, or returns a fact that is one of the protocol's own.
    pub(super) fn keep<'a, Own>(&mut self, fact: &'a Fact<Own>) -> Option<&'a Own> {
        match fact {
            Fact::Own(own) => return Some(own),
            Fact::Released(event) => self.releases.enter(event),
            // Only the first fact that the budget was reached is stored.
            Fact::BudgetReached(reached) => {
                self.budget.get_or_insert_with(|| reached.clone());
            }
            // Only the largest jitter is stored.
            Fact::Jittered(variance) => self.jitter = self.jitter.max(*variance),
            Fact::Ended { reason } => self.ended_early = Some(reason.clone()),
        }
        None
    }

    /// Writes the stored facts into the record.
    pub(super) fn into_record(self, record: &mut SeriesRecord) {
        record.releases = self.releases.into_entries();
        record.budget = self.budget;
        record.jitter = self.jitter;
        record.ended_early = self.ended_early;
    }
}
