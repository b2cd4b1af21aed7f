//! Layouts of memory that hardware prescribes, by left division.
//!
//! [`operand`] is what matrix units read by themselves, [`copy_box`] what tensor copies write, [`direct`] what copies
//! from global memory past the registers write.

pub(in crate::plan) mod copy_box;
pub(in crate::plan) mod direct;
pub mod operand;
