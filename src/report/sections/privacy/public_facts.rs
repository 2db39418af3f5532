//! The facts about protected data that are taken as public, for which no privacy loss accounts.

use crate::report::document::{Block, List, Span, Visibility};
use crate::report::sections::cells::place;
use crate::report::sections::points::Axes;
use crate::study::Summary;
use crate::vocab::{Origin, PublicFact};

/// The list of the facts, in which conditions of losses are emphasised as warnings; `None` if nothing is taken as public.
pub(super) fn list(summary: &Summary) -> Option<List> {
    let items = facts(summary).into_iter().map(|Public { fact, place, .. }| {
        let place = if place.is_empty() { place } else { format!(" ({place})") };
        vec![
            Span::plain(format!("{}{}{place}: ", fact.what, about(fact))),
            Span::plain(origin(fact.origin)).emphasised(fact.condition().is_some()),
        ]
    });
    let items: Vec<Vec<Span>> = items.collect();
    let title = "Taken as public: no privacy loss in this report accounts for these facts".to_owned();
    (!items.is_empty()).then(|| List { id: "public".to_owned(), title, items })
}

/// The facts in one paragraph: first the conditions of losses, with their source, then the other facts, without sources.
///
/// Series are not named. Cells are named only for a fact that is not taken as public in all of them. `None` if there are
/// no facts.
pub(in crate::report::sections) fn brief(summary: &Summary) -> Option<Block> {
    let facts = facts(summary);
    let told = |conditions: bool| {
        let mut names: Vec<(&str, Vec<usize>)> = Vec::new();
        for Public { fact, cells, .. } in
            facts.iter().filter(|public| public.fact.condition().is_some() == conditions)
        {
            // The text after a colon is only an explanation.
            let name = fact.what.split(": ").next().unwrap_or_default();
            match names.iter_mut().find(|(known, _)| *known == name) {
                Some((_, places)) => places.extend(cells),
                None => names.push((name, cells.clone())),
            }
        }
        let with_cells = |(name, mut cells): (&str, Vec<usize>)| {
            cells.sort_unstable();
            cells.dedup();
            let everywhere = cells.len() == summary.cells.len();
            if everywhere { name.to_owned() } else { format!("{name} ({})", at(summary, &cells)) }
        };
        names.into_iter().map(with_cells).collect::<Vec<String>>()
    };
    let (conditions, others) = (told(true), told(false));
    let mut parts = Vec::new();
    if !conditions.is_empty() {
        parts.push(format!(
            "{} (computed from protected data: a condition of the losses)",
            conditions.join("; ")
        ));
    }
    if !others.is_empty() {
        parts.push(others.join("; "));
    }
    let words = format!("Taken as public (no loss accounts for these facts): {}.", parts.join("; "));
    (!parts.is_empty()).then(|| Block::statement(words, Visibility::Everywhere))
}

/// One fact, with the series and cells in which it is taken as public.
struct Public<'a> {
    fact: &'a PublicFact,
    /// The series and cells in words; empty if the fact is taken as public in all series of all cells.
    place: String,
    /// The cells in which it is taken as public.
    cells: Vec<usize>,
}

/// The facts of all series and cells, equal ones once; facts on which losses depend come first.
fn facts(summary: &Summary) -> Vec<Public<'_>> {
    let mut found: Vec<(&PublicFact, Vec<(&str, usize)>)> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for (index, cell) in summary.cells.iter().enumerate() {
        for series in &cell.series {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
            for fact in &series.public {
                match found.iter_mut().find(|(known, _)| *known == fact) {
                    Some((_, places)) => places.push((&series.name, index)),
                    None => found.push((fact, vec![(&series.name, index)])),
                }
            }
        }
    }
    found.sort_by_key(|(fact, _)| fact.origin != Origin::ComputedFromData);
    let where_it_is = |places: &[(&str, usize)]| {
        let mut of: Vec<&str> = places.iter().map(|(series, _)| *series).collect();
        of.dedup();
        of.sort_by_key(|name| names.iter().position(|known| known == name));
        of.dedup();
        let mut cells: Vec<usize> = places.iter().map(|(_, cell)| *cell).collect();
        cells.sort_unstable();
        cells.dedup();
        let mut told = Vec::new();
        if of.len() < names.len() {
            told.push(of.join(", "));
        }
        // The places are not all pairs of these series and these cells, so each place is listed.
        if places.len() < of.len() * cells.len() {
            let each = |(series, cell): &(&str, usize)| format!("{series} at {}", at(summary, &[*cell]));
            return places.iter().map(each).collect::<Vec<_>>().join("; ");
        }
        if cells.len() < summary.cells.len() {
            told.push(at(summary, &cells));
        }
        told.join("; ")
    };
    let told = |(fact, places): (_, Vec<(&str, usize)>)| Public {
        fact,
        place: where_it_is(&places),
        cells: places.iter().map(|(_, cell)| *cell).collect(),
    };
    found.into_iter().map(told).collect()
}

fn at(summary: &Summary, cells: &[usize]) -> String {
    let axes = Axes::of(summary);
    let places: Vec<String> = cells.iter().map(|&cell| axes.point(&summary.cells[cell]).join(", ")).collect();
    place(summary, &places)
}

/// The source of a fact, in words.
fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Stated => "stated in the scenario",
        Origin::Shape => "shape of the data, assumed to be the same for all neighbours",
        Origin::Protocol => "part of the protocol",
        Origin::ComputedFromData => "computed from protected data: a condition of the losses",
    }
}

/// Whose data a fact describes and who is assumed to know it: ", of hospital, known to lab".
fn about(fact: &PublicFact) -> String {
    let mut words = String::new();
    if !fact.about.is_empty() {
        words.push_str(&format!(", of {}", fact.about));
    }
    if !fact.known_to.is_empty() {
        words.push_str(&format!(", known to {}", fact.known_to));
    }
    words
}
