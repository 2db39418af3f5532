//! One macro declares a closed family (all latencies, all objectives ...) in one place.
//!
//! ```text
//! family! {
//!     /// How long a message travels.
//!     pub enum LatencyModel: dyn Latency {
//!         Constant(constant::Constant),
//!         Uniform(uniform::Uniform),
//!     }
//! }
//! ```
//! writes the serde enum with one newtype variant per member, a `From` for each of them, and `as_dyn()`, which hands
//! out the member behind the family's trait. A new member is one file plus its line here. The members' fields, units, defaults and
//! sources come from their doc comments through the JSON schema that `schemars` derives; `subrosa list` and the
//! generated reference read that schema.

/// Declares a family; see the module's documentation for the shape of its output.
#[macro_export]
macro_rules! family {
    ($(#[$meta:meta])* $vis:vis enum $name:ident: dyn $behaviour:path {
        $($(#[$member_meta:meta])* $member:ident($recipe:ty)),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $vis enum $name {
            $(
                $(#[$member_meta])*
                #[allow(missing_docs, reason = "the member's own type carries the documentation")]
                $member($recipe),
            )+
        }

        $(impl From<$recipe> for $name {
            fn from(member: $recipe) -> Self {
                Self::$member(member)
            }
        })+

        impl $name {
            /// The member behind the family's trait.
            #[must_use]
            $vis fn as_dyn(&self) -> &dyn $behaviour {
                match self {
                    $(Self::$member(member) => member,)+
                }
            }

            /// The member behind the family's trait, to be changed: a recipe that names a file is given its contents.
            $vis fn as_dyn_mut(&mut self) -> &mut dyn $behaviour {
                match self {
                    $(Self::$member(member) => member,)+
                }
            }

            /// The name a scenario writes for this member.
            #[must_use]
            $vis fn name(&self) -> &'static str {
                match self {
                    $(Self::$member(_) => stringify!($member),)+
                }
            }

            /// The names a scenario may write, in order of declaration.
            $vis const NAMES: &'static [&'static str] = &[$(stringify!($member)),+];
        }
    };
}
