//! Matrices moved by a warp: each lane gives the address of a row, and has bytes of several.

use super::{Hit, accessor, addresses, locate, place_of, report_conflicts};
use crate::lane::Matrix;
use crate::sim::count::{MAX_LANES, Pattern};
use crate::sim::program::MemoryOp;
use crate::sim::report::{AccessKind, FindingKind};
use crate::sim::schedule::{Block, World};
use crate::sim::shadow::SEVERAL;
use crate::sim::warp::{Warp, lanes_of, row};

/// The bytes of a row.
const ROW: usize = Matrix::ROW_BYTES as usize;

/// A byte of a lane's values, and the row and the place in it where it lies in memory.
struct Dealt {
    lane: usize,
    /// Which value of the lane, and which byte of that.
    value: usize,
    byte: u32,
    row: usize,
    inside: usize,
}

/// Every byte that an instruction moves, lane by lane.
fn dealt(matrix: Matrix, op: &MemoryOp, count: usize) -> impl Iterator<Item = Dealt> {
    let size = op.size;
    let width = u32::from(matrix.rows) / 2;
    (0..32).flat_map(move |lane| {
        (0..count as u32 * size).map(move |byte| {
            let (row, inside) = matrix.place(lane, byte % width);
            Dealt {
                lane: lane as usize,
                value: (byte / size) as usize,
                byte: byte % size,
                row: (byte / width * u32::from(matrix.rows) + row) as usize,
                inside: inside as usize,
            }
        })
    })
}

/// Which lanes give rows, and where; none where no lane takes part. All lanes take part, or none.
fn rows(
    warp: &mut Warp,
    block: &Block,
    world: &mut World<'_>,
    index: u32,
    matrix: Matrix,
    count: usize,
) -> Option<Pattern> {
    let op = &world.code.memory[index as usize];
    let (addresses, active) = addresses(warp, world, op);
    let all = u64::MAX >> (64 - world.code.lanes.clamp(1, 64));
    if active == 0 {
        return None;
    }
    if active != all {
        let actor = world.actor(block, warp.index, None, op.inst);
        world.findings.add(FindingKind::Divergence, actor, None, || {
            let (some, all) = (active.count_ones(), all.count_ones());
            format!("matrices moved where only {some} of {all} lanes are")
        });
    }
    let matrices = count as u32 * op.size * 2 / u32::from(matrix.rows);
    let rows = matrices * u32::from(matrix.rows);
    let rows = u64::MAX >> (64 - rows.clamp(1, MAX_LANES as u32));
    let (pattern, _) = locate(warp, block, world, index, &addresses, rows)?;
    // The lanes that have something, of which there are more than those that give rows.
    world.accesses[index as usize].lanes += u64::from(all.count_ones());
    world.accesses[index as usize].lanes -= u64::from(pattern.active.count_ones());
    Some(pattern)
}

/// The bytes that belong to one lane as memory has them: the race detector looks at these.
fn unit(matrix: Matrix) -> usize {
    if matrix.transposed { usize::from(matrix.element_bits / 8) } else { 4 }
}

/// Runs a load of matrices from shared memory.
pub(super) fn load(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    index: u32,
    matrix: Matrix,
) {
    let code = world.code;
    let op = &code.memory[index as usize];
    let lanes = code.lanes as usize;
    let mask = warp.mask;
    let Some(pattern) = rows(warp, block, world, index, matrix, op.results.len()) else {
        for (&result, &other) in op.results.iter().zip(&op.values) {
            for lane in lanes_of(mask) {
                let bits = row(&warp.registers, &code.constants, other, lanes)[lane];
                warp.registers[result as usize + lane] = bits;
            }
        }
        return;
    };
    for &result in &op.results {
        warp.registers[result as usize..result as usize + lanes].fill(0);
    }
    let place = Hit::Shared;
    let accessor = accessor(&warp.knowledge, warp.index, block, world, index, place, true);
    let (bytes, shadow, _) = place_of(place, block, world.memory, &mut world.shadows);
    let unit = unit(matrix);
    for Dealt { lane, value, byte, row, inside } in dealt(matrix, op, op.results.len()) {
        if pattern.active >> row & 1 == 0 {
            continue;
        }
        let at = pattern.addresses[row] as usize + inside;
        if inside % unit == 0 {
            let bytes = unit as u32;
            shadow.access(&accessor, false, at, bytes, lane as u32, &mut world.conflicts);
        }
        let read = u64::from(bytes.get(at).copied().unwrap_or(0));
        warp.registers[op.results[value] as usize + lane] |= read << (8 * byte);
    }
    report_conflicts(warp, block, world, index, place);
}

/// Runs a store. Where two rows lie at one address, the higher one wins.
pub(super) fn store(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    index: u32,
    matrix: Matrix,
) {
    let code = world.code;
    let op = &code.memory[index as usize];
    let lanes = code.lanes as usize;
    let Some(pattern) = rows(warp, block, world, index, matrix, op.values.len()) else { return };
    let mut written = [[0u8; ROW]; MAX_LANES];
    let mut writers = [[0u8; ROW]; MAX_LANES];
    for Dealt { lane, value, byte, row: to, inside } in dealt(matrix, op, op.values.len()) {
        let bits = row(&warp.registers, &code.constants, op.values[value], lanes)[lane];
        written[to][inside] = (bits >> (8 * byte)) as u8;
        writers[to][inside] = lane as u8;
    }
    let place = Hit::Shared;
    let mut together = 0u64;
    if !pattern.disjoint {
        let at = |row: usize| pattern.addresses[row];
        for row in lanes_of(pattern.active) {
            let before = pattern.active & !(u64::MAX << row);
            for other in lanes_of(before).filter(|&other| at(row).abs_diff(at(other)) < ROW as u64)
            {
                together |= 1 << row | 1 << other;
                if at(row) != at(other) || written[row] != written[other] {
                    let actor = world.actor(block, warp.index, Some(row as u32), op.inst);
                    let prior = world.actor(block, warp.index, Some(other as u32), op.inst);
                    world.findings.add(FindingKind::Race, actor, Some(prior), || {
                        format!("rows {other} and {row} store different values to one byte")
                    });
                }
            }
        }
    }
    let accessor = accessor(&warp.knowledge, warp.index, block, world, index, place, false);
    let (bytes, shadow, _) = place_of(place, block, world.memory, &mut world.shadows);
    let unit = unit(matrix);
    let mut seen = Vec::new();
    for row in lanes_of(pattern.active) {
        let start = pattern.addresses[row] as usize;
        let shared = together >> row & 1 == 1;
        if !(shared && seen.contains(&start)) {
            for inside in (0..ROW).step_by(unit) {
                let who = if shared { SEVERAL } else { u32::from(writers[row][inside]) };
                let (at, unit) = (start + inside, unit as u32);
                shadow.access(&accessor, true, at, unit, who, &mut world.conflicts);
            }
        }
        seen.push(start);
        if let Some(place) = bytes.get_mut(start..start + ROW) {
            world.changed |= *place != written[row];
            place.copy_from_slice(&written[row]);
        }
    }
    if block.proxies.are_watched() {
        for row in lanes_of(pattern.active) {
            for inside in (0..ROW).step_by(unit) {
                let who = (warp.index, u32::from(writers[row][inside]), index);
                let at = pattern.addresses[row] as usize + inside;
                block.proxies.write(who, block.tick, at, unit as u32);
            }
        }
    }
    debug_assert_eq!(world.accesses[index as usize].kind, AccessKind::Store);
    report_conflicts(warp, block, world, index, place);
}
