//! Tests of the whole compiler on recorded kernels.

mod barriers;
mod corpus;
mod inputs;
mod random;
