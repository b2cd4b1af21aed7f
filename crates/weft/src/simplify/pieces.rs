//! Which piece of shared memory an access touches.

use crate::id::IdMap;
use crate::lane::effects::{Extent, Tokens};
use crate::lane::{InstData, Op, Program, Shared, Space, Value};
use crate::scalar::Binary;

/// The pieces behind addresses, as far as the operations that make them tell.
pub(super) struct Pieces {
    of: IdMap<Value, Option<Shared>>,
    all: Vec<Shared>,
    /// Those that outlive a movement: what an operation without an address may touch.
    allocated: Vec<Shared>,
    /// What asynchronous copies write: a wait may end there.
    copied: Vec<Shared>,
}

impl Pieces {
    /// Follows every address from the piece that it starts in.
    pub(super) fn of(program: &Program) -> Self {
        let mut of: IdMap<Value, Option<Shared>> = IdMap::default();
        program.walk(&program.body, &mut |_, inst| {
            let piece = match inst.op {
                Op::SharedBase(shared) => Some(shared),
                Op::Binary(Binary::Add | Binary::Xor | Binary::Or) => {
                    inst.operands.iter().find_map(|&operand| of[operand])
                }
                _ => None,
            };
            if let (Some(piece), &[result]) = (piece, &inst.results[..]) {
                of.set(result, Some(piece));
            }
        });
        let all: Vec<Shared> = program.shared.keys().collect();
        let allocated =
            all.iter().copied().filter(|&piece| !program.shared[piece].scratch).collect();
        let mut pieces = Self { of, all, allocated, copied: Vec::new() };
        let mut copied = Vec::new();
        program.walk(&program.body, &mut |_, inst| {
            if inst.op.effects().tokens == Tokens::Starts {
                copied.extend_from_slice(pieces.touched(inst));
            }
        });
        copied.sort_unstable();
        copied.dedup();
        pieces.copied = copied;
        pieces
    }

    /// The pieces that asynchronous copies write.
    pub(super) fn copied(&self) -> &[Shared] {
        &self.copied
    }

    /// The pieces that an operation may touch: none where it does not access shared memory, all of
    /// them where its address tells nothing.
    pub(super) fn touched(&self, inst: &InstData) -> &[Shared] {
        let effects = inst.op.effects();
        if !(effects.reads | effects.writes).has(Space::Shared) {
            return &[];
        }
        match effects.extent {
            Extent::InFlight => &self.copied,
            Extent::Anywhere => &self.allocated,
            Extent::Addressed => match inst.operands.first().map(|&address| &self.of[address]) {
                Some(Some(piece)) => core::slice::from_ref(piece),
                _ => &self.all,
            },
        }
    }

    /// The one piece that an operation touches at its address, if it is known to be one.
    pub(super) fn addressed(&self, inst: &InstData) -> Option<Shared> {
        match self.touched(inst) {
            &[piece] if inst.op.effects().addresses_shared() => Some(piece),
            _ => None,
        }
    }
}
