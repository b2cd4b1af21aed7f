//! Homes and their reasons, and the width of accesses, for recorded kernels.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use super::{AccessShape, Block};
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
    let block = Block { machine, warps: 4, shared_byte: 0 };
    let assignment = super::run(kernel, &facts, block, &[]).unwrap();
    let mut text = String::new();
    let mut mentioned = Vec::new();
    for value in kernel.values.keys() {
        let Some(home) = assignment.home(value) else { continue };
        mentioned.push(home);
        let name = kernel.value_name(value);
        writeln!(text, "{name:12} {} in {home}", kernel.ty(value)).unwrap();
    }
    kernel.walk(&kernel.body, &mut |id, op| {
        let Some(place) = assignment.runs_in(id) else { return };
        mentioned.push(place);
        if !matches!(op.kind, OpKind::Load(_) | OpKind::Store(_)) {
            writeln!(text, "{} in {place}", op.kind.name()).unwrap();
            return;
        }
        let layout = assignment.layouts.get(place);
        let shape = AccessShape::of(kernel, &facts, machine, op, layout).unwrap();
        let elements = 1 << shape.vectors.vector_log2;
        let axes: Vec<String> = shape.axes.iter().map(ToString::to_string).collect();
        let axes = axes.join(" and ");
        let what = op.kind.name();
        writeln!(text, "{what} in {place}, {elements} elements along {axes} at once").unwrap();
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
            %loaded_22   tensor<64x64xf32> in L0
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
            %total_10    tensor<64x64xf32> in L2
            %total_11    tensor<64x64xf32> in L2
            %tile_a_30   tensor<64x16xf32> in L0
            %tile_b_44   tensor<16x64xf32> in L1
            %total_45    tensor<64x64xf32> in L2
            load in L0, 4 elements along 1 at once
            load in L1, 4 elements along 1 at once
            dot in L2
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

#[test]
fn a_narrow_tile_is_moved_over_both_axes() {
    check(
        r"
        tt.func public @copy(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
          %rows = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
          %columns = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
          %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<512xi32> -> tensor<512x1xi32>
          %c = tt.expand_dims %columns {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
          %width = arith.constant dense<4> : tensor<512x1xi32>
          %start = arith.muli %r, %width : tensor<512x1xi32>
          %starts = tt.broadcast %start : tensor<512x1xi32> -> tensor<512x4xi32>
          %across = tt.broadcast %c : tensor<1x4xi32> -> tensor<512x4xi32>
          %offsets = arith.addi %starts, %across : tensor<512x4xi32>
          %from = tt.splat %x : !tt.ptr<f16> -> tensor<512x4x!tt.ptr<f16>>
          %source = tt.addptr %from, %offsets : tensor<512x4x!tt.ptr<f16>>, tensor<512x4xi32>
          %tile = tt.load %source : tensor<512x4x!tt.ptr<f16>>
          %to = tt.splat %y : !tt.ptr<f16> -> tensor<512x4x!tt.ptr<f16>>
          %target = tt.addptr %to, %offsets : tensor<512x4x!tt.ptr<f16>>, tensor<512x4xi32>
          tt.store %target, %tile : tensor<512x4x!tt.ptr<f16>>
          tt.return
        }",
        &expect![[r#"
            %tile        tensor<512x4xf16> in L0
            load in L0, 8 elements along 1 and 0 at once
            store in L0, 8 elements along 1 and 0 at once
            L0 (table entry 0):
            [register: (0,1) (0,2) (1,0) (256,0), lane: (2,0) (4,0) (8,0) (16,0) (32,0), warp: (64,0) (128,0), block:] -> [dim0: 512, dim1: 4]
        "#]],
    );
}
