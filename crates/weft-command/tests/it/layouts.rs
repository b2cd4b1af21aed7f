//! `weft layout`, `weft convert`, `weft machines`.

use crate::{finished, weft, weft_with};
use expect_test::{Expect, expect};
use std::process::Command;

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
fn a_layout_in_several_forms() {
    let layout = ["layout", ROWS, "--shape", "16x8"];
    check(
        &layout,
        &expect![[r#"
            register  (0,1)
            lane      (0,2) (0,4) (1,0) (2,0) (4,0)
            warp      (8,0)
            block     -
            shape     16x8
            triton: #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [8, 8]}>
            triton: #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>
            triton: #ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [8, 8]}>, kWidth = 2}>
            triton: #ttg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[8, 0]], block = []}>
            cute thread-value: ((4,16),2):((32,1),16)
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
                     dim1
                     0      1      2      3      4      5      6      7
            dim0 0   T0:0   T0:1   T1:0   T1:1   T2:0   T2:1   T3:0   T3:1
            dim0 1   T4:0   T4:1   T5:0   T5:1   T6:0   T6:1   T7:0   T7:1
            dim0 2   T8:0   T8:1   T9:0   T9:1   T10:0  T10:1  T11:0  T11:1
            dim0 3   T12:0  T12:1  T13:0  T13:1  T14:0  T14:1  T15:0  T15:1
            dim0 4   T16:0  T16:1  T17:0  T17:1  T18:0  T18:1  T19:0  T19:1
            dim0 5   T20:0  T20:1  T21:0  T21:1  T22:0  T22:1  T23:0  T23:1
            dim0 6   T24:0  T24:1  T25:0  T25:1  T26:0  T26:1  T27:0  T27:1
            dim0 7   T28:0  T28:1  T29:0  T29:1  T30:0  T30:1  T31:0  T31:1
            dim0 8   T32:0  T32:1  T33:0  T33:1  T34:0  T34:1  T35:0  T35:1
            dim0 9   T36:0  T36:1  T37:0  T37:1  T38:0  T38:1  T39:0  T39:1
            dim0 10  T40:0  T40:1  T41:0  T41:1  T42:0  T42:1  T43:0  T43:1
            dim0 11  T44:0  T44:1  T45:0  T45:1  T46:0  T46:1  T47:0  T47:1
            dim0 12  T48:0  T48:1  T49:0  T49:1  T50:0  T50:1  T51:0  T51:1
            dim0 13  T52:0  T52:1  T53:0  T53:1  T54:0  T54:1  T55:0  T55:1
            dim0 14  T56:0  T56:1  T57:0  T57:1  T58:0  T58:1  T59:0  T59:1
            dim0 15  T60:0  T60:1  T61:0  T61:1  T62:0  T62:1  T63:0  T63:1
        "#]],
    );
}

const SWIZZLED: &str =
    "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>";

#[test]
fn a_layout_of_memory() {
    let layout = ["layout", SWIZZLED, "--shape", "4x8", "--element", "f32", "--target", "sm_80"];
    check(
        &[&layout[..], &["--format", "hardware"]].concat(),
        &expect![[r#"
                  offset +
                  0    1    2    3    4    5    6    7    8    9    10   11   12   13   14   15   16   17   18   19   20   21   22   23   24   25   26   27   28   29   30   31
        offset 0  0,0  0,1  0,2  0,3  0,4  0,5  0,6  0,7  1,2  1,3  1,0  1,1  1,6  1,7  1,4  1,5  2,4  2,5  2,6  2,7  2,0  2,1  2,2  2,3  3,6  3,7  3,4  3,5  3,2  3,3  3,0  3,1
    "#]],
    );
    check(
        &[&layout[..], &["--format", "banks"]].concat(),
        &expect![[r#"
                dim1
                0       1       2       3       4       5       6       7
        dim0 0  0:b0    1:b1    2:b2    3:b3    4:b4    5:b5    6:b6    7:b7
        dim0 1  10:b10  11:b11  8:b8    9:b9    14:b14  15:b15  12:b12  13:b13
        dim0 2  20:b20  21:b21  22:b22  23:b23  16:b16  17:b17  18:b18  19:b19
        dim0 3  30:b30  31:b31  28:b28  29:b29  26:b26  27:b27  24:b24  25:b25

        sm_80 has 32 banks of 4 bytes; an element has 32 bits.
    "#]],
    );
    let refused = |arguments: &[&str], message: Expect| {
        let finished = weft_with(arguments, "");
        message.assert_eq(&finished.stderr);
        assert_eq!((finished.status, &*finished.stdout), (2, ""));
    };
    refused(
        &["layout", SWIZZLED, "--shape", "4x8", "--format", "banks"],
        expect![[r#"
            error: the element's type is missing
              help: give the elements' type, `--element f16`, in a request `"element": "f16"`; or there their width, `"element_bits": 16`
        "#]],
    );
    refused(
        &["layout", ROWS, "--shape", "16x8", "--picture", "grid"],
        expect![[r#"
        error: `picture` says what an SVG file shows, and the format is another
          help: give the format `svg`, or the picture itself as the format
    "#]],
    );
    refused(
        &["layout", ROWS, "--shape", "1024x1024", "--format", "svg"],
        expect![[r#"
        error: 1048576 cells are too many to draw in full
          help: a picture in full has at most 65536 cells; as text it may be shown in part
    "#]],
    );
}

#[test]
fn a_picture_is_the_same_text_in_every_answer() {
    for more in [
        &["--format", "text"][..],
        &["--format", "grid"],
        &["--format", "banks"],
        &["--format", "svg"],
        &["--format", "svg", "--picture", "banks"],
        &["--format", "svg", "--picture", "hardware"],
        &["--format", "svg", "--picture", "matrix"],
        &["--format", "grid", "--all"],
    ] {
        let layout = ["layout", SWIZZLED, "--shape", "64x8", "--element", "f16"];
        let arguments = [&layout[..], more].concat();
        let text = weft_with(&arguments, "").stdout;
        let answer = weft_with(&[&arguments[..], &["--json"]].concat(), "").stdout;
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["picture"], text, "{more:?}");
        assert_eq!(
            text.contains("left out"),
            more == ["--format", "grid"] || more == ["--format", "banks"]
        );
    }
    let slices = "[lane: (1,0,0) (0,1,0) (0,0,1)] -> [dim0: 2, dim1: 2, dim2: 2]";
    let slice = ["layout", slices, "--shape", "2x2x2", "--format", "grid", "--slice", "1"];
    check(
        &slice,
        &expect![[r#"
                dim2
                0     1
        dim1 0  T1:0  T5:0
        dim1 1  T3:0  T7:0

        The slice dim0 = 1 of 2.
    "#]],
    );
}

#[test]
fn colours_are_for_terminals_and_for_those_who_insist() {
    let command = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(["layout", SWIZZLED, "--shape", "4x8", "--format", "grid"]);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR");
        command
    };
    let plain = finished(&mut command(), "").stdout;
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let insisted = finished(command().env("CLICOLOR_FORCE", "1"), "").stdout;
    assert!(insisted.contains("\u{1b}[48;2;230;159;0m"), "{insisted}");
    let objected = finished(command().env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1"), "").stdout;
    assert_eq!(objected, plain);
}

#[test]
fn a_conversion() {
    let arguments =
        ["convert", "--from", ROWS, "--to", COLUMNS, "--shape", "16x8", "--element", "f16"];
    let finished = weft_with(&arguments, "");
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stdout.starts_with("strategy           "), "{}", finished.stdout);
    assert!(finished.stdout.contains("\nverified           by the witness\n"));
    assert!(
        finished.stdout.contains("\nalternatives       shared memory: "),
        "{}",
        finished.stdout
    );
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
            error: `attribute`, column 15: expected a list of numbers
              help: a layout is an attribute of Triton's (`#ttg.blocked<{…}>`), bases (`[register: (0,1), lane: (1,0)] -> [dim0: 2, dim1: 2]`) or CuTe's (`(8,64):(64,1)`)
        "#]],
    );
    refused(
        "#ttg.woven<{}>",
        "8x8",
        expect![[r#"
            error: `attribute`, column 1: unknown attribute `#ttg.woven`; known are ttg.blocked, ttg.linear, ttg.generic_linear, ttg.slice, ttg.dot_op, ttg.nvidia_mma, ttg.amd_mfma, ttg.amd_wmma, ttig.dpas, ttg.swizzled_shared, ttg.amd_rotating_shared, ttg.padded_shared, ttg.partitioned_shared, ttg.nvmma_shared, ttg.shared_linear, ttng.tensor_memory_encoding, ttng.tensor_memory_scales_encoding
        "#]],
    );
    refused(
        ROWS,
        "8x9",
        expect![[r#"
            error: 9 is not a power of two, as the extents of a tensor must be
              help: pad it to 16, and mask what is beyond
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
              help: give the extents 2x2, or a layout of a tensor of 4x4
        "#]],
    );
    let finished = weft_with(&["layout", ROWS, "--shape", "16x8", "--element", "quarter"], "");
    assert!(finished.stderr.starts_with("error: there is no element type `quarter`\n  help: "));
}

/// What is no matrix of bits is answered with its gaps, or refused with the form that is.
#[test]
fn layouts_of_cute_that_are_no_matrices() {
    let shown = |attribute: &str| {
        let finished = weft_with(&["layout", attribute], "");
        (finished.status, finished.stdout + &finished.stderr)
    };
    let (status, text) = shown("(16,32):(33,1)");
    expect![[r#"
        offset    (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,0) (4,0) (8,0)
        shape     16x32
        gap       1 after every 32 offsets
    "#]]
    .assert_eq(&text);
    assert_eq!(status, 0);
    let (status, text) = shown("(12,5):(5,1)");
    expect![[r#"
        error: `attribute`: extent 12 of mode 0 is no power of two; pad it to 16 and mask what is beyond
          help: `(16,8):(8,1)` holds all of it
    "#]]
    .assert_eq(&text);
    assert_eq!(status, 2);
    // A gap of three is none of a padded memory's.
    let (status, text) = shown("(16,32):(35,1)");
    assert_eq!(status, 2);
    assert!(text.contains("a swizzle replaces padding"), "{text}");
}

#[test]
fn machines() {
    let finished = weft("machines");
    assert_eq!(finished.status, 0);
    let all: serde_json::Value = serde_json::from_str(&weft("machines --json").stdout).unwrap();
    let gfx950 = all["machines"].as_array().unwrap().iter().find(|row| row["name"] == "gfx950");
    assert_eq!(
        (&gfx950.unwrap()["banks"], &gfx950.unwrap()["store_banks"]),
        (&64.into(), &32.into())
    );
    assert_eq!(gfx950.unwrap()["matrix_moves"][0]["name"], "ds_read_b64_tr_b16");
    expect![[r#"
        machine  lanes  banks  vector bytes   sector  shared bytes  threads     multi-   phases      prices      such as
                               shared/global   bytes     of a block  of a block  processors
        sm_80       32     32          16/16      32        166912        1024         108  inferred    inferred    a100, a30
        sm_86       32     32          16/16      32        101376        1024          84  inferred    inferred    rtx3090, rtx3090ti
        sm_89       32     32          16/16      32        101376        1024         142  inferred    inferred    rtx4090, rtx4080
        sm_90       32     32          16/16      32        232448        1024         132  measured    measured    h100, h200
        sm_100      32     32          16/32      32        232448        1024         148  inferred    inferred    b200, gb200
        sm_120      32     32          16/32      32        101376        1024         188  inferred    inferred    rtx5090, rtx5080
        gfx90a      64     32          16/16      64         65536        1024         110  inferred    documented  mi250x, mi250
        gfx942      64     32          16/16      64         65536        1024         304  published   documented  mi300x, mi300a
        gfx950      64     64          16/16      64        163840        1024         256  published   documented  mi355x, mi350x
        gfx1100     32     32          16/16      64         65536        1024          96  published   documented  rx7900xtx, rx7900xt
        gfx1200     32     32          16/16      64         65536        1024          32  published   documented  rx9060xt
    "#]]
    .assert_eq(&finished.stdout);
}

#[test]
fn one_machine() {
    let finished = weft("machines gfx1200");
    expect![[r#"
        gfx1200: AMD's instruction set

        lanes of a warp               32                           documented
        banks                         32                           documented
        banks of stores               32                           documented
        bytes of a bank               4                            documented
        bytes of a shared access      16                           assembled
        bytes of a global access      16                           assembled
        bytes of an atomic sum        1                            inferred
        bytes of a sector             64                           recalled
        shared bytes of a block       65536                        assembled
        shared bytes                  65536                        documented
        threads of a block            1024                         documented
        threads                       1024                         recalled
        blocks                        32                           recalled
        registers                     98304                        recalled
        registers of a thread         256                          recalled
        multiprocessors               32                           recalled
        barriers of a block           1                            documented
        blocks of a cluster           1                            documented
        1-byte loads, lanes           1 2 4 8 16                   inferred
        2-byte loads, lanes           1 2 4 8 16                   inferred
        4-byte loads, lanes           1 2 4 8 16                   inferred
        8-byte loads, lanes           1 2 4 8                      inferred
        16-byte loads, lanes          1 2 4                        published
        1-byte stores, lanes          1 2 4 8 16                   inferred
        2-byte stores, lanes          1 2 4 8 16                   inferred
        4-byte stores, lanes          1 2 4 8 16                   inferred
        8-byte stores, lanes          1 2 4 8                      inferred
        16-byte stores, lanes         1 2 4                        inferred
        phases that loads join        none                         inferred
        direct copies, bytes a lane   none                         assembled
        wmma.m16n16k16.f32.f16.f16    8.00 cycles                  documented
        wmma.m16n16k16.f32.bf16.bf16  8.00 cycles                  documented
        wmma.m16n16k16.f32.e4m3.e4m3  4.00 cycles                  documented
        wmma.m16n16k16.f32.e4m3.e5m2  4.00 cycles                  documented
        wmma.m16n16k16.f32.e5m2.e4m3  4.00 cycles                  documented
        wmma.m16n16k16.f32.e5m2.e5m2  4.00 cycles                  documented
        wmma.m16n16k16.s32.s8.s8      4.00 cycles                  documented
        ds_bpermute_b32               any lane, memory             assembled
        ds_swizzle_b32                masks within 31, memory      assembled
        dpp quad_perm                 masks within 3, arithmetic   assembled
        dpp row_xmask                 masks within 15, arithmetic  assembled
        v_permlanex16_b32             masks [16], arithmetic       assembled
        v_perm_b32                    byte permute                 assembled
        cycles of a wavefront         1.00                         documented
        cycles of a shuffle           1.00                         documented
        cycles of arithmetic          0.50                         documented
        cycles of an issue            0.50                         documented
        cycles of a warp's barrier    0.20                         inferred
        cycles of a block's barrier   12.00                        inferred
          and of each warp in it      2.00                         inferred
        cycles of a sector            20.00                        recalled

        sources, the closest of which counts
        everything                    documented: AMD's instruction set and HIP documents
        shared_vector_bytes           assembled: clang 19 or 22 takes 16 bytes for this target
        global_vector_bytes           assembled: clang 19 or 22 takes 16 bytes for this target
        atomic_vector_bytes           inferred: no printer writes packed atomics for this target
        direct_copies                 assembled: llvm-mc 22 takes these widths for this target, and no others
        shared_bytes_per_block        assembled: clang 19 or 22 takes as much for this target
        blocks                        recalled: workgroups of a compute unit
        multiprocessors               recalled: the largest device of this kind
        shuffles                      assembled: clang 19 or 22 takes them for this target
        byte_permute                  assembled: clang 19 or 22 takes it for this target
        matrix_multiplies             documented: AMD's instruction set documents and matrix instruction calculator; on gfx950 LLVM's model
        sector_bytes                  recalled: DRAM transactions of 64 bytes
        registers                     recalled: 1536 registers a lane, two units of 32 lanes
        registers_per_thread          recalled: what an instruction can name
        threads                       recalled: 16 waves on each of two units
        phases                        inferred: consecutive lanes
        phases.load.16                published: HipKittens, amd-shark-ai's study of the local data share, AMD's CK-Tile
        phases.merging                inferred: nothing is known of phases that merge
        prices                        inferred: taken over from the H200
        prices.wavefront              documented: a phase moves 128 bytes, a cycle's worth
        prices.shuffle                documented: one phase of 32 lanes
        prices.alu                    documented: two units of 32 lanes
        prices.issue                  documented: two units, an instruction each
        prices.sector                 recalled: the data sheet's bandwidth, units and clock
    "#]].assert_eq(&finished.stdout);
    let finished = weft("machines sm_91");
    assert_eq!(finished.status, 2);
    assert!(finished.stderr.starts_with("error: there is no target `sm_91`\n"));
}

/// A machine in a file, whole: the same answers, and sentences about what is wrong in it.
#[test]
fn a_machine_of_a_file() {
    let folder = std::env::temp_dir().join(format!("weft-machine-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("mine.json");
    let text = weft("machines sm_80 --json").stdout;
    std::fs::write(&path, text.replace("\"sm_80\"", "\"mine\"")).unwrap();
    let file = path.to_str().unwrap();
    for line in [
        "compile examples/row_softmax.ttir --emit ptx --target",
        "explain examples/tiled_transpose.ttir --json --target",
    ] {
        let (known, mine) = (weft(&format!("{line} sm_80")), weft(&format!("{line} {file}")));
        assert_eq!(mine.stdout.replace("\"mine\"", "\"sm_80\""), known.stdout);
        assert_eq!(mine.stderr, "");
    }
    std::fs::write(&path, text.replace("\"lanes\":32", "\"lanes\":0")).unwrap();
    let finished = weft(&format!("compile examples/row_softmax.ttir --target {file}"));
    assert_eq!(finished.status, 2);
    assert_eq!(
        finished.stderr,
        "error: `target.lanes`: 0 is not possible: a whole number from 1 to 64 is\n",
    );
    std::fs::write(&path, "{").unwrap();
    let finished = weft(&format!("machines {file} --json"));
    assert_eq!(finished.status, 2);
    assert!(finished.stdout.starts_with(r#"{"error":{"kind":"read","message":""#));
    std::fs::remove_dir_all(&folder).unwrap();
    let finished = weft(&format!("machines {file}"));
    assert!(finished.stderr.starts_with(&format!("error: cannot read {file}: ")));
}
