//! The run folder. Records, and answers of user programs, are lines with checksums that are appended to files; the manifest
//! and other files are written completely or not at all (`files`).

pub(in crate::study) mod answers;
pub(in crate::study) mod error;
pub mod files;
pub(in crate::study) mod folder;
#[cfg(feature = "sign")]
mod hashes;
pub(in crate::study) mod manifest;
pub(in crate::study) mod first_messages;
pub(in crate::study) mod packed;
pub(in crate::study) mod prepare;
pub(in crate::study) mod record;
mod record_lines;
pub(in crate::study) mod segment;
pub(in crate::study) mod sign_error;
#[cfg(feature = "sign")]
pub(in crate::study) mod signature;
pub(in crate::study) mod signed;
pub(in crate::study) mod store;
#[cfg(not(feature = "sign"))]
pub(in crate::study) mod unsigned;
