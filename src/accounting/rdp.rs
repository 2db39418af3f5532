//! Renyi differential privacy with continuous orders.

use super::{Accountant, AccountedEpsilon, Composition, EpsilonKind, pairs, renyi};
use crate::vocab::Delta;

/// The accountant by Renyi divergences, which add up; the accountant searches for the best order in (1, 1000] on a
/// continuous scale.
///
/// With rho the divergence of order a in nats, epsilon = rho + ln(1 - 1/a) - ln(delta a)/(a - 1). Before this formula is
/// used, delta is replaced by (delta - f) / (1 - f), where f is the probability that at least one (epsilon, delta)
/// guarantee fails. The rho of an exponential mechanism is the largest divergence of a mechanism with the same bounded
/// range.
///
/// Source: Mironov 2017; conversion Canonne, Kamath and Steinke 2020, Proposition 12; bounded range Dong, Durfee and
/// Rogers 2020.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rdp;

impl Accountant for Rdp {
    fn name(&self) -> &'static str {
        "rdp"
    }

    fn about(&self) -> &'static str {
        "Renyi divergences add up, orders in (1, 1000] (Mironov 2017; Canonne, Kamath and Steinke 2020)"
    }

    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon {
        let items = composition.items();
        let unpriced = pairs::unpriceable(items);
        if !unpriced.is_empty() {
            return AccountedEpsilon::refused(unpriced, EpsilonKind::Bound, composition);
        }
        let left = match AccountedEpsilon::remaining(composition, delta) {
            Ok(left) => left,
            Err(answer) => return answer,
        };
        let found = renyi::epsilon(items, left);
        let mut priced = AccountedEpsilon::plain(
            found.map_or(0.0, |(epsilon, _)| epsilon),
            EpsilonKind::Bound,
            composition,
        );
        priced.order = found.map(|(_, order)| order);
        priced
    }
}
