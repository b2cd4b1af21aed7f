//! Refusals as `weft.WeftError`, which keeps what the error answer says.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weft_api::ApiError;
use weft_api::invoke::{error_text, fault_text, panic_text};
use weft_layout::{Label, LayoutError};

/// What a request was refused for.
pub(super) fn of_request(error: &ApiError) -> PyErr {
    Python::attach(|py| raised(py, &error_text(error), None).unwrap_or_else(|error| error))
}

/// What a panic is raised as.
pub(super) fn of_panic(panic: &(dyn core::any::Any + Send)) -> PyErr {
    let text = panic_text(panic);
    Python::attach(|py| raised(py, &text, None).unwrap_or_else(|error| error))
}

/// What an operator on layouts was refused for; the details have its witness.
pub(super) fn of_layout(error: &LayoutError) -> PyErr {
    let text = fault_text("layout", &error.to_string(), None);
    Python::attach(|py| {
        let witness = witness(py, error);
        let error = witness.and_then(|witness| raised(py, &text, Some(witness)));
        error.unwrap_or_else(|error| error)
    })
}

/// The exception of an error answer.
fn raised(py: Python<'_>, answer: &str, witness: Option<Bound<'_, PyDict>>) -> PyResult<PyErr> {
    let errors = py.import("weft.errors")?;
    let error = errors.call_method1("of_answer", (answer,))?;
    if let Some(witness) = witness.filter(|witness| !witness.is_empty()) {
        error.getattr("details")?.set_item("witness", witness)?;
    }
    Ok(PyErr::from_value(error))
}

/// The places that an error is about, by what they are to it.
fn witness<'py>(py: Python<'py>, error: &LayoutError) -> PyResult<Bound<'py, PyDict>> {
    let witness = PyDict::new(py);
    let place = |name: &str, coordinates: &[(Label, u64)]| {
        let place = PyDict::new(py);
        for (label, value) in coordinates {
            place.set_item(label.as_str(), value)?;
        }
        witness.set_item(name, place)
    };
    match error {
        LayoutError::NotInjective { first, second, image } => {
            place("first", first)?;
            place("second", second)?;
            place("image", image)?;
        }
        LayoutError::NotSurjective { output } => place("output", output)?,
        LayoutError::NotDivisible { label, bit, image, .. }
        | LayoutError::Crosses { label, bit, image }
        | LayoutError::NotReached { label, bit, image }
        | LayoutError::CannotCut { label, bit, image, .. } => {
            place("input", &[(*label, 1 << bit)])?;
            place("image", image)?;
        }
        LayoutError::NoSuchBasis { expected, .. } => place("expected", expected)?,
        _ => {}
    }
    Ok(witness)
}
