//! Blocked layouts.

use alloc::{vec, vec::Vec};

use super::{Parts, orders};
use crate::family::Blocked;

/// The most ways to share out registers that are tried.
const MAX_SHARES: usize = 4096;

/// Blocked layouts that may be this one.
pub(super) fn guesses(parts: &Parts) -> Vec<Blocked> {
    let mut guesses = Vec::new();
    for size_per_thread in shares(parts) {
        for order in orders(parts.rank()) {
            guesses.extend(guess(parts, &size_per_thread, order));
        }
    }
    guesses
}

/// How many bits of each axis may lie in the innermost registers.
///
/// Where lanes or warps walk along an axis, it is what lies below them; elsewhere any number.
fn shares(parts: &Parts) -> Vec<Vec<u32>> {
    let mut shares = vec![Vec::new()];
    for (dim, &bits) in parts.bits.iter().enumerate() {
        let threads = parts.lane.iter().chain(&parts.warp).flatten();
        let lowest = threads.filter(|unit| unit.0 == dim).map(|unit| unit.1).min();
        let (least, most) = lowest.map_or((0, bits), |lowest| (lowest, lowest));
        shares = (shares.iter())
            .flat_map(|share: &Vec<u32>| {
                (least..=most).map(|bits| share.iter().copied().chain([bits]).collect())
            })
            .take(MAX_SHARES)
            .collect();
    }
    shares
}

fn guess(parts: &Parts, share: &[u32], order: Vec<usize>) -> Option<Blocked> {
    let mut walked = share.to_vec();
    let threads_per_warp = walk(&parts.lane, &order, &mut walked, &parts.bits)?;
    let warps_per_cta = walk(&parts.warp, &order, &mut walked, &parts.bits)?;
    Some(Blocked {
        size_per_thread: share.iter().map(|&bits| 1 << bits).collect(),
        threads_per_warp,
        warps_per_cta,
        order,
        blocks: parts.blocks.clone(),
    })
}

/// The box that these bits walk through in `order`, starting from `walked`.
///
/// A copy belongs to the first axis from the present one on that is walked to its end; any other
/// choice would only leave fewer axes for what follows.
fn walk(
    units: &[Option<(usize, u32)>],
    order: &[usize],
    walked: &mut [u32],
    ends: &[u32],
) -> Option<Vec<u64>> {
    let mut sizes = vec![1_u64; ends.len()];
    let mut position = 0;
    for unit in units {
        let next = |&at: &usize| {
            let dim = order[at];
            match *unit {
                Some((wanted, bit)) => dim == wanted && walked[dim] == bit,
                None => walked[dim] >= ends[dim],
            }
        };
        position = (position..order.len()).find(next)?;
        let dim = order[position];
        walked[dim] += 1;
        sizes[dim] = sizes[dim].checked_mul(2)?;
    }
    Some(sizes)
}
