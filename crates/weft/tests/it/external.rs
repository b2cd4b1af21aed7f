//! Functions of libdevice that are exact: each against the standard library's.

use weft::dtype::DType;
use weft::memory::{Buffer, Memory};
use weft::tile::eval;
use weft::ttir;

const COUNT: usize = 64;

/// What a function gives for the bits of its operands, on scalars' types `from` and `to`.
fn evaluated(symbol: &str, from: DType, to: DType, operands: &[Vec<u64>]) -> Vec<u64> {
    let tile = |element: &str| format!("tensor<{COUNT}x{element}>");
    let (t, range) = (tile(&from.to_string()), tile("i32"));
    let mut params = String::new();
    let mut body =
        format!("  %r = tt.make_range {{end = {COUNT} : i32, start = 0 : i32}} : {range}\n");
    let mut names = Vec::new();
    for (index, dtype) in operands.iter().map(|_| from).chain([to]).enumerate() {
        let pointers = tile(&format!("!tt.ptr<{dtype}>"));
        let comma = if index > 0 { ", " } else { "" };
        params += &format!("{comma}%p{index}: !tt.ptr<{dtype}>");
        body += &format!(
            "  %s{index} = tt.splat %p{index} : !tt.ptr<{dtype}> -> {pointers}\n  %a{index} = tt.addptr \
             %s{index}, %r : {pointers}, {range}\n"
        );
        if index < operands.len() {
            body += &format!("  %x{index} = tt.load %a{index} : {pointers}\n");
            names.push(format!("%x{index}"));
        }
    }
    let (count, types) = (operands.len(), vec![t.as_str(); operands.len()].join(", "));
    body += &format!(
        "  %y = tt.extern_elementwise {} {{libname = \"\", libpath = \"\", pure = true, symbol = \
         \"{symbol}\"}} : ({types}) -> {}\n  tt.store %a{count}, %y : {}\n  tt.return\n",
        names.join(", "),
        tile(&to.to_string()),
        tile(&format!("!tt.ptr<{to}>"))
    );
    let text = format!("tt.func public @k({params}) {{\n{body}}}\n");
    let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{symbol}: {errors}"));
    let mut memory = Memory::default();
    let mut buffer = |dtype: DType, bits: &[u64], initialised| {
        let bytes = dtype.bytes() as usize;
        let bytes = bits.iter().flat_map(|bits| bits.to_le_bytes()[..bytes].to_vec()).collect();
        memory.push(Buffer { name: "x".into(), bytes, dtype, initialised })
    };
    let mut args: Vec<u64> = operands.iter().map(|bits| buffer(from, bits, true)).collect();
    args.push(buffer(to, &[0; COUNT], false));
    let options = eval::Options::default();
    eval::run(&module.kernels[0], [1, 1, 1], &args, &mut memory, options).unwrap();
    let width = to.bytes();
    let out = args[operands.len()];
    (0..COUNT as u64)
        .map(|index| memory.read(out + index * u64::from(width), width).unwrap())
        .collect()
}

fn singles(factor: f32) -> Vec<u64> {
    let special = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1.0, f32::NAN, 3.7];
    let more = (0..COUNT - special.len()).map(|index| (index as f32 - 25.3) * factor);
    special.into_iter().chain(more).map(|x| u64::from(x.to_bits())).collect()
}

fn doubles(factor: f64) -> Vec<u64> {
    (0..COUNT).map(|index| ((index as f64 - 25.3) * factor).to_bits()).collect()
}

fn integers(factor: u64, mask: u64) -> Vec<u64> {
    (0..COUNT as u64).map(|index| (index + 3).wrapping_mul(factor) & mask).collect()
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
    ];
    for &(name, from, to, meaning) in cases {
        let operand = match from {
            F32 => singles(1.37),
            F64 => doubles(1e3),
            I32 => words.clone(),
            _ => longs.clone(),
        };
        let found = evaluated(&format!("__nv_{name}"), from, to, std::slice::from_ref(&operand));
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
        let found = evaluated(&format!("__nv_{name}"), dtype, dtype, &[a.clone(), b.clone()]);
        for index in 0..COUNT {
            let (expected, found) = (meaning(a[index], b[index]), found[index]);
            let nan = dtype == F32 && f32_of(found).is_nan() && f32_of(expected).is_nan();
            assert!(found == expected || nan, "{name} {index}: {found:#x}, not {expected:#x}");
        }
    }
}
