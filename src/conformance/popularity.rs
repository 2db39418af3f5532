//! Conformance test of popularity distributions.

use super::{Violation, Violations, key};
use crate::protocols::local::Popularity;

/// Checks the rules of popularity distributions, for populations of 1, 2, 50 and a million people: every visitor is one
/// of these people, and the same stream gives the same visitor.
#[must_use]
pub fn popularity(recipe: &dyn Popularity) -> Vec<Violation> {
    let mut found = Violations::default();
    for size in [1, 2, 50, 1_000_000] {
        for visit in 0..1000 {
            let person = || recipe.person(size, &mut key("popularity").index(size).index(visit).stream());
            let (visitor, again) = (person(), person());
            found.require(visitor < size, "visitors who are among the people", || {
                format!("{visitor} of {size}")
            });
            found.require(visitor == again, "the same visitor for the same stream", || {
                format!("{visitor} and {again}")
            });
        }
    }
    found.0
}
