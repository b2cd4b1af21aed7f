//! One instruction of moving a tensor: which registers, which lanes, which words.

use alloc::vec::Vec;

use super::{
    Kind, Phase,
    error::ConflictsError,
    fit::{Fit, Memory},
    serve,
    tensor::sum,
    together,
};
use crate::{
    affine::Affine,
    f2::{Subspace, low_mask},
    layout::Layout,
    machine::Machine,
    space::{LANE, OFFSET, REGISTER},
};

/// How a tensor moves between registers and a memory, one instruction after the other.
///
/// What [`conflicts`](super::conflicts) sums up, with the same meaning of all arguments.
///
/// ```
/// use weft_layout::access::{Memory, Transfer};
/// use weft_layout::{Machine, affine::Affine, interop::parse_layout, machine::Kind};
///
/// // The rows of a 16 x 32 tile, each exclusive-or'd with its number, read by columns.
/// let columns = parse_layout(
///     "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> [dim0: 16, dim1: 32]",
/// )?;
/// let rows = parse_layout(
///     "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,1) (2,2) (4,4) (8,8)] -> [dim0: 16, dim1: 32]",
/// )?;
/// let (machine, rows) = (Machine::by_name("sm_90").ok_or("no such machine")?, Affine::from(rows));
/// let transfer = Transfer::new(machine, Kind::Load, &columns, (&rows).into(), 32)?;
/// assert_eq!(transfer.instructions(), 16);
/// let law = transfer.law().ok_or("there are no gaps")?;
/// assert_eq!(columns.outs().unpack(law.meet[0]).len(), 2);
/// assert_eq!((law.meet.len(), law.wavefronts()), (1, 2));
/// assert_eq!(transfer.served(3, 0)?[0].wavefronts(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Transfer<'a> {
    machine: &'a Machine,
    kind: Kind,
    registers: &'a Layout,
    memory: Memory<'a>,
    fit: Fit<'a>,
}

/// The rank law for one phase of an instruction, in directions of the tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Law {
    /// What the offset bits above those of a row over all banks step along: a basis of the elements
    /// that share a bank with the first.
    pub segment: Vec<u64>,
    /// What the lanes that are served together step along, and the words of their vectors.
    pub phase: Vec<u64>,
    /// A basis of what both span: of the directions in which accesses of one phase meet in a bank. Of
    /// elements narrower than a word the first of a word stands for all.
    pub meet: Vec<u64>,
    /// The logarithm of the number of phases.
    pub phases: u32,
}

impl Law {
    /// The wavefronts of one instruction.
    pub fn wavefronts(&self) -> u64 {
        1_u64.checked_shl(self.meet.len() as u32 + self.phases).unwrap_or(u64::MAX)
    }
}

impl<'a> Transfer<'a> {
    /// The movement of a tensor; fails as [`conflicts`](super::conflicts) does.
    pub fn new(
        machine: &'a Machine,
        kind: Kind,
        registers: &'a Layout,
        memory: Memory<'a>,
        element_bits: u32,
    ) -> Result<Transfer<'a>, ConflictsError> {
        let fit = Fit::new(machine, kind, registers, memory, element_bits)?;
        Ok(Transfer { machine, kind, registers, memory, fit })
    }

    /// The bytes of one lane in one instruction.
    pub fn vector_bytes(&self) -> u32 {
        self.fit.vector_bytes
    }

    /// The instructions of one warp.
    pub fn instructions(&self) -> u64 {
        1_u64.checked_shl(self.fit.groups.len() as u32).unwrap_or(u64::MAX)
    }

    /// The warps that take part: what is neither register nor lane.
    pub fn warps(&self) -> u64 {
        1_u64.checked_shl(self.fit.warps.len() as u32).unwrap_or(u64::MAX)
    }

    /// How one instruction of one warp is served.
    pub fn served(&self, instruction: u64, warp: u64) -> Result<Vec<Phase>, ConflictsError> {
        let (group, warp) = (sum(&self.fit.groups, instruction).1, sum(&self.fit.warps, warp).1);
        let lanes = 0..u64::from(self.machine.lanes());
        let address = |lane| self.fit.acts(lane).then(|| self.fit.address(lane, group, warp));
        let addresses: Vec<_> = lanes.map(address).collect();
        Ok(serve(self.machine, self.kind, &addresses, self.fit.vector_bytes)?)
    }

    /// The registers of the vector of a lane, in the order of memory.
    pub fn registers(&self, instruction: u64, warp: u64, lane: u32) -> Vec<u64> {
        let (group, warp) = (sum(&self.fit.groups, instruction).1, sum(&self.fit.warps, warp).1);
        let elements = 0..1_u64 << self.fit.vector_log2;
        let byte = |element| element * self.fit.bits / 8;
        elements.map(|e| self.fit.register(lane.into(), group, warp, byte(e))).collect()
    }

    /// The elements that a lane moves, in the order of memory.
    pub fn elements(&self, instruction: u64, warp: u64, lane: u32) -> Vec<u64> {
        let (places, _) = sum(&self.fit.warps, warp);
        let element = |register: u64| {
            let own = self.registers.ins().pack(&[(REGISTER, register), (LANE, lane.into())]);
            // All of these are places of the layout.
            self.registers.apply_flat(own.unwrap_or(0) | places)
        };
        self.registers(instruction, warp, lane).into_iter().map(element).collect()
    }

    /// The rank law of every instruction; none of a memory with gaps, which carries.
    pub fn law(&self) -> Option<Law> {
        let Memory::Affine(memory) = self.memory else { return None };
        let word = self.machine.bank_bytes_log2;
        let row = word.saturating_add(self.machine.banks_log2_of(self.kind));
        let columns = self.fit.lane_columns();
        let width = self.fit.vector_bytes.max(1).ilog2();
        let phase = together(self.machine, self.kind, &columns, width, self.fit.idle);
        let address = |lane: u64| {
            crate::f2::ones(lane).filter_map(|bit| columns.get(bit as usize)).fold(0, |a, b| a ^ b)
        };
        let within = (word..width).map(|bit| 1_u64 << bit);
        let asked = phase.basis().map(address).chain(within.clone());
        let words = Subspace::spanned_by(asked.map(|address| address >> word << word));
        let meet = words.intersection(&Subspace::of_bits(!low_mask(row)));
        let offsets = memory.ins().bits(OFFSET);
        let segment = (0..offsets).filter(|&bit| (self.fit.bits << bit) >= 8_u64 << row.min(60));
        let lanes = phase.basis().map(|lane| self.element_of(lane));
        let vector = within.map(|bytes| self.held(memory, bytes));
        Some(Law {
            segment: segment.map(|bit| memory.layout().basis(OFFSET, bit)).collect(),
            phase: lanes.chain(vector).filter(|&element| element != 0).collect(),
            meet: meet.basis().map(|bytes| self.held(memory, bytes)).collect(),
            phases: (self.machine.lanes_log2 - self.fit.idle.count_ones())
                .saturating_sub(phase.dim()),
        })
    }

    /// The element that the lanes differ by.
    fn element_of(&self, lanes: u64) -> u64 {
        let lanes = crate::f2::ones(lanes).map(|bit| self.registers.basis(LANE, bit));
        lanes.fold(0, |all, element| all ^ element)
    }

    /// The element that so many bytes further differs by.
    fn held(&self, memory: &Affine, bytes: u64) -> u64 {
        let offset = bytes.saturating_mul(8) / self.fit.bits.max(1);
        let place = memory.ins().pack(&[(OFFSET, offset)]);
        memory.layout().apply_flat(place.unwrap_or(0))
    }
}
