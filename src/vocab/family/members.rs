//! The members of a family by their names: how each is read, written and explained.

use super::held::Held;
use crate::vocab::value::{self, Part, Read, ReadError, Reader};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Deserializer};
use serde::{Serialize, Serializer};
use std::any::{Any, TypeId};
use std::fmt;
use std::sync::OnceLock;
use thiserror::Error;

/// A family: a set of alternatives that programs add to, such as all latencies.
pub trait Family: Sized + 'static {
    /// Name of the type that holds a member.
    const NAME: &'static str;

    /// What a user calls it ("latency").
    const WORDS: &'static str;

    /// What it is, in sentences.
    const ABOUT: &'static str;

    /// The members that come with the library.
    fn standard() -> Members<Self>;

    /// Where the members of this process are kept.
    #[doc(hidden)]
    fn place() -> &'static OnceLock<Members<Self>>;

    /// The member that is held.
    #[doc(hidden)]
    fn held(&self) -> &dyn Held;
}

/// A member that cannot be added, or not any more.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberError {
    /// Two members of one name.
    #[error("the family {family} has a member `{name}` already: give {added} another name")]
    NameTaken {
        /// The family.
        family: &'static str,
        /// The name.
        name: &'static str,
        /// The type that was to have it.
        added: &'static str,
    },
    /// One type under two names.
    #[error("{added} is `{name}` of the family {family} already: one type has one name")]
    TypeTaken {
        /// The family.
        family: &'static str,
        /// The name that it has.
        name: &'static str,
        /// The type.
        added: &'static str,
    },
    /// A name that no scenario could write.
    #[error("`{name}` is no name: expected a letter, and then letters, digits and _")]
    BadName {
        /// The name.
        name: &'static str,
    },
    /// The process has members already, others than these.
    #[error(
        "the members of the family {family} are settled already: install a catalogue once, before the first scenario is \
         read or a member's name is asked for"
    )]
    Settled {
        /// The family.
        family: &'static str,
    },
}

/// Refuses a name that no scenario could write.
///
/// # Errors
/// [`MemberError::BadName`].
pub fn check_name(name: &'static str) -> Result<(), MemberError> {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic());
    let fits = begins && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if fits { Ok(()) } else { Err(MemberError::BadName { name }) }
}

/// One member of a family.
pub struct Entry<M> {
    name: &'static str,
    about: &'static str,
    kind: TypeId,
    type_name: &'static str,
    read: fn(Reader<'_>) -> Result<M, ReadError>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl<M> Clone for Entry<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Entry<M> {}

impl<M> fmt::Debug for Entry<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("name", &self.name)
            .field("type", &self.type_name)
            .finish_non_exhaustive()
    }
}

/// The members of a family, in the order in which they were added.
pub struct Members<M> {
    entries: Vec<Entry<M>>,
    names: Vec<&'static str>,
    /// How many come with the library.
    standard: usize,
}

impl<M> Clone for Members<M> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), names: self.names.clone(), standard: self.standard }
    }
}

impl<M> fmt::Debug for Members<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.names).finish()
    }
}

impl<M> PartialEq for Members<M> {
    /// Whether the same names mean the same types.
    fn eq(&self, other: &Self) -> bool {
        let known = |members: &Self| -> Vec<_> {
            members.entries.iter().map(|entry| (entry.name, entry.kind)).collect()
        };
        known(self) == known(other)
    }
}

impl<M: Family> Members<M> {
    /// No member yet.
    #[must_use]
    pub fn none() -> Self {
        Self { entries: Vec::new(), names: Vec::new(), standard: 0 }
    }

    /// Adds a type under a name. `about` says what it is, where its own documentation does not.
    ///
    /// # Errors
    /// [`MemberError`]: a name or a type that is there already, or a name that cannot be written.
    pub fn add<T: DeserializeOwned + JsonSchema + 'static>(
        &mut self,
        name: &'static str,
        about: &'static str,
    ) -> Result<(), MemberError>
    where
        M: From<T>,
    {
        let added = std::any::type_name::<T>();
        check_name(name)?;
        if self.names.contains(&name) {
            return Err(MemberError::NameTaken { family: M::WORDS, name, added });
        }
        let kind = TypeId::of::<T>();
        if let Some(entry) = self.entries.iter().find(|entry| entry.kind == kind) {
            return Err(MemberError::TypeTaken { family: M::WORDS, name: entry.name, added });
        }
        self.names.push(name);
        self.entries.push(Entry {
            name,
            about,
            kind,
            type_name: added,
            read: |from| T::deserialize(from).map(M::from),
            schema: |generator| generator.subschema_for::<T>(),
        });
        Ok(())
    }

    /// All that are there come with the library; what is added from now on is a program's own.
    #[must_use]
    pub fn as_standard(mut self) -> Self {
        self.standard = self.entries.len();
        self
    }

    /// The names, in order.
    #[must_use]
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Names and types of the members that do not come with the library.
    pub fn own(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        self.entries[self.standard..].iter().map(|entry| (entry.name, entry.type_name))
    }

    /// The members of this process: those that were installed, or the library's.
    #[must_use]
    pub fn installed() -> &'static Self {
        M::place().get_or_init(M::standard)
    }

    /// Makes these the members of this process, once and for all.
    ///
    /// # Errors
    /// [`MemberError::Settled`] if others are so already, since they were installed or asked for.
    pub fn install(self) -> Result<(), MemberError> {
        let settled = M::place().get_or_init(|| self.clone());
        if *settled == self { Ok(()) } else { Err(MemberError::Settled { family: M::WORDS }) }
    }

    fn of(&self, kind: TypeId) -> Option<(usize, &Entry<M>)> {
        self.entries.iter().enumerate().find(|(_, entry)| entry.kind == kind)
    }
}

/// The name of the member that is held: the one that scenarios write, or else its type's.
pub fn name<M: Family>(family: &M) -> &'static str {
    placed(family).1
}

fn placed<M: Family>(family: &M) -> (usize, &'static str) {
    let held = family.held();
    match Members::<M>::installed().of(held.type_id()) {
        Some((place, entry)) => (place, entry.name),
        None => (usize::MAX, short(held.type_name())),
    }
}

/// The last part of a type's path.
fn short(path: &'static str) -> &'static str {
    let plain = path.split('<').next().unwrap_or(path);
    plain.rsplit("::").next().unwrap_or(plain)
}

/// Writes a member below its name, as serde writes a variant of an enum.
///
/// # Errors
/// Of the format.
pub fn write<M: Family, S: Serializer>(family: &M, serializer: S) -> Result<S::Ok, S::Error> {
    let (place, name) = placed(family);
    let place = u32::try_from(place).unwrap_or(u32::MAX);
    serializer.serialize_newtype_variant(M::NAME, place, name, &Written(family.held()))
}

/// What is held, written as its own type says.
struct Written<'a>(&'a dyn Held);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        erased_serde::serialize(self.0.written(), serializer)
    }
}

/// Reads a name and the member of that name, as serde reads a variant of an enum.
///
/// # Errors
/// Of the format; an unknown name is its error for unknown variants. Formats that do not describe themselves cannot be read.
pub fn read<'de, M: Family, D: Deserializer<'de>>(deserializer: D) -> Result<M, D::Error> {
    let read: Read = |part| read_member::<M>(part).map(|member| Box::new(member) as Box<dyn Any>);
    value::read(read, deserializer)
}

fn read_member<M: Family>(part: Part<'_>) -> Result<M, ReadError> {
    let members = Members::<M>::installed();
    let find = |name: &str| members.entries.iter().find(|entry| entry.name == name).map(|entry| entry.read);
    Reader::from(part).member(find, members.names())
}

/// The schema of a family: one of its members, each below its name.
pub fn schema<M: Family>(generator: &mut SchemaGenerator) -> Schema {
    let members = Members::<M>::installed();
    let each = members.entries.iter().map(|entry| {
        let mut variant = json_schema!({
            "type": "object",
            "properties": { entry.name: (entry.schema)(generator) },
            "additionalProperties": false,
            "required": [entry.name],
        });
        if let Some(about) = paragraph(entry.about) {
            variant.insert("description".to_owned(), about.into());
        }
        variant
    });
    let each: Vec<Schema> = each.collect();
    let mut schema = json_schema!({ "oneOf": each });
    if let Some(about) = paragraph(M::ABOUT) {
        schema.insert("description".to_owned(), about.into());
    }
    schema
}

/// Lines of a doc comment as one text; none if there is nothing.
fn paragraph(lines: &str) -> Option<String> {
    let text: Vec<&str> =
        lines.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
    let text = text.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}
