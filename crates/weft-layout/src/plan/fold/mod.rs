//! Folding along an axis: reductions and scans.
//!
//! [`axis`] says where the axis lies in registers, lanes and warps. [`reduce`] folds in any order and [`ordered`] in
//! that of the axis; [`scan`] keeps every partial result. What warps leave for each other is in [`partials`].

pub(in crate::plan) mod axis;
pub(in crate::plan) mod ordered;
pub(in crate::plan) mod partials;
pub(in crate::plan) mod reduce;
pub(in crate::plan) mod scan;
