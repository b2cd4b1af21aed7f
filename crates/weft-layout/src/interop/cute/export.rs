//! From matrices to CuTe.

use alloc::vec::Vec;
use core::fmt;

use super::{Composed, CuteError, CuteLayout, Mode, Tree, chain::chain, import};
use crate::{
    affine::Affine,
    f2::{Echelon, low_mask},
    space::Label,
};

/// Up to this many index bits, an export is evaluated at every index.
const POINTWISE_BITS: u32 = 16;

/// A layout in CuTe's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The layout: at most one swizzle wherever one suffices.
    pub composed: Composed,
    /// Whether it is proved that no fewer swizzles do.
    ///
    /// It is up to three of them: all chains of one and of two are tried first.
    pub shortest: bool,
}

/// The layout in CuTe's words: from flat input places to flat output places.
///
/// Each input axis becomes a top-level mode, in order; a single axis becomes the layout itself.
/// Importing with the labels of the input axes gives the same map back.
///
/// Where no bit of the offset adds two bits of the input, this is a plain layout; elsewhere as few
/// swizzles over one as are found.
/// For a memory layout, which maps offsets to elements, export its inverse.
///
/// Swizzles are bijections, and a plain layout gives each input bit offset bits of its own or none.
/// So a layout can be written this way exactly when its columns other than zero are independent:
/// CuTe repeats by a stride of zero and by nothing else.
/// Fails with a dependent column, and when an offset does not fit CuTe's signed 64 bits.
///
/// Before it is returned, the result is imported again, and evaluated at every index up to 2¹⁶ of
/// them.
pub fn export(layout: &Affine) -> Result<Export, ExportError> {
    check(layout)?;
    let linear = layout.layout();
    let (swizzles, shortest) = chain(linear.matrix());
    let plain = |place: u64| swizzles.iter().fold(place, |place, swizzle| swizzle.apply(place));
    let offset = plain(layout.constant());
    let modes = linear.ins().labels().map(|label| {
        let columns = linear.columns(label).iter();
        axis(&columns.map(|&column| stride(offset, plain(column))).collect::<Vec<_>>())
    });
    let modes = modes.collect::<Result<Vec<_>, _>>()?;
    let tree = match <[Tree<Mode>; 1]>::try_from(modes) {
        Ok([mode]) => mode,
        Err(modes) => Tree::tuple(modes)?,
    };
    let cute = CuteLayout::new(tree)?;
    let composed = Composed { swizzles, offset: offset as i64, layout: cute };
    confirm(&composed, layout)?;
    Ok(Export { composed, shortest })
}

/// Checks that the layout can be written at all.
fn check(layout: &Affine) -> Result<(), ExportError> {
    let narrow = |value: u64, place| match i64::try_from(value) {
        Ok(_) => Ok(()),
        Err(_) => Err(ExportError::TooWide { place }),
    };
    narrow(layout.constant(), 0)?;
    let linear = layout.layout();
    let mut echelon = Echelon::new();
    for (label, start, bits) in linear.ins().iter() {
        for bit in 0..bits {
            let (column, own) = (linear.basis(label, bit), 1 << (start + bit));
            narrow(column, own)?;
            match echelon.insert(column, own) {
                Some(sum) if column != 0 => {
                    return Err(ExportError::Dependent { label, bit, others: sum ^ own });
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// What adding does where exclusive-or flips the bits `flips` of `offset`; both are below 2⁶³.
fn stride(offset: u64, flips: u64) -> i64 {
    (offset ^ flips) as i64 - offset as i64
}

/// An input axis whose bits have these strides, merged where one follows the other.
fn axis(strides: &[i64]) -> Result<Tree<Mode>, CuteError> {
    let bits: Vec<Mode> = strides.iter().map(|&stride| Mode { extent: 2, stride }).collect();
    Ok(CuteLayout::flat(&bits)?.coalesce().tree().clone())
}

/// Checks that the result is the layout: affine by the rule of [`import`], and equal on a basis;
/// and equal everywhere when that is quick.
fn confirm(composed: &Composed, layout: &Affine) -> Result<(), ExportError> {
    let ins = layout.layout().ins();
    let equal = |place| match composed.apply(place) {
        Ok(offset) if offset == layout.apply_flat(place) => Ok(()),
        _ => Err(ExportError::Unequal { place }),
    };
    let bits = ins.total_bits();
    if bits <= POINTWISE_BITS {
        (0..=low_mask(bits)).try_for_each(equal)?;
    }
    equal(0)?;
    (0..bits).try_for_each(|bit| equal(1 << bit))?;
    let labels: Vec<Label> = ins.labels().collect();
    match import(composed, &labels) {
        Ok(back) if back.constant() == layout.constant() => Ok(()),
        _ => Err(ExportError::Unequal { place: 0 }),
    }
}

/// Why a layout cannot be written in CuTe's words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportError {
    /// A bit of the input moves as a combination of others does, where CuTe knows only strides of
    /// its own or zero.
    Dependent {
        /// The input axis that the mode came from.
        label: Label,
        /// The bit of it.
        bit: u32,
        /// The input place, of lower bits, that goes to the same offset as this bit.
        others: u64,
    },
    /// An offset does not fit CuTe's signed 64-bit integers.
    TooWide {
        /// The input place that goes there.
        place: u64,
    },
    /// The layout cannot be built: too many axes.
    Cute(CuteError),
    /// The check found the result to differ: a fault of this module, not of the layout.
    Unequal {
        /// The input place where it does.
        place: u64,
    },
}

impl From<CuteError> for ExportError {
    fn from(error: CuteError) -> ExportError {
        ExportError::Cute(error)
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Dependent { label, bit, others } => write!(
                f,
                "bit {bit} of `{label}` goes where input place {others} goes; CuTe repeats by a \
                 stride of 0 only, so change the basis of the inputs to make this column zero"
            ),
            ExportError::TooWide { place } => write!(
                f,
                "input place {place} goes to an offset of 2^63 or more, beyond CuTe's signed \
                 64-bit integers"
            ),
            ExportError::Cute(error) => error.fmt(f),
            ExportError::Unequal { place } => {
                write!(f, "the exported layout is wrong at input place {place}; please report this")
            }
        }
    }
}

impl core::error::Error for ExportError {}
