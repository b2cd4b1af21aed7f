//! Weft in a browser: the requests and answers of `weft-api`, as one function on JSON texts.
//!
//! ```js
//! import init, { invoke } from "./weft_wasm.js";
//! await init();
//! const machines = JSON.parse(invoke(JSON.stringify({ request: "machines" })));
//! ```

use wasm_bindgen::prelude::wasm_bindgen;

/// Answers a request; a request that cannot be answered gives an answer with an `error`.
#[wasm_bindgen]
pub fn invoke(request: &str) -> String {
    weft_api::invoke(request)
}
