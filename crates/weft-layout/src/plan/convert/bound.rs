//! What no conversion can go below.
//!
//! An element that a thread needs and does not hold must reach it: by an exchange, which brings each
//! lane a word, or through shared memory, where a wavefront stores or loads one row over all banks.
//! An element that no thread of the warp holds goes through shared memory, and a barrier of the block
//! lies between. How many elements these are follows from dimensions: what a thread needs and what it
//! holds are cosets, which share nothing or a coset of what their directions share.

use alloc::vec::Vec;

use crate::{
    f2::{Echelon, Subspace},
    layout::Layout,
    machine::{Kind, Machine},
    space::{LANE, Label, REGISTER, WARP},
};

/// The least price, in hundredths of a cycle of one warp, of any steps that turn `from` into `to`.
///
/// It counts what must cross the memory pipe, and the barrier; not arithmetic, and not the issue of
/// instructions. The layouts have equal lanes and warps; elements have `bits` bits in registers.
pub(in crate::plan) fn least(from: &Layout, to: &Layout, bits: u32, machine: &Machine) -> u64 {
    let bytes = u64::from(bits / 8);
    let warps = to.in_bits(WARP);
    let dim = |labels: &[Label]| span(to, labels).dim();
    let [thread, warp, block] =
        [dim(&[REGISTER]), dim(&[REGISTER, LANE]), dim(&[REGISTER, LANE, WARP])];
    // How many lanes of a warp, and how many warps, need one element; one wavefront or register of
    // one lane may serve them all.
    let lanes_alike = (to.in_bits(LANE) + thread).saturating_sub(warp);
    let warps_alike = (warps + warp).saturating_sub(block);
    let of_threads = missing(from, to, &[REGISTER], &[LANE, WARP]) >> warps >> lanes_alike;
    let of_warps = missing(from, to, &[REGISTER, LANE], &[WARP]) >> warps;

    let prices = &machine.prices;
    let row = |kind| 1_u64 << (machine.banks_log2_of(kind) + machine.bank_bytes_log2).min(32);
    let pass = |elements: u64, kind| elements * bytes * prices.wavefront / row(kind);
    let across = pass(of_warps, Kind::Load) + pass(of_warps >> warps_alike, Kind::Store);
    // What stays within a warp may go either way.
    let rest = of_threads.saturating_sub(of_warps);
    let exchanged = rest * bytes * prices.shuffle / (4 * u64::from(machine.lanes()));
    let through = pass(rest, Kind::Load) + pass(rest, Kind::Store);
    let both = 2 * prices.wavefront;
    match (of_warps, rest) {
        (0, 0) => 0,
        (0, _) => exchanged.min(through).max(prices.shuffle.min(both)),
        _ => (across + exchanged.min(through)).max(both) + prices.barrier_share(1 << warps.min(16)),
    }
}

fn span(layout: &Layout, labels: &[Label]) -> Subspace {
    let columns = labels.iter().flat_map(|&label| layout.columns(label));
    Subspace::spanned_by(columns.copied())
}

/// How many elements those numbered by the `outer` labels need among their `inner` places in `to` and
/// do not hold in `from`, all together.
fn missing(from: &Layout, to: &Layout, inner: &[Label], outer: &[Label]) -> u64 {
    let (needed, held) = (span(to, inner), span(from, inner));
    let mut apart = Echelon::of(needed.basis().chain(held.basis()));
    let bits: u32 = outer.iter().map(|&label| to.in_bits(label)).sum();
    let differences = outer.iter().flat_map(|&label| {
        let columns = to.columns(label).iter().zip(from.columns(label));
        columns.map(|(to, from)| to ^ from).collect::<Vec<u64>>()
    });
    let strangers = differences.filter(|&difference| apart.grows(difference)).count() as u32;
    let shared = needed.intersection(&held).dim();
    (1_u64 << (bits + needed.dim())) - (1_u64 << (bits - strangers + shared))
}
