//! Reuses shared memory.
//!
//! Two pieces may share bytes when all accesses to the one come before all accesses to the other with a
//! barrier of the block in between, or when a block has accesses to one of them alone, as in the two regions of
//! an `if` around which barriers stand: all threads take the same one. In a loop the one comes behind the other again, in
//! the next round, and a barrier stands there too; and nothing may be in either from round to round, which is known of
//! scratch memory and of tensors that a round allocates ([`SharedData::renewed`](crate::lane::SharedData::renewed)).
//! The pass looks at the program's outermost list of operations, and at those of the regions of `if`s and loops in which
//! barriers stand: accesses inside others count at their place in the list. The largest piece is
//! placed first, each as low as it fits; a piece that nothing touches takes no bytes.
//!
//! Where shared memory keeps blocks off the multiprocessor for which there are registers, or where a block
//! does not fit at all, barriers are added, each as late as possible. If it lets any more blocks run, scratch memory
//! outside of loops lies in what was used before: in this way the buffers of a pipeline become the scratch memory of what
//! follows the loop, which waits for its products in any case. If it lets half as many more blocks run, so does other
//! memory, which could have been filled early: first outside of loops, and in them only if that is not enough.

use super::pieces::{Pieces, empties, fills};
use super::registers::{self, HALF};
use crate::budget::Stop;
use crate::id::Id;
use crate::lane::effects::{Control, Fence, Proxy, Step, Tokens};
use crate::lane::{BarrierScope, Inst, InstData, Op, Program, Shared, SharedData, SyncOp};
use core::ops::Range;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Reuses shared memory, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let lines = Lines::of(&program);
    let Packed { places, barriers } = packed(&program, &lines, stop);
    if stop.is_set() {
        return program;
    }
    program.shared_bytes = end(&places);
    for (piece, place) in program.shared.keys().zip(places) {
        let data = &mut program.shared[piece];
        (data.offset, data.bytes) = (place.start, place.end - place.start);
    }
    for &position in barriers.iter().rev() {
        wait(&mut program, &lines, position);
    }
    program
}

/// The shared memory that a block would take, unless it is stopped.
pub(super) fn shared_bytes(program: &Program, stop: &Stop) -> u32 {
    end(&packed(program, &Lines::of(program), stop).places)
}

/// Where the pieces come to lie.
struct Packed {
    /// The bytes of each piece.
    places: Vec<Range<u32>>,
    /// The lines in front of which the block must wait for that, in order.
    barriers: Vec<usize>,
}

/// Which memory is used again behind barriers that are there for that alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reuse {
    ScratchOutsideLoops,
    OutsideLoops,
    Anywhere,
}

fn packed(program: &Program, lines: &Lines, stop: &Stop) -> Packed {
    let lives = Lives::of(program, lines, stop);
    let places = placed(program, &lives, |x, y| lives.apart(x, y));
    let mut best = Packed { places, barriers: Vec::new() };
    let Some(multiprocessor) = program.multiprocessor else { return best };
    let threads = program.threads();
    let follows = |reuse: Reuse, x: Shared, y: Shared| match reuse {
        Reuse::ScratchOutsideLoops => {
            let is_scratch = |piece: Shared| program.shared[piece].scratch;
            !lives.share_a_loop(x, y) && lives.later(x, y).is_none_or(is_scratch)
        }
        Reuse::OutsideLoops => !lives.share_a_loop(x, y),
        Reuse::Anywhere => true,
    };
    // Outside of loops a barrier costs so little that it may be in vain.
    for reuse in [Reuse::ScratchOutsideLoops, Reuse::OutsideLoops, Reuse::Anywhere] {
        // As many blocks run as there can be registers for.
        let bytes = end(&best.places);
        if multiprocessor.blocks(threads, HALF, bytes) == multiprocessor.blocks(threads, HALF, 0) {
            break;
        }
        let registers = match reuse {
            Reuse::ScratchOutsideLoops | Reuse::OutsideLoops => HALF,
            Reuse::Anywhere => registers::likely(program, stop),
        };
        let blocks = |places: &[Range<u32>]| multiprocessor.blocks(threads, registers, end(places));
        let may_meet = |x, y| lives.apart(x, y) || lives.follow(x, y) && follows(reuse, x, y);
        let places = placed(program, &lives, may_meet);
        // What used memory of its own waits now for what was there.
        let (more, some) = (blocks(&places), blocks(&best.places));
        let is_enough = reuse == Reuse::ScratchOutsideLoops || 2 * more >= 3 * some;
        if more > some && is_enough {
            let barriers = lives.barriers_for(&places);
            best = Packed { places, barriers };
        }
    }
    best
}

/// Puts a barrier of the block in front of a line.
fn wait(program: &mut Program, lines: &Lines, position: usize) {
    let line = &lines.list[position];
    let loc = program.insts[line.id].loc;
    let barrier = program.insts.push(InstData {
        op: Op::Sync(SyncOp::Barrier(BarrierScope::Block)),
        operands: SmallVec::new(),
        results: SmallVec::new(),
        regions: Vec::new(),
        loc,
    });
    let list = match line.path.last() {
        Some(&(inst, region)) => &mut program.insts[inst].regions[region].insts,
        None => &mut program.body.insts,
    };
    list.insert(line.index, barrier);
}

/// The regions of `if`s and loops that all threads of a block go through alike, from the outermost one in.
type Path = SmallVec<[(Inst, usize); 2]>;

/// An operation of a list that is looked at.
struct Line {
    id: Inst,
    /// Where the list is.
    path: Path,
    /// The operation's number in the list.
    index: usize,
    /// Whether its regions have lines of their own.
    is_common: bool,
}

impl Line {
    /// Visits the operation, and those in its regions, if these have no lines of their own.
    fn walk<'a>(&self, program: &'a Program, visit: &mut impl FnMut(&'a InstData)) {
        let inst = &program.insts[self.id];
        visit(inst);
        if !self.is_common {
            for region in &inst.regions {
                program.walk(region, &mut |_, inst| visit(inst));
            }
        }
    }
}

/// The outermost list of operations, with the lists of the regions of `if`s and loops that all threads of a block
/// go through alike behind these.
struct Lines {
    list: Vec<Line>,
    /// The line of each such loop, and the last one in it.
    loops: FxHashMap<Inst, (usize, usize)>,
    /// The lines at which regions around them may be left.
    exits: Vec<usize>,
}

impl Lines {
    fn of(program: &Program) -> Self {
        let mut lines = Self { list: Vec::new(), loops: FxHashMap::default(), exits: Vec::new() };
        lines.add(program, &program.body.insts, &Path::new());
        for (position, line) in lines.list.iter().enumerate() {
            let mut leaves = false;
            line.walk(program, &mut |inst| {
                leaves |= inst.op.effects().control == Control::Leaves;
            });
            if leaves {
                lines.exits.push(position);
            }
        }
        lines
    }

    fn add(&mut self, program: &Program, list: &[Inst], path: &Path) {
        for (index, &id) in list.iter().enumerate() {
            let (is_common, start) = (is_common(program, id), self.list.len());
            self.list.push(Line { id, path: path.clone(), index, is_common });
            if !is_common {
                continue;
            }
            for (number, region) in program.insts[id].regions.iter().enumerate() {
                let mut inner = path.clone();
                inner.push((id, number));
                self.add(program, &region.insts, &inner);
            }
            if program.insts[id].op == Op::Loop {
                self.loops.insert(id, (start, self.list.len() - 1));
            }
        }
    }

    /// How many of the regions of a path lie around its outermost loop.
    fn outside_loops(&self, path: &Path) -> usize {
        path.iter().position(|(id, _)| self.loops.contains_key(id)).unwrap_or(path.len())
    }

    /// Uses at some lines of a list, as they are seen from the list around it at a depth: a loop goes round, so
    /// that all of it is one use.
    fn seen_from(&self, depth: usize, path: &Path, uses: Range<usize>) -> Range<usize> {
        // An operation stands before what is in it.
        let holds = |&at: &usize| self.list[at].path.len() <= depth;
        let start = (0..=uses.start).rev().find(holds).unwrap_or(0);
        let inner = path.get(depth..).unwrap_or(&[]);
        let ends = inner.iter().filter_map(|(id, _)| self.loops.get(id)).map(|&(_, end)| end);
        start..ends.fold(uses.end, usize::max)
    }

    /// Adds uses at some lines of a list to those of a piece. Unless nothing is in it from one round of a loop to the
    /// next, a loop is one use.
    fn extend(&self, span: &mut Option<Span>, renewed: bool, path: &Path, uses: Range<usize>) {
        let all = if renewed { path.len() } else { self.outside_loops(path) };
        let known = span.as_ref();
        let common = known.map_or(all, |span| together(&span.path, path).min(all));
        let mut whole =
            if uses.start < self.list.len() { self.seen_from(common, path, uses) } else { uses };
        if let Some(known) = known {
            let known = self.seen_from(common, &known.path, known.first..known.last);
            whole = known.start.min(whole.start)..known.end.max(whole.end);
        }
        let path = path[..common].into();
        *span = Some(Span { path, first: whole.start, last: whole.end });
    }

    /// Whether regions may be left at a line between two others.
    fn leaves(&self, between: Range<usize>) -> bool {
        let next = self.exits.partition_point(|&at| at <= between.start);
        self.exits.get(next).is_some_and(|&at| at < between.end)
    }
}

/// Whether an operation is an `if` or a loop that all threads of a block go through alike, since a barrier stands in
/// it.
fn is_common(program: &Program, id: Inst) -> bool {
    let inst = &program.insts[id];
    let mut waits = false;
    if matches!(inst.op, Op::If | Op::Loop) {
        for region in &inst.regions {
            program.walk(region, &mut |_, inst| {
                waits |= inst.op.effects().barrier() == Some(BarrierScope::Block);
            });
        }
    }
    waits
}

/// Bytes for each piece, so that those of two pieces meet only where they may.
fn placed(
    program: &Program,
    lives: &Lives<'_>,
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

/// When a piece is used.
#[derive(Clone)]
struct Span {
    /// The regions that all uses stand in.
    path: Path,
    /// The line in the list of that path which holds the first use.
    first: usize,
    /// The last line that holds a use.
    last: usize,
}

/// A place where the whole block waits.
struct Barrier {
    /// Its line, or the one in front of which it is to be.
    position: usize,
    /// The regions that it stands in.
    path: Path,
}

/// When each piece is used.
struct Lives<'l> {
    lines: &'l Lines,
    /// None where nothing touches the piece.
    spans: Vec<Option<Span>>,
    /// The same without waits for copies: where these were not begun, nobody waits for them.
    begun: Vec<Option<Span>>,
    /// Where the whole block waits, by lines.
    barriers: Vec<Barrier>,
    /// Whether nothing is in a piece from one round of a loop to the next.
    renewed: Vec<bool>,
    /// When bulk copies that write a piece begin.
    filled: Vec<Option<Span>>,
    /// When threads touch it themselves, and not by matrix units or bulk copies.
    touched: Vec<Option<Span>>,
    /// Of the barriers those in front of which each thread told the copy engine what it had touched.
    told: Vec<Barrier>,
}

impl<'l> Lives<'l> {
    fn of(program: &Program, lines: &'l Lines, stop: &Stop) -> Self {
        let pieces = Pieces::of(program);
        let renewed = |piece: &SharedData| {
            (piece.scratch || piece.renewed) && piece.turns.is_none() && !piece.mbarriers
        };
        let mut lives = Self {
            lines,
            spans: vec![None; program.shared.len()],
            begun: vec![None; program.shared.len()],
            barriers: Vec::new(),
            renewed: program.shared.values().map(renewed).collect(),
            filled: vec![None; program.shared.len()],
            touched: vec![None; program.shared.len()],
            told: Vec::new(),
        };
        let mut fence: Option<&Line> = None;
        for (position, line) in lines.list.iter().enumerate() {
            let effects = program.insts[line.id].op.effects();
            if effects.barrier() == Some(BarrierScope::Block) {
                lives.barriers.push(Barrier { position, path: line.path.clone() });
                if fence.is_some_and(|fence| fence.path == line.path) {
                    lives.told.push(Barrier { position, path: line.path.clone() });
                }
            }
            fence = (effects.fence == Fence::Proxy).then_some(line);
            line.walk(program, &mut |inst| {
                let is_wait = empties(inst) && inst.operands.is_empty();
                if !is_wait && Kind::waited_for(inst).is_none() {
                    for piece in pieces.touched(inst) {
                        let (span, renewed) =
                            (&mut lives.begun[piece.index()], lives.renewed[piece.index()]);
                        lines.extend(span, renewed, &line.path, position..position);
                    }
                }
                let list = match inst.op.effects().proxy {
                    _ if fills(inst) => &mut lives.filled,
                    Proxy::Generic | Proxy::Unknown => &mut lives.touched,
                    Proxy::Async => return,
                };
                for piece in pieces.touched(inst) {
                    let renewed = lives.renewed[piece.index()];
                    lines.extend(&mut list[piece.index()], renewed, &line.path, position..position);
                }
            });
            lives.touch(program, position, &mut |inst| {
                if Kind::waited_for(inst).is_some() { &[] } else { pieces.touched(inst) }
            });
        }
        // A wait touches what is under way: what was begun before it, and not waited for since.
        let mut flights = Flights::of(program, lines, &pieces);
        for (position, line) in lines.list.iter().enumerate() {
            if stop.is_set() {
                break;
            }
            let flying = Kind::ALL.map(|kind| flights.under_way(&lives, line, (kind, position)));
            lives.touch(program, position, &mut |inst| match Kind::waited_for(inst) {
                Some((kind, _)) => &flying[kind as usize],
                None => &[],
            });
            if let Some((kind, 0)) = Kind::waited_for(&program.insts[line.id]) {
                flights.settled.push((kind, position, line.path.clone()));
            }
        }
        // A copy that nobody waits for may land at any time.
        for &piece in pieces.copied() {
            if flights.lands_at_last(&lives, piece) {
                lives.used(piece, &Path::new(), lines.list.len()..lines.list.len());
            }
        }
        lives
    }

    /// Notes what the operation of a line touches, and what those in its regions do, if these have no lines.
    fn touch<'a>(
        &mut self,
        program: &'a Program,
        position: usize,
        touched: &mut impl FnMut(&'a InstData) -> &'a [Shared],
    ) {
        let lines = self.lines;
        let line = &lines.list[position];
        line.walk(program, &mut |inst| {
            for &piece in touched(inst) {
                self.used(piece, &line.path, position..position);
            }
        });
    }

    /// Notes a use of a piece at some lines of a list.
    fn used(&mut self, piece: Shared, path: &Path, uses: Range<usize>) {
        let index = piece.index();
        self.lines.extend(&mut self.spans[index], self.renewed[index], path, uses);
    }

    fn span(&self, piece: Shared) -> Option<&Span> {
        self.spans[piece.index()].as_ref()
    }

    /// Whether a block that uses one of two pieces does not use the other.
    fn exclude(&self, x: Shared, y: Shared) -> bool {
        match [x, y].map(|piece| self.begun[piece.index()].as_ref()) {
            [Some(x), Some(y)] => self.lines.excluded(&x.path, &y.path),
            _ => true,
        }
    }

    /// Of two pieces the one that is used first and the other, where the one follows the other. What bulk copies
    /// write does not follow what threads touched unless these told it, as a barrier alone does not order the one
    /// proxy with the other.
    fn ordered(&self, x: Shared, y: Shared) -> Option<[&Span; 2]> {
        let (first, second) = (self.span(x)?, self.span(y)?);
        let x_leads = first.last <= second.first;
        let [earlier, later] = if x_leads { [first, second] } else { [second, first] };
        let [leads, follows] = if x_leads { [x, y] } else { [y, x] };
        let comes_again = || self.lines.loop_around([earlier, later]).is_some();
        let told = match (&self.touched[leads.index()], &self.filled[follows.index()]) {
            (Some(touched), Some(filled)) => self.lines.part(&self.told, [touched, filled], 0),
            _ => true,
        };
        let is_written_later = !told || self.filled[leads.index()].is_some() && comes_again();
        (earlier.last < later.first && !is_written_later).then_some([earlier, later])
    }

    /// Whether one of two pieces is used only after the other.
    fn follow(&self, x: Shared, y: Shared) -> bool {
        self.exclude(x, y) || self.ordered(x, y).is_some()
    }

    /// The piece of two that is used later, where one follows the other.
    fn later(&self, x: Shared, y: Shared) -> Option<Shared> {
        let [_, later] = self.ordered(x, y)?;
        let is_later =
            |piece: &Shared| self.span(*piece).is_some_and(|span| span.first == later.first);
        [x, y].into_iter().find(is_later)
    }

    /// Whether both pieces are used in the rounds of a loop alone.
    fn share_a_loop(&self, x: Shared, y: Shared) -> bool {
        let loops = self.ordered(x, y).map(|spans| self.lines.loop_around(spans));
        loops.flatten().is_some()
    }

    /// Whether the block waits between the uses of one piece and those of the other.
    fn apart(&self, x: Shared, y: Shared) -> bool {
        let part = |spans| {
            self.lines.part(&self.barriers, spans, 0)
                && self.lines.part_rounds(&self.barriers, spans, 0)
        };
        self.exclude(x, y) || self.ordered(x, y).is_some_and(part)
    }

    /// In front of which operations the block must wait beside where it does, so that pieces whose bytes
    /// meet are apart; as few as can be, each as late as may be.
    fn barriers_for(&self, places: &[Range<u32>]) -> Vec<usize> {
        let lines = self.lines;
        let pieces = || (0..places.len()).map(Shared::new);
        let mut pairs: Vec<[&Span; 2]> = Vec::new();
        for (x, y) in pieces().flat_map(|x| pieces().map(move |y| (x, y))) {
            let [own, other] = [x, y].map(|piece| &places[piece.index()]);
            if x < y && own.start < other.end && other.start < own.end && !self.exclude(x, y) {
                pairs.extend(self.ordered(x, y));
            }
        }
        pairs.sort_by_key(|[_, later]| later.first);
        let mut added: Vec<Barrier> = Vec::new();
        for &spans in &pairs {
            if !lines.part(&self.barriers, spans, 0) && !lines.part(&added, spans, 1) {
                let [earlier, later] = spans;
                added.push(lines.in_front(later, together(&earlier.path, &later.path)));
            }
        }
        for &spans in &pairs {
            added.sort_by_key(|barrier| barrier.position);
            if !lines.part_rounds(&self.barriers, spans, 0) && !lines.part_rounds(&added, spans, 1)
            {
                let [earlier, later] = spans;
                added.push(lines.in_front(earlier, together(&earlier.path, &later.path)));
            }
        }
        let mut positions: Vec<usize> = added.iter().map(|barrier| barrier.position).collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }
}

/// How many regions two paths have in common.
fn together(x: &Path, y: &Path) -> usize {
    x.iter().zip(y).take_while(|(x, y)| x == y).count()
}

/// What is asked of barriers between uses.
impl Lines {
    /// Whether a block that comes to one of two lists does not come to the other.
    fn excluded(&self, x: &Path, y: &Path) -> bool {
        let common = together(x, y);
        let part = matches!((x.get(common), y.get(common)), (Some((x, _)), Some((y, _))) if x == y);
        part && self.outside_loops(x) >= common
    }

    /// The innermost loop that two spans are in.
    fn loop_around(&self, [x, y]: [&Span; 2]) -> Option<Inst> {
        let common = &x.path[..together(&x.path, &y.path)];
        common.iter().rev().map(|&(id, _)| id).find(|id| self.loops.contains_key(id))
    }

    /// Whether a barrier is passed by all that come from the one span to the other, or by all that come to the
    /// other: where it stands in regions of one of them, and in no loop that is not around both.
    fn passed(&self, barrier: &Path, span: &Span, other: &Span) -> bool {
        let common = together(&span.path, &other.path);
        let own = barrier.get(common..).unwrap_or(&[]);
        span.path.starts_with(barrier) && !own.iter().any(|(id, _)| self.loops.contains_key(id))
    }

    /// Whether a barrier stands behind the one span and before the other. Barriers that are to be stand in front of
    /// their line, as `ahead` says: 1 for these, 0 for those that are there.
    fn part(&self, barriers: &[Barrier], [earlier, later]: [&Span; 2], ahead: usize) -> bool {
        let next = barriers.partition_point(|barrier| barrier.position <= earlier.last);
        let within = &barriers[next..];
        within.iter().take_while(|barrier| barrier.position < later.first + ahead).any(|barrier| {
            self.passed(&barrier.path, later, earlier)
                || self.passed(&barrier.path, earlier, later)
                    && !self.leaves(earlier.last..barrier.position)
        })
    }

    /// Whether a barrier stands behind the later span and before the earlier one of the next round, if a loop is
    /// around both.
    fn part_rounds(&self, barriers: &[Barrier], spans: [&Span; 2], ahead: usize) -> bool {
        let Some(around) = self.loop_around(spans) else { return true };
        let [earlier, later] = spans;
        let (start, end) = self.loops[&around];
        let inside = |path: &Path| path.iter().any(|&(id, _)| id == around);
        barriers.iter().any(|Barrier { position, path }| {
            let position = *position;
            let at_end = later.last < position
                && position <= end
                && self.passed(path, later, earlier)
                && !self.leaves(later.last..position);
            let at_start = start < position
                && position < earlier.first + ahead
                && self.passed(path, earlier, later);
            inside(path) && (at_end || at_start)
        })
    }

    /// A barrier in front of a span, outside of loops that are not among so many regions of its path.
    fn in_front(&self, span: &Span, common: usize) -> Barrier {
        let inner = span.path[common..].iter().position(|(id, _)| self.loops.contains_key(id));
        match inner.map(|inner| common + inner) {
            Some(depth) => {
                let (position, _) = self.loops[&span.path[depth].0];
                Barrier { position, path: span.path[..depth].into() }
            }
            None => Barrier { position: span.first, path: span.path.clone() },
        }
    }
}

/// What is under way for a while.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Copies,
    Products,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Copies, Self::Products];

    /// What an operation begins.
    fn begun(inst: &InstData) -> Option<Self> {
        match inst.op.effects().tokens {
            Tokens::Starts => Some(Self::Copies),
            Tokens::Products(Step::Starts) => Some(Self::Products),
            _ => None,
        }
    }

    /// What an operation waits for, but for so many groups.
    fn waited_for(inst: &InstData) -> Option<(Self, u32)> {
        match inst.op.effects().tokens {
            Tokens::Awaits { pending } => Some((Self::Copies, pending)),
            Tokens::Products(Step::Awaits { pending }) => Some((Self::Products, pending)),
            _ => None,
        }
    }
}

/// Which pieces copies and products under way write and read.
struct Flights {
    /// The first and the last line that begins one, for each kind and piece.
    begun: [Vec<Option<(usize, usize)>>; 2],
    /// The lines so far after which nothing of a kind is under way.
    settled: Vec<(Kind, usize, Path)>,
}

impl Flights {
    fn of(program: &Program, lines: &Lines, pieces: &Pieces) -> Self {
        let mut begun = Kind::ALL.map(|_| vec![None; program.shared.len()]);
        for (position, line) in lines.list.iter().enumerate() {
            line.walk(program, &mut |inst| {
                let Some(kind) = Kind::begun(inst) else { return };
                for piece in pieces.touched(inst) {
                    let span = &mut begun[kind as usize][piece.index()];
                    span.get_or_insert((position, position)).1 = position;
                }
            });
        }
        Self { begun, settled: Vec::new() }
    }

    /// The pieces of what may be under way at a line.
    fn under_way(
        &self,
        lives: &Lives<'_>,
        line: &Line,
        (kind, position): (Kind, usize),
    ) -> Vec<Shared> {
        let pieces = (0..lives.spans.len()).map(Shared::new);
        let flies = |&piece: &Shared| {
            let Some((first, last)) = self.begun[kind as usize][piece.index()] else {
                return false;
            };
            let Some(span) = lives.span(piece) else { return false };
            let settled = |&(other, at, ref path): &(Kind, usize, Path)| {
                let always = span.path.starts_with(path) || line.path.starts_with(path);
                other == kind && at > last && always
            };
            first <= position
                && !lives.lines.excluded(&span.path, &line.path)
                && !self.settled.iter().any(settled)
        };
        pieces.filter(flies).collect()
    }

    /// Whether a copy into a piece may be under way when the program ends.
    fn lands_at_last(&self, lives: &Lives<'_>, piece: Shared) -> bool {
        let begun = self.begun[Kind::Copies as usize][piece.index()];
        let (Some((_, last)), Some(span)) = (begun, lives.span(piece)) else { return false };
        let settled = |&(kind, at, ref path): &(Kind, usize, Path)| {
            kind == Kind::Copies && at > last && span.path.starts_with(path)
        };
        !self.settled.iter().any(settled)
    }
}
