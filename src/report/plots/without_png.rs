//! For a program that was built without PNG and PDF: functions that refuse to draw a PNG or PDF, with an error that says
//! how to build the program with both.

use super::picture_error::PictureError;

/// Refuses to draw a PNG.
///
/// # Errors
/// [`PictureError::NotBuilt`].
pub fn png(_: &str) -> Result<Vec<u8>, PictureError> {
    Err(PictureError::NotBuilt)
}

/// Refuses to draw a PNG at a given scale.
///
/// # Errors
/// [`PictureError::NotBuilt`].
pub fn png_at(_: &str, _: f32) -> Result<Vec<u8>, PictureError> {
    Err(PictureError::NotBuilt)
}

/// Refuses to draw a PDF.
///
/// # Errors
/// [`PictureError::NotBuilt`].
pub fn pdf(_: &str) -> Result<Vec<u8>, PictureError> {
    Err(PictureError::NotBuilt)
}
