//! Products of matrices that a warp holds in its registers.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::effects::{Effects, Latency, Participants};
use super::family::{Differs, Family, Operands, Text, Told};
use super::{Builder, Op, Value};
use crate::dtype::DType;
use smallvec::SmallVec;

/// How a matrix instruction deals its three matrices out over the lanes of a warp.
///
/// A lane has words of 32 bits (or numbers of 64) of each matrix; narrower numbers fill words from the
/// low bits on, so number `i` of a lane is the next after number `i - 1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fragments {
    /// `mma.sync` of the PTX ISA, "Warp-level matrix multiply-accumulate instructions": 32 lanes. With `w`
    /// numbers of a factor in a word, `group = lane / 4` and `quad = lane % 4`:
    ///
    /// | matrix | number `e` of word `i` |
    /// | --- | --- |
    /// | left, of 16 rows | row `group + 8 (i % 2)`, summed index `w quad + e + 4 w (i / 2)` |
    /// | left, of 8 rows | row `group`, summed index `w quad + e + 4 w i` |
    /// | right | summed index `w quad + e + 4 w i`, column `group` |
    /// | sum | its number `j`: row `group + 8 (j / 2)`, column `2 quad + j % 2` |
    Mma,
    /// `v_mfma` of AMD's CDNA instruction sets ("Matrix Arithmetic Instructions"), of one block: 64 lanes,
    /// as many rows as columns, `s`. With `w` numbers of a factor in a lane and `g = 64 / s`:
    ///
    /// | matrix | number `i` |
    /// | --- | --- |
    /// | left | row `lane % s`, summed index `w (lane / s) + i` |
    /// | right | summed index `w (lane / s) + i`, column `lane % s` |
    /// | sum of 32 bits | row `4 g (i / 4) + 4 (lane / s) + i % 4`, column `lane % s` |
    /// | sum of 64 bits | row `g i + lane / s`, column `lane % s` |
    Mfma,
    /// `v_wmma` of AMD's RDNA 3 instruction set: 32 lanes. Lanes 16 to 31 have the factors of lanes 0 to
    /// 15 once more.
    ///
    /// | matrix | number `i` |
    /// | --- | --- |
    /// | left | row `lane % 16`, summed index `i` |
    /// | right | summed index `i`, column `lane % 16` |
    /// | sum | row `2 i + lane / 16`, column `lane % 16` |
    WmmaGfx11,
    /// `v_wmma` of AMD's RDNA 4 instruction set: 32 lanes. Which summed index is which is no matter as long as
    /// both factors agree.
    ///
    /// | matrix | number `i` |
    /// | --- | --- |
    /// | left | row `lane % 16`, summed index `8 (lane / 16) + i` |
    /// | right | summed index `8 (lane / 16) + i`, column `lane % 16` |
    /// | sum | row `8 (lane / 16) + i`, column `lane % 16` |
    WmmaGfx12,
}

impl Fragments {
    /// Every kind, in the order in which they are listed here.
    pub const ALL: [Fragments; 4] =
        [Fragments::Mma, Fragments::Mfma, Fragments::WmmaGfx11, Fragments::WmmaGfx12];

    /// Its name in texts.
    pub fn word(self) -> &'static str {
        match self {
            Fragments::Mma => "mma",
            Fragments::Mfma => "mfma",
            Fragments::WmmaGfx11 => "wmma_gfx11",
            Fragments::WmmaGfx12 => "wmma_gfx12",
        }
    }

    /// The kind of a name.
    pub fn by_word(word: &str) -> Option<Fragments> {
        Fragments::ALL.into_iter().find(|of| of.word() == word)
    }

    /// The logarithm of the lanes of a warp.
    pub fn lanes_log2(self) -> u32 {
        match self {
            Fragments::Mfma => 6,
            Fragments::Mma | Fragments::WmmaGfx11 | Fragments::WmmaGfx12 => 5,
        }
    }

    /// How many lanes have the same numbers of a factor.
    pub fn copies(self) -> usize {
        match self {
            Fragments::WmmaGfx11 => 2,
            Fragments::Mma | Fragments::Mfma | Fragments::WmmaGfx12 => 1,
        }
    }
}

/// A product of two small matrices, added to a third; all three lie in the registers of a warp.
///
/// # Rounding
///
/// Products are exact. Of `mma.sync`, a sum of f32 or f16 is that of all products of one instruction and of
/// what it is added to, formed exactly and then rounded once: toward zero to f32, to the nearest f16; the
/// hardware's f32 sums may lose the last bits of terms that are much smaller than the largest one. Of
/// AMD's instructions such a sum is rounded once to the nearest f32; what its hardware does between products
/// is not documented. A sum of f64, or of products of f32 that are not cut to tf32, takes one product after
/// the other, each rounded once (`fma`). Sums of integers wrap around.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MatrixMultiply {
    /// How the matrices are dealt out.
    pub fragments: Fragments,
    /// Rows of the left factor and of the sum.
    pub rows: u8,
    /// Columns of the right factor and of the sum.
    pub columns: u8,
    /// How many products each sum gets.
    pub summed: u8,
    /// The type of the left factor's numbers. Of an f32 `mma.sync` looks at the upper 19 bits alone (tf32).
    pub left: DType,
    /// The type of the right factor's numbers.
    pub right: DType,
    /// The type of the sums.
    pub sum: DType,
}

/// The words of a lane that hold its part of one matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Words {
    /// How many there are.
    pub count: usize,
    /// The type of one.
    pub dtype: DType,
    /// How many numbers are in one.
    pub numbers: usize,
}

impl MatrixMultiply {
    /// Whether there is such an instruction, on any machine.
    pub fn exists(self) -> bool {
        use DType::{BF16, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F16, F32, F64, I8, I32};
        let Self { fragments, rows, columns, summed, left, right, sum } = self;
        let standard = |dtype: DType| matches!(dtype, F8E4M3FN | F8E5M2);
        let without_zero = |dtype: DType| matches!(dtype, F8E4M3FNUZ | F8E5M2FNUZ);
        let shape = (rows, columns, summed);
        match (fragments, left, right, sum) {
            (Fragments::Mma, F16, F16, F16 | F32) | (Fragments::Mma, BF16, BF16, F32) => {
                matches!(shape, (16, 8, 8 | 16))
            }
            (Fragments::Mma, F32, F32, F32) => matches!(shape, (16, 8, 4 | 8)),
            (Fragments::Mma, F64, F64, F64) => matches!(shape, (8, 8, 4) | (16, 8, 4 | 8 | 16)),
            (Fragments::Mma, I8, I8, I32) => matches!(shape, (16, 8, 16 | 32)),
            (Fragments::Mma, a, b, F32) if standard(a) && standard(b) => shape == (16, 8, 32),
            (Fragments::Mfma, F16, F16, F32) | (Fragments::Mfma, BF16, BF16, F32) => {
                matches!(shape, (32, 32, 8 | 16) | (16, 16, 16 | 32))
            }
            (Fragments::Mfma, I8, I8, I32) => {
                matches!(shape, (32, 32, 8 | 16 | 32) | (16, 16, 16 | 32 | 64))
            }
            (Fragments::Mfma, F32, F32, F32) => matches!(shape, (32, 32, 2) | (16, 16, 4)),
            (Fragments::Mfma, F64, F64, F64) => shape == (16, 16, 4),
            (Fragments::Mfma, a, b, F32) => {
                (standard(a) && standard(b) || without_zero(a) && without_zero(b))
                    && matches!(shape, (32, 32, 16) | (16, 16, 32))
            }
            (Fragments::WmmaGfx11 | Fragments::WmmaGfx12, F16, F16, F32)
            | (Fragments::WmmaGfx11 | Fragments::WmmaGfx12, BF16, BF16, F32)
            | (Fragments::WmmaGfx11 | Fragments::WmmaGfx12, I8, I8, I32) => shape == (16, 16, 16),
            (Fragments::WmmaGfx12, a, b, F32) => {
                standard(a) && standard(b) && shape == (16, 16, 16)
            }
            _ => false,
        }
    }

    /// Every instruction that exists.
    pub fn every() -> Vec<MatrixMultiply> {
        let sides = [(8, 8), (16, 8), (16, 16), (32, 32)];
        let mut forms = Vec::new();
        for (fragments, (rows, columns)) in
            Fragments::ALL.into_iter().flat_map(|of| sides.map(|side| (of, side)))
        {
            for (summed, left) in
                [2, 4, 8, 16, 32, 64].into_iter().flat_map(|k| DType::ALL.map(|dtype| (k, dtype)))
            {
                for (right, sum) in DType::ALL.into_iter().flat_map(|r| DType::ALL.map(|s| (r, s)))
                {
                    forms.push(Self { fragments, rows, columns, summed, left, right, sum });
                }
            }
        }
        forms.retain(|form| form.exists());
        forms
    }

    /// The numbers of a lane: of the left factor, of the right one, and of the sum.
    pub fn numbers(self) -> [usize; 3] {
        let [m, n, k] = [self.rows, self.columns, self.summed].map(usize::from);
        let (lanes, copies) = (1 << self.fragments.lanes_log2(), self.fragments.copies());
        [m * k * copies / lanes, k * n * copies / lanes, m * n / lanes]
    }

    /// The words of the left factor, of the right one, and of the sum.
    pub fn words(self) -> [Words; 3] {
        let [a, b, c] = self.numbers();
        [(a, self.left), (b, self.right), (c, self.sum)].map(|(numbers, dtype)| {
            let in_word = (32 / dtype.bits() as usize).max(1);
            let word = if in_word > 1 { DType::I32 } else { dtype };
            Words { count: numbers / in_word, dtype: word, numbers: in_word }
        })
    }
}

/// A form of each kind.
const fn form(fragments: Fragments) -> MatrixMultiply {
    let (left, right, sum) = (DType::F16, DType::F16, DType::F32);
    MatrixMultiply { fragments, rows: 0, columns: 0, summed: 0, left, right, sum }
}

impl Builder {
    /// The sum of a third matrix and the product of two, each as the words of
    /// [`MatrixMultiply::words`].
    pub fn matrix_multiply(
        &mut self,
        multiply: MatrixMultiply,
        [left, right, sum]: [&[Value]; 3],
    ) -> SmallVec<[Value; 2]> {
        let operands = [left, right, sum].concat();
        let [.., words] = multiply.words();
        let results = vec![words.dtype; words.count];
        self.emit(Op::MatrixMultiply(multiply), operands.into(), &results)
    }
}

impl Family for MatrixMultiply {
    const FORMS: &'static [Self] = &[
        form(Fragments::Mma),
        form(Fragments::Mfma),
        form(Fragments::WmmaGfx11),
        form(Fragments::WmmaGfx12),
    ];

    fn effects(&self) -> Effects {
        let convergent = Some(Participants::Warp);
        Effects { convergent, latency: Latency::Matrix, ..Effects::NONE }
    }

    fn operands(&self) -> Operands {
        Operands::new()
    }

    fn is_sound(&self, values: &[DType], results: &[DType]) -> bool {
        let words = self.words();
        let all = words.iter().flat_map(|words| core::iter::repeat_n(words.dtype, words.count));
        let [.., sum] = words;
        self.exists()
            && values.iter().copied().eq(all)
            && results.len() == sum.count
            && results.iter().all(|&dtype| dtype == sum.dtype)
    }

    fn text(&mut self, text: &mut dyn Text) -> Told {
        let Self { fragments, rows, columns, summed, left, right, sum } = self;
        text.word(fragments.word())?;
        let mut sizes = [*rows, *columns, *summed].map(u32::from);
        text.sizes(&mut sizes)?;
        for (size, told) in [rows, columns, summed].into_iter().zip(sizes) {
            *size = u8::try_from(told).map_err(|_| Differs)?;
        }
        text.choice("SUM", sum)?;
        text.choice("LEFT", left)?;
        text.choice("RIGHT", right)
    }
}
