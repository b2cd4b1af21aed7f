//! Reuses shared memory.
//!
//! Two pieces may share bytes when all accesses to the one come before all accesses to the other with a
//! barrier of the block in between. The pass looks at the program's outermost list of operations: the
//! accesses inside a loop or an `if` count at its place in that list, so that pieces of one loop stay apart.
//! The largest piece is placed first, each as low as it fits; a piece that nothing touches takes no bytes.
//!
//! Where shared memory keeps blocks off the multiprocessor for which there are registers, or where a block
//! does not fit at all, barriers are added if that lets more blocks run: outside of loops, each as late as
//! possible. In this way the buffers of a pipeline become the scratch memory of what follows the loop.

use super::alternate::REGISTERS;
use super::pieces::Pieces;
use crate::id::Id;
use crate::lane::effects::Tokens;
use crate::lane::{BarrierScope, Inst, InstData, Op, Program, Shared};
use core::ops::Range;
use smallvec::SmallVec;

/// Runs the pass.
pub fn run(mut program: Program) -> Program {
    let Packed { places, barriers } = packed(&program);
    program.shared_bytes = end(&places);
    for (piece, place) in program.shared.keys().zip(places) {
        let data = &mut program.shared[piece];
        (data.offset, data.bytes) = (place.start, place.end - place.start);
    }
    for &position in barriers.iter().rev() {
        wait(&mut program, position);
    }
    program
}

/// The shared memory that a block would take.
pub(super) fn shared_bytes(program: &Program) -> u32 {
    end(&packed(program).places)
}

/// Where the pieces come to lie.
struct Packed {
    /// The bytes of each piece.
    places: Vec<Range<u32>>,
    /// The operations of the outermost list in front of which the block must wait for that, in order.
    barriers: Vec<usize>,
}

fn packed(program: &Program) -> Packed {
    let lives = Lives::of(program);
    let places = placed(program, &lives, |x, y| lives.apart(x, y));
    let as_it_waits = Packed { places, barriers: Vec::new() };
    let Some(multiprocessor) = program.multiprocessor else { return as_it_waits };
    let blocks = |packed: &Packed| {
        let bytes = end(&packed.places);
        multiprocessor.blocks(program.threads(), REGISTERS, bytes)
    };
    let least = placed(program, &lives, |x, y| lives.follow(x, y));
    let barriers = lives.barriers_for(&least);
    let waiting = Packed { places: least, barriers };
    if blocks(&waiting) > blocks(&as_it_waits) { waiting } else { as_it_waits }
}

/// Puts a barrier of the block in front of an operation of the outermost list.
fn wait(program: &mut Program, position: usize) {
    let loc = program.insts[program.body.insts[position]].loc;
    let barrier = program.insts.push(InstData {
        op: Op::Barrier(BarrierScope::Block),
        operands: SmallVec::new(),
        results: SmallVec::new(),
        regions: Vec::new(),
        loc,
    });
    program.body.insts.insert(position, barrier);
}

/// Bytes for each piece, so that those of two pieces meet only where they may.
fn placed(
    program: &Program,
    lives: &Lives,
    may_meet: impl Fn(Shared, Shared) -> bool,
) -> Vec<Range<u32>> {
    let bytes = |piece: Shared| {
        if lives.spans[piece.index()].is_some() { program.shared[piece].bytes } else { 0 }
    };
    let mut order: Vec<Shared> = program.shared.keys().collect();
    order.sort_by_key(|&piece| core::cmp::Reverse(bytes(piece)));
    let mut places = vec![0..0; order.len()];
    for (count, &piece) in order.iter().enumerate() {
        let (bytes, align) = (bytes(piece), program.shared[piece].align.max(1));
        let placed = order[..count].iter().filter(|&&other| !may_meet(piece, other));
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

    /// The last use of the one piece that is used first and the first use of the other, where the one
    /// follows the other.
    fn gap(&self, x: Shared, y: Shared) -> Option<Range<usize>> {
        let (x, y) = (self.spans[x.index()]?, self.spans[y.index()]?);
        let (earlier, later) = if x.1 <= y.0 { (x, y) } else { (y, x) };
        (earlier.1 < later.0).then_some(earlier.1..later.0)
    }

    /// Whether one of two pieces is used only after the other.
    fn follow(&self, x: Shared, y: Shared) -> bool {
        self.is_idle(x) || self.is_idle(y) || self.gap(x, y).is_some()
    }

    /// Whether the block waits between the last use of one piece and the first use of the other.
    fn apart(&self, x: Shared, y: Shared) -> bool {
        let waits = |gap| waits_in(&self.barriers, &gap);
        self.is_idle(x) || self.is_idle(y) || self.gap(x, y).is_some_and(waits)
    }

    fn is_idle(&self, piece: Shared) -> bool {
        self.spans[piece.index()].is_none()
    }

    /// In front of which operations the block must wait beside where it does, so that pieces whose bytes
    /// meet are apart; as few as can be, each as late as may be.
    fn barriers_for(&self, places: &[Range<u32>]) -> Vec<usize> {
        let pieces = || (0..places.len()).map(Shared::new);
        let mut gaps: Vec<Range<usize>> = Vec::new();
        for (x, y) in pieces().flat_map(|x| pieces().map(move |y| (x, y))) {
            let [own, other] = [x, y].map(|piece| &places[piece.index()]);
            if own.start < other.end && other.start < own.end && !self.apart(x, y) {
                gaps.extend(self.gap(x, y));
            }
        }
        gaps.sort_unstable_by_key(|gap| gap.end);
        let mut added: Vec<usize> = Vec::new();
        for gap in gaps {
            if added.last().is_none_or(|&last| last <= gap.start) {
                added.push(gap.end);
            }
        }
        added
    }
}

/// Whether a barrier stands behind the start of a gap and before its end.
fn waits_in(barriers: &[usize], gap: &Range<usize>) -> bool {
    let next = barriers.partition_point(|&barrier| barrier <= gap.start);
    barriers.get(next).is_some_and(|&barrier| barrier < gap.end)
}
