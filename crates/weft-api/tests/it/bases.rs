//! A layout as data, there and back.

use crate::random;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use weft_api::invoke;

fn answer(request: &Value) -> Value {
    serde_json::from_str(&invoke(&request.to_string())).unwrap()
}

#[test]
fn what_is_answered_can_be_asked() {
    arbtest::arbtest(|u| {
        let layout = random::layout(u)?;
        let (text, shape) = (layout.to_string(), layout.shape());
        let asked = json!({"request": "layout", "attribute": text, "shape": shape});
        let line = invoke(&asked.to_string());
        // Not through a `Value`, whose keys are sorted: the order of the keys is the order of axes.
        let end = line.find(",\"shape\"").unwrap();
        let bases = line[..end].strip_prefix("{\"bases\":").unwrap();
        for attribute in [
            format!(r#"{{"bases": {bases}}}"#),
            format!(r#"{{"shape": {shape:?}, "bases": {bases}}}"#),
        ] {
            let request =
                format!(r#"{{"request": "layout", "attribute": {attribute}, "shape": {shape:?}}}"#);
            assert_eq!(invoke(&request), line);
        }
        Ok(())
    })
    .budget_ms(500);
}

#[test]
fn a_conversion_between_objects_is_the_one_between_texts() {
    let from = "[register: (0,1), lane: (0,2) (0,4) (1,0) (2,0) (4,0)] -> [dim0: 8, dim1: 8]";
    let to = "[register: (1,0), lane: (2,0) (4,0) (0,1) (0,2) (0,4)] -> [dim0: 8, dim1: 8]";
    let convert = |from: Value, to: Value| {
        answer(&json!({
            "request": "convert", "from": from, "to": to, "shape": [8, 8], "element": "f16",
        }))
    };
    let texts = convert(json!(from), json!(to));
    assert_eq!(texts["verified"], true);
    let lane = |bits: [[u64; 2]; 5]| json!(bits);
    let objects = convert(
        json!({"bases": {"register": [[0, 1]], "lane": lane([[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]])}}),
        json!({"bases": {"register": [[1, 0]], "lane": lane([[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]])}}),
    );
    // The keys of a `Value` are sorted, so that the axes come as lane, register.
    assert_eq!(objects["cost"], texts["cost"]);
    assert_eq!(objects["verified"], true);
}

fn refused(attribute: &Value, message: &Expect) {
    let answer = answer(&json!({"request": "layout", "attribute": attribute, "shape": [4, 4]}));
    let error = &answer["error"];
    message.assert_eq(&format!(
        "{}: {}",
        error["kind"].as_str().unwrap(),
        error["message"].as_str().unwrap()
    ));
}

#[test]
fn objects_that_are_no_layouts() {
    refused(&json!({}), &expect!["json: missing field `bases`"]);
    refused(
        &json!(4),
        &expect![
            "json: invalid type: integer `4`, expected the text of a layout, or an object with its `bases`"
        ],
    );
    refused(
        &json!({"bases": {}, "size": [4, 4]}),
        &expect!["json: unknown field `size`, expected `bases` or `shape`"],
    );
    refused(
        &json!({"bases": {"lane": [1, 2]}}),
        &expect!["json: invalid type: integer `1`, expected a sequence"],
    );
    refused(
        &json!({"bases": {"lane": [[1, 2], [-1, 0]]}}),
        &expect!["json: invalid value: integer `-1`, expected u64"],
    );
    refused(
        &json!({"bases": {"lane": [[0, 1], [0, 4]]}}),
        &expect![
            "attribute: `attribute`, basis 1 of `lane`: coordinate 4 does not fit the 2 bits of axis `dim1`"
        ],
    );
    refused(
        &json!({"bases": {"lane": [[0, 1], [1]]}}),
        &expect![
            "attribute: `attribute`: basis 1 of `lane` has 1 coordinates, the tensor has 2 axes"
        ],
    );
    refused(
        &json!({"bases": {"lane": [[0, 1], [1, 1, 1]]}}),
        &expect![
            "attribute: `attribute`: basis 1 of `lane` has 3 coordinates, the tensor has 2 axes"
        ],
    );
    refused(
        &json!({"bases": {"a warp": []}}),
        &expect![
            "attribute: `attribute`: `a warp` is no axis label: 1 to 15 letters, digits, `_` or `.` are expected"
        ],
    );
    refused(
        &json!({"bases": {"lane": vec![[0, 1]; 65]}}),
        &expect!["attribute: `attribute`: the axes have 65 bits together, at most 64 are possible"],
    );
    refused(
        &json!({"bases": {"lane": []}, "shape": [4]}),
        &expect!["shape: `attribute` is a layout of a tensor of shape [4], not [4, 4]"],
    );
    refused(
        &json!({"bases": {"lane": []}, "shape": [3, 4]}),
        &expect!["shape: 3 is not a power of two, as the extents of a tensor must be"],
    );
    refused(
        &json!("[lane: 1] -> [x: 4]"),
        &expect![
            "attribute: `attribute`: the outputs are not the axes of a tensor, minor axis first"
        ],
    );
}

#[test]
fn an_axis_given_twice_is_refused() {
    let request = r#"{"request": "layout", "shape": [4],
        "attribute": {"bases": {"lane": [[1]], "lane": [[2]]}}}"#;
    expect![[r#"{"error":{"kind":"json","message":"axis `lane` occurs twice","path":"attribute.bases","line":2,"column":61}}"#]]
    .assert_eq(&invoke(request));
}
