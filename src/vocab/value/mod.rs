//! Values before they have a type, and one reader that gives them one.
//!
//! A scenario's text becomes a tree of [`Node`]s that know their place in the text; a record's JSON becomes the same tree. Types
//! are read from the tree by [`Reader`], the only deserializer for which members of families are compiled.

mod access;
mod entry;
mod error;
mod foreign;
mod handing;
mod literal;
mod node;
mod reader;
mod slot;

pub use error::{Fault, ReadError};
pub(crate) use handing::read;
pub use node::{Body, Entry, Key, Node, Number, Part, Scalar, Step};
pub use reader::Reader;
pub(crate) use slot::Read;
