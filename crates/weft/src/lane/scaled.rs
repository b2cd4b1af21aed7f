//! Products of matrices of numbers of few bits with scales, in the registers of a warp.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::effects::{Effects, Latency, Participants};
use super::family::{Choice, Differs, Family, Operands, Text, Told};
use super::{Builder, Op, Value, Words};
use crate::dtype::DType;
use smallvec::SmallVec;

/// What a factor with scales holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScaledNumber {
    /// Eight bits: exponent 4, mantissa 3, no infinities ([`DType::F8E4M3FN`]).
    E4M3,
    /// Eight bits: exponent 5, mantissa 2 ([`DType::F8E5M2`]).
    E5M2,
    /// Four bits, two in a byte with the first in the low half: a sign, two bits of exponent with bias 1, and
    /// one of mantissa.
    E2M1,
}

impl ScaledNumber {
    /// Every kind, in the order in which they are listed here.
    pub const ALL: [ScaledNumber; 3] = [ScaledNumber::E4M3, ScaledNumber::E5M2, ScaledNumber::E2M1];

    /// The name.
    pub fn word(self) -> &'static str {
        match self {
            ScaledNumber::E4M3 => "e4m3",
            ScaledNumber::E5M2 => "e5m2",
            ScaledNumber::E2M1 => "e2m1",
        }
    }

    /// The bits of one.
    pub fn bits(self) -> u32 {
        match self {
            ScaledNumber::E4M3 | ScaledNumber::E5M2 => 8,
            ScaledNumber::E2M1 => 4,
        }
    }
}

impl Choice for ScaledNumber {
    fn name(&self) -> &'static str {
        self.word()
    }

    fn choose(&mut self, name: &str) -> Told {
        *self = ScaledNumber::ALL.into_iter().find(|of| of.word() == name).ok_or(Differs)?;
        Ok(())
    }
}

/// A product of two matrices of which 32 neighbours along the summed index share a scale, added to a third
/// one: `V_MFMA_SCALE_F32_16X16X128_F8F6F4` and `V_MFMA_SCALE_F32_32X32X64_F8F6F4` of AMD's CDNA 4
/// instruction set, "Matrix Arithmetic Instructions".
///
/// All matrices lie in the registers of 64 lanes. With `s` rows and columns, and `w` numbers of a factor in 16
/// bytes:
///
/// | matrix | number `i` |
/// | --- | --- |
/// | left | row `lane % s`, summed index `w (lane / s) + i % w`, of eight bits plus `1024 / s (i / w)` |
/// | right | the same summed index, column `lane % s` |
/// | scale of a row or column `lane % s` | of the summed indices from `32 (lane / s)` on |
/// | sum | row `4 (64 / s) (i / 4) + 4 (lane / s) + i % 4`, column `lane % s` |
///
/// # Scales
///
/// A scale of `e` is 2^(e - 127), and 255 is NaN. It is one byte of a word; the instruction says which.
///
/// # Rounding
///
/// Scaled products are exact, and a sum of all of them and of what it is added to is rounded once, to the
/// nearest f32, ties to even; what the hardware does between products is not documented.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScaledMultiply {
    /// The rows, and the columns: 16 or 32.
    pub side: u8,
    /// What the left factor holds.
    pub left: ScaledNumber,
    /// What the right factor holds.
    pub right: ScaledNumber,
    /// Which byte of its word is the scale, of the left factor and of the right one; 0 is the lowest.
    pub bytes: [u8; 2],
}

impl ScaledMultiply {
    /// How many neighbours along the summed index share a scale.
    pub const GROUP: usize = 32;
    /// The logarithm of the lanes of a warp.
    pub const LANES_LOG2: u32 = 6;

    /// How many products each sum gets.
    pub fn summed(self) -> usize {
        2048_usize.checked_div(self.side.into()).unwrap_or(0)
    }

    /// Whether there is such an instruction, on any machine.
    pub fn exists(self) -> bool {
        matches!(self.side, 16 | 32) && self.bytes.iter().all(|&byte| byte < 4)
    }

    /// Every instruction that exists, its scales in the lowest bytes.
    pub fn every() -> Vec<ScaledMultiply> {
        let mut forms = Vec::new();
        for side in [16, 32] {
            for left in ScaledNumber::ALL {
                let form = |right| Self { side, left, right, bytes: [0; 2] };
                forms.extend(ScaledNumber::ALL.map(form));
            }
        }
        forms
    }

    /// The words of the left factor, of the right one, and of the sum.
    pub fn words(self) -> [Words; 3] {
        // A lane has one 64th of 2048 numbers.
        let factor = |of: ScaledNumber| {
            let numbers = 32 / of.bits() as usize;
            Words { count: of.bits() as usize, dtype: DType::I32, numbers }
        };
        let side = usize::from(self.side);
        let sum = Words { count: side * side / 64, dtype: DType::F32, numbers: 1 };
        [factor(self.left), factor(self.right), sum]
    }
}

impl Builder {
    /// The sum of a third matrix and the product of two with scales, each as the words of
    /// [`ScaledMultiply::words`], the scales as a word each.
    pub fn scaled_multiply(
        &mut self,
        multiply: ScaledMultiply,
        [left, right, sum]: [&[Value]; 3],
        scales: [Value; 2],
    ) -> SmallVec<[Value; 2]> {
        let operands = [left, right, &scales, sum].concat();
        let [.., words] = multiply.words();
        let results = vec![words.dtype; words.count];
        self.emit(Op::ScaledMultiply(multiply), operands.into(), &results)
    }
}

impl Family for ScaledMultiply {
    const FORMS: &'static [Self] =
        &[Self { side: 16, left: ScaledNumber::E4M3, right: ScaledNumber::E4M3, bytes: [0; 2] }];

    fn effects(&self) -> Effects {
        let convergent = Some(Participants::Warp);
        Effects { convergent, latency: Latency::Matrix, ..Effects::NONE }
    }

    fn operands(&self) -> Operands {
        Operands::new()
    }

    fn is_sound(&self, values: &[DType], results: &[DType]) -> bool {
        if !self.exists() {
            return false;
        }
        let [left, right, sum] = self.words();
        let words = left.count + right.count + 2;
        let all = core::iter::repeat_n(DType::I32, words);
        let all = all.chain(core::iter::repeat_n(sum.dtype, sum.count));
        values.iter().copied().eq(all)
            && results.len() == sum.count
            && results.iter().all(|&dtype| dtype == sum.dtype)
    }

    fn text(&mut self, text: &mut dyn Text) -> Told {
        let Self { side, left, right, bytes } = self;
        text.word("mfma_scaled")?;
        let own = u32::from(*side);
        let mut sizes = [own, own, 2048_u32.checked_div(own).unwrap_or(0)];
        text.sizes(&mut sizes)?;
        let [rows, columns, summed] = sizes;
        if rows != columns || 2048_u32.checked_div(rows) != Some(summed) {
            return Err(Differs);
        }
        *side = u8::try_from(rows).map_err(|_| Differs)?;
        text.choice("LEFT", left)?;
        text.choice("RIGHT", right)?;
        for byte in bytes {
            let mut number = u32::from(*byte);
            text.number(&mut number)?;
            *byte = u8::try_from(number).map_err(|_| Differs)?;
        }
        Ok(())
    }
}
