//! The errors of drawing a chart as PNG or PDF; each message says what to do.

use std::fmt;

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PictureError {
    /// The machine has no font, and a chart without labels is useless.
    NoFont,
    /// The SVG document cannot be drawn, for this reason.
    Document(String),
    /// The program was built without the feature `png`.
    NotBuilt,
}

impl fmt::Display for PictureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFont => {
                write!(f, "no font is installed (install one, such as DejaVu Sans, or use --svg)")
            }
            Self::Document(reason) => write!(f, "{reason} (use --svg)"),
            Self::NotBuilt => write!(
                f,
                "this program was built without PNG and PDF (build it with `cargo build --release --features png`, or \
                 write an SVG)"
            ),
        }
    }
}

impl std::error::Error for PictureError {}
