//! Two wrapper types, for protected and for released values: sending a protected value in a message is a compile error.
//!
//! A message must be `Clone`. [`Sensitive`] is neither `Clone` nor `Serialize`, so a message that contains a sensitive
//! value does not compile:
//!
//! ```compile_fail
//! use subrosa::privacy::Sensitive;
//! #[derive(Clone, Debug)]
//! enum Message {
//!     Inputs { rows: Sensitive<Vec<f64>> }, // error: `Sensitive<Vec<f64>>: Clone` is not satisfied
//! }
//! ```
//!
//! Taking the value out of its wrapper does not compile either:
//!
//! ```compile_fail
//! use subrosa::privacy::Sensitive;
//! let secret = Sensitive::new(vec![1.0, 2.0]);
//! let leaked: &Vec<f64> = &secret; // error: expected `&Vec<f64>`, found `&Sensitive<Vec<f64>>`
//! ```
//!
//! Constructing a released value without a release does not compile either:
//!
//! ```compile_fail
//! use subrosa::privacy::Released;
//! let forged = Released::new(vec![1.0, 2.0]); // error: `new` is private
//! ```
//!
//! A message with a released value does compile:
//!
//! ```
//! use subrosa::privacy::Released;
//! #[derive(Clone, Debug)]
//! enum Message {
//!     Inputs { rows: Released<Vec<f64>> },
//! }
//! ```

use serde::Serialize;
use std::fmt;

/// A value that only its owner may see. It prints as `Sensitive(..)` and has no `Clone`, `Serialize` or `Deref`. Other
/// parties get only what a mechanism makes of it, through [`release`](super::ledger::release) or a
/// [`RunningSum`](super::RunningSum).
///
/// The owner computes on it with [`map`](Self::map), [`map_ref`](Self::map_ref), [`zip`](Self::zip) and
/// [`update`](Self::update); the results stay sensitive. (A closure that writes to a variable outside of itself
/// can still copy the value out; the type system does not prevent this.)
pub struct Sensitive<T>(T);

impl<T> Sensitive<T> {
    /// Wraps a value that is to be protected.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Applies a computation of the owner to the value; the result is sensitive too.
    #[must_use]
    pub fn map<U>(self, compute: impl FnOnce(T) -> U) -> Sensitive<U> {
        Sensitive(compute(self.0))
    }

    /// As [`map`](Self::map), but borrows the value.
    #[must_use]
    pub fn map_ref<U>(&self, compute: impl FnOnce(&T) -> U) -> Sensitive<U> {
        Sensitive(compute(&self.0))
    }

    /// A copy for the clone of a simulation; the copy is sensitive too.
    #[must_use]
    pub fn duplicate(&self) -> Self
    where
        T: Clone,
    {
        Self(self.0.clone())
    }

    /// Combines two sensitive values into one sensitive pair.
    #[must_use]
    pub fn zip<U>(self, other: Sensitive<U>) -> Sensitive<(T, U)> {
        Sensitive((self.0, other.0))
    }

    /// Lets the owner change the value in place.
    pub fn update(&mut self, change: impl FnOnce(&mut T)) {
        change(&mut self.0);
    }

    /// The value, for use within `crate::privacy` only.
    pub(in crate::privacy) fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sensitive(..)")
    }
}

/// A value that [`release`](super::ledger::release) or a [`RunningSum`](super::RunningSum) returned, and that the
/// ledger has an entry for. Results computed from it have no further privacy cost (post-processing), so the value
/// can be read freely.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Released<T>(T);

impl<T> Released<T> {
    pub(in crate::privacy) fn new(value: T) -> Self {
        Self(value)
    }

    /// The released value.
    #[must_use]
    pub fn get(&self) -> &T {
        &self.0
    }

    /// The released value, unwrapped.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Computes another released value from this one (post-processing).
    #[must_use]
    pub fn map<U>(self, compute: impl FnOnce(T) -> U) -> Released<U> {
        Released(compute(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_the_value() {
        assert_eq!(format!("{:?}", Sensitive::new("patient 7")), "Sensitive(..)");
    }

    #[test]
    fn computing_on_a_secret_keeps_it_secret() {
        let mut sum = Sensitive::new(vec![1.0, 2.0]).zip(Sensitive::new(3.0)).map(|(v, y)| v[0] + v[1] + y);
        sum.update(|s| *s += 0.5);
        assert_eq!(*sum.map_ref(|s| s * 2.0).expose(), 13.0);
    }
}
