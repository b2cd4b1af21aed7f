//! The book's chapters as documentation, so that `cargo test` compiles and runs their listings.

#[doc = include_str!("src/layouts.md")]
pub mod layouts {}

#[doc = include_str!("src/cute.md")]
pub mod cute {}
