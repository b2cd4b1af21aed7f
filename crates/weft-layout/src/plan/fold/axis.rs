//! Where one axis of a tensor lies in registers, lanes and warps.

use alloc::{vec, vec::Vec};

use crate::plan::{
    PlanError,
    swizzle::Side,
    writing::tuple::{self, Tuple},
};
use crate::{
    f2::{Echelon, low_mask, ones},
    layout::{Layout, LayoutError},
    space::{BLOCK, LANE, Label, REGISTER, Space, WARP},
    step::{Plan, combine},
};

/// Which hardware dim a bit belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plan) enum Unit {
    Register,
    Lane,
    Warp,
}

impl Unit {
    const ALL: [(Unit, Label); 3] =
        [(Unit::Register, REGISTER), (Unit::Lane, LANE), (Unit::Warp, WARP)];
}

/// Neighbouring bits of the axis that lie in one hardware dim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::plan) struct Run {
    pub(in crate::plan) unit: Unit,
    /// The hardware bit of each bit of the axis, lowest first.
    pub(in crate::plan) bits: Vec<u32>,
}

/// An axis each bit of which is one bit of the hardware.
pub(in crate::plan) struct Axis {
    /// The axis from its lowest bit to its highest.
    pub(in crate::plan) runs: Vec<Run>,
    /// What the bits contribute, the axis included.
    pub(in crate::plan) columns: Side,
    /// The bits of the axis in an element.
    mask: u64,
    /// The register bits across the axis that are no copies.
    pub(in crate::plan) across: Vec<u32>,
    /// For each register bit the registers of the result that it stands for: those of the axis
    /// lowest, then those of `across`.
    pub(in crate::plan) parts: Vec<u64>,
}

impl Axis {
    /// `None` when a bit moves both along the axis and across it, when a bit along it moves by more
    /// than one bit, and when two bits do the same.
    pub(in crate::plan) fn of(layout: &Layout, dim: usize) -> Option<Axis> {
        let label = Label::dim(dim as u32);
        let mask = layout.outs().mask(label);
        let places = ones(mask).map(|bit| 1_u64 << bit);
        let mut holders = Vec::new();
        for place in places {
            let mut found = None;
            for (unit, label) in Unit::ALL {
                for (bit, &column) in (0..).zip(layout.columns(label)) {
                    if column & place != 0 && (column != place || found.is_some()) {
                        return None;
                    }
                    if column == place {
                        found = Some((unit, bit));
                    }
                }
            }
            holders.push(found?);
        }
        let mut runs: Vec<Run> = Vec::new();
        for (unit, bit) in holders {
            match runs.last_mut().filter(|run| run.unit == unit) {
                Some(run) => run.bits.push(bit),
                None => runs.push(Run { unit, bits: vec![bit] }),
            }
        }
        let columns = |label| layout.columns(label).to_vec();
        let columns =
            Side { registers: columns(REGISTER), lanes: columns(LANE), warps: columns(WARP) };
        let (across, parts) = names(&columns.registers, &runs, mask);
        Some(Axis { runs, columns, mask, across, parts })
    }

    /// The columns without the bits of the first `runs` runs of the axis; of the registers only those
    /// that the result of these runs has.
    pub(in crate::plan) fn beyond(&self, runs: usize) -> Side {
        let passed: usize = self.runs.iter().take(runs).map(|run| run.bits.len()).sum();
        let low = low_mask(passed as u32).wrapping_shl(self.mask.trailing_zeros());
        let keep = |columns: &[u64]| columns.iter().map(|&column| column & !low).collect();
        let bits = self.register_bits(runs);
        let column = |&bit: &u32| self.columns.registers.get(bit as usize).copied().unwrap_or(0);
        Side {
            registers: bits.iter().map(column).collect(),
            lanes: keep(&self.columns.lanes),
            warps: keep(&self.columns.warps),
        }
    }

    /// The outputs with the registers of the axis lowest, from its first element or from its last one,
    /// each element once.
    pub(in crate::plan) fn gathered(&self, plan: &mut Plan, reverse: bool) -> Tuple {
        let bits = self.register_bits(0);
        let along = bits.len() - self.across.len();
        let columns: Vec<u64> = bits.iter().map(|&bit| 1 << bit).collect();
        let start = if reverse { combine(&columns, low_mask(along as u32)) } else { 0 };
        let source = (0..1_u64 << bits.len()).map(|r| (combine(&columns, r) ^ start) as u32);
        let source: Vec<u32> = source.collect();
        tuple::rename(plan, &plan.outputs.clone(), &source)
    }

    /// The register bits of the axis beyond the first `runs` runs, then those across.
    pub(in crate::plan) fn register_bits(&self, runs: usize) -> Vec<u32> {
        let along = self.runs.iter().skip(runs).filter(|run| run.unit == Unit::Register);
        let along = along.flat_map(|run| run.bits.iter().copied());
        along.chain(self.across.iter().copied()).collect()
    }
}

/// The register bits across the axis that are no copies, and for each register bit what it is in
/// those of the axis and these.
fn names(registers: &[u64], runs: &[Run], axis: u64) -> (Vec<u32>, Vec<u64>) {
    let along: Vec<u32> = (runs.iter().filter(|run| run.unit == Unit::Register))
        .flat_map(|run| run.bits.iter().copied())
        .collect();
    let mut echelon = Echelon::new();
    let (mut across, mut parts) = (Vec::new(), vec![0; registers.len()]);
    for (bit, &column) in registers.iter().enumerate() {
        if column & axis != 0 {
            let place = along.iter().position(|&own| own as usize == bit);
            parts[bit] = place.map_or(0, |place| 1 << place);
            continue;
        }
        let (residue, known) = echelon.reduce(column, 0);
        parts[bit] = known;
        if residue != 0 {
            parts[bit] = 1 << (along.len() + across.len());
            echelon.insert(column, parts[bit]);
            across.push(bit as u32);
        }
    }
    (across, parts)
}

/// A layout of the same part of the tensor in each block, with as many lanes and warps, in which each
/// bit of axis `dim` is one bit of the hardware: in registers as far as possible.
///
/// Lanes and warps stay as they are where they move across the axis alone.
pub(in crate::plan) fn straightened(layout: &Layout, dim: usize) -> Result<Layout, PlanError> {
    let axis = layout.outs().mask(Label::dim(dim as u32));
    let [registers, lanes, warps, blocks] =
        [REGISTER, LANE, WARP, BLOCK].map(|label| layout.columns(label));
    let own = Echelon::of([registers, lanes, warps].concat());
    // What one block holds must be whole along the axis.
    if let Some(bit) = ones(axis).find(|&bit| own.reduce(1 << bit, 0).0 != 0) {
        let crossing = blocks.iter().position(|&column| column >> bit & 1 == 1);
        return Err(PlanError::CrossesBlocks { label: BLOCK, bit: crossing.unwrap_or(0) as u32 });
    }
    let mut across = Echelon::new();
    let mut kept = |columns: &[u64]| -> Vec<u64> {
        let own = |&column: &u64| if across.grows(column & !axis) { column & !axis } else { 0 };
        columns.iter().map(own).collect()
    };
    let (mut lanes, mut warps) = (kept(lanes), kept(warps));
    let rest = registers.iter().chain(layout.columns(LANE)).chain(layout.columns(WARP));
    let mut rest: Vec<u64> =
        rest.map(|column| column & !axis).filter(|&column| across.grows(column)).collect();
    rest.extend(ones(axis).map(|bit| 1 << bit));
    let mut rest = rest.into_iter();
    for slot in lanes.iter_mut().chain(&mut warps).filter(|slot| **slot == 0) {
        *slot = rest.next().unwrap_or(0);
    }
    let mut registers: Vec<u64> = rest.collect();
    // The axis lowest.
    registers.sort_by_key(|column| column & axis == 0);
    let bits = [registers.len(), lanes.len(), warps.len(), blocks.len()].map(|bits| bits as u32);
    let ins = Space::hardware(bits[0], bits[1], bits[2], bits[3]).map_err(LayoutError::from)?;
    let columns = [&registers[..], &lanes[..], &warps[..], blocks].concat();
    Ok(Layout::new(ins, layout.outs().clone(), &columns)?)
}
