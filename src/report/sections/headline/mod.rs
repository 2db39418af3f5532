//! The answers of a study on one screen, in sentences made from its numbers: how good, at what cost, who learned what.

mod cost;
mod quality;
mod learned;
mod measure;
mod protection;

use crate::report::document::Card;
use crate::study::Summary;
pub(super) use measure::Measure;
pub(super) use protection::{Protection, UnprotectedLosses, claim};

/// The three cards, one for each question.
pub(in crate::report) fn cards(summary: &Summary) -> Vec<Card> {
    vec![quality::card(summary), cost::card(summary), learned::card(summary)]
}
