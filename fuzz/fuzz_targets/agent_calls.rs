//! Arguments of an agent's tools: whatever they are, every tool replies with a JSON object, and what a
//! reply left out is found again under its handle.

#![no_main]

use serde_json::{Map, Value};
use std::sync::LazyLock;
use weft_api::agent::{self, Shelf};

static TOOLS: LazyLock<Vec<agent::Tool>> = LazyLock::new(agent::tools);

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(text) else { return };
    let mut shelf = Shelf::default();
    for tool in TOOLS.iter() {
        let reply = if tool.name == "more" {
            agent::more(&shelf, &arguments)
        } else {
            agent::call(tool.name, &arguments).expect("a tool that is named is there")
        };
        assert!(reply.value.is_object(), "{} replies with an object", tool.name);
        for kept in reply.kept {
            let handle = kept.handle.clone();
            shelf.keep(kept);
            // A text for which there is no room is not kept.
            if shelf.find(&handle).is_some() {
                let handle = Map::from_iter([("handle".into(), Value::from(handle))]);
                assert!(!agent::more(&shelf, &handle).is_error, "what is kept is found again");
            }
        }
    }
});
