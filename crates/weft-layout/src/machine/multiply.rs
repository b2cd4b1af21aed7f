//! The instructions that multiply matrices, as data.
//!
//! A row says what an instruction multiplies, what it costs and which family of layouts deals its three
//! matrices out ([`Fragments`]); the layouts themselves are that family's. So the fragments of
//! `mma.sync`, `wgmma`, `mfma` and `wmma` are told in one place each, where they are held against
//! the vendors' tables and Triton's.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Range, RangeInclusive};

use super::Machine;
use crate::{
    family::{AmdMfma, AmdWmma, DotOperand, Family, FamilyError, NvidiaMma},
    layout::Layout,
    space::{LANE, REGISTER, Space},
};

/// What the name of an instruction whose factors are exchanged ends with.
const TRANSPOSED: &str = ".transposed";

/// How many neighbours along the summed index share a scale: the block of the Open Compute Project's MX
/// formats.
const SCALE_GROUP: u32 = 32;

/// What a matrix holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// Floating-point numbers of 16 bits, IEEE binary16.
    F16,
    /// Floating-point numbers of 16 bits with the exponent of binary32, bfloat16.
    BF16,
    /// The upper 19 bits of an IEEE binary32; the others are not looked at.
    TF32,
    /// Floating-point numbers of 32 bits, IEEE binary32.
    F32,
    /// Floating-point numbers of 64 bits, IEEE binary64.
    F64,
    /// Eight bits: exponent 4, mantissa 3, no infinities.
    E4M3,
    /// Eight bits: exponent 5, mantissa 2.
    E5M2,
    /// Four bits, two in a byte with the first in the low half: exponent 2, mantissa 1, no infinities and no NaN.
    E2M1,
    /// As `E4M3` with another bias, one NaN and no negative zero.
    E4M3FNUZ,
    /// As `E5M2` with another bias, one NaN, no infinities and no negative zero.
    E5M2FNUZ,
    /// Signed integer of 8 bits.
    S8,
    /// Signed integer of 32 bits.
    S32,
}

impl Number {
    /// Every kind, in the order in which they are listed here.
    pub const ALL: [Number; 12] = [
        Number::F16,
        Number::BF16,
        Number::TF32,
        Number::F32,
        Number::F64,
        Number::E4M3,
        Number::E5M2,
        Number::E2M1,
        Number::E4M3FNUZ,
        Number::E5M2FNUZ,
        Number::S8,
        Number::S32,
    ];

    /// The name, in PTX where it has one there.
    pub fn word(self) -> &'static str {
        match self {
            Number::F16 => "f16",
            Number::BF16 => "bf16",
            Number::TF32 => "tf32",
            Number::F32 => "f32",
            Number::F64 => "f64",
            Number::E4M3 => "e4m3",
            Number::E5M2 => "e5m2",
            Number::E2M1 => "e2m1",
            Number::E4M3FNUZ => "e4m3fnuz",
            Number::E5M2FNUZ => "e5m2fnuz",
            Number::S8 => "s8",
            Number::S32 => "s32",
        }
    }

    /// The bits that one takes in a register.
    pub fn bits(self) -> u32 {
        match self {
            Number::E2M1 => 4,
            Number::E4M3 | Number::E5M2 | Number::E4M3FNUZ | Number::E5M2FNUZ | Number::S8 => 8,
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

/// Where an instruction finds one of its matrices, or leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// In the registers of its warps.
    Registers,
    /// In shared memory, where a descriptor says
    /// ([`plan::operand`](crate::plan::operand)).
    Shared,
    /// The instruction takes it from either.
    Either,
}

/// How an instruction deals its matrices out: which family of layouts its fragments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fragments {
    /// As `mma.sync` does: all three over the registers of one warp ([`NvidiaMma`], version 2).
    Mma,
    /// As `wgmma` does: the sum over the registers of four warps, the left factor there or in shared
    /// memory, the right one in shared memory ([`NvidiaMma`], version 3).
    Wgmma,
    /// As `mfma` does: over the registers of one wave of 64 lanes ([`AmdMfma`]).
    Mfma,
    /// As `mfma` does, of factors of which 32 neighbours along the summed index share a scale: an exponent
    /// of eight bits in a byte of a register ([`MatrixMultiply::scale_fragment`]). A lane has 16 bytes of a
    /// factor together, and of one of eight bits 16 more from half the summed index on.
    MfmaScaled,
    /// As `wmma` of gfx11 does: over the registers of one wave of 32 lanes, whose upper half repeats the
    /// factors of the lower one ([`AmdWmma`], version 1).
    WmmaGfx11,
    /// As `wmma` of gfx12 does, without repetition ([`AmdWmma`], version 2). Which summed index is which
    /// is Triton's choice: any order that both factors have gives the same sums.
    WmmaGfx12,
}

impl Fragments {
    /// Every way, in the order in which they are listed here.
    pub const ALL: [Fragments; 6] = [
        Fragments::Mma,
        Fragments::Wgmma,
        Fragments::Mfma,
        Fragments::MfmaScaled,
        Fragments::WmmaGfx11,
        Fragments::WmmaGfx12,
    ];

    /// Its name in texts.
    pub fn word(self) -> &'static str {
        match self {
            Fragments::Mma => "mma",
            Fragments::Wgmma => "wgmma",
            Fragments::Mfma => "mfma",
            Fragments::MfmaScaled => "mfma_scaled",
            Fragments::WmmaGfx11 => "wmma_gfx11",
            Fragments::WmmaGfx12 => "wmma_gfx12",
        }
    }

    /// How many rows, columns and products of a sum an instruction may have whose factors have numbers of so
    /// many bits. Which of these there are a machine's rows say.
    pub fn sizes(self, factor_bits: u32) -> [RangeInclusive<u32>; 3] {
        // Four lanes of one word each along the summed index at least.
        let least = 4 * 32_u32.checked_div(factor_bits).unwrap_or(1).max(1);
        match self {
            Fragments::Mma => [8..=16, 8..=8, least..=256],
            Fragments::Wgmma => [64..=64, 8..=256, 2 * least..=2 * least],
            Fragments::Mfma => [16..=32, 16..=32, 2..=64],
            Fragments::MfmaScaled => [16..=32, 16..=32, 64..=128],
            Fragments::WmmaGfx11 | Fragments::WmmaGfx12 => [16..=16, 16..=16, 16..=16],
        }
    }
}

/// Indices that share a scale, or a byte, of which an order along the summed axis takes one away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenGroup {
    /// The bit of the instruction's summed index, inside the group.
    pub bit: u32,
    /// What it stands for, outside of the group.
    pub index: u64,
    /// How many neighbours the group has.
    pub size: u64,
}

impl core::fmt::Display for BrokenGroup {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { bit, index, size } = self;
        let own = 1_u64 << bit;
        let what = if *size == 2 { "a byte" } else { "a scale" };
        write!(
            f,
            "numbers 0 and {own} of the instruction have {what} in common, and stand for 0 and {index}, \
             which have not: {size} neighbours do"
        )
    }
}

impl core::error::Error for BrokenGroup {}

/// Numbers of columns that an instruction can have: `from`, `from + step`, … to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Widths {
    /// The fewest columns that there are.
    pub from: u32,
    /// The most columns that there are.
    pub to: u32,
    /// From one to the next.
    pub step: u32,
}

/// An instruction by which one warp, or several together, multiply two matrices and add the product to
/// a third.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixMultiply {
    /// Shape and kinds, for example `mma.m16n8k16.f32.f16.f16`: the sum's kind, then the factors'; `nN`
    /// for any of several numbers of columns.
    pub name: Cow<'static, str>,
    /// Rows of the left factor.
    pub rows: u32,
    /// Columns of the right factor; the fewest where there are several `widths`.
    pub columns: u32,
    /// The numbers of columns that it can have, where it is not `columns` alone.
    pub widths: Cow<'static, [Widths]>,
    /// How many products each sum gets.
    pub summed: u32,
    /// What the left factor holds.
    pub left: Number,
    /// What the right factor holds.
    pub right: Number,
    /// What the sum holds.
    pub sum: Number,
    /// How its matrices are dealt out.
    pub fragments: Fragments,
    /// Whether it is given the transposes of the factors, the right one as its left, so that the sum is
    /// dealt out as its transpose; see [`MatrixMultiply::exchanged`]. A machine's rows say no.
    pub transposed: bool,
    /// Whether only code for the architecture alone may use it (targets with the suffix `a`).
    pub architecture_specific: bool,
    /// Hundredths of a cycle of a multiprocessor's matrix units for one instruction of all its warps, with
    /// `columns` columns; it is proportional to them.
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

    /// How many warps run it together: 1, or 4 neighbours, the first of which is a multiple of 4.
    pub fn warps(&self) -> u32 {
        match self.fragments {
            Fragments::Mma
            | Fragments::Mfma
            | Fragments::MfmaScaled
            | Fragments::WmmaGfx11
            | Fragments::WmmaGfx12 => 1,
            Fragments::Wgmma => 4,
        }
    }

    /// The logarithm of the lanes of a warp that runs it.
    pub fn lanes_log2(&self) -> u32 {
        match self.fragments {
            Fragments::Mfma | Fragments::MfmaScaled => 6,
            Fragments::Mma | Fragments::Wgmma | Fragments::WmmaGfx11 | Fragments::WmmaGfx12 => 5,
        }
    }

    /// Where a part lies.
    pub fn storage(&self, part: Part) -> Storage {
        match (self.fragments, part) {
            (Fragments::Wgmma, Part::Left) => Storage::Either,
            (Fragments::Wgmma, Part::Right) => Storage::Shared,
            _ => Storage::Registers,
        }
    }

    /// The instruction with so many columns; none if it cannot have them.
    ///
    /// ```
    /// use weft_layout::Machine;
    ///
    /// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
    /// let any = machine.matrix_multiply("wgmma.m64nNk16.f32.f16.f16").ok_or("no such instruction")?;
    /// let wide = any.with_columns(192).ok_or("no such width")?;
    /// assert_eq!((&*wide.name, wide.price), ("wgmma.m64n192k16.f32.f16.f16", 9600));
    /// assert_eq!(any.with_columns(100), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_columns(&self, columns: u32) -> Option<MatrixMultiply> {
        let among = |widths: &Widths| {
            (widths.from..=widths.to).contains(&columns)
                && (columns - widths.from).checked_rem(widths.step) == Some(0)
        };
        if columns != self.columns && !self.widths.iter().any(among) {
            return None;
        }
        let own = u64::from(self.columns).max(1);
        Some(MatrixMultiply {
            name: self.name.replace("nN", &format!("n{columns}")).into(),
            columns,
            widths: Cow::Borrowed(&[]),
            price: self.price.saturating_mul(columns.into()) / own,
            ..self.clone()
        })
    }

    /// The same instruction with its factors exchanged: `(AB)ᵀ = Bᵀ Aᵀ`. A thread has neighbours of a
    /// column of the one's sums and of a row of the other's. None where the two factors are not dealt out
    /// alike, so that the right one cannot be taken for the left.
    ///
    /// ```
    /// use weft_layout::{Machine, machine::Part, space::REGISTER};
    ///
    /// let machine = Machine::by_name("gfx942").ok_or("no such machine")?;
    /// let mfma = machine.matrix_multiply("mfma.m16n16k16.f32.f16.f16").ok_or("no such instruction")?;
    /// assert_eq!(mfma.fragment(Part::Sum)?.columns(REGISTER), [1 << 4, 2 << 4]);
    /// let exchanged = mfma.exchanged().ok_or("its factors differ")?;
    /// assert_eq!(exchanged.fragment(Part::Sum)?.columns(REGISTER), [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn exchanged(&self) -> Option<MatrixMultiply> {
        let alike = match self.fragments {
            Fragments::Mma | Fragments::Wgmma => false,
            Fragments::Mfma
            | Fragments::MfmaScaled
            | Fragments::WmmaGfx11
            | Fragments::WmmaGfx12 => self.rows == self.columns,
        };
        alike.then(|| MatrixMultiply {
            name: match self.name.strip_suffix(TRANSPOSED) {
                Some(name) => String::from(name),
                None => format!("{}{TRANSPOSED}", self.name),
            }
            .into(),
            left: self.right,
            right: self.left,
            transposed: !self.transposed,
            ..self.clone()
        })
    }

    /// The bits of the summed index that lanes tell apart where a factor lies in registers; those below
    /// are neighbours that a lane has together. The factors are dealt out alike but where instructions take
    /// numbers of several widths. Of a sum there are none.
    pub fn summed_on_lanes(&self, factor: Part) -> Result<Range<usize>, FamilyError> {
        let fragment = self.fragment(factor)?;
        let [_, width] = self.shape(factor);
        let summed = u64::from(self.summed);
        let index = |&place: &u64| match factor {
            Part::Left => place % width,
            Part::Right => place / width,
            Part::Sum => 0,
        };
        let bits = summed.trailing_zeros() as usize;
        let (mut from, mut count) = (bits, 0);
        for index in fragment.columns(LANE).iter().map(index).filter(|&index| index > 0) {
            from = from.min(index.trailing_zeros() as usize);
            count += 1;
        }
        Ok(from..from + count)
    }

    /// How many neighbours along the summed index share a scale; none where factors have no scales.
    pub fn scale_group(&self) -> Option<u32> {
        (self.fragments == Fragments::MfmaScaled).then_some(SCALE_GROUP)
    }

    /// Where the scales of a factor lie: lanes to rows of the left factor or columns of the right one,
    /// `dim0`, and groups along the summed index, `dim1`. A lane has one, in a byte of a register; which of
    /// its four bytes, the instruction says.
    ///
    /// Nothing where factors have no scales, and for the sum.
    ///
    /// ```
    /// use weft_layout::{Machine, machine::Part, space::LANE};
    ///
    /// let machine = Machine::by_name("gfx950").ok_or("no such machine")?;
    /// let name = "mfma_scale.m16n16k128.f32.e2m1.e2m1";
    /// let mfma = machine.matrix_multiply(name).ok_or("no such instruction")?;
    /// let scales = mfma.scale_fragment(Part::Left).ok_or("no scales")?;
    /// // Sixteen rows, then four groups of 32 along the summed index.
    /// assert_eq!(scales.columns(LANE), [1 << 2, 2 << 2, 4 << 2, 8 << 2, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scale_fragment(&self, factor: Part) -> Option<Layout> {
        let group = self.scale_group()?;
        let kept = match factor {
            Part::Left => self.rows,
            Part::Right => self.columns,
            Part::Sum => return None,
        };
        let groups = u64::from(self.summed / group);
        let powers = |from: u64, end: u64| {
            core::iter::successors(Some(from), |power| Some(2 * power))
                .take_while(move |&p| p < end)
        };
        let end = u64::from(kept) * groups;
        let lanes: Vec<u64> = powers(groups, end).chain(powers(1, groups)).collect();
        let ins = Space::hardware(0, lanes.len() as u32, 0, 0).ok()?;
        let outs = Space::tensor(&[kept.into(), groups]).ok()?;
        Layout::new(ins, outs, &lanes).ok()
    }

    /// Whether the bits of the instruction's summed index may stand for these of a tensor's: numbers that
    /// share a scale there must share one here, and so must pairs of numbers of four bits that share a byte.
    /// Beyond the instruction's own bits are those of the number of the step.
    ///
    /// Where factors have no scales, any indices may be.
    ///
    /// # Errors
    /// The first bit inside a group, or a pair, that stands for an index outside of it.
    pub fn keeps_groups(&self, indices: &[u64]) -> Result<(), BrokenGroup> {
        let Some(group) = self.scale_group() else { return Ok(()) };
        let packed = self.left == Number::E2M1 || self.right == Number::E2M1;
        let pair = if packed { 2 } else { 1 };
        for size in [u64::from(group), pair] {
            let inside = size.trailing_zeros() as usize;
            for (bit, &index) in indices.iter().enumerate().take(inside) {
                if index >= size {
                    return Err(BrokenGroup { bit: bit as u32, index, size });
                }
            }
        }
        Ok(())
    }

    /// The bytes that one instruction reads from shared memory; the left factor may lie in either place.
    pub fn shared_bytes(&self, left: Storage) -> u64 {
        let bytes = |part: Part| {
            let storage = self.storage(part);
            let storage = if storage == Storage::Either { left } else { storage };
            let numbers: u64 = self.shape(part).iter().product();
            if storage == Storage::Shared {
                numbers * u64::from(self.number(part).bits()) / 8
            } else {
                0
            }
        };
        [Part::Left, Part::Right, Part::Sum].into_iter().map(bytes).sum()
    }

    /// Where a part lies that is in registers: registers, lanes and warps to `dim0` and `dim1`. A
    /// register holds one number; those that share a word of 32 bits are consecutive.
    ///
    /// Columns that are no power of two are those of the next one, of which the last registers, beyond the
    /// instruction's, do not exist.
    /// Fails where the sizes are not those of any instruction, and for a part that never lies in
    /// registers.
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
    pub fn fragment(&self, part: Part) -> Result<Layout, FamilyError> {
        let shape = self.shape(part).map(u64::next_power_of_two);
        let result = Box::new(self.family(&[self.warps().into(), 1]));
        let layout = match part {
            Part::Sum => result.layout(&shape),
            Part::Left | Part::Right => {
                let operand = u32::from(part == Part::Right);
                DotOperand { operand, parent: result, k_width: self.k_width(part) }.layout(&shape)
            }
        }?;
        // A family's tile sums more than the shortest instructions, whose registers it has as copies.
        Ok(layout.remove_zero_columns(REGISTER)?.0)
    }

    /// The family of the sum, where so many warps share the tensor along each of its axes.
    pub fn family(&self, warps: &[u64]) -> Family {
        let [rows, columns] = self.shape(Part::Sum).map(u64::next_power_of_two);
        let summed = u64::from(self.summed);
        let nvidia = |version_major, instr_shape: Vec<u64>| NvidiaMma {
            version_major,
            version_minor: 0,
            warps_per_cta: warps.to_vec(),
            instr_shape,
            blocks: Vec::new(),
        };
        // One basis vector for each bit of the warp's number, the last axis first.
        let along = |axis: usize, bit: u32| {
            (0..warps.len()).map(|at| if at == axis { 1 << bit } else { 0 }).collect()
        };
        let each = |(axis, count): (usize, &u64)| {
            (0..count.trailing_zeros()).map(move |bit| along(axis, bit))
        };
        let wmma = |version| AmdWmma {
            version,
            is_transposed: self.transposed,
            register: Vec::new(),
            warp: warps.iter().enumerate().rev().flat_map(each).collect(),
            blocks: Vec::new(),
            instr_shape: [rows, columns, summed],
        };
        match self.fragments {
            Fragments::Mma => Family::NvidiaMma(nvidia(2, [rows, columns].into())),
            Fragments::Wgmma => {
                let each_warp = rows / u64::from(self.warps());
                Family::NvidiaMma(nvidia(3, [each_warp, columns, summed].into()))
            }
            Fragments::Mfma | Fragments::MfmaScaled => Family::AmdMfma(AmdMfma {
                // No layout depends on it.
                version: if self.fragments == Fragments::Mfma { 3 } else { 4 },
                warps_per_cta: warps.to_vec(),
                instr_shape: [rows, columns, summed].into(),
                is_transposed: self.transposed,
                blocks: Vec::new(),
                tiles_per_warp: Vec::new(),
                element_bit_width: self.sum.bits().max(32),
            }),
            Fragments::WmmaGfx11 => Family::AmdWmma(wmma(1)),
            Fragments::WmmaGfx12 => Family::AmdWmma(wmma(2)),
        }
    }

    /// How many neighbours along the summed index a thread holds together.
    fn k_width(&self, factor: Part) -> u32 {
        match self.fragments {
            Fragments::Mma | Fragments::Wgmma => (32 / self.left.bits()).max(1),
            Fragments::WmmaGfx11 => self.summed,
            // 16 bytes.
            Fragments::MfmaScaled => 128 / self.number(factor).bits(),
            // All that a lane has of a factor.
            Fragments::Mfma | Fragments::WmmaGfx12 => {
                (self.rows * self.summed) >> self.lanes_log2()
            }
        }
    }
}

impl Machine {
    /// The instruction of this name, of a warp or of a warpgroup, if the machine has it.
    pub fn matrix_multiply(&self, name: &str) -> Option<&MatrixMultiply> {
        let all = self.matrix_multiplies.iter().chain(self.warpgroup_multiplies.iter());
        let all = all.chain(self.scaled_multiplies.iter());
        all.into_iter().find(|multiply| multiply.name == name)
    }
}
