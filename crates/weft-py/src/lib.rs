//! The compiled half of the Python package `weft`: the requests and answers of `weft-api`, layouts,
//! and kernels that stay compiled between launches. `python/weft/__init__.py` is what a Python program imports.

#![expect(clippy::needless_pass_by_value, reason = "Python's arguments are taken over")]

mod error;
mod interrupt;
mod kernel;
mod layout;

/// A compile makes and drops some ten thousand small objects, and gives the system's allocator back what
/// the next compile asks for again: with this one it takes a fifth less time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The module `weft._weft`.
#[pyo3::pymodule]
mod _weft {
    use super::interrupt::heard;
    #[pymodule_export]
    use super::kernel::Kernel;
    #[pymodule_export]
    use super::layout::Layout;
    use pyo3::{PyResult, Python, pyfunction};
    use weft_api::budget::Limits;
    use weft_api::invoke::may_take_long;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python gives it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Answers a request; other Python threads run meanwhile, and Ctrl-C ends it.
    #[pyfunction]
    fn invoke(py: Python<'_>, request: &str) -> PyResult<String> {
        if py.detach(|| may_take_long(request)) {
            return heard(py, Limits::default(), || weft_api::invoke(request));
        }
        Ok(py.detach(|| weft_api::invoke(request)))
    }
}
