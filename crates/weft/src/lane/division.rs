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
//! widened n / widened d = widened (n / d)      where n is not negative, so that no quotient is too large
//! ```
//!
//! The formulae are written once, for an [`Arithmetic`] that may be the builder of a program or plain numbers
//! of any width: tests go through all numerators and divisors of 8 bits.

use super::{Builder, Value};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast};

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

impl Builder {
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
            Binary::DivS | Binary::DivU => return self.narrow_quotient(op, n, d),
            Binary::RemS => Binary::DivS,
            Binary::RemU => Binary::DivU,
            _ => return None,
        };
        // By zero, the quotient is -1 and the rest the numerator.
        let whole = self.binary(quotient, n, d);
        let product = self.binary(Binary::Mul, whole, d);
        Some(self.binary(Binary::Sub, n, product))
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
    use super::{Arithmetic, multiplier, rest, signed, signed_rest_of_power, unsigned};
    use crate::dtype::DType;
    use crate::scalar::{self, Binary};

    /// Plain integers of 8, 32 or 64 bits.
    struct Numbers(DType);

    impl Arithmetic for Numbers {
        type Number = u64;

        fn width(&self) -> u32 {
            self.0.bits()
        }

        fn constant(&mut self, bits: u64) -> u64 {
            bits & self.0.mask()
        }

        fn binary(&mut self, op: Binary, x: u64, y: u64) -> u64 {
            assert!(!matches!(op, Binary::DivS | Binary::DivU), "no division is left");
            scalar::binary(op, self.0).unwrap()(x, y)
        }
    }

    fn check_unsigned(dtype: DType, n: u64, d: u64, most: u64) {
        let q = unsigned(&mut Numbers(dtype), n, d, most);
        assert_eq!(q, n / d, "{n} / {d}, at most {most}");
        assert_eq!(rest(&mut Numbers(dtype), n, q, d), n % d);
    }

    fn check_signed(dtype: DType, n: u64, d: u64) {
        let q = signed(&mut Numbers(dtype), n, d);
        assert_eq!(q, scalar::binary(Binary::DivS, dtype).unwrap()(n, d), "{n} / {d}");
        let r = scalar::binary(Binary::RemS, dtype).unwrap()(n, d);
        assert_eq!(rest(&mut Numbers(dtype), n, q, d), r, "{n} % {d}");
        if d.is_power_of_two() {
            assert_eq!(signed_rest_of_power(&mut Numbers(dtype), n, d), r, "{n} % {d}");
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
                if d <= mask / 2 {
                    check_signed(dtype, n, d);
                    let negative = n.wrapping_neg() & mask;
                    check_signed(dtype, negative, d);
                }
            }
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
