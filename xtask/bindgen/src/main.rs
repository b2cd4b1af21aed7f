//! The JavaScript around the engine as WebAssembly: `weft-bindgen MODULE FOLDER`, which `workbench/build
//! --wasm` calls.
//!
//! It stands apart from `xtask`, whose features the compiler would have to be built with once more.

use anyhow::Context as _;
use std::env::args_os;
use wasm_bindgen_cli_support::Bindgen;

/// Writes `weft_wasm.js`, a module that loads `weft_wasm_bg.wasm` beside it, into a folder.
fn main() -> anyhow::Result<()> {
    let mut arguments = args_os().skip(1);
    let mut next = || arguments.next().context("weft-bindgen takes a module and a folder");
    let (input, output) = (next()?, next()?);
    let mut bindgen = Bindgen::new();
    // Names of functions are a quarter of the module, and nobody's browser reads them.
    bindgen.input_path(input).web(true)?.typescript(false).remove_name_section(true);
    bindgen.generate(output)
}
