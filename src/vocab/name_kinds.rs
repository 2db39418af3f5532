//! Types that say in a schema which kind of name a text field holds. The reference and editors use this information.
//! Usage: `#[schemars(with = "PartyName")]` on a field that is a `String`, `#[schemars(with = "Vec<PartyName>")]` on a list.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident, $constant:ident, $words:literal;)+) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            #[doc = concat!("The format of [`", stringify!($name), "`] in a schema.")]
            pub const $constant: &str = $words;

            impl JsonSchema for $name {
                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }
                fn inline_schema() -> bool {
                    true
                }
                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!({ "type": "string", "format": $words })
                }
            }
        )+
    };
}

kinds! {
    /// The name of a party.
    PartyName, PARTY, "the name of a party";
    /// The name of a party or of a group of parties.
    PartyOrGroup, PARTY_OR_GROUP, "the name of a party or a group";
    /// The name of a group of parties.
    GroupName, GROUP, "the name of a group";
    /// The name of a series.
    SeriesName, SERIES, "the name of a series";
}
