//! Movements that do not fit into shared memory together.

use crate::inputs::Argument::{Empty, Integers};
use crate::inputs::make;
use weft::compile::{self, Options};
use weft::dtype::DType;
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

/// Where memory is scarce, homes are chosen at a price of it; what speaks for them is what spoke for them then.
#[test]
fn the_review_is_of_the_homes_that_were_compiled() {
    let kernels = [
        (include_str!("../../../../kernels/product_f32.ttir"), 12_287, 1),
        (include_str!("../../../../kernels/product_f16_sums.ttir"), 1_535, 10),
        (include_str!("../../../../kernels/product_thin.ttir"), 4_607, 100),
    ];
    for (text, shared_bytes_per_block, price) in kernels {
        let module = ttir::parse(text).unwrap();
        let machine = Machine::by_name("sm_80").unwrap();
        let machine = Machine { shared_bytes_per_block, ..machine.clone() };
        let options = Options::for_machine(&machine);
        let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
        assert_eq!(compiled.attempt.shared_byte, price);
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
