//! Nested loops that the source wants to be one.

use crate::checked::check;
use crate::inputs::Argument::{self, Empty, I32, Random};
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::ttir;
use weft_layout::machine::Machine;

/// What differs between the nests of the tests.
#[derive(Clone, Copy)]
struct Nest {
    /// What the outer loop carries, its type, and what it hands on.
    carried: [&'static str; 3],
    /// In front of the inner loop.
    front: &'static str,
    /// What the inner loop carries, and what it begins with.
    sum: &'static str,
    /// Where a round finds its tile of `x`, and what it adds to the product.
    at: &'static str,
    added: &'static str,
    /// What it hands to the next one.
    next: &'static str,
    /// Behind it, where `%sum` is what it gives.
    behind: &'static str,
}

/// A block multiplies every third tile: products of 64 by 64 of `x` and `y`, of which each tile has its own of `x`.
const PLAIN: Nest = Nest {
    carried: ["%before = %zero", "i32", "%before"],
    front: "",
    sum: "%none",
    at: "%first",
    added: "%none",
    next: "%product",
    behind: "",
};

impl Nest {
    fn text(self, flatten: bool) -> String {
        let Self { carried: [carried, of, handed], front, sum, at, added, next, behind } = self;
        let flatten = if flatten { " {tt.flatten, tt.num_stages = 3 : i32}" } else { "" };
        format!(
            "tt.func public @tiles(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %z: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %w: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %tiles: i32, %from: i32, %to: i32) {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %seven = arith.constant 7 : i32
  %wide = arith.constant 64 : i32
  %tile = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %range = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
  %over = tt.expand_dims %range {{axis = 0 : i32}} : tensor<64xi32> -> tensor<1x64xi32>
  %overs = tt.broadcast %over : tensor<1x64xi32> -> tensor<64x64xi32>
  %down = tt.expand_dims %range {{axis = 1 : i32}} : tensor<64xi32> -> tensor<64x1xi32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %shifted = arith.muli %down, %width : tensor<64x1xi32>
  %downs = tt.broadcast %shifted : tensor<64x1xi32> -> tensor<64x64xi32>
  %square = arith.addi %downs, %overs : tensor<64x64xi32>
  %block = tt.get_program_id x : i32
  %all = scf.for %t = %block to %tiles step %three iter_args({carried}) -> ({of}) : i32 {{
    %fields = arith.muli %t, %seven : i32
    %below = arith.muli %fields, %wide : i32
    %belows = tt.splat %below : i32 -> tensor<64xi32>
    %rows = arith.addi %belows, %range : tensor<64xi32>
    %first_row = tt.expand_dims %rows {{axis = 1 : i32}} : tensor<64xi32> -> tensor<64x1xi32>
    %first_at = arith.muli %first_row, %width : tensor<64x1xi32>
    %firsts = tt.broadcast %first_at : tensor<64x1xi32> -> tensor<64x64xi32>
    %first = arith.addi %firsts, %overs : tensor<64x64xi32>
    {front}
    %sum = scf.for %k = %from to %to step %two iter_args(%part = {sum}) -> (tensor<64x64xf32>) : i32 {{
      %skipped = arith.muli %k, %tile : i32
      %a_base = tt.addptr %x, %skipped : !tt.ptr<f16>, i32
      %a_bases = tt.splat %a_base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
      %a_at = tt.addptr %a_bases, {at} : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %a = tt.load %a_at : tensor<64x64x!tt.ptr<f16>>
      %b_base = tt.addptr %y, %skipped : !tt.ptr<f16>, i32
      %b_bases = tt.splat %b_base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
      %b_at = tt.addptr %b_bases, %square : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %b = tt.load %b_at : tensor<64x64x!tt.ptr<f16>>
      %product = tt.dot %a, %b, %part : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %added = arith.addf %product, {added} : tensor<64x64xf32>
      scf.yield {next} : tensor<64x64xf32>
    }}
    {behind}
    %place = arith.muli %t, %tile : i32
    %z_base = tt.addptr %z, %place : !tt.ptr<f32>, i32
    %z_bases = tt.splat %z_base : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %z_at = tt.addptr %z_bases, %square : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %z_at, %sum : tensor<64x64x!tt.ptr<f32>>
    scf.yield {handed} : {of}
  }}{flatten}
  LEFT
  tt.return
}}"
        )
        .replace("LEFT", if of == "i32" { "" } else { LEFT })
    }
}

/// What the outer loop carried, stored behind the tiles.
const LEFT: &str = "%next_block = arith.addi %block, %one : i32
  %own = arith.muli %next_block, %tile : i32
  %w_base = tt.addptr %w, %own : !tt.ptr<f32>, i32
  %w_bases = tt.splat %w_base : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %w_at = tt.addptr %w_bases, %square : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %w_at, %all : tensor<64x64x!tt.ptr<f32>>";

/// A number of the tile's own, loaded in front of the inner loop.
const LOADED: &str = "%scale_at = tt.addptr %w, %t : !tt.ptr<f32>, i32
    %scale = tt.load %scale_at : !tt.ptr<f32>
    %scales = tt.splat %scale : f32 -> tensor<64x64xf32>";

fn nests() -> [Nest; 6] {
    let square = "tensor<64x64xf32>";
    [
        PLAIN,
        // Products begin with what is loaded for the tile, and rounds add it again.
        Nest { front: LOADED, sum: "%scales", added: "%scales", next: "%added", ..PLAIN },
        // What a round hands on is the tile's own, and so is what it makes of a tile that is loaded.
        Nest {
            front: "%own_at = tt.splat %w : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %own_ats = tt.addptr %own_at, %square : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %own = tt.load %own_ats : tensor<64x64x!tt.ptr<f32>>
    %scales = arith.mulf %own, %own : tensor<64x64xf32>",
            added: "%scales",
            next: "%scales",
            behind: "%more = arith.addf %scales, %sum : tensor<64x64xf32>",
            ..PLAIN
        },
        // Tiles go on from one another.
        Nest { carried: ["%before = %none", square, "%sum"], sum: "%before", ..PLAIN },
        // What is behind takes what is in front, made again or loaded.
        Nest {
            carried: ["%before = %none", square, "%greater"],
            front: LOADED,
            behind: "%numbers = arith.sitofp %first : tensor<64x64xi32> to tensor<64x64xf32>
    %scaled = arith.addf %numbers, %scales : tensor<64x64xf32>
    %more = arith.addf %scaled, %sum : tensor<64x64xf32>
    %greater = arith.maxnumf %before, %more : tensor<64x64xf32>",
            ..PLAIN
        },
        // What is in front stores what later tiles load.
        Nest {
            front: "%next = arith.addi %t, %three : i32
    %next_at = tt.addptr %w, %next : !tt.ptr<f32>, i32
    %own_at = tt.addptr %w, %t : !tt.ptr<f32>, i32
    %own = tt.load %own_at : !tt.ptr<f32>
    %doubled = arith.addf %own, %own : f32
    tt.store %next_at, %doubled : !tt.ptr<f32>
    %scales = tt.splat %own : f32 -> tensor<64x64xf32>",
            sum: "%scales",
            ..PLAIN
        },
    ]
}

fn options(name: &str, stages: u32) -> Options {
    Options { stages, ..Options::for_machine(Machine::by_name(name).unwrap()) }
}

fn arguments(tiles: i32, from: i32, to: i32) -> [(&'static str, Argument); 7] {
    [
        ("x", Random(DType::F16, 4096 * 7 * 8)),
        ("y", Random(DType::F16, 4096 * 8)),
        ("z", Empty(DType::F32, 4096 * 8)),
        ("w", Random(DType::F32, 4 * 4096)),
        ("tiles", I32(tiles)),
        ("from", I32(from)),
        ("to", I32(to)),
    ]
}

#[test]
fn flat_loops_are_what_nests_are() {
    for nest in nests() {
        let text = nest.text(true);
        for (tiles, from, to) in [(7, 0, 6), (7, 1, 6), (8, 2, 3), (7, 3, 3), (4, 5, 0), (0, 0, 4)]
        {
            for (name, stages) in [("sm_80", 3), ("sm_90", 1), ("sm_90", 3)] {
                check(&text, &options(name, stages), [3, 1, 1], &arguments(tiles, from, to));
            }
        }
    }
}

/// One loop has the products; the other, of tiles without rounds, has none.
#[test]
fn the_source_decides_whether_a_nest_is_flat() {
    for nest in nests() {
        let depth = |flatten: bool| {
            let module = ttir::parse(&nest.text(flatten)).unwrap();
            let compiled =
                compile::compile(&module, &module.kernels[0], &options("sm_90", 3)).unwrap();
            let text = compiled.kernel.to_string();
            let (mut depth, mut at_products) = (0_i32, Vec::new());
            let mut loops = Vec::new();
            for line in text.lines() {
                if line.contains("scf.for") {
                    loops.push(depth);
                }
                depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
                loops.retain(|&outside| outside < depth);
                if line.contains("warp_group_dot ") {
                    at_products.push(loops.len());
                }
            }
            at_products
        };
        assert_eq!([true, false].map(depth), [vec![1], vec![2]]);
    }
}

/// The loads of the next tile are under way while one is stored: nothing waits for all copies but what is behind.
#[test]
fn loads_go_on_over_the_end_of_a_tile() {
    let module = ttir::parse(&PLAIN.text(true)).unwrap();
    let compiled = compile::compile(&module, &module.kernels[0], &options("sm_90", 3)).unwrap();
    let sm_90 = Target::by_name("sm_90").unwrap();
    let ptx = emit::print(&compiled.program, Language::Ptx, sm_90).unwrap();
    let copies = ptx.matches("cp.async.cg").count();
    let body = ptx.split("$L_loop").nth(1).unwrap();
    assert!(copies > 0 && body.contains("cp.async.wait_group 1;"), "{ptx}");
    assert!(!body.contains("cp.async.wait_group 0;"), "{ptx}");
}
