//! A random kernel, as the tests make them, for a random machine: compiled, printed and read back,
//! printed for every target, simulated, and equal to the evaluator.

#![no_main]

mod random;

use random::check::{MACHINES, Setting};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let choice = usize::from(choice);
    let machine = MACHINES[choice % MACHINES.len()];
    let setting = Setting { machine, warps: 1 << (choice / MACHINES.len() % 4) };
    if let Err(wrong) = random::hold(bytes, setting) {
        panic!("{wrong}");
    }
});
