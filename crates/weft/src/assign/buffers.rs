//! Where tensors lie in shared memory: in the buffers of a software pipeline, and as factors of products.
//!
//! What is copied from global memory and what is read of it are known by now, as layouts; the memory
//! between them is the cheapest for both, of the best swizzle by wavefronts and the usual ones by rows,
//! which may take fewer instructions to put narrow elements into words. A copy moves neighbours in global
//! memory to neighbours in shared memory, so the lowest bits of an offset are those of one copy.
//!
//! Where the lanes of a copy write side by side, a swizzle is what the copies *read*: the memory is the best for its
//! loads that such copies can write (`plan::direct_swizzle`), and the layout in which the copies run follows from it.
//!
//! What matrix units read lies in one of the swizzles that they know: of those that are legal for every
//! product that reads it, the one in which it is written in the fewest wavefronts, and of these the widest.

use super::access::memory_order;
use super::boxes::{copied, rows_of_boxes};
use super::product::{Product, warpgroup};
use super::{AssignError, Assignment, Block, Buffers, Home};
use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::tile::{ByPointers, Kernel, LocalOp, OpId, OpKind, Value};
use std::sync::Arc;
use weft_layout::Layout;
use weft_layout::access::{Kind, conflicts};
use weft_layout::family::{Family, NvmmaShared, SharedLinear, SwizzledShared};
use weft_layout::machine::Part;
use weft_layout::plan;
use weft_layout::plan::swizzle::{Access, Problem, solve};
use weft_layout::space::{Label, OFFSET, REGISTER, Space};

/// The alignment that is written into the layouts, in bytes.
const ALIGNMENT: u64 = 16;

/// The bytes of a row in the swizzles of matrix units. The widest goes first, so that it is taken of those
/// that are written in as many wavefronts, as CUTLASS and Triton take it.
const SPANS: [u64; 3] = [128, 64, 32];

/// Gives every value in shared memory its home: in a buffer that copies fill, or products read, in the layout that
/// suits those who fill and read it; else, or where the program itself says where its tensors live, as its type
/// says. The copies that the memory tells where they run.
pub(super) fn place(
    kernel: &Kernel,
    facts: &AxisFacts,
    assignment: &mut Assignment,
    block: Block<'_>,
) -> Result<Vec<OpId>, AssignError> {
    let (mut chosen, mut copies) = (IdMap::default(), Vec::new());
    if !kernel.is_encoded() {
        for (copy, place) in choose(kernel, facts, assignment, block, &mut chosen) {
            let place = assignment.layouts.intern(place);
            assignment.runs_in.set(copy, Some(place));
            copies.push(copy);
        }
    }
    let mut described = Vec::new();
    kernel.walk(&kernel.body, &mut |_, op| {
        let params = op.regions.iter().flat_map(|region| &region.params);
        let values = op.results.iter().chain(params).copied();
        described.extend(values.filter(|&value| kernel.ty(value).memory().is_some()));
    });
    // Views of a buffer are of one memory.
    let mut known: Vec<(DType, Arc<Buffers>)> = Vec::new();
    for value in described {
        let ty = kernel.ty(value);
        let Some(memory) = ty.memory() else { continue };
        let mut memory = memory.clone();
        if let Some(family) = &chosen[value] {
            memory.family = Family::clone(family);
        }
        let dtype = ty.dtype();
        let same = known.iter().find(|(other, home)| *other == dtype && home.memory == memory);
        let home = match same {
            Some((_, home)) => Arc::clone(home),
            None => Arc::new(Buffers::of(memory, dtype)?),
        };
        if same.is_none() {
            known.push((dtype, Arc::clone(&home)));
        }
        assignment.home.set(value, Some(Home::Shared(home)));
    }
    Ok(copies)
}

/// The layouts of buffers that copies fill, or products read; and of copies that the buffers' layouts tell where they
/// run.
fn choose(
    kernel: &Kernel,
    facts: &AxisFacts,
    assignment: &Assignment,
    block: Block<'_>,
    chosen: &mut IdMap<Value, Option<Family>>,
) -> Vec<(OpId, Layout)> {
    let mut places = Vec::new();
    let mut allocated = Vec::new();
    kernel.walk(&kernel.body, &mut |_, op| {
        if op.kind == OpKind::Local(LocalOp::Alloc) {
            allocated.extend(&op.results);
        }
    });
    // The loops of a kernel often fill and read their buffers alike.
    let mut known: Vec<(Accesses, Option<Chosen>)> = Vec::new();
    // A map of a tensor is of one kind of memory: the first that its blocks come to or go from.
    let mut mapped: Vec<(Value, &[u64], Family)> = Vec::new();
    for buffers in allocated {
        let (views, copies, found) = Accesses::of(kernel, facts, assignment, block, buffers);
        if !is_known(kernel, &views) {
            continue;
        }
        let extents = kernel.ty(buffers).tensor_extents();
        let map = found.boxed.filter(|_| found.units.is_empty());
        let is_its =
            |(other, of, _): &&(Value, &[u64], Family)| map == Some(*other) && *of == extents;
        let tied = mapped.iter().find(is_its).map(|(.., memory)| memory.clone());
        let same = known.iter().find(|(other, _)| *other == found);
        let is_new = tied.is_none() && same.is_none();
        let memory = match (tied, same) {
            (Some(memory), _) => Some((memory, None)),
            (None, Some((_, memory))) => memory.clone(),
            (None, None) => found.memory_and_place(extents, block),
        };
        if let (Some(map), Some((memory, _))) = (map, &memory) {
            mapped.push((map, extents, memory.clone()));
        }
        if is_new {
            known.push((found, memory.clone()));
        }
        let Some((memory, place)) = memory else { continue };
        places.extend(place.iter().flat_map(|place| copies.iter().map(|&id| (id, place.clone()))));
        for view in views {
            let family = if view.turned { turned(&memory) } else { memory.clone() };
            chosen.set(view.value, Some(family));
        }
    }
    places
}

/// The layout of a buffer, and that of the copies that fill it, where the buffer tells them where they run.
type Chosen = (Family, Option<Layout>);

/// Whether buffers are only indexed, transposed, filled and read, so that all of their views are known. Others
/// stay as the program has them.
fn is_known(kernel: &Kernel, views: &[View]) -> bool {
    let mut known = true;
    kernel.walk(&kernel.body, &mut |_, op| {
        let is_view = |value: &Value| views.iter().any(|view| view.value == *value);
        let fits = match op.kind {
            OpKind::Local(LocalOp::Index) | OpKind::Transfer(_) | OpKind::WarpgroupDot(_) => true,
            OpKind::Local(LocalOp::Trans { ref order }) => order[..] == [1, 0],
            OpKind::Local(ref other) => other.touched(op).is_some(),
            ref other => other.by_pointers() == Some(ByPointers::Copy),
        };
        known &= fits || !op.operands.iter().any(is_view);
    });
    known
}

/// A family for two dimensions in the other order, every element where it was.
fn turned(family: &Family) -> Family {
    let mut family = family.clone();
    match &mut family {
        Family::NvmmaShared(shared) => shared.transposed = !shared.transposed,
        Family::SwizzledShared(shared) => shared.order.reverse(),
        Family::SharedLinear(shared) => {
            let bases = shared.offset.iter_mut().chain(&mut shared.block);
            bases.for_each(|coordinates| coordinates.reverse());
        }
        // The others are not chosen here.
        _ => {}
    }
    family
}

/// A description of a buffer, or of one transposed.
#[derive(Clone, Copy)]
struct View {
    value: Value,
    turned: bool,
}

impl View {
    /// A layout of what is described as one of the buffer's elements.
    fn layout(self, layout: Layout) -> Option<Layout> {
        if self.turned { layout.transpose(&[1, 0]).ok() } else { Some(layout) }
    }
}

/// How matrix units read a buffer.
#[derive(Clone, Copy, PartialEq)]
struct Units {
    /// The axis of the buffer that is summed over.
    summed: usize,
    /// Rows or columns of one instruction.
    extent: u64,
}

/// Who fills and reads some buffers.
#[derive(PartialEq)]
struct Accesses {
    /// Those of an element.
    bits: u32,
    /// The elements that one copy moves, as places of the tensor.
    vector: Vec<u64>,
    /// The axes, the one along which copies go first.
    order: Vec<usize>,
    list: Vec<Access>,
    /// Whether all that fills them are copies that write runs, each of which takes as much as one can.
    runs: bool,
    units: Vec<Units>,
    /// The descriptor of the tensor of which boxes come there, or go there.
    boxed: Option<Value>,
}

impl Accesses {
    /// The buffers' views, the copies that fill them, and who uses these.
    fn of(
        kernel: &Kernel,
        facts: &AxisFacts,
        assignment: &Assignment,
        block: Block<'_>,
        buffers: Value,
    ) -> (Vec<View>, Vec<OpId>, Self) {
        let mut views = vec![View { value: buffers, turned: false }];
        let bits = kernel.ty(buffers).dtype().bytes() * 8;
        let (vector, order) = (Vec::new(), Vec::new());
        let (list, units) = (Vec::new(), Vec::new());
        let mut found = Self { bits, vector, order, list, runs: false, units, boxed: None };
        let (mut stored, mut copies) = (Vec::new(), Vec::new());
        let home = |value: Value| {
            let home = assignment.registers(value);
            home.map(|home| assignment.layouts.get(home).clone())
        };
        kernel.walk(&kernel.body, &mut |id, op| {
            let seen = |value: &Value| views.iter().find(|view| view.value == *value).copied();
            let first = op.operands.first().and_then(seen);
            match (&op.kind, first) {
                (OpKind::Local(LocalOp::Index), Some(view)) => {
                    views.push(View { value: op.results[0], ..view });
                }
                (OpKind::Local(LocalOp::Trans { order }), Some(view)) => {
                    let turned = view.turned != (order[..] == [1, 0]);
                    views.push(View { value: op.results[0], turned });
                }
                (OpKind::Local(LocalOp::Alloc), _) if op.results[0] == buffers => {
                    let source = op.operands.first().and_then(|&source| home(source));
                    found.add(source.map(|layout| Access::new(Kind::Store, layout)));
                }
                (kind, _)
                    if kind.by_pointers() == Some(ByPointers::Copy)
                        && seen(&op.operands[1]).is_some() =>
                {
                    copies.push(id);
                    found.copy(kernel, facts, assignment, block, id);
                }
                (OpKind::Transfer(_), _) => {
                    if let Some(copied) = copied(op)
                        && seen(&copied.memory).is_some()
                    {
                        found.boxed = Some(copied.descriptor);
                        found.order =
                            (0..kernel.ty(buffers).tensor_extents().len()).rev().collect();
                    }
                }
                (OpKind::Local(LocalOp::Store), _) => {
                    if let Some(view) = seen(&op.operands[1]) {
                        stored.extend(home(op.operands[0]).and_then(|layout| view.layout(layout)));
                    }
                }
                (OpKind::Local(LocalOp::Load), Some(view)) => {
                    let layout = home(op.results[0]).and_then(|layout| view.layout(layout));
                    found.add(layout.map(|layout| Access::new(Kind::Load, layout)));
                }
                (OpKind::WarpgroupDot(_), _) => {
                    let Product::Warpgroup(product) = assignment.product(id) else { return };
                    let [rows, columns] = product.instruction.shape(Part::Sum);
                    let sides = [(0, 1, rows), (1, 0, columns)];
                    for (side, summed, extent) in sides {
                        let Some(view) = seen(&op.operands[side]) else { continue };
                        let summed = if view.turned { 1 - summed } else { summed };
                        found.units.push(Units { summed, extent });
                    }
                }
                _ => {}
            }
        });
        // What copies fill is stored to at most once, before the first round.
        if found.list.iter().all(|access| access.kind != Kind::Store) {
            for layout in stored {
                found.add(Some(Access::new(Kind::Store, layout)));
            }
        }
        (views, copies, found)
    }

    fn add(&mut self, access: Option<Access>) {
        let new = access.filter(|access| !self.list.contains(access));
        self.list.extend(new);
    }

    fn copy(
        &mut self,
        kernel: &Kernel,
        facts: &AxisFacts,
        assignment: &Assignment,
        block: Block<'_>,
        id: OpId,
    ) {
        let Some(place) = assignment.runs_in(id) else { return };
        let op = &kernel.ops[id];
        let layout = assignment.layouts.get(place);
        let (pointers, mask) = (op.operands[0], op.operands.get(2).copied());
        self.order = memory_order(kernel, facts, pointers);
        if let Some(&axis) = self.order.first() {
            let dtype = kernel.ty(op.operands[1]).dtype();
            let widest = crate::lane::MAX_ACCESS_BYTES.into();
            let most = facts.vector_elements(pointers, mask, axis, dtype, widest);
            let bytes = most * u64::from(dtype.bytes());
            self.runs |= block.machine.direct_copy_bytes().map(u64::from) == Some(bytes);
            self.vector = along(layout, axis, most);
        }
        self.add(Some(Access::new(Kind::Store, layout.clone()).plain()));
    }

    /// The cheapest layout, and where the copies run if that says it; nothing where nobody fills the buffers.
    fn memory_and_place(&self, shape: &[u64], block: Block<'_>) -> Option<Chosen> {
        if self.runs
            && let Some((memory, place)) = self.for_runs(block)
        {
            return Some((memory, Some(place)));
        }
        Some((self.memory(shape, block)?, None))
    }

    /// The best layout for what reads the buffers that copies can write lane beside lane, and the layout in which
    /// these do.
    fn for_runs(&self, block: Block<'_>) -> Option<(Family, Layout)> {
        let &axis = self.order.first()?;
        let bytes = block.machine.direct_copy_bytes()?;
        // What the copies store is no access of the problem: they write as the memory says.
        let read =
            self.list.iter().filter(|access| access.kind == Kind::Load || access.matrix_moves);
        let problem = Problem::new(block.machine, self.bits, read.cloned().collect());
        let (solved, _) = plan::direct_swizzle(&problem, Label::dim(axis as u32), bytes).ok()?;
        let solved = solved.rounds.is_empty().then_some(solved)?;
        let columns = solved.memory.columns(OFFSET);
        // A lane's bytes, the lanes, the warps, and what is left in further copies.
        let [vector, lanes, warps] =
            [bytes * 8 / self.bits, block.machine.lanes(), block.warps].map(u32::ilog2);
        let bits = |from: u32, count: u32| -> Vec<u64> {
            (from..from + count)
                .map(|bit| columns.get(bit as usize).copied().unwrap_or(0))
                .collect()
        };
        let taken = vector + lanes + warps;
        let left = (columns.len() as u32).saturating_sub(taken);
        let registers = [bits(0, vector), bits(taken, left)].concat();
        let places = [registers, bits(vector, lanes), bits(vector + lanes, warps)].concat();
        let space = Space::hardware(vector + left, lanes, warps, 0).ok()?;
        let place = Layout::new(space, solved.memory.outs().clone(), &places).ok()?;
        Some((linear(&solved.memory), place))
    }

    /// The cheapest layout; nothing where nobody fills the buffers.
    fn memory(&self, shape: &[u64], block: Block<'_>) -> Option<Family> {
        if !self.units.is_empty() {
            return self.for_units(shape, block);
        }
        if self.boxed.is_some() {
            return self.for_boxes(shape, block);
        }
        let filled = self.list.iter().find(|access| access.kind == Kind::Store)?;
        let shape = filled.layout.outs().shape();
        let vector = 1 << self.vector.len();
        let rows = [(1, 8), (2, 4), (4, 2), (8, 1)].map(|(rows, phases)| {
            Family::SwizzledShared(SwizzledShared::new(vector, rows, phases, &self.order))
        });
        let mut best: Option<((u64, u64), Family)> = None;
        for family in self.solved(block).into_iter().chain(rows) {
            let least = best.as_ref().map_or((u64::MAX, u64::MAX), |(least, _)| *least);
            if let Some(price) = self.price(&family, &shape, block, least) {
                best = Some((price, family));
            }
        }
        best.map(|(_, family)| family)
    }

    /// The cheapest swizzle that matrix units know and can read the tiles of every product in.
    fn for_units(&self, shape: &[u64], block: Block<'_>) -> Option<Family> {
        let axis = self.order.first().copied().unwrap_or(1);
        let mut best: Option<((u64, u64), Family)> = None;
        for (span, transposed) in
            SPANS.iter().flat_map(|&span| [axis == 0, axis != 0].map(|turned| (span, turned)))
        {
            let shared = NvmmaShared { transposed, ..NvmmaShared::new(span, self.bits.into()) };
            let family = Family::NvmmaShared(shared);
            if !self.units.iter().all(|units| units.read(&family, shape, self.bits)) {
                continue;
            }
            let least = best.as_ref().map_or((u64::MAX, u64::MAX), |(least, _)| *least);
            if let Some(price) = self.price(&family, shape, block, least) {
                best = Some((price, family));
            }
        }
        best.map(|(_, family)| family)
    }

    /// The cheapest of those layouts that boxes of tensors can come in.
    fn for_boxes(&self, shape: &[u64], block: Block<'_>) -> Option<Family> {
        let swizzled =
            SPANS.map(|span| Family::NvmmaShared(NvmmaShared::new(span, self.bits.into())));
        let rows = Family::SwizzledShared(SwizzledShared::new(1, 1, 1, &self.order));
        let mut best: Option<((u64, u64), Family)> = None;
        for family in swizzled.into_iter().chain([rows]) {
            let least = best.as_ref().map_or((u64::MAX, u64::MAX), |(least, _)| *least);
            if let Some(price) = self.price(&family, shape, block, least) {
                best = Some((price, family));
            }
        }
        best.map(|(_, family)| family)
    }

    /// The layout of the fewest wavefronts.
    fn solved(&self, block: Block<'_>) -> Option<Family> {
        let mut problem = Problem::new(block.machine, self.bits, self.list.clone());
        problem.fixed.vector.clone_from(&self.vector);
        let solved = solve(&problem).ok().filter(|solved| solved.rounds.is_empty())?;
        Some(linear(&solved.memory))
    }

    /// What a block's accesses cost in a layout, and the instructions of its loads and planned stores; nothing where
    /// that is no less than `least`, a copy does not move whole vectors, or boxes cannot come there. A row of a box
    /// costs the copy engine as much as a wavefront.
    fn price(
        &self,
        family: &Family,
        shape: &[u64],
        block: Block<'_>,
        least: (u64, u64),
    ) -> Option<(u64, u64)> {
        let bits = self.bits;
        let memory = family.padded(shape).ok()?;
        let of = |kind: Kind| self.list.iter().filter(move |access| access.kind == kind);
        let (mut price, mut instructions) = (0_u64, 0_u64);
        if self.boxed.is_some() {
            price += rows_of_boxes(family, shape, bits)? * block.machine.prices.wavefront;
        }
        for access in of(Kind::Load) {
            let plan = plan::load(memory.layout(), &access.layout, bits, block.machine);
            let cost = plan.ok()?.cost;
            price += cost.total * u64::from(block.warps);
            instructions += cost.instructions;
            if price > least.0 {
                return None;
            }
        }
        for access in of(Kind::Store) {
            let (layout, machine) = (&access.layout, block.machine);
            if access.matrix_moves {
                let plan = plan::store(layout, memory.layout(), bits, machine).ok()?;
                price += plan.cost.total * u64::from(block.warps);
                instructions += plan.cost.instructions;
                if (price, instructions) >= least {
                    return None;
                }
                continue;
            }
            let found = conflicts(machine, Kind::Store, layout, (&memory).into(), bits).ok()?;
            let vector = (bits / 8) << self.vector.len();
            let whole = found.vector_bytes >= vector;
            price += whole.then_some(found.wavefronts * machine.prices.wavefront)?;
            if (price, instructions) >= least {
                return None;
            }
        }
        ((price, instructions) < least).then_some((price, instructions))
    }
}

impl Units {
    /// Whether a matrix of this shape can be read in a layout of memory.
    fn read(self, family: &Family, shape: &[u64], bits: u32) -> bool {
        let axes = [1 - self.summed, self.summed].map(|axis| Label::dim(axis as u32));
        warpgroup::operand(family, shape, bits, axes, self.extent).is_ok()
    }
}

/// A layout of memory as a family, by its columns.
fn linear(memory: &Layout) -> Family {
    let outs = memory.outs();
    let coordinates = |&column: &u64| -> Vec<u64> {
        let dims = 0..outs.axes().len() as u32;
        dims.map(|dim| outs.coordinate(Label::dim(dim), column)).collect()
    };
    let offset = memory.columns(OFFSET).iter().map(coordinates).collect();
    let (block, alignment) = (Vec::new(), ALIGNMENT);
    Family::SharedLinear(SharedLinear { offset, block, alignment })
}

/// The places of a thread's first neighbours along an axis, at most so many of them.
fn along(layout: &Layout, axis: usize, most: u64) -> Vec<u64> {
    let label = Label::dim(axis as u32);
    let own = |bit: &u32| {
        let place = layout.outs().pack(&[(label, 1 << bit)]).ok()?;
        layout.columns(REGISTER).contains(&place).then_some(place)
    };
    (0..most.max(1).ilog2()).map_while(|bit| own(&bit)).collect()
}
