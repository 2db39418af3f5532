//! For a program that was built without signatures: functions that refuse to sign or to check a signature, with an error
//! that says how to build the program with signatures.

use crate::study::disk::folder::RunFolder;
use crate::study::disk::sign_error::SignError;
use crate::study::disk::signed::Signed;
use std::path::Path;

/// Refuses to sign.
///
/// # Errors
/// [`SignError::NotBuilt`].
pub fn sign(_: &RunFolder, _: &Path, _: &dyn Fn() -> std::io::Result<String>) -> Result<Signed, SignError> {
    Err(SignError::NotBuilt)
}

/// Refuses to check a signature.
///
/// # Errors
/// [`SignError::NotBuilt`].
pub fn signed_by(_: &RunFolder, _: &Path) -> Result<Signed, SignError> {
    Err(SignError::NotBuilt)
}
