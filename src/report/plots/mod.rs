//! Charts, as plain data and drawn as SVG, PNG or PDF, and message-sequence diagrams as SVG.

mod axis;
mod chart;
mod draw;
mod file;
mod picture_error;
#[cfg(feature = "png")]
mod pdf;
mod palette;
#[cfg(feature = "png")]
mod raster;
mod sequence;
#[cfg(not(feature = "png"))]
mod without_png;

pub use axis::Axis;
pub use chart::{Chart, Kind, Line, Point};
pub use draw::{Drawn, DrawnLine, HEIGHT, WIDTH, draw};
pub use file::{Style, caption, sample, standalone, styled};
pub use palette::{COLOURS, GREY, dashes};
#[cfg(feature = "png")]
pub use pdf::pdf;
pub use picture_error::PictureError;
#[cfg(feature = "png")]
pub use raster::{png, png_at};
pub use sequence::{SequenceError, sequence};
pub(super) use sequence::{among_first, drawing};
#[cfg(not(feature = "png"))]
pub use without_png::{pdf, png, png_at};
