//! A table of published privacy losses beside the computed ones.

use crate::accounting::multiple;
use crate::report::document::Table;
use crate::report::number::epsilon;
use crate::report::sections::points::Axes;
use crate::study::Summary;

/// The table; `None` if the scenario states no published loss.
pub(in crate::report::sections) fn losses(summary: &Summary) -> Option<Table> {
    let axes = Axes::of(summary);
    let rows: Vec<Vec<String>> = summary
        .cells
        .iter()
        .flat_map(|cell| cell.published_losses.iter().map(move |row| (cell, row)))
        .map(|(cell, row)| {
            let ours = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), epsilon);
            let mut cells = vec![row.series.clone()];
            cells.extend(axes.point(cell));
            let mut tight = ours(row.tight);
            // An excess of up to 1 % may be rounding in the paper and is not marked.
            if let Some(times) = row.tight.map(|tight| tight / row.published).filter(|times| *times > 1.01) {
                tight.push_str(&format!(" ({} as much)", multiple(times)));
            }
            cells.extend([row.published.to_string(), ours(row.moments), tight, row.source.clone()]);
            cells
        })
        .collect();
    let mut header = vec!["series".to_owned()];
    header.extend(axes.names.iter().cloned());
    let first_number = header.len();
    header.extend(["published", "moments", "tight", "source"].map(str::to_owned));
    let title = "Published privacy losses of one run, and the largest finite epsilon computed here towards any observer";
    (!rows.is_empty()).then(|| Table::new(title, header, rows, first_number))
}
