//! An SVG document as a PNG picture, with a font of the machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::fmt;
use std::sync::Arc;

/// Pixels per unit of the document: sharp on paper too.
const SCALE: f32 = 2.0;
/// Fonts that are preferred, in this order.
const FONTS: [&str; 6] = ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica", "Verdana"];

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPicture {
    /// The machine has no font, and a chart without labels is useless.
    NoFont,
    /// The document cannot be drawn.
    Document(String),
}

impl fmt::Display for NoPicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFont => {
                write!(f, "no font is installed (install one, such as DejaVu Sans, or use --svg)")
            }
            Self::Document(reason) => write!(f, "{reason} (use --svg)"),
        }
    }
}

impl std::error::Error for NoPicture {}

/// Draws an SVG document.
///
/// # Errors
/// [`NoPicture`].
pub fn png(svg: &str) -> Result<Vec<u8>, NoPicture> {
    let mut fonts = fontdb::Database::new();
    fonts.load_system_fonts();
    let families = || fonts.faces().flat_map(|face| face.families.iter().map(|(name, _)| name.as_str()));
    let liked = FONTS.into_iter().find(|font| families().any(|family| family == *font));
    let font = liked.or_else(|| families().next()).ok_or(NoPicture::NoFont)?.to_owned();
    fonts.set_sans_serif_family(font);
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let refuse = |reason: &dyn fmt::Display| NoPicture::Document(reason.to_string());
    let tree = Tree::from_str(svg, &options).map_err(|error| refuse(&error))?;
    let size =
        tree.size().to_int_size().scale_by(SCALE).ok_or_else(|| refuse(&"the document has no size"))?;
    let mut picture =
        Pixmap::new(size.width(), size.height()).ok_or_else(|| refuse(&"too large a picture"))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    picture.encode_png().map_err(|error| refuse(&error))
}
