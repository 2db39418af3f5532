//! What every member of a family is, whatever its behaviour: a value that can be compared, shown and written.

use serde::Serialize;
use std::any::Any;
use std::fmt::Debug;

/// A value behind a family's type. All that derive `Clone`, `Debug`, `PartialEq` and `Serialize`, and may be shared among
/// threads, are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand where a member of a family is due",
    note = "a member implements its family's trait, derives Clone, Debug, PartialEq and Serialize (a scenario also needs \
            Deserialize and JsonSchema), and may be shared among threads"
)]
pub trait Held: Any + Debug + Send + Sync {
    /// Whether the other is of the same type and equal.
    fn equals(&self, other: &dyn Any) -> bool;

    /// Its fields, to be written in any format.
    fn written(&self) -> &dyn erased_serde::Serialize;

    /// The path of its type.
    fn type_name(&self) -> &'static str;
}

impl<T: Clone + Debug + PartialEq + Serialize + Send + Sync + 'static> Held for T {
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
