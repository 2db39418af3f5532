//! Charts, as plain data and drawn as SVG or PNG, and message-sequence diagrams as SVG.

mod axis;
mod chart;
mod draw;
mod file;
mod no_picture;
#[cfg(feature = "png")]
mod page;
mod palette;
#[cfg(feature = "png")]
mod raster;
mod sequence;
#[cfg(not(feature = "png"))]
mod undrawn;

pub use axis::Axis;
pub use chart::{Chart, Kind, Line, Point};
pub use draw::{Drawn, DrawnLine, HEIGHT, WIDTH, draw};
pub use file::{Style, caption, sample, standalone, styled};
pub use no_picture::NoPicture;
#[cfg(feature = "png")]
pub use page::pdf;
pub use palette::{COLOURS, GREY, dashes};
#[cfg(feature = "png")]
pub use raster::{png, png_at};
pub use sequence::{NoSequence, sequence};
pub(super) use sequence::{among_first, drawing};
#[cfg(not(feature = "png"))]
pub use undrawn::{pdf, png, png_at};
