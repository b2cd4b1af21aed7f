use alloc::vec::Vec;
use core::fmt;

use super::{CuteError, CuteLayout, Swizzle};

/// Swizzles after an offset after a layout: CuTe's `ComposedLayout`, nested once for each swizzle
/// beyond the first.
///
/// A coordinate `x` goes to `swizzles[0](swizzles[1](… (offset + layout(x))))`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Composed {
    /// The swizzles, the outermost (applied last) first.
    pub swizzles: Vec<Swizzle>,
    /// What is added before them.
    pub offset: i64,
    /// The layout that is applied first, to the index.
    pub layout: CuteLayout,
}

impl Composed {
    /// What the swizzles make of an offset.
    pub fn swizzle(&self, offset: u64) -> u64 {
        self.swizzles.iter().rev().fold(offset, |offset, swizzle| swizzle.apply(offset))
    }

    /// The offset of a flat index ([`CuteLayout::apply`]).
    ///
    /// Fails when the sum that the swizzles should see is negative or does not fit 64 bits.
    pub fn apply(&self, index: u64) -> Result<u64, CuteError> {
        // The layout is below 2¹²⁷ - 2⁶³ in magnitude when its index is, so that this fits.
        let value = self.layout.apply(index) + i128::from(self.offset);
        let offset = u64::try_from(value).map_err(|_| CuteError::OutOfRange { index, value })?;
        Ok(self.swizzle(offset))
    }
}

impl From<CuteLayout> for Composed {
    fn from(layout: CuteLayout) -> Composed {
        Composed { swizzles: Vec::new(), offset: 0, layout }
    }
}

/// `Sw<3,4,3> o 0 o (8,8):(8,1)`, as CuTe prints it; without swizzles and offset the layout alone.
impl fmt::Display for Composed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Composed { swizzles, offset, layout } = self;
        for (index, swizzle) in swizzles.iter().enumerate() {
            // Every nested composition has an offset of its own; only the innermost is used.
            let before = if index == 0 { "" } else { "0 o " };
            write!(f, "{before}{swizzle} o ")?;
        }
        if !swizzles.is_empty() || *offset != 0 {
            write!(f, "{offset} o ")?;
        }
        layout.fmt(f)
    }
}

impl fmt::Debug for Composed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
