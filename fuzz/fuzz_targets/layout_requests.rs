//! Requests as JSON: whatever the text, the answer is a JSON object, and a layout's bases ask for the
//! same layout again.

#![no_main]

use serde_json::Value;

libfuzzer_sys::fuzz_target!(|text: &str| {
    for request in ["layout", "convert"] {
        let answer = weft_api::invoke::invoke_line(request, text);
        let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
        let Some(object) = answer.as_object() else { panic!("an answer is an object") };
        if let (Some(bases), Some(shape)) = (object.get("bases"), object.get("shape")) {
            if object.contains_key("constant") || !answer["text"].as_str().is_some_and(is_tensor) {
                continue;
            }
            let again = serde_json::json!({"attribute": {"bases": bases, "shape": shape}});
            let again = weft_api::invoke::invoke_line("layout", &again.to_string());
            let again: Value = serde_json::from_str(&again).expect("an answer is JSON");
            assert_eq!(&again["bases"], bases);
        }
    }
});

/// Whether a layout's text is one of a tensor.
fn is_tensor(text: &str) -> bool {
    text.contains("-> [dim0: ")
}
