//! The accountants by name, in files and in scenarios.

/// Declares the accountants once: their names in files ([`AccountantName`](super::AccountantName)), those that a budget
/// may trust ([`BudgetAccountant`](super::BudgetAccountant), bounds only) and the list of all.
macro_rules! accountants {
    (bounds { $($(#[$doc:meta])* $bound:ident,)+ } comparisons { $($other:ident,)* }) => {
        /// Where a figure is from: an accountant, or the papers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[allow(missing_docs, reason = "the accountant's own type carries the documentation")]
        pub enum AccountantName {
            /// No accountant: what is claimed, added up as papers do.
            #[serde(rename = "as published")]
            AsPublished,
            $($bound,)+
            $($other,)*
        }

        impl AccountantName {
            /// Every accountant; the first is the one to quote.
            pub const ALL: [Self; [$(stringify!($bound),)+ $(stringify!($other),)*].len()] =
                [$(Self::$bound,)+ $(Self::$other,)*];

            /// The accountant of this name; none for what is claimed.
            #[must_use]
            pub fn accountant(self) -> Option<&'static dyn Accountant> {
                match self {
                    Self::AsPublished => None,
                    $(Self::$bound => Some(&$bound),)+
                    $(Self::$other => Some(&$other),)*
                }
            }

            /// As files and tables write it ("tight").
            #[must_use]
            pub fn words(self) -> &'static str {
                self.accountant().map_or("as published", |accountant| accountant.name())
            }
        }

        impl std::fmt::Display for AccountantName {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.words())
            }
        }

        /// The accountant that a budget uses. Only upper bounds are offered.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum BudgetAccountant {
            $($(#[$doc])* $bound,)+
        }

        impl BudgetAccountant {
            /// The accountant itself.
            #[must_use]
            pub fn as_dyn(self) -> &'static dyn Accountant {
                match self {
                    $(Self::$bound => &$bound,)+
                }
            }
        }

        /// Every accountant, the one to quote first.
        #[must_use]
        pub fn all() -> [&'static dyn Accountant; AccountantName::ALL.len()] {
            [$(&$bound,)+ $(&$other,)*]
        }
    };
}

pub(super) use accountants;
