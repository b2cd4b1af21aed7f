//! Whether every pass hears that it is stopped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weft::budget::Stop;
use weft::compile::{self, Options};
use weft::simplify::PASSES;
use weft::ttir;
use weft_layout::machine::Machine;

/// A stop's question is asked at the first look at it, and at every sixteenth from then on.
const LOOKS: usize = 16;

/// The passes that look at every operation.
const ALWAYS: [&str; 8] =
    ["expand", "trim", "hoist", "share", "sweep", "sink", "barriers", "redundant_barriers"];
/// The pass that looks at each piece that it may double: none is left in a program that has been through it.
const DONE: &str = "double_buffer";

#[test]
fn every_pass_asks_whether_it_is_stopped() {
    let mut asked: BTreeMap<&str, usize> = BTreeMap::new();
    let mut operations = 0;
    for name in ["kernels/flash_forward", "kernels/sort_rows", "examples/matmul"] {
        let path = format!("{}/../../{name}.ttir", env!("CARGO_MANIFEST_DIR"));
        let module = ttir::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        let machine = Machine::by_name("sm_80").unwrap();
        let options = Options::for_machine(machine);
        let program = compile::compile(&module, &module.kernels[0], &options).unwrap().program;
        program.walk(&program.body, &mut |_, _| operations += 1);
        for pass in PASSES {
            let counted = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&counted);
            let stop = Stop::default().inner_until(move || {
                count.fetch_add(1, Ordering::Relaxed);
                false
            });
            drop((pass.run)(program.clone(), &stop));
            *asked.entry(pass.name).or_default() += counted.load(Ordering::Relaxed);
        }
    }
    for pass in PASSES.iter().filter(|pass| pass.name != DONE) {
        let least = if ALWAYS.contains(&pass.name) { operations / LOOKS / 2 } else { 1 };
        let asked = asked[pass.name];
        assert!(asked >= least, "`{}` asks {asked} times over {operations} operations", pass.name);
    }
}
