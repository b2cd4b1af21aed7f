//! Numbers of many digits, with the operators of numbers.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Bits of every result.
const PRECISION: usize = 512;
const ROUND: RoundingMode = RoundingMode::ToEven;

thread_local! {
    static CONSTANTS: RefCell<Option<Consts>> = const { RefCell::new(None) };
}

/// A number of 512 bits.
#[derive(Clone, Debug)]
pub(super) struct Big(BigFloat);

fn with_constants(apply: impl FnOnce(&mut Consts) -> BigFloat) -> Big {
    CONSTANTS.with_borrow_mut(|constants| match constants {
        Some(constants) => Big(apply(constants)),
        // The cache cannot be made without memory only.
        None => match Consts::new() {
            Ok(mut fresh) => {
                let value = apply(&mut fresh);
                *constants = Some(fresh);
                Big(value)
            }
            Err(error) => Big(BigFloat::nan(Some(error))),
        },
    })
}

macro_rules! functions {
    ($($name:ident),*) => {
        $(pub(super) fn $name(&self) -> Big {
            with_constants(|constants| self.0.$name(PRECISION, ROUND, constants))
        })*
    };
}

impl Big {
    functions!(exp, ln, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh);

    pub(super) fn new(value: f64) -> Big {
        if value.is_subnormal() {
            return Big::new(value * 2f64.powi(200)).scaled(-200);
        }
        Big(BigFloat::from_f64(value, PRECISION))
    }

    pub(super) fn pi() -> Big {
        with_constants(|constants| constants.pi(PRECISION, ROUND))
    }

    pub(super) fn sqrt(&self) -> Big {
        Big(self.0.sqrt(PRECISION, ROUND))
    }

    pub(super) fn abs(&self) -> Big {
        Big(self.0.abs())
    }

    pub(super) fn is_negative(&self) -> bool {
        self.0.is_negative()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// The number times two to a power: exactly.
    pub(super) fn scaled(&self, power: i32) -> Big {
        let mut scaled = self.0.clone();
        if let (false, Some(exponent)) = (self.is_zero(), self.0.exponent()) {
            scaled.set_exponent(exponent + power);
        }
        Big(scaled)
    }

    /// The exponent of the highest bit; of zero there is none.
    pub(super) fn exponent(&self) -> Option<i32> {
        if self.is_zero() { None } else { self.0.exponent().map(|exponent| exponent - 1) }
    }

    /// About the number: two units of its last place off at most.
    pub(super) fn to_f64(&self) -> f64 {
        if self.0.is_nan() {
            return f64::NAN;
        }
        let Some((words, _, sign, exponent, _)) = self.0.as_raw_parts() else {
            return if self.0.is_inf_neg() { f64::NEG_INFINITY } else { f64::INFINITY };
        };
        let sign = if sign == Sign::Neg { -1.0 } else { 1.0 };
        let mantissa = words.last().map_or(0.0, |&word| word as f64) / 2f64.powi(64);
        // Two factors, so that neither is subnormal where the number is none.
        let half = exponent.clamp(-2200, 2200) / 2;
        sign * mantissa * 2f64.powi(half) * 2f64.powi(exponent.clamp(-2200, 2200) - half)
    }
}

macro_rules! operators {
    ($($trait:ident :: $method:ident),*) => {
        $(
            impl $trait<&Big> for &Big {
                type Output = Big;
                fn $method(self, y: &Big) -> Big {
                    Big(self.0.$method(&y.0, PRECISION, ROUND))
                }
            }
            impl $trait<&Big> for Big {
                type Output = Big;
                fn $method(self, y: &Big) -> Big {
                    (&self).$method(y)
                }
            }
            impl $trait<Big> for Big {
                type Output = Big;
                fn $method(self, y: Big) -> Big {
                    (&self).$method(&y)
                }
            }
            impl $trait<Big> for &Big {
                type Output = Big;
                fn $method(self, y: Big) -> Big {
                    self.$method(&y)
                }
            }
            impl $trait<f64> for Big {
                type Output = Big;
                fn $method(self, y: f64) -> Big {
                    (&self).$method(&Big::new(y))
                }
            }
            impl $trait<f64> for &Big {
                type Output = Big;
                fn $method(self, y: f64) -> Big {
                    self.$method(&Big::new(y))
                }
            }
        )*
    };
}
operators!(Add::add, Sub::sub, Mul::mul, Div::div);

impl Neg for Big {
    type Output = Big;
    fn neg(self) -> Big {
        Big(self.0.neg())
    }
}
