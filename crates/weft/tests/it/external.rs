//! Functions of libdevice that are exact: each against the standard library's; and those that are written as
//! loops.

use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::memory::{Buffer, Memory};
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

const COUNT: usize = 64;

/// A kernel that applies a function to elements of some types, with a result of the type `to`.
fn text(symbol: &str, to: DType, from: &[DType]) -> String {
    let tile = |element: &str| format!("tensor<{COUNT}x{element}>");
    let range = tile("i32");
    let mut params = String::new();
    let mut body =
        format!("  %r = tt.make_range {{end = {COUNT} : i32, start = 0 : i32}} : {range}\n");
    let mut names = Vec::new();
    for (index, dtype) in from.iter().chain([&to]).enumerate() {
        let pointers = tile(&format!("!tt.ptr<{dtype}>"));
        let comma = if index > 0 { ", " } else { "" };
        params += &format!("{comma}%p{index}: !tt.ptr<{dtype}>");
        body += &format!(
            "  %s{index} = tt.splat %p{index} : !tt.ptr<{dtype}> -> {pointers}\n  %a{index} = tt.addptr \
             %s{index}, %r : {pointers}, {range}\n"
        );
        if index < from.len() {
            body += &format!("  %x{index} = tt.load %a{index} : {pointers}\n");
            names.push(format!("%x{index}"));
        }
    }
    let types: Vec<String> = from.iter().map(|dtype| tile(&dtype.to_string())).collect();
    body += &format!(
        "  %y = tt.extern_elementwise {} {{libname = \"\", libpath = \"\", pure = true, symbol = \
         \"{symbol}\"}} : ({}) -> {}\n  tt.store %a{}, %y : {}\n  tt.return\n",
        names.join(", "),
        types.join(", "),
        tile(&to.to_string()),
        from.len(),
        tile(&format!("!tt.ptr<{to}>"))
    );
    format!("tt.func public @k({params}) {{\n{body}}}\n")
}

/// What a function gives for the bits of its operands of some types, as bits of `to`: evaluated, or
/// compiled and simulated.
fn applied(symbol: &str, to: DType, operands: &[(DType, Vec<u64>)], compiled: bool) -> Vec<u64> {
    let from: Vec<DType> = operands.iter().map(|operand| operand.0).collect();
    let module =
        ttir::parse(&text(symbol, to, &from)).unwrap_or_else(|errors| panic!("{symbol}: {errors}"));
    let mut memory = Memory::default();
    let mut buffer = |dtype: DType, bits: &[u64], initialised| {
        let bytes = dtype.bytes() as usize;
        let bytes = bits.iter().flat_map(|bits| bits.to_le_bytes()[..bytes].to_vec()).collect();
        memory.push(Buffer { name: "x".into(), bytes, dtype, initialised })
    };
    let mut args: Vec<u64> =
        operands.iter().map(|(dtype, bits)| buffer(*dtype, bits, true)).collect();
    args.push(buffer(to, &[0; COUNT], false));
    if compiled {
        let machine = Machine::by_name("sm_90").unwrap();
        let options = Options::for_machine(machine);
        let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
        let launch = Launch {
            program: &compiled.program,
            grid: [1, 1, 1],
            args: &args,
            machine: &compile::simulated(machine, 1),
            options: sim::Options::default(),
        };
        sim::run(&launch, &mut memory).unwrap();
    } else {
        let options = eval::Options::default();
        eval::run(&module.kernels[0], [1, 1, 1], &args, &mut memory, options).unwrap();
    }
    let (width, out) = (to.bytes(), args[operands.len()]);
    (0..COUNT as u64)
        .map(|index| memory.read(out + index * u64::from(width), width).unwrap())
        .collect()
}

fn evaluated(symbol: &str, to: DType, operands: &[(DType, Vec<u64>)]) -> Vec<u64> {
    applied(symbol, to, operands, false)
}

fn singles(factor: f32) -> Vec<u64> {
    let special = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        1.0,
        f32::NAN,
        3.7,
        1e-42,
        -3e-45,
        1e38,
        0.499_999_97,
    ];
    let more = (0..COUNT - special.len()).map(|index| (index as f32 - 25.3) * factor);
    special.into_iter().chain(more).map(|x| u64::from(x.to_bits())).collect()
}

fn doubles(factor: f64) -> Vec<u64> {
    let special = [
        0.0,
        -0.0,
        0.5,
        -2.5,
        5e-324,
        -1e-310,
        1e308,
        f64::INFINITY,
        1.0,
        0.499_999_999_999_999_94,
    ];
    let more = (0..COUNT - special.len()).map(|index| (index as f64 - 25.3) * factor);
    special.into_iter().chain(more).map(f64::to_bits).collect()
}

fn integers(factor: u64, mask: u64) -> Vec<u64> {
    (0..COUNT as u64).map(|index| index.wrapping_mul(factor) & mask).collect()
}

/// The exponent of the highest bit, as C's `ilogb`.
fn exponent(x: f64) -> i32 {
    if x == 0.0 || x.is_nan() {
        return i32::MIN;
    }
    if x.is_infinite() { i32::MAX } else { libm::ilogb(x) }
}

fn logb(x: f64) -> f64 {
    match x {
        0.0 => f64::NEG_INFINITY,
        x if x.is_finite() => f64::from(libm::ilogb(x)),
        x => x.abs(),
    }
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

type Unary = fn(u64) -> u64;
type Binary = fn(u64, u64) -> u64;

fn bits(x: f32) -> u64 {
    u64::from(x.to_bits())
}

#[test]
fn functions_of_one_operand_are_exact() {
    use DType::{F32, F64, I32, I64};
    let words = integers(0x9e37_79b9, 0xffff_ffff);
    let longs = integers(0x9e37_79b9_7f4a_7c15, u64::MAX);
    let cases: &[(&str, DType, DType, Unary)] = &[
        ("float2int_rn", F32, I32, |x| u64::from(f32_of(x).round_ties_even() as i32 as u32)),
        ("float2int_rz", F32, I32, |x| u64::from(f32_of(x) as i32 as u32)),
        ("float2int_rd", F32, I32, |x| u64::from(f32_of(x).floor() as i32 as u32)),
        ("float2int_ru", F32, I32, |x| u64::from(f32_of(x).ceil() as i32 as u32)),
        ("float2ll_rz", F32, I64, |x| f32_of(x) as i64 as u64),
        ("double2ll_rn", F64, I64, |x| f64::from_bits(x).round_ties_even() as i64 as u64),
        ("double2int_rd", F64, I32, |x| u64::from(f64::from_bits(x).floor() as i32 as u32)),
        ("double2float_rn", F64, F32, |x| bits(f64::from_bits(x) as f32)),
        ("int2float_rn", I32, F32, |x| bits(x as u32 as i32 as f32)),
        ("uint2float_rn", I32, F32, |x| bits(x as u32 as f32)),
        ("int2double_rn", I32, F64, |x| f64::from(x as u32 as i32).to_bits()),
        ("ll2double_rn", I64, F64, |x| (x as i64 as f64).to_bits()),
        ("ull2double_rn", I64, F64, |x| (x as f64).to_bits()),
        ("float_as_int", F32, I32, |x| x),
        ("uint_as_float", I32, F32, |x| x),
        ("double_as_longlong", F64, I64, |x| x),
        ("longlong_as_double", I64, F64, |x| x),
        ("fsqrt_rn", F32, F32, |x| bits(f32_of(x).sqrt())),
        ("frcp_rn", F32, F32, |x| bits(1.0 / f32_of(x))),
        ("drcp_rn", F64, F64, |x| (1.0 / f64::from_bits(x)).to_bits()),
        ("abs", I32, I32, |x| u64::from((x as u32 as i32).wrapping_abs() as u32)),
        ("llabs", I64, I64, |x| (x as i64).wrapping_abs() as u64),
        ("saturatef", F32, F32, |x| {
            let x = f32_of(x);
            bits(if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) })
        }),
        ("signbitf", F32, I32, |x| x >> 31),
        ("signbitd", F64, I32, |x| x >> 63),
        ("clz", I32, I32, |x| u64::from((x as u32).leading_zeros())),
        ("clzll", I64, I32, |x| u64::from(x.leading_zeros())),
        ("popc", I32, I32, |x| u64::from(x.count_ones())),
        ("popcll", I64, I32, |x| u64::from(x.count_ones())),
        ("brev", I32, I32, |x| u64::from((x as u32).reverse_bits())),
        ("brevll", I64, I64, u64::reverse_bits),
        ("ffs", I32, I32, |x| if x == 0 { 0 } else { u64::from(x.trailing_zeros()) + 1 }),
        ("ffsll", I64, I32, |x| if x == 0 { 0 } else { u64::from(x.trailing_zeros()) + 1 }),
        ("double2loint", F64, I32, |x| x & 0xffff_ffff),
        ("double2hiint", F64, I32, |x| x >> 32),
        ("isnanf", F32, I32, |x| u64::from(f32_of(x).is_nan())),
        ("isinfd", F64, I32, |x| u64::from(f64::from_bits(x).is_infinite())),
        ("isfinited", F64, I32, |x| u64::from(f64::from_bits(x).is_finite())),
        ("roundf", F32, F32, |x| bits(f32_of(x).round())),
        ("round", F64, F64, |x| f64::from_bits(x).round().to_bits()),
        ("llroundf", F32, I64, |x| f32_of(x).round() as i64 as u64),
        ("llround", F64, I64, |x| f64::from_bits(x).round() as i64 as u64),
        ("llrintf", F32, I64, |x| f32_of(x).round_ties_even() as i64 as u64),
        ("llrint", F64, I64, |x| f64::from_bits(x).round_ties_even() as i64 as u64),
        ("ilogbf", F32, I32, |x| u64::from(exponent(f64::from(f32_of(x))) as u32)),
        ("ilogb", F64, I32, |x| u64::from(exponent(f64::from_bits(x)) as u32)),
        ("logbf", F32, F32, |x| bits(logb(f64::from(f32_of(x))) as f32)),
        ("logb", F64, F64, |x| logb(f64::from_bits(x)).to_bits()),
        ("frsqrt_rn", F32, F32, |x| bits((1.0 / f64::from(f32_of(x)).sqrt()) as f32)),
        ("rcp64h", F64, F64, |x| (1.0 / f64::from_bits(x)).to_bits() >> 32 << 32),
    ];
    for &(name, from, to, meaning) in cases {
        let operand = match from {
            F32 => singles(1.37),
            F64 => doubles(1e3),
            I32 => words.clone(),
            _ => longs.clone(),
        };
        let found = evaluated(&format!("__nv_{name}"), to, &[(from, operand.clone())]);
        for (&x, &found) in operand.iter().zip(&found) {
            let expected = meaning(x);
            let special = from == F32 && f32_of(x).is_nan();
            // Of a NaN an integer may be anything, and a NaN may be any.
            let same = found == expected || special && name != "saturatef" && name != "signbitf";
            let zeros = name == "saturatef" && f32_of(found) == f32_of(expected);
            let nan = to == F32 && f32_of(found).is_nan() && f32_of(expected).is_nan();
            assert!(same || nan || zeros, "{name} of {x:#x}: {found:#x}, not {expected:#x}");
        }
    }
}

#[test]
fn functions_of_two_operands_are_exact() {
    use DType::{F32, F64, I32};
    let cases: &[(&str, DType, Binary)] = &[
        ("fadd_rn", F32, |x, y| bits(f32_of(x) + f32_of(y))),
        ("fsub_rn", F32, |x, y| bits(f32_of(x) - f32_of(y))),
        ("fmul_rn", F32, |x, y| bits(f32_of(x) * f32_of(y))),
        ("fdiv_rn", F32, |x, y| bits(f32_of(x) / f32_of(y))),
        ("dmul_rn", F64, |x, y| (f64::from_bits(x) * f64::from_bits(y)).to_bits()),
        ("ddiv_rn", F64, |x, y| (f64::from_bits(x) / f64::from_bits(y)).to_bits()),
        ("fdimf", F32, |x, y| {
            let (x, y) = (f32_of(x), f32_of(y));
            bits(if x <= y { 0.0 } else { x - y })
        }),
        ("mulhi", I32, |x, y| {
            let (x, y) = (i64::from(x as u32 as i32), i64::from(y as u32 as i32));
            ((x * y) >> 32) as u64 & 0xffff_ffff
        }),
        ("umulhi", I32, |x, y| (x * y) >> 32),
    ];
    for &(name, dtype, meaning) in cases {
        let [a, b] = match dtype {
            F32 => [singles(1.37), singles(-0.61)],
            F64 => [doubles(1.1), doubles(-7.3)],
            _ => [integers(0x9e37_79b9, 0xffff_ffff), integers(0x85eb_ca77, 0xffff_ffff)],
        };
        let found =
            evaluated(&format!("__nv_{name}"), dtype, &[(dtype, a.clone()), (dtype, b.clone())]);
        for index in 0..COUNT {
            let (expected, found) = (meaning(a[index], b[index]), found[index]);
            let nan = dtype == F32 && f32_of(found).is_nan() && f32_of(expected).is_nan();
            assert!(found == expected || nan, "{name} {index}: {found:#x}, not {expected:#x}");
        }
    }
}

/// `x * 2^n` of f64, rounded once.
fn scaled(x: u64, n: u64) -> f64 {
    libm::scalbn(f64::from_bits(x), n as u32 as i32)
}

#[test]
fn functions_of_several_types_are_exact() {
    use DType::{F32, F64, I32, I64};
    type Several = fn(&[u64]) -> u64;
    type Operand = (DType, Vec<u64>);
    let words = |factor| (I32, integers(factor, 0xffff_ffff));
    let longs = |factor| (I64, integers(factor, u64::MAX));
    let small = (I32, (0..COUNT as i32).map(|n| u64::from((n * 41 - 1300) as u32)).collect());
    let (a, b, c) = (words(0x9e37_79b9), words(0x85eb_ca77), words(0xc2b2_ae3d));
    let (x, y) = ((F32, singles(1.37)), (F32, singles(-0.61).into_iter().rev().collect()));
    let (v, w) = ((F64, doubles(1.1)), (F64, doubles(-7.3).into_iter().rev().collect()));
    let cases: &[(&str, DType, &[&Operand], Several)] = &[
        ("byte_perm", I32, &[&a, &b, &c], |x| {
            let both = x[0] | x[1] << 32;
            (0..4).fold(0, |sum, byte| {
                let index = x[2] >> (4 * byte) & 7;
                sum | (both >> (8 * index) & 0xff) << (8 * byte)
            })
        }),
        ("mul64hi", I64, &[&longs(0x9e37_79b9_7f4a_7c15), &longs(0xc2b2_ae3d_27d4_eb4f)], |x| {
            ((i128::from(x[0] as i64) * i128::from(x[1] as i64)) >> 64) as u64
        }),
        ("umul64hi", I64, &[&longs(0x9e37_79b9_7f4a_7c15), &longs(0xc2b2_ae3d_27d4_eb4f)], |x| {
            ((u128::from(x[0]) * u128::from(x[1])) >> 64) as u64
        }),
        ("mul24", I32, &[&a, &b], |x| {
            let cut = |x: u64| ((x as u32) << 8) as i32 >> 8;
            u64::from(cut(x[0]).wrapping_mul(cut(x[1])) as u32)
        }),
        ("umul24", I32, &[&a, &b], |x| ((x[0] & 0xff_ffff) * (x[1] & 0xff_ffff)) & 0xffff_ffff),
        ("sad", I32, &[&a, &b, &c], |x| {
            let difference = (x[0] as u32 as i32).abs_diff(x[1] as u32 as i32);
            u64::from(difference.wrapping_add(x[2] as u32))
        }),
        ("usad", I32, &[&a, &b, &c], |x| {
            u64::from((x[0] as u32).abs_diff(x[1] as u32).wrapping_add(x[2] as u32))
        }),
        ("hadd", I32, &[&a, &b], |x| {
            let sum = i64::from(x[0] as u32 as i32) + i64::from(x[1] as u32 as i32);
            (sum >> 1) as u64 & 0xffff_ffff
        }),
        ("uhadd", I32, &[&a, &b], |x| (x[0] + x[1]) >> 1),
        ("rhadd", I32, &[&a, &b], |x| {
            let sum = i64::from(x[0] as u32 as i32) + i64::from(x[1] as u32 as i32);
            ((sum + 1) >> 1) as u64 & 0xffff_ffff
        }),
        ("urhadd", I32, &[&a, &b], |x| (x[0] + x[1] + 1) >> 1),
        ("hiloint2double", F64, &[&a, &b], |x| x[0] << 32 | x[1]),
        ("ldexp", F64, &[&v, &small], |x| scaled(x[0], x[1]).to_bits()),
        ("scalbn", F64, &[&w, &small], |x| scaled(x[0], x[1]).to_bits()),
        ("ldexpf", F32, &[&x, &small], |x| {
            bits(scaled(f64::from(f32_of(x[0])).to_bits(), x[1]) as f32)
        }),
        ("nextafterf", F32, &[&x, &y], |x| bits(libm::nextafterf(f32_of(x[0]), f32_of(x[1])))),
        ("nextafterf", F32, &[&x, &x], |x| bits(libm::nextafterf(f32_of(x[0]), f32_of(x[1])))),
        ("nextafter", F64, &[&v, &w], |x| {
            libm::nextafter(f64::from_bits(x[0]), f64::from_bits(x[1])).to_bits()
        }),
        ("remainderf", F32, &[&x, &y], |x| bits(libm::remainderf(f32_of(x[0]), f32_of(x[1])))),
        ("remainder", F64, &[&v, &w], |x| {
            libm::remainder(f64::from_bits(x[0]), f64::from_bits(x[1])).to_bits()
        }),
        ("remainder", F64, &[&w, &v], |x| {
            libm::remainder(f64::from_bits(x[0]), f64::from_bits(x[1])).to_bits()
        }),
        ("copysign", F64, &[&v, &w], |x| {
            f64::from_bits(x[0]).copysign(f64::from_bits(x[1])).to_bits()
        }),
        ("fma", F64, &[&v, &w, &v], |x| {
            let [x, y, z] = [x[0], x[1], x[2]].map(f64::from_bits);
            x.mul_add(y, z).to_bits()
        }),
    ];
    for &(name, to, operands, meaning) in cases {
        let own: Vec<(DType, Vec<u64>)> = operands.iter().map(|&operand| operand.clone()).collect();
        let found = evaluated(&format!("__nv_{name}"), to, &own);
        for (index, &found) in found.iter().enumerate() {
            let at: Vec<u64> = own.iter().map(|(_, bits)| bits[index]).collect();
            let expected = meaning(&at);
            let nan = |bits| to.is_float() && weft::scalar::to_f64(to, bits).is_nan();
            let same = found == expected || nan(found) && nan(expected);
            assert!(same, "{name} of {at:#x?}: {found:#x}, not {expected:#x}");
        }
    }
}

/// Bits of a type: some of every exponent, some special, some near each other.
fn random(dtype: DType, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 3.0, -5e-324];
    (0..COUNT)
        .map(|index| {
            let bits = next();
            if !dtype.is_float() {
                return (bits >> (bits & 63)) & dtype.mask();
            }
            match index % 4 {
                0 => weft::scalar::from_f64(dtype, special[(bits >> 40) as usize % special.len()]),
                1 => bits & dtype.mask(),
                // Subnormal numbers and those of few bits.
                2 => bits & dtype.mask() & (u64::MAX >> (64 - dtype.bits() + 12) | 1 << 63),
                _ => weft::scalar::from_f64(dtype, (bits >> 50) as f64 / 64.0 - 128.0),
            }
        })
        .collect()
}

/// Every exact name with its operands' types and its result's.
fn exact_names() -> Vec<(String, Vec<DType>, DType)> {
    use DType::{F32, F64, I32, I64};
    let mut names = Vec::new();
    let mut name =
        |name: &str, from: &[DType], to| names.push((name.to_string(), from.to_vec(), to));
    for rounding in ["rn", "rz", "rd", "ru"] {
        for (letter, fma, dtype) in [("f", "fmaf", F32), ("d", "fma", F64)] {
            for op in ["add", "sub", "mul", "div"] {
                name(&format!("{letter}{op}_{rounding}"), &[dtype; 2], dtype);
            }
            for op in ["sqrt", "rcp"] {
                name(&format!("{letter}{op}_{rounding}"), &[dtype], dtype);
            }
            name(&format!("{fma}_{rounding}"), &[dtype; 3], dtype);
        }
        let floats = [("float", F32), ("double", F64)];
        for (float, dtype) in floats {
            for (int, to) in [("int", I32), ("uint", I32), ("ll", I64), ("ull", I64)] {
                name(&format!("{float}2{int}_{rounding}"), &[dtype], to);
                if dtype == F32 || to == I64 || rounding == "rn" {
                    name(&format!("{int}2{float}_{rounding}"), &[to], dtype);
                }
            }
        }
        name(&format!("double2float_{rounding}"), &[F64], F32);
    }
    for base in ["fabs", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "logb"] {
        name(&format!("{base}f"), &[F32], F32);
        name(base, &[F64], F64);
    }
    for base in ["fmod", "remainder", "copysign", "nextafter", "fmax", "fmin", "fdim"] {
        name(&format!("{base}f"), &[F32; 2], F32);
        name(base, &[F64; 2], F64);
    }
    for base in ["ldexp", "scalbn"] {
        name(&format!("{base}f"), &[F32, I32], F32);
        name(base, &[F64, I32], F64);
    }
    for (base, to) in [("ilogb", I32), ("llrint", I64), ("llround", I64)] {
        name(&format!("{base}f"), &[F32], to);
        name(base, &[F64], to);
    }
    for base in ["isnan", "isinf", "signbit"] {
        name(&format!("{base}f"), &[F32], I32);
        name(&format!("{base}d"), &[F64], I32);
    }
    name("finitef", &[F32], I32);
    name("isfinited", &[F64], I32);
    name("saturatef", &[F32], F32);
    name("frsqrt_rn", &[F32], F32);
    name("rcp64h", &[F64], F64);
    for base in ["clz", "popc", "ffs", "brev"] {
        name(base, &[I32], I32);
        name(&format!("{base}ll"), &[I64], if base == "brev" { I64 } else { I32 });
    }
    for base in ["mulhi", "umulhi", "mul24", "umul24", "hadd", "uhadd", "rhadd", "urhadd"] {
        name(base, &[I32; 2], I32);
    }
    for base in ["byte_perm", "sad", "usad"] {
        name(base, &[I32; 3], I32);
    }
    for base in ["mul64hi", "umul64hi"] {
        name(base, &[I64; 2], I64);
    }
    name("abs", &[I32], I32);
    name("llabs", &[I64], I64);
    name("hiloint2double", &[I32; 2], F64);
    name("double2loint", &[F64], I32);
    name("double2hiint", &[F64], I32);
    for (base, from, to) in [
        ("int_as_float", I32, F32),
        ("float_as_int", F32, I32),
        ("uint_as_float", I32, F32),
        ("float_as_uint", F32, I32),
        ("longlong_as_double", I64, F64),
        ("double_as_longlong", F64, I64),
    ] {
        name(base, &[from], to);
    }
    names
}

#[test]
fn exact_functions_are_compiled_exactly() {
    for (name, from, to) in exact_names() {
        for seed in 0..3 {
            let own: Vec<(DType, Vec<u64>)> = (1..)
                .zip(&from)
                .map(|(index, &dtype)| (dtype, random(dtype, 10 * seed + index)))
                .collect();
            let symbol = format!("__nv_{name}");
            let (wanted, got) =
                (applied(&symbol, to, &own, false), applied(&symbol, to, &own, true));
            for (index, (&wanted, &got)) in wanted.iter().zip(&got).enumerate() {
                let at: Vec<u64> = own.iter().map(|(_, bits)| bits[index]).collect();
                let nan = |bits| to.is_float() && weft::scalar::to_f64(to, bits).is_nan();
                let same = wanted == got || nan(wanted) && nan(got);
                assert!(same, "{name} of {at:#x?}: {got:#x}, not {wanted:#x}");
            }
        }
    }
}

#[test]
fn directed_arithmetic_rounds_as_told() {
    use DType::{F32, F64};
    let at = |symbol: &str, dtype: DType, operands: &[Vec<u64>]| {
        let operands: Vec<(DType, Vec<u64>)> =
            operands.iter().map(|bits| (dtype, bits.clone())).collect();
        let values = applied(&format!("__nv_{symbol}"), dtype, &operands, false);
        values.into_iter().map(|bits| weft::scalar::to_f64(dtype, bits)).collect::<Vec<f64>>()
    };
    for (dtype, letter, fma) in [(F32, "f", "fmaf"), (F64, "d", "fma")] {
        for (op, arity) in [("add", 2), ("sub", 2), ("mul", 2), ("div", 2), ("sqrt", 1), ("", 3)] {
            let name = if arity == 3 { fma.to_string() } else { format!("{letter}{op}") };
            for seed in 0..20 {
                let operands: Vec<Vec<u64>> =
                    (0..arity).map(|index| random(dtype, 100 * seed + index)).collect();
                let [near, zero, down, up] = ["rn", "rz", "rd", "ru"]
                    .map(|rounding| at(&format!("{name}_{rounding}"), dtype, &operands));
                for index in 0..COUNT {
                    let (near, zero, down, up) = (near[index], zero[index], down[index], up[index]);
                    if near.is_nan() {
                        assert!(zero.is_nan() && down.is_nan() && up.is_nan());
                        continue;
                    }
                    // The nearest is one of the neighbours, which are one apart or the same.
                    let next = if dtype == F32 {
                        f64::from((down as f32).next_up())
                    } else {
                        down.next_up()
                    };
                    assert!(near == down || near == up, "{name}: {down} {near} {up}");
                    assert!(up == down || up == next, "{name}: {down} {near} {up}");
                    let inner = if down >= 0.0 && up > 0.0 { down } else { up };
                    assert!(zero == inner, "{name}: {down} {zero} {up}");
                    // Of f32 the exact result is known: an f64 holds products, and what it does not
                    // hold of a sum or a quotient is far from any f32.
                    if dtype == F32 && arity == 2 {
                        let [x, y] = [0, 1].map(|operand: usize| {
                            weft::scalar::to_f64(dtype, operands[operand][index])
                        });
                        let exact = match op {
                            "add" => x + y,
                            "sub" => x - y,
                            "mul" => x * y,
                            _ => x / y,
                        };
                        assert!(down <= exact && exact <= up, "{x} {op} {y}: {down} {exact} {up}");
                        let held = exact == f64::from(exact as f32);
                        assert!(!held || op == "add" || op == "sub" || up == down, "{x} {op} {y}");
                        assert!(held || up != down, "{x} {op} {y}: {exact}");
                    }
                }
            }
        }
    }
}

/// Every function that Triton's `libdevice` names, with the types of its operands and its result.
const NAMES: &str = include_str!("libdevice.txt");

/// Orders and arguments of Bessel functions: each of the first among all of the second.
fn orders_and_arguments() -> Vec<(Vec<u64>, Vec<f64>)> {
    let special = [0.0, f64::INFINITY, f64::NAN, 1e-300, -1e-12, 3e-9, -2.0, 1e5];
    let sets =
        [(0..8, 1.0), (0..8, 7.3), (10..18, 0.9), (35..43, 1.7), (-3..5, 2.0), (300..308, 9.5)];
    let set = |(orders, factor): (core::ops::Range<i32>, f64)| {
        let arguments = |order: i32| {
            (0..COUNT / 8).map(move |index| {
                if order % 8 == 3 {
                    special[index]
                } else {
                    (index as f64 + f64::from(order) / 10.0 + 0.3) * factor
                }
            })
        };
        let all: Vec<i32> = orders.collect();
        let order = all.iter().flat_map(|&order| [u64::from(order as u32); COUNT / 8]).collect();
        (order, all.into_iter().flat_map(arguments).collect())
    };
    sets.into_iter().map(set).collect()
}

#[test]
fn bessel_functions_of_any_order_follow_their_recurrence() {
    let known: [fn(i32, f64) -> f64; 2] = [libm::jn, libm::yn];
    let mut worst = 0.0_f64;
    for (orders, arguments) in orders_and_arguments() {
        for (symbol, dtype, second) in [
            ("__nv_jn", DType::F64, false),
            ("__nv_jnf", DType::F32, false),
            ("__nv_yn", DType::F64, true),
            ("__nv_ynf", DType::F32, true),
        ] {
            let arguments: Vec<u64> =
                arguments.iter().map(|&x| weft::scalar::from_f64(dtype, x)).collect();
            let operands = [(DType::I32, orders.clone()), (dtype, arguments.clone())];
            let [meant, found] = [false, true].map(|compiled| {
                let bits = applied(symbol, dtype, &operands, compiled);
                bits.into_iter().map(|bits| weft::scalar::to_f64(dtype, bits)).collect::<Vec<f64>>()
            });
            for (index, (&order, &x)) in orders.iter().zip(&arguments).enumerate() {
                let (order, x) = (order as i32, weft::scalar::to_f64(dtype, x));
                let wanted =
                    if order < 0 { f64::NAN } else { known[usize::from(second)](order, x) };
                let rounded = weft::scalar::to_f64(dtype, weft::scalar::from_f64(dtype, wanted));
                // Where they oscillate errors are those of the modulus.
                let modulus =
                    known.map(|function| function(order, x)).iter().map(|y| y * y).sum::<f64>();
                let scale = if x.abs() > f64::from(order) { modulus.sqrt() } else { wanted.abs() };
                let unit = if dtype == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
                let least = if dtype == DType::F32 { 2f64.powi(-126) } else { f64::MIN_POSITIVE };
                for got in [meant[index], found[index]] {
                    let equal = got == rounded || got.is_nan() && rounded.is_nan();
                    let units =
                        if equal { 0.0 } else { (got - wanted).abs() / (unit * scale.max(least)) };
                    let units = units / (f64::from(order) + 4.0);
                    worst = worst.max(units);
                }
            }
        }
    }
    // The roundings of the recurrence, and of what it begins with.
    assert!(worst < 1.0, "{worst} units for each order and four more");
}

#[test]
fn every_name_of_libdevice_is_compiled() {
    let machine = Machine::by_name("sm_90").unwrap();
    let options = Options::for_machine(machine);
    let mut count = 0;
    for line in NAMES.lines() {
        let (call, to) = line.split_once(" -> ").unwrap();
        let mut words = call.split(' ');
        let symbol = words.next().unwrap();
        let dtype = |name: &str| DType::ALL.into_iter().find(|dtype| dtype.to_string() == name);
        let from: Vec<DType> = words.map(|name| dtype(name).unwrap()).collect();
        let parsed = ttir::parse(&text(symbol, dtype(to).unwrap(), &from));
        let module = parsed.unwrap_or_else(|errors| panic!("{line}: {errors}"));
        compile::compile(&module, &module.kernels[0], &options)
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        // What is printed is read as the same.
        let printed = module.to_string();
        let again = ttir::parse(&printed).unwrap_or_else(|errors| panic!("{line}: {errors}"));
        assert_eq!(again.to_string(), printed, "{line}");
        count += 1;
    }
    assert_eq!(count, NAMES.lines().count());
}

/// What libdevice computes in f32 is; the same operations of f16 and bf16 too.
#[test]
fn functions_of_f32_compute_nothing_in_f64() {
    let options = Options::for_machine(Machine::by_name("sm_90").unwrap());
    let ptx = |text: &str| {
        let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{text}: {errors}"));
        let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
        emit::print(&compiled.program, Language::Ptx, Target::by_name("sm_90").unwrap()).unwrap()
    };
    let mut count = 0;
    for line in NAMES.lines().filter(|line| line.contains(" f32") && !line.contains("f64")) {
        let (call, to) = line.split_once(" -> ").unwrap();
        let dtype = |name: &str| DType::by_name(name).unwrap();
        let mut words = call.split(' ');
        let symbol = words.next().unwrap();
        let from: Vec<DType> = words.map(dtype).collect();
        if !from.contains(&DType::F32) {
            continue;
        }
        let text = ptx(&text(symbol, dtype(to), &from));
        assert!(!text.contains("f64"), "{line}:\n{text}");
        count += 1;
    }
    assert!(count > 100, "{count} functions");
    let operations = [
        ("math.sin", 1),
        ("math.cos", 1),
        ("math.exp", 1),
        ("math.exp2", 1),
        ("math.log", 1),
        ("math.log2", 1),
        ("math.erf", 1),
        ("math.tanh", 1),
        ("math.expm1", 1),
        ("math.log1p", 1),
        ("math.rsqrt", 1),
        ("math.powf", 2),
        ("arith.remf", 2),
    ];
    for dtype in ["f16", "bf16", "f32"] {
        for (operation, arity) in operations {
            let (tile, pointers) =
                (format!("tensor<128x{dtype}>"), format!("tensor<128x!tt.ptr<{dtype}>>"));
            let operands = vec!["%x"; arity].join(", ");
            let text = ptx(&format!(
                "tt.func public @function(%p: !tt.ptr<{dtype}>) {{\n  %r = tt.make_range {{end = 128 : i32, \
                 start = 0 : i32}} : tensor<128xi32>\n  %s = tt.splat %p : !tt.ptr<{dtype}> -> \
                 {pointers}\n  %a = tt.addptr %s, %r : {pointers}, tensor<128xi32>\n  %x = tt.load %a : \
                 {pointers}\n  %y = {operation} {operands} : {tile}\n  tt.store %a, %y : {pointers}\n  \
                 tt.return\n}}\n"
            ));
            assert!(!text.contains("f64"), "{operation} of {dtype}:\n{text}");
        }
    }
}

/// Sines and cosines that may be less exact are the machine's instructions.
#[test]
fn fast_sines_and_cosines_are_instructions() {
    for name in ["sin", "cos"] {
        let text = text(&format!("__nv_fast_{name}f"), DType::F32, &[DType::F32]);
        let module = ttir::parse(&text).unwrap();
        let machine = Machine::by_name("sm_90").unwrap();
        let compiled =
            compile::compile(&module, &module.kernels[0], &Options::for_machine(machine)).unwrap();
        let target = Target::by_name("sm_90").unwrap();
        let ptx = emit::print(&compiled.program, Language::Ptx, target).unwrap();
        assert!(ptx.contains(&format!("{name}.approx.f32")) && !ptx.contains("fma"), "{ptx}");
    }
}

/// Zeros with their signs, infinities, what is no number, and the numbers at the ends: where the meaning is
/// none of the usual numbers, or a zero, the compiled function gives the same bits.
#[test]
fn functions_of_f32_keep_special_values() {
    let special = [
        0.0,
        1.0,
        0.5,
        2.0,
        3.0,
        f32::INFINITY,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        1e-39,
        1e-20,
        1e20,
        88.8,
        89.5,
        104.0,
        150.0,
    ];
    let special: Vec<f32> =
        special.iter().flat_map(|&x| [x, -x]).chain([f32::NAN, -f32::NAN]).collect();
    let unary = ["sin", "cos", "erf", "tanh", "expm1", "log1p"].into_iter().map(|name| (name, 1));
    let binary = ["pow", "fmod"].into_iter().map(|name| (name, 2));
    let functions = weft::scalar::Function::ALL.iter().map(|f| (f.name(), f.arity()));
    let mut wrong = Vec::new();
    for (name, arity) in unary.chain(binary).chain(functions).filter(|&(_, arity)| arity <= 2) {
        let count = if arity == 2 { special.len() } else { 1 };
        // Of two operands every one meets every other.
        for turn in 0..count {
            let pick = |operand: usize, index: usize| {
                let index = index + if operand == 0 { 0 } else { turn };
                u64::from(special[index % special.len()].to_bits())
            };
            let own: Vec<(DType, Vec<u64>)> = (0..arity)
                .map(|operand| (DType::F32, (0..COUNT).map(|index| pick(operand, index)).collect()))
                .collect();
            let symbol = format!("__nv_{name}f");
            let [wanted, got] =
                [false, true].map(|compiled| applied(&symbol, DType::F32, &own, compiled));
            for (index, (&wanted, &got)) in wanted.iter().zip(&got).enumerate() {
                let [x, y] = [wanted, got].map(|bits| f32::from_bits(bits as u32));
                let usual = x.is_finite() && x != 0.0;
                let same = if usual {
                    // Below the normal numbers a unit is much of a number.
                    (y - x).abs() <= x.abs() * 1e-5 + 4.0 * f32::from_bits(1)
                } else {
                    wanted == got || x.is_nan() && y.is_nan()
                };
                let at: Vec<f32> =
                    own.iter().map(|(_, bits)| f32::from_bits(bits[index] as u32)).collect();
                if !same {
                    wrong.push(format!("{name} of {at:?}: {y:e}, not {x:e}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
