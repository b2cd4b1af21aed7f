//! Blocks that have more warps than were asked for, because registers of fewer threads would not hold what is live.

use crate::inputs::Argument::{Empty, Integers};
use crate::inputs::make;
use weft::assign::Pin;
use weft::compile::{self, Compiled, Options};
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
            relieved.map(|asked| asked.threads),
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
    let exact = Options { exact_warps: true, ..one.clone() };
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
