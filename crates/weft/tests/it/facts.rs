//! Whatever the analysis says of an index holds of every element that the evaluator computes.
//!
//! A kernel of random integer arithmetic is made from a number: ranges, program ids, arguments and
//! constants, rows and columns, sums, products, quotients, remainders, shifts, choices, reshapes. It
//! stores every value that it computes. `WEFT_RUNS=10000` makes so many, and each is compiled and
//! simulated as well: offsets that divide become products there.

use crate::inputs::{Argument, make};
use std::fmt::Write as _;
use weft::axis::{AxisFacts, Facts};
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::memory::{Buffer, Memory};
use weft::sim::{self, Launch};
use weft::tile::{Kernel, OpKind, eval};
use weft::ttir;
use weft_layout::machine::Machine;

/// The elements of a tensor, and its rows and columns.
const ELEMENTS: usize = 128;
const SHAPES: [&str; 4] = ["128", "8x16", "8x1", "1x16"];
/// The program ids that are run.
const GRID: u32 = 3;

/// A small generator of numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// A kernel's text while it is written.
#[derive(Default)]
struct Text {
    body: String,
    count: usize,
    /// The values of each of [`SHAPES`].
    values: [Vec<usize>; 4],
}

impl Text {
    fn define(&mut self, shape: usize, right: &str) -> usize {
        let name = self.count;
        writeln!(self.body, "  %v{name} = {right}").unwrap();
        self.values[shape].push(name);
        self.count += 1;
        name
    }

    fn constant(&mut self, shape: usize, number: i64) -> usize {
        self.define(
            shape,
            &format!("arith.constant dense<{number}> : tensor<{}xi32>", SHAPES[shape]),
        )
    }

    /// Some value of a shape, of the last ones rather.
    fn some(&self, dice: &mut Dice, shape: usize) -> usize {
        let values = &self.values[shape];
        let back = dice.below(values.len()).min(dice.below(values.len()));
        values[values.len() - 1 - back]
    }
}

const NUMBERS: [i64; 16] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 48, 64, 100, 768, 1 << 20, -1, -8];

/// Divisors of 64 bits beside those of 32.
const SIZES: [i64; 12] = [
    0,
    1,
    -1,
    1 << 31,
    -1 << 31,
    (1 << 31) - 1,
    1 << 32,
    (1 << 32) - 1,
    -1 << 32,
    1 << 40,
    i64::MAX,
    i64::MIN,
];

fn random_text(seed: u64) -> (String, usize) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = Text::default();
    let start = dice.of(&[0, 0, 0, 1, 8, 16, 64]);
    let end = start + 128;
    text.define(
        0,
        &format!("tt.make_range {{end = {end} : i32, start = {start} : i32}} : tensor<128xi32>"),
    );
    let block = dice.of(&NUMBERS[..14]);
    writeln!(
        text.body,
        "  %block = arith.constant {block} : i32\n  %first = arith.muli %pid, %block : i32"
    )
    .unwrap();
    for (size, ty) in SHAPES.iter().enumerate() {
        writeln!(text.body, "  %size{size} = tt.splat %size : i64 -> tensor<{ty}xi64>").unwrap();
    }
    for scalar in ["%first", "%n", "%m", "%pid"] {
        text.define(0, &format!("tt.splat {scalar} : i32 -> tensor<128xi32>"));
        text.define(2, &format!("tt.splat {scalar} : i32 -> tensor<8x1xi32>"));
        text.define(3, &format!("tt.splat {scalar} : i32 -> tensor<1x16xi32>"));
    }
    text.body.push_str(
        "  %eight = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n  \
         %sixteen = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n",
    );
    text.define(2, "tt.expand_dims %eight {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>");
    text.define(3, "tt.expand_dims %sixteen {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>");
    for _ in 0..24 {
        let shape = dice.below(4);
        let ty = format!("tensor<{}xi32>", SHAPES[shape]);
        let reshaped = |from: usize, name: usize| {
            let [from, to] = [from, 1 - from].map(|shape| SHAPES[shape]);
            format!("tt.reshape %v{name} : tensor<{from}xi32> -> tensor<{to}xi32>")
        };
        if shape == 1 && (text.values[1].is_empty() || dice.below(3) == 0) {
            let from = dice.of(&[0, 2, 3]);
            let name = text.some(&mut dice, from);
            let right = match from {
                0 => reshaped(0, name),
                _ => format!("tt.broadcast %v{name} : tensor<{}xi32> -> {ty}", SHAPES[from]),
            };
            text.define(1, &right);
            continue;
        }
        if shape == 0 && !text.values[1].is_empty() && dice.below(4) == 0 {
            let name = text.some(&mut dice, 1);
            text.define(0, &reshaped(1, name));
            continue;
        }
        let x = text.some(&mut dice, shape);
        let y = match dice.below(3) {
            0 => text.some(&mut dice, shape),
            _ => {
                let number = dice.of(&NUMBERS);
                text.constant(shape, number)
            }
        };
        let op = dice.of(&[
            "addi", "addi", "subi", "muli", "divsi", "divui", "divsi", "remsi", "remui", "remsi",
            "andi", "ori", "xori", "minsi", "maxsi", "minui", "shift", "choice", "truth", "wide",
            "wide",
        ]);
        match op {
            "truth" => {
                let name = text.count;
                let by = dice.of(&["slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]);
                let [x, y] = if dice.below(2) == 0 { [x, y] } else { [y, x] };
                let truths = SHAPES[shape];
                writeln!(text.body, "  %c{name} = arith.cmpi {by}, %v{x}, %v{y} : {ty}").unwrap();
                text.define(shape, &format!("arith.extui %c{name} : tensor<{truths}xi1> to {ty}"));
            }
            "wide" => {
                let (name, wide) = (text.count, format!("tensor<{}xi64>", SHAPES[shape]));
                let widen = dice.of(&["extsi", "extsi", "extui"]);
                writeln!(text.body, "  %w{name}x0 = arith.{widen} %v{x} : {ty} to {wide}").unwrap();
                let count = 1 + dice.below(2);
                for index in 0..count {
                    let op = dice.of(&["divsi", "divsi", "remsi", "divui", "remui"]);
                    let (from, to) = (format!("%w{name}x{index}"), index + 1);
                    writeln!(
                        text.body,
                        "  %w{name}x{to} = arith.{op} {from}, %size{shape} : {wide}"
                    )
                    .unwrap();
                }
                text.define(shape, &format!("arith.trunci %w{name}x{count} : {wide} to {ty}"));
            }
            "shift" => {
                let op = dice.of(&["shli", "shrsi", "shrui"]);
                let number = dice.below(8) as i64;
                let count = text.constant(shape, number);
                text.define(shape, &format!("arith.{op} %v{x}, %v{count} : {ty}"));
            }
            "choice" => {
                let name = text.count;
                let other = text.some(&mut dice, shape);
                let by = dice.of(&["slt", "sge", "ult", "eq"]);
                writeln!(text.body, "  %c{name} = arith.cmpi {by}, %v{x}, %v{y} : {ty}").unwrap();
                let truths = SHAPES[shape];
                text.define(
                    shape,
                    &format!("arith.select %c{name}, %v{x}, %v{other} : tensor<{truths}xi1>, {ty}"),
                );
            }
            op => {
                text.define(shape, &format!("arith.{op} %v{x}, %v{y} : {ty}"));
            }
        }
    }
    // Each tensor of all elements is stored; of rows and columns, what they were broadcast to.
    let mut stored = 0;
    let mut names: Vec<(usize, usize)> = Vec::new();
    for shape in [2, 3] {
        for name in text.values[shape].clone() {
            let from = SHAPES[shape];
            let right = format!("tt.broadcast %v{name} : tensor<{from}xi32> -> tensor<8x16xi32>");
            text.define(1, &right);
        }
    }
    for shape in [0, 1] {
        names.extend(text.values[shape].iter().map(|&name| (shape, name)));
    }
    let total = names.len();
    let mut stores = String::from(
        "  %place = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>\n",
    );
    for (shape, name) in names {
        let mut flat = format!("%v{name}");
        if shape == 1 {
            writeln!(
                stores,
                "  %f{name} = tt.reshape %v{name} : tensor<8x16xi32> -> tensor<128xi32>"
            )
            .unwrap();
            flat = format!("%f{name}");
        }
        let at = stored * ELEMENTS;
        let of_block = total * ELEMENTS;
        writeln!(
            stores,
            "  %k{name} = arith.constant {at} : i32\n  %s{name} = arith.constant {of_block} : i32\n  \
             %b{name} = arith.muli %pid, %s{name} : i32\n  %o{name} = arith.addi %b{name}, %k{name} : i32\n  \
             %p{name} = tt.addptr %out, %o{name} : !tt.ptr<i32>, i32\n  \
             %q{name} = tt.splat %p{name} : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>\n  \
             %r{name} = tt.addptr %q{name}, %place : tensor<128x!tt.ptr<i32>>, tensor<128xi32>\n  \
             tt.store %r{name}, {flat} : tensor<128x!tt.ptr<i32>>"
        )
        .unwrap();
        stored += 1;
    }
    let text = format!(
        "tt.func public @facts(%out: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, \
         %n: i32 {{tt.divisibility = 16 : i32}}, %m: i32, %size: i64) {{\n  %pid = tt.get_program_id x : i32\n\
         {}{stores}  tt.return\n}}\n",
        text.body
    );
    (text, stored)
}

fn multiple(value: u64, of: u64) -> bool {
    if of >> 32 == 0 { value.is_multiple_of(of) } else { value == 0 }
}

/// Whether facts hold of the elements of a tensor.
fn hold(facts: &Facts, shape: &[u64], elements: &[u64]) -> Result<(), String> {
    let signed: Vec<i64> = elements.iter().map(|&bits| i64::from(bits as u32 as i32)).collect();
    if let Some(constant) = facts.constant
        && elements.iter().any(|&element| element != constant & 0xffff_ffff)
    {
        return Err(format!("not the constant {constant}"));
    }
    let range = facts.range;
    if let Some(outside) =
        signed.iter().find(|&&element| element < range.low || element > range.high)
    {
        return Err(format!("{outside} is not in {} to {}", range.low, range.high));
    }
    let steps = &facts.strides.steps;
    for (index, &element) in elements.iter().enumerate() {
        let known = |bit: usize| steps[bit].is_some() && index >> bit & 1 == 1;
        if !(0..steps.len()).any(known) && !multiple(element, facts.strides.first) {
            return Err(format!("element {index} is no multiple of {}", facts.strides.first));
        }
        for (bit, step) in steps.iter().enumerate() {
            let Some(step) = step.filter(|_| index >> bit & 1 == 0) else { continue };
            let other = elements[index | 1 << bit];
            if other != element.wrapping_add(step) & 0xffff_ffff {
                return Err(format!("bit {bit} does not add {step} at {index}"));
            }
        }
    }
    let mut behind = 1;
    for (dim, &extent) in facts.dims.iter().zip(shape).rev() {
        for index in 0..elements.len() {
            let at = index / behind % extent as usize;
            let element = elements[index];
            if at as u64 >= dim.zero_from && element != 0 {
                return Err(format!("{index} is not zero"));
            }
            if at.is_multiple_of(dim.contiguity as usize) && !multiple(element, dim.divisibility) {
                return Err(format!(
                    "the run at {index} begins at no multiple of {}",
                    dim.divisibility
                ));
            }
            if at + 1 < extent as usize {
                let next = elements[index + behind];
                let within = |run: u64| !(at + 1).is_multiple_of(run.min(extent) as usize);
                if within(dim.contiguity) && next != (element + 1) & 0xffff_ffff {
                    return Err(format!("{index} is not followed by one more"));
                }
                if within(dim.constancy) && next != element {
                    return Err(format!("{index} is not followed by the same"));
                }
            }
        }
        behind *= extent as usize;
    }
    Ok(())
}

/// The element that a store's value has in memory.
fn stored(memory: &Memory, block: usize, place: usize, total: usize) -> Vec<u64> {
    let base = Memory::base(0) + 4 * ((block * total + place) * ELEMENTS) as u64;
    (0..ELEMENTS as u64).map(|index| memory.read(base + 4 * index, 4).unwrap()).collect()
}

fn check(kernel: &Kernel, memory: &Memory, total: usize) -> Result<(), String> {
    let facts = AxisFacts::of(kernel);
    let definitions = kernel.definitions();
    let mut place = 0;
    let mut result = Ok(());
    kernel.walk(&kernel.body, &mut |_, op| {
        if !matches!(op.kind, OpKind::Store(_)) || result.is_err() {
            return;
        }
        let flat = op.operands[1];
        let mut values = vec![flat];
        if let Some(id) = definitions[flat]
            && matches!(kernel.ops[id].kind, OpKind::Reshape { .. })
        {
            values.push(kernel.ops[id].operands[0]);
        }
        for value in values {
            for block in 0..GRID as usize {
                let elements = stored(memory, block, place, total);
                let held = hold(facts.get(value), &kernel.ty(value).shape, &elements);
                if let Err(error) = held {
                    let name = kernel.value_name(value);
                    result =
                        Err(format!("{name} of block {block}: {error}: {:?}", facts.get(value)));
                }
            }
        }
        place += 1;
    });
    result
}

fn run(seed: u64) -> Result<(), String> {
    let (text, total) = random_text(seed);
    let failed = |error: String| format!("seed {seed}: {error}\n{text}");
    let module = ttir::parse(&text).map_err(|errors| failed(format!("{errors:?}")))?;
    let kernel = &module.kernels[0];
    let mut dice = Dice(seed);
    let size = match dice.below(3) {
        0 => 1 + dice.below(300) as i64,
        1 => dice.below(2000) as i64 - 1000,
        _ => dice.of(&SIZES),
    };
    let arguments = [
        ("out", Argument::Zeros(DType::I32, total * ELEMENTS * GRID as usize)),
        ("n", Argument::I32(16 * (dice.below(200) as i32 - 100))),
        ("m", Argument::I32(dice.below(2000) as i32 - 1000)),
        ("size", Argument::I64(size)),
    ];
    let (args, mut memory) = make(&arguments);
    let mut simulated = memory.clone();
    eval::run(kernel, [GRID, 1, 1], &args, &mut memory, eval::Options::default())
        .map_err(|error| failed(error.to_string()))?;
    check(kernel, &memory, total).map_err(failed)?;
    let machine = Machine::by_name(dice.of(&["sm_80", "sm_90", "gfx942"])).unwrap();
    let options = Options { warps: dice.of(&[1, 4]), ..Options::for_machine(machine) };
    let compiled =
        compile::compile(&module, kernel, &options).map_err(|error| failed(error.to_string()))?;
    let launch = Launch {
        program: &compiled.program,
        grid: [GRID, 1, 1],
        args: &args,
        machine: &compile::simulated(machine, 8),
        options: sim::Options::default(),
    };
    sim::run(&launch, &mut simulated).map_err(|error| failed(error.to_string()))?;
    for place in 0..total * GRID as usize {
        let (wanted, got) = (stored(&memory, 0, place, total), stored(&simulated, 0, place, total));
        if wanted != got {
            return Err(failed(format!("store {place} differs: {wanted:?} {got:?}")));
        }
    }
    Ok(())
}

#[test]
fn facts_hold_of_random_indices() {
    let runs = std::env::var("WEFT_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(150);
    for seed in 0..runs {
        run(seed).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// The number that ends a loop is one that its body does not see: what is known of the counter there does not
/// hold where the loop asks whether it goes on.
#[test]
fn loops_end_where_they_end() {
    for (low, high, step, rounds) in
        [(2, 4, 2, 1), (0, 5, 5, 1), (0, 1, 1, 1), (1, 8, 3, 3), (7, 3, 1, 0), (0, 0, 4, 0)]
    {
        let text = format!(
            "tt.func public @counted(%out: !tt.ptr<i32>) {{\n\
               %low = arith.constant {low} : i32\n\
               %high = arith.constant {high} : i32\n\
               %step = arith.constant {step} : i32\n\
               %zero = arith.constant 0 : i32\n\
               %one = arith.constant 1 : i32\n\
               %rounds = scf.for %i = %low to %high step %step iter_args(%n = %zero) -> (i32) : i32 {{\n\
                 %more = arith.addi %n, %one : i32\n\
                 scf.yield %more : i32\n\
               }}\n\
               tt.store %out, %rounds : !tt.ptr<i32>\n\
               tt.return\n\
             }}\n"
        );
        let module = ttir::parse(&text).unwrap();
        let kernel = &module.kernels[0];
        let machine = Machine::by_name("sm_90").unwrap();
        let options = Options { warps: 1, ..Options::for_machine(machine) };
        let compiled = compile::compile(&module, kernel, &options).unwrap();
        let mut memory = Memory::default();
        let address = memory.push(Buffer {
            name: "out".into(),
            bytes: vec![0; 4],
            dtype: DType::I32,
            initialised: true,
        });
        let launch = Launch {
            program: &compiled.program,
            grid: [1, 1, 1],
            args: &[address],
            machine: &sim::Machine::nvidia(),
            options: sim::Options::default(),
        };
        let report = sim::run(&launch, &mut memory).unwrap();
        assert!(report.finished, "from {low} to {high} by {step}");
        let found = u32::from_le_bytes(memory.buffers()[0].bytes[..].try_into().unwrap());
        assert_eq!(found, rounds, "from {low} to {high} by {step}");
    }
}

/// Rows behind pointers that are loaded, as in a product of groups: nothing but promises tells where they lie.
const PROMISED: &str = "module {
  tt.func public @promised(%bases: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %pitch: i32, %out: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %step = arith.constant dense<32> : tensor<8x32xi32>
    %pitches = tt.splat %pitch : i32 -> tensor<8x1xi32>
    %rows = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %column = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %number = tt.load %bases : !tt.ptr<i64>
    %base = tt.int_to_ptr %number : i64 -> !tt.ptr<f16>
    %down = tt.expand_dims %rows {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %offset = arith.muli %down, %pitches : tensor<8x1xi32>
    %starts = tt.splat %base : !tt.ptr<f16> -> tensor<8x1x!tt.ptr<f16>>
    %first = tt.addptr %starts, %offset : tensor<8x1x!tt.ptr<f16>>, tensor<8x1xi32>
    %across = tt.expand_dims %column {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %firsts = tt.broadcast %first : tensor<8x1x!tt.ptr<f16>> -> tensor<8x32x!tt.ptr<f16>>
    %columns = tt.broadcast %across : tensor<1x32xi32> -> tensor<8x32xi32>
    %start = tt.addptr %firsts, %columnsRESULT : tensor<8x32x!tt.ptr<f16>>, tensor<8x32xi32>
    %end = scf.for %i = %zero to %four step %one iter_args(%at = %start) -> (tensor<8x32x!tt.ptr<f16>>) : i32 {
      %row = tt.load %at : tensor<8x32x!tt.ptr<f16>>
      tt.store %at, %row : tensor<8x32x!tt.ptr<f16>>
      %next = tt.addptr %at, %step : tensor<8x32x!tt.ptr<f16>>, tensor<8x32xi32>
      scf.yield %next : tensor<8x32x!tt.ptr<f16>>
    }LOOP
    tt.return
  }
}
";

/// A tile of rows that go round at the end of an array, as in the products that torch.compile makes: the promise
/// is broken there, but in the middle of no access.
const ROUND: &str = "module {
  tt.func public @round(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i32 {tt.divisibility = 4 : i32}) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %ms = tt.splat %m : i32 -> tensor<1024xi32>
    %rows = arith.remsi %i, %ms {tt.contiguity = dense<1024> : tensor<1xi32>, tt.divisibility = dense<1024> : tensor<1xi32>} : tensor<1024xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %from = tt.addptr %xs, %rows : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %value = tt.load %from : tensor<1024x!tt.ptr<f32>>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %to = tt.addptr %outs, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %to, %value : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
";

#[test]
fn promises_say_nothing_of_what_is_computed() {
    let module = ttir::parse(ROUND).unwrap_or_else(|errors| panic!("{errors}"));
    let kernel = &module.kernels[0];
    let options = Options::for_machine(Machine::by_name("sm_90").unwrap());
    let compiled = compile::compile(&module, kernel, &options).unwrap();
    let arguments = [
        ("x", Argument::Small(DType::F32, 24)),
        ("out", Argument::Empty(DType::F32, 1024)),
        ("m", Argument::I32(24)),
    ];
    let (args, mut wanted) = make(&arguments);
    let report = eval::run(kernel, [1, 1, 1], &args, &mut wanted, eval::Options::default());
    assert!(report.unwrap().findings.is_empty());
    let (args, mut memory) = make(&arguments);
    let launch = Launch {
        program: &compiled.program,
        grid: [1, 1, 1],
        args: &args,
        machine: &compile::simulated(&options.machine, 8),
        options: sim::Options::default(),
    };
    let report = sim::run(&launch, &mut memory).unwrap();
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    assert_eq!(memory, wanted);
    let mut loads = Vec::new();
    compiled.program.walk(&compiled.program.body, &mut |_, inst| {
        if matches!(inst.op, weft::lane::Op::Load { .. }) {
            loads.push(inst.results.len());
        }
    });
    // Four numbers at once.
    assert_eq!(loads, [4, 4]);
}

#[test]
fn promises_make_accesses_wide() {
    let splat = " {tt.divisibility = dense<16> : tensor<2xi32>}";
    let list = " {tt.divisibility = dense<[1, 16]> : tensor<2xi32>}";
    let param = " {tt.divisibility_arg1 = dense<[1, 8]> : tensor<2xi32>}";
    for (result, of_loop, bytes) in [("", "", 2), (splat, "", 16), (list, "", 16), ("", param, 8)] {
        let text = PROMISED.replace("RESULT", result).replace("LOOP", of_loop);
        let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        // They are in the printed text, too.
        let printed = module.to_string();
        let again = ttir::parse(&printed).unwrap_or_else(|errors| panic!("{errors}\n{printed}"));
        assert_eq!(again.to_string(), printed);
        for kernel in [&module.kernels[0], &again.kernels[0]] {
            let facts = AxisFacts::of(kernel);
            let loads = kernel.ops.values().filter(|op| matches!(op.kind, OpKind::Load(_)));
            let pointer = loads.map(|op| op.operands[0]).find(|&at| kernel.ty(at).is_tensor());
            let wide = facts.vector_elements(pointer.unwrap(), None, 1, DType::F16, 16);
            assert_eq!(2 * wide, bytes, "{result}{of_loop}");
            assert_eq!(
                facts.neighbours(pointer.unwrap(), None, &[8, 32], DType::F16, 16).len() as u32,
                wide.ilog2(),
                "{result}{of_loop}"
            );
        }
    }
}
