//! The instructions that multiply matrices in the registers of a warp, as data.
//!
//! The source is the PTX ISA, "Warp-level matrix multiply-accumulate instructions". One rule gives the
//! fragments of all of them. With `w` numbers of a factor in a register of 32 bits (one of a 64-bit
//! number, one of tf32), and `group = lane / 4`, `quad = lane % 4`:
//!
//! | matrix | number `e` of word `i` of a lane |
//! | --- | --- |
//! | left, 16 rows | row `group + 8 (i % 2)`, summed index `w quad + e + 4 w (i / 2)` |
//! | left, 8 rows | row `group`, summed index `w quad + e + 4 w i` |
//! | right | summed index `w quad + e + 4 w i`, column `group` |
//! | sum | row `group + 8 i`, column `2 quad + e`, two numbers in a "word" whatever their width |

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::Machine;
use crate::{
    layout::{Layout, LayoutError},
    space::Space,
};

/// What a matrix holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// IEEE binary16.
    F16,
    /// bfloat16.
    BF16,
    /// The upper 19 bits of an IEEE binary32; the others are not looked at.
    TF32,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// Eight bits: exponent 4, mantissa 3, no infinities.
    E4M3,
    /// Eight bits: exponent 5, mantissa 2.
    E5M2,
    /// Signed integer of 8 bits.
    S8,
    /// Signed integer of 32 bits.
    S32,
}

impl Number {
    /// Every kind.
    pub const ALL: [Number; 9] = [
        Number::F16,
        Number::BF16,
        Number::TF32,
        Number::F32,
        Number::F64,
        Number::E4M3,
        Number::E5M2,
        Number::S8,
        Number::S32,
    ];

    /// The name in PTX.
    pub fn word(self) -> &'static str {
        match self {
            Number::F16 => "f16",
            Number::BF16 => "bf16",
            Number::TF32 => "tf32",
            Number::F32 => "f32",
            Number::F64 => "f64",
            Number::E4M3 => "e4m3",
            Number::E5M2 => "e5m2",
            Number::S8 => "s8",
            Number::S32 => "s32",
        }
    }

    /// The bits that one takes in a register.
    pub fn bits(self) -> u32 {
        match self {
            Number::E4M3 | Number::E5M2 | Number::S8 => 8,
            Number::F16 | Number::BF16 => 16,
            Number::TF32 | Number::F32 | Number::S32 => 32,
            Number::F64 => 64,
        }
    }
}

/// One of the matrices of a [`MatrixMultiply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The left factor, rows by summed index.
    Left,
    /// The right factor, summed index by columns.
    Right,
    /// What is added to, and the result: rows by columns.
    Sum,
}

/// An instruction by which a warp multiplies two matrices and adds the product to a third.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixMultiply {
    /// Shape and kinds, for example `mma.m16n8k16.f32.f16.f16`: the sum's kind, then the factors'.
    pub name: Cow<'static, str>,
    /// Rows of the left factor: 8 or 16.
    pub rows: u32,
    /// Columns of the right factor: 8.
    pub columns: u32,
    /// How many products each sum gets.
    pub summed: u32,
    /// What the left factor holds.
    pub left: Number,
    /// What the right factor holds.
    pub right: Number,
    /// What the sum holds.
    pub sum: Number,
    /// Hundredths of a cycle of a multiprocessor for one instruction of one warp.
    pub price: u64,
}

impl MatrixMultiply {
    /// Rows and columns of a part.
    pub fn shape(&self, part: Part) -> [u64; 2] {
        let [m, n, k] = [self.rows, self.columns, self.summed].map(u64::from);
        match part {
            Part::Left => [m, k],
            Part::Right => [k, n],
            Part::Sum => [m, n],
        }
    }

    /// What a part holds.
    pub fn number(&self, part: Part) -> Number {
        match part {
            Part::Left => self.left,
            Part::Right => self.right,
            Part::Sum => self.sum,
        }
    }

    /// Where a part lies: registers and the lanes of a warp of 32 to `dim0` and `dim1`. A register
    /// holds one number; those that share a word of 32 bits are consecutive.
    ///
    /// Fails where the sizes are not those of any instruction: 8 or 16 rows, 8 columns, and a summed
    /// index that fills whole words.
    ///
    /// ```
    /// use weft_layout::{Machine, machine::Part, space::{LANE, REGISTER}};
    ///
    /// let machine = Machine::by_name("sm_80").ok_or("no such machine")?;
    /// let mma = machine.matrix_multiplies.iter().find(|mma| mma.name == "mma.m16n8k16.f32.f16.f16");
    /// let left = mma.ok_or("no such instruction")?.fragment(Part::Left)?;
    /// // Two neighbours along the summed index (the minor axis) in a word, then eight rows below.
    /// assert_eq!(left.columns(REGISTER), [1, 8 << 4, 8]);
    /// assert_eq!(left.columns(LANE), [2, 4, 1 << 4, 2 << 4, 4 << 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fragment(&self, part: Part) -> Result<Layout, LayoutError> {
        let [rows, columns] = self.shape(part);
        let outs = Space::tensor(&[rows, columns])?;
        let row = |value: u64| value.saturating_mul(columns);
        let column = |value: u64| value;
        let word = u64::from(32 / self.left.bits().max(1)).max(1);
        let summed = u64::from(self.summed);
        let along = |step: fn(u64, u64) -> u64| {
            let inside = powers(1, word).map(|value| step(value, columns)).collect::<Vec<_>>();
            let beyond = powers(4 * word, summed).map(|value| step(value, columns));
            (inside, beyond.collect::<Vec<_>>())
        };
        let (registers, lanes) = match part {
            Part::Left => {
                let (inside, beyond) = along(|value, _| value);
                let registers = [inside, powers(8, rows).map(row).collect(), beyond].concat();
                let lanes = [column(word), column(2 * word), row(1), row(2), row(4)];
                (registers, lanes)
            }
            Part::Right => {
                let (inside, beyond) = along(u64::saturating_mul);
                let lanes = [row(word), row(2 * word), column(1), column(2), column(4)];
                ([inside, beyond].concat(), lanes)
            }
            Part::Sum => {
                let registers = [column(1)].into_iter().chain(powers(8, rows).map(row)).collect();
                (registers, [column(2), column(4), row(1), row(2), row(4)])
            }
        };
        let ins = Space::hardware(registers.len() as u32, 5, 0, 0)?;
        Layout::new(ins, outs, &[registers, lanes.to_vec()].concat())
    }
}

impl Machine {
    /// The instruction of this name, if the machine has it.
    pub fn matrix_multiply(&self, name: &str) -> Option<&MatrixMultiply> {
        self.matrix_multiplies.iter().find(|multiply| multiply.name == name)
    }
}

/// `from`, `2 from`, … below `end`.
fn powers(from: u64, end: u64) -> impl Iterator<Item = u64> {
    core::iter::successors(Some(from), |value| value.checked_mul(2)).take_while(move |&v| v < end)
}
