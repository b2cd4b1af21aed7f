//! weft-layout
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod f2;
pub mod space;
pub mod layout;
pub mod family;
pub mod machine;
pub mod access;
pub mod step;
pub mod witness;
pub mod plan;
pub mod interop;

pub use layout::{Layout, LayoutError};
pub use machine::Machine;
pub use space::{Label, Space, SpaceError};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
