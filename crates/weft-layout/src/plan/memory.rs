//! Conversions through shared memory.

use alloc::{vec, vec::Vec};

use super::{
    PlanError,
    rounds::Rounds,
    swizzle::{Preference, Side, Swizzle, swizzle},
};
use crate::{
    f2::{Echelon, Subspace, extract_bits},
    layout::Layout,
    machine::Machine,
    space::{LANE, REGISTER, WARP},
    step::{
        Access, Acting, File, FileType, Form, Group, Kind, Plan, Scope, Step, Strategy, combine,
    },
};

/// What vectors a plan may use.
#[derive(Clone, Copy)]
pub(super) struct Vectors {
    pub(super) preference: Preference,
    /// The logarithm of the bytes of the widest one.
    pub(super) widest_log2: u32,
}

/// Stores every element once, waits, and loads what each thread needs; in several rounds when
/// shared memory cannot hold all elements at once.
pub(super) fn plan(
    from: &Layout,
    to: &Layout,
    bits: u32,
    machine: &Machine,
    vectors: Vectors,
) -> Result<Plan, PlanError> {
    let elements = Elements::of(from);
    let bytes_log2 = (bits / 8).max(1).ilog2();
    let available = machine.shared_bytes_per_block;
    let room = (available >> bytes_log2).max(1).ilog2();
    let excess = elements.bits.saturating_sub(room);
    let rounds = Rounds::new(&elements.side(from), &elements.side(to), elements.bits, excess);
    let needed = 1_u64.checked_shl(elements.bits + bytes_log2).unwrap_or(u64::MAX);
    let rounds = rounds.ok_or(PlanError::Scratch { needed, available })?;
    let writer = Writer::of(&rounds.from.side);
    let reader = Reader::of(&rounds.to.side);
    let Vectors { preference, widest_log2 } = vectors;
    let (store, load) = (&writer.side, &reader.side);
    let element_bits = elements.bits - excess;
    let swizzle = swizzle(machine, element_bits, bytes_log2, store, load, preference, widest_log2)?;
    let buffer = Buffer { swizzle: &swizzle, bytes_log2 };

    let ty = FileType { registers: 1 << from.in_bits(REGISTER), element_bits: bits };
    let mut plan = Plan::new(&[ty], from.in_bits(LANE), from.in_bits(WARP));
    let scope = if writer.feeds_own_warp(load) { Scope::Warp } else { Scope::Block };
    let mut loaded = Vec::new();
    for round in 0..1_u64 << excess {
        if round > 0 {
            plan.steps.push(Step::Barrier(scope));
        }
        let part = permute(&mut plan, File(0), rounds.from.registers(round));
        plan.steps.push(Step::Access(buffer.store(part, &writer)));
        plan.steps.push(Step::Barrier(scope));
        let file = plan.add_file(1 << load.registers.len(), bits);
        plan.steps.push(Step::Access(buffer.load(file, &reader)));
        loaded.push(permute(&mut plan, file, reader.expanded()));
    }
    let file = concat(&mut plan, loaded);
    plan.outputs = vec![permute(&mut plan, file, rounds.to.positions())];
    plan.scratch_bytes = 1 << (element_bits + bytes_log2);
    plan.strategy = Strategy::SharedMemory;
    Ok(plan)
}

/// Register `i` of the result is register `source[i]`; no step when that changes nothing.
pub(super) fn permute(plan: &mut Plan, from: File, source: Vec<u32>) -> File {
    let registers = plan.file(from).registers as usize;
    if source.len() == registers && source.iter().zip(0..).all(|(&s, i)| s == i) {
        return from;
    }
    let to = plan.add_file(source.len() as u32, plan.file(from).element_bits);
    plan.steps.push(Step::Permute { from, to, source });
    to
}

fn concat(plan: &mut Plan, from: Vec<File>) -> File {
    if let [file] = from[..] {
        return file;
    }
    let registers = from.iter().map(|&file| plan.file(file).registers).sum();
    let bits = plan.file(from.first().copied().unwrap_or(File(0))).element_bits;
    let to = plan.add_file(registers, bits);
    plan.steps.push(Step::Concat { from, to });
    to
}

/// Coordinates on the elements that one block holds.
pub(super) struct Elements {
    span: Subspace,
    pub(super) bits: u32,
}

impl Elements {
    /// The elements of block 0 of a layout.
    pub(super) fn of(layout: &Layout) -> Elements {
        let columns = [REGISTER, LANE, WARP].map(|label| layout.columns(label)).concat();
        let span = Subspace::from_vectors(&columns);
        Elements { bits: span.dim(), span }
    }

    /// Elements in these coordinates.
    pub(super) fn columns(&self, columns: &[u64]) -> Vec<u64> {
        columns.iter().map(|&column| extract_bits(column, self.span.leads())).collect()
    }

    /// The columns of a layout in these coordinates.
    pub(super) fn side(&self, layout: &Layout) -> Side {
        let columns = |label| self.columns(layout.columns(label));
        Side { registers: columns(REGISTER), lanes: columns(LANE), warps: columns(WARP) }
    }
}

/// Who stores what: every element exactly once.
pub(super) struct Writer {
    /// Independent columns; zero for lanes and warps that are idle.
    pub(super) side: Side,
    /// The register number of each register column.
    numbers: Vec<u64>,
    pub(super) acting: Acting,
}

impl Writer {
    pub(super) fn of(all: &Side) -> Writer {
        let mut echelon = Echelon::new();
        let mut acting = Acting::ALL;
        // Lanes and warps first: as many threads as possible share the work.
        let mut lanes = all.lanes.clone();
        for (bit, column) in lanes.iter_mut().enumerate() {
            if !echelon.grows(*column) {
                *column = 0;
                acting.idle_lanes |= 1 << bit;
            }
        }
        let mut warps = all.warps.clone();
        for (bit, column) in warps.iter_mut().enumerate() {
            if !echelon.grows(*column) {
                *column = 0;
                acting.idle_warps |= 1 << bit;
            }
        }
        let kept = all.registers.iter().enumerate().filter(|entry| echelon.grows(*entry.1));
        let (numbers, registers) = kept.map(|(bit, &column)| (1_u64 << bit, column)).unzip();
        Writer { side: Side { registers, lanes, warps }, numbers, acting }
    }

    /// The register number of each register column.
    pub(super) fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// Whether every thread only reads what its own warp stores.
    pub(super) fn feeds_own_warp(&self, reader: &Side) -> bool {
        let mut echelon = Echelon::new();
        for &column in self.side.lanes.iter().chain(&self.side.registers) {
            echelon.insert(column, 0);
        }
        for (bit, &column) in self.side.warps.iter().enumerate() {
            echelon.insert(column, 1 << bit);
        }
        let warp = |column: u64| echelon.reduce(column, 0).1;
        let inside = reader.lanes.iter().chain(&reader.registers).all(|&c| warp(c) == 0);
        inside && reader.warps.iter().enumerate().all(|(bit, &c)| warp(c) == 1 << bit)
    }
}

/// Who loads what: each thread each of its elements once.
pub(super) struct Reader {
    /// Independent register columns; all lanes and warps.
    side: Side,
    /// For each register bit of the layout its part in the registers that are loaded.
    parts: Vec<u64>,
}

impl Reader {
    pub(super) fn of(all: &Side) -> Reader {
        let mut echelon = Echelon::new();
        let mut registers = Vec::new();
        let mut parts = Vec::with_capacity(all.registers.len());
        for &column in &all.registers {
            let (residue, known) = echelon.reduce(column, 0);
            parts.push(if residue == 0 {
                known
            } else {
                let own = 1 << registers.len();
                echelon.insert(column, own);
                registers.push(column);
                own
            });
        }
        Reader { side: Side { registers, ..all.clone() }, parts }
    }

    /// For each register of the layout the one that is loaded for it.
    fn expanded(&self) -> Vec<u32> {
        (0..1_u64 << self.parts.len()).map(|r| combine(&self.parts, r) as u32).collect()
    }
}

pub(super) struct Buffer<'a> {
    pub(super) swizzle: &'a Swizzle,
    pub(super) bytes_log2: u32,
}

impl Buffer<'_> {
    pub(super) fn store(&self, file: File, writer: &Writer) -> Access {
        let groups = self.groups(&writer.side, &writer.numbers, self.swizzle.store_vector);
        self.access(Kind::Store, file, &writer.side, groups, writer.acting)
    }

    fn load(&self, file: File, reader: &Reader) -> Access {
        let numbers: Vec<u64> = (0..reader.side.registers.len()).map(|bit| 1 << bit).collect();
        let groups = self.groups(&reader.side, &numbers, self.swizzle.load_vector);
        self.access(Kind::Load, file, &reader.side, groups, Acting::ALL)
    }

    fn access(
        &self,
        kind: Kind,
        file: File,
        side: &Side,
        groups: Vec<Group>,
        acting: Acting,
    ) -> Access {
        let address = |column: &u64| self.swizzle.offsets.apply(*column) << self.bytes_log2;
        let lane = side.lanes.iter().map(address).collect();
        let warp = side.warps.iter().map(address).collect();
        Access { kind, form: Form::Vector, file, groups, lane, warp, acting }
    }

    /// The registers cut into vectors of 2^`vector` consecutive offsets.
    ///
    /// `numbers[i]` is the register number that `side.registers[i]` is the element of.
    fn groups(&self, side: &Side, numbers: &[u64], vector: u32) -> Vec<Group> {
        // The registers that walk through a vector.
        let mut echelon = Echelon::new();
        for (&column, &number) in side.registers.iter().zip(numbers) {
            echelon.insert(column, number);
        }
        let walk: Vec<u64> = (self.swizzle.vector.iter().take(vector as usize))
            .map(|&column| echelon.reduce(column, 0).1)
            .collect();
        let mut cosets = Echelon::of(walk.iter().copied());
        let (starts, columns): (Vec<u64>, Vec<u64>) = numbers
            .iter()
            .zip(&side.registers)
            .filter(|(number, _)| cosets.grows(**number))
            .unzip();
        (0..1_u64 << starts.len())
            .map(|index| {
                let offset = self.swizzle.offsets.apply(combine(&columns, index));
                let inside = offset & ((1 << vector) - 1);
                // Registers start where their vector does.
                let start = combine(&starts, index) ^ combine(&walk, inside);
                let register = |step: u64| (start ^ combine(&walk, step)) as u32;
                Group {
                    registers: (0..1 << vector).map(register).collect(),
                    address: (offset ^ inside) << self.bytes_log2,
                }
            })
            .collect()
    }
}
