//! A chart as a file of its own: white ground, title and legend inside, nothing outside needed.

use super::draw::{HEIGHT, WIDTH, draw};
use super::palette::{COLOURS, dashes};
use super::{Chart, Kind};
use maud::{PreEscaped, html};

/// Height of the title.
const TITLE: u32 = 56;
/// Height of one line of the legend.
const ENTRY: u32 = 36;
/// About the width of a letter of the legend.
const LETTER: u32 = 13;

/// The chart as an SVG document.
#[must_use]
pub fn standalone(chart: &Chart) -> String {
    let drawn = draw(chart);
    let rows = arranged(&chart.legend);
    let height = TITLE + HEIGHT + ENTRY * rows.len() as u32 + 20;
    let legend = rows.iter().enumerate().flat_map(|(row, entries)| {
        let y = TITLE + HEIGHT + 24 + ENTRY * row as u32;
        entries.iter().map(move |&(key, x)| (key, x, y))
    });
    let colour = |key: usize| {
        let plotters::style::RGBColor(r, g, b) = COLOURS[key % COLOURS.len()];
        format!("#{r:02X}{g:02X}{b:02X}")
    };
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height)
            viewBox=(format!("0 0 {WIDTH} {height}")) font-family="sans-serif" {
            title { (chart.title) }
            rect width=(WIDTH) height=(height) fill="#FFFFFF" {}
            text x=(WIDTH / 2) y="38" font-size="30" text-anchor="middle" { (chart.title) }
            g transform=(format!("translate(0 {TITLE})")) {
                g { (PreEscaped(&drawn.frame)) }
                @for (line, drawn) in chart.lines.iter().zip(&drawn.lines) {
                    // Error bars and marks are drawn whole; only a line says by its dashes whose it is.
                    @let pattern = if line.kind == Kind::Band { dashes(line.key) } else { "none" };
                    g stroke-dasharray=(pattern) { (PreEscaped(&drawn.svg)) }
                }
            }
            @for (key, x, y) in legend {
                line x1=(x) y1=(y) x2=(x + 56) y2=(y) stroke=(colour(key)) stroke-width="5"
                    stroke-dasharray=(dashes(key)) {}
                text x=(x + 68) y=(y + 8) font-size="24" { (chart.legend[key]) }
            }
        }
    };
    markup.into_string()
}

/// Legend entries by line: which, and where it begins.
fn arranged(legend: &[String]) -> Vec<Vec<(usize, u32)>> {
    let mut rows: Vec<Vec<(usize, u32)>> = Vec::new();
    let mut x = 0;
    for (key, name) in legend.iter().enumerate() {
        let width = 68 + LETTER * name.chars().count() as u32 + 36;
        if rows.is_empty() || x + width > WIDTH {
            rows.push(Vec::new());
            x = 40;
        }
        if let Some(row) = rows.last_mut() {
            row.push((key, x));
        }
        x += width;
    }
    rows
}
