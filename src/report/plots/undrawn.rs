//! PNG and PDF in a program that was built without them: a refusal that says how to get them.

use super::no_picture::NoPicture;

/// No PNG.
///
/// # Errors
/// [`NoPicture::NotBuilt`].
pub fn png(_: &str) -> Result<Vec<u8>, NoPicture> {
    Err(NoPicture::NotBuilt)
}

/// No PNG at a number of pixels for each of the document's own.
///
/// # Errors
/// [`NoPicture::NotBuilt`].
pub fn png_at(_: &str, _: f32) -> Result<Vec<u8>, NoPicture> {
    Err(NoPicture::NotBuilt)
}

/// No PDF.
///
/// # Errors
/// [`NoPicture::NotBuilt`].
pub fn pdf(_: &str) -> Result<Vec<u8>, NoPicture> {
    Err(NoPicture::NotBuilt)
}
