//! Generators of random layouts for the tests.

use alloc::{collections::BTreeSet, vec::Vec};
use arbitrary::{Result, Unstructured};

use crate::{
    Label, Layout, Space,
    f2::Matrix,
    space::{BLOCK, LANE, OFFSET, REGISTER, WARP},
};

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
pub(crate) fn shuffled(u: &mut Unstructured<'_>, bits: u32) -> Result<Vec<u64>> {
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
    /// Any surjective map, whose bases are sums of several bits.
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
    distributed_over(u, shape, 5, warp_bits, kind)
}

/// As [`distributed`], with any number of lanes.
pub(crate) fn distributed_over(
    u: &mut Unstructured<'_>,
    shape: &[u64],
    lane_bits: u32,
    warp_bits: u32,
    kind: Kind,
) -> Result<Layout> {
    let outs = Space::tensor(shape).unwrap();
    let bits = outs.total_bits();
    let spare = u.int_in_range(0..=2)?;
    let registers = (bits + spare).saturating_sub(lane_bits + warp_bits);
    let total = registers + lane_bits + warp_bits;
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
    let ins = Space::hardware(registers, lane_bits, warp_bits, 0).unwrap();
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

/// Runs a law on random cases for about this long, longer where a busy machine is slow, and prints
/// how many there were.
pub(crate) fn holds(budget_ms: u64, mut law: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let mut cases = 0_u64;
    while cases < 1000 {
        arbtest::arbtest(|u| {
            cases += 1;
            law(u)
        })
        .budget_ms(budget_ms)
        .size_min(512)
        .size_max(2048);
    }
    std::println!("{cases} cases");
}

/// The labels of inputs that the tests use.
pub(crate) const INPUTS: [Label; 5] = [REGISTER, LANE, WARP, BLOCK, OFFSET];

/// Some of these labels in their order, each with at most `most` bits; perhaps none.
pub(crate) fn space(u: &mut Unstructured<'_>, labels: &[Label], most: u32) -> Result<Space> {
    let mut axes = Vec::new();
    for &label in labels {
        if u.ratio(2, 3)? {
            axes.push((label, u.int_in_range(0..=most)?));
        }
    }
    Ok(Space::new(&axes).unwrap())
}

/// All of these labels in their order, each with at most `most` bits.
pub(crate) fn axes(u: &mut Unstructured<'_>, labels: &[Label], most: u32) -> Result<Space> {
    let axes = labels.iter().map(|&label| Ok((label, u.int_in_range(0..=most)?)));
    Ok(Space::new(&axes.collect::<Result<Vec<_>>>()?).unwrap())
}

/// The same axes in a random order.
pub(crate) fn reordered(u: &mut Unstructured<'_>, space: &Space) -> Result<Space> {
    let mut axes = space.axes().to_vec();
    for index in (1..axes.len()).rev() {
        axes.swap(index, u.choose_index(index + 1)?);
    }
    Ok(Space::new(&axes).unwrap())
}

/// A map between these spaces, of any rank: dense, of low rank, of single bits with zeros and
/// repetitions, or zero.
pub(crate) fn between(u: &mut Unstructured<'_>, ins: &Space, outs: &Space) -> Result<Layout> {
    let (rows, cols) = (outs.total_bits(), ins.total_bits());
    let style = u.int_in_range(0..=4)?;
    let matrix = match style {
        0 => matrix(u, rows, cols)?,
        1 => {
            let rank = u.int_in_range(0..=rows.min(cols))?;
            let inner = matrix(u, rank, cols)?;
            inner.compose(&matrix(u, rows, rank)?).unwrap()
        }
        2 | 3 => {
            let mut columns = shuffled(u, rows.max(cols))?;
            columns.truncate(cols as usize);
            for column in &mut columns {
                *column &= crate::f2::low_mask(rows);
                if u.ratio(1, 6)? {
                    *column ^= 1_u64.checked_shl(u.int_in_range(0..=rows)?).unwrap_or(0);
                    *column &= crate::f2::low_mask(rows);
                }
            }
            Matrix::new(rows, &columns).unwrap()
        }
        _ => Matrix::zero(rows, cols as usize).unwrap(),
    };
    Ok(Layout::from_matrix(ins.clone(), outs.clone(), matrix).unwrap())
}

/// The axes of a tensor of at most three axes of at most `most` bits.
pub(crate) fn tensor(u: &mut Unstructured<'_>, most: u32) -> Result<Space> {
    let rank = u.int_in_range(0..=3)?;
    let shape: Vec<u64> =
        (0..rank).map(|_| Ok(1 << u.int_in_range(0..=most)?)).collect::<Result<_>>()?;
    Ok(Space::tensor(&shape).unwrap())
}

/// Any layout of a small tensor: with any inputs in any order, empty, not surjective, with copies.
pub(crate) fn layout(u: &mut Unstructured<'_>) -> Result<Layout> {
    let ins = space(u, &INPUTS, 3)?;
    let (ins, outs) = (reordered(u, &ins)?, tensor(u, 3)?);
    between(u, &ins, &outs)
}

/// All places of a space.
pub(crate) fn places(space: &Space) -> core::ops::Range<u64> {
    0..1 << space.total_bits()
}

/// The most words that one of 32 banks is asked for.
pub(crate) fn ways(words: impl IntoIterator<Item = u64>) -> usize {
    let distinct: BTreeSet<u64> = words.into_iter().collect();
    let bank = |bank: u64| distinct.iter().filter(|&word| word % 32 == bank).count();
    (0..32).map(bank).max().unwrap_or(0)
}

/// Runs `case` on `count` streams of random bytes, the same ones each time.
///
/// Where `arbtest` runs for a time and shrinks what it finds, this runs a number of cases.
pub(crate) fn repeat(count: u64, mut case: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let mut state = 0_u64;
    let mut word = || {
        // Splitmix: a counter through a mixing function.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    for _ in 0..count {
        let bytes: Vec<u8> = (0..128).flat_map(|_| word().to_le_bytes()).collect();
        case(&mut Unstructured::new(&bytes)).unwrap();
    }
}
