//! What every member of a family can do besides the methods of the family's trait: be compared, printed for debugging,
//! and serialised.

use serde::Serialize;
use std::any::Any;
use std::fmt::Debug;

/// A value that the type of a family can hold. Implemented for every type that derives `Clone`, `Debug`, `PartialEq` and
/// `Serialize` and may be shared among threads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a member of a family",
    note = "a member implements its family's trait, derives Clone, Debug, PartialEq and Serialize (a scenario also needs \
            Deserialize and JsonSchema), and may be shared among threads"
)]
pub trait MemberObject: Any + Debug + Send + Sync {
    /// Whether `other` has the same type and is equal.
    fn equals(&self, other: &dyn Any) -> bool;

    /// The value, for serialisation in any format.
    fn written(&self) -> &dyn erased_serde::Serialize;

    /// The full path of the value's type.
    fn type_name(&self) -> &'static str;
}

impl<T: Clone + Debug + PartialEq + Serialize + Send + Sync + 'static> MemberObject for T {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>().is_some_and(|other| other == self)
    }

    fn written(&self) -> &dyn erased_serde::Serialize {
        self
    }

    fn type_name(&self) -> &'static str {
        std::any::type_name::<T>()
    }
}
