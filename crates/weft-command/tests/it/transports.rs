//! The command's batches beside the function that they call, on the list of requests by which all shells
//! are compared.

use crate::weft_with;
use serde_json::Value;
use weft_api::invoke::invoke;

const LINES: &str = include_str!("../../../weft-api/tests/transports/requests.jsonl");

#[test]
fn batches_give_the_same_bytes() {
    for name in ["layout", "convert", "swizzle", "conflicts", "compile"] {
        let asked = |line: &&str| {
            let request: Value = serde_json::from_str(line).unwrap_or_default();
            // What a batch passes over is left out.
            request["request"] == name && !invoke(line).contains(r#""kind":"request""#)
        };
        let lines: Vec<&str> = LINES.lines().filter(asked).collect();
        assert!(lines.len() > 2, "{name}");
        let finished = weft_with(&[name, "--batch", "-"], &(lines.join("\n") + "\n"));
        assert_eq!((finished.status, &*finished.stderr), (0, ""));
        assert_eq!(finished.stdout.lines().count(), lines.len());
        for (line, answer) in lines.iter().zip(finished.stdout.lines()) {
            assert_eq!(answer, invoke(line), "{line}");
        }
    }
}
