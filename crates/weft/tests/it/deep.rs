//! Loops inside one another, as deep as they may be: no analysis goes over the innermost one again
//! for each round that it makes over every outer one.

use std::fmt::Write as _;
use weft::compile::{Options, compile};
use weft::ttir;
use weft_layout::machine::Machine;

/// `depth` loops that carry a tensor; the innermost moves it through shared memory.
fn nest(depth: usize) -> String {
    let mut text = String::from(
        "tt.func public @nest(%out: !tt.ptr<i32>, %n: i32) {
           %zero = arith.constant 0 : i32
           %one = arith.constant 1 : i32
           %start = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>\n",
    );
    let mut outer = "%start".to_owned();
    for level in 0..depth {
        writeln!(
            text,
            "%loop{level} = scf.for %i{level} = %zero to %n step %one \
             iter_args(%carried{level} = {outer}) -> (tensor<4096xi32>) : i32 {{"
        )
        .unwrap();
        outer = format!("%carried{level}");
    }
    writeln!(
        text,
        "%square = tt.reshape {outer} : tensor<4096xi32> -> tensor<64x64xi32>
         %turned = tt.trans %square {{order = array<i32: 1, 0>}} \
             : tensor<64x64xi32> -> tensor<64x64xi32>
         %flat = tt.reshape %turned : tensor<64x64xi32> -> tensor<4096xi32>
         %sum = arith.addi %flat, {outer} : tensor<4096xi32>
         scf.yield %sum : tensor<4096xi32> }}"
    )
    .unwrap();
    for level in (1..depth).rev() {
        writeln!(text, "scf.yield %loop{level} : tensor<4096xi32> }}").unwrap();
    }
    text + "%base = tt.splat %out : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
            %places = tt.addptr %base, %start : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
            tt.store %places, %loop0 : tensor<4096x!tt.ptr<i32>>
            tt.return }"
}

#[test]
fn the_deepest_nest_of_loops_compiles() {
    let module = ttir::parse(&nest(60)).unwrap();
    let options = Options::for_machine(Machine::by_name("sm_90").unwrap());
    let compiled = compile(&module, &module.kernels[0], &options).unwrap();
    assert_eq!(compiled.program.to_string().matches("barrier").count(), 2);
}
