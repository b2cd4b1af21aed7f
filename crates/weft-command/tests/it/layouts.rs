//! `weft layout`, `weft convert`, `weft machines`.

use crate::{weft, weft_with};
use expect_test::{Expect, expect};

const ROWS: &str = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], \
                    warpsPerCTA = [2, 1], order = [1, 0]}>";
const COLUMNS: &str = "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [4, 8], \
                       warpsPerCTA = [2, 1], order = [0, 1]}>";

fn check(arguments: &[&str], text: &Expect) {
    let finished = weft_with(arguments, "");
    text.assert_eq(&finished.stdout);
    assert_eq!((finished.status, &*finished.stderr), (0, ""));
}

#[test]
fn a_layout_in_three_forms() {
    let layout = ["layout", ROWS, "--shape", "16x8"];
    check(
        &layout,
        &expect![[r#"
        register  (0,1)
        lane      (0,2) (0,4) (1,0) (2,0) (4,0)
        warp      (8,0)
        block     -
        shape     16x8
    "#]],
    );
    check(
        &[&layout[..], &["--format", "matrix"]].concat(),
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
    check(
        &[&layout[..], &["--format", "grid"]].concat(),
        &expect![[r#"
        T0:0   T0:1   T1:0   T1:1   T2:0   T2:1   T3:0   T3:1
        T4:0   T4:1   T5:0   T5:1   T6:0   T6:1   T7:0   T7:1
        T8:0   T8:1   T9:0   T9:1   T10:0  T10:1  T11:0  T11:1
        T12:0  T12:1  T13:0  T13:1  T14:0  T14:1  T15:0  T15:1
        T16:0  T16:1  T17:0  T17:1  T18:0  T18:1  T19:0  T19:1
        T20:0  T20:1  T21:0  T21:1  T22:0  T22:1  T23:0  T23:1
        T24:0  T24:1  T25:0  T25:1  T26:0  T26:1  T27:0  T27:1
        T28:0  T28:1  T29:0  T29:1  T30:0  T30:1  T31:0  T31:1
        T32:0  T32:1  T33:0  T33:1  T34:0  T34:1  T35:0  T35:1
        T36:0  T36:1  T37:0  T37:1  T38:0  T38:1  T39:0  T39:1
        T40:0  T40:1  T41:0  T41:1  T42:0  T42:1  T43:0  T43:1
        T44:0  T44:1  T45:0  T45:1  T46:0  T46:1  T47:0  T47:1
        T48:0  T48:1  T49:0  T49:1  T50:0  T50:1  T51:0  T51:1
        T52:0  T52:1  T53:0  T53:1  T54:0  T54:1  T55:0  T55:1
        T56:0  T56:1  T57:0  T57:1  T58:0  T58:1  T59:0  T59:1
        T60:0  T60:1  T61:0  T61:1  T62:0  T62:1  T63:0  T63:1
    "#]],
    );
}

#[test]
fn a_conversion() {
    let arguments =
        ["convert", "--from", ROWS, "--to", COLUMNS, "--shape", "16x8", "--element", "f16"];
    let finished = weft_with(&arguments, "");
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stdout.starts_with("strategy           "), "{}", finished.stdout);
    assert!(finished.stdout.contains("\nverified           by the witness\n"));
}

#[test]
fn layouts_that_cannot_be_read() {
    let refused = |attribute: &str, shape: &str, message: Expect| {
        let finished = weft_with(&["layout", attribute, "--shape", shape], "");
        message.assert_eq(&finished.stderr);
        assert_eq!((finished.status, &*finished.stdout), (2, ""));
    };
    refused(
        "#ttg.blocked<{sizePerThread = [1, x]}>",
        "8x8",
        expect![[r#"
        error: `attribute`, column 35: expected a number, a list or `#`
    "#]],
    );
    refused(
        "#ttg.woven<{}>",
        "8x8",
        expect![[r#"
        error: `attribute`, column 1: unknown attribute `#ttg.woven`; known are ttg.blocked, ttg.linear, ttg.slice, ttg.dot_op, ttg.swizzled_shared
    "#]],
    );
    refused(
        ROWS,
        "8x9",
        expect![[r#"
        error: 9 is no extent of a tensor: powers of two are
    "#]],
    );
    refused(
        ROWS,
        "8",
        expect![[r#"
        error: `attribute`: 2 axes are expected, 1 are given
    "#]],
    );
    refused(
        "[lane: (0,1)] -> [dim0: 2, dim1: 2]",
        "4x4",
        expect![[r#"
        error: `attribute` is a layout of a tensor of shape [2, 2], not [4, 4]
    "#]],
    );
    let finished = weft_with(&["layout", ROWS, "--shape", "16x8", "--element", "half"], "");
    assert!(finished.stderr.starts_with("error: there is no element type `half`\n  help: "));
}

#[test]
fn machines() {
    let finished = weft("machines");
    assert_eq!(finished.status, 0);
    for name in ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"] {
        assert!(finished.stdout.contains(&format!("\n{name}")), "{}", finished.stdout);
    }
}
