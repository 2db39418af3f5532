//! Releases: [`release`] turns a secret into a value that may be sent, and makes its ledger entry.
//!
//! [`Released`] values come only from here and from [`RunningSum`](crate::privacy::RunningSum), which makes one entry, by
//! [`enter`], for all of its sums.

use super::{LedgerWriter, Refusal};
use crate::privacy::mechanisms::{Mechanism, MechanismError, Price};
use crate::privacy::{Released, Sensitive};
use crate::rng::Stream;
use crate::vocab::{Neighbours, Observer, PrivacyEvent, ProtectedUnit, Time};
use thiserror::Error;

/// Context of a release that the mechanism does not know: what is released, whose data, to whom, when.
#[derive(Clone, Debug, PartialEq)]
pub struct Occasion {
    /// What is released ("projected inputs Z").
    pub released: String,
    /// Name of the party whose secret is released.
    pub protected: String,
    /// Unit of protection.
    pub unit: ProtectedUnit,
    /// Number of the unit, if the release concerns one unit only and units are numbered.
    pub unit_index: Option<u64>,
    /// Neighbouring relation for which the cost is stated.
    pub neighbours: Neighbours,
    /// Who will see the release.
    pub observer: Observer,
    /// Round of the protocol, from 0.
    pub round: u64,
    /// Virtual time of the release.
    pub at: Time,
    /// Assumptions of the cost in addition to the mechanism's own precondition, for example that a scaling computed from
    /// the data is public. With any such assumption, a proven cost becomes conditional. Usually empty.
    pub conditions: Vec<String>,
}

/// Why nothing was released.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ReleaseError {
    /// The mechanism cannot release, usually because its precondition does not hold.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The ledger refuses the release, because it would exceed a privacy budget.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Releases `secret` through `mechanism`, and enters the release in the ledger.
///
/// Order: compute the cost, check the budget, draw the output, record the entry, return. On an error nothing is recorded
/// or returned; unless the error comes from the draw itself, nothing is drawn either.
///
/// ```
/// use subrosa::privacy::Sensitive;
/// use subrosa::privacy::ledger::{Ledger, Occasion, release};
/// use subrosa::privacy::mechanisms::Disclosure;
/// use subrosa::rng::Key;
/// use subrosa::vocab::{Cost, Neighbours, Observer, ProtectedUnit, Time};
///
/// let mut ledger = Ledger::new();
/// let occasion = Occasion {
///     released: "outcome y".into(),
///     protected: "curator".into(),
///     unit: ProtectedUnit::Outcome,
///     unit_index: Some(17),
///     neighbours: Neighbours::AnyValue,
///     observer: Observer("modeler".into()),
///     round: 0,
///     at: Time::ZERO,
///     conditions: Vec::new(),
/// };
/// let secret = Sensitive::new(0.25);
/// let mut stream = Key::root(1).child("disclosure").stream();
/// let y = release(&mut ledger, occasion, &Disclosure::new(), &secret, &mut stream)?;
/// assert_eq!(*y.get(), 0.25);
/// assert_eq!(ledger.events()[0].cost, Cost::Unprotected);
/// # Ok::<(), subrosa::privacy::ledger::ReleaseError>(())
/// ```
///
/// # Errors
/// [`ReleaseError::Mechanism`] if the mechanism cannot release, [`ReleaseError::Refused`] if the release would exceed a
/// budget.
pub fn release<M: Mechanism + ?Sized>(
    ledger: &mut dyn LedgerWriter,
    occasion: Occasion,
    mechanism: &M,
    secret: &Sensitive<M::Input>,
    stream: &mut Stream,
) -> Result<Released<M::Output>, ReleaseError> {
    let input = secret.expose();
    let price = mechanism.price(input, &occasion.neighbours).map_err(ReleaseError::Mechanism)?;
    let event = event(occasion, price);
    ledger.admit(&event).map_err(ReleaseError::Refused)?;
    let output = mechanism.privatise(input, stream).map_err(ReleaseError::Mechanism)?;
    ledger.enter(event);
    Ok(Released::new(output))
}

/// Makes the ledger entry of a release, and draws nothing: the output is drawn elsewhere, earlier or later, by the same
/// mechanism. Call this before an observer sees the output.
///
/// # Errors
/// Those of [`release`].
pub fn enter<M: Mechanism + ?Sized>(
    ledger: &mut dyn LedgerWriter,
    occasion: Occasion,
    mechanism: &M,
    secret: &Sensitive<M::Input>,
) -> Result<(), ReleaseError> {
    let price = mechanism.price(secret.expose(), &occasion.neighbours).map_err(ReleaseError::Mechanism)?;
    enter_priced(ledger, occasion, price)
}

/// Makes a further ledger entry for a release, and draws nothing. The entry is about a unit other than the one whose secret
/// is released, for example about the row from which a released outcome was computed. The cost is that of replacing the
/// secret by any other value, which covers every effect of the other unit on the secret. Call this before the release.
///
/// # Errors
/// Those of [`release`].
pub fn enter_for<M: Mechanism + ?Sized>(
    ledger: &mut dyn LedgerWriter,
    occasion: Occasion,
    mechanism: &M,
    secret: &Sensitive<M::Input>,
) -> Result<(), ReleaseError> {
    let price = mechanism.price(secret.expose(), &Neighbours::AnyValue).map_err(ReleaseError::Mechanism)?;
    enter_priced(ledger, occasion, price)
}

/// Makes the ledger entry of a release with this price.
fn enter_priced(ledger: &mut dyn LedgerWriter, occasion: Occasion, price: Price) -> Result<(), ReleaseError> {
    let event = event(occasion, price);
    ledger.admit(&event).map_err(ReleaseError::Refused)?;
    ledger.enter(event);
    Ok(())
}

fn event(occasion: Occasion, price: Price) -> PrivacyEvent {
    PrivacyEvent {
        released: occasion.released,
        mechanism: price.mechanism.to_owned(),
        protected: occasion.protected,
        unit: occasion.unit,
        unit_index: occasion.unit_index,
        neighbours: occasion.neighbours,
        observer: occasion.observer,
        sampler: price.sampler,
        sensitivity: price.sensitivity,
        cost: price.cost,
        claim: price.claim,
        basis: price.basis.with_conditions(&occasion.conditions),
        arithmetic: price.arithmetic,
        round: occasion.round,
        at: occasion.at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::Disclosure;
    use crate::rng::Key;

    struct Refusing;

    impl LedgerWriter for Refusing {
        fn admit(&mut self, _: &PrivacyEvent) -> Result<(), Refusal> {
            Err(Refusal { would_reach: 2.0, budget: 1.0, delta: 1e-5, fail: false })
        }
        fn enter(&mut self, _: PrivacyEvent) {
            panic!("a refused release must not be entered in the ledger");
        }
    }

    #[test]
    fn a_refused_release_is_neither_drawn_nor_entered() {
        let occasion = Occasion {
            released: "y".into(),
            protected: "curator".into(),
            unit: ProtectedUnit::Outcome,
            unit_index: None,
            neighbours: Neighbours::AnyValue,
            observer: Observer("modeler".into()),
            round: 0,
            at: Time::ZERO,
            conditions: Vec::new(),
        };
        let mut stream = Key::root(3).stream();
        let result = release(&mut Refusing, occasion, &Disclosure::new(), &Sensitive::new(1.0), &mut stream);
        assert!(matches!(result, Err(ReleaseError::Refused(_))), "{result:?}");
        assert_eq!(stream.word(), Key::root(3).stream().word(), "the stream was not touched");
    }
}
