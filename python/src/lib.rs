//! `subrosa._native`: what the Python module asks of the library. Plain data crosses as JSON; `subrosa/*.py` makes objects
//! of it, and explains every function.

mod callbacks;
mod documents;
mod runs;

use pyo3::prelude::*;

/// Runs the command line on arguments, the first of which is the program's name, and returns the exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| subrosa::cli::main_with(arguments.into_iter().map(Into::into)) as u8)
}

/// The same, with what it printed: exit code, standard output, standard error.
#[pyfunction]
fn printed(py: Python<'_>, arguments: Vec<String>) -> (u8, String, String) {
    let printed = py.detach(|| subrosa::cli::printed(arguments.into_iter().map(Into::into)));
    (printed.exit as u8, printed.out, printed.err)
}

#[pymodule]
#[pyo3(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("BUILD", subrosa::study::BUILD)?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(printed, module)?)?;
    module.add_function(wrap_pyfunction!(documents::check, module)?)?;
    module.add_function(wrap_pyfunction!(documents::value, module)?)?;
    module.add_function(wrap_pyfunction!(documents::account, module)?)?;
    module.add_function(wrap_pyfunction!(documents::charts, module)?)?;
    module.add_function(wrap_pyfunction!(documents::drawn, module)?)?;
    module.add_function(wrap_pyfunction!(runs::run, module)?)
}
