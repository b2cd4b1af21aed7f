//! Offsets whose lowest bits no thread changes.
//!
//! A vector access of 2^k elements needs lanes and warps that move the address by multiples of it, so
//! the lowest k offset bits must vanish on their elements; a matrix move needs as much of the lanes
//! that choose a row, and of registers where lanes stand at the lowest bits.
//! Offset bits are functionals. Where one functional for each lowest bit is 1 on the element there and 0
//! on all those, their common kernel completes the lowest elements, and everything else is chosen
//! inside it.

use alloc::vec::Vec;

use super::{
    fragment::Slot,
    ways::{Actor, Way},
};
use crate::plan::swizzle::{Phases, Side};
use crate::{
    f2::{Echelon, low_mask},
    step::combine,
};

/// Elements on which these lowest offset bits must vanish.
struct Want {
    bits: u64,
    elements: Vec<u64>,
}

/// What a side wants of offsets, so that it moves this way; vectors of at most 2^`vector` elements.
fn wants(actor: &Actor<'_>, way: Way<'_>, low: &[u64], vector: u32) -> Vec<Want> {
    let Side { registers, lanes, warps } = actor.side;
    let fragment = match way {
        Way::Vector(width) => {
            let elements = lanes.iter().chain(warps).copied().collect();
            return [Want { bits: low_mask(width.min(vector)), elements }].into();
        }
        Way::Matrix(fragment) => fragment,
    };
    let slots = fragment.low.iter().zip(0..);
    let of_lanes = slots.filter(|slot| matches!(slot.0, Slot::Lane(_)));
    let of_lanes = of_lanes.fold(0, |mask, (_, bit)| mask | 1 << bit);
    let rows = lanes.iter().filter(|lane| !low.contains(lane));
    let mut inner = Echelon::of(low.iter().copied());
    let others = registers.iter().copied().filter(|&register| inner.grows(register));
    [
        Want { bits: low_mask(low.len() as u32), elements: rows.chain(warps).copied().collect() },
        Want { bits: of_lanes, elements: others.collect() },
    ]
    .into()
}

/// Both sides, and what their phases touch, inside a common kernel of the lowest offset bits.
pub(in crate::plan) struct Aligned {
    pub(in crate::plan) store: Side,
    pub(in crate::plan) load: Side,
    pub(in crate::plan) phases: Phases,
}

/// The functionals of the lowest offset bits: those that the first side wants, and as many of the
/// second side's as agree with them.
fn functionals(
    first: (&Actor<'_>, Way<'_>),
    second: (&Actor<'_>, Way<'_>),
    low: &[u64],
) -> Option<Echelon> {
    let mut known = Echelon::new();
    for (&element, bit) in low.iter().zip(0..) {
        if known.insert(element, 1 << bit).is_some() {
            return None;
        }
    }
    let with = |known: &Echelon, (actor, way): (&Actor<'_>, Way<'_>), vector: u32| {
        let mut known = known.clone();
        for want in wants(actor, way, low, vector) {
            for &element in &want.elements {
                if known.insert(element, 0).is_some_and(|bits| bits & want.bits != 0) {
                    return None;
                }
            }
        }
        Some(known)
    };
    let known = with(&known, first, u32::MAX)?;
    let widths = match second.1 {
        Way::Vector(width) => (1..=width).rev(),
        Way::Matrix(_) => (1..=1).rev(),
    };
    let mut both = widths.filter_map(|vector| with(&known, second, vector));
    Some(both.next().unwrap_or(known))
}

/// The sides as the lowest offset bits of `low` let them move these ways: the first one as it wants.
pub(in crate::plan) fn aligned(
    store: (&Actor<'_>, Way<'_>),
    load: (&Actor<'_>, Way<'_>),
    phases: &Phases,
    store_first: bool,
) -> Option<Aligned> {
    let low = &phases.rigid;
    let (first, second) = if store_first { (store, load) } else { (load, store) };
    let mut known = functionals(first, second, low)?;
    for side in [store.0.side, load.0.side] {
        for &element in side.lanes.iter().chain(&side.warps).chain(&side.registers) {
            known.insert(element, 0);
        }
    }
    let inside = |&element: &u64| element ^ combine(low, known.reduce(element, 0).1);
    let all = |elements: &[u64]| elements.iter().map(inside).collect::<Vec<u64>>();
    let side = |side: &Side| Side {
        registers: all(&side.registers),
        lanes: all(&side.lanes),
        warps: all(&side.warps),
    };
    let touched = |elements: &[u64]| {
        elements.iter().map(inside).filter(|&element| element != 0).collect::<Vec<u64>>()
    };
    Some(Aligned {
        store: side(store.0.side),
        load: side(load.0.side),
        phases: Phases {
            store: touched(&phases.store),
            load: touched(&phases.load),
            rigid: low.clone(),
        },
    })
}

/// The elements at the lowest offset bits that as many vectors of both sides as can be share, then those
/// of one side: elements of both whose functionals may vanish on the threads of both come first.
pub(in crate::plan) fn shared_first(
    store: &Side,
    load: &Side,
    widest: usize,
    more: &Side,
) -> Vec<u64> {
    let threads = [store, load].into_iter().flat_map(|side| side.lanes.iter().chain(&side.warps));
    let mut apart = Echelon::of(threads.copied());
    let [mine, theirs] =
        [store, load].map(|side| crate::f2::Subspace::from_vectors(&side.registers));
    let common = mine.intersection(&theirs);
    let single = store.registers.iter().copied().filter(|&element| theirs.contains(element));
    let common: Vec<u64> = single.chain(common.basis()).collect();
    let mut low: Vec<u64> = common.iter().copied().filter(|&one| apart.grows(one)).collect();
    let mut known = Echelon::of(low.iter().copied());
    low.extend(common.iter().chain(&more.registers).copied().filter(|&one| known.grows(one)));
    low.truncate(widest);
    low
}
