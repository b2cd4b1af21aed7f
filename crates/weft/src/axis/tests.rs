//! The facts of every integer and pointer of recorded kernels, checked by hand, and casts and
//! remainders where runs break.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use super::AxisFacts;
use crate::tile::{Kernel, OpKind};
use crate::ttir;
use expect_test::{Expect, expect};
use std::fmt::Write as _;

/// Each value that is no float with its facts: contiguity, divisibility, constancy a dimension.
fn facts(kernel: &Kernel) -> String {
    let facts = AxisFacts::of(kernel);
    let mut text = String::new();
    for value in kernel.values.keys() {
        if kernel.ty(value).dtype().is_float() {
            continue;
        }
        let known = facts.get(value);
        write!(text, "{:9}", kernel.value_name(value)).unwrap();
        for dim in &known.dims {
            let divisibility = match dim.divisibility {
                super::MOST => "0".to_owned(),
                other => other.to_string(),
            };
            write!(text, " {}/{divisibility}/{}", dim.contiguity, dim.constancy).unwrap();
        }
        match known.constant {
            Some(constant) => writeln!(text, " = {constant}").unwrap(),
            None => text.push('\n'),
        }
    }
    text
}

fn check(text: &str, expected: &Expect) {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    expected.assert_eq(&facts(&module.kernels[0]));
}

#[test]
fn of_a_transpose() {
    check(
        include_str!("../../../../examples/tiled_transpose.ttir"),
        &expect![[r#"
        %x        1/16/1
        %out      1/16/1
        %m        1/16/1
        %n        1/16/1
        %c64_i32  1/64/1 = 64
        %rows     1/1/1
        %rows_0   1/64/1
        %rows_1   64/0/1
        %rows_2   1/64/64
        %rows_3   64/64/1
        %columns  1/1/1
        %columns_4 1/64/1
        %columns_5 1/64/64
        %columns_6 64/64/1
        %loaded   64/64/1 1/1/1
        %loaded_7 1/16/64 1/16/1
        %loaded_8 1/1/16 1/1/1
        %loaded_9 1/1/1 64/64/1
        %loaded_10 1/16/1 1/16/64
        %loaded_11 1/1/1 1/1/16
        %loaded_12 1/1/16 1/1/64
        %loaded_13 1/1/64 1/1/16
        %loaded_14 1/1/16 1/1/16
        %loaded_15 1/16/64 1/16/1
        %loaded_16 1/16/1 1/16/1
        %loaded_17 1/16/64 1/16/1
        %loaded_18 1/16/1 1/16/1
        %loaded_19 1/16/1 1/16/64
        %loaded_20 1/1/64 64/64/1
        %loaded_21 1/4/1 64/16/1
        %0        64/64/1 1/1/1
        %1        1/1/16 1/1/1
        %2        1/1/1 64/64/1
        %3        1/16/1 1/16/64
        %4        1/1/1 1/1/16
        %5        1/1/16 1/1/64
        %6        1/1/64 1/1/16
        %7        1/1/16 1/1/16
        %8        1/16/1 1/16/1
        %9        1/16/64 1/16/1
        %10       1/16/1 1/16/1
        %11       1/16/1 1/16/64
        %12       1/1/64 64/64/1
        %13       1/4/1 64/16/1
    "#]],
    );
}

#[test]
fn of_a_loop_that_moves_pointers() {
    check(
        include_str!("../../../../examples/matmul.ttir"),
        &expect![[r#"
        %a        1/16/1
        %b        1/16/1
        %c        1/16/1
        %m        1/16/1
        %n        1/16/1
        %k        1/16/1
        %c16_i32  1/16/1 = 16
        %c0_i32   1/0/1 = 0
        %c64_i32  1/64/1 = 64
        %rows     1/1/1
        %rows_1   1/64/1
        %rows_2   64/0/1
        %rows_3   64/0/1 1/1/1
        %rows_4   1/64/64 1/64/1
        %rows_5   64/64/1 1/1/1
        %columns  1/1/1
        %columns_6 1/64/1
        %columns_7 1/1/1 64/0/1
        %columns_8 1/64/1 1/64/64
        %columns_9 1/1/1 64/64/1
        %start    1/16/1
        %inner_a  16/0/1
        %inner_a_12 1/1/1 16/0/1
        %inner_a_13 1/16/1 1/16/16
        %inner_a_14 1/1/1 16/16/1
        %inner_b  16/0/1 1/1/1
        %inner_b_15 1/16/16 1/16/1
        %inner_b_16 16/16/1 1/1/1
        %tile_a   1/16/64 1/16/1
        %tile_a_17 1/1/16 1/1/1
        %tile_a_18 1/16/1 1/16/16
        %tile_a_19 1/1/1 1/1/16
        %tile_a_20 1/1/16 1/1/16
        %tile_a_21 1/1/64 1/1/16
        %tile_a_22 1/1/16 1/1/16
        %tile_a_23 1/16/64 1/16/1
        %tile_a_24 1/16/1 1/16/1
        %tile_a_25 1/16/64 1/16/1
        %tile_a_26 1/16/1 1/16/1
        %tile_a_27 1/16/1 1/16/16
        %tile_a_28 1/1/64 16/16/1
        %tile_a_29 1/4/1 16/16/1
        %tile_b   1/16/16 1/16/1
        %tile_b_31 1/1/16 1/1/1
        %tile_b_32 1/16/1 1/16/64
        %tile_b_33 1/1/1 1/1/16
        %tile_b_34 1/1/16 1/1/64
        %tile_b_35 1/1/16 1/1/16
        %tile_b_36 1/1/16 1/1/16
        %tile_b_37 1/16/16 1/16/1
        %tile_b_38 1/16/1 1/16/1
        %tile_b_39 1/16/16 1/16/1
        %tile_b_40 1/16/1 1/16/1
        %tile_b_41 1/16/1 1/16/64
        %tile_b_42 1/1/16 64/64/1
        %tile_b_43 1/4/1 64/16/1
        %0        1/16/64 1/16/1
        %1        1/1/16 1/1/1
        %2        1/16/1 1/16/64
        %3        1/1/1 1/1/16
        %4        1/1/16 1/1/64
        %5        1/1/64 1/1/16
        %6        1/1/16 1/1/16
        %7        1/16/64 1/16/1
        %8        1/16/1 1/16/1
        %9        1/16/64 1/16/1
        %10       1/16/1 1/16/1
        %11       1/16/1 1/16/64
        %12       1/1/64 64/64/1
        %13       1/4/1 64/16/1
    "#]],
    );
}

#[test]
fn a_run_breaks_where_a_narrow_type_ends() {
    let text = "
        tt.func public @narrow() {
          %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
          %byte = arith.trunci %range : tensor<256xi32> to tensor<256xi8>
          %signed = arith.extsi %byte : tensor<256xi8> to tensor<256xi32>
          tt.return
        }";
    check(
        text,
        &expect![[r#"
        %range    256/0/1
        %byte     128/128/1
        %signed   128/128/1
    "#]],
    );
}

#[test]
fn a_remainder_counts_from_a_multiple() {
    let text = "
        tt.func public @remainders() {
          %even = tt.make_range {end = 32 : i32, start = 16 : i32} : tensor<16xi32>
          %odd = tt.make_range {end = 17 : i32, start = 1 : i32} : tensor<16xi32>
          %eight = arith.constant dense<8> : tensor<16xi32>
          %counts = arith.remui %even, %eight : tensor<16xi32>
          %breaks = arith.remui %odd, %eight : tensor<16xi32>
          %steps = arith.divui %even, %eight : tensor<16xi32>
          %uneven = arith.divui %odd, %eight : tensor<16xi32>
          tt.return
        }";
    check(
        text,
        &expect![[r#"
            %even     16/16/1
            %odd      16/1/1
            %eight    1/8/16 = 8
            %counts   8/0/1
            %breaks   1/1/1
            %steps    1/1/8
            %uneven   1/1/1
        "#]],
    );
}

#[test]
fn quotients_of_multiples_are_multiples() {
    let text = "
        tt.func public @quotients(%n: i32 {tt.divisibility = 16 : i32}) {
          %c2 = arith.constant 2 : i32
          %c32 = arith.constant 32 : i32
          %half = arith.divsi %n, %c2 : i32
          %part = arith.divsi %n, %c32 : i32
          %shifted = arith.shrsi %n, %c2 : i32
          %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
          %eight = arith.constant dense<8> : tensor<16xi32>
          %three = arith.constant dense<3> : tensor<16xi32>
          %around = arith.subi %range, %eight : tensor<16xi32>
          %toward_zero = arith.divsi %around, %eight : tensor<16xi32>
          %down = arith.shrsi %around, %three : tensor<16xi32>
          %rows = tt.splat %half : i32 -> tensor<16xi32>
          %places = arith.addi %rows, %range : tensor<16xi32>
          tt.return
        }";
    check(
        text,
        &expect![[r#"
            %n        1/16/1
            %c2       1/2/1 = 2
            %c32      1/32/1 = 32
            %half     1/8/1
            %part     1/1/1
            %shifted  1/4/1
            %range    16/0/1
            %eight    1/8/16 = 8
            %three    1/1/16 = 3
            %around   16/8/1
            %toward_zero 1/1/1
            %down     1/1/8
            %rows     1/8/16
            %places   16/8/1
        "#]],
    );
}

#[test]
fn a_truth_that_a_loop_carries_settles() {
    let text = "
        tt.func public @carried(%n: i32) {
          %yes = arith.constant true
          %zero = arith.constant 0 : i32
          %one = arith.constant 1 : i32
          %last = scf.for %i = %zero to %n step %one iter_args(%truth = %yes) -> (i1) : i32 {
            %inner = scf.for %j = %zero to %n step %one iter_args(%own = %truth) -> (i1) : i32 {
              %equal = arith.cmpi eq, %i, %j : i32
              scf.yield %equal : i1
            }
            scf.yield %inner : i1
          }
          %word = arith.extui %last : i1 to i32
          tt.return
        }";
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let word = kernel.values.keys().last().unwrap();
    assert_eq!((facts.get(word).range.low, facts.get(word).range.high), (0, 1));
}

/// How many bits of the index one access of 16 bytes walks at the first load of a kernel.
fn walked(text: &str) -> usize {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let mut found = None;
    kernel.walk(&kernel.body, &mut |_, op| {
        if matches!(op.kind, OpKind::Load(_)) && found.is_none() {
            let (pointer, mask) = (op.operands[0], op.operands.get(1).copied());
            let ty = kernel.ty(pointer);
            let element = ty.element.pointee().unwrap();
            found = Some(facts.neighbours(pointer, mask, &ty.shape, element, 16).len());
        }
    });
    found.unwrap()
}

/// A load of 64 rows of `columns` halves, each row `stride` halves after the one before it.
fn rows(columns: u64, stride: u64, divisibility: u64, more: &str, mask: &str) -> String {
    let shape = format!("64x{columns}");
    format!(
        "tt.func public @rows(%x: !tt.ptr<f16> {{tt.divisibility = {divisibility} : i32}}, %n: i32, %m: i32 {{tt.divisibility = 16 : i32}}) {{
          %rows = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
          %columns = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
          %r = tt.expand_dims %rows {{axis = 1 : i32}} : tensor<64xi32> -> tensor<64x1xi32>
          %c = tt.expand_dims %columns {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>
          %stride = arith.constant dense<{stride}> : tensor<64x1xi32>
          %start = arith.muli %r, %stride : tensor<64x1xi32>
          %starts = tt.broadcast %start : tensor<64x1xi32> -> tensor<{shape}xi32>
          %all_rows = tt.broadcast %r : tensor<64x1xi32> -> tensor<{shape}xi32>
          %across = tt.broadcast %c : tensor<1x{columns}xi32> -> tensor<{shape}xi32>
          %together = arith.addi %starts, %across : tensor<{shape}xi32>
          %ns = tt.splat %n : i32 -> tensor<{shape}xi32>
          %ms = tt.splat %m : i32 -> tensor<{shape}xi32>
          {more}
          %base = tt.splat %x : !tt.ptr<f16> -> tensor<{shape}x!tt.ptr<f16>>
          %from = tt.addptr %base, %offsets : tensor<{shape}x!tt.ptr<f16>>, tensor<{shape}xi32>
          {mask}
          tt.return
        }}"
    )
}

#[test]
fn accesses_walk_over_several_axes() {
    let plain = |columns: u64| {
        format!(
            "%zero = arith.constant dense<0> : tensor<64x{columns}xi32>\n%offsets = arith.addi %together, %zero : tensor<64x{columns}xi32>"
        )
    };
    let load = |columns: u64| format!("%t = tt.load %from : tensor<64x{columns}x!tt.ptr<f16>>");
    // Eight halves are 16 bytes, whatever the rows' length.
    for columns in [1, 2, 4, 8, 16] {
        let text = rows(columns, columns, 16, &plain(columns), &load(columns));
        assert_eq!(walked(&text), 3, "{columns} columns");
    }
    // Between the rows there is room, rows overlap, or the base is known to be even alone.
    assert_eq!(walked(&rows(2, 4, 16, &plain(2), &load(2))), 1);
    assert_eq!(walked(&rows(2, 3, 16, &plain(2), &load(2))), 0);
    assert_eq!(walked(&rows(4, 2, 16, &plain(4), &load(4))), 1);
    assert_eq!(walked(&rows(2, 2, 4, &plain(2), &load(2))), 1);
    // A multiple of 16 leaves all as it is; any number leaves nothing of it.
    let shifted = |by| format!("%offsets = arith.addi %together, {by} : tensor<64x2xi32>");
    assert_eq!(walked(&rows(2, 2, 16, &shifted("%ms"), &load(2))), 3);
    assert_eq!(walked(&rows(2, 2, 16, &shifted("%ns"), &load(2))), 0);
    // The mask of a row may differ from that of the next one, but not within 16 rows.
    let masked = |bound| {
        format!(
            "%mask = arith.cmpi slt, %all_rows, {bound} : tensor<64x2xi32>\n\
             %t = tt.load %from, %mask : tensor<64x2x!tt.ptr<f16>>"
        )
    };
    assert_eq!(walked(&rows(2, 2, 16, &plain(2), &masked("%ns"))), 1);
    assert_eq!(walked(&rows(2, 2, 16, &plain(2), &masked("%ms"))), 3);
    // Some elements come from one array of offsets and some from another.
    let chosen = "%zero = arith.constant dense<0> : tensor<64x2xi32>\n\
                  %odd = arith.cmpi slt, %across, %ns : tensor<64x2xi32>\n\
                  %offsets = arith.select %odd, %together, %zero : tensor<64x2xi1>, tensor<64x2xi32>";
    assert_eq!(walked(&rows(2, 2, 16, chosen, &load(2))), 0);
}

/// The number of a tile that a program finds by dividing its own by what it computes from sizes is that of a
/// block, and what is counted from it goes on to be contiguous behind a remainder.
#[test]
fn tiles_that_are_walked_in_groups_are_counted() {
    let text = r"module {
      tt.func public @k(%out: !tt.ptr<f32>, %m: i32, %n: i32 {tt.divisibility = 16 : i32}) {
        %pid = tt.get_program_id x : i32
        %eight = arith.constant 8 : i32
        %group = arith.muli %n, %eight : i32
        %within = arith.remsi %pid, %group : i32
        %left = arith.subi %m, %eight : i32
        %size = arith.minsi %left, %eight : i32
        %tile = arith.divsi %within, %size : i32
        %which = arith.divsi %pid, %group : i32
        %start = arith.muli %which, %eight : i32
        %rest = arith.remsi %within, %size : i32
        %row = arith.addi %start, %rest : i32
        %width = arith.constant 128 : i32
        %first = arith.muli %tile, %width : i32
        %firsts = tt.splat %first : i32 -> tensor<128xi32>
        %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
        %columns = arith.addi %firsts, %range : tensor<128xi32>
        %ns = tt.splat %n : i32 -> tensor<128xi32>
        %wrapped = arith.remsi %columns, %ns : tensor<128xi32>
        %minus = arith.constant dense<-16> : tensor<128xi32>
        %before = arith.addi %columns, %minus : tensor<128xi32>
        %unknown = arith.remsi %before, %ns : tensor<128xi32>
        tt.return
      }
    }";
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let of = |name: &str| {
        let named = |value: &crate::tile::Value| kernel.value_name(*value) == name;
        facts.get(kernel.values.keys().find(named).unwrap()).clone()
    };
    assert!(of("%tile").range.is_natural() && of("%row").range.is_natural());
    assert_eq!(of("%wrapped").dims[0].contiguity, 16);
    // Below zero a remainder breaks its runs.
    assert_eq!(of("%unknown").dims[0].contiguity, 1);
}
