//! Classes and functions of Python as programs that scenarios name.

use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use subrosa::programs::{Callback, CallbackError, CallbackRegistration, CallbackSession, offer};

/// A callback as Python gives it: its name, its version in one line, and a function without arguments that begins a session.
/// It returns a function of a question's kind and of its fields as JSON, which returns the answer as JSON.
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
    /// Registers all callbacks, until the registrations that it returns are dropped.
    pub(crate) fn offer_all(all: Vec<Self>) -> PyResult<Vec<CallbackRegistration>> {
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

    fn begin(&self) -> Result<Box<dyn CallbackSession>, CallbackError> {
        let answer = Python::attach(|py| {
            let _under_way = UnderWay::here(py);
            self.begin.call0(py).map_err(|error| raised(py, &error))
        })?;
        Ok(Box::new(Begun(answer)))
    }
}

/// The function that answers the questions of one session.
struct Begun(Py<PyAny>);

impl CallbackSession for Begun {
    fn answer(
        &mut self,
        ask: &str,
        fields: &Map<String, Value>,
    ) -> Result<Map<String, Value>, CallbackError> {
        let fields = serde_json::to_string(fields).map_err(|error| CallbackError(error.to_string()))?;
        let answer = Python::attach(|py| {
            let _under_way = UnderWay::here(py);
            let answer = self.0.call1(py, (ask, fields)).and_then(|answer| answer.extract::<String>(py));
            answer.map_err(|error| raised(py, &error))
        })?;
        serde_json::from_str(&answer).map_err(|error| CallbackError(format!("{error}: {answer}")))
    }
}

/// Python's identifiers of the threads that are executing callbacks, each with its number of calls in progress.
static UNDER_WAY: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

fn under_way() -> MutexGuard<'static, BTreeMap<u64, usize>> {
    UNDER_WAY.lock().expect("no holder of this lock panics")
}

/// A call that is under way in this thread, until this is dropped.
struct UnderWay(Option<u64>);

impl UnderWay {
    fn here(py: Python<'_>) -> Self {
        let number = py.import("threading").and_then(|threading| threading.call_method0("get_ident"));
        let number = number.and_then(|number| number.extract::<u64>()).ok();
        if let Some(number) = number {
            *under_way().entry(number).or_default() += 1;
        }
        Self(number)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(number) = self.0
            && let Some(calls) = under_way().get_mut(&number)
        {
            *calls = calls.saturating_sub(1);
        }
    }
}

/// Raises `KeyboardInterrupt` in every callback that is under way. Python raises it between two of its instructions, so a
/// call into another language ends first.
pub(crate) fn interrupt(py: Python<'_>) -> PyResult<()> {
    let numbers: Vec<u64> =
        under_way().iter().filter(|(_, calls)| **calls > 0).map(|(number, _)| *number).collect();
    let ctypes = py.import("ctypes")?;
    let raise = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
    for number in numbers {
        let number = ctypes.getattr("c_ulong")?.call1((number,))?;
        let exception = ctypes.getattr("py_object")?.call1((py.get_type::<PyKeyboardInterrupt>(),))?;
        raise.call1((number, exception))?;
    }
    Ok(())
}

/// An exception with its traceback.
fn raised(py: Python<'_>, error: &PyErr) -> CallbackError {
    let traceback = error.traceback(py).and_then(|traceback| traceback.format().ok()).unwrap_or_default();
    CallbackError(format!("{error}\n{traceback}").trim_end().to_owned())
}
