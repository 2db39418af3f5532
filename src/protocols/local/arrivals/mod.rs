//! When users arrive: one model per file.

mod one_by_one;
mod poisson;
mod renewal;

pub use one_by_one::OneByOne;
pub use poisson::Poisson;
pub use renewal::Renewal;

use crate::rng::Stream;
use crate::vocab::{Problem, Span};
use std::fmt;

/// The behaviour of an arrival model: the service asks users one after another, or they arrive without being asked.
pub trait Arrivals: Send + Sync {
    /// How long the service waits for the report of a user before it asks the next user; `None` where users arrive
    /// without being asked.
    fn patience(&self) -> Option<Span> {
        None
    }

    /// A new process of the times at which users arrive without being asked. By default, no user does so.
    fn process(&self) -> Box<dyn ArrivalProcess> {
        Box::new(Nobody)
    }

    /// What is wrong with the recipe as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

/// The times at which users arrive without being asked, one after another.
pub trait ArrivalProcess: fmt::Debug + BoxedArrivals {
    /// The time until the next user arrives; `None` if no more users arrive. All draws are from `stream`.
    fn next(&mut self, stream: &mut Stream) -> Option<Span>;
}

/// Clones a boxed [`ArrivalProcess`], when a simulation is cloned. Implemented for every process that is `Clone`.
pub trait BoxedArrivals {
    /// The copy.
    fn boxed_clone(&self) -> Box<dyn ArrivalProcess>;
}

impl<T: ArrivalProcess + Clone + 'static> BoxedArrivals for T {
    fn boxed_clone(&self) -> Box<dyn ArrivalProcess> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn ArrivalProcess> {
    fn clone(&self) -> Self {
        // Calls the method of the boxed value, not that of the box.
        (**self).boxed_clone()
    }
}

/// No user arrives without being asked.
#[derive(Clone, Debug)]
struct Nobody;

impl ArrivalProcess for Nobody {
    fn next(&mut self, _: &mut Stream) -> Option<Span> {
        None
    }
}

crate::family! {
    /// When users arrive.
    pub struct ArrivalModel(ArrivalMember): dyn Arrivals, "arrivals" {
        OneByOne(OneByOne),
        Poisson(Poisson),
        Renewal(Renewal),
    }
}

/// The problem of a duration (`span`) that is 0; `None` if the duration is above 0.
fn above_zero(field: &str, span: Span, cure: &str) -> Option<Problem> {
    (span == Span::ZERO).then(|| Problem::wrong(field, "a duration above 0", span.to_string(), cure))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::latency::Exponential;
    use crate::rng::Key;

    #[test]
    fn exponential_intervals_agree_with_poisson() {
        let mean = Span::from_millis(200);
        let mut poisson = Poisson { every: mean }.process();
        let mut renewal = Renewal { interval: Exponential { mean }.into() }.process();
        let (mut a, mut b) = (Key::root(5).stream(), Key::root(5).stream());
        for _ in 0..10_000 {
            let (one, other) = (poisson.next(&mut a).unwrap(), renewal.next(&mut b).unwrap());
            assert!(one.nanos().abs_diff(other.nanos()) <= 1, "{one} {other}");
        }
        assert_eq!(ArrivalModel::default().as_dyn().process().next(&mut a), None);
        assert_eq!(ArrivalModel::default().as_dyn().patience(), Some(Span::from_millis(5000)));
        assert_eq!(ArrivalModel::names().len(), 3);
    }
}
