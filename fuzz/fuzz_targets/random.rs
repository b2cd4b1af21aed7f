//! The random kernels of the compiler's tests, and what those hold them against.

#![allow(dead_code, reason = "the tests use more of it")]

#[path = "../../crates/weft/tests/it/random/approximate.rs"]
mod approximate;
#[path = "../../crates/weft/tests/it/random/atomic.rs"]
mod atomic;
#[path = "../../crates/weft/tests/it/random/build.rs"]
mod build;
#[path = "../../crates/weft/tests/it/random/check.rs"]
pub(crate) mod check;
#[path = "../../crates/weft/tests/it/random/control.rs"]
mod control;
#[path = "../../crates/weft/tests/it/random/dice.rs"]
mod dice;
#[path = "../../crates/weft/tests/it/random/generate.rs"]
mod generate;
#[path = "../../crates/weft/tests/it/random/indexed.rs"]
mod indexed;
#[path = "../../crates/weft/tests/it/random/memory.rs"]
mod memory;

use weft::memory::Memory;
use weft::tile::Kernel;

/// A kernel made from bytes, held against the evaluator in one setting; what is wrong, if anything.
pub(crate) fn hold(bytes: &[u8], setting: check::Setting) -> Result<(), String> {
    let sample = generate::sample(bytes);
    let outcome = check::expected(&sample).and_then(|expected| {
        check::check_text(&sample)?;
        check::check(&sample, setting, &expected)
    });
    let check::Setting { machine, warps } = setting;
    outcome.map(drop).map_err(|failure| {
        format!("on {machine} with {warps} warps: {}\n{}", failure.message, sample.kernel)
    })
}

/// A kernel made from bytes, with arguments for it.
pub(crate) fn kernel(bytes: &[u8]) -> (Kernel, Vec<u64>, Memory) {
    let sample = generate::sample(bytes);
    (sample.kernel, sample.args, sample.memory)
}
