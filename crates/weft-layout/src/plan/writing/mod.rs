//! How plans are written, and written again in fewer steps.
//!
//! [`builder`] adds steps file by file, [`tuple`] to several files at once, [`values`] register by register, as
//! [`tidy`] does when it follows each register to where it comes from: [`chosen`] is what it is made of, and [`fuse`]
//! makes one byte permute of choices and byte permutes. [`sequel`] puts one plan behind another.

pub(in crate::plan) mod builder;
pub(in crate::plan) mod chosen;
pub(in crate::plan) mod fuse;
pub(in crate::plan) mod sequel;
pub(in crate::plan) mod tidy;
pub(in crate::plan) mod tuple;
pub(in crate::plan) mod values;
