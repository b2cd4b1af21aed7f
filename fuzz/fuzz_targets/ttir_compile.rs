//! Any text: what is read compiles or is refused, prints, and runs, without a panic.
//!
//! Half of the mutations keep the text a text of its kind: lines move, one name, number, type or
//! operation takes the place of another, here or everywhere.

#![no_main]

#[path = "../../crates/weft/tests/it/mutated/bear.rs"]
mod bear;
#[path = "../../crates/weft/tests/it/mutated/text.rs"]
mod text;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(module) = weft::ttir::parse(text) else { return };
    for kernel in &module.kernels {
        bear::bear(&module, kernel, text.len(), None);
    }
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let text = core::str::from_utf8(&data[..size]).ok().filter(|_| seed % 2 == 0);
    let Some(changed) = text.and_then(|text| text::mutated(text, seed)) else {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    };
    let size = changed.len().min(max_size).min(data.len());
    data[..size].copy_from_slice(&changed.as_bytes()[..size]);
    size
});
