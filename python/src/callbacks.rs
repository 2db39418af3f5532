//! Classes and functions of Python as programs that scenarios name.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::sync::Arc;
use subrosa::programs::{Callback, Offered, Raised, Respondent, offer};

/// A callback as Python gives it: its name, what it is in one line, and a function without arguments that begins a dialogue
/// and returns a function from a question, as JSON, to an answer, as JSON.
#[derive(Debug, FromPyObject)]
pub(crate) struct Given {
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    version: String,
    #[pyo3(item)]
    begin: Py<PyAny>,
}

impl Given {
    /// Offers all, until what is returned is dropped.
    pub(crate) fn offer_all(all: Vec<Self>) -> PyResult<Vec<Offered>> {
        all.into_iter()
            .map(|one| {
                let name = one.name.clone();
                offer(&name, Arc::new(one)).map_err(|error| PyValueError::new_err(error.to_string()))
            })
            .collect()
    }
}

impl Callback for Given {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn begin(&self) -> Result<Box<dyn Respondent>, Raised> {
        let answer = Python::attach(|py| self.begin.call0(py).map_err(|error| raised(py, &error)))?;
        Ok(Box::new(Begun(answer)))
    }
}

/// The function that answers one dialogue's questions.
struct Begun(Py<PyAny>);

impl Respondent for Begun {
    fn answer(&mut self, ask: &str, fields: &Map<String, Value>) -> Result<Map<String, Value>, Raised> {
        let fields = serde_json::to_string(fields).map_err(|error| Raised(error.to_string()))?;
        let answer = Python::attach(|py| {
            let answer = self.0.call1(py, (ask, fields)).and_then(|answer| answer.extract::<String>(py));
            answer.map_err(|error| raised(py, &error))
        })?;
        serde_json::from_str(&answer).map_err(|error| Raised(format!("{error}: {answer}")))
    }
}

/// An exception with its traceback.
fn raised(py: Python<'_>, error: &PyErr) -> Raised {
    let traceback = error.traceback(py).and_then(|traceback| traceback.format().ok()).unwrap_or_default();
    Raised(format!("{error}\n{traceback}").trim_end().to_owned())
}
