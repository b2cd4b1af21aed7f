//! Composition, product, division, inverses and solving.

use alloc::vec::Vec;

use super::{Layout, LayoutError, structure::first_difference};
use crate::{
    f2::{Echelon, Matrix, low_mask},
    space::{BLOCK, LANE, Label, Space, WARP},
};

impl Layout {
    /// First `self`, then `outer`.
    ///
    /// The outputs of `self` are matched by label with the inputs of `outer`, which may be larger;
    /// inputs of `outer` that `self` does not have are zero.
    pub fn compose(&self, outer: &Layout) -> Result<Layout, LayoutError> {
        let embedded = self.matrix.compose(&self.outs.embedding(&outer.ins)?)?;
        let matrix = embedded.compose(&outer.matrix)?;
        Layout::from_matrix(self.ins.clone(), outer.outs.clone(), matrix)
    }

    /// The direct sum with `self` as the minor part: in each axis the bits of `self`, then those of
    /// `other`.
    ///
    /// Fails when the axes of the two have no common order or exceed 64 bits.
    pub fn product(&self, other: &Layout) -> Result<Layout, LayoutError> {
        let ins = supremum(&self.ins, &other.ins)?;
        let outs = supremum(&self.outs, &other.outs)?;
        let place = |outs: &Space, layout: &Layout, shift: bool, column: u64| {
            layout.outs.iter().fold(0, |sum, (label, start, bits)| {
                let minor = if shift { self.outs.bits(label) } else { 0 };
                let offset = outs.offset_of(label).unwrap_or(0) + minor;
                let value = column.checked_shr(start).unwrap_or(0) & low_mask(bits);
                sum | value.checked_shl(offset).unwrap_or(0)
            })
        };
        let mut columns = Vec::with_capacity(ins.total_bits() as usize);
        for label in ins.labels() {
            columns.extend(self.columns(label).iter().map(|&c| place(&outs, self, false, c)));
            columns.extend(other.columns(label).iter().map(|&c| place(&outs, other, true, c)));
        }
        Layout::new(ins, outs, &columns)
    }

    /// The layout `C` with `self = divisor.product(C)`, over the axes of `self`.
    ///
    /// Fails with the first bit at which `self` does not begin with `divisor`.
    pub fn divide_left(&self, divisor: &Layout) -> Result<Layout, LayoutError> {
        self.divide(divisor, Side::Minor)
    }

    /// The layout `C` with `self = C.product(divisor)`, over the axes of `self`.
    ///
    /// Fails with the first bit at which `self` does not end with `divisor`.
    pub fn divide_right(&self, divisor: &Layout) -> Result<Layout, LayoutError> {
        self.divide(divisor, Side::Major)
    }

    fn divide(&self, divisor: &Layout, side: Side) -> Result<Layout, LayoutError> {
        let ins = difference(&self.ins, &divisor.ins)?;
        let outs = difference(&self.outs, &divisor.outs)?;
        let mut columns = Vec::with_capacity(ins.total_bits() as usize);
        for (label, _, bits) in self.ins.iter() {
            let tile_bits = divisor.ins.bits(label);
            let rest_bits = bits - tile_bits;
            for bit in 0..bits {
                let column = self.basis(label, bit);
                let tile_bit = match side {
                    Side::Minor => Some(bit).filter(|&bit| bit < tile_bits),
                    Side::Major => bit.checked_sub(rest_bits),
                };
                let (tile, rest) = self.split_place(column, divisor, &outs, side);
                let fits = match tile_bit {
                    Some(bit) => rest == 0 && tile == divisor.basis(label, bit),
                    None => tile == 0,
                };
                if !fits {
                    return Err(LayoutError::NotDivisible { label, bit });
                }
                if tile_bit.is_none() {
                    columns.push(rest);
                }
            }
        }
        Layout::new(ins, outs, &columns)
    }

    /// A place of `self.outs` cut into a place of the divisor's outputs and one of `rest`.
    fn split_place(&self, place: u64, divisor: &Layout, rest: &Space, side: Side) -> (u64, u64) {
        self.outs.iter().fold((0, 0), |(tile_place, rest_place), (label, start, bits)| {
            let value = place.checked_shr(start).unwrap_or(0) & low_mask(bits);
            let low_bits = match side {
                Side::Minor => divisor.outs.bits(label),
                Side::Major => rest.bits(label),
            };
            let (low, high) =
                (value & low_mask(low_bits), value.checked_shr(low_bits).unwrap_or(0));
            let (tile, outer) = if side == Side::Minor { (low, high) } else { (high, low) };
            let put = |space: &Space, value: u64| {
                let offset = space.offset_of(label).unwrap_or(0);
                value.checked_shl(offset).unwrap_or(0)
            };
            (tile_place | put(&divisor.outs, tile), rest_place | put(rest, outer))
        })
    }

    /// The inverse map; fails when the layout is not invertible.
    pub fn invert(&self) -> Result<Layout, LayoutError> {
        Layout::from_matrix(self.outs.clone(), self.ins.clone(), self.matrix.inverse()?)
    }

    /// A map `X` with `self ∘ X` the identity, using the lowest input bits that suffice.
    ///
    /// Fails with the first output bit that is not reached.
    pub fn right_inverse(&self) -> Result<Layout, LayoutError> {
        let identity = Matrix::identity(self.outs.total_bits())?;
        let solution = self.matrix.solve(&identity).map_err(|error| {
            let axis = self.outs.iter().find(|&(_, start, bits)| error.column < start + bits);
            let name = axis.map_or((crate::space::OFFSET, error.column), |(label, start, _)| {
                (label, error.column - start)
            });
            LayoutError::not_reached(name, error)
        })?;
        Layout::from_matrix(self.outs.clone(), self.ins.clone(), solution)
    }

    /// A map `X` with `to ∘ X = self`: for each place of `self` a place of `to` that holds the same
    /// element.
    ///
    /// Of all solutions the most local one is taken: a place keeps its block if it can, then its
    /// warp, then its lane; where a register holds the same under both, it keeps that too.
    /// What is left free takes the lowest bits, so that copies in `to` are not used otherwise.
    ///
    /// Fails when the outputs differ, or with the first bit of `self` that goes where `to` holds
    /// nothing.
    pub fn solve(&self, to: &Layout) -> Result<Layout, LayoutError> {
        let rows = self.outs.embedding(&to.outs).map_err(LayoutError::from)?;
        if self.outs.axes().len() != to.outs.axes().len() {
            return Err(LayoutError::AxesDiffer(first_difference(&self.outs, &to.outs)));
        }
        let target = self.matrix.compose(&rows)?;
        let basis = local_basis(to);
        let mut columns = Vec::with_capacity(self.ins.total_bits() as usize);
        for (label, start, bits) in self.ins.iter() {
            for bit in 0..bits {
                let goal = target.column(start + bit);
                let stay = stay_place(to, label, bit, goal);
                let (residue, moves) = basis.reduce(goal ^ to.apply_flat(stay), stay);
                if residue != 0 {
                    return Err(LayoutError::NotReached { label, bit, residue });
                }
                columns.push(moves);
            }
        }
        Layout::new(self.ins.clone(), to.ins.clone(), &columns)
    }
}

/// The columns of `to` as an echelon whose pivots prefer cheap moves: everything else before lanes,
/// lanes before warps, warps before blocks.
fn local_basis(to: &Layout) -> Echelon {
    let mut echelon = Echelon::new();
    let distance = |label: Label| [LANE, WARP, BLOCK].iter().position(|&far| far == label);
    for wanted in [None, Some(0), Some(1), Some(2)] {
        for (label, start, bits) in to.ins.iter() {
            if distance(label) == wanted {
                for bit in start..start + bits {
                    echelon.insert(to.matrix.column(bit), 1 << bit);
                }
            }
        }
    }
    echelon
}

/// The place of `to` where bit `bit` of axis `label` would stay: the same bit of the same axis, if
/// there is one; outside lane, warp and block only when it holds `goal` already.
fn stay_place(to: &Layout, label: Label, bit: u32, goal: u64) -> u64 {
    let thread = [LANE, WARP, BLOCK].contains(&label);
    match to.ins.offset_of(label) {
        Some(offset) if bit < to.ins.bits(label) => {
            let stays = thread || to.matrix.column(offset + bit) == goal;
            if stays { 1 << (offset + bit) } else { 0 }
        }
        _ => 0,
    }
}

/// Which part of a product a divisor is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Minor,
    Major,
}

/// Both lists of axes in an order that extends both, with the bits added.
fn supremum(a: &Space, b: &Space) -> Result<Space, LayoutError> {
    let (mut left, mut right) = (a.axes().iter().peekable(), b.axes().iter().peekable());
    let mut axes = Vec::with_capacity(a.axes().len() + b.axes().len());
    loop {
        let label = match (left.peek(), right.peek()) {
            (None, None) => return Ok(Space::new(&axes)?),
            (Some(&&(x, _)), Some(&&(y, _))) if x == y => x,
            (Some(&&(x, _)), _) if !b.contains(x) => x,
            (_, Some(&&(y, _))) if !a.contains(y) => y,
            (Some(&&(x, _)), Some(&&(y, _))) => return Err(LayoutError::Order(x, y)),
            (Some(&&(x, _)), None) | (None, Some(&&(x, _))) => {
                return Err(LayoutError::Order(x, x));
            }
        };
        left.next_if(|axis| axis.0 == label);
        right.next_if(|axis| axis.0 == label);
        axes.push((label, a.bits(label) + b.bits(label)));
    }
}

/// The axes of `whole` without the bits of `part`.
fn difference(whole: &Space, part: &Space) -> Result<Space, LayoutError> {
    for &(label, bits) in part.axes() {
        if !whole.contains(label) || bits > whole.bits(label) {
            return Err(LayoutError::NotDivisible { label, bit: whole.bits(label) });
        }
    }
    let axes: Vec<_> =
        whole.axes().iter().map(|&(label, bits)| (label, bits - part.bits(label))).collect();
    Ok(Space::new(&axes)?)
}
