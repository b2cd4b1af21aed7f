//! The laws of matrices, subspaces, spaces and layouts.

mod actions;
mod division;
mod fitting;
mod inverses;
mod laws;
mod matrices;
mod parts;
mod shapes;
mod solutions;
mod structure;
mod subspaces;
