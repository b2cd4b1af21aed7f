//! Products of matrices that a warp holds in its registers.

use crate::dtype::DType;

/// A product of two small matrices, added to a third: `mma.sync` of the PTX ISA, "Warp-level matrix
/// multiply-accumulate instructions". All three lie in the registers of a warp of 32 lanes.
///
/// A lane has words of 32 bits (or numbers of 64) of each matrix; narrower numbers fill words from the
/// low bits on. With `w` numbers of a factor in a word, `group = lane / 4` and `quad = lane % 4`:
///
/// | matrix | number `e` of word `i` |
/// | --- | --- |
/// | left, of 16 rows | row `group + 8 (i % 2)`, summed index `w quad + e + 4 w (i / 2)` |
/// | left, of 8 rows | row `group`, summed index `w quad + e + 4 w i` |
/// | right | summed index `w quad + e + 4 w i`, column `group` |
/// | sum | its number `j`: row `group + 8 (j / 2)`, column `2 quad + j % 2` |
///
/// # Rounding
///
/// Products are exact. A sum of f32 or f16 is that of all products of one instruction and of what it
/// is added to, formed exactly and then rounded once: toward zero to f32, to the nearest f16. A sum of
/// f64 takes one product after the other, each rounded once (`fma`). Sums of integers wrap around.
/// The hardware's f32 sums may lose the last bits of terms that are much smaller than the largest one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MatrixMultiply {
    /// Rows of the left factor and of the sum: 8 or 16.
    pub rows: u8,
    /// Columns of the right factor and of the sum: 8.
    pub columns: u8,
    /// How many products each sum gets.
    pub summed: u8,
    /// The type of the left factor's numbers; of an f32 the upper 19 bits count (tf32), the others
    /// are not looked at.
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
    /// Whether there is such an instruction.
    pub fn exists(self) -> bool {
        let Self { rows, columns, summed, left, right, sum } = self;
        let shape = (rows, summed);
        columns == 8
            && match (left, right, sum) {
                (DType::F16, DType::F16, DType::F16 | DType::F32)
                | (DType::BF16, DType::BF16, DType::F32) => matches!(shape, (16, 8 | 16)),
                (DType::F32, DType::F32, DType::F32) => matches!(shape, (16, 4 | 8)),
                (DType::F64, DType::F64, DType::F64) => matches!(shape, (8, 4) | (16, 4 | 8 | 16)),
                (DType::I8, DType::I8, DType::I32) => matches!(shape, (16, 16 | 32)),
                (DType::F8E4M3FN | DType::F8E5M2, DType::F8E4M3FN | DType::F8E5M2, DType::F32) => {
                    shape == (16, 32)
                }
                _ => false,
            }
    }

    /// The words of the left factor, of the right one, and of the sum.
    pub fn words(self) -> [Words; 3] {
        let [m, n, k] = [self.rows, self.columns, self.summed].map(usize::from);
        [(m * k, self.left), (k * n, self.right), (m * n, self.sum)].map(|(numbers, dtype)| {
            let in_word = (32 / dtype.bits() as usize).max(1);
            let word = if in_word > 1 { DType::I32 } else { dtype };
            Words { count: numbers / 32 / in_word, dtype: word, numbers: in_word }
        })
    }
}
