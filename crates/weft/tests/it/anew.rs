//! Sums of products that begin anew within a loop.

use crate::checked::check;
use crate::inputs::Argument::{Empty, I32, Random};
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::{ttir, unplace};
use weft_layout::machine::Machine;

/// Products of tiles of 64 by 64 one after the other in one loop, two rounds each. Where a tile is done, a branch stores
/// its sum; `left_over` is what the sum of the next round adds to, and `after` what follows the loop.
fn tiles(first: &str, left_over: &str, after: &str) -> String {
    format!(
        "tt.func public @tiles(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %z: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %rounds: i32) {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tile = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %ones = arith.constant dense<1.0> : tensor<64x64xf32>
  %range = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
  %over = tt.expand_dims %range {{axis = 0 : i32}} : tensor<64xi32> -> tensor<1x64xi32>
  %overs = tt.broadcast %over : tensor<1x64xi32> -> tensor<64x64xi32>
  %down = tt.expand_dims %range {{axis = 1 : i32}} : tensor<64xi32> -> tensor<64x1xi32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %shifted = arith.muli %down, %width : tensor<64x1xi32>
  %downs = tt.broadcast %shifted : tensor<64x1xi32> -> tensor<64x64xi32>
  %square = arith.addi %downs, %overs : tensor<64x64xi32>
  %end:2 = scf.for %i = %zero to %rounds step %one iter_args(%k = %zero, %sum = {first}) -> (i32, tensor<64x64xf32>) : i32 {{
    %begin = arith.muli %i, %tile : i32
    %x_at = tt.addptr %x, %begin : !tt.ptr<f16>, i32
    %xs = tt.splat %x_at : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %a_at = tt.addptr %xs, %square : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %a = tt.load %a_at : tensor<64x64x!tt.ptr<f16>>
    %half = arith.muli %k, %tile : i32
    %y_at = tt.addptr %y, %half : !tt.ptr<f16>, i32
    %ys = tt.splat %y_at : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %b_at = tt.addptr %ys, %square : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %b = tt.load %b_at : tensor<64x64x!tt.ptr<f16>>
    %product = tt.dot %a, %b, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %is_done = arith.cmpi eq, %k, %one : i32
    %is_new = arith.cmpi ne, %k, %one : i32
    %number = arith.divsi %i, %width_of : i32
    %place = arith.muli %number, %tile : i32
    %z_at = tt.addptr %z, %place : !tt.ptr<f32>, i32
    %zs = tt.splat %z_at : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %out = tt.addptr %zs, %square : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    {left_over}
    %next = arith.subi %one, %k : i32
    scf.yield %next, %left_over : i32, tensor<64x64xf32>
  }}
  {after}
  tt.return
}}"
    )
    .replace("%width_of", "%two")
    .replace("  %one = arith", "  %two = arith.constant 2 : i32\n  %one = arith")
}

const TYPE: &str = "tensor<64x64xf32>";
const STORE: &str = "tt.store %out, %product : tensor<64x64x!tt.ptr<f32>>";

/// The ways in which a sum begins anew.
fn ways() -> [String; 3] {
    [
        format!(
            "%left_over = scf.if %is_done -> ({TYPE}) {{ {STORE} scf.yield %none : {TYPE} }} else {{ scf.yield %product : {TYPE} }}"
        ),
        format!(
            "%left_over = scf.if %is_new -> ({TYPE}) {{ scf.yield %product : {TYPE} }} else {{ {STORE} scf.yield %none : {TYPE} }}"
        ),
        format!(
            "scf.if %is_done {{ {STORE} }} %left_over = arith.select %is_new, %product, %none : {TYPE}"
        ),
    ]
}

/// What is stored behind the loop: the sum that is left.
const LEFT: &str = "%last = arith.divsi %rounds, %two : i32
  %behind = arith.muli %last, %tile : i32
  %w_at = tt.addptr %z, %behind : !tt.ptr<f32>, i32
  %ws = tt.splat %w_at : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %rest = tt.addptr %ws, %square : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %rest, %end#1 : tensor<64x64x!tt.ptr<f32>>";

fn options(name: &str, stages: u32) -> Options {
    Options { stages, ..Options::for_machine(Machine::by_name(name).unwrap()) }
}

#[test]
fn sums_that_begin_anew_are_what_they_are_without_matrix_units() {
    for (way, (first, after)) in
        ways().iter().zip([("%none", ""), ("%none", LEFT), ("%ones", LEFT)])
    {
        let text = tiles(first, way, after);
        for rounds in [0, 1, 2, 5, 6] {
            let arguments = [
                ("x", Random(DType::F16, 4096 * rounds.max(1) as usize)),
                ("y", Random(DType::F16, 2 * 4096)),
                ("z", Empty(DType::F32, 4096 * (rounds as usize / 2 + 1))),
                ("rounds", I32(rounds)),
            ];
            for (name, stages) in
                [("sm_80", 3), ("sm_90", 1), ("sm_90", 2), ("sm_90", 3), ("gfx942", 2)]
            {
                check(&text, &options(name, stages), [1, 1, 1], &arguments);
            }
        }
    }
}

/// The matrix unit is told which sums count, and products go on while rounds end: only who stores waits for all.
#[test]
fn matrix_units_are_told_that_a_sum_begins_anew() {
    for way in ways() {
        let text = tiles("%none", &way, "");
        let module = ttir::parse(&text).unwrap();
        let options = options("sm_90", 3);
        let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
        let kernel = compiled.kernel.to_string();
        let product = kernel.lines().find(|line| line.contains("warp_group_dot")).unwrap();
        assert_eq!(product.split(" {").next().unwrap().matches(", %").count(), 3, "{product}");
        let sm_90 = Target::by_name("sm_90").unwrap();
        let ptx = emit::print(&compiled.program, Language::Ptx, sm_90).unwrap();
        let waits = |pending: &str| {
            ptx.matches(&format!("wgmma.wait_group.sync.aligned {pending};")).count()
        };
        // For the product of the round before, for the branch that stores, and behind the loop.
        assert_eq!((waits("1"), waits("0")), (1, 2), "{ptx}");
        let loops = ptx.split("$L_loop").nth(1).unwrap();
        let selections = loops.matches("selp.b32").count() + loops.matches("selp.f32").count();
        assert!(selections < 32, "{selections} selections");
    }
}

/// Such a product is written as Triton writes it, read back, and told apart where no matrix unit is.
#[test]
fn what_a_product_is_told_is_read_back() {
    let text = tiles("%none", &ways()[0], LEFT);
    let module = ttir::parse(&text).unwrap();
    let options = options("sm_90", 2);
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    let encoded = compile::encoded(&module, &compiled, &options).unwrap();
    let placed = encoded.to_string();
    let again = ttir::parse(&placed).unwrap_or_else(|errors| panic!("{errors}\n{placed}"));
    assert_eq!(again.to_string(), placed);
    let unplaced = unplace::run(&again, &again.kernels[0]).unwrap().to_string();
    assert!(!unplaced.contains("warp_group_dot"), "{unplaced}");
    let arguments = [
        ("x", Random(DType::F16, 4096 * 5)),
        ("y", Random(DType::F16, 2 * 4096)),
        ("z", Empty(DType::F32, 4096 * 3)),
        ("rounds", I32(5)),
    ];
    check(&placed, &options, [1, 1, 1], &arguments);
    for name in ["sm_80", "sm_90"] {
        check(&unplaced, &self::options(name, 1), [1, 1, 1], &arguments);
    }
}
