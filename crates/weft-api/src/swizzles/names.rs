//! What a swizzle is called elsewhere.

use super::memory;
use crate::answer::TmaAnswer;
use weft_layout::family::{Family, NvmmaShared, SwizzledShared};
use weft_layout::interop::cute;
use weft_layout::machine::{Isa, Matrix};
use weft_layout::plan::swizzle::{Meter, Problem, Solved, Use};
use weft_layout::space::OFFSET;
use weft_layout::step::Form;
use weft_layout::{Layout, Machine};

/// The names of a solved swizzle.
pub(super) struct Names {
    /// The layout, its banks ordered for one CuTe swizzle where that is possible.
    pub(super) memory: Layout,
    pub(super) cute: Option<String>,
    pub(super) triton: Option<String>,
    pub(super) tma: Option<TmaAnswer>,
}

impl Names {
    pub(super) fn of(
        problem: &Problem<'_>,
        solved: &Solved,
        meter: &Meter<'_>,
        shape: &[u64],
    ) -> Names {
        let as_good =
            |memory: &Layout| meter.measure(memory).is_ok_and(|(total, _)| total == solved.total);
        let same =
            |memory: &Layout| meter.measure(memory).is_ok_and(|(_, uses)| uses == solved.uses);
        let memory = ordered(problem, solved).filter(same).unwrap_or_else(|| solved.memory.clone());
        let cute = cute::export_tensor(&memory.clone().into()).ok();
        Names {
            cute: cute.map(|(_, export)| export.composed.to_string()),
            triton: triton(shape, &as_good),
            tma: has_tma(problem.machine).then(|| tma(problem, solved, meter, shape)).flatten(),
            memory,
        }
    }
}

/// The same vectors, banks and segments, ordered for one CuTe swizzle.
fn ordered(problem: &Problem<'_>, solved: &Solved) -> Option<Layout> {
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

/// The layout without its block axis, which is empty.
fn memory_of(layout: &Layout) -> Layout {
    memory(layout.outs(), layout.columns(OFFSET)).unwrap_or_else(|| layout.clone())
}

fn has_tma(machine: &Machine) -> bool {
    matches!(machine.isa, Isa::Ptx { capability: 90.. })
}

/// The mode on which the accesses take the fewest wavefronts.
fn tma(
    problem: &Problem<'_>,
    solved: &Solved,
    meter: &Meter<'_>,
    shape: &[u64],
) -> Option<TmaAnswer> {
    let bits = u64::from(problem.element_bits.next_power_of_two().max(8));
    let modes = [0, 32, 64, 128].into_iter().flat_map(|bytes| [(bytes, false), (bytes, true)]);
    let measured = modes.filter_map(|(swizzle_bytes, transposed)| {
        let mode =
            NvmmaShared { transposed, rank: shape.len(), ..NvmmaShared::new(swizzle_bytes, bits) };
        let (wavefronts, _) = meter.measure(&memory_of(&mode.layout(shape).ok()?)).ok()?;
        let as_few = wavefronts <= solved.total;
        Some(TmaAnswer { swizzle_bytes, transposed, wavefronts, as_few })
    });
    measured.min_by_key(|mode| mode.wavefronts)
}
