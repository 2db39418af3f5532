//! Charts as markup: a legend with toggles, and for each chart its SVG and its values as a table.

use crate::report::document::Figure;
use crate::report::plots::{Chart, HEIGHT, Kind, Line, WIDTH, draw, sample};
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeMap;

/// Charts side by side below one legend; a single chart that stands `alone` in its row has its legend and notes beside it.
pub(super) fn figure(figure: &Figure, alone: bool) -> Markup {
    let legend = legend(&figure.charts);
    let mut captions: Vec<&str> = figure.charts.iter().map(|chart| chart.caption.as_str()).collect();
    captions.retain(|caption| !caption.is_empty());
    let captions = distinct_notes(captions);
    let beyond: Vec<&String> = figure.charts.iter().flat_map(|chart| &chart.beyond).collect();
    let notes = distinct_notes(figure.charts.iter().map(|chart| chart.note.as_str()).collect());
    html! {
        section.plate.wide[figure.charts.len() > 1].alone[alone] {
            h3 { (figure.title) @if figure.charts.len() == 1 && figure.charts[0].title == figure.title && figure.charts[0].y.log { span.note { " (logarithmic)" } } }
            div.legend role="group" aria-label="Series; press one to hide or show it" {
                @for (index, entry) in legend.iter().enumerate() {
                    button type="button" aria-pressed="true" data-key=(index) { (legend_sample(entry.key, entry.kind)) (entry.name) }
                }
            }
            div.charts {
                @for chart in &figure.charts { (chart_of(chart, &figure.title, &legend)) }
            }
            div.notes {
                @for note in notes { p.note { (note) } }
                @if !captions.is_empty() || !beyond.is_empty() {
                    details { summary { "About the bounds" }
                        @for beyond in beyond { p.note { span.beyond { "\u{2191}\u{a0}" (beyond) } } }
                        @for caption in captions { p.note { (caption) } } }
                }
            }
        }
    }
}

/// An entry of the legend that some charts share: a name, and how its line is drawn.
struct Entry<'a> {
    name: &'a str,
    key: usize,
    kind: Kind,
}

/// The entries of all charts, each name once. Entries are matched by name and not by key, because the same key may
/// belong to different bounds in two charts.
fn legend(charts: &[Chart]) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for chart in charts {
        for (key, name) in chart.legend.iter().enumerate() {
            match (entries.iter_mut().find(|entry| entry.name == name), chart.kind(key)) {
                (None, kind) => entries.push(Entry { name, key, kind: kind.unwrap_or(Kind::Band) }),
                // An earlier chart may have lacked this line; then the entry has the default kind,
                // which is replaced.
                (Some(entry), Some(kind)) if entry.kind == Kind::Band => entry.kind = kind,
                (Some(_), _) => {}
            }
        }
    }
    entries
}

/// Non-empty notes by decreasing length, each without the leading sentences that it shares with an earlier note in this
/// order.
fn distinct_notes(mut notes: Vec<&str>) -> Vec<&str> {
    notes.sort_by_key(|note| std::cmp::Reverse(note.len()));
    let rest = |(index, note): (usize, &&str)| {
        let shared = |earlier: &&str| {
            let alike = note.bytes().zip(earlier.bytes()).take_while(|(a, b)| a == b).count();
            let begin = &note[..note.floor_char_boundary(alike)];
            if alike == note.len() { alike } else { begin.rfind(". ").map_or(0, |end| end + 2) }
        };
        notes[..index].iter().map(shared).max().unwrap_or(0)
    };
    let cuts: Vec<usize> = notes.iter().enumerate().map(rest).collect();
    let left = notes.iter().zip(cuts).map(|(note, cut)| note.get(cut..).unwrap_or(note));
    left.filter(|note| !note.is_empty()).collect()
}

/// The [`sample`] of a line as a small picture for the legend.
fn legend_sample(key: usize, kind: Kind) -> Markup {
    html! {
        svg.swatch.(class(key, kind)) viewBox="0 0 56 24" width="36" height="16" aria-hidden="true" {
            (sample(key, kind))
        }
    }
}

fn class(key: usize, kind: Kind) -> String {
    if let Kind::Bound(_) = kind { "cb".to_owned() } else { format!("c{}", key % 8) }
}

fn chart_of(chart: &Chart, title: &str, legend: &[Entry<'_>]) -> Markup {
    let entry = |key: usize| {
        let name = chart.legend.get(key).map_or("", String::as_str);
        legend.iter().position(|entry| entry.name == name).unwrap_or(key)
    };
    let drawn = draw(chart);
    html! {
        figure id=(chart.id) {
            figcaption .unseen[chart.title == title] { (chart.title) @if chart.y.log { span.note { " (logarithmic)" } } }
            div.canvas {
                svg role="img" aria-label=(format!("{}; the values are in the table below", chart.title))
                    viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) {
                    g.frame { (PreEscaped(&drawn.frame)) }
                    @for (line, drawn) in chart.lines.iter().zip(&drawn.lines) {
                        @let pattern = line.kind.dashes(line.key);
                        g.line.(class(line.key, line.kind)) data-key=(entry(line.key)) stroke-dasharray=(pattern)
                            data-x=(listed(drawn.points.iter().map(|(x, _)| x.to_string()), " "))
                            data-y=(listed(drawn.points.iter().map(|(_, y)| y.to_string()), " "))
                            data-at=(lines(line.points.iter().map(|point| &point.at)))
                            data-says=(lines(line.points.iter().map(|point| &point.says)))
                            { (PreEscaped(&drawn.svg)) }
                    }
                    line.guide y1="16" y2=(HEIGHT - 90) visibility="hidden" {}
                }
                div.tip hidden {}
            }
            details {
                summary { "Values" }
                (values(chart))
                p.note { "As a file: " code { "subrosa report RUN --svg FILE --figure " (chart.id) } }
            }
        }
    }
}

fn listed(words: impl Iterator<Item = String>, by: &str) -> String {
    words.collect::<Vec<_>>().join(by)
}

/// Texts for the page's script, one per line.
fn lines<'a>(texts: impl Iterator<Item = &'a String>) -> String {
    listed(texts.map(|text| text.replace(['\n', '\r'], " ")), "\n")
}

/// The values of the chart as a table: one row per horizontal value, one column per line.
fn values(chart: &Chart) -> Markup {
    let mut places: Vec<(f64, &str)> = Vec::new();
    // For each horizontal value: for each line, its values there. All values are texts.
    let mut said: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    for (index, line) in chart.lines.iter().enumerate() {
        for point in &line.points {
            let here = said.entry(&point.at).or_insert_with(|| {
                places.push((point.x, &point.at));
                vec![Vec::new(); chart.lines.len()]
            });
            here[index].push(&point.says);
        }
    }
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let name = |line: &Line| {
        let name = chart.legend.get(line.key).map_or("", String::as_str);
        match line.kind {
            Kind::Diamonds => format!("{name}, published"),
            Kind::Ceiling => format!("{name}, bound"),
            Kind::Band | Kind::Bars | Kind::Marks | Kind::Bound(_) => name.to_owned(),
        }
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(format!("Values of {}", chart.title)) {
            table {
                caption { span { (chart.title) } }
                thead { tr { th scope="col" { (chart.x_label) } @for line in &chart.lines { th.number scope="col" { (name(line)) } } } }
                tbody {
                    @for (_, at) in &places {
                        tr { th scope="row" { (at) } @for says in &said[at] { td.number { (says.join(", ")) } } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plots::{Axis, Point};

    fn chart(legend: &[&str], says: &str) -> Chart {
        let point = |key: usize| Point {
            x: 1.0,
            y: key as f64,
            error: 0.0,
            at: "a | b".to_owned(),
            says: says.to_owned(),
        };
        let line = |key: usize| {
            let kind = if key == 0 { Kind::Band } else { Kind::Bound(key - 1) };
            Line { key, kind, points: vec![point(key), point(key + 1)] }
        };
        Chart {
            id: "one".to_owned(),
            title: "One".to_owned(),
            x_label: "x".to_owned(),
            y_label: "y".to_owned(),
            x: Axis::plain([(0.0, 0.0), (1.0, 0.0)]),
            y: Axis::plain([(0.0, 0.0), (2.0, 0.0)]),
            legend: legend.iter().map(|name| (*name).to_owned()).collect(),
            lines: (0..legend.len()).map(line).collect(),
            note: String::new(),
            beyond: Vec::new(),
            caption: String::new(),
        }
    }

    #[test]
    fn different_bounds_of_two_charts_have_entries_of_their_own() {
        let charts = vec![chart(&["A", "Theorem 1"], "1"), chart(&["A", "Theorem 2"], "2")];
        let page = figure(&Figure { title: "Two".to_owned(), charts }, false).into_string();
        let keys: Vec<&str> = page
            .split("<g class=\"line")
            .skip(1)
            .map(|rest| &rest[rest.find("data-key=").unwrap() + 10..][..1])
            .collect();
        assert_eq!(keys, ["0", "1", "0", "2"]);
        let buttons: Vec<&str> = page.split("</button>").filter_map(|rest| rest.rsplit('>').next()).collect();
        assert_eq!(buttons[..3], ["A", "Theorem 1", "Theorem 2"]);
    }

    #[test]
    fn texts_keep_every_letter() {
        let charts = vec![chart(&["A"], "epsilon 2 (proven), 0.03")];
        let page = figure(&Figure { title: "One".to_owned(), charts }, false).into_string();
        assert!(page.contains("data-at=\"a | b\na | b\""), "{page}");
        assert!(page.contains("epsilon 2 (proven), 0.03, epsilon 2 (proven), 0.03</td>"), "{page}");
    }

    #[test]
    fn sentences_with_which_two_notes_begin_are_shown_once() {
        assert_eq!(distinct_notes(vec!["A. B. C.", "A. B. C."]), ["A. B. C."]);
        assert_eq!(
            distinct_notes(vec!["A. B.", "A. B. Second.", "A. B. Third, longer."]),
            ["A. B. Third, longer.", "Second."]
        );
        assert_eq!(distinct_notes(vec!["Ä. Ö.", "Ä. Ü."]), ["Ä. Ö.", "Ü."]);
        assert_eq!(distinct_notes(vec!["A.", ""]), ["A."]);
    }
}
