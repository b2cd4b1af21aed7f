//! Narrow elements that cross between lanes in words.

use crate::inputs::Argument::{Empty, Integers, Zeros};
use crate::inputs::make;
use weft::assign::Pin;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::lane::{Op, Program};
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::ttir;
use weft_layout::family::Blocked;
use weft_layout::machine::{Machine, Prices};

/// A tile of narrow numbers and the truth of each, both turned.
const KERNEL: &str = "
tt.func public @turn(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<NARROW> {tt.divisibility = 16 : i32}, %signs: !tt.ptr<i1> {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %width = arith.constant dense<32> : tensor<32x1xi32>
  %starts = arith.muli %rows, %width : tensor<32x1xi32>
  %down = tt.broadcast %starts : tensor<32x1xi32> -> tensor<32x32xi32>
  %across = tt.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %offsets = arith.addi %down, %across : tensor<32x32xi32>
  %base = tt.splat %x : !tt.ptr<i32> -> tensor<32x32x!tt.ptr<i32>>
  %place = tt.addptr %base, %offsets : tensor<32x32x!tt.ptr<i32>>, tensor<32x32xi32>
  %tile = tt.load %place : tensor<32x32x!tt.ptr<i32>>
  %narrow = arith.NARROWED %tile : tensor<32x32xi32> to tensor<32x32xNARROW>
  %zeros = arith.constant dense<0> : tensor<32x32xi32>
  %sign = arith.cmpi slt, %tile, %zeros : tensor<32x32xi32>
  %turned = tt.trans %narrow {order = array<i32: 1, 0>} : tensor<32x32xNARROW> -> tensor<32x32xNARROW>
  %signs_turned = tt.trans %sign {order = array<i32: 1, 0>} : tensor<32x32xi1> -> tensor<32x32xi1>
  %outs = tt.splat %out : !tt.ptr<NARROW> -> tensor<32x32x!tt.ptr<NARROW>>
  %to = tt.addptr %outs, %offsets : tensor<32x32x!tt.ptr<NARROW>>, tensor<32x32xi32>
  tt.store %to, %turned : tensor<32x32x!tt.ptr<NARROW>>
  %bits = tt.splat %signs : !tt.ptr<i1> -> tensor<32x32x!tt.ptr<i1>>
  %bit = tt.addptr %bits, %offsets : tensor<32x32x!tt.ptr<i1>>, tensor<32x32xi32>
  tt.store %bit, %signs_turned : tensor<32x32x!tt.ptr<i1>>
  tt.return
}";

fn count(program: &Program, is: impl Fn(&Op) -> bool) -> usize {
    let mut count = 0;
    program.walk(&program.body, &mut |_, inst| count += usize::from(is(&inst.op)));
    count
}

#[test]
fn packed_elements_arrive_whole() {
    let nvidia = Machine::by_name("sm_90").unwrap();
    // Where only shuffles and sectors count, accesses are dense and as many elements as possible share
    // a shuffle.
    let prices = Prices { wavefront: 10_000, sector: 10_000, alu: 0, issue: 0, ..nvidia.prices };
    let packing = Machine { prices, ..nvidia.clone() };
    for (narrow, narrowed, dtype) in [
        ("i8", "trunci", DType::I8),
        ("i16", "trunci", DType::I16),
        ("f16", "sitofp", DType::F16),
        ("bf16", "sitofp", DType::BF16),
    ] {
        // A thread has 32 numbers and 32 truths, which travel as bytes.
        let most = (32 * dtype.bits() as usize + 32 * 8) / 32;
        let text = KERNEL.replace("NARROWED", narrowed).replace("NARROW", narrow);
        let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let kernel = &module.kernels[0];
        let arguments = [
            ("x", Integers(32 * 32, -99, 99)),
            ("out", Empty(dtype, 32 * 32)),
            ("signs", Zeros(DType::I1, 32 * 32)),
        ];
        for machine in [nvidia, &packing] {
            // Loaded as rows lie; what is narrow lives so too, and is turned for the stores.
            let rows = Blocked::new(&[1, 4], &[4, 8], &[1, 1], &[1, 0]).layout(&[32, 32]).unwrap();
            let pins = ["%narrow", "%sign"].map(|name| {
                let mut values = kernel.values.keys();
                let value = values.find(|&value| kernel.value_name(value) == name).unwrap();
                Pin { value, layout: rows.clone() }
            });
            let options =
                Options { warps: 1, pins: pins.to_vec(), ..Options::for_machine(machine) };
            let program = compile::compile(&module, kernel, &options).unwrap().program;
            if machine == &packing {
                assert!(count(&program, |op| *op == Op::Bytes) > 0, "{program}");
                let exchanges = |op: &Op| matches!(op, Op::ShuffleXor { .. } | Op::ShuffleIndex);
                let shuffles = count(&program, exchanges);
                assert!((1..=most).contains(&shuffles), "{narrow}: {shuffles}");
            }
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
            assert_eq!(simulated, expected, "{narrow} on {:?}", machine.prices);
        }
    }
}

/// A tile of bytes, turned.
const BYTES: &str = "
tt.func public @turn(%x: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i8> {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %width = arith.constant dense<128> : tensor<128x1xi32>
  %starts = arith.muli %rows, %width : tensor<128x1xi32>
  %down = tt.broadcast %starts : tensor<128x1xi32> -> tensor<128x128xi32>
  %across = tt.broadcast %columns : tensor<1x128xi32> -> tensor<128x128xi32>
  %offsets = arith.addi %down, %across : tensor<128x128xi32>
  %base = tt.splat %x : !tt.ptr<i8> -> tensor<128x128x!tt.ptr<i8>>
  %place = tt.addptr %base, %offsets : tensor<128x128x!tt.ptr<i8>>, tensor<128x128xi32>
  %tile = tt.load %place : tensor<128x128x!tt.ptr<i8>>
  %turned = tt.trans %tile {order = array<i32: 1, 0>} : tensor<128x128xi8> -> tensor<128x128xi8>
  %outs = tt.splat %out : !tt.ptr<i8> -> tensor<128x128x!tt.ptr<i8>>
  %to = tt.addptr %outs, %offsets : tensor<128x128x!tt.ptr<i8>>, tensor<128x128xi32>
  tt.store %to, %turned : tensor<128x128x!tt.ptr<i8>>
  tt.return
}";

#[test]
fn bytes_are_turned_in_words() {
    let machine = Machine::by_name("sm_90").unwrap();
    let module = ttir::parse(BYTES).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let options = Options::for_machine(machine);
    let program = compile::compile(&module, kernel, &options).unwrap().program;
    // Nothing is loaded or stored as bytes, and 16 of a thread's 128 take eight permutes.
    program.walk(&program.body, &mut |_, inst| {
        let values = match inst.op {
            Op::Load { .. } => &inst.results[..],
            Op::Store { .. } => inst.memory_operands().unwrap().values,
            _ => &[],
        };
        assert!(values.iter().all(|&value| program.dtype(value) == DType::I32), "{program}");
    });
    assert_eq!(count(&program, |op| *op == Op::Bytes), 64, "{program}");
    let arguments =
        [("x", Integers(128 * 32, -1 << 31, 1 << 31)), ("out", Empty(DType::I8, 1 << 14))];
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
    assert_eq!(simulated, expected);
}

/// A row of halves, scaled by weights of four bytes where a mask is true.
const SCALED: &str = "
tt.func public @scale(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %at = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %end = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %at, %end : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %px = tt.addptr %xs, %at : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %row = tt.load %px, %mask : tensor<1024x!tt.ptr<f16>>
  %wide = arith.extf %row : tensor<1024xf16> to tensor<1024xf32>
  %ws = tt.splat %w : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pw = tt.addptr %ws, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %weight = tt.load %pw, %mask : tensor<1024x!tt.ptr<f32>>
  %scaled = arith.mulf %wide, %weight : tensor<1024xf32>
  %zeros = arith.constant dense<0.0> : tensor<1024xf32>
  %kept = arith.select %mask, %scaled, %zeros : tensor<1024xi1>, tensor<1024xf32>
  %narrow = arith.truncf %kept : tensor<1024xf32> to tensor<1024xf16>
  %outs = tt.splat %out : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %to = tt.addptr %outs, %at : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  tt.store %to, %narrow, %mask : tensor<1024x!tt.ptr<f16>>
  tt.return
}";

#[test]
fn halves_beside_words_fill_the_widest_access_and_a_mask_is_asked_once() {
    let machine = Machine::by_name("sm_90").unwrap();
    let module = ttir::parse(SCALED).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let program =
        compile::compile(&module, kernel, &Options::for_machine(machine)).unwrap().program;
    // Eight halves in one access each way, their weights in two loads that share sectors.
    let mut accesses = Vec::new();
    program.walk(&program.body, &mut |_, inst| {
        let values = match inst.op {
            Op::Load { .. } => &inst.results[..],
            Op::Store { .. } => inst.memory_operands().unwrap().values,
            _ => return,
        };
        accesses.push(values.len() as u32 * program.dtype(values[0]).bytes());
    });
    assert_eq!(accesses, [16; 4], "{program}");
    // The eight elements of a thread are all inside or all outside.
    assert_eq!(count(&program, |op| matches!(op, Op::Compare(_))), 1, "{program}");
}
