//! From CuTe to matrices.

use alloc::{format, vec::Vec};
use core::fmt;

use super::{Composed, CuteError, Mode, Tree};
use crate::{
    affine::Affine,
    layout::{Layout, LayoutError},
    space::{Label, OFFSET, Space, SpaceError},
};

/// `mode0`, `mode1`, …: names for the top-level modes of a layout that has none.
pub fn mode_labels(rank: usize) -> Result<Vec<Label>, SpaceError> {
    (0..rank).map(|mode| Label::new(&format!("mode{mode}"))).collect()
}

/// The affine map that a CuTe layout is: from its modes to `offset`.
///
/// Each top-level mode becomes an input axis, named by `labels` in order, the first one least
/// significant; a single label names the flat index instead.
/// The input place is the flat index, and `offset` has as many bits as the largest offset needs.
///
/// # Which layouts are affine
///
/// Write `F(x) = k + Σ c_a` over the set bits `a` of the flat index, where `k` is the offset and
/// `c_a` is a stride times a power of two.
/// All extents must be powers of two, or the indices are no vectors of bits.
/// Then `F` is affine exactly when the differences `m_a = F(0) ⊕ F(2^a)` have no bit in common:
///
/// - If they have none, adding `c_a` flips the bits of `m_a` and no others, whatever else was
///   added, so that `F(x) = F(0) ⊕ Σ m_a`.
/// - If `F` is affine, its bit `p` is `±` the product of the signs `(-1)^x_a` over those `a` whose
///   `m_a` has it (up to scale and constant).
///   Such products are linearly independent functions, and `F` as a sum of integers uses none of
///   two or more signs; since different bits weigh different powers of two, none cancel.
///   So no bit lies in two `m_a`.
///
/// Without an offset and with positive strides, `m_a` is `c_a`, and the rule reads: no two columns
/// share a bit.
/// Strides need not be powers of two: `4:5` has the columns 5 and 10 and is linear; `4:3` has 3 and
/// 6 and is not.
/// A negative stride works where the offset keeps it from borrowing: `7 o 8:-1` is `x ⊕ 7`.
///
/// Swizzles are linear and change nothing in this.
pub fn import(composed: &Composed, labels: &[Label]) -> Result<Affine, ImportError> {
    let ins = input_axes(composed.layout.tree(), labels)?;
    let steps = steps(&composed.layout.modes())?;
    let start = within_range(&steps, composed.offset)?;
    let flips = differences(&steps, start, composed)?;

    let bases: Vec<u64> = flips.into_iter().map(|bits| composed.swizzle(bits)).collect();
    let constant = composed.swizzle(start);
    let used = bases.iter().fold(constant, |used, basis| used | basis);
    let outs = Space::new(&[(OFFSET, 64 - used.leading_zeros())])?;
    Ok(Affine::new(Layout::new(ins, outs, &bases)?, constant)?)
}

/// The axes of the top-level modes, or of the flat index.
fn input_axes(tree: &Tree<Mode>, labels: &[Label]) -> Result<Space, ImportError> {
    let bits = |tree: &Tree<Mode>| {
        tree.fold(0, &mut |bits, mode: &Mode| bits + mode.extent.trailing_zeros())
    };
    let modes = tree.modes();
    let axes: Vec<(Label, u32)> = match labels {
        [flat] => alloc::vec![(*flat, bits(tree))],
        _ if labels.len() == modes.len() => {
            labels.iter().copied().zip(modes.iter().map(bits)).collect()
        }
        _ => return Err(ImportError::Labels { modes: modes.len(), labels: labels.len() }),
    };
    Ok(Space::new(&axes)?)
}

/// What one bit of the flat index adds.
#[derive(Clone, Copy)]
struct Step {
    bit: BitOfMode,
    /// The flat index of this bit alone.
    index: u64,
    size: i128,
}

/// A step for each bit of the flat index; at most 64, since the size is at most 2⁶⁴.
fn steps(modes: &[Mode]) -> Result<Vec<Step>, ImportError> {
    let mut steps = Vec::new();
    for (mode, &of) in modes.iter().enumerate() {
        if !of.extent.is_power_of_two() {
            return Err(ImportError::NotPowerOfTwo { mode, extent: of.extent });
        }
        for bit in 0..of.extent.trailing_zeros() {
            let index = 1_u64.checked_shl(steps.len() as u32).unwrap_or(0);
            let size = i128::from(of.stride) << bit;
            steps.push(Step { bit: BitOfMode { mode, bit, of }, index, size });
        }
    }
    Ok(steps)
}

/// The offset of index 0, when no index leaves 64 bits.
fn within_range(steps: &[Step], offset: i64) -> Result<u64, ImportError> {
    let start = i128::from(offset);
    let extreme = |wanted: fn(i128) -> bool| {
        let steps = steps.iter().filter(|step| wanted(step.size));
        steps.fold((0, start), |(index, value), step| (index | step.index, value + step.size))
    };
    for (index, value) in [extreme(i128::is_negative), extreme(i128::is_positive)] {
        if u64::try_from(value).is_err() {
            return Err(CuteError::OutOfRange { index, value }.into());
        }
    }
    // Both extremes lie within 64 bits, and so does everything between them.
    Ok(start as u64)
}

/// The bits that each step flips, when no two share one.
fn differences(steps: &[Step], start: u64, composed: &Composed) -> Result<Vec<u64>, ImportError> {
    let after = |size: i128| (i128::from(start) + size) as u64;
    let mut found: Vec<(Step, u64)> = Vec::with_capacity(steps.len());
    for &step in steps {
        let flips = start ^ after(step.size);
        let Some((other, bits)) = found.iter().find(|(_, bits)| bits & flips != 0) else {
            found.push((step, flips));
            continue;
        };
        let at = |size: i128| composed.swizzle(after(size));
        return Err(ImportError::NotAffine(Carry {
            first: other.bit,
            second: step.bit,
            offset_bit: (bits & flips).trailing_zeros(),
            x: other.index,
            y: step.index,
            at_zero: at(0),
            at_x: at(other.size),
            at_y: at(step.size),
            at_both: at(other.size + step.size),
        }));
    }
    Ok(found.into_iter().map(|(_, flips)| flips).collect())
}

/// One bit of the coordinate of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitOfMode {
    /// The mode, counted without nesting.
    pub mode: usize,
    /// The bit of its coordinate.
    pub bit: u32,
    /// Its extent and stride.
    pub of: Mode,
}

impl fmt::Display for BitOfMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BitOfMode { mode, bit, of: Mode { extent, stride } } = self;
        write!(f, "bit {bit} of mode {mode} ({extent}:{stride})")
    }
}

/// Two bits of the flat index that make a layout non-affine: their sum carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carry {
    /// The bit that index `x` sets.
    pub first: BitOfMode,
    /// The bit that index `y` sets.
    pub second: BitOfMode,
    /// A bit of the offset (before any swizzle) that both flip.
    pub offset_bit: u32,
    /// The flat index of the first bit alone.
    pub x: u64,
    /// The flat index of the second bit alone.
    pub y: u64,
    /// The offset of index 0, `F(0)`.
    pub at_zero: u64,
    /// The offset of index `x`, `F(x)`.
    pub at_x: u64,
    /// The offset of index `y`, `F(y)`.
    pub at_y: u64,
    /// `F(x ⊕ y)`, which is not [`expected`](Carry::expected).
    pub at_both: u64,
}

impl Carry {
    /// What `F(x ⊕ y)` would be if `F` were affine: `F(x) ⊕ F(y) ⊕ F(0)`.
    pub fn expected(&self) -> u64 {
        self.at_x ^ self.at_y ^ self.at_zero
    }
}

impl fmt::Display for Carry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Carry { first, second, offset_bit, x, y, at_both, .. } = self;
        write!(f, "{first} and {second} both reach bit {offset_bit} of the offset and carry: ")?;
        write!(f, "index {} goes to {at_both}, not to the exclusive-or ", x | y)?;
        write!(
            f,
            "{} of indices {x} and {y}; strides whose multiples share no bit ",
            self.expected()
        )?;
        f.write_str("do not carry, and a swizzle replaces padding")
    }
}

/// Why a CuTe layout is no affine map of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportError {
    /// There are neither as many labels as top-level modes, nor one.
    Labels {
        /// The number of modes at the top level of the layout.
        modes: usize,
        /// The number of labels that were given for them.
        labels: usize,
    },
    /// The coordinates of a mode are no bits.
    NotPowerOfTwo {
        /// The mode, counted without nesting.
        mode: usize,
        /// The extent that the mode has.
        extent: u64,
    },
    /// Two bits of the index carry.
    NotAffine(Carry),
    /// An offset leaves 64 bits.
    Cute(CuteError),
    /// The labels, or the layout, are refused.
    Layout(LayoutError),
}

impl From<CuteError> for ImportError {
    fn from(error: CuteError) -> ImportError {
        ImportError::Cute(error)
    }
}

impl From<LayoutError> for ImportError {
    fn from(error: LayoutError) -> ImportError {
        ImportError::Layout(error)
    }
}

impl From<SpaceError> for ImportError {
    fn from(error: SpaceError) -> ImportError {
        ImportError::Layout(LayoutError::Space(error))
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImportError::Labels { modes, labels } => write!(
                f,
                "{labels} labels for {modes} top-level modes; one a mode is expected, or a single \
                 one for the flat index"
            ),
            ImportError::NotPowerOfTwo { mode, extent } => {
                write!(f, "extent {extent} of mode {mode} is no power of two")?;
                match extent.checked_next_power_of_two() {
                    Some(padded) => write!(f, "; pad it to {padded} and mask what is beyond"),
                    None => Ok(()),
                }
            }
            ImportError::NotAffine(carry) => carry.fmt(f),
            ImportError::Cute(error) => error.fmt(f),
            ImportError::Layout(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ImportError {}
