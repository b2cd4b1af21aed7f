//! weft
pub mod assign;
pub mod atomic;
pub mod axis;
pub mod cache;
pub mod compile;
pub mod diagnostic;
pub mod dtype;
pub mod emit;
pub mod id;
pub mod lane;
pub mod location;
pub mod lower;
pub mod memory;
pub mod scalar;
pub mod simplify;
pub mod tile;
