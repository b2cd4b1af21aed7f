//! An interpreter of PTX for the tests, of one thread, written from NVIDIA's manual.
//!
//! It shares nothing with the printer or with `scalar`. What the manual leaves open, such as division
//! by zero, gives a number that no test expects; registers are checked for their width. Addresses are
//! not followed: the n-th load yields the n-th operand, and the last store is the result.

use half::{bf16, f16};
use std::collections::BTreeMap;

/// What the manual leaves open.
const OPEN: u64 = 0x5bad_5bad_5bad_5bad;

/// One instruction, split at its marks.
struct Instruction {
    guard: Option<String>,
    name: Vec<String>,
    operands: Vec<String>,
}

/// A kernel's instructions, and in front of which of them labels stand.
pub(super) struct Kernel {
    instructions: Vec<Instruction>,
    labels: BTreeMap<String, usize>,
}

/// A type of PTX: its kind (`u`, `s`, `b`, `f`, or `B` for bfloat) and bits.
type Type = (char, u32);

fn ty(text: &str) -> Type {
    match text {
        "pred" => ('b', 1),
        "bf16" => ('B', 16),
        _ => (text.chars().next().unwrap(), text[1..].parse().unwrap()),
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn signed((kind, bits): Type, value: u64) -> i128 {
    let value = value & mask(bits);
    let negative = kind == 's' && value >> (bits - 1) & 1 == 1;
    i128::from(value) - if negative { 1 << bits } else { 0 }
}

fn load(of: Type, value: u64) -> f64 {
    match of {
        ('B', _) => bf16::from_bits(value as u16).to_f64(),
        (_, 16) => f16::from_bits(value as u16).to_f64(),
        (_, 32) => f64::from(f32::from_bits(value as u32)),
        _ => f64::from_bits(value),
    }
}

/// Rounds once to nearest even.
fn store(of: Type, value: f64) -> u64 {
    let (digits, least) = match of {
        ('B', _) => (8, -126),
        (_, 16) => (11, -14),
        (_, 32) => return u64::from((value as f32).to_bits()),
        _ => return value.to_bits(),
    };
    let mut rounded = value;
    if value.is_finite() && value != 0.0 {
        let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
        let unit = 2f64.powi(exponent - (digits - 1));
        rounded = (value / unit).round_ties_even() * unit;
    }
    // The narrow types hold it exactly, or it is infinite.
    let bits = if of.0 == 'B' {
        bf16::from_f64(rounded).to_bits()
    } else {
        f16::from_f64(rounded).to_bits()
    };
    u64::from(bits)
}

/// Rounds an f32 once more, from nearest to toward zero.
fn toward_zero(nearest: f32, too_far: bool) -> u64 {
    u64::from(nearest.to_bits()) - u64::from(too_far)
}

impl Kernel {
    pub(super) fn read(text: &str) -> Kernel {
        let body = text.split_once('{').unwrap().1;
        let (mut instructions, mut labels) = (Vec::new(), BTreeMap::new());
        for line in body.lines().map(str::trim).filter(|line| !line.starts_with(['.', '/'])) {
            if let Some(label) = line.strip_suffix(':') {
                labels.insert(label.into(), instructions.len());
            } else if line.ends_with(';') {
                instructions.push(Instruction::read(line));
            }
        }
        Kernel { instructions, labels }
    }

    pub(super) fn run(&self, operands: &[u64]) -> u64 {
        let mut machine = Machine { registers: BTreeMap::new(), loads: operands.iter(), stored: 0 };
        let mut at = 0;
        while let Some(instruction) = self.instructions.get(at) {
            at += 1;
            let taken = instruction.guard.as_ref().is_none_or(|guard| {
                let (register, holds) =
                    guard.strip_prefix('!').map_or((guard.as_str(), 1), |register| (register, 0));
                machine.registers[register] == holds
            });
            if !taken {
                continue;
            }
            match instruction.name[0].as_str() {
                "bra" => at = self.labels[&instruction.operands[0]],
                "ret" => break,
                _ => machine.step(instruction),
            }
        }
        machine.stored
    }
}

impl Instruction {
    fn read(line: &str) -> Instruction {
        let mut line = line.trim_end_matches(';');
        let mut guard = None;
        if let Some(rest) = line.strip_prefix('@') {
            let (register, rest) = rest.split_once(' ').unwrap();
            (guard, line) = (Some(register.into()), rest);
        }
        let (name, operands) = line.split_once(' ').unwrap_or((line, ""));
        Instruction {
            guard,
            name: name.split('.').map(Into::into).collect(),
            operands: operands.split(", ").map(Into::into).collect(),
        }
    }
}

struct Machine<'a> {
    registers: BTreeMap<String, u64>,
    loads: core::slice::Iter<'a, u64>,
    stored: u64,
}

impl Machine<'_> {
    fn operand(&self, text: &str) -> u64 {
        if text.starts_with('%') {
            return self.registers.get(text).copied().unwrap_or(OPEN);
        }
        if let Some(hex) =
            text.strip_prefix("0f").or(text.strip_prefix("0d")).or(text.strip_prefix("0x"))
        {
            return u64::from_str_radix(hex, 16).unwrap();
        }
        text.parse::<i128>().unwrap() as u64
    }

    fn write(&mut self, register: &str, value: u64) {
        let bits = match register {
            r if r.starts_with("%rs") => 16,
            r if r.starts_with("%rd") => 64,
            r if r.starts_with("%p") => 1,
            _ => 32,
        };
        self.registers.insert(register.into(), value & mask(bits));
    }

    /// Conversions of pairs of floats of eight bits.
    fn pair(&self, name: &[&str], operands: &[String]) -> Option<u64> {
        let kind = name.iter().find(|part| matches!(**part, "e4m3x2" | "e5m2x2"))?;
        let values = eighths(kind);
        match (name[1], name[2], operands) {
            ("rn", "f16x2", [x]) => {
                let x = self.operand(x);
                let half = |byte: u64| {
                    let (value, _) = values[byte as usize & 0x7f];
                    store(('f', 16), if byte & 0x80 == 0 { value } else { -value })
                };
                Some(half(x >> 8 & 0xff) << 16 | half(x & 0xff))
            }
            ("rn", "satfinite", [high, low]) => {
                let byte = |x: u64| {
                    let value = load(('f', 32), x);
                    if value.is_nan() {
                        return 0x7f;
                    }
                    // Of all numbers the nearest one, of two the even one.
                    let numbers = values.iter().filter(|(number, _)| number.is_finite());
                    let distance = |number: f64| (number - value.abs().min(1e9)).abs();
                    let nearest = numbers.min_by(|(x, i), (y, j)| {
                        distance(*x).total_cmp(&distance(*y)).then((i % 2).cmp(&(j % 2)))
                    });
                    nearest.unwrap().1 | u64::from(value.is_sign_negative()) << 7
                };
                Some(byte(self.operand(high)) << 8 | byte(self.operand(low)))
            }
            _ => panic!("{name:?}"),
        }
    }

    fn step(&mut self, Instruction { name, operands, .. }: &Instruction) {
        let name: Vec<&str> = name.iter().map(String::as_str).collect();
        let (op, last) = (name[0], name[name.len() - 1]);
        match (op, &operands[..]) {
            ("mov", [d, low, high]) if low.starts_with('{') => {
                let low = self.operand(low.trim_start_matches('{')) & mask(16);
                let high = self.operand(high.trim_end_matches('}')) & mask(16);
                return self.write(d, high << 16 | low);
            }
            ("mov", [low, high, x]) if low.starts_with('{') => {
                let x = self.operand(x);
                self.write(low.trim_start_matches('{'), x);
                return self.write(high.trim_end_matches('}'), x >> 16);
            }
            ("ld", [d, _]) if name[1] == "global" => {
                let &value = self.loads.next().unwrap();
                return self.write(d, value & mask(ty(last).1));
            }
            ("st", [_, x]) => {
                self.stored = self.operand(x) & mask(ty(last).1);
                return;
            }
            ("ld", [d, _]) => return self.write(d, 0),
            _ => {}
        }
        if let Some(value) = self.pair(&name, &operands[1..]) {
            return self.write(&operands[0], value);
        }
        if let ("cvt", Some(&"bf16x2"), [d, high, low]) = (op, name.get(2), &operands[..]) {
            let half = |x: &String| convert(&name, ('B', 16), ('f', 32), self.operand(x));
            let both = half(high) << 16 | half(low);
            return self.write(d, both);
        }
        let of = ty(last);
        let x: Vec<u64> = operands[1..].iter().map(|operand| self.operand(operand)).collect();
        let x: Vec<u64> = x
            .iter()
            .enumerate()
            .map(|(index, x)| match (op, index) {
                // A count has 32 bits; a choice is a predicate.
                ("shl" | "shr", 1) => x & mask(32),
                ("selp", 2) => x & 1,
                _ => x & mask(of.1),
            })
            .collect();
        let value = match op {
            "cvt" => convert(&name, ty(name[name.len() - 2]), of, x[0]),
            "setp" => u64::from(compare(name[1], of, x[0], x[1])),
            "selp" => x[usize::from(x[2] != 1)],
            _ if matches!(of.0, 'f' | 'B') => float(&name, of, &x),
            _ => integer(&name, of, &x),
        };
        self.write(&operands[0], value);
    }
}

fn integer(name: &[&str], of: Type, x: &[u64]) -> u64 {
    let s: Vec<i128> = x.iter().map(|&x| signed(of, x)).collect();
    let bits = of.1;
    (match name[0] {
        "mov" => s[0],
        "not" => !s[0],
        "neg" => -s[0],
        "abs" => s[0].abs(),
        "add" => s[0] + s[1],
        "sub" => s[0] - s[1],
        "prmt" => {
            // The manual's table: bytes of {b, a}, chosen by the nibbles of c, msb replicates a sign.
            let all = [x[0] as u32, x[1] as u32].map(u32::to_le_bytes).concat();
            let choose = |index: usize| {
                let nibble = (x[2] >> (4 * index)) as usize & 0xf;
                let byte = all[nibble % 8];
                if nibble & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 }
            };
            return u32::from_le_bytes([0, 1, 2, 3].map(choose)).into();
        }
        "mul" if name[1] == "hi" && of.0 == 's' => (s[0] * s[1]) >> bits,
        "mul" if name[1] == "hi" => {
            assert_eq!(of.0, 'u');
            return ((u128::from(x[0]) * u128::from(x[1])) >> bits) as u64;
        }
        "mul" if name[1] == "wide" => return (s[0] * s[1]) as u64,
        "mul" => s[0].wrapping_mul(s[1]),
        "mad" => s[0].wrapping_mul(s[1]).wrapping_add(s[2]),
        "and" => s[0] & s[1],
        "or" => s[0] | s[1],
        "xor" => s[0] ^ s[1],
        "min" => s[0].min(s[1]),
        "max" => s[0].max(s[1]),
        "shl" => s[0] << x[1].min(u64::from(bits)),
        "shr" => s[0] >> x[1].min(u64::from(bits)),
        "div" | "rem" if s[1] == 0 => return OPEN,
        "div" => s[0] / s[1],
        "rem" => s[0] % s[1],
        other => panic!("{other} of integers"),
    }) as u64
        & mask(bits)
}

fn float(name: &[&str], of: Type, x: &[u64]) -> u64 {
    let v: Vec<f64> = x.iter().map(|&x| load(of, x)).collect();
    // With two operands: NaN gives the other, or itself; a negative zero is the smaller.
    let extreme = |smaller: bool| {
        if v[0].is_nan() || v[1].is_nan() {
            let nan = name[1] == "NaN" || v[1].is_nan() == v[0].is_nan();
            return if nan {
                f64::NAN
            } else if v[0].is_nan() {
                v[1]
            } else {
                v[0]
            };
        }
        let first = v[0].total_cmp(&v[1]).is_lt() == smaller;
        if first { v[0] } else { v[1] }
    };
    let normal = |x: f64| if x.abs() < f64::from(f32::MIN_POSITIVE) { 0f64.copysign(x) } else { x };
    let value = match name[0] {
        "neg" => -v[0],
        "abs" => v[0].abs(),
        "add" if name[1] == "rz" => {
            // Of singles that are not too far apart the double is exact.
            let (sum, nearest) = (v[0] + v[1], (v[0] + v[1]) as f32);
            return toward_zero(nearest, f64::from(nearest.abs()) > sum.abs());
        }
        "add" => v[0] + v[1],
        "sub" => v[0] - v[1],
        "mul" => v[0] * v[1],
        "div" => v[0] / v[1],
        "fma" => libm::fma(v[0], v[1], v[2]),
        "min" => extreme(true),
        "max" => extreme(false),
        "sqrt" => libm::sqrt(v[0]),
        "rsqrt" => 1.0 / libm::sqrt(v[0]),
        "rcp" if name.contains(&"ftz") => normal(1.0 / normal(v[0])),
        "rcp" => 1.0 / v[0],
        "ex2" if name.contains(&"ftz") => normal(libm::exp2(v[0])),
        "ex2" => libm::exp2(v[0]),
        "lg2" => libm::log2(v[0]),
        "tanh" => libm::tanh(v[0]),
        "sin" => libm::sin(v[0]),
        "cos" => libm::cos(v[0]),
        other => panic!("{other} of floats"),
    };
    store(of, value)
}

fn compare(name: &str, of: Type, x: u64, y: u64) -> bool {
    if !matches!(of.0, 'f' | 'B') {
        let (x, y) = (signed(of, x), signed(of, y));
        return match name {
            "eq" => x == y,
            "ne" => x != y,
            "lt" => x < y,
            "le" => x <= y,
            "gt" => x > y,
            "ge" => x >= y,
            other => panic!("{other} of integers"),
        };
    }
    let (x, y) = (load(of, x), load(of, y));
    let unordered = x.is_nan() || y.is_nan();
    match name {
        "num" => !unordered,
        "nan" => unordered,
        _ if unordered => name.ends_with('u'),
        "eq" | "equ" => x == y,
        "ne" | "neu" => x != y,
        "lt" | "ltu" => x < y,
        "le" | "leu" => x <= y,
        "gt" | "gtu" => x > y,
        _ => x >= y,
    }
}

fn convert(name: &[&str], to: Type, from: Type, x: u64) -> u64 {
    let is_float = |of: Type| matches!(of.0, 'f' | 'B');
    let rounding = name[1];
    match (is_float(from), is_float(to)) {
        // A narrower result is extended by its own sign into the register.
        (false, false) => signed(to, signed(from, x) as u64) as u64,
        (false, true) => {
            let value = signed(from, x);
            match (rounding, to) {
                ("rz", ('f', 32)) => {
                    let nearest = value as f32;
                    // Compared beyond 2^64 as an integer, which the float then is.
                    toward_zero(nearest, (nearest.abs() as u128) > value.unsigned_abs())
                }
                ("rn", ('f', 32)) => u64::from((value as f32).to_bits()),
                ("rn", ('f', 64)) => (value as f64).to_bits(),
                // Infinite above 17 bits: the double on the way is exact where it matters.
                ("rn", ('f', 16)) => store(to, value as f64),
                _ => panic!("{name:?}"),
            }
        }
        (true, false) => {
            let value = load(from, x);
            let value = match rounding {
                "rzi" => value,
                "rni" => value.round_ties_even(),
                "rmi" => value.floor(),
                "rpi" => value.ceil(),
                _ => panic!("{name:?}"),
            };
            if value.is_nan() {
                let zero = from.1 != 64 && to.1 != 64;
                return if zero { 0 } else { 1 << (to.1 - 1) };
            }
            let (least, most) = if to.0 == 's' {
                (-(1i128 << (to.1 - 1)), (1i128 << (to.1 - 1)) - 1)
            } else {
                (0, (1i128 << to.1) - 1)
            };
            (value as i128).clamp(least, most) as u64 & mask(to.1)
        }
        (true, true) => {
            let value = load(from, x);
            match rounding {
                "rmi" => store(to, value.floor()),
                "rpi" => store(to, value.ceil()),
                "rzi" => store(to, value.trunc()),
                "rni" => store(to, value.round_ties_even()),
                "rn" => store(to, value),
                "rz" if to.1 == 16 => {
                    let nearest = store(to, value);
                    nearest - u64::from(load(to, nearest).abs() > value.abs())
                }
                "rz" => {
                    let nearest = value as f32;
                    toward_zero(nearest, f64::from(nearest.abs()) > value.abs())
                }
                // A wider type holds it exactly.
                _ => {
                    assert!(to.1 > from.1, "{name:?}");
                    store(to, value)
                }
            }
        }
    }
}

/// The non-negative numbers of a float of eight bits, with their bits, from the formats' definition.
fn eighths(kind: &str) -> Vec<(f64, u64)> {
    let (mantissa, bias) = if kind == "e4m3x2" { (3, 7) } else { (2, 15) };
    let number = |bits: u64| {
        let (exponent, fraction) = (bits >> mantissa, (bits & ((1 << mantissa) - 1)) as f64);
        let fraction = fraction / f64::from(1 << mantissa);
        match (kind, exponent) {
            ("e4m3x2", _) if bits == 0x7f => f64::NAN,
            ("e5m2x2", 31) => {
                if fraction == 0.0 {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            (_, 0) => fraction * 2f64.powi(1 - bias),
            _ => (1.0 + fraction) * 2f64.powi(exponent as i32 - bias),
        }
    };
    (0..0x80).map(|bits| (number(bits), bits)).collect()
}
