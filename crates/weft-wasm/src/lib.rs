//! Weft in a browser: the requests and answers of `weft-api`, as one function on JSON texts.
//!
//! ```js
//! import init, { invoke } from "./weft_wasm.js";
//! await init();
//! const machines = JSON.parse(invoke(JSON.stringify({ request: "machines" })));
//! ```

use wasm_bindgen::prelude::wasm_bindgen;
use weft_api::budget::{self, Budget};

#[wasm_bindgen]
extern "C" {
    /// The milliseconds since 1970, by the clock that every host of JavaScript has.
    #[wasm_bindgen(js_namespace = Date, js_name = now)]
    fn date_now() -> f64;
}

/// Answers a request; a request that cannot be answered gives an answer with an `error`.
#[wasm_bindgen]
pub fn invoke(request: &str) -> String {
    budget::within_by(|| date_now() as u64, &Budget::default(), || weft_api::invoke(request))
}
