//! Each operation against a closed form, control, waiting, faults, comparison.

mod build;
mod checking;
mod control;
mod memory;
mod moving;
mod operations;
mod waiting;
