//! The members of a family by name, with the functions that read, write and describe them.

use super::member_object::MemberObject;
use crate::vocab::value::{self, Part, Read, ReadError, Reader};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Deserializer};
use serde::{Serialize, Serializer};
use std::any::{Any, TypeId};
use std::fmt;
use std::sync::OnceLock;
use thiserror::Error;

/// A family: a set of alternatives, such as all latencies, to which programs can add members.
pub trait Family: Sized + 'static {
    /// Name of the type that holds a member.
    const NAME: &'static str;

    /// Name of the family for users ("latency").
    const WORDS: &'static str;

    /// Description of the family.
    const ABOUT: &'static str;

    /// The members that come with the library.
    fn standard() -> Members<Self>;

    /// The global variable with the members of this process.
    #[doc(hidden)]
    fn place() -> &'static OnceLock<Members<Self>>;

    /// The member inside this value.
    #[doc(hidden)]
    fn held(&self) -> &dyn MemberObject;
}

/// Why a member cannot be added, or members cannot be installed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberError {
    /// The family has a member with this name.
    #[error("the family {family} has a member `{name}` already: give {added} another name")]
    NameTaken {
        /// The family.
        family: &'static str,
        /// The name.
        name: &'static str,
        /// The type that was added under this name.
        added: &'static str,
    },
    /// The type is a member already, under another name.
    #[error("the type {added} is already the member `{name}` of the family {family}: one type has one name")]
    TypeTaken {
        /// The family.
        family: &'static str,
        /// The name under which the type is a member already.
        name: &'static str,
        /// The type.
        added: &'static str,
    },
    /// The family has as many members as it can have.
    #[error("the family {family} has {most} members, and can have no more: {added} is one too many")]
    Full {
        /// The family.
        family: &'static str,
        /// How many it can have.
        most: usize,
        /// The type that was added.
        added: &'static str,
    },
    /// The name cannot be written in a scenario.
    #[error("`{name}` is not a valid name: expected a letter, and then letters, digits and _")]
    BadName {
        /// The name.
        name: &'static str,
    },
    /// This process uses other members of the family already.
    #[error(
        "the members of the family {family} can no longer be changed: install a catalogue once, before the first scenario \
         is read and before the name of a member is used"
    )]
    Settled {
        /// The family.
        family: &'static str,
    },
}

/// Refuses a name that cannot be written in a scenario.
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
    /// Number of members of the library; they come first.
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
    /// Whether both have the same names with the same types, in the same order.
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

    /// Adds a type under a name. `about` describes the member, unless the type is a struct with a description of its own.
    ///
    /// # Errors
    /// [`MemberError`]: the name or the type has been added before, or the name cannot be written in a scenario.
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

    /// Marks all present members as the library's; members added later are the program's own.
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

    /// Makes these the members of this process; they cannot be changed afterwards.
    ///
    /// # Errors
    /// [`MemberError::Settled`] if this process already uses other members: because they were installed, or because the
    /// standard members have been used.
    pub fn install(self) -> Result<(), MemberError> {
        let settled = M::place().get_or_init(|| self.clone());
        if *settled == self { Ok(()) } else { Err(MemberError::Settled { family: M::WORDS }) }
    }

    fn of(&self, kind: TypeId) -> Option<(usize, &Entry<M>)> {
        self.entries.iter().enumerate().find(|(_, entry)| entry.kind == kind)
    }
}

/// The name of a member in scenarios, or the name of its type if it was not added to the family.
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

/// Serialises a member as a newtype variant: its name and its fields.
///
/// # Errors
/// Those of the serializer.
pub fn write<M: Family, S: Serializer>(family: &M, serializer: S) -> Result<S::Ok, S::Error> {
    let (place, name) = placed(family);
    let place = u32::try_from(place).unwrap_or(u32::MAX);
    serializer.serialize_newtype_variant(M::NAME, place, name, &Written(family.held()))
}

/// Serialises a member by the `Serialize` of its own type.
struct Written<'a>(&'a dyn MemberObject);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        erased_serde::serialize(self.0.written(), serializer)
    }
}

/// Deserialises a newtype variant: the name of a member, and the member.
///
/// # Errors
/// Those of the deserializer; for an unknown name, its error for unknown variants. Only self-describing formats can be read.
pub fn read<'de, M: Family, D: Deserializer<'de>>(deserializer: D) -> Result<M, D::Error> {
    let read: Read = |part| read_member::<M>(part).map(|member| Box::new(member) as Box<dyn Any>);
    value::read(read, deserializer)
}

fn read_member<M: Family>(part: Part<'_>) -> Result<M, ReadError> {
    let members = Members::<M>::installed();
    let find = |name: &str| members.entries.iter().find(|entry| entry.name == name).map(|entry| entry.read);
    Reader::from(part).member(find, members.names())
}

/// The schema of a family: an object with exactly one key, the name of a member.
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

/// The lines of a doc comment as one text; `None` if it is empty.
fn paragraph(lines: &str) -> Option<String> {
    let text: Vec<&str> =
        lines.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
    let text = text.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}
