//! Untyped values as trees, and the deserializer that reads types from them.
//!
//! The text of a scenario is parsed into a tree of [`Node`]s with their places in the text. If a member of a family is
//! written in another format, such as JSON, it is first read into a tree of the same kind. [`Reader`] reads types from the
//! tree, so the code that deserialises members is compiled for this one deserializer only.

mod access;
mod entry;
mod error;
mod foreign;
mod read_function;
mod literal;
mod node;
mod reader;
mod slot;

pub use error::{Fault, ReadError};
pub use node::{Body, Entry, Key, Node, Number, Part, Scalar, Step};
pub(crate) use read_function::read;
pub use reader::Reader;
pub(crate) use slot::Read;
