//! weft

pub mod id;
pub mod diagnostic;
pub mod location;
pub mod dtype;
pub mod scalar;
pub mod atomic;
pub mod cache;
pub mod memory;
pub mod tile;
pub mod ttir;
pub mod lane;
pub mod axis;
pub mod assign;
pub mod lower;
pub mod simplify;
pub mod sim;
pub mod emit;
pub mod compile;
