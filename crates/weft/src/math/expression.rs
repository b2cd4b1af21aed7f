//! Expressions of lane operations that read like their formulas.
//!
//! A [`Term`] is a value together with the program that it is written into; `x * y + 1.0` writes two
//! operations and a constant. Numbers take the type of the term beside them. Comparisons of floats are
//! false where one is NaN, integers are signed, and a shift right is logical.

use crate::dtype::DType;
use crate::lane::{Builder, Op, Value};
use crate::scalar::{self, Binary, Cast, Compare, Rounding, Unary};
use core::cell::RefCell;
use core::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Shl, Shr, Sub};

/// A polynomial for f32 and one for f64, the highest power's coefficient first.
pub(super) struct Fit {
    pub(super) single: &'static [f64],
    pub(super) double: &'static [f64],
}

/// A number to twice the digits of an f64, as a sum of two.
pub(super) struct Long {
    pub(super) high: f64,
    pub(super) low: f64,
}

impl Long {
    /// The nearest number of a term's type, and what that leaves.
    pub(super) fn of(&self, x: Term<'_>) -> [f64; 2] {
        if !x.is_single() {
            return [self.high, self.low];
        }
        let high = f64::from(self.high as f32);
        [high, (self.high - high) + self.low]
    }
}

/// How a float type is laid out.
pub(super) struct Format {
    /// Bits of the mantissa, without the hidden one.
    pub(super) mantissa: i64,
    /// What stands for the exponent zero.
    pub(super) bias: i64,
    /// The mask of the exponent.
    pub(super) exponents: i64,
    /// Below this the square of a number is nothing beside it.
    pub(super) tiny: f64,
}

const SINGLE: Format = Format { mantissa: 23, bias: 127, exponents: 0xff, tiny: 1e-15 };
const DOUBLE: Format = Format { mantissa: 52, bias: 1023, exponents: 0x7ff, tiny: 1e-100 };

impl Format {
    /// The least normal number.
    pub(super) fn least(&self) -> f64 {
        2f64.powi(1 - self.bias as i32)
    }

    /// Beyond this power of two, up or down, results do not change any more.
    pub(super) fn farthest(&self) -> f64 {
        (self.bias + self.mantissa + 3) as f64
    }

    /// Two to the power of an integer within the normal exponents.
    pub(super) fn power<'p>(&self, exponent: Term<'p>) -> Term<'p> {
        let narrow = exponent.dtype() == DType::I32 && self.mantissa == DOUBLE.mantissa;
        let exponent = if narrow { exponent.cast(Cast::ExtS, DType::I64) } else { exponent };
        ((exponent + self.bias) << self.mantissa).real()
    }
}

/// The program that terms are written into.
pub(super) struct Page<'p> {
    build: RefCell<&'p mut Builder>,
}

impl<'p> Page<'p> {
    pub(super) fn new(build: &'p mut Builder) -> Self {
        Self { build: RefCell::new(build) }
    }

    pub(super) fn term(&'p self, value: Value) -> Term<'p> {
        Term { page: self, value }
    }

    fn write(&'p self, write: impl FnOnce(&mut Builder) -> Value) -> Term<'p> {
        let value = write(&mut self.build.borrow_mut());
        self.term(value)
    }

    fn constant(&'p self, dtype: DType, bits: u64) -> Term<'p> {
        self.write(|build| build.constant(dtype, bits))
    }

    pub(super) fn i32(&'p self, value: i32) -> Term<'p> {
        self.constant(DType::I32, u64::from(value as u32))
    }

    pub(super) fn i64(&'p self, bits: u64) -> Term<'p> {
        self.constant(DType::I64, bits)
    }

    /// One of two groups of terms. Each is written into a region of its own, so that a thread computes
    /// what it needs; threads of a warp may differ.
    pub(super) fn branch<const N: usize>(
        &'p self,
        condition: Term<'p>,
        yes: impl FnOnce() -> [Term<'p>; N],
        no: impl FnOnce() -> [Term<'p>; N],
    ) -> [Term<'p>; N] {
        let close = |terms: [Term<'p>; N]| {
            let values = terms.map(|term| term.value);
            self.build.borrow_mut().close_region(Op::Yield, &values)
        };
        self.build.borrow_mut().open_region(&[]);
        let terms = yes();
        let types = terms.map(Term::dtype);
        let then = close(terms);
        self.build.borrow_mut().open_region(&[]);
        let otherwise = close(no());
        let results = self.build.borrow_mut().if_(condition.value, then, otherwise, &types);
        core::array::from_fn(|index| self.term(results[index]))
    }

    /// `body` so many times, each on what the last gave.
    pub(super) fn repeat<const N: usize>(
        &'p self,
        times: i32,
        first: [Term<'p>; N],
        body: impl FnOnce([Term<'p>; N]) -> [Term<'p>; N],
    ) -> [Term<'p>; N] {
        let start = self.i32(0);
        let mut inits = vec![start.value];
        inits.extend(first.map(|term| term.value));
        let types: Vec<DType> = first.iter().map(|term| term.dtype()).collect();
        let mut carried = vec![DType::I32];
        carried.extend(&types);
        let (target, entered) = {
            let mut build = self.build.borrow_mut();
            (build.new_loop(&inits, &types), build.open_region(&carried))
        };
        let count = self.term(entered[0]);
        let done = count.ge(i64::from(times));
        self.build.borrow_mut().break_if(target, done.value, &entered[1..]);
        let after = body(core::array::from_fn(|index| self.term(entered[index + 1])));
        let mut values = vec![(count + 1).value];
        values.extend(after.map(|term| term.value));
        let mut build = self.build.borrow_mut();
        let region = build.close_region(Op::Continue, &values);
        let results = build.place_loop(target, region);
        core::array::from_fn(|index| self.term(results[index]))
    }
}

/// A value of the program.
#[derive(Clone, Copy)]
pub(super) struct Term<'p> {
    pub(super) page: &'p Page<'p>,
    pub(super) value: Value,
}

/// What can stand beside a term: another one, or a number of its type.
pub(super) trait Operand<'p> {
    fn beside(self, term: Term<'p>) -> Term<'p>;
}

impl<'p> Operand<'p> for Term<'p> {
    fn beside(self, _: Term<'p>) -> Term<'p> {
        self
    }
}

impl<'p> Operand<'p> for f64 {
    fn beside(self, term: Term<'p>) -> Term<'p> {
        term.page.constant(term.dtype(), scalar::from_f64(term.dtype(), self))
    }
}

impl<'p> Operand<'p> for i64 {
    fn beside(self, term: Term<'p>) -> Term<'p> {
        term.page.constant(term.dtype(), self as u64)
    }
}

impl<'p> Term<'p> {
    pub(super) fn dtype(self) -> DType {
        self.page.build.borrow().dtype(self.value)
    }

    /// A number of this term's type.
    pub(super) fn number(self, value: f64) -> Self {
        value.beside(self)
    }

    /// Whether it is an f32.
    pub(super) fn is_single(self) -> bool {
        self.dtype() == DType::F32
    }

    /// The layout of its float type.
    pub(super) fn format(self) -> &'static Format {
        if self.is_single() { &SINGLE } else { &DOUBLE }
    }

    fn is_float(self) -> bool {
        self.dtype().is_float()
    }

    pub(super) fn unary(self, op: Unary) -> Self {
        self.page.write(|build| build.unary(op, self.value))
    }

    pub(super) fn binary(self, op: Binary, y: impl Operand<'p>) -> Self {
        let y = y.beside(self);
        self.page.write(|build| build.binary(op, self.value, y.value))
    }

    pub(super) fn cast(self, cast: Cast, to: DType) -> Self {
        self.page.write(|build| build.cast(cast, self.value, to))
    }

    /// The number in another float type.
    pub(super) fn float(self, to: DType) -> Self {
        self.cast(Cast::Float, to)
    }

    /// The bits as an integer.
    pub(super) fn word(self) -> Self {
        let to = if self.dtype() == DType::F64 { DType::I64 } else { DType::I32 };
        self.cast(Cast::Bits, to)
    }

    /// The float with these bits.
    pub(super) fn real(self) -> Self {
        let to = if self.dtype() == DType::I64 { DType::F64 } else { DType::F32 };
        self.cast(Cast::Bits, to)
    }

    /// An integer as an f64.
    pub(super) fn f64(self) -> Self {
        self.cast(Cast::FloatFromS, DType::F64)
    }

    /// An integer as an f32.
    pub(super) fn f32(self) -> Self {
        self.cast(Cast::FloatFromS, DType::F32)
    }

    /// The nearest whole number of `self * factor`, and the same as an i32.
    ///
    /// What is added leaves no room for fractions in the mantissa, whose last bits are the number then:
    /// it may have three bits less than a mantissa.
    pub(super) fn whole_of(self, factor: f64) -> (Self, Self) {
        let shifter = 1.5 * 2f64.powi(self.format().mantissa as i32);
        let moved = self.fma(factor, shifter);
        let bits = moved.word() - scalar::from_f64(self.dtype(), shifter) as i64;
        let bits = if self.is_single() { bits } else { bits.cast(Cast::Trunc, DType::I32) };
        (moved - shifter, bits)
    }

    pub(super) fn abs(self) -> Self {
        self.unary(Unary::Abs)
    }

    pub(super) fn trunc(self) -> Self {
        self.unary(Unary::Trunc)
    }

    pub(super) fn nearest(self) -> Self {
        self.unary(Unary::Nearest)
    }

    pub(super) fn sqrt(self) -> Self {
        self.unary(Unary::SqrtPrecise)
    }

    /// The smaller; NaN where one is.
    pub(super) fn min(self, y: impl Operand<'p>) -> Self {
        self.binary(if self.is_float() { Binary::Minimum } else { Binary::MinS }, y)
    }

    /// The larger; NaN where one is.
    pub(super) fn max(self, y: impl Operand<'p>) -> Self {
        self.binary(if self.is_float() { Binary::Maximum } else { Binary::MaxS }, y)
    }

    /// The smaller; the number where one is NaN.
    pub(super) fn min_num(self, y: impl Operand<'p>) -> Self {
        self.binary(Binary::MinNum, y)
    }

    /// The larger; the number where one is NaN.
    pub(super) fn max_num(self, y: impl Operand<'p>) -> Self {
        self.binary(Binary::MaxNum, y)
    }

    /// The shift that repeats the sign.
    pub(super) fn shr_signed(self, count: i64) -> Self {
        self.binary(Binary::ShrS, count)
    }

    /// `self * y + z`, rounded once.
    pub(super) fn fma(self, y: impl Operand<'p>, z: impl Operand<'p>) -> Self {
        let (y, z) = (y.beside(self), z.beside(self));
        self.page.write(|build| build.fma(self.value, y.value, z.value))
    }

    /// `self * y + z`, rounded as told.
    pub(super) fn fma_toward(
        self,
        y: impl Operand<'p>,
        z: impl Operand<'p>,
        rounding: Rounding,
    ) -> Self {
        let (y, z) = (y.beside(self), z.beside(self));
        self.page.write(|build| build.fma_toward(rounding, self.value, y.value, z.value))
    }

    /// The polynomial with these coefficients, the highest power's first.
    pub(super) fn polynomial(self, coefficients: &[f64]) -> Self {
        let (&first, rest) = coefficients.split_first().unwrap_or((&0.0, &[]));
        rest.iter().fold(first.beside(self), |sum, &coefficient| sum.fma(self, coefficient))
    }

    /// The polynomial that is as good as the results are to be.
    pub(super) fn fit(self, fit: &Fit) -> Self {
        self.polynomial(if self.is_single() { fit.single } else { fit.double })
    }

    fn compare(self, float: Compare, int: Compare, y: impl Operand<'p>) -> Self {
        let (y, op) = (y.beside(self), if self.is_float() { float } else { int });
        self.page.write(|build| build.compare(op, self.value, y.value))
    }

    pub(super) fn eq(self, y: impl Operand<'p>) -> Self {
        self.compare(Compare::Oeq, Compare::Eq, y)
    }

    pub(super) fn ne(self, y: impl Operand<'p>) -> Self {
        self.compare(Compare::One, Compare::Ne, y)
    }

    pub(super) fn lt(self, y: impl Operand<'p>) -> Self {
        self.compare(Compare::Olt, Compare::Slt, y)
    }

    pub(super) fn le(self, y: impl Operand<'p>) -> Self {
        self.compare(Compare::Ole, Compare::Sle, y)
    }

    pub(super) fn gt(self, y: impl Operand<'p>) -> Self {
        self.compare(Compare::Ogt, Compare::Sgt, y)
    }

    pub(super) fn ge(self, y: impl Operand<'p>) -> Self {
        self.compare(Compare::Oge, Compare::Sge, y)
    }

    /// Whether an integer without sign is less.
    pub(super) fn below(self, y: impl Operand<'p>) -> Self {
        self.compare(Compare::Olt, Compare::Ult, y)
    }

    pub(super) fn is_nan(self) -> Self {
        self.compare(Compare::Uno, Compare::Ne, self)
    }

    /// This, but `other` where the condition holds.
    pub(super) fn unless(self, condition: Term<'p>, other: impl Operand<'p>) -> Self {
        let other = other.beside(self);
        self.page.write(|build| build.select(condition.value, other.value, self.value))
    }

    /// The magnitude of this with the sign of another float of its type.
    pub(super) fn with_sign_of(self, sign: Term<'p>) -> Self {
        let top = i64::MIN >> (64 - self.dtype().bits());
        ((self.word() & !top) | (sign.word() & top)).real()
    }

    /// This with the sign changed where an integer as wide is negative.
    pub(super) fn negated_by(self, sign: Term<'p>) -> Self {
        let top = i64::MIN >> (64 - self.dtype().bits());
        (self.word() ^ (sign & top)).real()
    }

    /// Between bounds beyond which a result does not change any more; NaN stays.
    pub(super) fn bounded(self, bound: f64) -> Self {
        self.max(-bound).min(bound)
    }
}

macro_rules! operators {
    ($($trait:ident :: $method:ident, $float:ident, $int:ident);* $(;)?) => {
        $(impl<'p, Y: Operand<'p>> $trait<Y> for Term<'p> {
            type Output = Term<'p>;
            fn $method(self, y: Y) -> Term<'p> {
                self.binary(if self.is_float() { Binary::$float } else { Binary::$int }, y)
            }
        })*
    };
}
operators! {
    Add::add, Add, Add;
    Sub::sub, Sub, Sub;
    Mul::mul, Mul, Mul;
    Div::div, DivPrecise, DivS;
    BitAnd::bitand, And, And;
    BitOr::bitor, Or, Or;
    BitXor::bitxor, Xor, Xor;
    Shl::shl, Shl, Shl;
    Shr::shr, ShrU, ShrU;
}

macro_rules! number_first {
    ($($trait:ident :: $method:ident),*) => {
        $(impl<'p> $trait<Term<'p>> for f64 {
            type Output = Term<'p>;
            fn $method(self, y: Term<'p>) -> Term<'p> {
                self.beside(y).$method(y)
            }
        })*
    };
}
number_first!(Add::add, Sub::sub, Mul::mul, Div::div);

impl<'p> Neg for Term<'p> {
    type Output = Term<'p>;
    fn neg(self) -> Term<'p> {
        self.unary(Unary::Neg)
    }
}

/// Every bit inverted; of a truth value, that it does not hold.
impl<'p> Not for Term<'p> {
    type Output = Term<'p>;
    fn not(self) -> Term<'p> {
        self.binary(Binary::Xor, -1)
    }
}

/// An unevaluated sum of two floats, the second below the first's last place.
#[derive(Clone, Copy)]
pub(super) struct Pair<'p> {
    pub(super) high: Term<'p>,
    pub(super) low: Term<'p>,
}

impl<'p> Pair<'p> {
    /// The sum, without error, where the first is not the smaller one.
    pub(super) fn ordered_sum(x: Term<'p>, y: Term<'p>) -> Self {
        let high = x + y;
        Self { high, low: y - (high - x) }
    }

    /// The sum of any two, without error.
    pub(super) fn sum(x: Term<'p>, y: Term<'p>) -> Self {
        let high = x + y;
        let part = high - x;
        Self { high, low: (x - (high - part)) + (y - part) }
    }

    /// The product, without error.
    pub(super) fn product(x: Term<'p>, y: impl Operand<'p>) -> Self {
        let y = y.beside(x);
        let high = x * y;
        Self { high, low: x.fma(y, -high) }
    }

    pub(super) fn times(self, y: Pair<'p>) -> Self {
        let Pair { high, low } = Pair::product(self.high, y.high);
        let low = self.low.fma(y.high, self.high.fma(y.low, low));
        Pair::ordered_sum(high, low)
    }

    /// The sum with a pair that is not the larger one.
    pub(super) fn plus(self, y: Pair<'p>) -> Self {
        let Pair { high, low } = Pair::ordered_sum(self.high, y.high);
        Pair::ordered_sum(high, low + (self.low + y.low))
    }
}
