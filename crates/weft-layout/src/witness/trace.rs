//! What registers and memory hold while a plan runs, for those who want to see it.

use alloc::vec::Vec;

use super::{WitnessError, conversion, conversion_places, replay::Replay};
use crate::{
    layout::Layout,
    step::{Access, File, Group, Plan, combine},
};

/// A conversion that was replayed, with all that its registers held.
pub struct Trace<'a> {
    replay: Replay<'a>,
    plan: &'a Plan,
}

/// A part of an element in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece {
    /// The place of the tensor.
    pub element: u64,
    /// Which bytes of the element: the part that begins at this byte.
    pub byte: u64,
}

/// Bytes that a lane moves in one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Touch {
    /// The lane that holds the bytes.
    pub lane: u32,
    /// The lane that gave the address.
    pub giver: u32,
    /// The byte address; [`Trace::granule`] bytes from there on.
    pub address: u64,
    /// What they are; nothing where the register was never defined.
    pub piece: Option<Piece>,
}

impl<'a> Trace<'a> {
    /// Replays a plan that moves one operand from one layout to another; refuses what
    /// [`conversion`] refuses.
    pub fn of(plan: &'a Plan, from: &Layout, to: &Layout) -> Result<Trace<'a>, WitnessError> {
        conversion(plan, from, to)?;
        let (source, _) = conversion_places(plan, from, to)?;
        let mut replay = Replay::new(plan, from.outs().total_bits())?;
        replay.fill_inputs(&source)?;
        replay.run()?;
        Ok(Trace { replay, plan })
    }

    /// The bytes of a piece.
    pub fn granule(&self) -> u64 {
        self.replay.granule()
    }

    /// What a register of a thread holds, its lowest bytes first; nothing where there is no such
    /// register or it was never defined.
    pub fn register(&self, file: File, register: u32, lane: u32, warp: u32) -> Vec<Option<Piece>> {
        let operands = self.plan.inputs.len().max(1) as u64;
        let named = |value: Option<u64>| {
            let value = value?;
            Some(Piece { element: (value >> 3) / operands, byte: (value & 7) * self.granule() })
        };
        self.replay.register(file, register, lane, warp).into_iter().map(named).collect()
    }

    /// What one instruction of a warp moves, lane by lane.
    pub fn touches(&self, access: &Access, group: &Group, warp: u32) -> Vec<Touch> {
        let mut touches = Vec::new();
        if !access.acting.takes_part(0, warp.into()) {
            return touches;
        }
        let base = combine(&access.warp, warp.into()) ^ group.address;
        for lane in (0..1_u32 << self.plan.lane_bits)
            .filter(|&lane| access.acting.takes_part(lane.into(), 0))
        {
            let held = group.registers.iter();
            let held = held.flat_map(|&register| self.register(access.file, register, lane, warp));
            for (index, piece) in (0..).zip(held) {
                let place = access.form.place(lane.into(), index * self.granule());
                let Some((giver, inside)) = place else { continue };
                let address = (combine(&access.lane, giver) ^ base).saturating_add(inside);
                touches.push(Touch { lane, giver: giver as u32, address, piece });
            }
        }
        touches
    }
}
