//! What is written is read back, in every spelling; the rest is refused where it is wrong.

use arbtest::arbtest;
use std::string::{String, ToString};

use super::{composed, read};
use crate::{
    interop::{
        ParseErrorKind,
        cute::{CuteError, CuteLayout, Mode, Tree, import, mode_labels, parse},
    },
    testing::repeat,
};

#[test]
fn texts_are_read_back() {
    repeat(5000, |u| {
        let composed = composed(u)?;
        assert_eq!(parse(&composed.to_string()), Ok(composed));
        Ok(())
    });
}

#[test]
fn all_spellings_are_read() {
    let same = |texts: &[&str]| {
        for text in texts {
            assert_eq!(read(text).to_string(), texts[0], "{text}");
        }
    };
    same(&["8:1", "_8:_1", " 8 : 1 "]);
    same(&["(4,8):(8,1)", "(_4,_8):(_8,_1)", "(4, 8):(8, 1)", "(4,8,):(8,1,)", "0 o (4,8):(8,1)"]);
    same(&["((2,4),8):((1,16),2)", "((_2,4),_8):((_1,_16),2)"]);
    same(&["(8):(1)", "(8,):(1,)"]);
    same(&["():()", "( ) : ( )"]);
    same(&["7 o 8:-1", "_7 o _8:_-1", "7∘8:-1"]);
    same(&[
        "Sw<3,4,3> o 0 o (8,8):(8,1)",
        "S<3,4,3> o 0 o (8,8):(8,1)",
        "Swizzle<3,4,3> o (8,8):(8,1)",
        "Sw<3,4,3> ∘ _0 ∘ (_8,_8):(_8,_1)",
        "Swizzle<_3, _4, _3>o0o(8,8):(8,1)",
    ]);
    same(&["Sw<1,2,-3> o 0 o Sw<0,4,3> o 6 o 4:8", "S<1,2,-3> o S<0,4,3> o 6 o 4:8"]);
}

#[test]
fn errors_say_what_is_wrong_where() {
    for (text, message) in [
        ("", "at byte 0: expected an integer or `(`"),
        ("8", "at byte 1: expected :"),
        ("(4,8):8", "at byte 6: expected `(`, as the shape has a tuple here"),
        ("8:(1)", "at byte 2: expected one stride, as the shape has one extent here"),
        ("(4,8):(8)", "at byte 8: expected `,` and as many strides as the shape has extents"),
        ("(4,8):(8,1,2)", "at byte 11: expected `)`, as the shape has no more extents here"),
        ("(4,0):(8,1)", "at byte 3: expected an extent of at least 1"),
        ("-4:1", "at byte 0: expected an extent of at least 1"),
        ("(4,?):(8,1)", "at byte 3: expected an integer; `?` is one that only the program knows"),
        ("99999999999999999999:1", "at byte 0: the number does not fit 64 bits"),
        ("8:9223372036854775808", "at byte 2: the number does not fit 64 bits"),
        ("8:1 o", "at byte 4: expected the end of the layout"),
        ("8:1x", "at byte 3: expected the end of the layout"),
        ("Sx<3,4,3> o 8:1", "at byte 0: expected `Sw<B,M,S>`"),
        (
            "Sw<3,4,2> o 8:1",
            "at byte 0: expected a swizzle with B at most |S| and M + |S| + B at most 64",
        ),
        ("Sw<3,4,3>", "at byte 9: expected o"),
        (
            "Sw<1,0,1> o 8 o Sw<1,0,1> o 8:1",
            "at byte 12: expected an offset of 0 between two swizzles",
        ),
        ("(1,2) o 8:1", "at byte 0: expected a layout `shape:stride`"),
        ("1 o 2 o 8:1", "at byte 4: expected a layout `shape:stride`"),
        (
            "(4294967296,4294967296,2):(1,1,1)",
            "at byte 26: expected a layout of at most 2^64 coordinates",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }
    let deep = "(".repeat(100_000);
    assert_eq!(parse(&deep).unwrap_err().kind, ParseErrorKind::TooDeep);
    let wide = "(".to_string() + &"1,".repeat(100_000) + ")";
    let kind = ParseErrorKind::Expected("at most 256 modes and tuples");
    assert_eq!(parse(&wide).unwrap_err().kind, kind);
    let nested = |depth: usize| "(".repeat(depth) + "4" + &")".repeat(depth);
    assert!(parse(&(nested(32) + ":" + &nested(32).replace('4', "1"))).is_ok());
    assert!(parse(&(nested(33) + ":" + &nested(33))).is_err());
}

#[test]
fn damaged_texts_are_refused_or_work() {
    let texts = ["Sw<3,4,3> o 0 o ((_8,2),8):((8,-1),1)", "S<1,0,-1>∘Swizzle<_1,2,3> ∘ _7 ∘ 8:-1"];
    arbtest(|u| {
        let text = *u.choose(&texts)?;
        let mut damaged: String = text.into();
        for _ in 0..u.int_in_range(1..=3)? {
            let places: std::vec::Vec<usize> = damaged.char_indices().map(|at| at.0).collect();
            let at = *u.choose(&places)?;
            if u.arbitrary()? {
                damaged.remove(at);
            } else {
                damaged.insert(at, *u.choose(&['(', ')', '9', ',', 'o', '∘', ':', '-', '_', 'é'])?);
            }
        }
        match parse(&damaged) {
            Err(error) => assert!(damaged.get(error.span.clone()).is_some(), "{damaged}: {error}"),
            Ok(composed) => {
                let _ = composed.apply(u64::MAX);
                let labels = mode_labels(composed.layout.rank()).unwrap();
                if let Ok(affine) = import(&composed, &labels) {
                    assert_eq!(composed.apply(0), Ok(affine.constant()));
                }
                assert_eq!(parse(&composed.to_string()), Ok(composed));
            }
        }
        Ok(())
    })
    .budget_ms(700);
}

#[test]
fn trees_and_layouts_have_limits() {
    let leaf = |extent| Tree::leaf(Mode { extent, stride: 1 });
    let mut tree = leaf(2);
    for _ in 0..32 {
        tree = Tree::tuple(std::vec![tree]).unwrap();
    }
    assert_eq!(Tree::tuple(std::vec![tree]), Err(CuteError::TooDeep));
    assert_eq!(Tree::tuple(std::vec![leaf(1); 256]), Err(CuteError::TooManyModes));
    assert!(Tree::tuple(std::vec![leaf(1); 255]).is_ok());
    let empty = [Mode { extent: 2, stride: 1 }, Mode { extent: 0, stride: 1 }];
    assert_eq!(CuteLayout::flat(&empty), Err(CuteError::EmptyMode { mode: 1 }));
    let large = [Mode { extent: 1 << 63, stride: 0 }; 2];
    assert_eq!(CuteLayout::flat(&large), Err(CuteError::TooLarge));
}
