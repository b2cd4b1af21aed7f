//! Reuses shared memory.
//!
//! Two pieces may share bytes when all accesses to the one come before all accesses to the other with a
//! barrier of the block in between, or when a block has accesses to one of them alone, as in the two regions of
//! an `if` around which barriers stand: all threads take the same one. The pass looks at the program's
//! outermost list of operations, and at those of the regions of such `if`s: the accesses inside a loop
//! or another `if` count at its place in the list, so that pieces of one loop stay apart. The largest piece is
//! placed first, each as low as it fits; a piece that nothing touches takes no bytes.
//!
//! Where shared memory keeps blocks off the multiprocessor for which there are registers, or where a block
//! does not fit at all, barriers are added if that lets more blocks run: outside of loops, each as late as
//! possible. In this way the buffers of a pipeline become the scratch memory of what follows the loop.

use super::alternate::REGISTERS;
use super::pieces::Pieces;
use crate::budget::Stop;
use crate::id::Id;
use crate::lane::effects::{Step, Tokens};
use crate::lane::{BarrierScope, Inst, InstData, Op, Program, Shared};
use core::ops::Range;
use smallvec::SmallVec;

/// Runs the pass.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let Packed { places, barriers } = packed(&program, stop);
    if stop.is_set() {
        return program;
    }
    program.shared_bytes = end(&places);
    for (piece, place) in program.shared.keys().zip(places) {
        let data = &mut program.shared[piece];
        (data.offset, data.bytes) = (place.start, place.end - place.start);
    }
    let lines = Lines::of(&program);
    for &position in barriers.iter().rev() {
        wait(&mut program, &lines, position);
    }
    program
}

/// The shared memory that a block would take, unless it is stopped.
pub(super) fn shared_bytes(program: &Program, stop: &Stop) -> u32 {
    end(&packed(program, stop).places)
}

/// Where the pieces come to lie.
struct Packed {
    /// The bytes of each piece.
    places: Vec<Range<u32>>,
    /// The lines in front of which the block must wait for that, in order.
    barriers: Vec<usize>,
}

fn packed(program: &Program, stop: &Stop) -> Packed {
    let lives = Lives::of(program, stop);
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

/// Puts a barrier of the block in front of a line.
fn wait(program: &mut Program, lines: &Lines, position: usize) {
    let line = &lines.0[position];
    let loc = program.insts[line.id].loc;
    let barrier = program.insts.push(InstData {
        op: Op::Barrier(BarrierScope::Block),
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

/// The regions of `if`s that all threads of a block take alike, from the outermost one in.
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

/// The outermost list of operations, with the lists of the regions of `if`s that all threads of a block take
/// alike behind the `if`.
struct Lines(Vec<Line>);

impl Lines {
    fn of(program: &Program) -> Self {
        let mut lines = Self(Vec::new());
        lines.add(program, &program.body.insts, &Path::new());
        lines
    }

    fn add(&mut self, program: &Program, list: &[Inst], path: &Path) {
        for (index, &id) in list.iter().enumerate() {
            let is_common = is_common(program, id);
            self.0.push(Line { id, path: path.clone(), index, is_common });
            if !is_common {
                continue;
            }
            for (number, region) in program.insts[id].regions.iter().enumerate() {
                let mut inner = path.clone();
                inner.push((id, number));
                self.add(program, &region.insts, &inner);
            }
        }
    }
}

/// Whether an operation is an `if` that all threads of a block take alike, since a barrier stands in it.
fn is_common(program: &Program, id: Inst) -> bool {
    let inst = &program.insts[id];
    let mut waits = false;
    if matches!(inst.op, Op::If) {
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

/// When each piece is used.
struct Lives {
    /// None where nothing touches the piece.
    spans: Vec<Option<Span>>,
    /// Where the whole block waits: the line, and the regions that it stands in.
    barriers: Vec<(usize, Path)>,
}

impl Lives {
    fn of(program: &Program, stop: &Stop) -> Self {
        let pieces = Pieces::of(program);
        let lines = Lines::of(program);
        let mut lives = Self { spans: vec![None; program.shared.len()], barriers: Vec::new() };
        for (position, line) in lines.0.iter().enumerate() {
            if program.insts[line.id].op.effects().barrier() == Some(BarrierScope::Block) {
                lives.barriers.push((position, line.path.clone()));
            }
            lives.touch(program, &lines, position, &mut |inst| {
                if Kind::waited_for(inst).is_some() { &[] } else { pieces.touched(inst) }
            });
        }
        // A wait touches what is under way: what was begun before it, and not waited for since.
        let mut flights = Flights::of(program, &lines, &pieces);
        for (position, line) in lines.0.iter().enumerate() {
            if stop.is_set() {
                break;
            }
            let flying = Kind::ALL.map(|kind| flights.under_way(&lives, line, (kind, position)));
            lives.touch(program, &lines, position, &mut |inst| match Kind::waited_for(inst) {
                Some((kind, _)) => &flying[kind as usize],
                None => &[],
            });
            if let Some((kind, 0)) = Kind::waited_for(&program.insts[line.id]) {
                flights.settled.push((kind, position, line.path.clone()));
            }
        }
        // A copy that nobody waits for may land at any time.
        for &piece in pieces.copied() {
            let end = lines.0.len();
            if flights.lands_at_last(&lives, piece)
                && let Some(span) = &mut lives.spans[piece.index()]
            {
                (span.path, span.last) = (Path::new(), end);
            }
        }
        lives
    }

    /// Notes what the operation of a line touches, and what those in its regions do, if these have no lines.
    fn touch<'a>(
        &mut self,
        program: &'a Program,
        lines: &Lines,
        position: usize,
        touched: &mut impl FnMut(&'a InstData) -> &'a [Shared],
    ) {
        let line = &lines.0[position];
        let mut note = |inst| {
            for piece in touched(inst) {
                match &mut self.spans[piece.index()] {
                    Some(span) => span.extend(lines, &line.path, position),
                    none => {
                        let (path, first, last) = (line.path.clone(), position, position);
                        *none = Some(Span { path, first, last });
                    }
                }
            }
        };
        line.walk(program, &mut note);
    }

    fn span(&self, piece: Shared) -> Option<&Span> {
        self.spans[piece.index()].as_ref()
    }

    /// The last use of the one piece that is used first and the first use of the other, where the one
    /// follows the other.
    fn gap(&self, x: Shared, y: Shared) -> Option<Range<usize>> {
        let (x, y) = (self.span(x)?, self.span(y)?);
        let (earlier, later) = if x.last <= y.first { (x, y) } else { (y, x) };
        (earlier.last < later.first).then_some(earlier.last..later.first)
    }

    /// Whether a block that uses one of two pieces does not use the other.
    fn exclude(&self, x: Shared, y: Shared) -> bool {
        match (self.span(x), self.span(y)) {
            (Some(x), Some(y)) => excluded(&x.path, &y.path),
            _ => true,
        }
    }

    /// Whether one of two pieces is used only after the other.
    fn follow(&self, x: Shared, y: Shared) -> bool {
        self.exclude(x, y) || self.gap(x, y).is_some()
    }

    /// Whether the block waits between the last use of one piece and the first use of the other.
    fn apart(&self, x: Shared, y: Shared) -> bool {
        self.exclude(x, y)
            || self.gap(x, y).is_some_and(|gap| self.waits(&self.barriers, [x, y], &gap))
    }

    /// Whether the block waits at one of some barriers behind the start of the gap between two pieces and
    /// before its end, whenever it uses both.
    fn waits(&self, barriers: &[(usize, Path)], pieces: [Shared; 2], gap: &Range<usize>) -> bool {
        let next = barriers.partition_point(|&(at, _)| at <= gap.start);
        let within = barriers[next..].iter().take_while(|&&(at, _)| at < gap.end);
        let spans = pieces.map(|piece| self.span(piece));
        let passed = |path: &Path| spans.iter().flatten().any(|span| span.path.starts_with(path));
        within.into_iter().any(|(_, path)| passed(path))
    }

    /// In front of which operations the block must wait beside where it does, so that pieces whose bytes
    /// meet are apart; as few as can be, each as late as may be.
    fn barriers_for(&self, places: &[Range<u32>]) -> Vec<usize> {
        let pieces = || (0..places.len()).map(Shared::new);
        let mut gaps: Vec<([Shared; 2], Range<usize>)> = Vec::new();
        for (x, y) in pieces().flat_map(|x| pieces().map(move |y| (x, y))) {
            let [own, other] = [x, y].map(|piece| &places[piece.index()]);
            if own.start < other.end && other.start < own.end && !self.apart(x, y) {
                gaps.extend(self.gap(x, y).map(|gap| ([x, y], gap)));
            }
        }
        gaps.sort_by_key(|(_, gap)| gap.end);
        let mut added: Vec<(usize, Path)> = Vec::new();
        for (pieces, gap) in gaps {
            // A barrier in front of a line is one at the line before.
            let before = gap.start..gap.end + 1;
            if !self.waits(&added, pieces, &before) {
                let later = pieces.iter().filter_map(|&piece| self.span(piece));
                let later = later.max_by_key(|span| span.first);
                added.push((gap.end, later.map(|span| span.path.clone()).unwrap_or_default()));
            }
        }
        added.into_iter().map(|(position, _)| position).collect()
    }
}

impl Span {
    /// Takes in a use at a line.
    fn extend(&mut self, lines: &Lines, path: &Path, position: usize) {
        let same = self.path.iter().zip(path).take_while(|(own, other)| own == other).count();
        self.path.truncate(same);
        let first = self.first.min(position);
        // The line at that depth which the first use is in: an `if` stands before what is in it.
        let holds = |&at: &usize| lines.0[at].path.len() <= same;
        self.first = (0..=first).rev().find(holds).unwrap_or(0);
        self.last = self.last.max(position);
    }
}

/// Whether a block that comes to one of two lists does not come to the other.
fn excluded(x: &Path, y: &Path) -> bool {
    let parting = x.iter().zip(y).find(|(x, y)| x != y);
    parting.is_some_and(|((x, one), (y, other))| x == y && one != other)
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
        for (position, line) in lines.0.iter().enumerate() {
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
        lives: &Lives,
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
                && !excluded(&span.path, &line.path)
                && !self.settled.iter().any(settled)
        };
        pieces.filter(flies).collect()
    }

    /// Whether a copy into a piece may be under way when the program ends.
    fn lands_at_last(&self, lives: &Lives, piece: Shared) -> bool {
        let begun = self.begun[Kind::Copies as usize][piece.index()];
        let (Some((_, last)), Some(span)) = (begun, lives.span(piece)) else { return false };
        let settled = |&(kind, at, ref path): &(Kind, usize, Path)| {
            kind == Kind::Copies && at > last && span.path.starts_with(path)
        };
        !self.settled.iter().any(settled)
    }
}
