//! weft
pub mod atomic;
pub mod cache;
pub mod diagnostic;
pub mod dtype;
pub mod id;
pub mod lane;
pub mod location;
pub mod memory;
pub mod scalar;
pub mod tile;
pub mod ttir;
