//! The program of one thread of a random kernel, which is then spoilt: verifying ends without a panic, and
//! what is still accepted is printed or refused, runs, and does the same after the passes as before.

#![no_main]

#[path = "../../crates/weft/tests/it/spoilt/lane.rs"]
mod lane;
mod random;

use libfuzzer_sys::arbitrary::{Arbitrary, Unstructured};
use weft::compile::{self, Options};
use weft::tile::Module;
use weft_layout::Machine;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut input = Unstructured::new(bytes);
    let Ok(count) = input.int_in_range(0..=4) else { return };
    let edits: Vec<lane::Edit> =
        (0..count).map_while(|_| lane::Edit::arbitrary(&mut input).ok()).collect();
    let (kernel, args, memory) = random::kernel(input.take_rest());
    let machine = Machine::by_name("sm_90").expect("a machine of the table");
    let module = Module { kernels: vec![kernel.clone()], ..Module::default() };
    let Ok(compiled) = compile::compile(&module, &kernel, &Options::for_machine(machine)) else {
        return;
    };
    let mut program = compiled.program;
    for &edit in &edits {
        lane::spoil(&mut program, edit);
    }
    lane::bear(&program, &compile::simulated(machine, 8), &args, &memory);
});
