//! Generators of random layouts for the tests.

use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};

use crate::{Layout, Space, f2::Matrix};

/// A random invertible matrix.
pub(crate) fn invertible(u: &mut Unstructured<'_>, bits: u32) -> Result<Matrix> {
    let mut columns: Vec<u64> = shuffled(u, bits)?;
    for _ in 0..bits {
        let (a, b) = (u.choose_index(bits as usize)?, u.choose_index(bits as usize)?);
        if a != b {
            columns[a] ^= columns[b];
        }
    }
    Ok(Matrix::new(bits, &columns).unwrap())
}

/// The unit vectors of `bits` bits in random order.
fn shuffled(u: &mut Unstructured<'_>, bits: u32) -> Result<Vec<u64>> {
    let mut units: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
    for index in (1..units.len()).rev() {
        units.swap(index, u.choose_index(index + 1)?);
    }
    Ok(units)
}

/// A random matrix of any rank.
pub(crate) fn matrix(u: &mut Unstructured<'_>, rows: u32, cols: u32) -> Result<Matrix> {
    let mask = crate::f2::low_mask(rows);
    let columns: Vec<u64> =
        (0..cols).map(|_| Ok(u.arbitrary::<u64>()? & mask)).collect::<Result<_>>()?;
    Ok(Matrix::new(rows, &columns).unwrap())
}

/// How far a random layout is from a permutation of bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Each basis is one bit or zero, all bits differ.
    Permutation,
    /// Spare bases may also repeat sums of others.
    Copies,
    /// Any surjective map.
    General,
}

impl Kind {
    pub(crate) fn any(u: &mut Unstructured<'_>) -> Result<Kind> {
        Ok(*u.choose(&[Kind::Permutation, Kind::Permutation, Kind::Copies, Kind::General])?)
    }
}

/// A surjective distributed layout of a tensor of this shape, with 32 lanes.
pub(crate) fn distributed(
    u: &mut Unstructured<'_>,
    shape: &[u64],
    warp_bits: u32,
    kind: Kind,
) -> Result<Layout> {
    let outs = Space::tensor(shape).unwrap();
    let bits = outs.total_bits();
    let spare = u.int_in_range(0..=2)?;
    let registers = (bits + spare).saturating_sub(5 + warp_bits);
    let total = registers + 5 + warp_bits;
    let mut columns = Vec::new();
    for slot in shuffled(u, total)? {
        let unit = slot.trailing_zeros();
        let copy = if kind == Kind::Permutation || u.ratio(1, 2)? { 0 } else { u.arbitrary()? };
        columns.push(if unit < bits { 1 << unit } else { copy & crate::f2::low_mask(bits) });
    }
    if kind == Kind::General {
        let mix = invertible(u, bits)?;
        for column in &mut columns {
            *column = mix.apply(*column);
        }
    }
    let ins = Space::hardware(registers, 5, warp_bits, 0).unwrap();
    Ok(Layout::new(ins, outs, &columns).unwrap())
}

/// Powers of two with `bits` bits in all.
pub(crate) fn shape(u: &mut Unstructured<'_>, bits: u32) -> Result<Vec<u64>> {
    let rank = u.int_in_range(1..=3)?;
    let mut left = bits;
    let mut shape: Vec<u64> = Vec::new();
    for _ in 1..rank {
        let part = u.int_in_range(0..=left)?;
        shape.push(1 << part);
        left -= part;
    }
    shape.push(1 << left);
    Ok(shape)
}
