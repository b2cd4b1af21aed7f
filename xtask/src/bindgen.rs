//! The JavaScript around the engine as WebAssembly.

use std::path::Path;
use wasm_bindgen_cli_support::Bindgen;

/// Writes `weft_wasm.js`, a module that loads `weft_wasm_bg.wasm` beside it, into a folder.
pub(crate) fn run(input: &Path, output: &Path) -> anyhow::Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).web(true)?.typescript(false);
    bindgen.generate(output)
}
