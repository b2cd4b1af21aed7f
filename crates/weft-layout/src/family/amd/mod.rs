//! Fragments of AMD's matrix instructions.

mod mfma;
mod wmma;

pub use mfma::AmdMfma;
pub use wmma::AmdWmma;
