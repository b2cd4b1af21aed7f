//! Loops inside one another, as deep as they may be: no analysis goes over the innermost one again
//! for each round that it makes over every outer one. And operations in a row, as many as one likes: nothing
//! calls itself once for each.

use crate::inputs::Argument::{Empty, I32, Integers};
use crate::inputs::make;
use std::fmt::Write as _;
use std::thread;
use weft::budget::{Budget, Limits};
use weft::compile::{self, Options, compile};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::ttir::{self, Places};
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

/// How many operations stand in a row; a million where `WEFT_LONG` is set (best with `--release`).
fn chain_length() -> usize {
    if std::env::var_os("WEFT_LONG").is_some() { 1_000_000 } else { 20_000 }
}
/// A small stack for so many.
const STACK: usize = 512 << 10;

/// A kernel in which so many operations hang on one another: `first` is where they start, `link` writes those
/// from one value to the next.
fn chain(first: &str, links: usize, link: impl Fn(usize, &str) -> (String, String)) -> String {
    let (t, p) = ("tensor<128xi32>", "tensor<128x!tt.ptr<i32>>");
    let mut text = format!(
        "tt.func public @chain(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32) {{
           %r = tt.make_range {{end = 128 : i32, start = 0 : i32}} : {t}
           %c = arith.constant dense<5> : {t}
           %five = arith.constant 5 : i32
           %xs = tt.splat %x : !tt.ptr<i32> -> {p}
           %from = tt.addptr %xs, %r : {p}, {t}
           %os = tt.splat %out : !tt.ptr<i32> -> {p}
           %to = tt.addptr %os, %r : {p}, {t}
           %loaded = tt.load %from : {p}\n"
    );
    let mut last = first.to_owned();
    for index in 0..links {
        let (lines, value) = link(index, &last);
        text += &lines;
        last = value;
    }
    if first == "%n" {
        writeln!(text, "%all = tt.splat {last} : i32 -> {t}").unwrap();
        last = "%all".into();
    }
    text + &format!("tt.store %to, {last} : {p}\n tt.return }}\n")
}

/// From the text to what the kernel computes, as PTX and in the simulator.
fn from_text_to_results(text: &str) {
    let limits = Limits { operations: 1 << 23, text_bytes: 1 << 32, ..Limits::default() };
    let budget = Budget { limits, ..Budget::default() };
    let module = ttir::parse_within(text, Places::Source, &budget);
    let module = module.unwrap_or_else(|errors| panic!("{errors}"));
    let kernel = &module.kernels[0];
    let machine = Machine::by_name("sm_90").unwrap();
    let options = Options { budget, ..Options::for_machine(machine) };
    let compiled = compile(&module, kernel, &options).unwrap();
    let target = Target::by_name("sm_90").unwrap();
    for language in [Language::Ptx, Language::Cuda] {
        emit::print(&compiled.program, language, target).unwrap();
    }
    assert!(compiled.program.to_string().contains("store.global"));
    let arguments = [("x", Integers(128, -9, 10)), ("out", Empty(DType::I32, 128)), ("n", I32(3))];
    let (args, mut simulated) = make(&arguments);
    let launch = Launch {
        program: &compiled.program,
        grid: [1, 1, 1],
        args: &args,
        machine: &compile::simulated(machine, 1),
        options: sim::Options::default(),
    };
    let report = sim::run(&launch, &mut simulated).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    let (args, mut evaluated) = make(&arguments);
    eval::run(kernel, [1, 1, 1], &args, &mut evaluated, eval::Options::default()).unwrap();
    assert_eq!(simulated.buffers()[1].bytes, evaluated.buffers()[1].bytes);
}

#[test]
fn chains_of_operations_need_no_stack() {
    let (t, square, turned) = ("tensor<128xi32>", "tensor<16x8xi32>", "tensor<8x16xi32>");
    let op = |index: usize| ["arith.muli", "arith.addi", "arith.xori", "arith.minsi"][index % 4];
    let tensors = |index: usize, last: &str| {
        let value = format!("%v{index}");
        (format!("{value} = {} {last}, %c : {t}\n", op(index)), value)
    };
    let scalars = |index: usize, last: &str| {
        let value = format!("%v{index}");
        (format!("{value} = {} {last}, %five : i32\n", op(index)), value)
    };
    let shapes = |index: usize, last: &str| {
        let lines = format!(
            "%y{index} = tt.reshape {last} : {t} -> {square}
             %t{index} = tt.trans %y{index} {{order = array<i32: 1, 0>}} : {square} -> {turned}
             %v{index} = tt.reshape %t{index} : {turned} -> {t}\n"
        );
        (lines, format!("%v{index}"))
    };
    // Places that hang on one another: five further, and back again.
    let count = chain_length();
    let (mut places, mut place) =
        (format!("%back = arith.constant dense<-5> : {t}\n"), "%to".into());
    for index in 0..count {
        let (next, by) = (format!("%p{index}"), ["%c", "%back"][index % 2]);
        writeln!(places, "{next} = tt.addptr {place}, {by} : tensor<128x!tt.ptr<i32>>, {t}")
            .unwrap();
        place = next;
    }
    let places = format!("{places}tt.store {place}");
    // What is computed wherever it is needed, and what lies in registers.
    let texts = [
        chain("%r", count, tensors),
        chain("%loaded", count, tensors),
        chain("%n", count, scalars),
        chain("%r", count / 3, shapes),
        chain("%loaded", count / 3, shapes),
        chain("%loaded", 0, tensors).replace("tt.store %to", &places),
    ];
    for text in texts {
        let small = thread::Builder::new().stack_size(STACK);
        small.spawn(move || from_text_to_results(&text)).unwrap().join().unwrap();
    }
}
