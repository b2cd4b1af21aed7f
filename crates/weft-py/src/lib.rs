//! The compiled half of the Python package `weft`: the requests and answers of `weft-api`, and kernels
//! that stay compiled between launches. `python/weft/__init__.py` is what a Python program imports.

mod kernel;

/// The module `weft._weft`.
#[pyo3::pymodule]
mod _weft {
    #[pymodule_export]
    use super::kernel::Kernel;
    use pyo3::{Python, pyfunction};

    /// Answers a request; other Python threads run meanwhile.
    #[pyfunction]
    fn invoke(py: Python<'_>, request: &str) -> String {
        py.detach(|| weft_api::invoke(request))
    }
}
