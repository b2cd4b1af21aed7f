//! Movements that do not fit into shared memory together.

use crate::checked::check;
use crate::inputs::Argument::{Empty, Integers, Small};
use crate::inputs::make;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::lane::{Op, Space};
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

/// The sums of a tile's rows, and the tile in another layout. Each needs the block's memory, and nothing
/// between them says that the sums have been read.
const KERNEL: &str = r#"
#across = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @crowded(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %sums: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #across}>>
    %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #across}>>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #across}>> -> tensor<64x1xi32, #across>
    %columns = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #across}>> -> tensor<1x32xi32, #across>
    %width = arith.constant dense<32> : tensor<64x1xi32, #across>
    %starts = arith.muli %rows, %width : tensor<64x1xi32, #across>
    %down = tt.broadcast %starts : tensor<64x1xi32, #across> -> tensor<64x32xi32, #across>
    %right = tt.broadcast %columns : tensor<1x32xi32, #across> -> tensor<64x32xi32, #across>
    %offsets = arith.addi %down, %right : tensor<64x32xi32, #across>
    %base = tt.splat %x : !tt.ptr<i32> -> tensor<64x32x!tt.ptr<i32>, #across>
    %places = tt.addptr %base, %offsets : tensor<64x32x!tt.ptr<i32>, #across>, tensor<64x32xi32, #across>
    %tile = tt.load %places : tensor<64x32x!tt.ptr<i32>, #across>
    %sum = "tt.reduce"(%tile) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<64x32xi32, #across>) -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #across}>>
    %to = tt.splat %sums : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #across}>>
    %at = tt.addptr %to, %r : tensor<64x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #across}>>, tensor<64xi32, #ttg.slice<{dim = 1, parent = #across}>>
    tt.store %at, %sum : tensor<64x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #across}>>
    %turned = ttg.convert_layout %tile : tensor<64x32xi32, #across> -> tensor<64x32xi32, #columns>
    %offsets_turned = ttg.convert_layout %offsets : tensor<64x32xi32, #across> -> tensor<64x32xi32, #columns>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x32x!tt.ptr<i32>, #columns>
    %put = tt.addptr %outs, %offsets_turned : tensor<64x32x!tt.ptr<i32>, #columns>, tensor<64x32xi32, #columns>
    tt.store %put, %turned : tensor<64x32x!tt.ptr<i32>, #columns>
    tt.return
  }
}
"#;

#[test]
fn movements_that_do_not_fit_together_go_in_rounds() {
    let module = ttir::parse(KERNEL).unwrap();
    let kernel = &module.kernels[0];
    let arguments = [
        ("x", Integers(2048, -99, 100)),
        ("sums", Empty(DType::I32, 64)),
        ("out", Empty(DType::I32, 2048)),
    ];
    let (args, mut wanted) = make(&arguments);
    eval::run(kernel, [1, 1, 1], &args, &mut wanted, eval::Options::default()).unwrap();
    let machine = Machine::by_name("sm_90").unwrap();
    let mut taken = Vec::new();
    for shared_bytes_per_block in [machine.shared_bytes_per_block, 8192] {
        let machine = Machine { shared_bytes_per_block, ..machine.clone() };
        let compiled = compile::compile(&module, kernel, &Options::for_machine(&machine)).unwrap();
        taken.push(compiled.program.shared_bytes);
        let (args, mut memory) = make(&arguments);
        let launch = Launch {
            program: &compiled.program,
            grid: [1, 1, 1],
            args: &args,
            machine: &compile::simulated(&machine, 1),
            options: sim::Options::default(),
        };
        assert!(sim::run(&launch, &mut memory).unwrap().is_clean());
        for (wanted, found) in wanted.buffers().iter().zip(memory.buffers()) {
            assert_eq!(wanted.bytes, found.bytes, "{}", wanted.name);
        }
    }
    assert!(taken[0] > 8192 && taken[1] <= 8192, "{taken:?}");
}

/// Where memory is scarce, homes are chosen at a price of it, and in more passes; what speaks for them is what spoke for them then.
#[test]
fn the_review_is_of_the_homes_that_were_compiled() {
    let kernels = [
        (include_str!("../../../../kernels/product_f32.ttir"), 12_287, (1, 0)),
        (include_str!("../../../../kernels/product_f16_sums.ttir"), 1_535, (1, 1)),
        (include_str!("../../../../kernels/product_thin.ttir"), 4_607, (1, 1)),
    ];
    for (text, shared_bytes_per_block, tried) in kernels {
        let module = ttir::parse(text).unwrap();
        let machine = Machine::by_name("sm_80").unwrap();
        let machine = Machine { shared_bytes_per_block, ..machine.clone() };
        let options = Options::for_machine(&machine);
        let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
        assert_eq!((compiled.attempt.shared_byte, compiled.attempt.halvings), tried);
        let review = compile::review(&compiled, &options).unwrap().unwrap();
        assert_eq!(Some(review.total), compiled.assignment.total());
        for value in compiled.kernel.values.keys() {
            let chosen = compiled.assignment.registers(value);
            let judged = review.homes[value].as_ref();
            assert_eq!(
                judged.map(|judged| review.layouts.get(judged.layout)),
                chosen.map(|layout| compiled.assignment.layouts.get(layout)),
            );
        }
    }
}

/// Weights that fill the local data share, beside which the rows that they are multiplied by have no room.
const PRODUCT: &str = "tt.func public @product(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %m = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %k = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %n = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %down = tt.expand_dims %m {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %over = tt.expand_dims %k {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %deep = tt.expand_dims %k {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
  %right = tt.expand_dims %n {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %long = arith.constant dense<256> : tensor<16x1xi32>
  %wide = arith.constant dense<128> : tensor<256x1xi32>
  %short = arith.constant dense<128> : tensor<16x1xi32>
  %a = arith.muli %down, %long : tensor<16x1xi32>
  %b = arith.muli %deep, %wide : tensor<256x1xi32>
  %c = arith.muli %down, %short : tensor<16x1xi32>
  %a0 = tt.broadcast %a : tensor<16x1xi32> -> tensor<16x256xi32>
  %a1 = tt.broadcast %over : tensor<1x256xi32> -> tensor<16x256xi32>
  %b0 = tt.broadcast %b : tensor<256x1xi32> -> tensor<256x128xi32>
  %b1 = tt.broadcast %right : tensor<1x128xi32> -> tensor<256x128xi32>
  %c0 = tt.broadcast %c : tensor<16x1xi32> -> tensor<16x128xi32>
  %c1 = tt.broadcast %right : tensor<1x128xi32> -> tensor<16x128xi32>
  %ai = arith.addi %a0, %a1 : tensor<16x256xi32>
  %bi = arith.addi %b0, %b1 : tensor<256x128xi32>
  %ci = arith.addi %c0, %c1 : tensor<16x128xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<16x256x!tt.ptr<f16>>
  %ws = tt.splat %w : !tt.ptr<f16> -> tensor<256x128x!tt.ptr<f16>>
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<16x128x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %ai : tensor<16x256x!tt.ptr<f16>>, tensor<16x256xi32>
  %wp = tt.addptr %ws, %bi : tensor<256x128x!tt.ptr<f16>>, tensor<256x128xi32>
  %zp = tt.addptr %zs, %ci : tensor<16x128x!tt.ptr<f32>>, tensor<16x128xi32>
  %xv = tt.load %xp : tensor<16x256x!tt.ptr<f16>>
  %wv = tt.load %wp : tensor<256x128x!tt.ptr<f16>>
  %none = arith.constant dense<0.0> : tensor<16x128xf32>
  %sum = tt.dot %xv, %wv, %none : tensor<16x256xf16> * tensor<256x128xf16> -> tensor<16x128xf32>
  tt.store %zp, %sum : tensor<16x128x!tt.ptr<f32>>
  tt.return
}";

/// More passes cost less than a product whose factors are loaded one element at a time.
#[test]
fn passes_come_before_accesses_of_single_elements() {
    let options = Options { warps: 8, ..Options::for_machine(Machine::by_name("gfx942").unwrap()) };
    let module = ttir::parse(PRODUCT).unwrap();
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    assert_eq!(compiled.attempt.halvings, 1);
    let mut narrow = 0;
    compiled.program.walk(&compiled.program.body, &mut |_, inst| {
        let is_load = matches!(inst.op, Op::Load { space: Space::Global, .. });
        let bits = inst.results.iter().map(|&value| compiled.program.dtype(value).bits());
        narrow += usize::from(is_load && bits.sum::<u32>() < 128);
    });
    assert_eq!(narrow, 0, "{}", compiled.program);
    let arguments = [
        ("x", Small(DType::F16, 16 * 256)),
        ("w", Small(DType::F16, 256 * 128)),
        ("z", Empty(DType::F32, 16 * 128)),
    ];
    check(PRODUCT, &options, [1, 1, 1], &arguments);
}

/// Where a pipeline's buffers have no copies that fill them, loads stay in place. (So it is with the scales of AITER's
/// `_moe_gemm_a8w8_blockscale`, which was refused for gfx950.)
#[test]
fn a_pipeline_that_has_no_plan_is_none() {
    let text = include_str!("scaled_rounds.ttir");
    for stages in [1, 2, 3] {
        let machine = Machine::by_name("gfx950").unwrap();
        let options = Options { stages, ..Options::for_machine(machine) };
        let module = ttir::parse(text).unwrap();
        let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
        assert_eq!(compiled.attempt.stages, 1);
    }
}
