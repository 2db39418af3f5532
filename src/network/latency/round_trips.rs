//! Delays between named sites, from a matrix of measured round trips.

use super::site_delays::{SiteDelays, Sites};
use super::{Constant, Latency, LatencyModel, LinkEnd};
use crate::network::data_file::{self, Loaded};
use crate::vocab::{CsvRows, DataFolders, NotCsv, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The delay from one party to another is half a measured round trip between the sites of the two parties.
///
/// The file is a CSV matrix. Its first line names the sites. Every further line begins with the name of a site, and the
/// other cells of the line are the round trips measured from that site. An empty cell, `-`, `nan` or a number below 0 stands
/// for a missing measurement; the measurement in the other direction is then used. Round trips often break the triangle
/// inequality. In a `Mesh`, the quickest route between two parties can therefore pass through a third party, which relays
/// the messages. In a `Star`, routes do not depend on delays.
///
/// Example: `RoundTrips(file: "round-trips.csv", unit: "1ms", sites: { "server": ["Frankfurt"], "client": ["Oregon"],
/// "relay": ["Tokyo"] })`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundTrips {
    /// The file; relative to the scenario's folder or to the folder of `--data`. Lines that begin with # are comments.
    pub file: PathBuf,
    /// Unit of the numbers. Default: 1 ms.
    #[serde(default = "millisecond")]
    pub unit: Span,
    /// A list of sites for each party or group that is named here. A party uses the list under its own name or, without one,
    /// the list under its group's name. Party k (from 0) of an entry with a `count` is at site k of the list; after the last
    /// site comes the first again. A party without a list is at the site that has the party's name. Default: no lists.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sites: BTreeMap<String, Vec<String>>,
    #[serde(skip)]
    delays: Loaded<SiteDelays>,
}

fn millisecond() -> Span {
    Span::from_millis(1)
}

impl Latency for RoundTrips {
    /// The quantile of the known delays between all pairs of different sites; zero if the file has not been read.
    fn quantile(&self, u: f64) -> Span {
        self.delays.as_ref().map_or(Span::ZERO, |delays| delays.quantile(u))
    }

    fn mean_seconds(&self) -> f64 {
        self.delays.as_ref().map_or(0.0, |delays| delays.mean_seconds())
    }

    fn needs_link(&self) -> bool {
        true
    }

    fn differs_between_links(&self) -> bool {
        true
    }

    fn between(&self, from: LinkEnd<'_>, to: LinkEnd<'_>) -> Option<LatencyModel> {
        let sites: &Sites = &self.sites;
        let delay = self.delays.as_ref().map_or(Span::ZERO, |delays| delays.between(sites, from, to));
        Some(Constant(delay).into())
    }

    fn problems_between(&self, parties: &[LinkEnd<'_>]) -> Vec<Problem> {
        let file = self.file.display().to_string();
        self.delays.iter().flat_map(|delays| delays.problems(&file, &self.sites, parties)).collect()
    }

    fn problems(&self) -> Vec<Problem> {
        let zero = (self.unit == Span::ZERO).then(|| {
            Problem::wrong(
                "unit",
                "a duration above 0",
                "0s",
                "write unit: \"1ms\" for a matrix of milliseconds",
            )
        });
        zero.into_iter().collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let read = data_file::read(base, &self.file, "a CSV file");
        let read = read.and_then(|text| matrix(&self.file, &text, self.unit));
        data_file::keep(read, &mut self.delays)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }

    fn is_unread(&self) -> bool {
        self.delays.is_none()
    }
}

/// Reads a matrix of round trips; returns one-way delays, half of each round trip.
fn matrix(file: &Path, text: &str, unit: Span) -> Result<SiteDelays, Problem> {
    let file = file.display();
    let wrong = |expected: String, found: String| Problem::wrong("file", expected, found, "correct the file");
    let rows = CsvRows::read(text.as_bytes()).map_err(|NotCsv { line, reason }| {
        wrong("a CSV file".to_owned(), format!("{file}:{line}: {reason}"))
    })?;
    let names: Vec<String> = rows.names().iter().skip(1).cloned().collect();
    let n = names.len();
    if n < 2 || rows.len() != n {
        let expected =
            "a matrix: the names of two sites or more in the first line, and one line for each".to_owned();
        return Err(wrong(expected, format!("{n} names and {} further lines in {file}", rows.len())));
    }
    if let Some(twice) = (1..n).find(|&index| names[..index].contains(&names[index])) {
        let found = format!("\"{}\" twice at {file}:{}", names[twice], rows.head());
        return Err(wrong("a different name for each site".to_owned(), found));
    }
    let mut delays = vec![None; n * n];
    let mut order = Vec::new();
    for (line, cell) in rows.cells(0) {
        let Some(place) = names.iter().position(|name| name == cell).filter(|place| !order.contains(place))
        else {
            let expected = "a line for each site of the first line, beginning with its name".to_owned();
            return Err(wrong(expected, format!("\"{cell}\" at {file}:{line}")));
        };
        order.push(place);
    }
    for to in 0..n {
        for ((line, cell), &from) in rows.cells(to + 1).zip(&order) {
            let missing = ["", "-", "nan"].contains(&cell.to_ascii_lowercase().as_str());
            let number =
                if missing { Some(-1.0) } else { cell.parse::<f64>().ok().filter(|n| n.is_finite()) };
            let Some(number) = number else {
                let expected = format!("a round trip to \"{}\", or an empty cell", names[to]);
                return Err(wrong(expected, format!("\"{cell}\" at {file}:{line}")));
            };
            if number >= 0.0 {
                delays[from * n + to] = Some(Span::from_seconds(number * unit.seconds() / 2.0));
            }
        }
    }
    let found = SiteDelays::new(names, &delays);
    if found.sorted().is_empty() {
        return Err(wrong("at least one round trip".to_owned(), format!("none in {file}")));
    }
    Ok(found)
}
