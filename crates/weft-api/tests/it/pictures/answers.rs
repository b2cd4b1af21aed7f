//! Pictures in answers, and refusals.

use super::{ROWS, SWIZZLED, attribute, banks, cells, drawn, full};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use weft_api::request::Picture;
use weft_api::view::{Colours, MAX_CELLS, View, scene, svg, terminal};
use weft_api::{ApiError, invoke};
use weft_layout::Layout;
use weft_layout::interop::parse_layout;

#[test]
fn what_cannot_be_drawn_says_why() {
    let refused = |layout: &Layout, view: &View<'_>, message: &Expect| {
        let error = scene(&layout.clone().into(), view).unwrap_err();
        message.assert_eq(&format!("{error}; {}", error.hint().unwrap()));
    };
    let threads = attribute(ROWS, &[16, 8]);
    let memory = attribute(SWIZZLED, &[8, 8]);
    refused(
        &attribute(ROWS, &[512, 256]),
        &full(Picture::Grid),
        &expect![
            "131072 cells are too many to draw in full; a picture in full has at most 65536 cells; as text it may be shown in part"
        ],
    );
    refused(
        &attribute(ROWS, &[512, 256]),
        &full(Picture::Hardware),
        &expect![
            "131072 cells are too many to draw in full; a picture in full has at most 65536 cells; as text it may be shown in part"
        ],
    );
    refused(
        &threads,
        &full(Picture::Banks),
        &expect![
            "the layout is none of memory, so that its elements lie in no banks; a bank map shows a layout from the axis `offset`"
        ],
    );
    refused(
        &memory,
        &View { banks: None, ..full(Picture::Banks) },
        &expect![[
            r#"the element's type is missing; give the elements' type, `--element f16`, in a request `"element": "f16"`; or there their width, `"element_bits": 16`"#
        ]],
    );
    refused(
        &memory,
        &View { banks: Some(banks(0)), ..full(Picture::Banks) },
        &expect![[
            r#"the element's type is one of 0 bits, which lies in no bank; give the elements' type, `--element f16`, in a request `"element": "f16"`; or there their width, `"element_bits": 16`"#
        ]],
    );
    let other = parse_layout("[lane: 1 2] -> [x: 4]").unwrap();
    refused(
        &other,
        &View::default(),
        &expect!["[x: 4] is no tensor; a picture shows a layout of the axes dim0, dim1, …"],
    );
    refused(
        &Layout::empty(),
        &View::default(),
        &expect!["[] is no tensor; a picture shows a layout of the axes dim0, dim1, …"],
    );
    assert_eq!(cells(&drawn(&attribute(ROWS, &[256, 256]), Picture::Grid)).count(), 1 << 16);
    assert_eq!(MAX_CELLS, 1 << 16);
}

#[test]
fn an_answer_holds_the_picture_that_the_drawers_draw() {
    let layout = attribute(SWIZZLED, &[4, 8]);
    let answer = |more: Value| -> Value {
        let mut request = json!({
            "request": "layout", "attribute": SWIZZLED, "shape": [4, 8], "element": "f16",
        });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_str(&invoke(&request.to_string())).unwrap()
    };
    assert!(answer(json!({})).get("picture").is_none());
    let pictures = [
        ("grid", Picture::Grid),
        ("hardware", Picture::Hardware),
        ("banks", Picture::Banks),
        ("matrix", Picture::Matrix),
    ];
    for (name, picture) in pictures {
        let scene = drawn(&layout, picture);
        let text = answer(json!({"format": name}));
        assert_eq!(text["picture"], terminal(&scene, Colours::Off));
        let file = answer(json!({"format": "svg", "picture": name}));
        assert_eq!(file["picture"], svg(&scene));
    }
    let file = answer(json!({"format": "svg"}));
    assert_eq!(file["picture"], svg(&drawn(&layout, Picture::Grid)));
    assert!(answer(json!({"format": "text"}))["picture"].as_str().unwrap().starts_with("offset "));

    let refused = |more: Value, message: &Expect| {
        let answer = answer(more);
        let error = &answer["error"];
        let [message_text, hint] =
            ["message", "hint"].map(|key| error[key].as_str().unwrap_or("-"));
        message.assert_eq(&format!("{message_text}; {hint}"));
    };
    refused(
        json!({"format": "png"}),
        &expect![
            "unknown variant `png`, expected one of `text`, `grid`, `hardware`, `banks`, `matrix`, `svg`; -"
        ],
    );
    refused(
        json!({"format": "grid", "picture": "banks"}),
        &expect![
            "`picture` says what an SVG file shows, and the format is another; give the format `svg`, or the picture itself as the format"
        ],
    );
    refused(
        json!({"format": "banks", "target": "sm_1"}),
        &expect![
            "there is no target `sm_1`; known are sm_80, sm_86, sm_89, sm_90, sm_100, sm_120, gfx90a, gfx942, gfx950, gfx1100, gfx1200, products such as h100 or mi300x, and files such as mine.json"
        ],
    );
    refused(
        json!({"format": "grid", "slice": [1]}),
        &expect![
            "a slice of 1 coordinates, and 0 axes; a slice has a coordinate for each axis but the last two"
        ],
    );
}

#[test]
fn an_error_of_a_picture_is_of_that_kind() {
    let error: ApiError =
        scene(&attribute(ROWS, &[16, 8]).into(), &full(Picture::Banks)).unwrap_err();
    assert_eq!(error.kind(), "picture");
}

/// The bank of each element, told with the tile, is the one that serves it, gaps or not.
#[test]
fn places_are_where_elements_are_served() {
    let memories = [
        "(16,32):(32,1)",
        "Swizzle<4,1,4> o 0 o (16,32):(32,1)",
        "#ttg.padded_shared<[32:+2] {order = [1, 0], shape = [16, 32]}>",
    ];
    for memory in memories {
        let mut served = 0;
        for instruction in 0..16 {
            let request = json!({
                "request": "wavefronts",
                "registers": "[register: (0,2) (0,4) (0,8) (0,16), \
                              lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> [dim0: 16, dim1: 32]",
                "memory": memory,
                "shape": [16, 32],
                "element": "f32",
                "instruction": instruction,
                "places": true,
            });
            let answer: Value = serde_json::from_str(&invoke(&request.to_string())).unwrap();
            let places = answer["places"].as_array().unwrap();
            assert_eq!(places.len(), 512);
            for word in answer["phases"][0]["words"].as_array().unwrap() {
                let element = &word["moved"][0]["element"];
                let [row, column] = [0, 1].map(|axis| element[axis].as_u64().unwrap());
                let place = &places[(row * 32 + column) as usize];
                assert_eq!(place["bank"], word["bank"], "{memory} {element}");
                assert_eq!(place["offset"].as_u64().unwrap() * 4, word["address"]);
                served += 1;
            }
        }
        assert_eq!(served, 512);
    }
}
