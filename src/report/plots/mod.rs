//! Charts as SVG: a chart is plain data, so that a page, a file and a test can use it.

mod axis;
mod chart;
mod draw;
mod file;
mod palette;
mod raster;
mod sequence;

pub use axis::Axis;
pub use chart::{Chart, Kind, Line, Point};
pub use draw::{Drawn, DrawnLine, HEIGHT, WIDTH, draw};
pub use file::{sample, standalone};
pub use palette::{COLOURS, GREY, dashes};
pub use raster::{NoPicture, png};
pub use sequence::{NoSequence, sequence};
pub(super) use sequence::{among_first, drawing};
