//! The facts of every integer and pointer of recorded kernels, checked by hand, and casts and
//! remainders where runs break.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use super::AxisFacts;
use crate::tile::Kernel;
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
        %counts   8/8/1
        %breaks   1/1/1
        %steps    1/1/8
        %uneven   1/1/1
    "#]],
    );
}
