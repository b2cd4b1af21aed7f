//! The least that any memory layout takes: what a certificate by dimensions rests on.
//!
//! For each choice of a way for each access, either the choice has no room, or each access takes at
//! least so much in it.
//! The least sum over all choices is the bound.

use alloc::vec::Vec;

use super::way::{Columns, Way};
use crate::f2::Subspace;

/// The least weighted sum over all ways that leave room for each other.
pub(super) fn least_of_all<'a>(
    sides: &'a [Columns<'a>],
    chosen: &mut Vec<(&'a Columns<'a>, Way)>,
) -> u64 {
    if !has_room(chosen) {
        return u64::MAX;
    }
    let Some((side, rest)) = sides.split_first() else {
        let weighted = |(side, way): &(&Columns<'_>, Way)| {
            least(side, way, chosen).saturating_mul(side.access.weight)
        };
        return chosen.iter().map(weighted).fold(0, u64::saturating_add);
    };
    let mut fewest = u64::MAX;
    for way in side.ways() {
        chosen.push((side, way));
        fewest = fewest.min(least_of_all(rest, chosen));
        chosen.pop();
    }
    fewest
}

/// Whether elements can stand at the lowest offset bits: they lie in the room of every access that
/// speaks of these bits, and no sum of them among what some access keeps apart from them.
/// That is asked of each bit alone and of all up to it.
fn has_room(chosen: &[(&Columns<'_>, Way)]) -> bool {
    let fits = |from: usize, bit: usize| {
        let here = chosen.iter().filter(|(_, way)| way.low.len() > bit);
        let claims = here.map(|(side, way)| {
            let slots = &way.low[from..=bit];
            (side.room(slots), side.apart(slots))
        });
        let claims = claims.reduce(|a, b| (a.0.intersection(&b.0), a.1.sum(&b.1)));
        claims.is_none_or(|(room, apart)| {
            (room.dim() - room.intersection(&apart).dim()) as usize > bit - from
        })
    };
    (0..Way::MOST_LOW).all(|bit| fits(bit, bit) && fits(0, bit))
}

/// The least wavefronts of a warp: every phase touches at least its lanes and what stands at the
/// lowest bits, and a wavefront serves one row of the banks, less the bits at which the phase has no
/// part because they are kept apart from all its lanes.
fn least(side: &Columns<'_>, way: &Way, chosen: &[(&Columns<'_>, Way)]) -> u64 {
    let (together, phases) = side.phase(way);
    let touched = Subspace::spanned_by(together.basis().map(|lanes| side.at(lanes)));
    let has_part = |bit: &usize| {
        let here = chosen.iter().filter(|(_, way)| way.low.len() > *bit);
        let apart = here.map(|(side, way)| side.apart(&way.low[*bit..=*bit]));
        let apart = apart.reduce(|a, b| a.sum(&b));
        apart.is_none_or(|apart| !apart.contains_all(&touched))
    };
    let row = side.row_log2() as usize;
    let low = way.low.len();
    let served = low.min(row) + (low..row).filter(has_part).count();
    let turns = (touched.dim() as usize + low).saturating_sub(served) as u32;
    let registers = way.low.iter().chain(&way.rows).filter(|slot| slot.is_none()).count() as u32;
    let units = side.room(&[None]).dim() - registers + phases;
    1_u64.checked_shl(units + turns).unwrap_or(u64::MAX)
}
