//! Attributes and bases: whatever the text, reading it ends; what is read prints to something that
//! reads as the same; and its layout on any shape is a layout or an error.

#![no_main]

use weft_layout::interop::{parse_attribute, parse_layout};

const SHAPES: [&[u64]; 7] =
    [&[], &[64], &[16, 16], &[128, 64], &[1, 256], &[4, 32, 16], &[2, 2, 8, 32]];

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(family) = parse_attribute(text) {
        assert_eq!(parse_attribute(&family.to_string()).as_ref(), Ok(&family));
        for shape in SHAPES {
            if let Ok(layout) = family.layout(shape) {
                assert_eq!(layout.shape(), shape);
                assert_eq!(parse_layout(&layout.to_string()).as_ref(), Ok(&layout));
            }
        }
    }
    if let Ok(layout) = parse_layout(text) {
        assert_eq!(parse_layout(&layout.to_string()).as_ref(), Ok(&layout));
    }
});
