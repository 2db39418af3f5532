//! The command line and what it writes: texts, pages, reference, book, examples; and the layout of the sources.

#[path = "../support/mod.rs"]
mod support;

mod book;
mod browser;
mod cli;
mod examples;
mod extending;
mod html;
mod layers;
mod papers;
mod reference;
mod randomness;
mod refusals;
mod report_text;
