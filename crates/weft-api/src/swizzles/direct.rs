//! Copies from global straight into shared memory, which pass registers by.

use crate::answer::{CutAnswer, DirectAnswer, DirectBestAnswer};
use crate::bases::Bases;
use crate::swizzles::offset_of;
use weft_layout::plan::swizzle::{Access, Problem};
use weft_layout::plan::{Cut, DirectCopy, direct_copies, direct_swizzle};
use weft_layout::space::REGISTER;
use weft_layout::stop::Stop;
use weft_layout::{Label, Layout, Machine, Space};

/// A buffer that copies may fill.
pub(crate) struct Buffer<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) element_bits: u32,
    pub(crate) memory: &'a Layout,
    /// What the threads do with it, but for filling it.
    pub(crate) loads: Vec<Access>,
    /// The axis along which global memory is contiguous.
    pub(crate) axis: Label,
    pub(crate) stop: Stop,
}

/// The axis along which a tensor is taken to be contiguous in global memory: the one along which the registers
/// of whoever brings it go first, or else the last.
pub(crate) fn contiguous(store: Option<&Layout>, outs: &Space) -> Label {
    let first = store.and_then(|store| {
        let column = *store.columns(REGISTER).first()?;
        outs.labels().find(|&label| outs.coordinate(label, column) != 0)
    });
    first.or_else(|| outs.coordinate_order().last().copied()).unwrap_or(Label::dim(0))
}

/// How copies of each width that the machine has fill the buffer; nothing where it has none, or none of such
/// elements.
pub(crate) fn answers(buffer: &Buffer<'_>) -> Vec<DirectAnswer> {
    let Buffer { machine, element_bits, memory, axis, .. } = *buffer;
    let found = direct_copies(machine, memory, element_bits, axis).unwrap_or_default();
    found.iter().map(|found| answer(buffer, found)).collect()
}

fn answer(buffer: &Buffer<'_>, found: &Result<DirectCopy, Cut>) -> DirectAnswer {
    let axis = buffer.axis.dim_index().unwrap_or(0);
    let coordinates = |place: &Vec<(Label, u64)>| {
        let order = buffer.memory.outs().coordinate_order().into_iter();
        let at = |label| place.iter().find(|(axis, _)| *axis == label).map_or(0, |&(_, at)| at);
        order.map(at).collect::<Vec<u64>>()
    };
    let bytes = match found {
        Ok(copy) => copy.bytes,
        Err(cut) => cut.bytes,
    };
    let best = best(buffer, bytes);
    match found {
        Ok(copy) => DirectAnswer {
            bytes,
            axis,
            instructions: Some(copy.instructions),
            sectors: Some(copy.sectors),
            ideal_sectors: Some(copy.ideal_sectors),
            cut: None,
            best,
        },
        Err(Cut { bit, found, wanted, .. }) => DirectAnswer {
            bytes,
            axis,
            instructions: None,
            sectors: None,
            ideal_sectors: None,
            cut: Some(CutAnswer {
                bit: *bit,
                found: found.as_ref().map(coordinates),
                wanted: wanted.as_ref().map(coordinates),
            }),
            best,
        },
    }
}

/// The best memory layout that copies of this width write.
fn best(buffer: &Buffer<'_>, bytes: u32) -> Option<DirectBestAnswer> {
    let mut problem = Problem::new(buffer.machine, buffer.element_bits, buffer.loads.clone());
    problem.stop = buffer.stop.clone();
    let (solved, copy) = direct_swizzle(&problem, buffer.axis, bytes).ok()?;
    Some(DirectBestAnswer {
        bases: Bases::of(&solved.memory),
        wavefronts: solved.total,
        bound: solved.bound,
        sectors: copy.sectors,
        ideal_sectors: copy.ideal_sectors,
        xor: offset_of(&solved.memory),
    })
}
