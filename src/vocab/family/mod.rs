//! The macro `family!` declares a family, such as all latencies or all objectives: a type that holds any member, and the
//! members that come with the library. Programs add members of their own by [`Members::add`], which the macro calls too.
//!
//! ```text
//! family! {
//!     /// How long a message travels.
//!     pub struct LatencyModel(LatencyMember): dyn Latency, "latency" {
//!         Constant(Constant),
//!         Uniform(Uniform),
//!     }
//! }
//! ```
//! This declares the struct `LatencyModel`. Any type with the trait `Latency` (and the derived traits that [`MemberObject`]
//! needs) converts into it, and serde reads and writes it as an enum with one newtype variant per member. `as_dyn()` returns
//! the member as a trait object. A new member needs one file, and one line in this declaration. The documentation of members
//! and their fields comes from their doc comments, through the JSON schema that `schemars` derives; `subrosa list` and the
//! generated reference read that schema.

mod member_object;
mod members;

pub use member_object::MemberObject;
pub use members::{Entry, Family, MemberError, Members, check_name, name, read, schema, write};

/// Declares a family; the documentation of the module `vocab::family` describes the generated code.
#[macro_export]
macro_rules! family {
    ($(#[doc = $doc:literal])* $vis:vis struct $name:ident($held:ident): dyn $behaviour:path, $words:literal {
        $($(#[doc = $member_doc:literal])* $member:ident($recipe:ty)),+ $(,)?
    }) => {
        $(#[doc = $doc])*
        ///
        /// Holds any member of the family. A type with the family's trait converts into it by `into`.
        #[derive(Clone)]
        $vis struct $name(std::sync::Arc<dyn $held>);

        /// A type that can be a member of the family. Implemented for every type that has the family's trait and derives
        /// `Clone`, `Debug`, `PartialEq` and `Serialize`, and that threads may share.
        $vis trait $held: $behaviour + $crate::vocab::family::MemberObject {
            /// A copy of the member.
            #[doc(hidden)]
            fn copied(&self) -> std::sync::Arc<dyn $held>;
        }

        impl<T: $behaviour + $crate::vocab::family::MemberObject + Clone> $held for T {
            fn copied(&self) -> std::sync::Arc<dyn $held> {
                std::sync::Arc::new(self.clone())
            }
        }

        impl<T: $held> From<T> for $name {
            fn from(member: T) -> Self {
                Self(std::sync::Arc::new(member))
            }
        }

        impl $name {
            /// The member as a trait object.
            #[must_use]
            $vis fn as_dyn(&self) -> &dyn $behaviour {
                &*self.0
            }

            /// The member as a mutable trait object, for loading the files that the member names.
            $vis fn as_dyn_mut(&mut self) -> &mut dyn $behaviour {
                if std::sync::Arc::get_mut(&mut self.0).is_none() {
                    self.0 = (*self.0).copied();
                }
                std::sync::Arc::get_mut(&mut self.0).expect("nobody else holds a fresh copy")
            }

            /// The member, if its type is `T`.
            #[must_use]
            $vis fn get<T: 'static>(&self) -> Option<&T> {
                let member: &dyn std::any::Any = &*self.0;
                member.downcast_ref()
            }

            /// The name of this member in scenarios, or the name of its type if it was not added to the family.
            #[must_use]
            $vis fn name(&self) -> &'static str {
                $crate::vocab::family::name(self)
            }

            /// The names of all members, in the order in which they were added.
            #[must_use]
            $vis fn names() -> &'static [&'static str] {
                $crate::vocab::family::Members::<Self>::installed().names()
            }
        }

        impl $crate::vocab::family::Family for $name {
            const NAME: &'static str = stringify!($name);
            const WORDS: &'static str = $words;
            const ABOUT: &'static str = concat!($($doc, "\n"),*);

            fn standard() -> $crate::vocab::family::Members<Self> {
                let mut members = $crate::vocab::family::Members::none();
                $(members
                    .add::<$recipe>(stringify!($member), concat!($($member_doc, "\n"),*))
                    .expect("the names of a declaration differ");)+
                members.as_standard()
            }

            fn place() -> &'static std::sync::OnceLock<$crate::vocab::family::Members<Self>> {
                static PLACE: std::sync::OnceLock<$crate::vocab::family::Members<$name>> = std::sync::OnceLock::new();
                &PLACE
            }

            fn held(&self) -> &dyn $crate::vocab::family::MemberObject {
                &*self.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                (*self.0).equals(&*other.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::vocab::family::write(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::vocab::family::read(deserializer)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::vocab::family::schema::<Self>(generator)
            }
        }
    };
}
