//! Tests of the whole compiler on recorded kernels.

mod corpus;
mod inputs;
mod random;
