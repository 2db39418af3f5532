//! Basic types of all modules: ids, virtual time, range-checked numbers, privacy events.
//!
//! Nothing here draws random numbers or opens files.

mod cost;
mod counted;
mod csv_rows;
mod data_folders;
pub mod effort;
pub mod family;
mod input_kind;
mod interruption;
mod law_ranges;
mod memory;
mod name_kinds;
mod number;
mod party;
mod privacy_event;
mod problem;
mod process_id;
mod public_fact;
mod rate;
mod search_box;
mod shell;
mod special_file;
mod threads;
mod time;
mod tree_plan;
pub mod value;

pub use cost::{Cost, CountedCost};
pub use counted::counted;
pub use csv_rows::{CsvRows, NoSuchColumn, NotCsv, is_missing};
pub use data_folders::DataFolders;
pub use effort::Effort;
pub use input_kind::InputKind;
pub use interruption::Interruption;
pub use law_ranges::{extreme_shape, unequal_weights};
pub use memory::{BadMemory, Memory};
pub use name_kinds::{GROUP, GroupName, PARTY, PARTY_OR_GROUP, PartyName, PartyOrGroup, SERIES, SeriesName};
pub use number::{
    AboveOne, Delta, Epsilon, Finite, NonNegative, OutOfRange, Positive, Probability, RepetitionShape,
};
pub use party::PartyId;
pub use privacy_event::{
    Arithmetic, Basis, Claim, Neighbours, Observer, PrivacyEvent, ProtectedUnit, Sampler,
};
pub use problem::{Problem, ProblemKind};
pub use process_id::process_id;
pub use public_fact::{Origin, PublicFact};
pub use rate::{BadRate, Rate};
pub use search_box::SearchBox;
pub(crate) use shell::shell_word;
pub use special_file::is_device_or_pipe;
pub(crate) use threads::{Pending, at_once, both, in_order};
pub use threads::{cores, in_pool};
pub use time::{Span, Time};
pub use tree_plan::TreePlan;
