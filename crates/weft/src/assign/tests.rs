//! Homes and their reasons, and the width of accesses, for recorded kernels.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use super::{AccessShape, Block, Reason};
use crate::axis::AxisFacts;
use crate::id::Id;
use crate::tile::OpKind;
use crate::ttir;
use expect_test::{Expect, expect};
use std::fmt::Write as _;
use weft_layout::machine::Machine;

fn check(text: &str, expected: &Expect) {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let machine = Machine::by_name("sm_90").unwrap();
    let facts = AxisFacts::of(kernel);
    let block = Block { machine, warps: 4 };
    let assignment = super::run(kernel, &facts, block).unwrap();
    let mut text = String::new();
    let mut mentioned = Vec::new();
    for value in kernel.values.keys() {
        let Some(home) = assignment.home(value) else { continue };
        mentioned.push(home);
        let reason = match assignment.reason(value) {
            Some(Reason::Anchor { op, weight, against }) => {
                format!("{} asks, {weight} against {against}", kernel.ops[*op].kind.name())
            }
            Some(Reason::Follows(op)) => format!("follows {}", kernel.ops[*op].kind.name()),
            Some(Reason::Given) => "given".to_owned(),
            Some(Reason::Default) | None => "default".to_owned(),
        };
        let name = kernel.value_name(value);
        writeln!(text, "{name:12} {} in {home}: {reason}", kernel.ty(value)).unwrap();
    }
    kernel.walk(&kernel.body, &mut |id, op| {
        let Some(place) = assignment.runs_in(id) else { return };
        mentioned.push(place);
        let layout = assignment.layouts.get(place);
        let shape = AccessShape::of(kernel, &facts, machine, op, layout).unwrap();
        let (elements, axis) = (1 << shape.vectors.vector_log2, shape.axis);
        let what = if matches!(op.kind, OpKind::Load(_)) { "load" } else { "store" };
        writeln!(text, "{what} in {place}, {elements} elements along {axis} at once").unwrap();
    });
    mentioned.sort_unstable();
    mentioned.dedup();
    for layout in mentioned {
        writeln!(text, "{layout} (table entry {}):", layout.index()).unwrap();
        writeln!(text, "{}", assignment.layouts.get(layout)).unwrap();
    }
    expected.assert_eq(&text);
}

#[test]
fn a_transpose_is_stored_as_it_lies_in_memory() {
    check(
        include_str!("../../../../examples/tiled_transpose.ttir"),
        &expect![[r#"
        %loaded_22   tensor<64x64xf32> in L0: load asks, 16384 against 0
        load in L0, 4 elements along 1 at once
        store in L0, 4 elements along 1 at once
        L0 (table entry 0):
        [register: (0,1) (0,2) (8,0) (16,0) (32,0), lane: (0,4) (0,8) (0,16) (0,32) (1,0), warp: (2,0) (4,0), block:] -> [dim0: 64, dim1: 64]
    "#]],
    );
}

#[test]
fn a_product_wants_squares_and_its_operands_rows() {
    check(
        include_str!("../../../../examples/matmul.ttir"),
        &expect![[r#"
        %total_10    tensor<64x64xf32> in L2: dot asks, 262144 against 16384
        %total_11    tensor<64x64xf32> in L2: dot asks, 262144 against 16384
        %tile_a_30   tensor<64x16xf32> in L0: load asks, 4096 against 0
        %tile_b_44   tensor<16x64xf32> in L1: load asks, 4096 against 0
        %total_45    tensor<64x64xf32> in L2: dot asks, 262144 against 16384
        load in L0, 4 elements along 1 at once
        load in L1, 4 elements along 1 at once
        store in L2, 4 elements along 1 at once
        L0 (table entry 0):
        [register: (0,1) (0,2) (32,0), lane: (0,4) (0,8) (1,0) (2,0) (4,0), warp: (8,0) (16,0), block:] -> [dim0: 64, dim1: 16]
        L1 (table entry 1):
        [register: (0,1) (0,2) (8,0), lane: (0,4) (0,8) (0,16) (0,32) (1,0), warp: (2,0) (4,0), block:] -> [dim0: 16, dim1: 64]
        L2 (table entry 2):
        [register: (0,1) (0,2) (1,0) (2,0) (32,0), lane: (0,4) (0,8) (0,16) (0,32) (4,0), warp: (8,0) (16,0), block:] -> [dim0: 64, dim1: 64]
    "#]],
    );
}
