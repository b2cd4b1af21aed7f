//! What printed operations compute, held against `scalar`.

use super::interpret::Kernel;
use crate::dtype::DType;
use crate::emit::ptx::print;
use crate::emit::tests::programs::{elementwise, pointer, target};
use crate::lane::{Access, Builder, Op, Program, Space};
use crate::scalar::{self, Binary, Cast, Compare, Unary};
use smallvec::smallvec;

/// Operations whose instructions are approximations.
fn is_approximate(op: Unary) -> bool {
    matches!(op, Unary::Exp | Unary::Exp2 | Unary::Rsqrt) || op.is_of_single()
}

/// Reads the printed text with an interpreter written from NVIDIA's manual, and holds every operation
/// of every type against `scalar` on the values where something can go wrong.
#[test]
fn printed_operations_compute_what_scalar_says() {
    let check =
        |program: &Program, from: &[DType], to: DType, units: f64, want: &dyn Fn(&[u64]) -> u64| {
            let mut before = String::new();
            for name in ["sm_80", "sm_90"] {
                let Ok(text) = print(program, target(name)) else { continue };
                // Most texts differ in nothing but the header.
                let body = text.split_once('{').unwrap().1;
                if body == before {
                    continue;
                }
                let kernel = Kernel::read(&text);
                for operands in tuples(from) {
                    let (got, want) = (kernel.run(&operands), want(&operands));
                    assert!(
                        equal(to, got, want, units),
                        "{name} {}({operands:#x?}) = {got:#x}, not {want:#x}\n{text}",
                        program.name
                    );
                }
                before = body.into();
            }
        };
    for dtype in DType::ALL {
        for &op in Unary::ALL {
            if let Some(apply) = scalar::unary(op, dtype) {
                let program = elementwise(op.name(), &[dtype], |b, x| b.unary(op, x[0]));
                let units = if is_approximate(op) { 2.0 } else { 0.0 };
                check(&program, &[dtype], dtype, units, &|x| apply(x[0]));
            }
        }
        for &op in Binary::ALL {
            if let Some(apply) = scalar::binary(op, dtype) {
                let program = elementwise(op.name(), &[dtype; 2], |b, x| b.binary(op, x[0], x[1]));
                check(&program, &[dtype; 2], dtype, 0.0, &|x| apply(x[0], x[1]));
                if dtype == DType::I8 {
                    // A store does not see what lies above a byte; this does.
                    let program = elementwise(op.name(), &[dtype; 2], |b, x| {
                        let byte = b.binary(op, x[0], x[1]);
                        b.cast(Cast::ExtU, byte, DType::I32)
                    });
                    check(&program, &[dtype; 2], DType::I32, 0.0, &|x| apply(x[0], x[1]));
                }
                let three = scalar::from_f64(dtype, 3.0);
                let program = elementwise(op.name(), &[dtype], |b, x| {
                    let three = b.constant(dtype, three);
                    b.binary(op, x[0], three)
                });
                check(&program, &[dtype], dtype, 0.0, &|x| apply(x[0], three));
            }
        }
        for &op in Compare::ALL {
            if let Some(apply) = scalar::compare(op, dtype) {
                let program = elementwise(op.name(), &[dtype; 2], |b, x| b.compare(op, x[0], x[1]));
                check(&program, &[dtype; 2], DType::I1, 0.0, &|x| apply(x[0], x[1]));
            }
        }
        for &op in Cast::ALL {
            for to in DType::ALL.into_iter().filter(|&to| scalar::cast_applies(op, dtype, to)) {
                let name = format!("{op}_{dtype}_{to}");
                let program = elementwise(&name, &[dtype], |b, x| {
                    b.emit(Op::Cast(op), smallvec![x[0]], &[to])[0]
                });
                check(&program, &[dtype], to, 0.0, &|x| scalar::cast(op, dtype, to, x[0]));
            }
        }
        let select =
            elementwise("select", &[DType::I1, dtype, dtype], |b, x| b.select(x[0], x[1], x[2]));
        check(&select, &[DType::I1, dtype, dtype], dtype, 0.0, &|x| x[2 - x[0] as usize]);
        if dtype.is_int() {
            let fma = elementwise("fma", &[dtype; 3], |b, x| b.fma(x[0], x[1], x[2]));
            let apply = scalar::fma(dtype);
            check(&fma, &[dtype; 3], dtype, 0.0, &|x| apply(x[0], x[1], x[2]));
        }
    }
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_f8()) {
        for half in [0, 1] {
            let program = elementwise("widen_pair", &[DType::I16], |b, x| {
                let both = b.widen_pair(dtype, x[0]);
                b.split(both, DType::F16)[half]
            });
            check(&program, &[DType::I16], DType::F16, 0.0, &|x| {
                let byte = x[0] >> (8 * half) & 0xff;
                scalar::cast(Cast::Float, dtype, DType::F16, byte)
            });
        }
    }
    let bytes = elementwise("bytes", &[DType::I32; 3], |b, x| b.bytes(x[0], x[1], x[2]));
    check(&bytes, &[DType::I32; 3], DType::I32, 0.0, &|x| scalar::byte_permute(x[0], x[1], x[2]));
    let columns = [3, 0x8000_0001, 0, 0x70, 0xffff_ffff, 1 << 9];
    let program = elementwise("linear", &[DType::I32], |b, x| b.linear(&columns, x[0]));
    check(&program, &[DType::I32], DType::I32, 0.0, &|x| {
        let set = (0..6).filter(|bit| x[0] >> bit & 1 == 1);
        set.fold(0, |sum, bit| sum ^ u64::from(columns[bit]))
    });
}

/// Bytes and halves of words as floats, at every place of a word: each byte, and one half in thirteen.
#[test]
fn parts_of_words_become_floats() {
    for (narrow, step) in [(DType::I8, 1), (DType::I16, 13)] {
        let bits = narrow.bits();
        let casts = [Cast::FloatFromS, Cast::FloatFromU];
        let floats = [DType::F16, DType::BF16, DType::F32];
        for (op, to) in casts.into_iter().flat_map(|op| floats.map(|to| (op, to))) {
            for place in 0..32 / bits {
                let program = elementwise("part", &[DType::I32], |b, x| {
                    let parts = b.split(x[0], narrow);
                    b.cast(op, parts[place as usize], to)
                });
                let text = print(&program, target("sm_90")).unwrap();
                assert!(text.contains("prmt.b32"), "{text}");
                let kernel = Kernel::read(&text);
                for x in (0..1_u64 << bits).step_by(step) {
                    let others = 0x9a5c_3f81 & !(narrow.mask() << (place * bits));
                    let want = scalar::cast(op, narrow, to, x);
                    assert_eq!(kernel.run(&[others | x << (place * bits)]), want, "{x:#x}\n{text}");
                }
            }
        }
    }
}

/// So do parts of words that were loaded as several at once.
#[test]
fn loaded_parts_of_words_become_floats() {
    for (narrow, step) in [(DType::I8, 1), (DType::I16, 13)] {
        let (bits, count) = (narrow.bits(), 4 / narrow.bytes());
        for (op, place) in [Cast::FloatFromS, Cast::FloatFromU]
            .into_iter()
            .flat_map(|op| (0..count).map(move |place| (op, place)))
        {
            let mut build = Builder::new("loaded", 1, 5);
            let [from, to] = [("x", narrow), ("out", DType::F32)]
                .map(|(name, dtype)| build.param(pointer(name, dtype)));
            let access = Access::default();
            let parts = build.load(Space::Global, access, narrow, count as usize, from, None);
            let float = build.cast(op, parts[place as usize], DType::F32);
            build.store(Space::Global, access, to, None, &[float]);
            let text = print(&build.finish(), target("sm_90")).unwrap();
            assert!(text.contains(", 0x4b000000, %"), "{text}");
            let kernel = Kernel::read(&text);
            for x in (0..1_u64 << bits).step_by(step) {
                let others = 0x9a5c_3f81 & !(narrow.mask() << (place * bits));
                let want = scalar::cast(op, narrow, DType::F32, x);
                assert_eq!(kernel.run(&[others | x << (place * bits)]), want, "{x:#x}\n{text}");
            }
        }
    }
}

/// A permute that puts two halves together names them, in their order; another one is a permute.
#[test]
fn halves_of_words_are_named() {
    for (selector, named) in [(0x5410, true), (0x1054, false)] {
        let program = elementwise("halves", &[DType::I16; 2], |b, x| {
            let [low, high] = [x[0], x[1]].map(|half| b.cast(Cast::ExtU, half, DType::I32));
            let selector = b.constant(DType::I32, selector);
            b.emit(Op::Bytes, smallvec![low, high, selector], &[DType::I32])[0]
        });
        let text = print(&program, target("sm_90")).unwrap();
        assert_eq!(text.contains("prmt"), !named, "{text}");
        let want = if named { 0xfedc_8123 } else { 0x8123_fedc };
        assert_eq!(Kernel::read(&text).run(&[0x8123, 0xfedc]), want, "{text}");
    }
}

/// Products of extended factors, by two values and by constants at the ends of what 32 bits hold, are one
/// instruction where both are extended alike, and right always.
#[test]
fn products_of_64_bits_have_factors_of_32() {
    let ends = [3, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 32, u64::MAX, 0xffff_ffff_8000_0000];
    let mut printed = 0;
    for op in [Cast::ExtS, Cast::ExtU] {
        let extend = |x: u64, op| scalar::cast(op, DType::I32, DType::I64, x);
        let mut check = |program: &Program, wide: bool, want: &dyn Fn(u64, u64) -> u64| {
            let text = print(program, target("sm_80")).unwrap();
            // The offsets of what is loaded and of what is stored are such products too.
            assert_eq!(text.matches("mul.wide").count(), 2 + usize::from(wide), "{text}");
            let kernel = Kernel::read(&text);
            for operands in tuples(&[DType::I32; 2]) {
                let want = want(operands[0], operands[1]);
                assert_eq!(kernel.run(&operands), want, "{operands:x?}\n{text}");
            }
            printed += 1;
        };
        for other in [Cast::ExtS, Cast::ExtU] {
            let program = elementwise("two", &[DType::I32; 2], |b, x| {
                let wide = [(x[0], op), (x[1], other)].map(|(x, op)| b.cast(op, x, DType::I64));
                b.binary(Binary::Mul, wide[0], wide[1])
            });
            let want = |x, y| extend(x, op).wrapping_mul(extend(y, other));
            check(&program, op == other, &want);
        }
        for constant in ends {
            let program = elementwise("constant", &[DType::I32; 2], |b, x| {
                let wide = b.cast(op, x[0], DType::I64);
                let constant = b.constant(DType::I64, constant);
                b.emit(Op::Binary(Binary::Mul), smallvec![wide, constant], &[DType::I64])[0]
            });
            check(&program, extend(constant & DType::I32.mask(), op) == constant, &|x, _| {
                extend(x, op).wrapping_mul(constant)
            });
        }
        for count in [1, 30, 31, 40] {
            let program = elementwise("shift", &[DType::I32; 2], |b, x| {
                let wide = b.cast(op, x[0], DType::I64);
                let count = b.constant(DType::I64, count);
                b.binary(Binary::Shl, wide, count)
            });
            check(&program, count < 31, &|x, _| extend(x, op) << count);
        }
    }
    assert_eq!(printed, 2 * (2 + 7 + 4));
}

#[test]
fn integers_and_doubles_reach_bf16_in_one_rounding() {
    let above_half = (1u64 << 30) + (1 << 22) + 1;
    let double = (1.0 + 1.0 / 256.0 + 2f64.powi(-40)).to_bits();
    for (op, from, bits, want) in [
        (Cast::FloatFromS, DType::I32, above_half, 0x4e81),
        (Cast::FloatFromU, DType::I32, above_half - 1, 0x4e80),
        (Cast::FloatFromS, DType::I32, above_half.wrapping_neg() & 0xffff_ffff, 0xce81),
        (Cast::FloatFromU, DType::I64, above_half << 33, 0x5f01),
        (Cast::FloatFromS, DType::I64, above_half << 32, 0x5e81),
        (Cast::Float, DType::F64, double, 0x3f81),
    ] {
        let program = elementwise("f", &[from], |b, x| b.cast(op, x[0], DType::BF16));
        let text = print(&program, target("sm_80")).unwrap();
        assert_eq!(Kernel::read(&text).run(&[bits]), want, "{op} {from} {bits:#x}");
    }
}

/// Every combination of the values of each type where something can go wrong.
fn tuples(from: &[DType]) -> Vec<Vec<u64>> {
    from.iter().fold(vec![vec![]], |tuples, &dtype| {
        let mut values = samples(dtype);
        if dtype.is_float() && from.len() == 1 {
            values.extend(roundings(dtype));
        }
        if from.len() > 2 && values.len() > 2 {
            values = values.into_iter().step_by(3).collect();
        }
        let extend = |tuple: &Vec<u64>, value: u64| [&tuple[..], &[value]].concat();
        tuples.iter().flat_map(|tuple| values.iter().map(move |&v| extend(tuple, v))).collect()
    })
}

fn samples(dtype: DType) -> Vec<u64> {
    let mut values: Vec<u64> = if dtype.is_float() {
        let numbers = [
            0.0,
            1.0,
            1.5,
            3.0,
            0.001,
            100.7,
            464.0,
            480.1,
            128.0,
            256.0,
            32767.9,
            65536.0,
            3e9,
            1e20,
            1e-30,
            f64::INFINITY,
        ];
        let signed = numbers.into_iter().flat_map(|value| [value, -value]);
        let mut bits: Vec<u64> = signed.map(|value| scalar::from_f64(dtype, value)).collect();
        // The least and a larger subnormal number.
        bits.extend([scalar::from_f64(dtype, f64::NAN), 1, 0x55]);
        bits
    } else {
        let top = 1u64 << (dtype.bits() - 1);
        let numbers = [
            0,
            1,
            2,
            3,
            7,
            8,
            15,
            16,
            17,
            31,
            32,
            33,
            63,
            64,
            100,
            127,
            128,
            200,
            255,
            1 << 16,
            1 << 32,
            (1 << 32) + 1,
            0x1234_5678_9abc_def0,
            top,
            top - 1,
            top + 1,
            u64::MAX,
            u64::MAX - 1,
            u64::MAX - 6,
        ];
        numbers.into_iter().map(|value| value & dtype.mask()).collect()
    };
    values.sort_unstable();
    values.dedup();
    values
}

/// More values for operations of one operand: halves, and the ends of integers.
fn roundings(dtype: DType) -> impl Iterator<Item = u64> {
    let numbers = [
        0.5,
        2.5,
        0.75,
        127.5,
        129.0,
        255.9,
        40000.0,
        65504.0,
        2f64.powi(31),
        2f64.powi(32) - 1.0,
        2f64.powi(63),
        2f64.powi(64),
    ];
    numbers
        .into_iter()
        .flat_map(|value| [value, -value])
        .map(move |value| scalar::from_f64(dtype, value))
}

/// Whether two results are equal, NaN being NaN, and floats off by no more than some units of the
/// last place.
fn equal(dtype: DType, got: u64, want: u64, units: f64) -> bool {
    if got == want || !dtype.is_float() {
        return got == want;
    }
    let (x, y) = (scalar::to_f64(dtype, got), scalar::to_f64(dtype, want));
    let digits = match dtype {
        DType::F16 => 10,
        DType::BF16 => 7,
        DType::F32 => 23,
        DType::F64 => 52,
        _ => 3,
    };
    let unit = y.abs() * 2f64.powi(-digits) + scalar::to_f64(dtype, 1);
    x.is_nan() && y.is_nan() || units > 0.0 && (x - y).abs() <= units * unit
}
