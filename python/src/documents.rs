//! What needs no run: scenarios and lists of releases as text, and the charts of a run folder.

use crate::callbacks::Given;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use subrosa::accounting::Statement;
use subrosa::objectives::Resources;
use subrosa::report::{self, Page, plots};
use subrosa::scenario::{Diagnostics, Document};
use subrosa::study::{Plan, RunFolder};

/// A scenario as Python gives it: a file, or a text with the folder that its paths begin at.
#[derive(Clone, Debug, FromPyObject)]
pub(crate) struct Source {
    #[pyo3(item)]
    file: Option<PathBuf>,
    #[pyo3(item)]
    text: String,
    #[pyo3(item)]
    base: PathBuf,
    #[pyo3(item)]
    data: Option<PathBuf>,
    #[pyo3(item)]
    overrides: Vec<String>,
}

impl Source {
    pub(crate) fn document(&self) -> Result<Document, Diagnostics> {
        match &self.file {
            Some(file) => Document::load(file),
            None => Ok(Document::from_text(Path::new("scenario.ron"), self.text.clone())),
        }
    }

    pub(crate) fn plan(&self) -> Result<Plan, Diagnostics> {
        let document = self.document()?;
        let resources =
            Resources { base: self.base.clone(), data: self.data.clone(), ..Resources::default() };
        let cells = document.cells(&self.overrides, &resources)?;
        Ok(Plan::new(document.ron()?, self.overrides.clone(), &resources, cells))
    }
}

/// What is wrong with a text, as Python's `ScenarioError` takes it.
pub(crate) fn refused(diagnostics: &Diagnostics) -> String {
    json!({ "problems": diagnostics.json(), "text": diagnostics.render() }).to_string()
}

/// Checks a scenario. Returns JSON: its name and counts, or what is wrong with it.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, source: Source, callbacks: Vec<Given>) -> PyResult<String> {
    let offered = Given::offer_all(callbacks)?;
    let answer = py.detach(|| match source.plan() {
        Ok(plan) => json!({
            "name": plan.name,
            "cells": plan.cells.len(),
            "replications": plan.replications,
            "seed": plan.first_seed(),
            "fork": plan.cells[0].scenario.draft().fork.is_some(),
            "scenario": plan.cells[0].scenario.draft(),
            "programs": plan.programs(),
        })
        .to_string(),
        Err(diagnostics) => refused(&diagnostics),
    });
    drop(offered);
    Ok(answer)
}

/// The text of a value of a scenario, by its path.
#[pyfunction]
pub(crate) fn value(source: Source, path: &str) -> Option<String> {
    let document = source.document().ok()?;
    document.value(path)
}

/// The epsilons that every accountant computes for a list of releases, `Account(delta: .., events: [..])`.
#[pyfunction]
pub(crate) fn account(py: Python<'_>, text: String) -> String {
    py.detach(|| {
        let document = Document::from_text(Path::new("account.ron"), text);
        match document.account() {
            Ok(account) => {
                let costs = account.events.iter().map(subrosa::vocab::CountedCost::cost).collect();
                report::json(&report::account_document(&Statement::of_costs(costs, account.delta)))
            }
            Err(diagnostics) => refused(&diagnostics),
        }
    })
}

fn page(folder: &Path) -> PyResult<Page> {
    let read = Page::read(&RunFolder::at(folder)).map_err(|error| PyOSError::new_err(error.to_string()))?;
    read.ok_or_else(|| PyValueError::new_err(format!("{} has no results to draw", folder.display())))
}

/// The charts of a run folder as JSON.
#[pyfunction]
pub(crate) fn charts(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    py.detach(|| Ok(report::json(&report::charts(&page(&folder)?))))
}

/// A chart of a run folder as an SVG document, or as the bytes of a PNG or a PDF.
#[pyfunction]
pub(crate) fn drawn(py: Python<'_>, folder: PathBuf, id: &str, format: &str) -> PyResult<Vec<u8>> {
    py.detach(|| {
        let charts = report::charts(&page(&folder)?);
        let chart = charts.iter().find(|chart| chart.id == id);
        let chart = chart.ok_or_else(|| PyValueError::new_err(format!("no figure {id:?}")))?;
        let svg = plots::standalone(chart);
        let picture = match format {
            "svg" => return Ok(svg.into_bytes()),
            "png" => plots::png(&svg),
            "pdf" => plots::pdf(&svg),
            _ => return Err(PyValueError::new_err(format!("no format {format:?}: svg, png or pdf"))),
        };
        picture.map_err(|error| PyValueError::new_err(error.to_string()))
    })
}
