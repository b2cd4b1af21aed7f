//! Shared memory used again.
//!
//! Two pieces may lie in the same bytes when all accesses to the one come before all accesses to the
//! other with a barrier of the block in between; no barrier is added for it. Looked at is the program's
//! outermost list of operations: what a loop or an `if` touches, it touches at its place in that list,
//! so that pieces of one loop stay apart. The largest piece is placed first, each as low as it fits; a
//! piece that nothing touches takes no bytes.

use super::pieces::Pieces;
use crate::id::Id;
use crate::lane::effects::Tokens;
use crate::lane::{BarrierScope, Inst, Program, Shared};
use core::ops::Range;

/// Runs the pass.
pub fn run(mut program: Program) -> Program {
    let places = places(&program);
    program.shared_bytes = end(&places);
    for (piece, place) in program.shared.keys().zip(places) {
        let data = &mut program.shared[piece];
        (data.offset, data.bytes) = (place.start, place.end - place.start);
    }
    program
}

/// The shared memory that a block would take.
pub(super) fn shared_bytes(program: &Program) -> u32 {
    end(&places(program))
}

/// Where each piece comes to lie.
fn places(program: &Program) -> Vec<Range<u32>> {
    let lives = Lives::of(program);
    let bytes = |piece: Shared| {
        if lives.spans[piece.index()].is_some() { program.shared[piece].bytes } else { 0 }
    };
    let mut order: Vec<Shared> = program.shared.keys().collect();
    order.sort_by_key(|&piece| core::cmp::Reverse(bytes(piece)));
    let mut places = vec![0..0; order.len()];
    for (count, &piece) in order.iter().enumerate() {
        let (bytes, align) = (bytes(piece), program.shared[piece].align.max(1));
        let placed = order[..count].iter().filter(|&&other| !lives.apart(piece, other));
        let mut taken: Vec<(u32, u32)> =
            placed.map(|other| (places[other.index()].start, places[other.index()].end)).collect();
        taken.sort_unstable();
        let mut offset = 0u32;
        for (start, end) in taken {
            if offset + bytes <= start {
                break;
            }
            offset = offset.max(end).next_multiple_of(align);
        }
        places[piece.index()] = offset..offset + bytes;
    }
    places
}

fn end(places: &[Range<u32>]) -> u32 {
    places.iter().map(|place| place.end).max().unwrap_or(0)
}

/// When each piece is used.
struct Lives {
    /// The first and the last operation that may touch each piece; none where nothing does.
    spans: Vec<Option<(usize, usize)>>,
    /// Where the whole block waits.
    barriers: Vec<usize>,
}

impl Lives {
    fn of(program: &Program) -> Self {
        let pieces = Pieces::of(program);
        let mut lives = Self { spans: vec![None; program.shared.len()], barriers: Vec::new() };
        for (position, &id) in program.body.insts.iter().enumerate() {
            if program.insts[id].op.effects().barrier() == Some(BarrierScope::Block) {
                lives.barriers.push(position);
            }
            lives.touch(program, &pieces, id, position);
        }
        // A copy that nobody waits for may land at any time.
        let waits =
            |&id: &Inst| program.insts[id].op.effects().tokens == Tokens::Awaits { pending: 0 };
        let last_wait = program.body.insts.iter().rposition(waits);
        for piece in pieces.copied() {
            if let Some((_, last)) = &mut lives.spans[piece.index()]
                && last_wait.is_none_or(|wait| wait < *last)
            {
                *last = program.body.insts.len();
            }
        }
        lives
    }

    fn touch(&mut self, program: &Program, pieces: &Pieces, id: Inst, position: usize) {
        let inst = &program.insts[id];
        for piece in pieces.touched(inst) {
            let span = self.spans[piece.index()].get_or_insert((position, position));
            span.1 = position;
        }
        for region in &inst.regions {
            for &inner in &region.insts {
                self.touch(program, pieces, inner, position);
            }
        }
    }

    /// Whether the block waits between the last use of one piece and the first use of the other.
    fn apart(&self, x: Shared, y: Shared) -> bool {
        let (Some(x), Some(y)) = (self.spans[x.index()], self.spans[y.index()]) else {
            return true;
        };
        let (earlier, later) = if x.1 <= y.0 { (x, y) } else { (y, x) };
        let next = self.barriers.partition_point(|&barrier| barrier <= earlier.1);
        self.barriers.get(next).is_some_and(|&barrier| barrier < later.0)
    }
}
