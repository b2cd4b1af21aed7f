use alloc::vec::Vec;
use core::fmt;

use super::{CuteError, Tree};

/// One leaf of a CuTe layout: how many steps, and how far each goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// The number of steps; at least 1.
    pub extent: u64,
    /// The distance of a step, in elements; zero repeats, a negative one goes backwards.
    pub stride: i64,
}

/// A CuTe layout `shape:stride`: a function from coordinates to integers.
///
/// Shape and stride are congruent because they are held as one tree of [`Mode`]s.
/// Its size is at most 2⁶⁴, so that an index is a `u64`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CuteLayout {
    /// Invariant: extents are positive and their product is at most 2⁶⁴.
    tree: Tree<Mode>,
}

impl CuteLayout {
    /// The layout of these modes; fails when an extent is zero or the size exceeds 2⁶⁴.
    pub fn new(tree: Tree<Mode>) -> Result<CuteLayout, CuteError> {
        let mut index = 0;
        let size = tree.fold(Ok(1_u128), &mut |size, mode: &Mode| {
            let at = index;
            index += 1;
            let size = size?;
            if mode.extent == 0 {
                return Err(CuteError::EmptyMode { mode: at });
            }
            // Both factors are below 2⁶⁵, so that the product fits.
            let size = size * u128::from(mode.extent);
            if size > 1 << 64 { Err(CuteError::TooLarge) } else { Ok(size) }
        });
        size.map(|_| CuteLayout { tree })
    }

    /// The layout of modes that are not nested: `8:1` for one mode, `(4,8):(8,1)` for more.
    pub fn flat(modes: &[Mode]) -> Result<CuteLayout, CuteError> {
        if let [mode] = modes {
            return CuteLayout::new(Tree::leaf(*mode));
        }
        CuteLayout::new(Tree::tuple(modes.iter().copied().map(Tree::leaf).collect())?)
    }

    /// The modes as they are nested.
    pub fn tree(&self) -> &Tree<Mode> {
        &self.tree
    }

    /// The modes without their nesting, the fastest one first.
    pub fn modes(&self) -> Vec<Mode> {
        self.tree.fold(Vec::new(), &mut |mut modes, &mode| {
            modes.push(mode);
            modes
        })
    }

    /// The number of top-level modes; 1 for `8:1`, 0 for `():()`.
    pub fn rank(&self) -> usize {
        self.tree.modes().len()
    }

    /// How many coordinates there are: the product of the extents.
    pub fn size(&self) -> u128 {
        self.tree.fold(1, &mut |size, mode| size * u128::from(mode.extent))
    }

    /// The integer at a flat index: its coordinate is taken colexicographically (the first mode
    /// fastest), nested modes in the order in which they are written.
    ///
    /// Beyond the size the last mode goes on, as it does in CuTe.
    pub fn apply(&self, index: u64) -> i128 {
        // A coordinate is at most `index`, and so is the sum of all, so that nothing overflows:
        // the result is at most 2⁶⁴ · 2⁶³ in magnitude.
        let start = (index, 0, None);
        let (beyond, value, last) = self.tree.fold(start, &mut |(rest, value, _), mode| {
            let step = i128::from(rest % mode.extent) * i128::from(mode.stride);
            (rest / mode.extent, value + step, Some(*mode))
        });
        value
            + last.map_or(0, |Mode { extent, stride }| {
                i128::from(beyond) * i128::from(extent) * i128::from(stride)
            })
    }

    /// The same function of the flat index with as few modes as merging neighbours gives: CuTe's
    /// `coalesce`.
    ///
    /// Extents of 1 go, and `(a,b):(d,a·d)` becomes `a·b:d`.
    #[must_use]
    pub fn coalesce(&self) -> CuteLayout {
        let mut merged: Vec<Mode> = Vec::new();
        for mode in self.modes().into_iter().filter(|mode| mode.extent != 1) {
            match merged.last_mut().and_then(|last| Some((joined(*last, mode)?, last))) {
                Some((extent, last)) => last.extent = extent,
                None => merged.push(mode),
            }
        }
        let tree = match merged[..] {
            [] => Ok(Tree::leaf(Mode { extent: 1, stride: 0 })),
            [mode] => Ok(Tree::leaf(mode)),
            _ => Tree::tuple(merged.into_iter().map(Tree::leaf).collect()),
        };
        // There are no more modes than before, so that the tuple exists.
        tree.map_or_else(|_| self.clone(), |tree| CuteLayout { tree })
    }
}

/// The extent of `low` and `high` as one mode, if they are one.
fn joined(low: Mode, high: Mode) -> Option<u64> {
    let follows = i128::from(low.extent) * i128::from(low.stride) == i128::from(high.stride);
    if follows { low.extent.checked_mul(high.extent) } else { None }
}

/// `(4,8):(8,1)`, as CuTe prints it without the `_` of compile-time integers.
impl fmt::Display for CuteLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree.write(f, &|f, mode| write!(f, "{}", mode.extent))?;
        f.write_str(":")?;
        self.tree.write(f, &|f, mode| write!(f, "{}", mode.stride))
    }
}

impl fmt::Debug for CuteLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
