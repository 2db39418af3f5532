//! The hyperparameters of the objective that were fitted by maximum likelihood.

use crate::objectives::Fitted;
use crate::report::document::{Block, Table};

/// A table of the fitted hyperparameters, with a heading and a remark; empty if none were fitted.
pub(super) fn blocks(all: &[Fitted]) -> Vec<Block> {
    let fits = all.iter().filter_map(|fit| Some((fit, fit.log_likelihood?)));
    let rows: Vec<Vec<String>> = fits
        .map(|(fit, log_likelihood)| {
            let scales: Vec<String> = fit.length_scales.iter().map(|scale| format!("{scale:.3}")).collect();
            vec![
                scales.join(", "),
                format!("{:.3}", fit.variance),
                format!("{:.3}", fit.noise_variance),
                format!("{log_likelihood:.2}"),
                fit.slope.map_or_else(|| "-".to_owned(), |slope| format!("{slope:.2}")),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let header =
        ["length-scales", "variance", "noise variance", "log likelihood, nats", "largest derivative, nats"];
    let title = "By maximum likelihood, in the units that the scenario states, by default the standard deviations of inputs \
                 and output; length-scales in the scenario's order";
    vec![
        Block::heading("", "Fitted hyperparameters"),
        Block::Table(Table::new(title, header.map(str::to_owned).to_vec(), rows, 1)),
        Block::remark(
            "The largest derivative is that of the log likelihood with respect to the logarithm of a hyperparameter, where \
             the search ended: near 0 at a maximum.",
        ),
    ]
}
