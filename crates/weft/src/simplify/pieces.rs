//! Which piece of shared memory an access touches.

use crate::id::IdMap;
use crate::lane::{InstData, Op, Program, Shared, Space, Value};
use crate::scalar::Binary;

/// The pieces behind addresses, as far as the operations that make them tell.
pub(super) struct Pieces {
    of: IdMap<Value, Option<Shared>>,
    all: Vec<Shared>,
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
        Self { of, all: program.shared.keys().collect() }
    }

    /// The pieces that an operation may touch: none where it does not access shared memory, all of
    /// them where its address tells nothing.
    pub(super) fn touched(&self, inst: &InstData) -> &[Shared] {
        let Some((Space::Shared, _)) = inst.touches() else { return &[] };
        match inst.operands.first().map(|&address| &self.of[address]) {
            Some(Some(piece)) => core::slice::from_ref(piece),
            _ => &self.all,
        }
    }
}
