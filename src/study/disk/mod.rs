//! The run folder: files that are complete or absent, records with checksums, the manifest.

pub(in crate::study) mod error;
pub mod files;
pub(in crate::study) mod folder;
pub(in crate::study) mod manifest;
pub(in crate::study) mod first_messages;
pub(in crate::study) mod prepare;
pub(in crate::study) mod record;
pub(in crate::study) mod store;
