//! Blocked layouts.

use alloc::{vec, vec::Vec};

use super::{Parts, Unit, orders};
use crate::family::Blocked;

/// Blocked layouts that may be this one: at most one for each order of the axes.
pub(super) fn guesses(parts: &Parts) -> Vec<Blocked> {
    orders(parts.rank()).into_iter().filter_map(|order| guess(parts, order)).collect()
}

fn guess(parts: &Parts, order: Vec<usize>) -> Option<Blocked> {
    let mut walked = shares(parts, &order)?;
    let size_per_thread = walked.iter().map(|&bits| 1 << bits).collect();
    let threads_per_warp = walk(&parts.lane, &order, &mut walked, &parts.bits)?;
    let warps_per_cta = walk(&parts.warp, &order, &mut walked, &parts.bits)?;
    let blocks = parts.blocks.clone();
    Some(Blocked { size_per_thread, threads_per_warp, warps_per_cta, order, blocks })
}

/// How many bits of each axis lie in the innermost registers.
///
/// Where lanes or warps walk along an axis, it is what lies below them.
/// Elsewhere it is as much as the registers walk at a stretch: if the true box is smaller, the
/// registers beyond it walk on along the same axis, which makes no difference.
fn shares(parts: &Parts, order: &[usize]) -> Option<Vec<u32>> {
    let mut walked = vec![0; parts.rank()];
    let mut registers = parts.register.iter().peekable();
    for &dim in order {
        let threads = parts.lane.iter().chain(&parts.warp).flatten();
        let lowest = threads.filter(|unit| unit.0 == dim).map(|unit| unit.1).min();
        let end = lowest.unwrap_or(parts.bits[dim]);
        while walked[dim] < end {
            let next = Some((dim, walked[dim]));
            if registers.next_if(|&&unit| unit == next).is_none() {
                break;
            }
            walked[dim] += 1;
        }
        if lowest.is_some_and(|lowest| walked[dim] < lowest) {
            return None;
        }
    }
    Some(walked)
}

/// The box that these bits walk through in `order`, starting from `walked`.
///
/// A copy belongs to the first axis from the present one on that is walked to its end; any other
/// choice would only leave fewer axes for what follows.
fn walk(units: &[Unit], order: &[usize], walked: &mut [u32], ends: &[u32]) -> Option<Vec<u64>> {
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
