//! Pictures made of text: diagnostics in their source, a layout as its matrix and as a grid of threads.

mod diagnostics;
mod grid;
mod matrix;

pub use diagnostics::diagnostics;
pub use grid::grid;
pub use matrix::matrix;
