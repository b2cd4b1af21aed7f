//! Programs of one thread, changed: whatever the verifier still accepts is printed, simplified and run,
//! does the same after the passes as before, and nothing panics.
//!
//! `WEFT_LONG=1` changes twenty thousand (best with `--release`). The fuzz target `lane_verify` does the
//! same with coverage.

mod lane;

use crate::random;
use arbitrary::{Arbitrary as _, Unstructured};
use std::panic::{AssertUnwindSafe, catch_unwind};
use weft::compile::{self, Options};
use weft::tile::Module;
use weft_layout::Machine;

#[test]
fn changed_programs_are_refused_or_borne() {
    let count = if std::env::var_os("WEFT_LONG").is_some() { 20_000 } else { 200 };
    let machine = Machine::by_name("sm_90").unwrap();
    let simulated = compile::simulated(machine, 8);
    let (mut borne, mut failures) = (0, Vec::new());
    for seed in 0..count {
        let sample = random::sample(seed);
        let module = Module { kernels: vec![sample.kernel.clone()], ..Module::default() };
        let options = Options { warps: 1 << (seed % 3), ..Options::for_machine(machine) };
        let Ok(compiled) = compile::compile(&module, &sample.kernel, &options) else { continue };
        let bytes = random::bytes(seed, 256);
        let mut input = Unstructured::new(&bytes);
        let mut program = compiled.program;
        for _ in 0..=seed % 3 {
            lane::spoil(&mut program, lane::Edit::arbitrary(&mut input).unwrap());
        }
        let bear =
            AssertUnwindSafe(|| lane::bear(&program, &simulated, &sample.args, &sample.memory));
        match catch_unwind(bear) {
            Ok(accepted) => borne += u64::from(accepted),
            Err(_) => failures.push(seed),
        }
    }
    println!("{borne} of {count} were accepted");
    assert!(failures.is_empty(), "seeds {failures:?}");
    // Most changes break a rule; some only change what is computed.
    assert!(borne > count / 20, "{borne} of {count}");
}
