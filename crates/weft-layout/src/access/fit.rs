use alloc::vec::Vec;

use super::{AccessError, Kind, error::ConflictsError, widest_shared};
use crate::{
    affine::{Affine, Padded},
    f2::{Echelon, low_mask, ones},
    layout::Layout,
    machine::{MAX_ACCESS_LOG2, Machine},
    space::{LANE, Label, OFFSET, REGISTER},
};

/// A memory that holds a tensor.
#[derive(Clone, Copy, Debug)]
pub enum Memory<'a> {
    /// A layout from `offset`, in elements, to the tensor, perhaps moved by a constant.
    Affine(&'a Affine),
    /// A memory with gaps between its elements.
    Padded(&'a Padded),
}

impl<'a> From<&'a Affine> for Memory<'a> {
    fn from(affine: &'a Affine) -> Memory<'a> {
        Memory::Affine(affine)
    }
}

impl<'a> From<&'a Padded> for Memory<'a> {
    fn from(padded: &'a Padded) -> Memory<'a> {
        Memory::Padded(padded)
    }
}

impl<'a> Memory<'a> {
    /// The layout of the elements as if there were no gaps.
    fn affine(self) -> Affine {
        match self {
            Memory::Affine(affine) => affine.clone(),
            Memory::Padded(padded) => padded.layout().clone().into(),
        }
    }

    /// The layout with its gaps, if the memory has any.
    fn padded(self) -> Option<&'a Padded> {
        match self {
            Memory::Affine(_) => None,
            Memory::Padded(padded) => Some(padded),
        }
    }
}

/// Where an offset of a memory with these gaps lies, in elements.
fn physical(padded: Option<&Padded>, offset: u64) -> u64 {
    padded.map_or(offset, |padded| padded.physical(offset))
}

/// How the registers of a layout lie in a memory: an offset for each bit of a place, and the vectors
/// that these make.
pub(super) struct Fit<'a> {
    padded: Option<&'a Padded>,
    /// The bits of an element in memory.
    pub(super) bits: u64,
    /// The offset of place zero.
    constant: u64,
    /// The register bits that are no copies, by offset, with their register numbers.
    registers: Echelon,
    /// The register bits that lead from vector to vector: number and offset.
    pub(super) groups: Vec<(u64, u64)>,
    /// The offsets of the lane bits.
    pub(super) lanes: Vec<u64>,
    /// The lane bits of which only zero takes part: of a store, those that make copies.
    pub(super) idle: u64,
    /// The bits that are neither registers nor lanes, and of which not only zero takes part: place and
    /// offset.
    pub(super) warps: Vec<(u64, u64)>,
    /// The logarithm of the elements of a vector.
    pub(super) vector_log2: u32,
    /// The bytes of a vector.
    pub(super) vector_bytes: u32,
}

impl<'a> Fit<'a> {
    pub(super) fn new(
        machine: &Machine,
        kind: Kind,
        registers: &Layout,
        memory: Memory<'a>,
        element_bits: u32,
    ) -> Result<Fit<'a>, ConflictsError> {
        let bits = stored_bits(element_bits)?;
        let (layout, lanes) = (registers.in_bits(LANE), machine.lanes_log2);
        if layout != lanes {
            return Err(ConflictsError::Lanes { layout, machine: lanes });
        }
        let holder = memory.affine();
        if !holder.ins().contains(OFFSET) {
            return Err(ConflictsError::NoOffset);
        }
        let last = physical(memory.padded(), low_mask(holder.ins().bits(OFFSET)));
        if last.checked_mul(bits).is_none() {
            return Err(ConflictsError::TooLarge);
        }
        if let (Kind::Store, Some(copy)) = (kind, holder.layout().kernel().basis().next()) {
            return Err(ConflictsError::Copies { place: holder.ins().unpack(copy) });
        }
        let map = Affine::from(registers.clone()).solve(&holder)?;
        check_axes(&map)?;

        let offset = |place: u64| map.outs().coordinate(OFFSET, map.layout().apply_flat(place));
        let places = registers.ins().iter().flat_map(|(label, start, count)| {
            (0..count).map(move |bit| (label, bit, 1_u64 << (start + bit)))
        });
        let constant = map.outs().coordinate(OFFSET, map.constant());
        let columns = places.map(|(label, bit, place)| (label, bit, place, offset(place)));
        Fit::of_offsets(machine, kind, memory.padded(), bits, constant, columns)
    }

    /// The same where the offsets are known: for each bit of a place its axis, its number there, the
    /// place and the offset.
    pub(super) fn of_offsets(
        machine: &Machine,
        kind: Kind,
        padded: Option<&'a Padded>,
        bits: u64,
        constant: u64,
        columns: impl Iterator<Item = (Label, u32, u64, u64)>,
    ) -> Result<Fit<'a>, ConflictsError> {
        let (mut own, mut held) = (Echelon::new(), Echelon::new());
        let (mut kept, mut across, mut warps) = (Vec::new(), Vec::new(), Vec::new());
        let (mut idle, mut touched) = (0, 0);
        for (label, bit, place, column) in columns {
            // Whoever holds an element first stores it; all who hold it load it.
            let takes_part = held.grows(column) || kind == Kind::Load;
            match label {
                REGISTER if own.insert(column, 1 << bit).is_none() => kept.push((bit, column)),
                REGISTER => {}
                LANE => {
                    idle |= u64::from(!takes_part) << across.len();
                    across.push(column);
                }
                _ if takes_part => warps.push((place, column)),
                _ => {}
            }
            touched |= if label == REGISTER { 0 } else { column };
        }
        let mut fit = Fit {
            padded,
            bits,
            constant,
            registers: own,
            groups: Vec::new(),
            lanes: across,
            idle,
            warps,
            vector_log2: 0,
            vector_bytes: 0,
        };
        fit.vectorise(widest_shared(machine), kind, touched)?;
        let mut cosets = Echelon::of((0..fit.vector_log2).map(|bit| 1 << bit));
        let groups = kept.into_iter().filter(|(_, column)| cosets.grows(*column));
        fit.groups = groups.map(|(bit, column)| (1 << bit, column)).collect();
        Ok(fit)
    }

    /// Takes the longest vectors of consecutive offsets that every thread holds in the same
    /// registers; `threads` has the offset bits that lead from thread to thread.
    fn vectorise(&mut self, widest: u32, kind: Kind, threads: u64) -> Result<(), ConflictsError> {
        let aligned = self.padded.map_or(u64::MAX, Padded::aligned);
        let longer = |bit: &u32| {
            let elements = 2_u64 << bit;
            elements * self.bits <= 8 * u64::from(widest)
                && elements <= aligned
                && threads >> bit & 1 == 0
                && self.registers.reduce(1 << bit, 0).0 == 0
        };
        self.vector_log2 = (0..8).take_while(longer).count() as u32;
        let vector_bits = self.bits << self.vector_log2;
        if vector_bits < 8 && kind == Kind::Store {
            return Err(ConflictsError::PartOfByte { bits: vector_bits as u32 });
        }
        self.vector_bytes = (vector_bits / 8).max(1) as u32;
        if self.vector_bytes > widest {
            let bytes = self.vector_bytes;
            return Err(AccessError::Width { bytes, widest }.into());
        }
        Ok(())
    }

    /// What lane bits add to a byte address, of a memory without gaps.
    pub(super) fn lane_columns(&self) -> Vec<u64> {
        self.lanes.iter().map(|column| column * self.bits / 8).collect()
    }

    /// Whether a lane takes part.
    pub(super) fn acts(&self, lane: u64) -> bool {
        lane & self.idle == 0
    }

    /// The offset at which the vector of a lane begins.
    pub(super) fn start(&self, lane: u64, group: u64, warp: u64) -> u64 {
        let lanes = ones(lane).filter_map(|bit| self.lanes.get(bit as usize));
        let offset = lanes.fold(self.constant ^ group ^ warp, |sum, column| sum ^ column);
        offset & !low_mask(self.vector_log2)
    }

    /// The byte address at which the vector of a lane begins; `group` and `warp` are offsets.
    pub(super) fn address(&self, lane: u64, group: u64, warp: u64) -> u64 {
        physical(self.padded, self.start(lane, group, warp)) * self.bits / 8
    }

    /// The register that holds the first element of byte `byte` of the vector of a lane.
    pub(super) fn register(&self, lane: u64, group: u64, warp: u64, byte: u64) -> u64 {
        let element = self.start(lane, group, warp) + byte * 8 / self.bits;
        let lanes = ones(lane).filter_map(|bit| self.lanes.get(bit as usize));
        let own = lanes.fold(self.constant ^ warp ^ element, |sum, column| sum ^ column);
        self.registers.reduce(own, 0).1
    }
}

/// The bits that an element takes in memory: a truth value takes a byte, other narrow elements are
/// packed.
pub(super) fn stored_bits(element_bits: u32) -> Result<u64, ConflictsError> {
    match element_bits {
        1 => Ok(8),
        bits if bits.is_power_of_two() && bits <= 8 << MAX_ACCESS_LOG2 => Ok(bits.into()),
        bits => Err(ConflictsError::Element { bits }),
    }
}

/// Checks that a thread finds everything in its own memory: the axes beside `offset` stay.
fn check_axes(map: &Affine) -> Result<(), ConflictsError> {
    for axis in map.outs().labels().filter(|&axis| axis != OFFSET) {
        for (label, start, bits) in map.ins().iter() {
            for bit in 0..bits {
                let place = map.layout().apply_flat(1 << (start + bit));
                let stays = if label == axis { 1 << bit } else { 0 };
                if map.outs().coordinate(axis, place) != stays {
                    return Err(ConflictsError::OtherMemory { label, bit, axis });
                }
            }
        }
        let value = map.outs().coordinate(axis, map.constant());
        if value != 0 {
            return Err(ConflictsError::StartsElsewhere { axis, value });
        }
    }
    Ok(())
}
