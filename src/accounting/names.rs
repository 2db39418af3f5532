//! The registry of accountants, the library's and those that a program adds: their names in files and in scenarios.

use super::Accountant;
use crate::vocab::family::{MemberError, check_name};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, EnumAccess, VariantAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// The word for accountants in error messages that name a family.
const FAMILY: &str = "accountant";

/// Largest number of accountants of a process: their indices are stored in a byte.
const MOST: usize = 250;

/// The name used for claimed epsilons, which no accountant computed.
const AS_PUBLISHED: &str = "as published";

/// The accountants of this process, in order.
static ACCOUNTANTS: OnceLock<Accountants> = OnceLock::new();

/// One accountant.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Its name in a budget ("Tight").
    name: &'static str,
    about: &'static str,
    /// The path of the accountant's type.
    kind: &'static str,
    accountant: &'static dyn Accountant,
}

/// Accountants in the order in which reports show them. The first is the main one, which budgets use by default.
#[derive(Clone, Debug, Default)]
pub struct Accountants {
    entries: Vec<Entry>,
    /// Names, as a budget writes them, of the accountants that compute upper bounds.
    bounds: Vec<&'static str>,
    standard: usize,
}

impl Accountants {
    /// Adds an accountant. A budget may use it unless it is an approximation.
    ///
    /// # Errors
    /// [`MemberError`] if `name` (the name for scenarios) or [`Accountant::name`] (the name for files) is used already, if
    /// `name` is not a valid identifier, or if there are too many accountants.
    pub fn add<T: Accountant + Default + 'static>(
        &mut self,
        name: &'static str,
        about: &'static str,
    ) -> Result<(), MemberError> {
        check_name(name)?;
        let accountant: &'static dyn Accountant = Box::leak(Box::new(T::default()));
        let word = accountant.name();
        let taken = |entry: &Entry| entry.name == name || entry.accountant.name() == word;
        let added = std::any::type_name::<T>();
        if let Some(entry) = self.entries.iter().find(|entry| taken(entry)) {
            return Err(MemberError::NameTaken { family: FAMILY, name: entry.name, added });
        }
        if word == AS_PUBLISHED {
            return Err(MemberError::NameTaken { family: FAMILY, name: word, added });
        }
        if self.entries.len() >= MOST {
            return Err(MemberError::Full { family: FAMILY, most: MOST, added });
        }
        if !accountant.is_approximation() {
            self.bounds.push(name);
        }
        self.entries.push(Entry { name, about, kind: added, accountant });
        Ok(())
    }

    /// Marks all accountants added so far as the library's.
    #[must_use]
    pub(super) fn settled(mut self) -> Self {
        self.standard = self.entries.len();
        self
    }

    /// The names in scenarios and the types of the accountants that are not the library's.
    pub fn own(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        self.entries[self.standard..].iter().map(|entry| (entry.name, entry.kind))
    }

    /// The accountants of this process: the installed ones, or else the library's.
    #[must_use]
    pub fn installed() -> &'static Self {
        ACCOUNTANTS.get_or_init(Self::standard)
    }

    /// Makes these the accountants of this process. This cannot be changed later.
    ///
    /// # Errors
    /// [`MemberError::Settled`] if other accountants were installed or used before.
    pub fn install(self) -> Result<(), MemberError> {
        let settled = ACCOUNTANTS.get_or_init(|| self.clone());
        let members = |of: &Self| of.entries.iter().map(|entry| (entry.name, entry.kind)).collect::<Vec<_>>();
        if members(settled) == members(&self) { Ok(()) } else { Err(MemberError::Settled { family: FAMILY }) }
    }
}

/// The source of an epsilon: an accountant, or a claim.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountantName(u8);

impl AccountantName {
    pub(super) const fn at(place: u8) -> Self {
        Self(place)
    }

    /// Every accountant; the first is the main one.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=Accountants::installed().entries.len()).map(|place| Self(place as u8))
    }

    /// The accountant of this name; `None` for a claim.
    #[must_use]
    pub fn accountant(self) -> Option<&'static dyn Accountant> {
        let place = usize::from(self.0).checked_sub(1)?;
        Accountants::installed().entries.get(place).map(|entry| entry.accountant)
    }

    /// The name in files and tables ("tight").
    #[must_use]
    pub fn words(self) -> &'static str {
        self.accountant().map_or(AS_PUBLISHED, |accountant| accountant.name())
    }
}

impl fmt::Debug for AccountantName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

impl fmt::Display for AccountantName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

impl Serialize for AccountantName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit_variant("AccountantName", u32::from(self.0), self.words())
    }
}

impl<'de> Deserialize<'de> for AccountantName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word: Cow<'de, str> = Cow::deserialize(deserializer)?;
        let found = [Self(0)].into_iter().chain(Self::all()).find(|name| name.words() == word);
        found.ok_or_else(|| {
            de::Error::custom(format_args!("this program has no accountant called \"{word}\""))
        })
    }
}

/// The accountant that a budget uses. Only upper bounds are offered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BudgetAccountant(u8);

impl BudgetAccountant {
    pub(super) const fn at(place: u8) -> Self {
        Self(place)
    }

    fn entry(self) -> &'static Entry {
        &Accountants::installed().entries[usize::from(self.0) - 1]
    }

    /// The accountant itself.
    #[must_use]
    pub fn as_dyn(self) -> &'static dyn Accountant {
        self.entry().accountant
    }
}

impl Default for BudgetAccountant {
    /// The main accountant.
    fn default() -> Self {
        Self(1)
    }
}

impl fmt::Debug for BudgetAccountant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().name)
    }
}

impl Serialize for BudgetAccountant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit_variant("BudgetAccountant", u32::from(self.0) - 1, self.entry().name)
    }
}

impl<'de> Deserialize<'de> for BudgetAccountant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("BudgetAccountant", &Accountants::installed().bounds, Choice)
    }
}

struct Choice;

impl<'de> Visitor<'de> for Choice {
    type Value = BudgetAccountant;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enum BudgetAccountant")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<BudgetAccountant, A::Error> {
        let (named, content) = from.variant::<Named>()?;
        content.unit_variant()?;
        Ok(named.0)
    }
}

/// An accountant for budgets, parsed from its name in a scenario.
struct Named(BudgetAccountant);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(Name).map(Self)
    }
}

struct Name;

impl Visitor<'_> for Name {
    type Value = BudgetAccountant;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("variant identifier")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<BudgetAccountant, E> {
        let known = Accountants::installed();
        let wanted = |entry: &Entry| entry.name == name && !entry.accountant.is_approximation();
        let place = known.entries.iter().position(wanted);
        place
            .map(|place| BudgetAccountant(place as u8 + 1))
            .ok_or_else(|| E::unknown_variant(name, &known.bounds))
    }
}

impl JsonSchema for BudgetAccountant {
    fn schema_name() -> Cow<'static, str> {
        "BudgetAccountant".into()
    }

    fn schema_id() -> Cow<'static, str> {
        concat!(module_path!(), "::BudgetAccountant").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let bounds =
            Accountants::installed().entries.iter().filter(|entry| !entry.accountant.is_approximation());
        let each: Vec<Schema> = bounds
            .map(|entry| {
                let about = if entry.about.is_empty() { entry.accountant.about() } else { entry.about };
                json_schema!({ "description": about.trim(), "type": "string", "const": entry.name })
            })
            .collect();
        json_schema!({
            "description": "The accountant that a budget uses. Only upper bounds are offered.",
            "oneOf": each,
        })
    }
}

/// Every accountant; the first is the main one.
#[must_use]
pub fn all() -> Vec<&'static dyn Accountant> {
    Accountants::installed().entries.iter().map(|entry| entry.accountant).collect()
}

/// Declares the library's accountants once: the order in which they are added, and constants for their names.
macro_rules! accountants {
    (bounds { $($(#[doc = $doc:literal])* $bound:ident,)+ } comparisons { $($other:ident,)* }) => {
        impl Accountants {
            /// The library's accountants.
            #[must_use]
            pub fn standard() -> Self {
                let mut all = Self::default();
                $(all.add::<$bound>(stringify!($bound), concat!($($doc),*)).expect("the names of a declaration differ");)+
                $(all.add::<$other>(stringify!($other), "").expect("the names of a declaration differ");)*
                all.settled()
            }
        }

        /// Positions of the accountants in the declaration, from 1; 0 stands for a claim.
        #[repr(u8)]
        enum Place {
            Claimed,
            $($bound,)+
            $($other,)*
        }

        #[allow(missing_docs, reason = "the accountant's own type carries the documentation")]
        #[expect(non_upper_case_globals, reason = "named as the accountants' types are")]
        impl AccountantName {
            /// No accountant: the total epsilon of the claims that papers or users make.
            pub const AsPublished: Self = Self::at(Place::Claimed as u8);
            $(pub const $bound: Self = Self::at(Place::$bound as u8);)+
            $(pub const $other: Self = Self::at(Place::$other as u8);)*
        }

        #[allow(missing_docs, reason = "the accountant's own type carries the documentation")]
        #[expect(non_upper_case_globals, reason = "named as the accountants' types are")]
        impl BudgetAccountant {
            $(pub const $bound: Self = Self::at(Place::$bound as u8);)+
        }
    };
}

pub(super) use accountants;
