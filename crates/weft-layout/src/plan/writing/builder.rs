//! Writing steps: each method adds one and returns the file it defines.

use alloc::vec::Vec;

use crate::{
    f2::Echelon,
    step::{File, FileType, LaneMap, Parity, Plan, Selector, Step},
};

pub(in crate::plan) struct Builder {
    pub(in crate::plan) plan: Plan,
    /// The file that is moved on.
    pub(in crate::plan) moved: File,
}

impl Builder {
    /// Starts a plan with one input.
    pub(in crate::plan) fn new(
        registers: u32,
        bits: u32,
        lane_bits: u32,
        warp_bits: u32,
    ) -> Builder {
        let ty = FileType { registers, element_bits: bits };
        Builder { plan: Plan::new(&[ty], lane_bits, warp_bits), moved: File(0) }
    }

    /// A file of as wide elements as `like`.
    pub(in crate::plan) fn file(&mut self, registers: usize, like: File) -> File {
        let bits = self.plan.file(like).element_bits;
        self.plan.add_file(registers as u32, bits)
    }

    /// Register `i` of the result is register `source[i]`; no step when that changes nothing.
    pub(in crate::plan) fn permute(&mut self, from: File, source: Vec<u32>) -> File {
        permute(&mut self.plan, from, source)
    }

    pub(in crate::plan) fn exchange(&mut self, from: File, source: LaneMap) -> File {
        if source.is_butterfly() && source.xor == 0 {
            return from;
        }
        let to = self.file(self.plan.file(from).registers as usize, from);
        self.plan.steps.push(Step::Exchange { from, to, source });
        to
    }

    pub(in crate::plan) fn select(&mut self, even: File, odd: File, odd_where: Parity) -> File {
        let to = self.file(self.plan.file(even).registers as usize, even);
        self.plan.steps.push(Step::Select { even, odd, to, odd_where });
        to
    }

    /// Bytes of pairs of registers as registers of `bits` bits.
    pub(in crate::plan) fn bytes(
        &mut self,
        a: File,
        b: File,
        bits: u32,
        selector: &Selector,
    ) -> File {
        let to = self.plan.add_file(self.plan.file(a).registers, bits);
        self.plan.steps.push(Step::Bytes { a, b, to, selector: selector.clone() });
        to
    }

    /// The bytes of a register of these files, which are all of one width.
    pub(in crate::plan) fn bytes_of(&self, files: &[File]) -> u32 {
        files.first().map_or(1, |&file| self.plan.file(file).element_bits / 8)
    }

    pub(in crate::plan) fn concat(&mut self, from: Vec<File>) -> File {
        concat(&mut self.plan, from)
    }

    /// Register `r` of the result is register `r ^ shift(thread)`, where `shift` is linear: each
    /// lane bit contributes `lane[i]`, each warp bit `warp[i]`.
    pub(in crate::plan) fn shift(&mut self, mut file: File, lane: &[u64], warp: &[u64]) -> File {
        // Each independent shift is one select, by the parity of the bits that contribute it.
        let mut echelon = Echelon::new();
        let mut shifts: Vec<(u64, Parity)> = Vec::new();
        let columns = lane.iter().enumerate().map(|(bit, &c)| (1_u64 << bit, 0, c));
        let columns = columns.chain(warp.iter().enumerate().map(|(bit, &c)| (0, 1_u64 << bit, c)));
        for (lane_bit, warp_bit, column) in columns {
            let (residue, mut parts) = echelon.reduce(column, 0);
            if residue != 0 {
                parts = 1 << shifts.len();
                echelon.insert(column, parts);
                shifts.push((column, Parity { lane: 0, warp: 0 }));
            }
            for (index, (_, parity)) in shifts.iter_mut().enumerate() {
                if parts >> index & 1 == 1 {
                    parity.lane |= lane_bit;
                    parity.warp |= warp_bit;
                }
            }
        }
        for (shift, odd_where) in shifts {
            let registers = self.plan.file(file).registers;
            let odd = self.permute(file, (0..registers).map(|r| r ^ shift as u32).collect());
            file = self.select(file, odd, odd_where);
        }
        file
    }
}

/// Register `i` of the result is register `source[i]`; no step when that changes nothing.
pub(in crate::plan) fn permute(plan: &mut Plan, from: File, source: Vec<u32>) -> File {
    let registers = plan.file(from).registers as usize;
    if source.len() == registers && source.iter().zip(0..).all(|(&s, i)| s == i) {
        return from;
    }
    let to = plan.add_file(source.len() as u32, plan.file(from).element_bits);
    plan.steps.push(Step::Permute { from, to, source });
    to
}

/// The registers of files of one width, one behind the other; no step for one file.
pub(in crate::plan) fn concat(plan: &mut Plan, from: Vec<File>) -> File {
    if let [file] = from[..] {
        return file;
    }
    let registers = from.iter().map(|&file| plan.file(file).registers).sum();
    let bits = plan.file(from.first().copied().unwrap_or(File(0))).element_bits;
    let to = plan.add_file(registers, bits);
    plan.steps.push(Step::Concat { from, to });
    to
}
