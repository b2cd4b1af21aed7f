//! Blocks that have more warps than were asked for, because registers of fewer threads would not hold what is live.

use crate::inputs::Argument::{Empty, Integers};
use crate::inputs::make;
use weft::assign::Pin;
use weft::compile::{self, Compiled, MoreWarps, Options, Relief, TensorMaps};
use weft::dtype::DType;
use weft::sim::{self, Launch};
use weft::tile::{Module, eval};
use weft::ttir;
use weft_layout::machine::Machine;

/// A row without its sum, which every thread has to hold until all have added up theirs.
fn row(elements: u32) -> String {
    format!(
        r#"module {{
  tt.func public @row(%x: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %out: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}) {{
    %r = tt.make_range {{end = {elements} : i32, start = 0 : i32}} : tensor<{elements}xi32>
    %base = tt.splat %x : !tt.ptr<i32> -> tensor<{elements}x!tt.ptr<i32>>
    %places = tt.addptr %base, %r : tensor<{elements}x!tt.ptr<i32>>, tensor<{elements}xi32>
    %row = tt.load %places : tensor<{elements}x!tt.ptr<i32>>
    %sum = "tt.reduce"(%row) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }}) : (tensor<{elements}xi32>) -> i32
    %sums = tt.splat %sum : i32 -> tensor<{elements}xi32>
    %rest = arith.subi %row, %sums : tensor<{elements}xi32>
    %to = tt.splat %out : !tt.ptr<i32> -> tensor<{elements}x!tt.ptr<i32>>
    %at = tt.addptr %to, %r : tensor<{elements}x!tt.ptr<i32>>, tensor<{elements}xi32>
    tt.store %at, %rest : tensor<{elements}x!tt.ptr<i32>>
    tt.return
  }}
}}"#
    )
}

fn compiled(module: &Module, options: &Options) -> Compiled {
    compile::compile(module, &module.kernels[0], options).unwrap()
}

fn options(machine: &str, warps: u32) -> Options {
    Options { warps, ..Options::for_machine(Machine::by_name(machine).unwrap()) }
}

/// Asked for one to eight warps, a row of so many elements has so many.
fn given(machine: &str, elements: u32) -> [u32; 4] {
    let module = ttir::parse(&row(elements)).unwrap();
    [1, 2, 4, 8].map(|warps| {
        let compiled = compiled(&module, &options(machine, warps));
        let Compiled { program, relieved, .. } = compiled;
        assert_eq!(
            relieved.map(|relief| relief.asked(1)),
            (program.warps > warps).then_some(32 * warps)
        );
        program.warps
    })
}

#[test]
fn a_block_has_the_warps_that_hold_it() {
    assert_eq!(given("sm_90", 4096), [1, 2, 4, 8]);
    assert_eq!(given("sm_90", 16384), [4, 2, 4, 8]);
    assert_eq!(given("sm_80", 65536), [8, 8, 8, 8]);
    // It is not known how many registers these have.
    assert_eq!(given("gfx942", 16384), [1, 2, 4, 8]);
}

#[test]
fn a_kernel_means_the_same_with_more_warps() {
    let module = ttir::parse(&row(16384)).unwrap();
    let kernel = &module.kernels[0];
    let arguments = [("x", Integers(16384, -99, 100)), ("out", Empty(DType::I32, 16384))];
    let (args, mut wanted) = make(&arguments);
    eval::run(kernel, [1, 1, 1], &args, &mut wanted, eval::Options::default()).unwrap();
    let options = options("sm_90", 1);
    let compiled = compiled(&module, &options);
    assert_eq!(compiled.program.threads(), 128);
    let (args, mut memory) = make(&arguments);
    let launch = Launch {
        program: &compiled.program,
        grid: [1, 1, 1],
        args: &args,
        machine: &compile::simulated(&options.machine, 1),
        options: sim::Options::default(),
    };
    assert!(sim::run(&launch, &mut memory).unwrap().is_clean());
    for (wanted, found) in wanted.buffers().iter().zip(memory.buffers()) {
        assert_eq!(wanted.bytes, found.bytes, "{}", wanted.name);
    }
    // What is told of it afterwards is told of those warps.
    compiled.spent(&options).unwrap();
    let review = compile::review(&compiled, &options).unwrap().unwrap();
    assert_eq!(Some(review.total), compiled.assignment.total());
    let encoded = compile::encoded(&module, &compiled, &options).unwrap();
    assert_eq!(encoded.launch.warps, Some(4));
    // The text with these layouts keeps its warps.
    let again = self::compiled(&encoded, &self::options("sm_90", 4));
    assert_eq!((again.program.warps, again.relieved), (4, None));
}

#[test]
fn who_counts_on_his_warps_keeps_them() {
    let module = ttir::parse(&row(16384)).unwrap();
    let one = options("sm_90", 1);
    let exact = Options { more_warps: MoreWarps::Never, ..one.clone() };
    assert_eq!(compiled(&module, &exact).program.warps, 1);
    let found = compiled(&module, &exact);
    let (value, layout) = found
        .kernel
        .values
        .keys()
        .find_map(|value| {
            Some((value, found.assignment.layouts.get(found.assignment.registers(value)?).clone()))
        })
        .unwrap();
    let pinned = Options { pins: vec![Pin { value, layout }], ..one.clone() };
    assert_eq!(compiled(&module, &pinned).program.warps, 1);
    let assembly = row(16384).replace(
        "    %sums",
        "    %read = tt.elementwise_inline_asm \"mov.u32 $0, %tid.x;\" {constraints = \"=r,r\", packed_element = 1 : i32, pure = false} %sum : i32 -> i32\n    %sums",
    );
    let module = ttir::parse(&assembly).unwrap();
    assert_eq!(compiled(&module, &one).program.warps, 1);
}

/// Attention without the largest of a row: blocks of so many rows, 64 keys and heads of 128.
fn weighed(rows: u32) -> String {
    format!(
        r#"module {{
  tt.func public @weighed(%q: !tt.tensordesc<tensor<{rows}x128xf16>>, %k: !tt.tensordesc<tensor<64x128xf16>>, %v: !tt.tensordesc<tensor<64x128xf16>>, %out: !tt.tensordesc<tensor<{rows}x128xf16>>, %n: i32) {{
    %zero = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %none = arith.constant dense<0.0> : tensor<{rows}x64xf32>
    %sums = arith.constant dense<0.0> : tensor<{rows}x128xf32>
    %query = tt.descriptor_load %q[%zero, %zero] : !tt.tensordesc<tensor<{rows}x128xf16>> -> tensor<{rows}x128xf16>
    %all = scf.for %at = %zero to %n step %step iter_args(%sum = %sums) -> (tensor<{rows}x128xf32>)  : i32 {{
      %keys = tt.descriptor_load %k[%at, %zero] : !tt.tensordesc<tensor<64x128xf16>> -> tensor<64x128xf16>
      %turned = tt.trans %keys {{order = array<i32: 1, 0>}} : tensor<64x128xf16> -> tensor<128x64xf16>
      %scores = tt.dot %query, %turned, %none : tensor<{rows}x128xf16> * tensor<128x64xf16> -> tensor<{rows}x64xf32>
      %weights = math.exp2 %scores : tensor<{rows}x64xf32>
      %halves = arith.truncf %weights : tensor<{rows}x64xf32> to tensor<{rows}x64xf16>
      %values = tt.descriptor_load %v[%at, %zero] : !tt.tensordesc<tensor<64x128xf16>> -> tensor<64x128xf16>
      %next = tt.dot %halves, %values, %sum : tensor<{rows}x64xf16> * tensor<64x128xf16> -> tensor<{rows}x128xf32>
      scf.yield %next : tensor<{rows}x128xf32>
    }}
    %result = arith.truncf %all : tensor<{rows}x128xf32> to tensor<{rows}x128xf16>
    tt.descriptor_store %out[%zero, %zero], %result : !tt.tensordesc<tensor<{rows}x128xf16>>, tensor<{rows}x128xf16>
    tt.return
  }}
}}"#
    )
}

/// The warps that such a kernel has which asks for four.
fn weighs_with(rows: u32, stages: u32) -> (u32, Option<Relief>) {
    let module = ttir::parse(&weighed(rows)).unwrap();
    let tensor_maps = TensorMaps::All;
    let compiled = compiled(&module, &Options { stages, tensor_maps, ..options("sm_90", 4) });
    (compiled.program.warps, compiled.relieved)
}

#[test]
fn a_block_that_is_alone_has_two_warps_for_each_scheduler() {
    let (warps, relief) = weighs_with(128, 3);
    assert_eq!(warps, 8);
    let Some(Relief::Alone { warps: 4, before, now }) = relief else { panic!("{relief:?}") };
    assert!(now < before, "{now} {before}");
    // Two blocks side by side are as many warps; and 64 rows are those of one warpgroup.
    assert_eq!(weighs_with(128, 2), (4, None));
    assert_eq!(weighs_with(64, 4).0, 4);
}
