//! Small pictures, each reviewed.

use super::{GAPS, ROWS, SWIZZLED, attribute, drawn};
use expect_test::{Expect, expect, expect_file};
use weft_api::request::Picture;
use weft_api::view::{Colours, View, scene, svg, terminal};
use weft_layout::Layout;
use weft_layout::interop::parse_layout;

/// A picture as text and as a file.
fn check(layout: &Layout, picture: Picture, name: &str, text: &Expect) {
    let scene = drawn(layout, picture);
    text.assert_eq(&terminal(&scene, Colours::Off));
    expect_file![format!("golden/{name}.svg")].assert_eq(&svg(&scene));
}

#[test]
fn a_grid() {
    check(
        &attribute(ROWS, &[16, 4]),
        Picture::Grid,
        "grid",
        &expect![[r#"
                 dim1
                 0       1       2       3
        dim0 0   T0:0*   T0:1*   T1:0*   T1:1*
        dim0 1   T4:0*   T4:1*   T5:0*   T5:1*
        dim0 2   T8:0*   T8:1*   T9:0*   T9:1*
        dim0 3   T12:0*  T12:1*  T13:0*  T13:1*
        dim0 4   T16:0*  T16:1*  T17:0*  T17:1*
        dim0 5   T20:0*  T20:1*  T21:0*  T21:1*
        dim0 6   T24:0*  T24:1*  T25:0*  T25:1*
        dim0 7   T28:0*  T28:1*  T29:0*  T29:1*
        dim0 8   T32:0*  T32:1*  T33:0*  T33:1*
        dim0 9   T36:0*  T36:1*  T37:0*  T37:1*
        dim0 10  T40:0*  T40:1*  T41:0*  T41:1*
        dim0 11  T44:0*  T44:1*  T45:0*  T45:1*
        dim0 12  T48:0*  T48:1*  T49:0*  T49:1*
        dim0 13  T52:0*  T52:1*  T53:0*  T53:1*
        dim0 14  T56:0*  T56:1*  T57:0*  T57:1*
        dim0 15  T60:0*  T60:1*  T61:0*  T61:1*

        * held by 2 places, the lowest is named; bits that make copies: lane 1.
    "#]],
    );
}

#[test]
fn a_grid_with_copies_and_elements_that_nobody_holds() {
    check(
        &parse_layout(GAPS).unwrap(),
        Picture::Grid,
        "gaps",
        &expect![[r#"
                dim1
                0      1      2      3
        dim0 0  T0:0*  T0:1*  T1:0*  T1:1*
        dim0 1  T2:0*  T2:1*  T3:0*  T3:1*
        dim0 2  -      -      -      -
        dim0 3  -      -      -      -

        * held by 2 places, the lowest is named; bits that make copies: lane 2.
        - held by nobody.
    "#]],
    );
}

#[test]
fn a_grid_of_offsets() {
    check(
        &attribute(SWIZZLED, &[4, 8]),
        Picture::Grid,
        "offsets",
        &expect![[r#"
                dim1
                0   1   2   3   4   5   6   7
        dim0 0  0   1   2   3   4   5   6   7
        dim0 1  10  11  8   9   14  15  12  13
        dim0 2  20  21  22  23  16  17  18  19
        dim0 3  30  31  28  29  26  27  24  25
    "#]],
    );
}

#[test]
fn a_grid_of_one_axis() {
    let layout = parse_layout("[register: 1, lane: 2, block: 4] -> [dim0: 8]").unwrap();
    let text = terminal(&drawn(&layout, Picture::Grid), Colours::Off);
    let lines = [
        "  dim0",
        "  0        1        2        3        4        5        6        7",
        "  B0.T0:0  B0.T0:1  B0.T1:0  B0.T1:1  B1.T0:0  B1.T0:1  B1.T1:0  B1.T1:1",
    ];
    assert!(text.lines().eq(lines), "{text}");
}

#[test]
fn hardware() {
    check(
        &parse_layout(GAPS).unwrap(),
        Picture::Hardware,
        "hardware",
        &expect![[r#"
                    lane
                    0     1     2     3     4     5     6     7
        register 0  0,0   0,2   1,0   1,2   1,1*  1,3*  0,1*  0,3*
        register 1  0,1   0,3   1,1   1,3   1,0*  1,2*  0,0*  0,2*

        * a copy of what a lower place holds.
    "#]],
    );
    let layout = attribute(SWIZZLED, &[8, 8]);
    let text = terminal(&drawn(&layout, Picture::Hardware), Colours::Off);
    expect![[r#"
                   offset +
                   0    1    2    3    4    5    6    7    8    9    10   11   12   13   14   15   16   17   18   19   20   21   22   23   24   25   26   27   28   29   30   31
        offset 0   0,0  0,1  0,2  0,3  0,4  0,5  0,6  0,7  1,2  1,3  1,0  1,1  1,6  1,7  1,4  1,5  2,4  2,5  2,6  2,7  2,0  2,1  2,2  2,3  3,6  3,7  3,4  3,5  3,2  3,3  3,0  3,1
        offset 32  4,0  4,1  4,2  4,3  4,4  4,5  4,6  4,7  5,2  5,3  5,0  5,1  5,6  5,7  5,4  5,5  6,4  6,5  6,6  6,7  6,0  6,1  6,2  6,3  7,6  7,7  7,4  7,5  7,2  7,3  7,0  7,1
    "#]].assert_eq(&text);
}

#[test]
fn hardware_of_several_warps_and_blocks() {
    let layout = parse_layout(
        "[register: (0,1), lane: (0,2), warp: (1,0), block: (2,0)] -> [dim0: 4, dim1: 4]",
    )
    .unwrap();
    let text = terminal(&drawn(&layout, Picture::Hardware), Colours::Off);
    expect![[r#"
        warp 0, block 0
                    lane
                    0    1
        register 0  0,0  0,2
        register 1  0,1  0,3

        warp 1, block 0
                    lane
                    0    1
        register 0  1,0  1,2
        register 1  1,1  1,3

        warp 0, block 1
                    lane
                    0    1
        register 0  2,0  2,2
        register 1  2,1  2,3

        warp 1, block 1
                    lane
                    0    1
        register 0  3,0  3,2
        register 1  3,1  3,3
    "#]]
    .assert_eq(&text);
}

#[test]
fn panels_of_one_drawing_have_cells_of_one_width() {
    // What the first warp holds is shorter to write than what the second does.
    let layout = parse_layout("[register: 1 2, lane: 4 8, warp: 128] -> [dim0: 256]").unwrap();
    let drawing = svg(&drawn(&layout, Picture::Hardware));
    let mut frames: Vec<_> = drawing
        .match_indices(r#"<rect class="block""#)
        .map(|(at, _)| drawing[at..].split(" height=").next().unwrap())
        .map(|frame| frame.split_once(" y=").map(|(x, y)| (x, y.split_once(" width=").unwrap().1)))
        .collect();
    assert_eq!(frames.len(), 2, "{drawing}");
    frames.dedup();
    assert_eq!(frames.len(), 1, "{drawing}");
}

#[test]
fn a_bank_map() {
    check(
        &attribute(SWIZZLED, &[4, 8]),
        Picture::Banks,
        "banks",
        &expect![[r#"
                dim1
                0       1       2       3       4       5       6       7
        dim0 0  0:b0    1:b0    2:b1    3:b1    4:b2    5:b2    6:b3    7:b3
        dim0 1  10:b5   11:b5   8:b4    9:b4    14:b7   15:b7   12:b6   13:b6
        dim0 2  20:b10  21:b10  22:b11  23:b11  16:b8   17:b8   18:b9   19:b9
        dim0 3  30:b15  31:b15  28:b14  29:b14  26:b13  27:b13  24:b12  25:b12

        sm_90 has 32 banks of 4 bytes; an element has 16 bits.
    "#]],
    );
}

#[test]
fn a_matrix() {
    check(
        &attribute(ROWS, &[16, 8]),
        Picture::Matrix,
        "matrix",
        &expect![[r#"
                register  lane           warp
                0         0  1  2  3  4  0
        dim1 0  1         .  .  .  .  .  .
        dim1 1  .         1  .  .  .  .  .
        dim1 2  .         .  1  .  .  .  .
        dim0 0  .         .  .  1  .  .  .
        dim0 1  .         .  .  .  1  .  .
        dim0 2  .         .  .  .  .  1  .
        dim0 3  .         .  .  .  .  .  1
    "#]],
    );
}

#[test]
fn a_slice() {
    let layout =
        parse_layout("[lane: (1,0,0) (0,1,0) (0,0,1) (2,0,0)] -> [dim0: 4, dim1: 2, dim2: 2]");
    let layout = layout.unwrap();
    let text = |slice: &[u64]| {
        let view = View { slice, ..View::default() };
        scene(&layout.clone().into(), &view).map(|scene| terminal(&scene, Colours::Off))
    };
    expect![[r#"
                dim2
                0      1
        dim1 0  T9:0   T13:0
        dim1 1  T11:0  T15:0

        The slice dim0 = 3 of 4.
    "#]]
    .assert_eq(&text(&[3]).unwrap());
    assert_eq!(text(&[]), text(&[0]));
    let refused = |slice: &[u64], message: Expect| {
        message.assert_eq(&text(slice).unwrap_err().to_string());
    };
    refused(
        &[4],
        expect!["there is no such slice: coordinate 4 does not fit the 2 bits of axis `dim0`"],
    );
    refused(&[1, 1], expect!["a slice of 2 coordinates, and 1 axes"]);
}

#[test]
fn what_does_not_fit_is_left_out_and_counted() {
    let layout = attribute(ROWS, &[64, 128]);
    let text = terminal(&scene(&layout.clone().into(), &View::default()).unwrap(), Colours::Off);
    assert_eq!(text.lines().filter(|line| line.ends_with("  …")).count(), 32);
    assert!(
        text.ends_with("…\n\n… left out: 32 of 64 rows, 96 of 128 columns.\n"),
        "{}",
        &text[text.len() - 80..]
    );
    let hardware = View { picture: Picture::Hardware, ..View::default() };
    // 8192 elements on 64 threads, 128 registers each.
    let scene = scene(&layout.clone().into(), &hardware).unwrap();
    assert_eq!(scene.left_out().unwrap(), "… left out: 96 of 128 rows.");
    assert_eq!(drawn(&layout, Picture::Hardware).left_out(), None);
}
