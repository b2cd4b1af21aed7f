//! Movements that the data itself steers: gathers by index, and histograms.

pub(in crate::plan) mod gather;
pub(in crate::plan) mod histogram;
