//! How far the functions that are compiled to several operations are from what they are: in units of the
//! last place, against numbers of 512 bits.
//!
//! Each function is compiled to a lane program and simulated, on numbers of every magnitude of a range and
//! on special ones. The table of `docs/src/functions.md` shows the largest errors; a test holds fewer
//! samples to the bounds that stand here.

mod big;
mod reference;

use big::Big;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::memory::{Buffer, Memory};
use weft::scalar;
use weft::sim::{self, Launch};
use weft::ttir;
use weft_layout::machine::Machine;

/// Where a function's operands are taken from.
#[derive(Clone, Copy)]
enum Range {
    /// Both signs, exponents of two from one to another.
    Signed(i32, i32),
    /// Positive, exponents of two from one to another.
    Positive(i32, i32),
    /// Between two numbers.
    Between(f64, f64),
    /// Beside numbers that are close to zeros of the function: from an eighth off down to the next number.
    Beside(&'static [f64]),
}
use Range::{Beside, Between, Positive, Signed};

/// What an error is counted in.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// The last place of the result.
    Result,
    /// The last place of the result, or of `sqrt(2 / (π x))` where that is more.
    Modulus,
    /// The last place of the result, or of one where that is more.
    One,
}

/// One line of the table.
struct Row {
    /// The name in libdevice, of f64.
    name: &'static str,
    /// The largest errors allowed, of f32 and of f64; no f32 where the machine has an instruction.
    allowed: (Option<f64>, f64),
    /// Ranges of the operands, and of f32 where its exponents ask for others.
    ranges: &'static [&'static [Range]],
    unit: Unit,
    algorithm: &'static str,
}

const fn row(
    name: &'static str,
    allowed: (Option<f64>, f64),
    ranges: &'static [&'static [Range]],
    algorithm: &'static str,
) -> Row {
    Row { name, allowed, ranges, unit: Unit::Result, algorithm }
}

/// Almost every number.
const ALL: &[Range] = &[Signed(-1073, 1023)];
const EXPONENTIAL: &str = "Cody and Waite 1980";
const REDUCED: &str = "Payne and Hanek 1983, polynomials";
const RECIPROCAL_GAMMA: &str = "polynomial, Stirling's series from 12, reflection";

const ROWS: &[Row] = &[
    row("exp", (Some(1.0), 1.5), &[&[Signed(-60, 9)], &[Between(-745.0, 709.0)]], EXPONENTIAL),
    row("exp2", (None, 1.5), &[&[Signed(-60, 9)], &[Between(-1074.0, 1023.0)]], EXPONENTIAL),
    row("exp10", (Some(2.0), 1.5), &[&[Signed(-60, 8)], &[Between(-323.0, 308.0)]], EXPONENTIAL),
    row("expm1", (Some(1.0), 2.0), &[&[Signed(-1000, 9)], &[Between(-40.0, 40.0)]], EXPONENTIAL),
    row("log", (Some(1.0), 1.5), &[&[Positive(-1073, 1023)], &[Between(0.5, 2.0)]], EXPONENTIAL),
    row("log2", (Some(1.0), 1.5), &[&[Positive(-1073, 1023)], &[Between(0.5, 2.0)]], EXPONENTIAL),
    row("log10", (Some(2.0), 1.5), &[&[Positive(-1073, 1023)], &[Between(0.5, 2.0)]], EXPONENTIAL),
    row(
        "log1p",
        (Some(1.0), 2.0),
        &[&[Positive(-1000, 1023)], &[Between(-0.999, 3.0)]],
        EXPONENTIAL,
    ),
    row(
        "pow",
        (Some(1.5), 1.5),
        &[
            &[Positive(-8, 8), Signed(-6, 8)],
            &[Positive(-1073, 1023), Signed(-10, 1)],
            &[Between(0.9, 1.1), Signed(0, 13)],
        ],
        "logarithm in two parts (Dekker 1971)",
    ),
    row(
        "sin",
        (Some(2.0), 2.0),
        &[&[Signed(-1000, 16)], &[Signed(16, 1023)], &[Between(-7.0, 7.0)]],
        REDUCED,
    ),
    row(
        "cos",
        (Some(2.0), 2.0),
        &[&[Signed(-1000, 16)], &[Signed(16, 1023)], &[Between(-7.0, 7.0)]],
        REDUCED,
    ),
    row(
        "tan",
        (Some(4.0), 3.0),
        &[&[Signed(-1000, 16)], &[Signed(16, 1023)], &[Between(-7.0, 7.0)]],
        REDUCED,
    ),
    row("sinpi", (Some(1.0), 2.0), &[&[Signed(-1000, 51)], &[Between(-3.0, 3.0)]], REDUCED),
    row("cospi", (Some(1.0), 2.0), &[&[Signed(-1000, 51)], &[Between(-3.0, 3.0)]], REDUCED),
    row(
        "asin",
        (Some(2.0), 3.0),
        &[&[Signed(-1000, -1)], &[Between(-1.0, 1.0)]],
        "polynomial, half-angle formula",
    ),
    row(
        "acos",
        (Some(2.0), 2.0),
        &[&[Signed(-1000, -1)], &[Between(-1.0, 1.0)]],
        "polynomial, half-angle formula",
    ),
    row(
        "atan",
        (Some(2.0), 2.0),
        &[&[Signed(-1000, 1000)], &[Between(-3.0, 3.0)]],
        "polynomial, reciprocal",
    ),
    row(
        "atan2",
        (Some(2.0), 3.0),
        &[&[Signed(-8, 8), Signed(-8, 8)], &[Signed(-400, 400), Signed(-400, 400)]],
        "polynomial, reciprocal",
    ),
    row("sinh", (Some(3.0), 3.0), &[&[Signed(-1000, 9)], &[Between(-710.0, 710.0)]], EXPONENTIAL),
    row("cosh", (Some(2.0), 3.0), &[&[Signed(-1000, 9)], &[Between(-710.0, 710.0)]], EXPONENTIAL),
    row("tanh", (Some(2.0), 3.0), &[&[Signed(-1000, 9)], &[Between(-3.0, 3.0)]], EXPONENTIAL),
    row("asinh", (Some(3.0), 4.0), &[&[Signed(-1000, 1023)], &[Between(-3.0, 3.0)]], "Kahan 1987"),
    row("acosh", (Some(3.0), 4.0), &[&[Positive(0, 1023)], &[Between(1.0, 3.0)]], "Kahan 1987"),
    row("atanh", (Some(3.0), 4.0), &[&[Signed(-1000, -1)], &[Between(-1.0, 1.0)]], "Kahan 1987"),
    row("cbrt", (Some(1.0), 1.5), &[ALL], "Newton's method"),
    row("rcbrt", (Some(1.0), 1.5), &[ALL], "Newton's method"),
    row(
        "hypot",
        (Some(1.0), 2.0),
        &[&[Signed(-4, 4), Signed(-4, 4)], &[Signed(-1073, 1023), Signed(-1073, 1023)]],
        "scaled sum of squares",
    ),
    row(
        "rhypot",
        (Some(2.0), 3.0),
        &[&[Signed(-4, 4), Signed(-4, 4)], &[Signed(-1020, 1023), Signed(-1020, 1023)]],
        "scaled sum of squares",
    ),
    row(
        "norm3d",
        (Some(1.0), 2.0),
        &[&[Signed(-4, 4), Signed(-4, 4), Signed(-4, 4)]],
        "scaled sum of squares",
    ),
    row(
        "rnorm3d",
        (Some(2.0), 3.0),
        &[&[Signed(-4, 4), Signed(-4, 4), Signed(-4, 4)]],
        "scaled sum of squares",
    ),
    row(
        "norm4d",
        (Some(1.0), 2.0),
        &[&[Signed(-4, 4), Signed(-4, 4), Signed(-4, 4), Signed(-4, 4)]],
        "scaled sum of squares",
    ),
    row(
        "rnorm4d",
        (Some(2.0), 3.0),
        &[&[Signed(-4, 4), Signed(-4, 4), Signed(-4, 4), Signed(-4, 4)]],
        "scaled sum of squares",
    ),
    row(
        "erf",
        (Some(2.0), 2.0),
        &[&[Signed(-1000, 3)], &[Between(-6.0, 6.0)]],
        "polynomial, from 1 on by erfc",
    ),
    row(
        "erfc",
        (Some(4.0), 5.0),
        &[&[Signed(-60, 5)], &[Between(-6.0, 26.5)]],
        "Shepherd and Laframboise 1981",
    ),
    row(
        "erfcx",
        (Some(4.0), 5.0),
        &[&[Positive(-60, 1022)], &[Between(-26.0, 10.0)]],
        "Shepherd and Laframboise 1981",
    ),
    row(
        "normcdf",
        (Some(5.0), 6.0),
        &[&[Signed(-60, 5)], &[Between(-37.5, 8.0)]],
        "Shepherd and Laframboise 1981",
    ),
    row("erfinv", (Some(2.0), 4.0), &[&[Signed(-1000, -1)], &[Between(-1.0, 1.0)]], "Giles 2012"),
    row("erfcinv", (Some(4.0), 4.0), &[&[Positive(-1022, 0)], &[Between(0.0, 2.0)]], "Giles 2012"),
    row(
        "normcdfinv",
        (Some(5.0), 4.0),
        &[&[Positive(-1022, -1)], &[Between(0.0, 1.0)]],
        "Giles 2012",
    ),
    row(
        "tgamma",
        (Some(5.0), 5.0),
        &[&[Positive(-1000, 4)], &[Between(0.1, 171.6)], &[Between(-20.0, 0.0)]],
        RECIPROCAL_GAMMA,
    ),
    row(
        "lgamma",
        (Some(6.0), 5.0),
        &[&[Positive(-1000, 1000)], &[Between(0.1, 20.0)], &[Beside(&[1.0, 2.0])]],
        RECIPROCAL_GAMMA,
    ),
    Row {
        name: "lgamma",
        allowed: (Some(6.0), 7.0),
        ranges: &[
            &[Between(-30.0, 0.0)],
            &[Beside(&[-2.457_024_738_220_8, -2.747_682_646_727_413, -3.955_294_284_858_598])],
        ],
        unit: Unit::One,
        algorithm: RECIPROCAL_GAMMA,
    },
    row(
        "j0",
        (Some(6.0), 5.0),
        &[&[Signed(-1000, 3)], &[Beside(&[2.404_825_557_695_773, 5.520_078_110_286_311])]],
        "polynomial beside its zeros",
    ),
    row(
        "j1",
        (Some(6.0), 5.0),
        &[&[Signed(-1000, 3)], &[Beside(&[3.831_705_970_207_512, 7.015_586_669_815_619])]],
        "polynomial beside its zeros",
    ),
    Row {
        name: "j0",
        allowed: (Some(6.0), 5.0),
        ranges: &[&[Signed(3, 30)], &[Beside(&[8.653_727_912_911_013, 11.791_534_439_014_28])]],
        unit: Unit::Modulus,
        algorithm: "modulus and phase (Harrison 2009)",
    },
    Row {
        name: "j1",
        allowed: (Some(6.0), 5.0),
        ranges: &[&[Signed(3, 30)], &[Beside(&[10.173_468_135_062_722, 13.323_691_936_314_223])]],
        unit: Unit::Modulus,
        algorithm: "modulus and phase (Harrison 2009)",
    },
    Row {
        name: "y0",
        allowed: (Some(9.0), 9.0),
        ranges: &[
            &[Positive(-1000, 30)],
            &[Between(0.1, 20.0)],
            &[Beside(&[0.893_576_966_279_167_5, 3.957_678_419_314_858, 10.222_345_043_496_417])],
        ],
        unit: Unit::Modulus,
        algorithm: "polynomial and logarithm; from 8 modulus and phase",
    },
    Row {
        name: "y1",
        allowed: (Some(9.0), 9.0),
        ranges: &[
            &[Positive(-1000, 30)],
            &[Between(0.1, 20.0)],
            &[Beside(&[2.197_141_326_031_017, 5.429_681_040_794_135, 8.596_005_868_331_169])],
        ],
        unit: Unit::Modulus,
        algorithm: "polynomial and logarithm; from 8 modulus and phase",
    },
    row(
        "cyl_bessel_i0",
        (Some(6.0), 5.0),
        &[&[Signed(-1000, 9)], &[Between(-30.0, 30.0)]],
        "polynomial; from 8 with the exponential",
    ),
    row(
        "cyl_bessel_i1",
        (Some(6.0), 5.0),
        &[&[Signed(-1000, 9)], &[Between(-30.0, 30.0)]],
        "polynomial; from 8 with the exponential",
    ),
];

/// What was found of one row and type.
pub(crate) struct Found {
    pub(crate) name: &'static str,
    pub(crate) range: String,
    pub(crate) algorithm: &'static str,
    /// The largest error of f32, where it is compiled to several operations.
    pub(crate) single: Option<Worst>,
    /// The largest error of f64.
    pub(crate) double: Worst,
}

impl Found {
    /// A line for each error that is larger than allowed.
    pub(crate) fn wrong(&self) -> Vec<String> {
        let both = [("f32", self.single.as_ref()), ("f64", Some(&self.double))];
        let both = both.into_iter().filter_map(|(dtype, worst)| Some((dtype, worst?)));
        both.filter(|(_, worst)| worst.units > worst.allowed)
            .map(|(dtype, Worst { units, at, got, allowed })| {
                let name = self.name;
                format!(
                    "{name} of {dtype}: {units:.2} units, {allowed} allowed, at {at:?} ({got:e})"
                )
            })
            .collect()
    }
}

/// The largest error, where it was, and what is allowed.
pub(crate) struct Worst {
    pub(crate) units: f64,
    /// The operands.
    pub(crate) at: Vec<f64>,
    pub(crate) got: f64,
    pub(crate) allowed: f64,
}

/// Measures every row on so many samples of each range.
pub(crate) fn measure(samples: usize) -> anyhow::Result<Vec<Found>> {
    ROWS.iter()
        .map(|row| {
            let single = row.allowed.0.map(|allowed| worst(row, DType::F32, allowed, samples));
            Ok(Found {
                name: row.name,
                range: shown(row),
                algorithm: row.algorithm,
                single: single.transpose()?,
                double: worst(row, DType::F64, row.allowed.1, samples)?,
            })
        })
        .collect()
}

fn shown(row: &Row) -> String {
    let one = |range: &Range| match range {
        Signed(low, high) => format!("±2^{low} to 2^{high}"),
        Positive(low, high) => format!("2^{low} to 2^{high}"),
        Between(low, high) => format!("{low} to {high}"),
        Beside(_) => "beside zeros".to_string(),
    };
    let ranges: Vec<String> = row
        .ranges
        .iter()
        .map(|operands| {
            let mut shown: Vec<String> = operands.iter().map(one).collect();
            shown.dedup();
            shown.join(" and ")
        })
        .collect();
    let unit = match row.unit {
        Unit::Result => "",
        Unit::Modulus => "; units of the modulus",
        Unit::One => "; units of one near zeros",
    };
    format!("{}{unit}", ranges.join(", "))
}

/// Numbers of a range, exact in a type, the first of them special.
fn numbers(range: Range, dtype: DType, count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.5, 2.0];
    // Of f32 there are fewer exponents.
    let cut =
        |exponent: i32| if dtype == DType::F32 { exponent.clamp(-148, 127) } else { exponent };
    (0..count)
        .map(|index| {
            let fraction = next() as f64 / 2f64.powi(53);
            let value = match range {
                _ if index < special.len() => special[(index + seed as usize) % special.len()],
                Between(low, high) => low + (high - low) * fraction,
                Beside(zeros) => {
                    let zero = zeros[index % zeros.len()];
                    let distance = (1.0 + fraction) * 2f64.powi(-4 - (next() % 52) as i32);
                    if next() % 2 == 1 { zero - distance } else { zero + distance }
                }
                Signed(low, high) | Positive(low, high) => {
                    let (low, high) = (cut(low), cut(high));
                    let exponent = low + (next() % (high - low).max(1) as u64) as i32;
                    let half = exponent / 2;
                    let magnitude = (1.0 + fraction) * 2f64.powi(half) * 2f64.powi(exponent - half);
                    let negative = matches!(range, Signed(..)) && next() % 2 == 1;
                    if negative { -magnitude } else { magnitude }
                }
            };
            scalar::to_f64(dtype, scalar::from_f64(dtype, value))
        })
        .collect()
}

/// Elements of a tile.
const TILE: usize = 1024;

fn worst(row: &Row, dtype: DType, allowed: f64, samples: usize) -> anyhow::Result<Worst> {
    let mut worst = Worst { units: 0.0, at: Vec::new(), got: 0.0, allowed };
    for ranges in row.ranges {
        let operands: Vec<Vec<f64>> = ranges
            .iter()
            .zip(1..)
            .map(|(&range, seed)| numbers(range, dtype, samples, seed))
            .collect();
        let got = computed(row.name, dtype, &operands)?;
        for (index, &got) in got.iter().enumerate() {
            let at: Vec<f64> = operands.iter().map(|operand| operand[index]).collect();
            let units = error((row.name, row.unit), dtype, &at, got);
            if units > worst.units {
                worst = Worst { units, at, got, allowed };
            }
        }
    }
    Ok(worst)
}

/// The error of one result. Where the function has no finite value, the evaluator's definition says what
/// there should be.
fn error((name, unit): (&str, Unit), dtype: DType, at: &[f64], got: f64) -> f64 {
    let (digits, least, most) =
        if dtype == DType::F64 { (52, -1022, 1023) } else { (23, -126, 127) };
    let Some(exact) = reference::exact(name, at) else {
        let Some(function) = scalar::Function::by_name(name) else { return 0.0 };
        let bits: Vec<u64> = at.iter().map(|&x| scalar::from_f64(dtype, x)).collect();
        let wanted = scalar::to_f64(dtype, function.apply(dtype, &bits));
        let same = got == wanted || got.is_nan() && wanted.is_nan();
        return if same { 0.0 } else { f64::INFINITY };
    };
    if exact.is_zero() {
        return if got == 0.0 { 0.0 } else { f64::INFINITY };
    }
    let exponent = exact.exponent().unwrap_or(least).max(least);
    let exponent = match unit {
        Unit::Result => exponent,
        Unit::One => exponent.max(0),
        Unit::Modulus => {
            let modulus = (core::f64::consts::FRAC_2_PI / at[0].abs()).sqrt();
            exponent.max(modulus.log2().floor() as i32)
        }
    };
    if got.is_infinite() {
        // Beyond half a place over the largest number this is right.
        let beyond = exponent > most || exact.to_f64().abs() >= largest(dtype);
        return if beyond && (got < 0.0) == exact.is_negative() { 0.0 } else { f64::INFINITY };
    }
    if got.is_nan() {
        return f64::INFINITY;
    }
    let units = (Big::new(got) - exact).abs().scaled(digits - exponent.min(most)).to_f64();
    if units.is_nan() { f64::INFINITY } else { units }
}

fn largest(dtype: DType) -> f64 {
    if dtype == DType::F64 { f64::MAX } else { f64::from(f32::MAX) }
}

/// What a function of libdevice gives, compiled and simulated.
fn computed(name: &str, dtype: DType, operands: &[Vec<f64>]) -> anyhow::Result<Vec<f64>> {
    let suffix = if dtype == DType::F32 { "f" } else { "" };
    let tile = format!("tensor<{TILE}x{dtype}>");
    let pointers = format!("tensor<{TILE}x!tt.ptr<{dtype}>>");
    let mut text = String::from("tt.func public @function(");
    let params = (0..=operands.len()).map(|index| format!("%p{index}: !tt.ptr<{dtype}>"));
    text += &params.collect::<Vec<_>>().join(", ");
    text += &format!(
        ") {{\n  %r = tt.make_range {{end = {TILE} : i32, start = 0 : i32}} : tensor<{TILE}xi32>\n"
    );
    for index in 0..=operands.len() {
        text += &format!(
            "  %s{index} = tt.splat %p{index} : !tt.ptr<{dtype}> -> {pointers}\n  %a{index} = tt.addptr \
             %s{index}, %r : {pointers}, tensor<{TILE}xi32>\n"
        );
        if index < operands.len() {
            text += &format!("  %x{index} = tt.load %a{index} : {pointers}\n");
        }
    }
    let names: Vec<String> = (0..operands.len()).map(|index| format!("%x{index}")).collect();
    let types = vec![tile.as_str(); operands.len()].join(", ");
    text += &format!(
        "  %y = tt.extern_elementwise {} {{libname = \"\", libpath = \"\", pure = true, symbol = \
         \"__nv_{name}{suffix}\"}} : ({types}) -> {tile}\n  tt.store %a{}, %y : {pointers}\n  \
         tt.return\n}}\n",
        names.join(", "),
        operands.len()
    );
    let module = ttir::parse(&text)?;
    let machine = Machine::by_name("sm_90").ok_or_else(|| anyhow::anyhow!("no sm_90"))?;
    let compiled = compile::compile(&module, &module.kernels[0], &Options::for_machine(machine))?;
    let bytes = dtype.bytes() as usize;
    let count = operands[0].len();
    let mut results = Vec::with_capacity(count);
    for start in (0..count).step_by(TILE) {
        let mut memory = Memory::default();
        let mut args = Vec::new();
        for values in operands {
            let values =
                (start..start + TILE).map(|index| values.get(index).copied().unwrap_or(1.0));
            let bits = values.map(|value| scalar::from_f64(dtype, value).to_le_bytes());
            let bytes = bits.flat_map(|bits| bits[..bytes].to_vec()).collect();
            args.push(memory.push(Buffer { name: "x".into(), bytes, dtype, initialised: true }));
        }
        let out = vec![0; TILE * bytes];
        let out = memory.push(Buffer { name: "y".into(), bytes: out, dtype, initialised: false });
        args.push(out);
        let launch = Launch {
            program: &compiled.program,
            grid: [1, 1, 1],
            args: &args,
            machine: &compile::simulated(machine, 1),
            options: sim::Options::default(),
        };
        sim::run(&launch, &mut memory)?;
        for index in 0..TILE.min(count - start) as u64 {
            let bits = memory.read(out + index * bytes as u64, bytes as u32);
            let bits = bits.map_err(|error| anyhow::anyhow!("{error:?}"))?;
            results.push(scalar::to_f64(dtype, bits));
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::{Beside, DType, ROWS, Unit, error, numbers};
    use weft::scalar::Function;

    /// What the evaluator takes for true, in units of the last place of f64: the bounds of results rest on it
    /// (`weft::tile::eval`).
    #[test]
    fn the_evaluators_functions_are_close() {
        let samples = if std::env::var_os("WEFT_LONG").is_some() { 4096 } else { 96 };
        let mut wrong = Vec::new();
        for row in ROWS {
            // What has an instruction somewhere is an operation.
            let Some(function) = Function::by_name(row.name) else { continue };
            for ranges in row.ranges {
                let operands = ranges.iter().zip(1..);
                let operands: Vec<Vec<f64>> = operands
                    .map(|(&range, seed)| numbers(range, DType::F64, samples, seed))
                    .collect();
                // Beside zeros of Bessel functions bounds count in units of one.
                let unit = match ranges {
                    [Beside(_)] if row.name.starts_with('j') => Unit::One,
                    _ => row.unit,
                };
                let units = |index: usize| {
                    let at: Vec<f64> = operands.iter().map(|operand| operand[index]).collect();
                    let bits: Vec<u64> = at.iter().map(|x| x.to_bits()).collect();
                    let got = f64::from_bits(function.apply(DType::F64, &bits));
                    (error((row.name, unit), DType::F64, &at, got), at)
                };
                let worst = (0..samples).map(units).max_by(|x, y| x.0.total_cmp(&y.0)).unwrap();
                if worst.0 > 8.0 {
                    wrong.push(format!("{} at {:?}: {:.2} units", row.name, worst.1, worst.0));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn functions_are_as_close_as_their_rows_say() {
        let samples = if std::env::var_os("WEFT_LONG").is_some() { 4096 } else { 48 };
        let found = super::measure(samples).unwrap();
        let wrong: Vec<String> = found.iter().flat_map(super::Found::wrong).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
