//! The scenario language: RON, checked as a whole before anything runs.
//!
//! ```text
//! text -> Document -> overrides -> Each -> cells -> Draft (typed) -> Scenario (checked)
//! ```
//! Overrides and `Each` edit the text by spans and remember the origin of every byte, so an error inside a value of an
//! `Each` points at that value, and one inside an override names the override.

mod account;
mod account_file;
mod asked;
mod catalogue;
mod checked;
mod diagnostic;
mod document;
mod draft;
mod faults;
pub mod fork;
mod limits;
mod names;
mod nesting;
mod own;
mod parse;
mod printable;
mod ranges;
mod suggest;
mod sweep;
mod tree;

pub use account::Account;
pub use asked::{programs_in, programs_in_text};
pub use catalogue::{Family, Field, Member, families, parts};
pub use checked::Scenario;
pub use diagnostic::{Diagnostic, Diagnostics, Place};
pub use document::{Cell, Document};
pub use draft::{Draft, ForkDraft, Metric, PartyDraft, PrivacyDraft, Published, PublishedLoss};
pub(crate) use limits::MOST_REPLICATIONS;
pub use own::{OwnMember, own_members};
pub use parse::part;
pub(crate) use printable::printable;
pub(crate) use suggest::closest;

use ron::extensions::Extensions;

/// The parts that RON allows one to leave out: brackets around the one value of a variant, and `Some`.
const EXTENSIONS: Extensions = Extensions::UNWRAP_VARIANT_NEWTYPES.union(Extensions::IMPLICIT_SOME);
