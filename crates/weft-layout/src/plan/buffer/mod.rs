//! One side of a buffer in shared memory: who moves what to or from it, by which instructions.
//!
//! [`sides`] says it in coordinates of the buffer, [`vectorize`] by which vectors of a lane and [`fragment`] by which
//! matrices of a warp; [`ways`] are the two, [`align`] the offsets under which they are aligned, [`moves`] what they
//! take. [`load`] plans a load of a buffer that is given, [`store`] a store to one.

pub(in crate::plan) mod align;
pub(in crate::plan) mod fragment;
pub(in crate::plan) mod load;
pub(in crate::plan) mod moves;
pub(in crate::plan) mod sides;
pub(in crate::plan) mod store;
pub(in crate::plan) mod vectorize;
pub(in crate::plan) mod ways;
