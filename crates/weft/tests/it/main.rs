//! Tests of the whole compiler on recorded kernels.

mod barriers;
mod corpus;
mod deep;
mod inputs;
mod random;
