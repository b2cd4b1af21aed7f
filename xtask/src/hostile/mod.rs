//! What bad input does: mutated requests by the hundred thousand, a server under attack, and what nobody wants
//! any more.
//!
//! `cargo xtask measure robustness | server | cancellation` write what is found to `docs/measurements`.

mod cancel;
mod doors;
mod inputs;
mod server;
mod sessions;
mod shells;
mod worker;

pub(crate) use cancel::measure as cancellation;
pub(crate) use doors::measure as inputs;
pub(crate) use server::measure as server;
pub(crate) use worker::work;

use std::time::Duration;

/// How long anything may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The limit of time that every entry point is given, in milliseconds: what does not keep it within the
/// patience hangs.
const TIME: u64 = 5_000;
/// The memory that a process may have: data and stacks, in bytes.
const MEMORY: u64 = 2 << 30;
/// The stack on which a request is answered, in bytes.
const STACK: usize = 512 << 10;
