//! The command line and what it writes: texts, pages, reference, book, examples; and the layout of the sources.

#[path = "../support/mod.rs"]
mod support;

mod analyses;
mod answer;
mod book;
mod browser;
mod cli;
mod data_files;
mod examples;
mod extending;
mod forks;
mod headline;
mod html;
mod language;
mod language_server;
mod layers;
mod layout;
mod narrow;
mod notations;
mod own_csv;
mod package;
mod papers;
mod reference;
mod randomness;
mod refusals;
mod report_text;
mod tables;
mod watching;
