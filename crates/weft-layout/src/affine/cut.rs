//! Operators on boxed layouts: exact, or refused with a place that shows why no box is left.

use alloc::vec::Vec;

use super::{
    Affine, Boxed, BoxedError, Extents,
    boxed::{check_cells, escape, hull, identity},
    coset::Coset,
    extents::size,
};
use crate::{
    layout::LayoutError,
    space::{Label, REGISTER, Space},
};

impl Boxed {
    /// First `self`, then `outer`, axes matched as in [`Layout::compose`](crate::Layout::compose).
    ///
    /// A place is live when it is under `self` and its image is under `outer`.
    /// The box in the middle has to become one of the inputs or of the outputs: it is dropped when
    /// no place exceeds it, else the smallest boxes around the live places are tried, which succeed
    /// when any boxes do.
    /// Fails with a place that lies in those and is dead.
    pub fn compose(&self, outer: &Boxed) -> Result<Boxed, BoxedError> {
        let map = self.map().compose(outer.map())?;
        let middle = self.map().compose(&identity(outer.ins().space())?)?;
        let inner = Extents::build(outer.ins().space(), |label| {
            let own = self.outs().space().contains(label).then(|| self.outs().extent(label));
            own.unwrap_or(u128::MAX).min(outer.ins().extent(label))
        });
        Boxed::from_parts(map, self.ins().clone(), outer.outs().clone()).confined(&middle, &inner)
    }

    /// The direct sum with `self` as the minor part
    /// ([`Layout::product`](crate::Layout::product)).
    ///
    /// An axis of the product is a box again when the minor part is full there, or the major part
    /// has at most one coordinate; else fails with the first coordinate that is missing.
    pub fn product(&self, other: &Boxed) -> Result<Boxed, BoxedError> {
        let map = self.map().product(other.map())?;
        let ins = product_extents(map.ins(), self.ins(), other.ins())?;
        let outs = product_extents(map.outs(), self.outs(), other.outs())?;
        Ok(Boxed::from_parts(map, ins, outs))
    }

    /// The inverse map, boxes exchanged; fails when the map is not invertible.
    pub fn invert(&self) -> Result<Boxed, BoxedError> {
        Ok(Boxed::from_parts(self.map().invert()?, self.outs().clone(), self.ins().clone()))
    }

    /// Gives an input axis another label, as [`Layout::rename_in`](crate::Layout::rename_in) does; the box
    /// stays.
    pub fn rename_in(&self, from: Label, to: Label) -> Result<Boxed, BoxedError> {
        let map = self.map().rename_in(from, to)?;
        let ins = self.ins().renamed(map.ins(), from, to);
        Ok(Boxed::from_parts(map, ins, self.outs().clone()))
    }

    /// Gives an output axis another label, as [`Layout::rename_out`](crate::Layout::rename_out) does; the box
    /// stays.
    pub fn rename_out(&self, from: Label, to: Label) -> Result<Boxed, BoxedError> {
        let map = self.map().rename_out(from, to)?;
        let outs = self.outs().renamed(map.outs(), from, to);
        Ok(Boxed::from_parts(map, self.ins().clone(), outs))
    }

    /// [`Layout::reshape_ins`](crate::Layout::reshape_ins): the flat places read through other axes
    /// of as many bits.
    ///
    /// Fails when the places inside are no box of the new axes, with one that shows it.
    pub fn reshape_ins(&self, ins: &Space) -> Result<Boxed, BoxedError> {
        let map = self.map().reshape_ins(ins.clone())?;
        let moved = identity(self.ins().space())?.reshape_outs(ins)?;
        Ok(Boxed::from_parts(map, self.ins().through(&moved)?, self.outs().clone()))
    }

    /// [`Layout::reshape_outs`](crate::Layout::reshape_outs): the flat elements read through other
    /// axes of as many bits.
    ///
    /// Fails when the elements inside are no box of the new axes, with one that shows it.
    pub fn reshape_outs(&self, outs: &Space) -> Result<Boxed, BoxedError> {
        let map = self.map().reshape_outs(outs)?;
        let moved = identity(self.outs().space())?.reshape_outs(outs)?;
        Ok(Boxed::from_parts(map, self.ins().clone(), self.outs().through(&moved)?))
    }

    /// `tt.reshape` of the grown tensor to these powers of two: 96 of 128 are 12 of 16 rows of 8,
    /// but 100 of 128 are no number of them.
    ///
    /// Fails as [`reshape_outs`](Self::reshape_outs) does.
    pub fn reshape(&self, shape: &[u64]) -> Result<Boxed, BoxedError> {
        // The reshape of the map refuses what is no tensor.
        let map = self.map().reshape(shape)?;
        self.reshape_outs(map.outs())
    }

    /// [`Layout::transpose`](crate::Layout::transpose): the extents move with their axes.
    pub fn transpose(&self, order: &[usize]) -> Result<Boxed, BoxedError> {
        let map = self.map().transpose(order)?;
        let old = self.outs().dims();
        let dims: Vec<u128> = order.iter().filter_map(|&dim| old.get(dim).copied()).collect();
        Ok(self.with_dims(map, &dims))
    }

    /// Adds an axis of size 1 to the tensor, as [`Layout::expand_dims`](crate::Layout::expand_dims) does.
    pub fn expand_dims(&self, axis: usize) -> Result<Boxed, BoxedError> {
        let map = self.map().expand_dims(axis)?;
        let mut dims = self.outs().dims();
        // The map has refused an axis beyond the last one.
        dims.insert(axis.min(dims.len()), 1);
        Ok(self.with_dims(map, &dims))
    }

    /// [`Layout::slice`](crate::Layout::slice): without axis `axis` of the tensor.
    ///
    /// Places that exceeded its extent stay dead, so that the extent has to become one of the
    /// inputs, as in [`compose`](Self::compose); fails with a place that shows that it cannot.
    pub fn slice(&self, axis: usize) -> Result<Boxed, BoxedError> {
        let map = self.map().slice(axis)?;
        let mut dims = self.outs().dims();
        let dropped = (axis < dims.len()).then(|| dims.remove(axis));
        let inner = Extents::build(self.outs().space(), |label| {
            let this = label.dim_index().and_then(|dim| usize::try_from(dim).ok()) == Some(axis);
            dropped.filter(|_| this).unwrap_or(u128::MAX)
        });
        self.with_dims(map, &dims).confined(self.map(), &inner)
    }

    /// [`Layout::broadcast`](crate::Layout::broadcast) to these extents: axes of size 1 grow, to
    /// the next powers of two with the extents inside.
    ///
    /// Fails when another axis changes, or when the box of the inputs does not hold all registers,
    /// since the new ones come above them.
    pub fn broadcast(&self, extents: &[u64]) -> Result<Boxed, BoxedError> {
        let own = self.outs().dims();
        let sizes = self.map().layout().shape();
        if own.len() != extents.len() {
            let (expected, found) = (own.len(), extents.len());
            return Err(LayoutError::Rank { expected, found }.into());
        }
        let mut shape = Vec::with_capacity(sizes.len());
        for (dim, ((&from, &size), &to)) in own.iter().zip(&sizes).zip(extents).enumerate() {
            let grows = from == 1 && size == 1 && to > 0;
            let grown = to.checked_next_power_of_two().filter(|_| grows);
            let kept = (from == u128::from(to)).then_some(size);
            let from = u64::try_from(from).unwrap_or(u64::MAX);
            let error = LayoutError::NotBroadcast { dim, from, to };
            shape.push(grown.or(kept).ok_or(error)?);
        }
        let map = self.map().broadcast(&shape)?;
        let dims: Vec<u128> = extents.iter().map(|&extent| u128::from(extent)).collect();
        let outs = Extents::of_dims(map.outs(), &dims);
        let new = map.ins().bits(REGISTER) - self.ins().space().bits(REGISTER);
        let ins = self.with_registers(&map, product_extent(self.ins(), REGISTER, size(new))?);
        Ok(Boxed::from_parts(map, ins, outs))
    }

    /// [`Layout::join`](crate::Layout::join): a new last axis of size 2, on register bit 0.
    pub fn join(&self) -> Result<Boxed, BoxedError> {
        let map = self.map().join()?;
        let ins = self.with_registers(&map, self.ins().extent(REGISTER) << 1);
        let mut dims = self.outs().dims();
        dims.push(2);
        let outs = Extents::of_dims(map.outs(), &dims);
        Ok(Boxed::from_parts(map, ins, outs))
    }

    /// [`Affine::split`]: the layout of each half, the register bit that tells them apart, and
    /// whether the constant exchanges them.
    ///
    /// Fails unless both halves exist and have the same registers.
    pub fn split(&self) -> Result<(Boxed, u32, bool), BoxedError> {
        let (map, position, exchanged) = self.map().split()?;
        let mut dims = self.outs().dims();
        let last = dims.pop();
        if last != Some(2) {
            let size = last.map(|extent| extent as u64);
            return Err(LayoutError::NotSplit { size, holders: Vec::new() }.into());
        }
        let extent = self.ins().extent(REGISTER);
        let (half, whole) = (size(position), size(position + 1));
        if !extent.is_multiple_of(whole) {
            // The extent itself, or the partner of the last run's first register.
            let register = extent.max(extent / whole * whole + half);
            return Err(BoxedError::Halves { register });
        }
        let ins = self.with_registers(&map, extent / 2);
        let outs = Extents::of_dims(map.outs(), &dims);
        Ok((Boxed::from_parts(map, ins, outs), position, exchanged))
    }

    /// `map` with the inputs of `self` and these extents of a tensor.
    fn with_dims(&self, map: Affine, dims: &[u128]) -> Boxed {
        let outs = Extents::of_dims(map.outs(), dims);
        Boxed::from_parts(map, self.ins().clone(), outs)
    }

    /// The box of the inputs of `map`: that of `self` with other registers.
    fn with_registers(&self, map: &Affine, registers: u128) -> Extents {
        let extent = |label| if label == REGISTER { registers } else { self.ins().extent(label) };
        Extents::build(map.ins(), extent)
    }

    /// `self` with only those places live that `via` sends into `inner`.
    ///
    /// If any boxes express that, then the smallest ones around the live places do: they lie within
    /// all others.
    fn confined(self, via: &Affine, inner: &Extents) -> Result<Boxed, BoxedError> {
        if self.escapes(via, inner)?.is_none() {
            return Ok(self);
        }
        let live = self.live_cosets()?;
        check_cells(&[number(&live), inner.cell_count()])?;
        let cells = inner.cells()?;
        let remaining: Vec<Coset> = (live.iter().flatten())
            .flat_map(|coset| cells.iter().filter_map(|&cell| coset.sent_into(via, cell)))
            .collect();
        let ins = hull(remaining.iter(), &identity(self.ins().space())?);
        let outs = hull(remaining.iter(), self.map());
        let boxed = |ins: &Extents, outs: &Extents| {
            Boxed::from_parts(self.map().clone(), ins.clone(), outs.clone())
        };
        for found in [boxed(&ins, self.outs()), boxed(self.ins(), &outs)] {
            if found.escapes(via, inner)?.is_none() {
                return Ok(found);
            }
        }
        let smallest = boxed(&ins, &outs);
        match smallest.escapes(via, inner)? {
            None => Ok(smallest),
            Some(place) => Err(BoxedError::NotBox { place: self.ins().space().unpack(place) }),
        }
    }

    /// A live place that `via` sends outside `inner`, if there is one.
    fn escapes(&self, via: &Affine, inner: &Extents) -> Result<Option<u64>, BoxedError> {
        let live = self.live_cosets()?;
        check_cells(&[number(&live), inner.outside().count() as u64])?;
        Ok(live.iter().flatten().find_map(|coset| escape(coset, via, inner)))
    }
}

impl Extents {
    /// The box after an invertible map of its space; fails when its image is no box, with an
    /// element of the smallest one around it that is not in the image.
    fn through(&self, map: &Affine) -> Result<Extents, BoxedError> {
        let found = hull(self.cosets()?.iter(), map);
        check_cells(&[found.cell_count(), self.outside().count() as u64])?;
        let back = map.invert()?;
        match found.cosets()?.iter().find_map(|coset| escape(coset, &back, self)) {
            None => Ok(found),
            Some(place) => Err(BoxedError::NotBox { place: found.space().unpack(place) }),
        }
    }

    /// The same extents for a space in which one axis has another name.
    fn renamed(&self, space: &Space, from: Label, to: Label) -> Extents {
        Extents::build(space, |label| self.extent(if label == to { from } else { label }))
    }
}

/// How many cosets there are in all groups.
fn number(groups: &[Vec<Coset>]) -> u64 {
    groups.iter().map(|group| group.len() as u64).sum()
}

/// The box of a product.
fn product_extents(space: &Space, minor: &Extents, major: &Extents) -> Result<Extents, BoxedError> {
    let mut axes = Vec::with_capacity(space.axes().len());
    for label in space.labels() {
        axes.push((label, product_extent(minor, label, major.extent(label))?));
    }
    let extent = |label| axes.iter().find(|axis| axis.0 == label).map_or(1, |axis| axis.1);
    Ok(Extents::build(space, extent))
}

/// The extent of an axis of a product.
///
/// Coordinate `low + size · high` is inside when `low` and `high` are; that is an interval from 0
/// when `low` is full, when `high` is 0 at most, or when there is nothing at all.
fn product_extent(minor: &Extents, label: Label, major: u128) -> Result<u128, BoxedError> {
    let (low, size) = (minor.extent(label), size(minor.space().bits(label)));
    if low == 0 || major <= 1 {
        return Ok(low * major);
    }
    if low < size {
        return Err(BoxedError::NotBox { place: Vec::from([(label, low as u64)]) });
    }
    // Both are at most the sizes of the two parts, whose bits fit one axis.
    Ok(size * major)
}
