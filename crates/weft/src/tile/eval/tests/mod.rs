//! Each operation against a closed form, control, waiting, faults, comparison.

mod build;
mod checking;
mod control;
mod memory;
mod operations;
mod waiting;
