//! Program order inside one instance: what one thread wrote, another reads after it.

use crate::inputs::Argument::{self, Empty, I32, Integers, Zeros};
use crate::inputs::make;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::lane::{self, BarrierScope};
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

/// Each round moves every element one place up and adds to it: what a thread loads, its neighbour
/// stored in the round before. The pointers are one value, with other contents in each round.
const SHIFTING: &str = "
tt.func public @shifting(%x: !tt.ptr<i32>, %rounds: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ones = arith.constant dense<1> : tensor<256xi32>
  scf.for %i = %zero to %rounds step %one : i32 {
    %starts = tt.splat %i : i32 -> tensor<256xi32>
    %offsets = arith.addi %range, %starts : tensor<256xi32>
    %base = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %place = tt.addptr %base, %offsets : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %old = tt.load %place : tensor<256x!tt.ptr<i32>>
    %new = arith.addi %old, %ones : tensor<256xi32>
    tt.store %place, %new : tensor<256x!tt.ptr<i32>>
  }
  tt.return
}";

/// One value of pointers, loaded and stored through: the load follows its reduction, whose rows lie
/// across the threads otherwise than the store wants them.
const TURNING: &str = "
tt.func public @turning(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %rounds: i32) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %starts = arith.muli %rows, %width : tensor<64x1xi32>
  %down = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
  %across = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %down, %across : tensor<64x64xi32>
  %base = tt.splat %x : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>>
  %place = tt.addptr %base, %offsets : tensor<64x64x!tt.ptr<i32>>, tensor<64x64xi32>
  %tile = tt.load %place : tensor<64x64x!tt.ptr<i32>>
  %turned = tt.trans %tile {order = array<i32: 1, 0>} : tensor<64x64xi32> -> tensor<64x64xi32>
  tt.store %place, %turned : tensor<64x64x!tt.ptr<i32>>
  %again = tt.load %place : tensor<64x64x!tt.ptr<i32>>
  %product = tt.dot %again, %tile, %turned : tensor<64x64xi32> * tensor<64x64xi32> -> tensor<64x64xi32>
  tt.store %place, %product : tensor<64x64x!tt.ptr<i32>>
  tt.return
}";

/// Pointers that were computed from memory, eight to each place: every element is loaded before one of
/// the eight replaces it.
const SHARING: &str = "
tt.func public @sharing(%x: !tt.ptr<i32>, %indices: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %from = tt.splat %indices : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %index = tt.addptr %from, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %start = tt.load %index : tensor<256x!tt.ptr<i32>>
  %most = arith.constant dense<31> : tensor<256xi32>
  %folded = arith.andi %range, %most : tensor<256xi32>
  %where = arith.addi %start, %folded : tensor<256xi32>
  %base = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %place = tt.addptr %base, %where : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %old = tt.load %place : tensor<256x!tt.ptr<i32>>
  %seven = arith.constant dense<7> : tensor<256xi32>
  %once = arith.cmpi sle, %range, %most : tensor<256xi32>
  tt.store %place, %seven, %once : tensor<256x!tt.ptr<i32>>
  %outs = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %to = tt.addptr %outs, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  tt.store %to, %old : tensor<256x!tt.ptr<i32>>
  tt.return
}";

/// Single elements, stored twice a round, the second where the next round stores; a case may load one where
/// `LOADED` stands.
const SINGLE: &str = "
tt.func public @single(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %rounds: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %rounds step %one : i32 {
    %place = tt.addptr %x, %i : !tt.ptr<i32>, i32
    %next = tt.addptr %place, %one : !tt.ptr<i32>, i32
    tt.store %place, %i : !tt.ptr<i32>
    tt.store %next, %one : !tt.ptr<i32>
    LOADED
  }
  tt.return
}";

/// The most barriers of the block that a program has, of those with one to eight warps.
fn check(text: &str, arguments: &[(&str, Argument)]) -> usize {
    let mut most = 0;
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let machine = Machine::by_name("sm_90").unwrap();
    for warps in [1, 2, 4, 8] {
        let options = Options { warps, ..Options::for_machine(machine) };
        let program = compile::compile(&module, kernel, &options).unwrap().program;
        let mut barriers = 0;
        program.walk(&program.body, &mut |_, inst| {
            barriers +=
                usize::from(inst.op == lane::Op::Sync(lane::SyncOp::Barrier(BarrierScope::Block)));
        });
        most = most.max(barriers);
        let (args, mut simulated) = make(arguments);
        let mut expected = simulated.clone();
        let launch = Launch {
            program: &program,
            grid: [1, 1, 1],
            args: &args,
            machine: &compile::simulated(machine, 1),
            options: sim::Options::default(),
        };
        let report = sim::run(&launch, &mut simulated).unwrap();
        assert!(report.is_clean(), "{} with {warps} warps: {}", kernel.name, report.findings[0]);
        eval::run(kernel, [1, 1, 1], &args, &mut expected, eval::Options::default()).unwrap();
        assert_eq!(simulated, expected, "{} with {warps} warps", kernel.name);
    }
    most
}

#[test]
fn rounds_of_a_loop_see_what_the_round_before_stored() {
    check(SHIFTING, &[("x", Integers(256 + 6, -9, 9)), ("rounds", I32(6))]);
}

#[test]
fn accesses_in_different_layouts_see_each_other() {
    check(TURNING, &[("x", Integers(64 * 64, -9, 9)), ("rounds", I32(0))]);
}

#[test]
fn elements_that_share_a_place_are_loaded_before_it_is_replaced() {
    let arguments = [
        ("x", Integers(32, -9, 9)),
        ("indices", Zeros(DType::I32, 256)),
        ("out", Empty(DType::I32, 256)),
    ];
    check(SHARING, &arguments);
}

/// The first thread stores each of them, and so in order; a load of one is every thread's.
#[test]
fn single_elements_are_stored_in_order_without_barriers() {
    let arguments =
        [("x", Zeros(DType::I32, 9)), ("out", Zeros(DType::I32, 1)), ("rounds", I32(8))];
    assert_eq!(check(&SINGLE.replace("LOADED", ""), &arguments), 0);
    let loaded = "%last = tt.load %place : !tt.ptr<i32>
    tt.store %out, %last : !tt.ptr<i32>";
    assert!(check(&SINGLE.replace("LOADED", loaded), &arguments) > 0);
}
