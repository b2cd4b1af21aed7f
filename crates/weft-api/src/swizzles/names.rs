//! What a swizzle is called elsewhere.

use super::{Measured, memory, memory_of};
use crate::answer::TmaAnswer;
use weft_layout::Layout;
use weft_layout::family::{Family, SwizzledShared};
use weft_layout::interop::cute;
use weft_layout::machine::Matrix;
use weft_layout::plan::swizzle::{Problem, Solved, Use};
use weft_layout::space::OFFSET;
use weft_layout::step::Form;

/// The names of a memory layout.
pub(super) struct Names {
    pub(super) cute: Option<String>,
    pub(super) triton: Option<String>,
    pub(super) tma: Option<TmaAnswer>,
}

impl Names {
    /// The layout in CuTe's words, and a layout of Triton's that is as good on each machine.
    pub(super) fn of(memory: &Layout, machines: &[Measured<'_>], shape: &[u64]) -> Names {
        let as_good = |memory: &Layout| {
            machines.iter().all(|Measured { meter, total, .. }| {
                meter.measure(memory).is_ok_and(|(found, _)| found == *total)
            })
        };
        let cute = cute::export_tensor(&memory.clone().into()).ok();
        Names {
            cute: cute.map(|(_, export)| export.composed.to_string()),
            triton: triton(shape, &as_good),
            tma: None,
        }
    }
}

/// The layout with its banks ordered for one CuTe swizzle, where that is possible and changes nothing
/// for any machine.
pub(super) fn ordered(problem: &Problem<'_>, solved: &Solved, machines: &[Measured<'_>]) -> Layout {
    let same = |memory: &Layout| {
        machines.iter().all(|Measured { meter, uses, .. }| {
            meter.measure(memory).is_ok_and(|(_, found)| found == *uses)
        })
    };
    arranged(problem, solved).filter(same).unwrap_or_else(|| solved.memory.clone())
}

/// The same vectors, banks and segments, ordered for one CuTe swizzle.
fn arranged(problem: &Problem<'_>, solved: &Solved) -> Option<Layout> {
    let columns = solved.memory.columns(OFFSET);
    let bytes = problem.element_bits.next_power_of_two().max(8) / 8;
    let width = |taken: &Use| match taken.form {
        Form::Vector => vec![log2(taken.bytes / bytes)],
        // Lanes walk along a row of a matrix, each offset bit in its place.
        Form::Matrix(_) => (0..=log2(Matrix::ROW_BYTES / bytes)).collect(),
    };
    let mut widths: Vec<usize> = solved.uses.iter().flat_map(width).collect();
    let word = 1_u32.checked_shl(problem.machine.bank_bytes_log2).unwrap_or(0) / bytes;
    widths.push(log2(word));
    widths.sort_unstable();
    let row = problem.machine.row_bytes_log2().saturating_sub(bytes.ilog2()) as usize;
    let row = row.min(columns.len());
    let mut vectors = Vec::new();
    let mut start = 0;
    for width in widths.into_iter().map(|width| width.min(row)) {
        if width > start {
            vectors.push(columns.get(start..width)?);
            start = width;
        }
    }
    let (bank, segment) = (columns.get(start..row)?, columns.get(row..)?);
    let found = cute::single_swizzle(solved.memory.outs(), &vectors, bank, segment)?;
    memory(solved.memory.outs(), &[found.vector, found.bank, found.segment].concat())
}

fn log2(value: u32) -> usize {
    value.max(1).ilog2() as usize
}

/// The first of Triton's swizzled layouts that is as good.
fn triton(shape: &[u64], as_good: &dyn Fn(&Layout) -> bool) -> Option<String> {
    let powers = |most: u64| (0..=most.max(1).ilog2()).map(|log2| 1_u64 << log2);
    let rank = shape.len();
    let orders = [(0..rank).rev().collect::<Vec<_>>(), (0..rank).collect()];
    for order in &orders[..rank.min(2)] {
        let columns = *order.first().and_then(|&dim| shape.get(dim))?;
        let rows = order.get(1).and_then(|&dim| shape.get(dim)).copied().unwrap_or(1);
        for max_phase in powers(rows) {
            for per_phase in powers(rows / max_phase) {
                for vec in powers(columns) {
                    // A single phase is a plain tile, whatever the vector.
                    if (max_phase == 1 && (vec, per_phase) != (1, 1)) || vec > MAX_VEC {
                        continue;
                    }
                    let swizzle = SwizzledShared::new(vec, per_phase, max_phase, order);
                    if swizzle.layout(shape).is_ok_and(|memory| as_good(&memory_of(&memory))) {
                        return Some(Family::SwizzledShared(swizzle).to_string());
                    }
                }
            }
        }
    }
    None
}

/// The longest vector that is tried: 16 bytes of bytes.
const MAX_VEC: u64 = 16;
