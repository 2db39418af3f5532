//! The folder that a run leaves behind: files that are whole or absent, sealed records, the manifest.

pub(in crate::study) mod answers;
pub(in crate::study) mod error;
pub mod files;
pub(in crate::study) mod folder;
pub(in crate::study) mod manifest;
pub(in crate::study) mod first_messages;
pub(in crate::study) mod prepare;
pub(in crate::study) mod record;
pub(in crate::study) mod store;
