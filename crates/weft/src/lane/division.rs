//! Quotients and remainders by constants, as products.
//!
//! For a divisor `d` and numerators up to `most`, `floor(n / d) = floor(n m / 2^k)` where
//! `m = ceil(2^k / d)` and `(m d - 2^k) most < 2^k`: T. Granlund and P. L. Montgomery, *Division by
//! Invariant Integers using Multiplication* (1994), theorem 4.2. The upper half of a product is one
//! instruction, so `k` is the width and a shift. The less is known to be in the numerator, the smaller the
//! product; the fewer bits it has, the more often no shift is left.
//!
//! ```text
//! unsigned            q = mulhi_u(n, m) >> s
//! its m too wide      t = mulhi_u(n, m - 2^w);  q = (((n - t) >> 1) + t) >> (s - 1)
//! signed              q = (mulhi_s(n, m) [+ n]) >> s, and one more below zero
//! n / 2^k, signed     q = (n + (2^k - 1 where n < 0)) >> k
//! remainder           n - q d, which shares q
//! (n / a) / b         n / (a b)
//! ```
//!
//! By any divisor:
//!
//! ```text
//! remainder           n - (n / d) d, which shares the quotient
//! (n % d) % d = n % d
//! widened n / widened d = widened (n / d)      where n is not negative, so that no quotient is too large
//! widened n / d = ±(|n| / min(|d|, 2^w - 1))   in the w bits of n: the quotient by any larger divisor is zero, too
//! ```
//!
//! The last one is for sizes of axes that a run tells in 64 bits, by which indices of 32 bits are taken apart: a quotient
//! of 64 bits takes NVIDIA's GPUs some seventy instructions, one of 32 bits ten, of which equal divisors share half.
//!
//! The formulae are written once, for an [`Arithmetic`] that may be the builder of a program or plain numbers
//! of any width: tests go through all numerators and divisors of 8 bits.

use super::{Builder, Op, Value};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare};
use smallvec::smallvec;

/// Integers of one width, and what is computed with them.
pub(super) trait Arithmetic {
    /// What an integer is: its bits, or a value of a program.
    type Number: Copy;

    /// The bits of a number.
    fn width(&self) -> u32;

    /// A constant, of which the bits above the width are left out.
    fn constant(&mut self, bits: u64) -> Self::Number;

    /// The result of an operation on two numbers.
    fn binary(&mut self, op: Binary, x: Self::Number, y: Self::Number) -> Self::Number;

    /// An operation with a constant.
    fn with(&mut self, op: Binary, x: Self::Number, bits: u64) -> Self::Number {
        let y = self.constant(bits);
        self.binary(op, x, y)
    }
}

/// The same, and integers of half the width.
pub(super) trait Halves: Arithmetic {
    /// The lower half of a number.
    fn half(&mut self, x: Self::Number) -> Self::Number;

    /// A half as a number, with its sign or without.
    fn widened(&mut self, cast: Cast, x: Self::Number) -> Self::Number;

    /// One number where a divisor is zero, and another one elsewhere.
    fn by_zero(
        &mut self,
        divisor: Self::Number,
        zero: Self::Number,
        other: Self::Number,
    ) -> Self::Number;
}

/// `floor(n / d)` for unsigned n up to `most` and `d` from 2 to less than 2^63.
pub(super) fn unsigned<M: Arithmetic>(
    numbers: &mut M,
    n: M::Number,
    d: u64,
    most: u64,
) -> M::Number {
    let width = numbers.width();
    if most < d {
        return numbers.constant(0);
    }
    if d.is_power_of_two() {
        return numbers.with(Binary::ShrU, n, d.trailing_zeros().into());
    }
    if let Some((multiplier, shift)) = multiplier(width, d, most) {
        let high = numbers.with(Binary::MulHiU, n, multiplier);
        return numbers.with(Binary::ShrU, high, shift.into());
    }
    // Twos leave the divisor first, which leaves a smaller numerator.
    let twos = d.trailing_zeros();
    if twos > 0 {
        let half = numbers.with(Binary::ShrU, n, twos.into());
        return unsigned(numbers, half, d >> twos, most >> twos);
    }
    // One bit more than the width: 2^(width + shift) / d, rounded up, less 2^width.
    let shift = d.ilog2() + 1;
    let whole = (1u128 << (width + shift)).div_ceil(d.into());
    let high = numbers.with(Binary::MulHiU, n, (whole - (1 << width)) as u64);
    let rest = numbers.binary(Binary::Sub, n, high);
    let half = numbers.with(Binary::ShrU, rest, 1);
    let sum = numbers.binary(Binary::Add, half, high);
    numbers.with(Binary::ShrU, sum, (shift - 1).into())
}

/// The least shift with a multiplier of no more bits than the width.
fn multiplier(width: u32, d: u64, most: u64) -> Option<(u64, u32)> {
    (0..width).find_map(|shift| {
        let power = 1u128 << (width + shift);
        let multiplier = power.div_ceil(d.into());
        let excess = multiplier * u128::from(d) - power;
        let holds = excess.checked_mul(most.into()).is_some_and(|error| error < power);
        (holds && multiplier >> width == 0).then_some((multiplier as u64, shift))
    })
}

/// `n / d` toward zero for any signed n and `d` from 2 to half of the unsigned numbers.
pub(super) fn signed<M: Arithmetic>(numbers: &mut M, n: M::Number, d: u64) -> M::Number {
    let width = numbers.width();
    if d.is_power_of_two() {
        let twos = d.trailing_zeros();
        let biased = biased(numbers, n, twos);
        return numbers.with(Binary::ShrS, biased, twos.into());
    }
    // Magnitudes are at most half of the unsigned numbers, so a multiplier of the width is found.
    let Some((multiplier, shift)) = multiplier(width, d, 1 << (width - 1)) else {
        let d = numbers.constant(d);
        return numbers.binary(Binary::DivS, n, d);
    };
    let mut high = numbers.with(Binary::MulHiS, n, multiplier);
    if multiplier >> (width - 1) == 1 {
        // As a signed number it is too small by 2^width.
        high = numbers.binary(Binary::Add, high, n);
    }
    let down = numbers.with(Binary::ShrS, high, shift.into());
    let below_zero = numbers.with(Binary::ShrU, n, (width - 1).into());
    numbers.binary(Binary::Add, down, below_zero)
}

/// `n`, with `2^twos - 1` added where it is negative.
fn biased<M: Arithmetic>(numbers: &mut M, n: M::Number, twos: u32) -> M::Number {
    let width = numbers.width();
    let sign = if twos == 1 { n } else { numbers.with(Binary::ShrS, n, (width - 1).into()) };
    let bias = numbers.with(Binary::ShrU, sign, (width - twos).into());
    numbers.binary(Binary::Add, n, bias)
}

/// The rest of `n` above a quotient by `d`.
pub(super) fn rest<M: Arithmetic>(
    numbers: &mut M,
    n: M::Number,
    q: M::Number,
    d: u64,
) -> M::Number {
    let product = numbers.with(Binary::Mul, q, d);
    numbers.binary(Binary::Sub, n, product)
}

/// The remainder of a signed n by a power of two, with the sign of n.
fn signed_rest_of_power<M: Arithmetic>(numbers: &mut M, n: M::Number, d: u64) -> M::Number {
    let biased = biased(numbers, n, d.trailing_zeros());
    let whole = numbers.with(Binary::And, biased, d.wrapping_neg());
    numbers.binary(Binary::Sub, n, whole)
}

/// A number or its negative, where `sign` is zero or all ones.
fn with_sign<M: Arithmetic>(numbers: &mut M, x: M::Number, sign: M::Number) -> M::Number {
    let turned = numbers.binary(Binary::Xor, x, sign);
    numbers.binary(Binary::Sub, turned, sign)
}

/// A quotient or remainder of which `n` is a widened half, with its sign; `natural` says that it is not negative, which
/// that of unsigned numbers must not be.
pub(super) fn of_half<M: Halves>(
    numbers: &mut M,
    op: Binary,
    n: M::Number,
    d: M::Number,
    natural: bool,
) -> M::Number {
    let half = numbers.width() / 2;
    let is_signed = matches!(op, Binary::DivS | Binary::RemS);
    let (mut divisor, mut sign) = (d, None);
    if is_signed {
        let of_d = numbers.with(Binary::ShrS, d, (2 * half - 1).into());
        divisor = with_sign(numbers, d, of_d);
        sign = Some(numbers.half(of_d));
    }
    let divisor = numbers.with(Binary::MinU, divisor, (1 << half) - 1);
    let divisor = numbers.half(divisor);
    let mut magnitude = numbers.half(n);
    let mut of_n = None;
    if !natural {
        let below = numbers.with(Binary::ShrS, n, (2 * half - 1).into());
        let below = numbers.half(below);
        magnitude = with_sign(numbers, magnitude, below);
        of_n = Some(below);
    }
    let whole = numbers.binary(Binary::DivU, magnitude, divisor);
    if matches!(op, Binary::RemS | Binary::RemU) {
        // By zero, the numerator.
        let product = numbers.binary(Binary::Mul, whole, divisor);
        let rest = numbers.binary(Binary::Sub, magnitude, product);
        return match of_n {
            None => numbers.widened(Cast::ExtU, rest),
            Some(below) => {
                let rest = with_sign(numbers, rest, below);
                numbers.widened(Cast::ExtS, rest)
            }
        };
    }
    match (sign, of_n) {
        // By zero, the half and what it is widened to are -1.
        (None, _) => numbers.widened(Cast::ExtS, whole),
        (Some(sign), None) => {
            let whole = with_sign(numbers, whole, sign);
            numbers.widened(Cast::ExtS, whole)
        }
        // That of the least half by -1 is no half.
        (Some(sign), Some(below)) => {
            let sign = numbers.binary(Binary::Xor, sign, below);
            let sign = numbers.widened(Cast::ExtS, sign);
            let whole = numbers.widened(Cast::ExtU, whole);
            let whole = with_sign(numbers, whole, sign);
            let zero = numbers.constant(u64::MAX);
            numbers.by_zero(d, zero, whole)
        }
    }
}

/// A program of integers of one type.
struct Writing<'b> {
    build: &'b mut Builder,
    like: Value,
}

impl Arithmetic for Writing<'_> {
    type Number = Value;

    fn width(&self) -> u32 {
        self.build.dtype(self.like).bits()
    }

    fn constant(&mut self, bits: u64) -> Value {
        self.build.constant(self.build.dtype(self.like), bits)
    }

    fn binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        self.build.binary(op, x, y)
    }
}

impl Halves for Writing<'_> {
    fn half(&mut self, x: Value) -> Value {
        self.build.cast(Cast::Trunc, x, DType::I32)
    }

    fn widened(&mut self, cast: Cast, x: Value) -> Value {
        self.build.cast(cast, x, DType::I64)
    }

    fn by_zero(&mut self, divisor: Value, zero: Value, other: Value) -> Value {
        let none = self.constant(0);
        let by_zero = self.build.compare(Compare::Eq, divisor, none);
        self.build.select(by_zero, zero, other)
    }
}

impl Builder {
    /// A quotient or remainder of integers of 64 bits, the first of which is known to be one of 32 bits, and if `most` says
    /// so to lie between zero and that.
    pub fn division_of_half(&mut self, op: Binary, n: Value, d: Value, most: Option<u64>) -> Value {
        let is_signed = matches!(op, Binary::DivS | Binary::RemS);
        let natural = most.is_some();
        if !is_signed && !natural {
            return self.binary(op, n, d);
        }
        let Some(bits) = self.constant_bits(d) else {
            if self.is_remainder(op, n, d) {
                return n;
            }
            let part = of_half(&mut Writing { build: self, like: n }, op, n, d, natural);
            if matches!(op, Binary::RemS | Binary::RemU) {
                self.remainders.insert(part, (op, d));
            }
            return part;
        };
        if !(1..=i32::MAX as u64).contains(&bits) {
            return self.binary(op, n, d);
        }
        let [n, d] = [n, d].map(|x| self.cast(Cast::Trunc, x, DType::I32));
        let (part, cast) = match most {
            Some(most) => (self.natural_division(op, n, d, most), Cast::ExtU),
            None => (self.binary(op, n, d), Cast::ExtS),
        };
        self.cast(cast, part, DType::I64)
    }

    /// A quotient or remainder of integers, of which `n` is known to lie between zero and `most`, if that
    /// is known; `None` where the divisor is no constant that products replace.
    pub(super) fn divided(
        &mut self,
        op: Binary,
        n: Value,
        divisor: Value,
        most: Option<u64>,
    ) -> Option<Value> {
        let dtype = self.dtype(n);
        let wide_enough = dtype.is_int() && matches!(dtype.bits(), 32 | 64);
        // Divisors of all 64 bits are left to the hardware.
        let d = self.constant_bits(divisor).filter(|&d| wide_enough && d > 1)?;
        if !matches!(op, Binary::DivS | Binary::RemS) && d >> 63 == 1 {
            return None;
        }
        let possible = self.possible_bits(n);
        let most = most.map_or(possible, |most| most.min(possible));
        let sign = 1 << (dtype.bits() - 1);
        let natural = most < sign && d < sign;
        let is_signed = matches!(op, Binary::DivS | Binary::RemS) && !natural;
        let quotient = matches!(op, Binary::DivS | Binary::DivU);
        if !is_signed {
            if !quotient && d.is_power_of_two() {
                let mask = self.constant(dtype, d - 1);
                return Some(self.binary(Binary::And, n, mask));
            }
            let whole = self.natural_quotient(n, d, most);
            return Some(if quotient {
                whole
            } else {
                rest(&mut Writing { build: self, like: n }, n, whole, d)
            });
        }
        let negative = d & sign != 0;
        let magnitude = if negative { d.wrapping_neg() & dtype.mask() } else { d };
        // The least integer has no magnitude, and of -1 it is one bit too many.
        if magnitude == sign || magnitude == 1 {
            return None;
        }
        let mut writing = Writing { build: self, like: n };
        if !quotient && magnitude.is_power_of_two() {
            return Some(signed_rest_of_power(&mut writing, n, magnitude));
        }
        let whole = signed(&mut writing, n, magnitude);
        Some(match (quotient, negative) {
            (true, false) => whole,
            (true, true) => {
                let zero = writing.constant(0);
                writing.binary(Binary::Sub, zero, whole)
            }
            (false, _) => rest(&mut writing, n, whole, magnitude),
        })
    }

    /// A quotient or remainder by a divisor that is no constant.
    pub(super) fn divided_by_any(&mut self, op: Binary, n: Value, d: Value) -> Option<Value> {
        let dtype = self.dtype(n);
        if !matches!(dtype, DType::I32 | DType::I64) {
            return None;
        }
        let quotient = match op {
            Binary::DivS | Binary::DivU => {
                let narrow = self.narrow_quotient(op, n, d);
                return narrow.or_else(|| self.widened_division(op, n, d));
            }
            Binary::RemS => Binary::DivS,
            Binary::RemU => Binary::DivU,
            _ => return None,
        };
        if self.is_remainder(op, n, d) {
            return Some(n);
        }
        let rest = self.widened_division(op, n, d).unwrap_or_else(|| {
            // By zero, the quotient is -1 and the rest the numerator.
            let whole = self.binary(quotient, n, d);
            let product = self.binary(Binary::Mul, whole, d);
            self.binary(Binary::Sub, n, product)
        });
        self.remainders.insert(rest, (op, d));
        Some(rest)
    }

    /// A remainder as one operation, which shares no quotient.
    pub fn remainder(&mut self, op: Binary, n: Value, d: Value) -> Value {
        let rest = self.pure(Op::Binary(op), smallvec![n, d], self.dtype(n));
        self.remainders.insert(rest, (op, d));
        rest
    }

    /// Whether an operation gives a remainder by a divisor of what is one already.
    fn is_remainder(&self, op: Binary, n: Value, d: Value) -> bool {
        self.remainders.get(&n) == Some(&(op, d))
    }

    /// A quotient of 64 bits that one of 32 bits gives.
    fn narrow_quotient(&mut self, op: Binary, n: Value, d: Value) -> Option<Value> {
        let is_natural = |build: &Self, value| build.possible_bits(value) >> 31 == 0;
        if self.dtype(n) != DType::I64 || !is_natural(self, n) {
            return None;
        }
        let signed = self.operand_of(d, Cast::ExtS).filter(|&of| self.dtype(of) == DType::I32);
        let d = match signed.filter(|_| op == Binary::DivS) {
            Some(half) => half,
            None if is_natural(self, d) => self.cast(Cast::Trunc, d, DType::I32),
            None => return None,
        };
        let n = self.cast(Cast::Trunc, n, DType::I32);
        let whole = self.binary(Binary::DivS, n, d);
        Some(self.cast(Cast::ExtS, whole, DType::I64))
    }

    /// A quotient or remainder of 64 bits of a widened number by one that may have more bits.
    fn widened_division(&mut self, op: Binary, n: Value, d: Value) -> Option<Value> {
        let is_half = |build: &Self, value, cast| {
            build.operand_of(value, cast).is_some_and(|of| build.dtype(of) == DType::I32)
        };
        let natural = self.possible_bits(n) >> 31 == 0;
        let is_signed = matches!(op, Binary::DivS | Binary::RemS);
        let short = self.dtype(n) == DType::I64
            && (natural || is_signed && is_half(self, n, Cast::ExtS))
            // Of two halves the quotient is one of 32 bits anyway.
            && self.possible_bits(d) >> 31 != 0
            && !is_half(self, d, Cast::ExtS);
        short.then(|| of_half(&mut Writing { build: self, like: n }, op, n, d, natural))
    }

    /// An unsigned quotient; that of a quotient is one by the product of both divisors.
    fn natural_quotient(&mut self, n: Value, d: u64, most: u64) -> Value {
        let (n, d, most) = match self.quotients.get(&n) {
            Some(of) => match of.divisor.checked_mul(d) {
                Some(product) if product <= self.dtype(n).mask() => {
                    (of.numerator, product, of.most)
                }
                _ => (n, d, most),
            },
            None => (n, d, most),
        };
        let whole = unsigned(&mut Writing { build: self, like: n }, n, d, most);
        self.quotients.insert(whole, Quotient { numerator: n, divisor: d, most });
        whole
    }
}

/// What a value is the unsigned quotient of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotient {
    numerator: Value,
    divisor: u64,
    /// The most that the numerator may be.
    most: u64,
}

#[cfg(test)]
mod tests {
    use super::{
        Arithmetic, Halves, multiplier, of_half, rest, signed, signed_rest_of_power, unsigned,
    };
    use crate::dtype::DType;
    use crate::lane::{Builder, Param};
    use crate::scalar::{self, Binary, Cast};

    /// Plain integers of 8, 16, 32 or 64 bits.
    struct Numbers(DType);

    /// The bits of an integer, and its type.
    type Number = (u64, DType);

    impl Arithmetic for Numbers {
        type Number = Number;

        fn width(&self) -> u32 {
            self.0.bits()
        }

        fn constant(&mut self, bits: u64) -> Number {
            (bits & self.0.mask(), self.0)
        }

        fn binary(&mut self, op: Binary, (x, dtype): Number, (y, _): Number) -> Number {
            let is_half = dtype != self.0;
            assert!(is_half || !matches!(op, Binary::DivS | Binary::DivU), "no division is left");
            (scalar::binary(op, dtype).unwrap()(x, y & dtype.mask()), dtype)
        }
    }

    impl Numbers {
        fn of_half(&self) -> DType {
            match self.0 {
                DType::I16 => DType::I8,
                _ => DType::I32,
            }
        }
    }

    impl Halves for Numbers {
        fn half(&mut self, (x, _): Number) -> Number {
            let half = self.of_half();
            (x & half.mask(), half)
        }

        fn widened(&mut self, cast: Cast, (x, dtype): Number) -> Number {
            (scalar::cast(cast, dtype, self.0, x), self.0)
        }

        fn by_zero(&mut self, (d, _): Number, zero: Number, other: Number) -> Number {
            if d == 0 { zero } else { other }
        }
    }

    fn check_unsigned(dtype: DType, n: u64, d: u64, most: u64) {
        let q = unsigned(&mut Numbers(dtype), (n, dtype), d, most);
        assert_eq!(q.0, n / d, "{n} / {d}, at most {most}");
        assert_eq!(rest(&mut Numbers(dtype), (n, dtype), q, d).0, n % d);
    }

    fn check_signed(dtype: DType, n: u64, d: u64) {
        let number = (n, dtype);
        let q = signed(&mut Numbers(dtype), number, d);
        assert_eq!(q.0, scalar::binary(Binary::DivS, dtype).unwrap()(n, d), "{n} / {d}");
        let r = scalar::binary(Binary::RemS, dtype).unwrap()(n, d);
        assert_eq!(rest(&mut Numbers(dtype), number, q, d).0, r, "{n} % {d}");
        if d.is_power_of_two() {
            assert_eq!(signed_rest_of_power(&mut Numbers(dtype), number, d).0, r, "{n} % {d}");
        }
    }

    /// A half, with its sign, by any number; where it is not negative as such too, and without signs.
    fn check_half(dtype: DType, half: i64, d: u64) {
        let (n, bits) = (half as u64 & dtype.mask(), dtype.bits() / 2);
        let check = |op, natural| {
            let found = of_half(&mut Numbers(dtype), op, (n, dtype), (d, dtype), natural);
            let expected = scalar::binary(op, dtype).unwrap()(n, d);
            assert_eq!(found.0, expected, "{op:?} of {n} and {d} with {bits} bits, {natural}");
        };
        for op in [Binary::DivS, Binary::RemS] {
            check(op, false);
        }
        if half >= 0 {
            for op in [Binary::DivS, Binary::RemS, Binary::DivU, Binary::RemU] {
                check(op, true);
            }
        }
    }

    #[test]
    fn all_quotients_of_eight_bits_by_sixteen() {
        for d in 0..1 << 16 {
            for half in -128..128 {
                check_half(DType::I16, half, d);
            }
        }
    }

    #[test]
    fn all_quotients_of_eight_bits() {
        for d in 2..256 {
            for n in 0..256 {
                for most in (0..8).map(|bits| (2u64 << bits) - 1).filter(|&most| most >= n) {
                    check_unsigned(DType::I8, n, d, most);
                }
                check_unsigned(DType::I8, n, d, n);
                if d < 128 {
                    check_signed(DType::I8, n, d);
                }
            }
        }
    }

    /// Ten million with `WEFT_LONG`, some otherwise: both numbers of all magnitudes, and those beside
    /// multiples of the divisor and beside the ends.
    #[test]
    fn many_quotients_of_more_bits() {
        let count = if std::env::var_os("WEFT_LONG").is_some() { 10_000_000 } else { 100_000 };
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for dtype in [DType::I32, DType::I64] {
            let (mask, bits) = (dtype.mask(), u64::from(dtype.bits()));
            for _ in 0..count {
                let d = ((random() & mask & (u64::MAX >> 1)) >> (random() % bits)).max(2);
                let n = (random() & mask) >> (random() % bits);
                let multiple = n / d * d;
                let near =
                    [n, multiple, multiple.saturating_sub(1), mask - n % 4, mask / 2 + n % 3];
                let n = near[(random() % 5) as usize] & mask;
                let most = if random() % 2 == 0 { mask } else { n | (mask >> (random() % bits)) };
                check_unsigned(dtype, n, d, most);
                if dtype == DType::I64 {
                    let half = i64::from((n >> (random() % 33)) as i32);
                    check_half(dtype, half, d.wrapping_mul((random() % 3).wrapping_sub(1)));
                    check_half(dtype, half, n >> 31);
                }
                if d <= mask / 2 {
                    check_signed(dtype, n, d);
                    let negative = n.wrapping_neg() & mask;
                    check_signed(dtype, negative, d);
                }
            }
        }
    }

    #[test]
    fn a_remainder_is_its_own_remainder() {
        for dtype in [DType::I32, DType::I64] {
            let mut build = Builder::new("remainders", 1, 5);
            let [n, d] = ["n", "d"].map(|name| {
                build.param(Param { name: name.into(), dtype, pointee: None, divisibility: 1 })
            });
            for op in [Binary::RemS, Binary::RemU] {
                let rest = build.binary(op, n, d);
                assert_eq!(build.binary(op, rest, d), rest);
                assert_ne!(build.binary(op, rest, n), rest);
            }
            let whole = build.binary(Binary::DivS, n, d);
            assert_ne!(build.binary(Binary::DivS, whole, d), whole);
            assert_ne!(build.binary(Binary::RemS, whole, d), whole);
        }
    }

    #[test]
    fn what_is_not_negative_takes_a_product_and_a_shift() {
        // Any divisor of 31 bits, where the numerator has as many.
        for d in [3, 5, 6, 7, 10, 12, 197, 641, 768, 1000, 50_257, 0x7fff_ffff] {
            assert!(multiplier(32, d, 0x7fff_ffff).is_some(), "{d}");
        }
    }
}
