//! Texts: what is written is read back, and nothing that is read panics.

use arbtest::arbtest;
use std::string::{String, ToString};

use crate::{
    family::Family,
    interop::{ParseErrorKind, parse_attribute, parse_layout},
    testing::{Kind, distributed, shape},
};

#[test]
fn layouts_and_attributes_survive_their_text() {
    arbtest(|u| {
        let bits = u.int_in_range(0..=8)?;
        let shape = shape(u, bits)?;
        let layout = distributed(u, &shape, 2, Kind::General)?;
        assert_eq!(parse_layout(&layout.to_string()).as_ref(), Ok(&layout));
        let family = Family::of(&layout);
        assert_eq!(parse_attribute(&family.to_string()).as_ref(), Ok(&family));
        assert_eq!(matches!(family, Family::Linear(_)), layout.is_distributed());
        assert_eq!(family.layout(&shape), Ok(layout));
        Ok(())
    });
}

#[test]
fn damaged_texts_are_refused_with_a_span() {
    let text = "#ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 4], \
                threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>}>";
    let operand = "#ttg.dot_op<{opIdx = 0, parent = #ttg.amd_wmma<{version = 2, \
                   isTranspose = true, ctaLayout = {register = [[1, 0]], warp = [[0, 1]]}, \
                   CGALayout = [[1, 0]], instrShape = [16, 16, 32]}>, kWidth = 8}>";
    let layout = "[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]";
    arbtest(|u| {
        for text in [text, operand, layout] {
            let mut damaged: String = text.into();
            let at = u.choose_index(text.len())?;
            if u.arbitrary()? {
                damaged.remove(at);
            } else {
                damaged.insert(at, *u.choose(&['#', '[', '}', '9', 'é', ' ', '('])?);
            }
            for error in [parse_attribute(&damaged).err(), parse_layout(&damaged).err()] {
                let Some(error) = error else { continue };
                assert!(damaged.get(error.span.clone()).is_some(), "{error}");
            }
            if let Ok(family) = parse_attribute(&damaged) {
                let _ = family.layout(&[16, 16]);
                let _ = family.layout(&[16]);
            }
        }
        Ok(())
    });
}

#[test]
fn errors_point_at_what_is_wrong() {
    let error = parse_attribute("#ttg.blokced<{order = [0]}>").unwrap_err();
    assert_eq!(
        (error.span, error.kind),
        (0..12, ParseErrorKind::UnknownAttribute("ttg.blokced".into()))
    );
    let error = parse_attribute("#ttg.slice<{dim = 0, dim = 1}>").unwrap_err();
    assert_eq!(error.span, 21..24);
    let deep = "#ttg.slice<{dim = 0, parent = ".repeat(10_000);
    assert_eq!(parse_attribute(&deep).unwrap_err().kind, ParseErrorKind::TooDeep);
    let error = parse_layout("[lane: 1 2] -> [x: 3]").unwrap_err();
    assert_eq!(error.to_string(), "at byte 19: expected a power of two");
}
