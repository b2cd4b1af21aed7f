//! How far the functions that are compiled to several operations are from what they mean, in units of
//! the last place: the table of `weft::math`.

use std::fmt::Write as _;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::memory::{Buffer, Memory};
use weft::scalar;
use weft::sim::{self, Launch};
use weft::ttir;
use weft_layout::machine::Machine;

/// Elements of a tile.
const COUNT: usize = 2048;

/// What an operation of the text gives for arguments of a type, compiled and simulated.
fn computed(operation: &str, dtype: DType, arguments: &[Vec<f64>]) -> Vec<f64> {
    let tile = format!("tensor<{COUNT}x{dtype}>");
    let pointers = format!("tensor<{COUNT}x!tt.ptr<{dtype}>>");
    let mut params = String::new();
    let mut lines = String::new();
    for index in 0..=arguments.len() {
        let comma = if index > 0 { ", " } else { "" };
        write!(params, "{comma}%p{index}: !tt.ptr<{dtype}>").unwrap();
        writeln!(lines, "  %s{index} = tt.splat %p{index} : !tt.ptr<{dtype}> -> {pointers}")
            .unwrap();
        writeln!(lines, "  %a{index} = tt.addptr %s{index}, %r : {pointers}, tensor<{COUNT}xi32>")
            .unwrap();
        if index < arguments.len() {
            writeln!(lines, "  %x{index} = tt.load %a{index} : {pointers}").unwrap();
        }
    }
    let names = (0..arguments.len()).map(|index| format!("%x{index}")).collect::<Vec<_>>();
    let text = format!(
        "tt.func public @function({params}) {{\n  %r = tt.make_range {{end = {COUNT} : i32, start = 0 : \
         i32}} : tensor<{COUNT}xi32>\n{lines}  %y = {operation} {} : {tile}\n  tt.store %a{}, %y : \
         {pointers}\n  tt.return\n}}\n",
        names.join(", "),
        arguments.len()
    );
    let module = ttir::parse(&text).unwrap();
    let machine = Machine::by_name("sm_90").unwrap();
    let options = Options::for_machine(machine);
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    let mut memory = Memory::default();
    let bytes = dtype.bytes() as usize;
    let mut args = Vec::new();
    for values in arguments {
        let bits = values.iter().map(|&value| scalar::from_f64(dtype, value).to_le_bytes());
        let bytes = bits.flat_map(|bits| bits[..bytes].to_vec()).collect();
        args.push(memory.push(Buffer { name: "x".into(), bytes, dtype, initialised: true }));
    }
    let out = Buffer { name: "y".into(), bytes: vec![0; COUNT * bytes], dtype, initialised: false };
    let out = memory.push(out);
    args.push(out);
    let launch = Launch {
        program: &compiled.program,
        grid: [1, 1, 1],
        args: &args,
        machine: &compile::simulated(machine, 1),
        options: sim::Options::default(),
    };
    sim::run(&launch, &mut memory).unwrap();
    (0..COUNT as u64)
        .map(|index| memory.read(out + index * bytes as u64, bytes as u32).unwrap())
        .map(|bits| scalar::to_f64(dtype, bits))
        .collect()
}

/// Numbers of many magnitudes and both signs, exact in the type; the last ones are special.
fn numbers(dtype: DType, exponents: core::ops::Range<i32>, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut numbers: Vec<f64> = (0..COUNT)
        .map(|_| {
            let mantissa = 1.0 + next() as f64 / 2f64.powi(31);
            let span = (exponents.end - exponents.start) as u64;
            let exponent = exponents.start + (next() % span) as i32;
            let sign = if next() % 2 == 0 { 1.0 } else { -1.0 };
            scalar::to_f64(dtype, scalar::from_f64(dtype, sign * mantissa * 2f64.powi(exponent)))
        })
        .collect();
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.5, 2.0];
    for (slot, value) in numbers.iter_mut().rev().zip(special) {
        *slot = value;
    }
    numbers
}

/// The largest error in units of the last place; what is no number must be so in both.
fn worst(dtype: DType, got: &[f64], wanted: impl Fn(usize) -> f64) -> (f64, usize) {
    let (digits, least) = if dtype == DType::F64 { (52, -1022) } else { (23, -126) };
    let mut worst = (0.0, 0);
    for (index, &got) in got.iter().enumerate() {
        let exact = wanted(index);
        // Rounded to the type, beyond its largest number it is infinite.
        let rounded = scalar::to_f64(dtype, scalar::from_f64(dtype, exact));
        let error = if got == rounded || got.is_nan() && rounded.is_nan() {
            0.0
        } else if !got.is_finite() || !rounded.is_finite() {
            f64::INFINITY
        } else {
            let exponent = (exact.abs().log2().floor() as i32).max(least);
            // In two factors, of which neither is subnormal.
            (got - exact).abs() / 2f64.powi(exponent) * 2f64.powi(digits)
        };
        if error > worst.0 {
            worst = (error, index);
        }
    }
    worst
}

type Function = fn(f64) -> f64;

#[test]
fn functions_of_one_operand_are_as_close_as_the_table_says() {
    let single: [(&str, core::ops::Range<i32>, Function, f64); 13] = [
        ("math.sin", -30..30, libm::sin, 2.0),
        ("math.cos", -30..30, libm::cos, 2.0),
        ("math.sin", 30..128, libm::sin, 2.0),
        ("math.cos", 0..128, libm::cos, 2.0),
        ("math.erf", -20..4, libm::erf, 2.0),
        ("math.tanh", -30..8, libm::tanh, 2.0),
        ("math.expm1", -30..8, libm::expm1, 1.0),
        ("math.log1p", -30..3, libm::log1p, 1.0),
        ("math.log1p", 0..100, libm::log1p, 1.0),
        ("math.log", -149..128, libm::log, 1.0),
        ("math.log", -2..1, libm::log, 1.0),
        ("math.log2", -149..128, libm::log2, 1.0),
        ("math.log2", -2..1, libm::log2, 1.0),
    ];
    let double: [(&str, core::ops::Range<i32>, Function, f64); 16] = [
        ("math.sin", -60..16, libm::sin, 3.0),
        ("math.cos", -60..16, libm::cos, 3.0),
        ("math.sin", 16..1023, libm::sin, 3.0),
        ("math.cos", 16..1023, libm::cos, 3.0),
        ("math.erf", -60..4, libm::erf, 3.0),
        ("math.tanh", -60..8, libm::tanh, 5.0),
        ("math.expm1", -60..8, libm::expm1, 4.0),
        ("math.expm1", 5..11, libm::expm1, 4.0),
        ("math.log1p", -60..3, libm::log1p, 4.0),
        ("math.log1p", 0..1000, libm::log1p, 4.0),
        ("math.exp", -40..11, libm::exp, 2.0),
        ("math.exp2", -40..11, libm::exp2, 2.0),
        ("math.log", -1022..1023, libm::log, 3.0),
        ("math.log", -2..1, libm::log, 3.0),
        ("math.log2", -1022..1023, libm::log2, 3.0),
        ("math.log2", -2..1, libm::log2, 3.0),
    ];
    let rows = single.into_iter().map(|row| (DType::F32, row));
    for (dtype, (name, exponents, exact, allowed)) in
        rows.chain(double.into_iter().map(|row| (DType::F64, row)))
    {
        let x = numbers(dtype, exponents.clone(), 17);
        let got = computed(name, dtype, core::slice::from_ref(&x));
        let (error, at) = worst(dtype, &got, |index| exact(x[index]));
        println!("{name} of {dtype}, 2^{exponents:?}: {error:.2} units at {}", x[at]);
        assert!(error <= allowed, "{name} of {dtype}: {error} units at {} ({})", x[at], got[at]);
    }
}

#[test]
fn powers_and_remainders_are_as_close_as_the_table_says() {
    let dtype = DType::F32;
    let (x, y) = (numbers(dtype, -8..8, 1), numbers(dtype, -6..6, 2));
    let got = computed("math.powf", dtype, &[x.clone(), y.clone()]);
    let (error, at) = worst(dtype, &got, |index| libm::pow(x[index], y[index]));
    assert!(error <= 1.0, "pow({}, {}): {error} units", x[at], y[at]);
    // Whole powers of negative numbers too.
    let whole: Vec<f64> = y.iter().map(|y| y.floor()).collect();
    let got = computed("math.powf", dtype, &[x.clone(), whole.clone()]);
    let (error, at) = worst(dtype, &got, |index| libm::pow(x[index], whole[index]));
    assert!(error <= 1.0, "pow({}, {}): {error} units", x[at], whole[at]);
    // Every special value with every other.
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 2.5, -3.0];
    let pick = |each: usize| -> Vec<f64> {
        (0..COUNT).map(|index| special[index / each % special.len()]).collect()
    };
    let (x, y) = (pick(1), pick(special.len()));
    let got = computed("math.powf", dtype, &[x.clone(), y.clone()]);
    let (error, at) = worst(dtype, &got, |index| libm::pow(x[index], y[index]));
    assert!(error == 0.0 || error <= 1.0, "pow({}, {}): {}", x[at], y[at], got[at]);
    let got = computed("arith.remf", dtype, &[x.clone(), y.clone()]);
    let (error, at) = worst(dtype, &got, |index| x[index] % y[index]);
    assert!(error == 0.0, "{} rem {}: {}", x[at], y[at], got[at]);
    for exponents in [-149..128, -3..3, -140..-120] {
        let (x, y) = (numbers(dtype, exponents.clone(), 5), numbers(dtype, exponents, 6));
        let got = computed("arith.remf", dtype, &[x.clone(), y.clone()]);
        let (error, at) = worst(dtype, &got, |index| x[index] % y[index]);
        assert!(error == 0.0, "{} rem {}: {} ({error} units)", x[at], y[at], got[at]);
    }
}

#[test]
fn powers_of_doubles_are_as_close_as_the_table_says() {
    let dtype = DType::F64;
    for (bases, exponents) in
        [(-8..8, -6..8), (-1..1, 0..12), (-1000..1000, -5..2), (-3..3, -60..60)]
    {
        let (x, y) = (numbers(dtype, bases, 1), numbers(dtype, exponents, 2));
        let positive: Vec<f64> = x.iter().map(|x| x.abs()).collect();
        for (x, y) in [(&x, &y), (&positive, &y), (&y, &x)] {
            let got = computed("math.powf", dtype, &[x.clone(), y.clone()]);
            let (error, at) = worst(dtype, &got, |index| libm::pow(x[index], y[index]));
            assert!(error <= 2.0, "pow({}, {}): {} ({error} units)", x[at], y[at], got[at]);
        }
    }
}

#[test]
fn remainders_of_doubles_are_exact() {
    let dtype = DType::F64;
    let exponents = [-8..8, -1022..1023, -1022..-1000, 1000..1023];
    for (first, second) in exponents.iter().flat_map(|x| exponents.iter().map(move |y| (x, y))) {
        let (x, y) = (numbers(dtype, first.clone(), 5), numbers(dtype, second.clone(), 6));
        // Subnormal ones too.
        let y: Vec<f64> =
            y.iter().map(|y| if second.end < 0 { y * 2f64.powi(-40) } else { *y }).collect();
        let got = computed("arith.remf", dtype, &[x.clone(), y.clone()]);
        let (error, at) = worst(dtype, &got, |index| x[index] % y[index]);
        assert!(error == 0.0, "{} rem {}: {} ({error} units)", x[at], y[at], got[at]);
    }
}
