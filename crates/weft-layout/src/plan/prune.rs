//! Leaving out what nobody uses, register by register.
//!
//! Steps work on whole files; of what they define some registers may have no reader, and a select may
//! repeat an earlier choice:
//!
//! ```text
//! kept = p ? a : b,   result = p ? kept : received   =>   result = p ? a : received
//! ```
//!
//! which leaves `kept` without a reader.
//! An exchange of a register and a lane bit thus selects three times for two registers, not four.

use alloc::{collections::BTreeMap, vec, vec::Vec};

use super::builder::Builder;
use crate::step::{File, Parity, Plan, Step};

/// A register of a file.
type Register = (File, u32);

/// The same movement without registers that nobody reads; `None` when all are read, and for steps
/// beyond those within a warp.
pub(super) fn prune(plan: &Plan) -> Option<Plan> {
    let origins = Origins::of(plan)?;
    let used = origins.used();
    if plan.steps.iter().filter_map(defined).all(|file| used[file.index()].iter().all(|&used| used))
    {
        return None;
    }
    let (&input, output) = (plan.inputs.first()?, *plan.outputs.first()?);
    let ty = plan.file(input);
    let mut writer = Writer {
        builder: Builder::new(ty.registers, ty.element_bits, plan.lane_bits, plan.warp_bits),
        places: BTreeMap::new(),
    };
    for register in 0..ty.registers {
        writer.places.insert((input, register), (File(0), register));
    }
    for step in &plan.steps {
        let Some(to) = defined(step) else { continue };
        let registers: Vec<u32> =
            (0..plan.file(to).registers).filter(|&r| used[to.index()][r as usize]).collect();
        if !registers.is_empty() {
            writer.write(step, &origins, &registers);
        }
    }
    let registers = 0..plan.file(output).registers;
    let output = writer.gather(registers.map(|r| origins.find((output, r))));
    let mut pruned = writer.builder.plan;
    pruned.outputs = vec![output];
    pruned.strategy = plan.strategy;
    Some(pruned)
}

/// The file that a step computes, rather than renames.
fn defined(step: &Step) -> Option<File> {
    match *step {
        Step::Select { to, .. } | Step::Bytes { to, .. } | Step::Exchange { to, .. } => Some(to),
        _ => None,
    }
}

/// For each file and register the one that its value was computed as.
struct Origins<'a> {
    plan: &'a Plan,
    files: Vec<Vec<Register>>,
    /// What selects choose from: where the parity is even, and where it is odd.
    chosen: BTreeMap<Register, (Register, Register, Parity)>,
}

impl Origins<'_> {
    fn of(plan: &Plan) -> Option<Origins<'_>> {
        let own =
            |file: usize| (0..plan.files[file].registers).map(move |r| (File(file as u16), r));
        let files = (0..plan.files.len()).map(|file| own(file).collect()).collect();
        let mut origins = Origins { plan, files, chosen: BTreeMap::new() };
        for step in &plan.steps {
            match step {
                Step::Permute { from, to, source } => {
                    let found = source.iter().map(|&r| origins.find((*from, r))).collect();
                    origins.files[to.index()] = found;
                }
                Step::Concat { from, to } => {
                    let all = from.iter().map(|file| origins.files[file.index()].clone());
                    origins.files[to.index()] = all.collect::<Vec<_>>().concat();
                }
                Step::Select { even, odd, to, odd_where } => {
                    for register in 0..plan.file(*to).registers {
                        let even = origins.where_parity((*even, register), *odd_where, false);
                        let odd = origins.where_parity((*odd, register), *odd_where, true);
                        if even == odd {
                            origins.files[to.index()][register as usize] = even;
                        } else {
                            origins.chosen.insert((*to, register), (even, odd, *odd_where));
                        }
                    }
                }
                Step::Bytes { .. } | Step::Exchange { .. } => {}
                _ => return None,
            }
        }
        Some(origins)
    }

    fn find(&self, (file, register): Register) -> Register {
        self.files[file.index()][register as usize]
    }

    /// What a register is in threads of this parity.
    fn where_parity(&self, register: Register, parity: Parity, odd: bool) -> Register {
        let mut found = self.find(register);
        while let Some(&(even_one, odd_one, same)) = self.chosen.get(&found)
            && same == parity
        {
            found = if odd { odd_one } else { even_one };
        }
        found
    }

    /// What computes one register reads.
    fn reads(&self, step: &Step, register: u32) -> Vec<Register> {
        match *step {
            Step::Select { to, .. } => self
                .chosen
                .get(&(to, register))
                .map_or_else(Vec::new, |&(even, odd, _)| vec![even, odd]),
            Step::Bytes { a, b, .. } => vec![self.find((a, register)), self.find((b, register))],
            Step::Exchange { from, .. } => vec![self.find((from, register))],
            _ => Vec::new(),
        }
    }

    /// For each file and register whether its value reaches the result.
    fn used(&self) -> Vec<Vec<bool>> {
        let plan = self.plan;
        let mut used: Vec<Vec<bool>> =
            plan.files.iter().map(|ty| vec![false; ty.registers as usize]).collect();
        let mark = |used: &mut Vec<Vec<bool>>, (file, register): Register| {
            used[file.index()][register as usize] = true;
        };
        for &output in &plan.outputs {
            for register in 0..plan.file(output).registers {
                mark(&mut used, self.find((output, register)));
            }
        }
        for step in plan.steps.iter().rev() {
            let Some(to) = defined(step) else { continue };
            for register in 0..plan.file(to).registers {
                if used[to.index()][register as usize] {
                    for read in self.reads(step, register) {
                        mark(&mut used, read);
                    }
                }
            }
        }
        used
    }
}

/// Writes the steps that are left.
struct Writer {
    builder: Builder,
    /// Where each register of the old plan is in the new one.
    places: BTreeMap<Register, Register>,
}

impl Writer {
    /// A step, for the registers of its file that are used.
    fn write(&mut self, step: &Step, origins: &Origins<'_>, registers: &[u32]) {
        let operand = |at: usize| {
            registers.iter().filter_map(move |&r| origins.reads(step, r).get(at).copied())
        };
        let file = match step {
            Step::Select { odd_where, .. } => {
                let (even, odd) = (self.gather(operand(0)), self.gather(operand(1)));
                self.builder.select(even, odd, *odd_where)
            }
            Step::Bytes { to, selector, .. } => {
                let (a, b) = (self.gather(operand(0)), self.gather(operand(1)));
                let bits = origins.plan.file(*to).element_bits;
                self.builder.bytes(a, b, bits, selector)
            }
            Step::Exchange { source, .. } => {
                let from = self.gather(operand(0));
                self.builder.exchange(from, source.clone())
            }
            _ => return,
        };
        let Some(to) = defined(step) else { return };
        for (&register, place) in registers.iter().zip(0..) {
            self.places.insert((to, register), (file, place));
        }
    }

    /// Registers of the old plan as one file of the new one.
    fn gather(&mut self, registers: impl Iterator<Item = Register>) -> File {
        let places: Vec<Register> =
            registers.filter_map(|register| self.places.get(&register).copied()).collect();
        let mut files: Vec<(File, u32)> = Vec::new();
        let mut start = 0;
        let source = places.iter().map(|&(file, register)| {
            let known = files.iter().find(|entry| entry.0 == file).map(|entry| entry.1);
            known.unwrap_or_else(|| {
                files.push((file, start));
                start += self.builder.plan.file(file).registers;
                start - self.builder.plan.file(file).registers
            }) + register
        });
        let source: Vec<u32> = source.collect();
        let all = self.builder.concat(files.into_iter().map(|entry| entry.0).collect());
        self.builder.permute(all, source)
    }
}
