//! weft-layout
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod access;
pub mod f2;
pub mod family;
pub mod interop;
pub mod layout;
pub mod machine;
pub mod plan;
pub mod plan;
pub mod space;
pub mod step;
pub mod witness;

pub use layout::{Layout, LayoutError};
pub use machine::Machine;
pub use space::{Label, Space, SpaceError};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
