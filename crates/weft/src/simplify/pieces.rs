//! Which piece of shared memory an access touches.

use crate::id::IdMap;
use crate::lane::{InstData, Op, Program, Shared, Space, Value};
use crate::scalar::Binary;

/// The pieces behind addresses, as far as the operations that make them tell.
pub(super) struct Pieces {
    of: IdMap<Value, Option<Shared>>,
    all: Vec<Shared>,
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
        let mut pieces = Self { of, all: program.shared.keys().collect(), copied: Vec::new() };
        let mut copied = Vec::new();
        program.walk(&program.body, &mut |_, inst| {
            if matches!(inst.op, Op::AsyncCopy { .. }) {
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
        if matches!(inst.op, Op::AsyncWait { .. }) {
            return &self.copied;
        }
        let Some((Space::Shared, _)) = inst.touches() else { return &[] };
        match inst.operands.first().map(|&address| &self.of[address]) {
            Some(Some(piece)) => core::slice::from_ref(piece),
            _ => &self.all,
        }
    }
}
