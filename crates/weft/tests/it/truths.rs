//! Truth values in memory and in reductions, whose region may choose by them.

use crate::inputs::Argument::{Empty, Integers, Zeros};
use crate::inputs::make;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

const KERNEL: &str = "
tt.func public @truths(%x: !tt.ptr<i32>, %none: !tt.ptr<i1>, %bits: !tt.ptr<i1>, %all: !tt.ptr<i1>) {
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %places = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %place = tt.addptr %places, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %value = tt.load %place : tensor<256x!tt.ptr<i32>>
  %limit = arith.constant dense<5> : tensor<256xi32>
  %below = arith.cmpi slt, %value, %limit : tensor<256xi32>
  %zeros = tt.splat %none : !tt.ptr<i1> -> tensor<256x!tt.ptr<i1>>
  %zero = tt.addptr %zeros, %range : tensor<256x!tt.ptr<i1>>, tensor<256xi32>
  %read = tt.load %zero, %below, %below : tensor<256x!tt.ptr<i1>>
  %either = arith.ori %read, %below : tensor<256xi1>
  %outs = tt.splat %bits : !tt.ptr<i1> -> tensor<256x!tt.ptr<i1>>
  %out = tt.addptr %outs, %range : tensor<256x!tt.ptr<i1>>, tensor<256xi32>
  tt.store %out, %either : tensor<256x!tt.ptr<i1>>
  %every = \"tt.reduce\"(%either) <{axis = 0 : i32}> ({
  ^bb0(%left: i1, %right: i1):
    %both = arith.select %left, %right, %left : i1
    tt.reduce.return %both : i1
  }) : (tensor<256xi1>) -> i1
  tt.store %all, %every : !tt.ptr<i1>
  tt.return
}";

#[test]
fn truth_values_are_bytes_in_memory_and_truths_in_a_reduction() {
    let module = ttir::parse(KERNEL).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let machine = Machine::by_name("sm_90").unwrap();
    let arguments = [
        ("x", Integers(256, 0, 9)),
        ("none", Zeros(DType::I1, 256)),
        ("bits", Empty(DType::I1, 256)),
        ("all", Empty(DType::I1, 1)),
    ];
    for warps in [1, 4] {
        let options = Options { warps, ..Options::for_machine(machine) };
        let program = compile::compile(&module, kernel, &options).unwrap().program;
        let (args, mut simulated) = make(&arguments);
        let mut expected = simulated.clone();
        let launch = Launch {
            program: &program,
            grid: [1, 1, 1],
            args: &args,
            machine: &compile::simulated(machine, 1),
            options: sim::Options::default(),
        };
        assert!(sim::run(&launch, &mut simulated).unwrap().is_clean());
        eval::run(kernel, [1, 1, 1], &args, &mut expected, eval::Options::default()).unwrap();
        assert_eq!(expected, simulated);
    }
}
