//! The scenario language: RON text (or JSON, which is converted to RON) that is checked completely before anything runs.
//!
//! ```text
//! text -> Document -> overrides -> Each -> cells -> Draft (typed) -> Scenario (checked)
//! ```
//! Overrides and `Each` are applied by replacing spans of the text. The origin of every byte is recorded. An error inside a
//! value of an `Each` therefore points at that value, and an error inside an override quotes the override.

mod account;
mod account_file;
mod named_programs;
mod axis;
mod box_domain;
mod catalogue;
mod checked;
mod checked_cells;
mod demand;
mod dependence;
mod diagnostic;
mod document;
mod draft;
mod each;
pub mod editing;
mod faults;
mod field_at;
pub mod fork;
mod layout;
mod limits;
mod loaded_network;
mod names;
mod nesting;
mod notation;
mod own_members;
mod parse;
mod placed_problem;
mod printable;
mod ranges;
mod schema;
mod shape;
mod special_files;
mod suggest;
mod sweep;
mod tokens;
mod tree;
mod differing_values;

pub use account::Account;
pub use axis::VariedValue;
pub use catalogue::{Family, Field, Member, families, parts};
pub use checked::Scenario;
pub use demand::Demand;
pub use diagnostic::{Diagnostic, Diagnostics, Place};
pub use document::{Cell, Document};
pub use draft::{Draft, ForkDraft, Metric, PartyDraft, PrivacyDraft, Published, PublishedLoss};
pub(crate) use limits::MAX_REPLICATIONS;
pub use named_programs::{programs_in, programs_in_text};
pub(crate) use names::invalid_name;
pub use own_members::{OwnMember, own_members};
pub use parse::part;
pub(crate) use printable::printable;
pub use schema::schema;
pub(crate) use suggest::closest;

use ron::extensions::Extensions;

/// RON extensions that let a scenario leave out the inner brackets of a newtype variant, and `Some`.
const EXTENSIONS: Extensions = Extensions::UNWRAP_VARIANT_NEWTYPES.union(Extensions::IMPLICIT_SOME);
