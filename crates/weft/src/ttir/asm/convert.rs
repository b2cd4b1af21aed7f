//! Conversions and comparisons of PTX.

use super::read::Operand;
use super::write::{Done, Kind, Writer, typed};
use crate::dtype::DType;
use crate::scalar::{Cast, Compare, Rounding, Unary};
use crate::tile::Value;

impl Writer<'_, '_, '_, '_> {
    /// `cvt`: nothing where the conversion is not read.
    pub(super) fn convert(
        &mut self,
        modifiers: &[&str],
        sources: &[Operand],
    ) -> Done<Option<Value>> {
        let [how @ .., to, from] = modifiers else { return Ok(None) };
        let (Some((to_kind, to)), Some((from_kind, from))) = (typed(to), typed(from)) else {
            return Ok(None);
        };
        if let (Kind::Pair(half), [high, low], ["rn"]) = (to_kind, sources, how) {
            let [low, high] = [self.get(low, from)?, self.get(high, from)?];
            let [low, high] = [low, high].map(|value| self.cast(Cast::Float, value, half));
            return Ok(Some(self.joined(low, high, 16)));
        }
        let [source] = sources else { return Ok(None) };
        let x = self.get(source, from)?;
        let float = |kind| kind == Kind::Float;
        Ok(match (float(from_kind), float(to_kind), how) {
            (false, false, []) => {
                let cast = match (to.bits() > from.bits(), from_kind) {
                    (true, Kind::Signed) => Cast::ExtS,
                    (true, _) => Cast::ExtU,
                    (false, _) => Cast::Trunc,
                };
                Some(self.cast(cast, x, to))
            }
            (false, true, ["rn"]) => {
                let signed = from_kind == Kind::Signed;
                Some(self.cast(if signed { Cast::FloatFromS } else { Cast::FloatFromU }, x, to))
            }
            (false, true, [how]) => {
                let (true, Some(rounding)) = (is_rounded(from, to), directed(how)) else {
                    return Ok(None);
                };
                let signed = from_kind == Kind::Signed;
                Some(self.rewriter.integer_to_float(x, signed, to, rounding))
            }
            (true, false, [round]) => {
                let Some(rounded) = self.rounded(round, x) else { return Ok(None) };
                let signed = to_kind == Kind::Signed;
                Some(self.cast(
                    if signed { Cast::SFromFloat } else { Cast::UFromFloat },
                    rounded,
                    to,
                ))
            }
            (true, true, []) if to.bits() > from.bits() => Some(self.cast(Cast::Float, x, to)),
            (true, true, ["rn"]) if to != from => Some(self.cast(Cast::Float, x, to)),
            (true, true, ["rz"]) if to.bits() < from.bits() => {
                Some(self.cast(Cast::FloatToZero, x, to))
            }
            (true, true, [how @ ("rm" | "rp")]) if (from, to) == (DType::F64, DType::F32) => {
                directed(how).map(|rounding| self.rewriter.narrowed(x, rounding))
            }
            (true, true, [round]) if to == from => self.rounded(round, x),
            _ => None,
        })
    }

    /// A float rounded to a whole number.
    fn rounded(&mut self, how: &str, x: Value) -> Option<Value> {
        let op = match how {
            "rni" => Unary::Nearest,
            "rzi" => Unary::Trunc,
            "rmi" => Unary::Floor,
            "rpi" => Unary::Ceil,
            _ => return None,
        };
        Some(self.unary(op, x))
    }
}

/// Whether an integer type is rounded to a float type as told.
fn is_rounded(from: DType, to: DType) -> bool {
    matches!((from, to), (DType::I32 | DType::I64, DType::F32 | DType::F64))
}

/// The modifier of an instruction that does not round to the nearest.
pub(super) fn directed(modifier: &str) -> Option<Rounding> {
    match modifier {
        "rz" => Some(Rounding::Zero),
        "rm" => Some(Rounding::Down),
        "rp" => Some(Rounding::Up),
        _ => None,
    }
}

/// A comparison of `setp`.
pub(super) fn compare(predicate: &str, kind: Kind) -> Option<Compare> {
    let unsigned = kind != Kind::Signed;
    Some(if kind == Kind::Float {
        match predicate {
            "eq" => Compare::Oeq,
            "ne" => Compare::One,
            "lt" => Compare::Olt,
            "le" => Compare::Ole,
            "gt" => Compare::Ogt,
            "ge" => Compare::Oge,
            "equ" => Compare::Ueq,
            "neu" => Compare::Une,
            "num" => Compare::Ord,
            "nan" => Compare::Uno,
            _ => return None,
        }
    } else {
        match predicate {
            "eq" => Compare::Eq,
            "ne" => Compare::Ne,
            "lt" if unsigned => Compare::Ult,
            "le" if unsigned => Compare::Ule,
            "gt" if unsigned => Compare::Ugt,
            "ge" if unsigned => Compare::Uge,
            "lt" => Compare::Slt,
            "le" => Compare::Sle,
            "gt" => Compare::Sgt,
            "ge" => Compare::Sge,
            "lo" => Compare::Ult,
            "ls" => Compare::Ule,
            "hi" => Compare::Ugt,
            "hs" => Compare::Uge,
            _ => return None,
        }
    })
}
