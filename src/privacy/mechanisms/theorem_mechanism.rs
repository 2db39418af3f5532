//! A mechanism whose sensitivity follows from a theorem: the theorem's claim and conditions are part of the mechanism's
//! price.

use super::pair::{Distinguisher, Pair};
use super::{Mechanism, MechanismError, Price};
use crate::rng::Stream;
use crate::vocab::{Basis, Claim, Neighbours};

/// An inner mechanism with another name, claim and basis in the ledger. This type is for mechanisms whose sensitivity is
/// not known for certain: noise is drawn as usual, and the ledger states the condition under which the cost is true.
///
/// * Precondition: that of the inner mechanism, with one exception: if the condition in `basis` does not hold, the
///   sensitivity need not be a bound.
/// * Postcondition: that of the inner mechanism, under the condition in `basis`.
///
/// Source: Kusner, Gardner, Garnett and Weinberger 2015, Theorems 1, 3, 5 and 7, for the conditions that the protocol
/// `Release` states for the algorithms of that paper.
#[derive(Clone, Debug, PartialEq)]
pub struct TheoremMechanism<M> {
    mechanism: M,
    name: &'static str,
    claim: Option<Claim>,
    basis: Basis,
}

impl<M> TheoremMechanism<M> {
    /// `mechanism` under the name `name` in the ledger.
    #[must_use]
    pub const fn new(mechanism: M, name: &'static str, claim: Option<Claim>, basis: Basis) -> Self {
        Self { mechanism, name, claim, basis }
    }
}

impl<M: Mechanism> Mechanism for TheoremMechanism<M> {
    type Input = M::Input;
    type Output = M::Output;

    fn price(&self, input: &M::Input, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        let price = self.mechanism.price(input, neighbours)?;
        // `self.basis` adds conditions to a proof of the inner mechanism. It does not justify a price for which the inner
        // mechanism has no proof.
        let basis = match price.basis {
            Basis::Proven => self.basis.clone(),
            Basis::Conditional { on } => self.basis.clone().with_conditions(&[on]),
            weaker @ (Basis::AsPublished | Basis::Refuted { .. } | Basis::Unprotected) => weaker,
        };
        Ok(Price { mechanism: self.name, claim: self.claim.clone(), basis, ..price })
    }

    fn privatise(&self, input: &M::Input, stream: &mut Stream) -> Result<M::Output, MechanismError> {
        self.mechanism.privatise(input, stream)
    }

    fn worst_pair(&self, like: &M::Input) -> Option<Pair<M::Input>> {
        self.mechanism.worst_pair(like)
    }

    fn distinguisher(&self, inputs: [&M::Input; 2]) -> Result<Distinguisher<M::Output>, MechanismError> {
        self.mechanism.distinguisher(inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::Laplace;
    use crate::rng::Key;
    use crate::vocab::{Epsilon, Positive};

    #[test]
    fn an_unprotected_price_does_not_become_proven() {
        let argmax = TheoremMechanism::new(super::super::Argmax, "a name", None, Basis::Proven);
        let price = argmax.price(&vec![1.0], &Neighbours::ReplaceOne).unwrap();
        assert_eq!(price.basis, Basis::Unprotected);
    }

    #[test]
    fn only_name_claim_and_basis_change() {
        let laplace = Laplace::calibrated(Epsilon::new(0.5).unwrap(), Positive::new(2.0).unwrap()).unwrap();
        let basis = Basis::Conditional { on: "a theorem".to_owned() };
        let supported = TheoremMechanism::new(laplace, "a name", None, basis.clone());
        let plain = laplace.price(&vec![1.0], &Neighbours::ReplaceOne).unwrap();
        let price = supported.price(&vec![1.0], &Neighbours::ReplaceOne).unwrap();
        assert_eq!(price, Price { mechanism: "a name", basis, ..plain });
        let draw = |mechanism: &dyn Mechanism<Input = Vec<f64>, Output = Vec<f64>>| {
            mechanism.privatise(&vec![1.0], &mut Key::root(5).stream()).unwrap()
        };
        assert_eq!(draw(&supported), draw(&laplace));
    }

    /// The worst pair and its test are those of the inner mechanism.
    #[test]
    fn an_audit_attacks_the_inner_mechanism() {
        let laplace = Laplace::calibrated(Epsilon::new(0.5).unwrap(), Positive::new(2.0).unwrap()).unwrap();
        let supported = TheoremMechanism::new(laplace, "a name", None, Basis::Proven);
        let like = vec![0.0; 2];
        let (found, plain) = (supported.worst_pair(&like).unwrap(), laplace.worst_pair(&like).unwrap());
        assert_eq!((found.inputs.clone(), found.words), (plain.inputs, plain.words));
        let [a, b] = &found.inputs;
        let ratio =
            |test: crate::privacy::mechanisms::pair::Distinguisher<Vec<f64>>| test.log_ratio(&vec![0.3, 0.1]);
        let expected = ratio(laplace.distinguisher([a, b]).unwrap());
        assert_eq!(ratio(supported.distinguisher([a, b]).unwrap()), expected);
        assert!(expected != 0.0);
    }
}
