//! Conversions: a tensor in one layout turned into the same tensor in another.
//!
//! [`threads`] stays within warps, and asks [`blocks`] for the matrix of it, [`alike`] for the registers that are
//! treated alike, [`words`] for elements narrower than a word; [`within`] plans the smallest such conversion for all
//! of its kind. [`memory`] goes through shared memory, in [`rounds`] where it has too little of that, and [`mixed`]
//! does both. [`bound`] is what none of them goes below.

pub(in crate::plan) mod alike;
pub(in crate::plan) mod blocks;
pub(in crate::plan) mod bound;
pub(in crate::plan) mod memory;
pub(in crate::plan) mod mixed;
pub(in crate::plan) mod rounds;
pub(in crate::plan) mod threads;
pub(in crate::plan) mod within;
pub(in crate::plan) mod words;
