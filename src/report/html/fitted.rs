//! The objective's hyperparameters, where a likelihood chose them.

use super::table::table;
use crate::objectives::Fitted;
use maud::{Markup, html};

/// A table of them; nothing if none were fitted.
pub(super) fn hyperparameters(all: &[Fitted]) -> Markup {
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
    let header = ["length-scales", "variance", "noise variance", "log likelihood, nats", "slope left, nats"];
    html! {
        @if !rows.is_empty() {
            h3 { "Fitted hyperparameters" }
            (table(
                "By maximum likelihood, in standard deviations of inputs and output; length-scales in the scenario's order",
                &header.map(str::to_owned),
                &rows,
                1,
            ))
            p.note {
                "The slope is the likelihood's largest derivative by the logarithm of a hyperparameter where the search \
                 ended: near 0 at a maximum."
            }
        }
    }
}
