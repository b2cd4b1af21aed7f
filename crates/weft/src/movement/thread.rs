//! What a thread is to a plan: F2-linear functions of its lane and warp, and whether it takes part.

use crate::lane::{Builder, IdKind, Value};
use crate::scalar::{Binary, Compare};
use weft_layout::step::{Acting, Cube, Neighbour, Parity};

/// An F2-linear function of the thread: lane columns and warp columns. It is one of the thread's index, whose
/// low bits are the lane's.
pub fn thread_map(build: &mut Builder, lane: &[u64], warp: &[u64]) -> Value {
    let narrow = |columns: &[u64]| columns.iter().map(|&c| c as u32).collect::<Vec<u32>>();
    let mut columns = narrow(lane);
    if warp.iter().all(|&column| column == 0) {
        let lane_id = build.id(IdKind::Lane);
        return build.linear(&columns, lane_id);
    }
    columns.resize(build.program().lanes_log2 as usize, 0);
    columns.extend(narrow(warp));
    let thread = build.id(IdKind::Thread);
    build.linear(&columns, thread)
}

/// Whether a thread takes part; none where all do.
pub fn takes_part(build: &mut Builder, acting: Acting) -> Option<Value> {
    let idle = Cube { lanes: acting.idle_lanes, warps: acting.idle_warps, ones: false };
    (idle.lanes | idle.warps != 0).then(|| belongs(build, idle))
}

/// Whether a thread belongs to a set: a test of the bits of its index, of which the low ones are the lane's.
pub(super) fn belongs(build: &mut Builder, threads: Cube) -> Value {
    let (warps, lanes_log2) = (u64::from(build.program().warps), build.program().lanes_log2);
    let mask = threads.lanes | threads.warps << lanes_log2;
    let (kind, all) = if threads.warps == 0 {
        (IdKind::Lane, (1 << lanes_log2) - 1)
    } else {
        (IdKind::Thread, (warps << lanes_log2) - 1)
    };
    let id = build.id(kind);
    let mask_bits = build.i32(mask as i32);
    let bits = if mask & all == all { id } else { build.binary(Binary::And, id, mask_bits) };
    let value = if threads.ones { mask_bits } else { build.i32(0) };
    build.compare(Compare::Eq, bits, value)
}

/// The lane before or after in the row that some lane bits number, modulo the lanes of a warp.
pub(super) fn neighbour(build: &mut Builder, bits: &[u32], neighbour: Neighbour) -> Value {
    let lanes_log2 = build.program().lanes_log2;
    let unit = |bit: u32| 1_u32.checked_shl(bit).unwrap_or(0);
    let lane = build.id(IdKind::Lane);
    let sign = match neighbour {
        Neighbour::Before => -1,
        Neighbour::After => 1,
    };
    let is_run = bits.windows(2).all(|pair| pair[1] == pair[0] + 1);
    if let (Some(&first), Some(&last), true) = (bits.first(), bits.last(), is_run) {
        // The bits below stay as they are, and those above are put back.
        let step = build.i32(sign * unit(first).cast_signed());
        let next = build.binary(Binary::Add, lane, step);
        if last + 1 == lanes_log2 {
            return next;
        }
        let columns = |own: bool| {
            (0..lanes_log2).map(move |bit| if (bit <= last) == own { unit(bit) } else { 0 })
        };
        let moved = build.linear(&columns(true).collect::<Vec<u32>>(), next);
        let kept = build.linear(&columns(false).collect::<Vec<u32>>(), lane);
        return build.binary(Binary::Xor, moved, kept);
    }
    // Lane bits to bits of the number, and back.
    let mut number_of = vec![0; lanes_log2 as usize];
    for (place, &bit) in (0..).zip(bits) {
        if let Some(column) = number_of.get_mut(bit as usize) {
            *column = unit(place);
        }
    }
    let others = (0..lanes_log2).map(|bit| if bits.contains(&bit) { 0 } else { unit(bit) });
    let others: Vec<u32> = others.collect();
    let lane_of: Vec<u32> = bits.iter().map(|&bit| unit(bit)).collect();
    let number = build.linear(&number_of, lane);
    let step = build.i32(sign);
    let next = build.binary(Binary::Add, number, step);
    let moved = build.linear(&lane_of, next);
    let kept = build.linear(&others, lane);
    build.binary(Binary::Xor, moved, kept)
}

/// Whether a thread is odd.
pub(super) fn is_odd(build: &mut Builder, odd_where: Parity) -> Value {
    if odd_where.lane.count_ones() + odd_where.warp.count_ones() == 1 {
        return belongs(build, Cube { lanes: odd_where.lane, warps: odd_where.warp, ones: true });
    }
    let columns = |mask: u64| (0..32).map(|bit| mask >> bit & 1).collect::<Vec<u64>>();
    let bit = thread_map(build, &columns(odd_where.lane), &columns(odd_where.warp));
    let zero = build.i32(0);
    build.compare(Compare::Ne, bit, zero)
}
