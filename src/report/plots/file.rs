//! A chart as a separate SVG file: on a white background, with title, legend and note, without references to other files.

use super::chart::{Chart, Kind};
use super::draw::{HEIGHT, WIDTH, draw};
use super::palette::{COLOURS, GREY};
use maud::{Markup, PreEscaped, html};

/// Height of the title. Heights, font sizes and the width of a character are in the units of the SVG document.
const TITLE: u32 = 56;
/// Largest font size of a title; a title that does not fit at this size has a smaller one.
const TITLE_LETTERS: u32 = 30;
/// Height of one line of the legend.
const ENTRY: u32 = 36;
/// Approximate width of a character of the legend.
const LETTER: u32 = 14;
/// Largest number of characters in a line of the note. The reader's font is unknown, so wide letters are assumed.
const NOTE_WIDTH: usize = 74;
/// Height of a line of the note.
const NOTE: u32 = 26;

/// How a chart is written to a separate file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Style {
    /// Whether title and notes are left out, because a paper has them in its caption.
    pub plain: bool,
    /// Width on paper in millimetres; `None` for the chart's own units, as screens show them.
    pub width: Option<f64>,
}

/// The caption of a chart: its title, how to read it, what lies beyond its axes, and what its bounds assume.
#[must_use]
pub fn caption(chart: &Chart) -> String {
    let parts =
        [chart.title.clone() + ".", chart.note.clone(), chart.beyond.join(". "), chart.caption.clone()];
    let told: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    told.join("\n")
}

/// The chart as an SVG document in the default style, for screens.
#[must_use]
pub fn standalone(chart: &Chart) -> String {
    styled(chart, Style::default())
}

/// The chart as an SVG document in a given style.
#[must_use]
pub fn styled(chart: &Chart, style: Style) -> String {
    let drawn = draw(chart);
    let top = if style.plain { 0 } else { TITLE };
    let columns = columns(&chart.legend);
    let rows = chart.legend.len().div_ceil(columns) as u32;
    let beyond: Vec<String> =
        chart.beyond.iter().flat_map(|text| lines(&format!("\u{2191} {text}"))).collect();
    let note = if style.plain { Vec::new() } else { [beyond, lines(&chart.note)].concat() };
    let below = top + HEIGHT + ENTRY * rows;
    let height = below + NOTE * note.len() as u32 + if note.is_empty() { 12 } else { 24 };
    let size = |units: u32| match style.width {
        Some(millimetres) => format!("{:.2}mm", millimetres * f64::from(units) / f64::from(WIDTH)),
        None => units.to_string(),
    };
    let step = (WIDTH - 40) / columns as u32;
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(size(WIDTH)) height=(size(height))
            viewBox=(format!("0 0 {WIDTH} {height}")) font-family="sans-serif" {
            title { (chart.title) }
            rect width=(WIDTH) height=(height) fill="#FFFFFF" {}
            desc { (caption(chart)) }
            @if !style.plain { text x=(WIDTH / 2) y="38" font-size=(TITLE_LETTERS.min(title_size(&chart.title))) text-anchor="middle" { (chart.title) } }
            g transform=(format!("translate(0 {top})")) {
                g { (PreEscaped(&drawn.frame)) }
                @for (line, drawn) in chart.lines.iter().zip(&drawn.lines) {
                    // Lines with marks, bars or symbols get no dashes. A line of a bound gets dashes by its number
                    // among the bounds, and any other line by its legend entry.
                    g stroke-dasharray=(line.kind.dashes(line.key)) { (PreEscaped(&drawn.svg)) }
                }
            }
            @for (key, name) in chart.legend.iter().enumerate() {
                @let x = 40 + step * (key % columns) as u32;
                @let y = top + HEIGHT + 18 + ENTRY * (key / columns) as u32;
                @let kind = chart.kind(key).unwrap_or(Kind::Band);
                g transform=(format!("translate({x} {})", y - 12)) stroke=(hex(key, kind)) fill=(hex(key, kind)) {
                    (sample(key, kind))
                }
                text x=(x + 68) y=(y + 8) font-size="24" { (name) }
            }
            @for (row, text) in note.iter().enumerate() {
                text x="40" y=(below + 24 + NOTE * row as u32) font-size="20" fill="#58606A" { (text) }
            }
        }
    };
    markup.into_string()
}

/// A sample of a line for a legend, 56 units wide and 24 high. For [`Kind::Marks`] it is the mark, for [`Kind::Bars`] the
/// mark on a line, and for any other kind a line with the dashes of that kind.
#[must_use]
pub fn sample(key: usize, kind: Kind) -> Markup {
    html! {
        @if matches!(kind, Kind::Bars | Kind::Marks) {
            @if kind == Kind::Bars { line x1="0" y1="12" x2="56" y2="12" stroke-width="4" {} }
            @match key % 3 {
                0 => circle cx="28" cy="12" r="8" {},
                1 => polygon points="28,1 38,19 18,19" {},
                _ => rect x="21" y="5" width="14" height="14" {},
            }
        } @else {
            line x1="0" y1="12" x2="56" y2="12" stroke-width="5" stroke-dasharray=(kind.dashes(key)) {}
        }
    }
}

/// The font size at which a title fits even if its letters are wide.
fn title_size(title: &str) -> u32 {
    (WIDTH - 40) * 10 / (6 * title.chars().count().max(1) as u32)
}

fn hex(key: usize, kind: Kind) -> String {
    let plotters::style::RGBColor(r, g, b) = match kind {
        Kind::Bound(_) => GREY,
        _ => COLOURS[key % COLOURS.len()],
    };
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// Number of columns of the legend: as many as fit with the longest name.
fn columns(legend: &[String]) -> usize {
    let longest = legend.iter().map(|name| name.chars().count() as u32).max().unwrap_or(0);
    let fit = (WIDTH - 40) / (68 + LETTER * longest + 24);
    (fit as usize).clamp(1, legend.len().max(1))
}

/// A note as lines, broken between words; a term such as "n = 4" is not broken.
fn lines(note: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in note.split_whitespace() {
        match words.last_mut() {
            Some(last) if word == "=" || last.ends_with(" =") => {
                last.push(' ');
                last.push_str(word);
            }
            Some(_) | None => words.push(word.to_owned()),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= NOTE_WIDTH => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(_) | None => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_broken_between_words_and_a_number_stays_with_its_name() {
        let note = format!("{} n = 4. {}", "word ".repeat(13).trim_end(), "more ".repeat(20));
        let broken = lines(&note);
        assert!(broken.iter().all(|line| line.chars().count() <= NOTE_WIDTH), "{broken:?}");
        assert!(broken[1].contains("n = 4. more") || broken[0].ends_with("n = 4."), "{broken:?}");
        assert_eq!(broken.join(" "), note.trim_end());
    }
}
