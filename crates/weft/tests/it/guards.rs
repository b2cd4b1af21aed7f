//! Loads with more predicates than there are registers for, which are asked at once.

use crate::checked::check;
use crate::inputs::Argument::{Empty, I32, Random};
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::lane::{InstData, Op, Program, Space};
use weft::ttir;
use weft_layout::machine::Machine;

/// Running sums down the rows of a tile, of which those count whose numbers are as `comparison` says beside `%bound`.
fn running(comparison: &str, steps: &str) -> String {
    format!(
        "tt.func public @running(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %z: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %first: i32, %bound: i32, %width: i32) {{
  %range = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32>
  %down = tt.expand_dims %range {{axis = 1 : i32}} : tensor<32xi32> -> tensor<32x1xi32>
  %over = tt.expand_dims %range {{axis = 0 : i32}} : tensor<32xi32> -> tensor<1x32xi32>
  %firsts = tt.splat %first : i32 -> tensor<32x1xi32>
  %numbers = arith.{steps} %firsts, %down : tensor<32x1xi32>
  %bounds = tt.splat %bound : i32 -> tensor<32x1xi32>
  %inside = arith.cmpi {comparison}, %numbers, %bounds : tensor<32x1xi32>
  %widths = tt.splat %width : i32 -> tensor<1x32xi32>
  %left = arith.cmpi slt, %over, %widths : tensor<1x32xi32>
  %rows = tt.broadcast %inside : tensor<32x1xi1> -> tensor<32x32xi1>
  %columns = tt.broadcast %left : tensor<1x32xi1> -> tensor<32x32xi1>
  %mask = arith.andi %rows, %columns : tensor<32x32xi1>
  %tall = arith.constant dense<32> : tensor<32x1xi32>
  %lines = arith.muli %down, %tall : tensor<32x1xi32>
  %a = tt.broadcast %lines : tensor<32x1xi32> -> tensor<32x32xi32>
  %b = tt.broadcast %over : tensor<1x32xi32> -> tensor<32x32xi32>
  %at = arith.addi %a, %b : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %from = tt.addptr %xs, %at : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %other = arith.constant dense<0.5> : tensor<32x32xf32>
  %read = tt.load %from, %mask, %other : tensor<32x32x!tt.ptr<f32>>
  %sums = \"tt.scan\"(%read) <{{axis = 0 : i32, reverse = false}}> ({{
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    tt.scan.return %r : f32
  }}) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %to = tt.addptr %zs, %at : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %to, %sums, %mask : tensor<32x32x!tt.ptr<f32>>
  tt.return
}}"
    )
}

fn options(machine: &str) -> Options {
    let machine = Machine::by_name(machine).unwrap();
    Options { warps: 1, verify_each: true, ..Options::for_machine(machine) }
}

fn program(text: &str, options: &Options) -> Program {
    let module = ttir::parse(text).unwrap();
    compile::compile(&module, &module.kernels[0], options).unwrap().program
}

/// How many accesses to global memory have no predicate.
fn free(program: &Program) -> usize {
    let is_free = |inst: &InstData| {
        let roles = inst.memory_operands();
        roles.is_some_and(|roles| roles.space == Space::Global && roles.predicate.is_none())
    };
    let mut count = 0;
    program.walk(&program.body, &mut |_, inst| count += usize::from(is_free(inst)));
    count
}

#[test]
fn predicates_of_many_loads_are_asked_at_once() {
    let text = running("slt", "addi");
    let program = program(&text, &options("sm_90"));
    assert_eq!(free(&program), 64, "{program}");
    // Two answers to one question: is any row of the tile outside, and do numbers wrap around?
    let asked = |op: &Op| matches!(op, Op::Compare(_));
    let outside = program.body.insts.iter().filter(|&&id| asked(&program.insts[id].op));
    assert!(outside.count() <= 4, "{program}");
    // Waves of 64 lanes have masks.
    let masked = self::program(&text, &options("gfx942"));
    assert_eq!(free(&masked), 0, "{masked}");
}

#[test]
fn it_makes_no_difference_at_the_edge_nor_where_numbers_wrap_around() {
    let numbers =
        [0, 1, -40, 15, i32::MAX - 40, i32::MAX - 31, i32::MAX - 10, i32::MIN, i32::MIN + 5];
    let bounds = [0, 20, 32, 33, i32::MAX, i32::MAX - 20, i32::MIN, i32::MIN + 12];
    for comparison in ["slt", "sle", "sgt", "sge", "ult", "eq"] {
        for steps in ["addi", "subi", "ori"] {
            let text = running(comparison, steps);
            for (index, first) in numbers.into_iter().enumerate() {
                for (place, bound) in bounds.into_iter().enumerate() {
                    // One of three in turn, each with each in some of them.
                    if (index + place) % 3 != comparison.len() % 3 {
                        continue;
                    }
                    for width in [32, 9] {
                        let arguments = [
                            ("x", Random(DType::F32, 1024)),
                            ("z", Empty(DType::F32, 1024)),
                            ("first", I32(first)),
                            ("bound", I32(bound)),
                            ("width", I32(width)),
                        ];
                        check(&text, &options("sm_90"), [1, 1, 1], &arguments);
                    }
                }
            }
        }
    }
}
