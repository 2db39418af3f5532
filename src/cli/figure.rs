//! Writes a figure of a report to files: SVG, PNG, PDF, and a text file for its caption.

use super::exit::Exit;
use super::options::ReportArguments;
use super::output::eprint_line;
use crate::report::plots::{Chart, PictureError, Style, caption, pdf, png, png_at, styled};
use crate::study::files;
use std::path::Path;

/// PNG dots per SVG pixel if the figure has a width on paper: 300 dots per inch over 96 SVG pixels per inch.
const DOTS: f32 = 300.0 / 96.0;
/// Default width of a PDF figure in millimetres: the text width of an A4 page.
const TEXT_WIDTH: f64 = 160.0;

/// Whether the arguments request any file.
pub(super) fn is_requested(arguments: &ReportArguments) -> bool {
    files_of(arguments).iter().any(Option::is_some)
}

fn files_of(arguments: &ReportArguments) -> [Option<&Path>; 4] {
    let ReportArguments { svg, png, pdf, caption, .. } = arguments;
    [svg, png, pdf, caption].map(|file| file.as_deref())
}

/// Writes the chart to every requested file.
///
/// # Errors
/// The exit code if a file cannot be drawn or written; an error message has then been printed.
pub(super) fn write(chart: &Chart, arguments: &ReportArguments) -> Result<(), Exit> {
    let style = Style { plain: arguments.plain, width: arguments.width };
    let on_paper = Style { width: style.width.or(Some(TEXT_WIDTH)), ..style };
    let [svg, raster, page, words] = files_of(arguments);
    if let Some(file) = svg {
        put(file, styled(chart, style).as_bytes())?;
    }
    if let Some(file) = raster {
        let document = styled(chart, style);
        let drawn = if style.width.is_some() { png_at(&document, DOTS) } else { png(&document) };
        put(file, &drawn.map_err(|reason| undrawn("PNG", &reason))?)?;
    }
    if let Some(file) = page {
        put(file, &pdf(&styled(chart, on_paper)).map_err(|reason| undrawn("PDF", &reason))?)?;
    }
    if let Some(file) = words {
        put(file, format!("{}\n", caption(chart)).as_bytes())?;
    }
    Ok(())
}

fn undrawn(kind: &str, reason: &PictureError) -> Exit {
    eprint_line(format_args!("error: cannot draw the {kind}: {reason}"));
    Exit::Internal
}

fn put(file: &Path, contents: &[u8]) -> Result<(), Exit> {
    files::put(file, contents).map_err(|error| {
        eprint_line(format_args!("error: {error}"));
        Exit::Internal
    })?;
    eprint_line(format_args!("wrote {}", file.display()));
    Ok(())
}
