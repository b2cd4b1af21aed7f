//! Tiles whose places are told by memory, copied ahead of products.

use crate::checked::check;
use crate::inputs::Argument::{Empty, I32, Integers, Random};
use weft::axis::AxisFacts;
use weft::compile::Options;
use weft::dtype::DType;
use weft::pipeline::{self, Wanted};
use weft::{tile, ttir};
use weft_layout::machine::Machine;

/// Sums of products of the tiles of two tensors, whose pages a table gives: of one by each row, of the other by the whole.
/// `%table_at` is where the round's numbers stand.
fn sums(steps: &str, pages: &str) -> String {
    format!(
        "tt.func public @sums(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %table: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %z: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %rounds: i32) {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<32x32xf32>
  %range = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32>
  %over = tt.expand_dims %range {{axis = 0 : i32}} : tensor<32xi32> -> tensor<1x32xi32>
  %overs = tt.broadcast %over : tensor<1x32xi32> -> tensor<32x32xi32>
  %width = arith.constant dense<32> : tensor<32xi32>
  %page = arith.constant 1024 : i32
  %down = tt.expand_dims %range {{axis = 1 : i32}} : tensor<32xi32> -> tensor<32x1xi32>
  %tall = arith.constant dense<32> : tensor<32x1xi32>
  %shifted = arith.muli %down, %tall : tensor<32x1xi32>
  %downs = tt.broadcast %shifted : tensor<32x1xi32> -> tensor<32x32xi32>
  %square = arith.addi %downs, %overs : tensor<32x32xi32>
  %lines = arith.constant 32 : i32
  %many = arith.constant dense<33> : tensor<32xi32>
  %end:2 = scf.for %i = {steps} iter_args(%at = %zero, %sum = %none) -> (i32, tensor<32x32xf32>) : i32 {{
    %first = arith.muli %at, %lines : i32
    %firsts = tt.splat %first : i32 -> tensor<32xi32>
    %rows = arith.addi %firsts, %range : tensor<32xi32>
    {pages}
    %starts = arith.muli %lists, %width : tensor<32xi32>
    %column = tt.expand_dims %starts {{axis = 1 : i32}} : tensor<32xi32> -> tensor<32x1xi32>
    %columns = tt.broadcast %column : tensor<32x1xi32> -> tensor<32x32xi32>
    %from = arith.addi %columns, %overs : tensor<32x32xi32>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %a_at = tt.addptr %xs, %from : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %a = tt.load %a_at : tensor<32x32x!tt.ptr<f16>>
    %whole_at = tt.addptr %table, %at : !tt.ptr<i32>, i32
    %whole = tt.load %whole_at : !tt.ptr<i32>
    %begin = arith.muli %whole, %page : i32
    %y_at = tt.addptr %y, %begin : !tt.ptr<f16>, i32
    %ys = tt.splat %y_at : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %b_at = tt.addptr %ys, %square : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %b = tt.load %b_at : tensor<32x32x!tt.ptr<f16>>
    %product = tt.dot %a, %b, %sum : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %next = arith.addi %at, %one : i32
    scf.yield %next, %product : i32, tensor<32x32xf32>
  }}
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %out = tt.addptr %zs, %square : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %out, %end#1 : tensor<32x32x!tt.ptr<f32>>
  tt.return
}}"
    )
}

const COUNTED: &str = "%zero to %rounds step %one";
const ALL: &str = "%list_at = tt.splat %table : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %place = tt.addptr %list_at, %rows : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %lists = tt.load %place : tensor<32x!tt.ptr<i32>>";
/// Some rows have no number of their own.
const SOME: &str = "%list_at = tt.splat %table : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %place = tt.addptr %list_at, %rows : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %has = arith.cmpi slt, %rows, %many : tensor<32xi32>
    %lists = tt.load %place, %has, %range : tensor<32x!tt.ptr<i32>>";

fn machine(name: &str) -> Machine {
    Machine::by_name(name).unwrap().clone()
}

#[test]
fn tiles_that_a_table_places_are_copied_ahead() {
    let text = sums(COUNTED, ALL);
    let module = ttir::parse(&text).unwrap();
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let (sm_90, stages) = (machine("sm_90"), 3);
    assert!(pipeline::run(kernel, &facts, &sm_90, 4, Wanted::of(stages)).is_none());
    let indexed = pipeline::indices(kernel, &facts, &sm_90, 4).unwrap();
    tile::verify(&indexed).unwrap();
    let ahead =
        pipeline::run(&indexed, &AxisFacts::of(&indexed), &sm_90, 4, Wanted::of(stages)).unwrap();
    tile::verify(&ahead).unwrap();
    let copies = ahead.to_string().matches("async_copy_global_to_local").count();
    assert_eq!(copies, 2 * stages as usize, "{ahead}");
}

/// Numbers of no round are never loaded: the table ends with the last.
#[test]
fn what_a_table_places_is_what_it_is_in_place() {
    // In the last case the counter of a round that does not exist overflows.
    let far = "%far to %high step %stride";
    for (steps, pages) in [(COUNTED, ALL), (COUNTED, SOME), (far, ALL)] {
        let text = sums(steps, pages).replace(
            "  %none = ",
            "  %far = arith.constant 2147483000 : i32
  %stride = arith.constant 300 : i32
  %span = arith.muli %rounds, %stride : i32
  %some = arith.addi %far, %span : i32
  %rest = arith.constant 10 : i32
  %high = arith.subi %some, %rest : i32
  %none = ",
        );
        for rounds in [0, 1, 2] {
            let arguments = [
                ("x", Random(DType::F16, 64 * 32)),
                ("y", Random(DType::F16, 64 * 1024)),
                ("table", Integers(32 * rounds.max(1) as usize, 0, 64)),
                ("z", Empty(DType::F32, 1024)),
                ("rounds", I32(rounds)),
            ];
            for (name, stages) in [("sm_80", 2), ("sm_80", 4), ("sm_90", 3), ("gfx950", 2)] {
                let options = Options { stages, ..Options::for_machine(&machine(name)) };
                check(&text, &options, [1, 1, 1], &arguments);
            }
        }
    }
    for rounds in [5, 9] {
        let arguments = [
            ("x", Random(DType::F16, 64 * 32)),
            ("y", Random(DType::F16, 64 * 1024)),
            ("table", Integers(32 * rounds as usize, 0, 64)),
            ("z", Empty(DType::F32, 1024)),
            ("rounds", I32(rounds)),
        ];
        for stages in [2, 3, 5] {
            let options = Options { stages, ..Options::for_machine(&machine("sm_80")) };
            check(&sums(COUNTED, ALL), &options, [1, 1, 1], &arguments);
        }
    }
}
