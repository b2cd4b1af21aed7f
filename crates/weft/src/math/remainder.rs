//! The remainder of floats, exactly.

use super::Writer;
use crate::dtype::DType;
use crate::lane::Value;
use crate::scalar::{Binary, Cast, Compare, Unary};

/// How many bits a step goes down: a remainder of 24 bits and these are exact in f64.
const BITS: u64 = 29;
/// Enough steps for the exponents of f32: 277 bits.
const STEPS: u64 = 10;

impl Writer<'_> {
    /// `x - trunc(x / y) * y` for what were f32.
    ///
    /// With `x = a 2^i` and `y = b 2^j`, a and b whole numbers of 24 bits, the remainder is
    /// `(a 2^(i - j) mod b) 2^j`.
    pub(super) fn rem(&mut self, x: Value, y: Value) -> Value {
        let [wide_x, wide_y] = [x, y].map(|x| self.build.unary(Unary::Abs, x));
        let (a, i) = self.whole_part(wide_x);
        let (b, j) = self.whole_part(wide_y);
        let one = self.number(b, 1.0);
        let inverse = self.div(one, b);
        let mut rest = self.modulo(a, b, inverse);
        let distance = self.sub(i, j);
        for step in 0..STEPS {
            // As many bits as are left, at most BITS.
            let left = self.int(Binary::Sub, distance, step * BITS);
            let some = self.int(Binary::MaxS, left, 0);
            let some = self.int(Binary::MinS, some, BITS);
            let biased = self.int(Binary::Add, some, 1023);
            let bits = self.int(Binary::Shl, biased, 52);
            let power = self.cast(Cast::Bits, bits, DType::F64);
            let raised = self.mul(rest, power);
            rest = self.modulo(raised, b, inverse);
        }
        // The exponent of y's last place.
        let biased = self.int(Binary::Add, j, 1023 - 23);
        let bits = self.int(Binary::Shl, biased, 52);
        let unit = self.cast(Cast::Bits, bits, DType::F64);
        let result = self.mul(rest, unit);
        let below = self.build.compare(Compare::Olt, wide_x, wide_y);
        let result = self.select(below, wide_x, result);
        // No remainder by zero, nor of infinity, nor with NaN.
        let zero = self.compare(Compare::Oeq, y, 0.0);
        let finite = self.compare(Compare::FUge, wide_x, f64::INFINITY);
        let unordered = self.build.compare(Compare::Uno, x, y);
        let none = self.build.binary(Binary::Or, zero, finite);
        let none = self.build.binary(Binary::Or, none, unordered);
        let signed = self.with_sign_of(result, x);
        self.number_if(none, f64::NAN, signed)
    }

    /// The upper 24 bits of a number as a whole number, and its exponent as an i64.
    fn whole_part(&mut self, x: Value) -> (Value, Value) {
        let bits = self.cast(Cast::Bits, x, DType::I64);
        let exponent = self.int(Binary::ShrU, bits, 52);
        let exponent = self.int(Binary::Sub, exponent, 1023);
        let mantissa = self.int(Binary::And, bits, (1 << 52) - 1);
        let hidden = self.int(Binary::Or, mantissa, 1 << 52);
        let upper = self.int(Binary::ShrU, hidden, 29);
        (self.build.cast(Cast::FloatFromS, upper, DType::F64), exponent)
    }

    /// `x mod b` of whole numbers: the quotient may be off by one.
    fn modulo(&mut self, x: Value, b: Value, inverse: Value) -> Value {
        let quotient = self.mul(x, inverse);
        let quotient = self.build.unary(Unary::Floor, quotient);
        let negative = self.build.unary(Unary::Neg, quotient);
        let rest = self.fma(negative, b, x);
        let more = self.add(rest, b);
        let below = self.compare(Compare::Olt, rest, 0.0);
        let rest = self.select(below, more, rest);
        let less = self.sub(rest, b);
        let above = self.build.compare(Compare::Oge, rest, b);
        self.select(above, less, rest)
    }
}
