//! The compiled half of the Python package `weft`: the requests and answers of `weft-api`, layouts,
//! and kernels that stay compiled between launches. `python/weft/__init__.py` is what a Python program imports.

#![expect(clippy::needless_pass_by_value, reason = "Python's arguments are taken over")]

mod error;
mod kernel;
mod layout;

/// A compile makes and drops some ten thousand small objects, and gives the system's allocator back what
/// the next compile asks for again: with this one it takes a fifth less time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The module `weft._weft`.
#[pyo3::pymodule]
mod _weft {
    #[pymodule_export]
    use super::kernel::Kernel;
    #[pymodule_export]
    use super::layout::Layout;
    use pyo3::{Python, pyfunction};

    /// Answers a request; other Python threads run meanwhile.
    #[pyfunction]
    fn invoke(py: Python<'_>, request: &str) -> String {
        py.detach(|| weft_api::invoke(request))
    }
}
