//! A kernel computes the same without descriptors.

use super::{mappable, run};
use crate::axis::AxisFacts;
use crate::compile::{self, Options};
use crate::dtype::DType;
use crate::lane;
use crate::memory::{Buffer, Memory};
use crate::sim::{self, Launch};
use crate::tile::eval;
use crate::tile::{Kernel, Module, OpKind, verify};
use crate::ttir::parse;
use std::collections::BTreeSet;
use weft_layout::machine::Machine;

/// Elements of each buffer.
const ELEMENTS: u64 = 512;

/// Numbers in the first buffer, ones in the second.
fn memory(dtype: DType) -> Memory {
    let mut memory = Memory::default();
    for (index, name) in ["x", "out"].into_iter().enumerate() {
        let mut bytes = Vec::new();
        for element in 0..ELEMENTS {
            // More bits than tf32 has, and both signs.
            let number = (element as f64 - 200.0) * 1.000_123;
            let bits = crate::scalar::from_f64(dtype, if index == 0 { number } else { 1.0 });
            bytes.extend_from_slice(&bits.to_le_bytes()[..dtype.bytes() as usize]);
        }
        memory.push(Buffer { name: name.into(), bytes, dtype, initialised: true });
    }
    memory
}

fn evaluated(kernel: &Kernel, args: &[u64], dtype: DType) -> Memory {
    let mut memory = memory(dtype);
    let report = eval::run(kernel, [2, 1, 1], args, &mut memory, eval::Options::default()).unwrap();
    assert_eq!(report.findings, []);
    memory
}

/// Both versions, run by the evaluator, and what is compiled of them, run by the simulator, leave the same
/// memory; whether it is another one than there was.
fn stores(text: &str, args: &[u64], dtype: DType) -> bool {
    let module = parse(text).unwrap();
    assert_eq!(parse(&module.to_string()).unwrap().to_string(), module.to_string());
    let kernel = &module.kernels[0];
    let expanded = run(kernel, &[]).unwrap();
    verify(&expanded).unwrap();
    let wanted = evaluated(kernel, args, dtype);
    assert!(wanted == evaluated(&expanded, args, dtype), "{expanded}");
    let options = Options { warps: 1, ..Options::for_machine(Machine::by_name("sm_90").unwrap()) };
    let compiled = compile::compile(&module, kernel, &options).unwrap();
    let (grid, mut simulated) = ([2, 1, 1], memory(dtype));
    let machine = compile::simulated(&options.machine, 2);
    let (program, options) = (&compiled.program, sim::Options::default());
    let launch = Launch { program, grid, args, machine: &machine, options };
    assert_eq!(sim::run(&launch, &mut simulated).unwrap().findings, []);
    assert!(wanted == simulated, "{program}");
    wanted != memory(dtype)
}

/// The arguments of a kernel with two descriptors that it is given: extents, row stride, whether there is NaN
/// outside and whether loads round.
fn given(extents: [u64; 2], stride: u64, flags: [u64; 2]) -> Vec<u64> {
    let one =
        |buffer| [Memory::base(buffer), extents[0], extents[1], stride, 1, flags[0], flags[1]];
    [one(0), one(1)].concat()
}

fn copy(dtype: &str) -> String {
    let block = format!("!tt.tensordesc<8x16x{dtype}>");
    format!(
        "tt.func public @copy(%x: {block}, %y: {block}) {{
           %c4 = arith.constant 4 : i32
           %c8 = arith.constant 8 : i32
           %two = arith.constant -2 : i32
           %id = tt.get_program_id x : i32
           %i = arith.muli %id, %c8 : i32
           %v = tt.descriptor_load %x[%i, %two] : {block} -> tensor<8x16x{dtype}>
           tt.descriptor_store %y[%i, %c4], %v : {block}, tensor<8x16x{dtype}>
           tt.return
         }}"
    )
}

#[test]
fn given_descriptors_have_the_flags_they_are_given() {
    for extents in [[16, 16], [7, 16], [9, 13], [0, 16], [u64::MAX, 9]] {
        for flags in [[0, 0], [1, 0], [0, 1], [1, 1]] {
            let stored = stores(&copy("f32"), &given(extents, 16, flags), DType::F32);
            assert_eq!(stored, (1..=16).contains(&extents[0]), "{extents:?}");
        }
    }
    assert!(stores(&copy("f16"), &given([10, 14], 24, [1, 0]), DType::F16));
}

/// A kernel on pointers %x and %out to f32, and a number %n.
fn kernel(lines: &str) -> String {
    format!(
        "tt.func public @k(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %out: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %n: i32) {{
           %c0 = arith.constant 0 : i32
           %c1 = arith.constant 1 : i32
           %c3 = arith.constant 3 : i32
           %c4 = arith.constant 4 : i32
           %c16 = arith.constant 16 : i32
           %one = arith.constant 1 : i64
           %row = arith.constant 16 : i64
           %id = tt.get_program_id x : i32
           %at = arith.muli %id, %c4 : i32
           %d = tt.make_tensor_descriptor %x, [%n, %c16], [%row, %one] : <f32>, <4x16xf32>
           %e = tt.make_tensor_descriptor %out, [%c16, %c16], [%row, %one] : <f32>, <4x16xf32>
           {lines}
           tt.return
         }}"
    )
}

/// Loops carry descriptors, branches give them, functions take them.
#[test]
fn descriptors_go_from_place_to_place() {
    let block = "!tt.tensordesc<4x16xf32>";
    let args = [Memory::base(0), Memory::base(1), 7];
    let carried = kernel(&format!(
        "%nan = tt.make_tensor_descriptor %x, [%c3, %n], [%row, %one] {{padding = 2 : i32}} : <f32>, <4x16xf32>
         %last:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %d, %b = %nan) -> ({block}, {block}) : i32 {{
           %v = tt.descriptor_load %a[%at, %i] : {block} -> tensor<4x16xf32>
           tt.descriptor_reduce add, %e[%at, %c0], %v : {block}, tensor<4x16xf32>
           scf.yield %b, %a : {block}, {block}
         }}
         %w = tt.descriptor_load %last#1[%at, %c0] : {block} -> tensor<4x16xf32>
         tt.descriptor_reduce add, %e[%at, %c0], %w : {block}, tensor<4x16xf32>"
    ));
    assert!(stores(&carried, &args, DType::F32));
    let chosen = kernel(&format!(
        "%first = arith.cmpi eq, %id, %c0 : i32
         %one_of = scf.if %first -> ({block}) {{
           scf.yield %d : {block}
         }} else {{
           %other = tt.make_tensor_descriptor %x, [%c16, %c3], [%row, %one] {{padding = 2 : i32}} : <f32>, <4x16xf32>
           scf.yield %other : {block}
         }}
         %v = tt.call @load(%one_of, %at) : ({block}, i32) -> tensor<4x16xf32>
         tt.descriptor_store %e[%at, %c0], %v : {block}, tensor<4x16xf32>"
    ));
    let function = format!(
        "\n tt.func private @load(%d: {block}, %at: i32) -> tensor<4x16xf32> {{
           %c1 = arith.constant 1 : i32
           %v = tt.descriptor_load %d[%at, %c1] : {block} -> tensor<4x16xf32>
           tt.return %v : tensor<4x16xf32>
         }}"
    );
    assert!(stores(&(chosen + &function), &args, DType::F32));
}

/// Blocks with dimensions of size one are loaded and stored without them, rows by their numbers.
#[test]
fn blocks_have_other_shapes_and_rows_have_numbers() {
    let args = [Memory::base(0), Memory::base(1), 7];
    let reduced = kernel(
        "%f = tt.make_tensor_descriptor %x, [%c3, %n, %c16], [%row, %row, %one] : <f32>, <1x4x16xf32>
         %v = tt.descriptor_load %f[%id, %at, %c0] : !tt.tensordesc<1x4x16xf32> -> tensor<4x16xf32>
         tt.descriptor_store %e[%at, %c0], %v : !tt.tensordesc<4x16xf32>, tensor<4x16xf32>",
    );
    assert!(stores(&reduced, &args, DType::F32));
    let rows = kernel(
        "%f = tt.make_tensor_descriptor %x, [%c16, %c16], [%row, %one] : <f32>, <1x16xf32>
         %g = tt.make_tensor_descriptor %out, [%n, %c16], [%row, %one] : <f32>, <1x16xf32>
         %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
         %from = arith.constant dense<5> : tensor<8xi32>
         %r = arith.subi %from, %i : tensor<8xi32>
         %c8 = arith.constant 8 : i32
         %own = arith.muli %id, %c8 : i32
         %all = tt.splat %own : i32 -> tensor<8xi32>
         %to = arith.addi %i, %all : tensor<8xi32>
         %v = tt.descriptor_gather %f[%r, %c4] : (!tt.tensordesc<1x16xf32>, tensor<8xi32>, i32) -> tensor<8x16xf32>
         tt.descriptor_scatter %g[%to, %c4], %v : !tt.tensordesc<1x16xf32>, tensor<8xi32>, i32, tensor<8x16xf32>",
    );
    assert!(stores(&rows, &args, DType::F32));
}

/// Elements of a row move 16 bytes at once in the version for ordinary descriptors, and one by one in the other.
#[test]
fn rows_of_whole_16_bytes_move_as_vectors() {
    // From the first column on, with as many elements for each lane.
    let text = copy("f16").replace("constant -2", "constant 0").replace("8x16", "16x16");
    let text = text.replace("%c4], %v", "%c8], %v");
    let module: Module = parse(&text).unwrap();
    let expanded = run(&module.kernels[0], &[]).unwrap();
    let loads = |kernel: &Kernel| {
        let mut loads = 0;
        kernel.walk(&kernel.body, &mut |_, op| {
            loads += u32::from(matches!(op.kind, OpKind::Load(_)));
        });
        loads
    };
    assert_eq!(loads(&expanded), 2);
    let machine = Machine::by_name("sm_90").unwrap();
    let options = Options { warps: 1, ..Options::for_machine(machine) };
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    let mut widths = BTreeSet::new();
    let program = &compiled.program;
    program.walk(&program.body, &mut |_, inst| {
        if let lane::Op::Load { space: lane::Space::Global, .. } = inst.op {
            let bytes = |&value: &_| program.dtype(value).bytes();
            widths.insert(inst.results.iter().map(bytes).sum::<u32>());
        }
    });
    assert_eq!(widths, BTreeSet::from([2, 16]));
}

/// Of two descriptors of `f16` that a kernel is given, with a pointer and a number behind them, how many may be maps.
fn maps(dtype: &str, attributes: &str, lines: &str) -> usize {
    let (block, tile) = (format!("!tt.tensordesc<8x16x{dtype}>"), format!("tensor<8x16x{dtype}>"));
    let lines = lines.replace("BLOCK", &block).replace("TILE", &tile);
    let text = format!(
        "tt.func public @k(%x: {block}{attributes}, %y: {block}{attributes}, %out: !tt.ptr<{dtype}>, %n: i32) {{
           %c0 = arith.constant 0 : i32
           %c1 = arith.constant 1 : i32
           %c8 = arith.constant 8 : i32
           %id = tt.get_program_id x : i32
           %at = arith.muli %id, %c8 : i32
           {lines}
           tt.return
         }}"
    );
    let module = parse(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let kernel = &module.kernels[0];
    mappable(kernel, &AxisFacts::of(kernel), false).len()
}

#[test]
fn descriptors_are_maps_where_an_engine_does_what_they_mean() {
    let load = "%v = tt.descriptor_load %x[%id, %at] : BLOCK -> TILE
                %w = tt.descriptor_load %y[%n, %c0] : BLOCK -> TILE";
    assert_eq!(maps("f16", "", load), 2);
    assert_eq!(maps("i32", "", load), 2);
    assert_eq!(maps("f64", "", load), 0);
    // Loads of f32 may round where there is a flag for it.
    assert_eq!(maps("f32", "", load), 0);
    assert_eq!(maps("f32", " {weft.flags = 1 : i32}", load), 2);
    let written = |dtype: &str, line: &str| {
        maps(dtype, "", &format!("%v = tt.descriptor_load %x[%id, %at] : BLOCK -> TILE\n{line}"))
    };
    for (dtype, line, left) in [
        ("f16", "tt.descriptor_store %y[%n, %at], %v : BLOCK, TILE", 2),
        ("f16", "tt.descriptor_store %y[%c0, %n], %v : BLOCK, TILE", 1),
        ("f16", "tt.descriptor_reduce add, %y[%n, %at], %v : BLOCK, TILE", 2),
        ("f16", "tt.descriptor_reduce max, %y[%n, %at], %v : BLOCK, TILE", 2),
        ("i32", "tt.descriptor_reduce and, %y[%n, %at], %v : BLOCK, TILE", 2),
        ("i32", "tt.descriptor_reduce umax, %y[%n, %at], %v : BLOCK, TILE", 2),
        // A map says nothing of signs, and there is no such instruction.
        ("i32", "tt.descriptor_reduce max, %y[%n, %at], %v : BLOCK, TILE", 1),
        ("i16", "tt.descriptor_reduce and, %y[%n, %at], %v : BLOCK, TILE", 1),
    ] {
        assert_eq!(written(dtype, line), left, "{dtype}: {line}");
    }
    for (what, line, left) in [
        ("rows begin anywhere", "%u = tt.descriptor_load %x[%c0, %n] : BLOCK -> TILE", 1),
        (
            "rows begin in the middle of 16 bytes",
            "%u = tt.descriptor_load %x[%c0, %c1] : BLOCK -> TILE",
            1,
        ),
        ("another shape", "%u = tt.descriptor_load %x[%c0, %c0] : BLOCK -> tensor<128xf16>", 1),
        ("stored", "tt.descriptor_store %y[%c0, %c0], %v : BLOCK, TILE", 1),
        ("added to", "tt.descriptor_reduce add, %y[%c0, %c0], %v : BLOCK, TILE", 1),
        (
            "carried",
            "%d = scf.for %i = %c0 to %n step %c1 iter_args(%e = %x) -> (BLOCK) : i32 {
               scf.yield %e : BLOCK
             }",
            1,
        ),
        (
            "memory is ordered",
            "%one = arith.constant 1.0 : f16
             %old = tt.atomic_rmw fadd, acq_rel, gpu, %out, %one : (!tt.ptr<f16>, f16) -> f16",
            0,
        ),
        (
            "other memory is written",
            "%one = arith.constant 1.0 : f16
             tt.store %out, %one : !tt.ptr<f16>",
            2,
        ),
        (
            "any memory is written",
            "%one = arith.constant 1.0 : f16
             %words = tt.int_to_ptr %far : i64 -> !tt.ptr<i64>
             %word = tt.load %words : !tt.ptr<i64>
             %there = tt.int_to_ptr %word : i64 -> !tt.ptr<f16>
             tt.store %there, %one : !tt.ptr<f16>",
            0,
        ),
    ] {
        let far = "%far = arith.extsi %n : i32 to i64\n";
        assert_eq!(maps("f16", "", &format!("{far}{load}\n{line}")), left, "{what}");
    }
}
