//! Requests and pictures of layouts, from outside.
#![allow(clippy::needless_raw_string_hashes, reason = "UPDATE_EXPECT=1 writes them")]
#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[cfg(feature = "agent")]
mod agent;
mod bases;
mod bounds;
mod deep;
mod detector;
mod equal_stores;
mod homes;
mod kernels;
mod limits;
mod lines;
mod machines;
mod pictures;
mod paper;
mod pins;
mod port;
mod preshuffle;
mod probe;
mod random;
mod rounds;
mod transports;
mod ttgir;
mod unordered;
mod warps;
mod wavefronts;
