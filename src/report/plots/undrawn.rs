//! PNG and PDF in a program that was built without them: a refusal that says how to get them.

use super::no_picture::NoPicture;

/// Refuses to draw a PNG.
///
/// # Errors
/// [`NoPicture::NotBuilt`].
pub fn png(_: &str) -> Result<Vec<u8>, NoPicture> {
    Err(NoPicture::NotBuilt)
}

/// Refuses to draw a PNG at a given scale.
///
/// # Errors
/// [`NoPicture::NotBuilt`].
pub fn png_at(_: &str, _: f32) -> Result<Vec<u8>, NoPicture> {
    Err(NoPicture::NotBuilt)
}

/// Refuses to draw a PDF.
///
/// # Errors
/// [`NoPicture::NotBuilt`].
pub fn pdf(_: &str) -> Result<Vec<u8>, NoPicture> {
    Err(NoPicture::NotBuilt)
}
