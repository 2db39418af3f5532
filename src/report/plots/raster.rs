//! An SVG document as a PNG picture, with an installed font.

use super::picture_error::PictureError;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::fmt;
use std::sync::Arc;

/// Default number of pixels per unit of the document; with this number, a picture is sharp on paper too.
const SCALE: f32 = 2.0;
/// Preferred fonts, in this order.
const FONTS: [&str; 6] = ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica", "Verdana"];

/// Draws an SVG document as PNG at twice its own size.
///
/// # Errors
/// [`PictureError`] if no font is installed, or the document cannot be drawn.
pub fn png(svg: &str) -> Result<Vec<u8>, PictureError> {
    png_at(svg, SCALE)
}

/// Draws an SVG document as PNG. One pixel of the document is `scale` pixels wide and high in the PNG; 96 pixels of the
/// document are an inch on paper.
///
/// # Errors
/// [`PictureError`] if no font is installed, or the document cannot be drawn at this size.
pub fn png_at(svg: &str, scale: f32) -> Result<Vec<u8>, PictureError> {
    let tree = tree(svg)?;
    let refuse = |reason: &dyn fmt::Display| PictureError::Document(reason.to_string());
    let size =
        tree.size().to_int_size().scale_by(scale).ok_or_else(|| refuse(&"the document has no size"))?;
    let mut picture =
        Pixmap::new(size.width(), size.height()).ok_or_else(|| refuse(&"the picture is too large"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().map_err(|error| refuse(&error))
}

/// The parsed document, with its text laid out in an installed font.
pub(super) fn tree(svg: &str) -> Result<Tree, PictureError> {
    let mut fonts = fontdb::Database::new();
    fonts.load_system_fonts();
    let families = || fonts.faces().flat_map(|face| face.families.iter().map(|(name, _)| name.as_str()));
    let liked = FONTS.into_iter().find(|font| families().any(|family| family == *font));
    let font = liked.or_else(|| families().next()).ok_or(PictureError::NoFont)?.to_owned();
    fonts.set_sans_serif_family(font);
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| PictureError::Document(error.to_string()))
}
