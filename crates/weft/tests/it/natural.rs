//! Kernels in two versions, by whether what they divide is below zero.

use crate::checked::check;
use crate::inputs::Argument::{I32, Random};
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::ttir;
use weft_layout::machine::Machine;

/// Rounds of 256 numbers from a start that may be anything: their rows of `%n` numbers, and what stands in a row and in
/// another one in front of it.
const ROUNDS: &str = "tt.func public @rounds(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %start: i32 {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %rounds: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<256> : tensor<256xi32>
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %starts = tt.splat %start : i32 -> tensor<256xi32>
  %first = arith.addi %range, %starts : tensor<256xi32>
  %width = tt.splat %n : i32 -> tensor<256xi32>
  %from = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %to = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %last:2 = scf.for %i = %zero to %rounds step %one iter_args(%at = %first, %into = %range) -> (tensor<256xi32>, tensor<256xi32>) : i32 {
    %row = arith.divsi %at, %width : tensor<256xi32>
    %rest = arith.remsi %at, %width : tensor<256xi32>
    %behind = arith.addi %rest, %width : tensor<256xi32>
    %place = tt.addptr %from, %behind : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %found = tt.load %place : tensor<256x!tt.ptr<f32>>
    %number = arith.sitofp %row : tensor<256xi32> to tensor<256xf32>
    %sum = arith.addf %found, %number : tensor<256xf32>
    %out = tt.addptr %to, %into : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    tt.store %out, %sum : tensor<256x!tt.ptr<f32>>
    %next = arith.addi %at, %step : tensor<256xi32>
    %after = arith.addi %into, %step : tensor<256xi32>
    scf.yield %next, %after : tensor<256xi32>, tensor<256xi32>
  }
  tt.return
}";

/// The same once, of numbers of 64 bits, in a branch that hands on what it has found.
const BRANCH: &str = "tt.func public @branch(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %start: i32 {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %any: i32) {
  %zero = arith.constant 0 : i32
  %none = arith.constant dense<0.0> : tensor<256xf32>
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %is_any = arith.cmpi sgt, %any, %zero : i32
  %from = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %to = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %found = scf.if %is_any -> (tensor<256xf32>) {
    %wide = arith.extsi %start : i32 to i64
    %starts = tt.splat %wide : i64 -> tensor<256xi64>
    %ranges = arith.extsi %range : tensor<256xi32> to tensor<256xi64>
    %at = arith.addi %starts, %ranges : tensor<256xi64>
    %length = arith.extsi %n : i32 to i64
    %width = tt.splat %length : i64 -> tensor<256xi64>
    %rest = arith.remsi %at, %width : tensor<256xi64>
    %behind = arith.addi %rest, %width : tensor<256xi64>
    %place = tt.addptr %from, %behind : tensor<256x!tt.ptr<f32>>, tensor<256xi64>
    %number = tt.load %place : tensor<256x!tt.ptr<f32>>
    scf.yield %number : tensor<256xf32>
  } else {
    scf.yield %none : tensor<256xf32>
  }
  %out = tt.addptr %to, %range : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %out, %found : tensor<256x!tt.ptr<f32>>
  tt.return
}";

fn options() -> Options {
    Options::for_machine(Machine::by_name("sm_90").unwrap())
}

/// Compares with the kernel itself, which knows of no versions.
fn check_from(text: &str, start: i32, width: i32, rounds: i32) {
    let numbers = |count: i32| Random(DType::F32, count as usize);
    let arguments = [
        ("x", numbers(2 * width)),
        ("y", numbers(256 * rounds.max(1))),
        ("start", I32(start)),
        ("n", I32(width)),
        ("rounds", I32(rounds)),
    ];
    check(text, &options(), [1, 1, 1], &arguments);
}

#[test]
fn rows_are_the_same_below_zero_and_where_numbers_wrap() {
    let most = i32::MAX - 15;
    for width in [16, 48, 64, 1024] {
        // Natural numbers, negative ones, those of both signs, and those that wrap in a round or in the last one.
        for start in [0, 16, 4096, -4096, -1024, -512, -256, -16, most - 496, most - 752, most] {
            for text in [ROUNDS, BRANCH] {
                check_from(text, start, width, 3);
                check_from(text, start, width, 0);
            }
        }
    }
}

#[test]
fn natural_numbers_are_loaded_side_by_side() {
    for text in [ROUNDS, BRANCH] {
        let module = ttir::parse(text).unwrap();
        let program = compile::compile(&module, &module.kernels[0], &options()).unwrap().program;
        let text = emit::print(&program, Language::Ptx, Target::by_name("sm_90").unwrap()).unwrap();
        // Two numbers a thread, and one by one in the other version.
        let loads = |kind: &str| text.matches(kind).count();
        assert_eq!((loads("ld.global.v2.b32"), loads("ld.global.b32")), (1, 2), "{text}");
    }
}
