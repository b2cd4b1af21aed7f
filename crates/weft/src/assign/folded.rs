//! Layouts in which folding along an axis, by a reduction or a scan, or gathering along it, takes fewer
//! steps.
//!
//! Accesses ask for what coalesces them: neighbours in lanes. Where an axis runs over warps, folding it
//! costs barriers; where a scan finds neighbours in lanes, it exchanges every register. One conversion may
//! spare that, and so may work that all warps do alike.

use weft_layout::machine::Prices;
use weft_layout::space::{LANE, REGISTER, WARP};
use weft_layout::{Label, Layout, LayoutError, Space};

/// The most bits of an axis that a thread holds as neighbours of lanes that run along it.
const MOST_NEIGHBOURS: usize = 2;
/// The most register bits of a layout that all warps hold: more work than that is not done several times.
const MOST_HELD_BY_ALL: u32 = 5;

/// The layouts beside this one in which folding words along an axis, in order or not, is worth a look;
/// no more than `most` of those that nothing but fewer steps speaks for.
pub(super) fn worth_a_look(
    layout: &Layout,
    axis: usize,
    in_order: bool,
    prices: &Prices,
    most: usize,
) -> Result<Vec<Layout>, LayoutError> {
    let mut found: Vec<Layout> = turned(layout, axis)?.into_iter().collect();
    if in_order {
        let base: Vec<Layout> = [layout].into_iter().chain(&found).cloned().collect();
        for layout in &base {
            found.extend(gathered(layout, axis)?.filter(|layout| !found.contains(layout)));
        }
    }
    let mut others = Vec::new();
    for copied in held_by_all(layout, axis)? {
        // Neighbours of a thread come by one instruction.
        others.extend(gathered(&copied, axis)?);
        others.push(copied);
    }
    others.extend(in_a_warp(layout, axis)?);
    // Of these only what takes fewer steps.
    let own = estimate(layout, axis, in_order, prices);
    let priced = others.into_iter().map(|other| (estimate(&other, axis, in_order, prices), other));
    let mut priced: Vec<(u64, Layout)> = priced.filter(|&(price, _)| 8 * price < 7 * own).collect();
    priced.sort_by_key(|&(price, _)| price);
    priced.dedup_by(|one, other| one.1 == other.1);
    found.extend(priced.into_iter().take(most).map(|(_, other)| other));
    Ok(found)
}

/// About what folding one word along an axis costs a warp: a step in each thread for what it holds, one
/// for each bit of the lanes along it, and a round through memory where warps run along it.
fn estimate(layout: &Layout, axis: usize, in_order: bool, prices: &Prices) -> u64 {
    let mask = layout.outs().mask(Label::dim(axis as u32));
    let along = |label| layout.columns(label).iter().filter(|&&column| column & mask != 0).count();
    let registers = 1_u64 << layout.in_bits(REGISTER);
    let kept = registers >> along(REGISTER);
    // Where neighbours in order lie in other lanes, each register is exchanged.
    let first = layout.outs().locate(Label::dim(axis as u32)).map_or(0, |(start, _)| 1 << start);
    let mixed = in_order && along(REGISTER) > 0 && !layout.columns(REGISTER).contains(&first);
    let exchanged = if mixed { registers } else { kept };
    let step = prices.shuffle + prices.alu;
    let mut cost = (registers - kept) * prices.alu + exchanged * along(LANE) as u64 * step;
    if along(WARP) > 0 {
        let warps = 1 << layout.in_bits(WARP);
        cost += prices.barrier_share(warps) + exchanged * 2 * prices.wavefront;
    }
    cost
}

/// Layouts in which warps that run along an axis hold copies instead, all of them or the last one: what
/// all warps compute nobody has to tell the others.
fn held_by_all(layout: &Layout, axis: usize) -> Result<Vec<Layout>, LayoutError> {
    let mask = layout.outs().mask(Label::dim(axis as u32));
    let warps = layout.columns(WARP);
    let along: Vec<usize> = (0..warps.len()).filter(|&at| warps[at] & mask != 0).collect();
    let mut found = Vec::new();
    for count in [along.len(), 1] {
        let registers = layout.in_bits(REGISTER) + count as u32;
        if count > along.len()
            || registers > MOST_HELD_BY_ALL
            || !found.is_empty() && along.len() == 1
        {
            continue;
        }
        let taken = &along[along.len() - count..];
        let mut own = layout.columns(REGISTER).to_vec();
        let mut others = warps.to_vec();
        for &at in taken {
            own.push(core::mem::take(&mut others[at]));
        }
        let columns = [&own[..], layout.columns(LANE), &others].concat();
        let ins = Space::hardware(registers, layout.in_bits(LANE), layout.in_bits(WARP), 0)?;
        found.push(Layout::new(ins, layout.outs().clone(), &columns)?);
    }
    Ok(found)
}

/// Layouts in which an axis lies in one warp: in the registers of each thread as far as these reach and
/// in lanes, or in lanes first. Folding along it takes no barrier then, and an exchange of registers
/// finds what an index says.
pub(super) fn in_a_warp(layout: &Layout, axis: usize) -> Result<Vec<Layout>, LayoutError> {
    let outs = layout.outs();
    let (lanes, warps) = (layout.in_bits(LANE) as usize, layout.in_bits(WARP) as usize);
    let axis = Label::dim(axis as u32);
    let bits = |label| {
        let (start, count) = outs.locate(label).unwrap_or((0, 0));
        (start..start + count).map(|bit| 1_u64 << bit)
    };
    let along: Vec<u64> = bits(axis).collect();
    // What the first lanes walk, they go on walking.
    let first = layout.columns(LANE).iter().find(|&&column| column != 0).copied().unwrap_or(0);
    let walked = outs.labels().find(|&label| outs.mask(label) & first != 0);
    let others = walked.into_iter().chain(outs.labels().filter(|&label| Some(label) != walked));
    let others: Vec<u64> = others.filter(|&label| label != axis).flat_map(bits).collect();
    let total = along.len() + others.len();
    let share = total.saturating_sub(lanes + warps);
    // Neighbours of a thread, of what does not go into lanes.
    let left = along.len().saturating_sub(lanes);
    let vector = if walked == Some(axis) { left.min(MOST_NEIGHBOURS) } else { 0 };
    let mut ways = vec![(share.min(along.len()), false), (vector, true)];
    if total < lanes + warps {
        // Where there are threads without a part, a thread may as well hold several.
        ways.extend([1, 2].map(|count| (count.min(along.len()), false)));
    }
    let mut found = Vec::new();
    for (held, is_in_lanes) in ways {
        let (mut registers, mut rest) = (along[..held].to_vec(), &along[held..]);
        let (in_lanes, beyond) = rest.split_at(rest.len().min(lanes));
        rest = beyond;
        let mut others = others.iter().copied();
        let mut threads: Vec<u64> = if is_in_lanes {
            in_lanes.to_vec()
        } else {
            others.by_ref().take(lanes - in_lanes.len()).chain(in_lanes.iter().copied()).collect()
        };
        threads.extend(others.by_ref().take(lanes + warps - threads.len()));
        // Who is left without a part holds a copy.
        threads.resize(lanes + warps, 0);
        registers.extend(rest.iter().copied().chain(others));
        if registers.len() > share.max(MOST_HELD_BY_ALL as usize) {
            continue;
        }
        let ins = Space::hardware(registers.len() as u32, lanes as u32, warps as u32, 0)?;
        found.push(Layout::new(ins, outs.clone(), &[registers, threads].concat())?);
    }
    Ok(found)
}

/// A layout in which warps that run along an axis, which costs barriers, and registers have changed places.
fn turned(layout: &Layout, axis: usize) -> Result<Option<Layout>, LayoutError> {
    let mask = layout.outs().mask(Label::dim(axis as u32));
    if layout.columns(WARP).iter().all(|column| column & mask == 0) {
        return Ok(None);
    }
    let mut columns = layout.matrix().columns().to_vec();
    let registers = layout.in_bits(REGISTER) as usize;
    let first_warp = registers + layout.in_bits(LANE) as usize;
    // The last registers are the farthest apart in memory.
    let swapped = (0..layout.in_bits(WARP) as usize).zip((0..registers).rev());
    for (warp, register) in swapped {
        columns.swap(first_warp + warp, register);
    }
    Layout::new(layout.ins().clone(), layout.outs().clone(), &columns).map(Some)
}

/// A layout in which the registers that run along an axis hold neighbours: a thread then combines what it
/// has in order, and threads exchange one partial result each. Lanes and warps hold the rest of the axis in order.
fn gathered(layout: &Layout, axis: usize) -> Result<Option<Layout>, LayoutError> {
    let Some((start, bits)) = layout.outs().locate(Label::dim(axis as u32)) else {
        return Ok(None);
    };
    let mask = layout.outs().mask(Label::dim(axis as u32));
    let mut columns = layout.matrix().columns().to_vec();
    let registers = 0..layout.in_bits(REGISTER) as usize;
    let along: Vec<usize> = registers.filter(|&at| columns[at] & mask != 0).collect();
    let threads = layout.in_bits(REGISTER) as usize..columns.len();
    let holders: Vec<usize> = threads.filter(|&at| columns[at] & mask != 0).collect();
    let mut held: Vec<u64> = along.iter().chain(&holders).map(|&at| columns[at]).collect();
    held.sort_unstable();
    let bits = (start..start + bits).map(|bit| 1_u64 << bit);
    if bits.clone().eq(held) {
        // Each bit of the axis has one holder: they are dealt out in order.
        for (bit, &holder) in bits.zip(along.iter().chain(&holders)) {
            columns[holder] = bit;
        }
    } else {
        for (bit, register) in bits.zip(along) {
            if let Some(holder) = columns.iter().position(|&column| column == bit) {
                columns.swap(holder, register);
            }
        }
    }
    Layout::new(layout.ins().clone(), layout.outs().clone(), &columns).map(Some)
}

#[cfg(test)]
mod tests {
    use super::{in_a_warp, worth_a_look};
    use weft_layout::space::{LANE, REGISTER, WARP};
    use weft_layout::{Layout, Machine, Space};

    #[test]
    fn a_thread_gets_neighbours_of_a_scan_and_warps_get_the_ends_of_the_axis() {
        let ins = Space::hardware(3, 5, 2, 0).unwrap();
        let columns = [128, 256, 512, 1, 2, 4, 8, 16, 32, 64];
        let layout = Layout::new(ins, Space::tensor(&[1024]).unwrap(), &columns).unwrap();
        let prices = Machine::by_name("sm_90").unwrap().prices;
        let found = worth_a_look(&layout, 0, true, &prices, 2).unwrap();
        let parts =
            |layout: &Layout| [REGISTER, LANE, WARP].map(|label| layout.columns(label).to_vec());
        let [turned, gathered, held @ ..] = &found[..] else { panic!("{found:?}") };
        assert_eq!(parts(turned), [vec![128, 64, 32], vec![1, 2, 4, 8, 16], vec![512, 256]]);
        assert_eq!(parts(gathered), [vec![1, 2, 4], vec![8, 16, 32, 64, 128], vec![256, 512]]);
        // What every warp holds nobody has to tell the others; a few steps in each thread do not outweigh
        // that.
        let held: Vec<_> = held.iter().map(parts).collect();
        assert!(!held.is_empty() && held.len() <= 2, "{held:?}");
        assert!(held.iter().all(|[_, _, warps]| warps.contains(&0)), "{held:?}");
        // A sum may be taken in any order.
        let any = worth_a_look(&layout, 0, false, &prices, 0).unwrap();
        assert_eq!(any, found[..1]);
    }

    #[test]
    fn an_axis_to_gather_along_goes_into_lanes_or_registers() {
        // Rows of eight: four neighbours in registers, two lanes a row.
        let ins = Space::hardware(3, 5, 2, 0).unwrap();
        let columns = [1, 2, 512, 4, 8, 16, 32, 64, 128, 256];
        let layout = Layout::new(ins, Space::tensor(&[128, 8]).unwrap(), &columns).unwrap();
        let found = in_a_warp(&layout, 1).unwrap();
        let parts =
            |layout: &Layout| [REGISTER, LANE, WARP].map(|label| layout.columns(label).to_vec());
        let in_threads = [vec![1, 2, 4], vec![8, 16, 32, 64, 128], vec![256, 512]];
        let in_lanes = [vec![128, 256, 512], vec![1, 2, 4, 8, 16], vec![32, 64]];
        assert_eq!(found.iter().map(parts).collect::<Vec<_>>(), [in_threads, in_lanes]);
    }
}
