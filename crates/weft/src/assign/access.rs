//! How a memory operation runs in a layout.
//!
//! One instruction moves neighbours in memory that one thread holds, where the mask is known to be the same
//! for all of them. Where it is not, a load or a store may still move them at once, if their masks turn
//! out to be true; those of other neighbours go one by one:
//!
//! ```text
//! all = mask[0] & … & mask[3]
//! x[0..4] = load address if all
//! x[i]    = load address + i if mask[i] & !all, else x[i]      for each i
//! ```
//!
//! An instruction that no lane takes part in costs its issue alone, so inside a tensor this costs a few
//! instructions more than moving them blindly, and at its edge a few more than one by one.

use core::cmp::Reverse;

use super::AssignError;
use crate::axis::AxisFacts;
use crate::cache::CacheModifier;
use crate::dtype::DType;
use crate::tile::{ByPointers, Kernel, LoadOptions, Op, OpKind, Value};
use weft_layout::access::{Sectors, count_sectors, sectors};
use weft_layout::f2::Subspace;
use weft_layout::machine::Machine;
use weft_layout::plan::{self, Vectors};
use weft_layout::space::{LANE, OFFSET, REGISTER};
use weft_layout::{Label, Layout, LayoutError, Space};

/// A memory operation on tensors in one layout: which bits run through memory, and which registers
/// one instruction moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessShape {
    /// The layout, without the registers that only hold copies.
    pub layout: Layout,
    /// What each pointer points to.
    pub element: DType,
    /// The axes along which the pointers count up, innermost first.
    pub axes: Vec<usize>,
    /// The registers that each instruction moves.
    pub vectors: Vectors,
    /// Whether an instruction moves its registers only where their masks are all true, and others move
    /// them one by one elsewhere.
    pub tested: bool,
    /// The bytes that each bit of the tensor's space adds to the address.
    steps: Vec<u64>,
    /// How many addresses are no proved step from others.
    addresses: u64,
    /// How many neighbours one instruction may move at most, whatever their masks and the layout.
    widest_log2: u32,
    /// Whether sums of these carry, so that addresses are no linear function of the place.
    carries: bool,
    /// Where along the tensor's axes masks end.
    ends: Vec<End>,
    /// The instructions of the warp that issues most: a program has none for registers behind the end of a mask.
    issued: u64,
}

/// Where along an axis a mask ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct End {
    /// The axis' lowest bit in the tensor's space.
    start: u32,
    /// Its bits.
    bits: u32,
    /// The first place at which no element is moved.
    from: u64,
}

/// Where the bytes of an access stop following each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// Bytes that follow each other.
    pub run: u64,
    /// The lanes that move them.
    pub lanes: u64,
    /// The bytes from there to where the next lane's begin; none where only a run of the kernel tells.
    pub apart: Option<u64>,
}

/// What a step that is not known is taken for, and more: far away from everything.
const UNKNOWN: u64 = 1 << 34;

/// The instructions that an address of 64 bits takes which is no known step from another: a product that
/// is added to the base, of the place that another one or more made.
const ADDRESS: u64 = 2;

/// The least that a line costs that a store writes, in whole sectors or parts of them, in halves of a sector's price: it
/// leaves the multiprocessor by itself. Measured on an H100: 4096 blocks that store words 64 bytes apart and 128 bytes
/// apart, in two sectors and in one of each line, take 4.06 and 5.59 µs, which is 2.7 cycles a line; loads take as
/// long either way. Of whole sectors, as fragments of matrices fill them, lines cost as much: on an H200, a loop that
/// stores a state of 64 x 64 of f32 in four warps each round took 170 µs with them and 123 µs with longer rows.
const STORED_LINE: u64 = 3;

/// The most bits of places that are counted one by one.
const MOST_COUNTED: usize = 10;

impl AccessShape {
    /// The shape of `op`, a load, store or atomic of tensors, in `layout`: the cheaper one, where masks
    /// may be tested.
    pub fn of(
        kernel: &Kernel,
        facts: &AxisFacts,
        machine: &Machine,
        op: &Op,
        layout: &Layout,
    ) -> Result<Self, AssignError> {
        let layout = layout.remove_zero_columns(REGISTER)?.0;
        let widest = Reach::of(kernel, facts, machine, op, Masks::Tested)?;
        let widest_log2 = widest.most_log2;
        let shape = |masks: Masks| -> Result<Self, AssignError> {
            let Reach { order, most_log2, axes, steps, .. } =
                Reach::of(kernel, facts, machine, op, masks)?;
            let memory = memory(&order, &layout)?;
            let apart = told_apart(&layout, repeated_bits(facts, op))?;
            let vectors = plan::vectorize(&apart, &memory, most_log2)?;
            let (addresses, carries) = (addresses(&layout, facts, op), carry(&steps));
            let ends = End::all(facts, op, layout.outs());
            let issued = End::issued(&ends, &vectors, &layout);
            let (layout, element) = (layout.clone(), element(kernel, op));
            let tested = masks == Masks::Tested;
            Ok(Self {
                layout,
                element,
                axes,
                vectors,
                tested,
                steps,
                addresses,
                widest_log2,
                carries,
                ends,
                issued,
            })
        };
        let same = shape(Masks::Same)?;
        if !may_be_tested(op) {
            return Ok(same);
        }
        let tested = shape(Masks::Tested)?;
        let is_cheaper = tested.instructions() < same.instructions()
            && tested.cost(machine, op)? < same.cost(machine, op)?;
        Ok(if is_cheaper { tested } else { same })
    }

    /// What the access costs a warp, in hundredths of a cycle: its instructions, and the sectors that they
    /// touch, those of a load once.
    pub fn cost(&self, machine: &Machine, op: &Op) -> Result<u64, AssignError> {
        let (instructions, prices) = (self.instructions(), machine.prices);
        let each = self.sectors(machine)?;
        let all = self.vectors.groups.len() as u64;
        let touched = self.moved(all * each.actual) * prices.sector;
        let sectors = if rests_in_l1(&op.kind) {
            // Where a thread has more neighbours than the widest instruction moves, the next one finds in
            // the first cache what the first one brought; its pipe moves while others bring more.
            let is_wide = self.vectors.vector_log2 == self.widest_log2;
            let found = if is_wide { self.line_moves(machine) * prices.wavefront } else { touched };
            found.max(self.moved(self.brought_sectors(machine)) * prices.sector)
        } else if matches!(op.kind, OpKind::Load(_)) {
            touched
        } else {
            touched.max(self.moved(all * self.lines(machine)) * STORED_LINE * prices.sector / 2)
        };
        let tests = if self.tested {
            // One truth value of all, then for each the rest, and an instruction that is left out.
            let single = instructions << self.vectors.vector_log2;
            (2 * single - instructions) * prices.alu + single * prices.issue
        } else {
            0
        };
        let addresses = self.addresses * ADDRESS * prices.alu;
        Ok(sectors + instructions * prices.issue + addresses + tests)
    }

    /// Bytes that one instruction moves for each lane.
    pub fn bytes(&self) -> u32 {
        self.vectors.bytes(self.element.bytes())
    }

    /// Instructions that a warp issues, the one that issues most.
    pub fn instructions(&self) -> u64 {
        self.issued
    }

    /// Of what a block would touch without a mask the part that is in front of all ends. Whichever warps bring it, memory
    /// is as busy.
    fn moved(&self, of_all: u64) -> u64 {
        self.ends.iter().fold(of_all, |part, end| (part * end.from).div_ceil(1 << end.bits))
    }

    /// What no access to as many bytes of memory costs a block less than, in hundredths of a cycle: whole
    /// sectors by the widest instructions. Bytes that several elements share count once, those behind the end of a mask
    /// not at all.
    pub fn bound(&self, machine: &Machine) -> u64 {
        let bytes = u64::from(self.element.bytes()) << self.told_apart();
        let bytes = self.moved(bytes);
        let widest = u64::from(machine.global_vector_bytes) << machine.lanes_log2;
        let prices = &machine.prices;
        bytes.div_ceil(machine.sector_bytes.max(1).into()) * prices.sector
            + bytes.div_ceil(widest.max(1)) * prices.issue
    }

    /// How many bits of the index lead to addresses that no others lead to: each step beyond all that
    /// smaller ones reach together doubles them.
    fn told_apart(&self) -> u32 {
        let mut distances: Vec<u64> = self.steps.iter().map(|&step| distance(step)).collect();
        distances.sort_unstable();
        let (mut bits, mut reached) = (0, 0_u64);
        for step in distances {
            if step > reached {
                (bits, reached) = (bits + 1, reached.saturating_add(step));
            }
        }
        bits
    }

    /// Where the bytes that one instruction moves for its lanes stop following each other.
    pub fn gap(&self) -> Option<Gap> {
        let mut steps: Vec<u64> = self.added(LANE).map(distance).filter(|&step| step > 0).collect();
        steps.sort_unstable();
        let bytes = u64::from(self.bytes());
        let mut run = bytes;
        for step in steps {
            if step > run {
                let apart = (step < UNKNOWN).then_some(step);
                return Some(Gap { run, lanes: run / bytes, apart });
            }
            run += step;
        }
        None
    }

    /// Whether one instruction moves as much for each lane as is proved to be possible whatever the layout.
    pub fn is_widest(&self) -> bool {
        self.vectors.vector_log2 >= self.widest_log2
    }

    /// The sectors that each instruction touches, as far as it is known where pointers lead: those of the
    /// first one, if its address begins a sector.
    pub fn sectors(&self, machine: &Machine) -> Result<Sectors, AssignError> {
        if !self.carries {
            let columns: Vec<u64> = self.added(LANE).collect();
            return Ok(sectors(machine, &columns, self.bytes(), 0)?);
        }
        let addresses = self.sums(self.layout.columns(LANE).iter().copied());
        let addresses: Vec<Option<u64>> = addresses.into_iter().map(Some).collect();
        Ok(count_sectors(machine, &addresses, self.bytes())?)
    }

    /// The sectors that memory brings for all instructions of a warp, each counted once. It brings two
    /// neighbours together, asked for or not.
    pub(super) fn brought_sectors(&self, machine: &Machine) -> u64 {
        let pair = machine.sector_bytes.max(1).ilog2() + 1;
        let columns = || {
            let columns = [LANE, REGISTER].map(|label| self.layout.columns(label).iter().copied());
            columns.into_iter().flatten()
        };
        if self.carries && columns().count() <= MOST_COUNTED {
            let mut brought = self.sums(columns());
            for address in &mut brought {
                *address >>= pair;
            }
            brought.sort_unstable();
            brought.dedup();
            return 2 * brought.len() as u64;
        }
        2 * pieces(self.added(LANE).chain(self.added(REGISTER)), pair)
    }

    /// How often the pipe of the first cache moves, for all instructions: for each its lines, of as many
    /// bytes as that of shared memory moves at once, or for its bytes where these are more.
    pub(super) fn line_moves(&self, machine: &Machine) -> u64 {
        let bytes = u64::from(self.bytes()) << machine.lanes_log2;
        self.instructions() * self.lines(machine).max(bytes >> line_log2(machine))
    }

    /// The lines that each instruction touches, as far as it is known where pointers lead.
    fn lines(&self, machine: &Machine) -> u64 {
        pieces(self.added(LANE), line_log2(machine))
    }

    /// The addresses of all places that these columns reach, which are counted from the first.
    fn sums(&self, columns: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut places = vec![0];
        for column in columns {
            let further: Vec<u64> = places.iter().map(|place| place ^ column).collect();
            places.extend(further);
        }
        for place in &mut places {
            let steps = self.steps.iter().enumerate();
            let steps = steps.filter(|(bit, _)| *place >> bit & 1 == 1);
            *place = steps.fold(0, |sum: u64, (_, &step)| sum.wrapping_add(step));
        }
        // Steps backward lead to addresses in front of the first.
        let lowest = places.iter().map(|&place| place.cast_signed()).min().unwrap_or(0);
        for place in &mut places {
            *place = place.wrapping_sub(lowest.cast_unsigned());
        }
        places
    }

    /// What each bit of a number of lanes or registers adds to the address.
    fn added(&self, label: Label) -> impl Iterator<Item = u64> {
        self.layout.columns(label).iter().map(|&column| {
            let steps = self.steps.iter().enumerate();
            steps.filter(|(bit, _)| column >> bit & 1 == 1).fold(0, |sum, (_, step)| sum ^ step)
        })
    }
}

/// The bits of the index that lead to nothing else in a load: the same address, mask and other value. What
/// is there is loaded once.
fn repeated_bits(facts: &AxisFacts, op: &Op) -> u64 {
    let loads = matches!(op.kind, OpKind::Load(LoadOptions { volatile: false, .. }));
    let bits = facts.get(op.operands[0]).strides.steps.len();
    let repeats = |&bit: &usize| {
        let adds_nothing =
            |&value: &Value| facts.get(value).strides.steps.get(bit) == Some(&Some(0));
        loads && op.operands.iter().all(adds_nothing)
    };
    (0..bits).filter(repeats).fold(0, |bits, bit| bits | 1 << bit)
}

impl End {
    /// Those of a memory operation's mask.
    fn all(facts: &AxisFacts, op: &Op, outs: &Space) -> Vec<Self> {
        let mask = mask_operand(&op.kind).and_then(|place| op.operands.get(place));
        let dims = mask.map_or(&[][..], |&mask| &facts.get(mask).dims);
        let ends = dims.iter().zip(0..).filter_map(|(dim, axis)| {
            let (start, bits) = outs.locate(Label::dim(axis))?;
            let from = dim.zero_from;
            (from >> bits == 0).then_some(Self { start, bits, from })
        });
        ends.collect()
    }

    /// Of a thread's instructions those that move an element in front of all ends in the first warp, which has the most.
    fn issued(ends: &[Self], vectors: &Vectors, layout: &Layout) -> u64 {
        let is_in_front = |&register: &u32| {
            let place = layout.apply_flat(register.into());
            ends.iter().all(|&Self { start, bits, from }| place >> start & ((1 << bits) - 1) < from)
        };
        vectors.groups.iter().filter(|group| group.iter().any(is_in_front)).count() as u64
    }
}

/// How many addresses each thread of a memory operation computes: where a bit of the index adds a proved
/// step, one and its offset.
fn addresses(layout: &Layout, facts: &AxisFacts, op: &Op) -> u64 {
    let steps = &facts.get(op.operands[0]).strides.steps;
    let open = steps.iter().zip(0..).filter(|(step, _)| step.is_none());
    let open = open.fold(0, |bits, (_, bit): (_, u32)| bits | 1_u64 << bit);
    pieces(layout.columns(REGISTER).iter().map(|column| column & open), 0)
}

/// A layout in which elements that differ by these bits of the index alone are one.
fn told_apart(layout: &Layout, repeated: u64) -> Result<Layout, LayoutError> {
    if repeated == 0 {
        return Ok(layout.clone());
    }
    let columns = layout.ins().labels().flat_map(|label| layout.columns(label));
    let columns: Vec<u64> = columns.map(|column| column & !repeated).collect();
    Layout::new(layout.ins().clone(), layout.outs().clone(), &columns)
}

/// Whether sums of these carry.
fn carry(steps: &[u64]) -> bool {
    let mut all = 0;
    steps.iter().any(|&step| {
        let before = all;
        all |= step;
        before & step != 0
    })
}

/// How many aligned pieces of 2^`log2` bytes the sums of these addresses lie in.
fn pieces(addresses: impl Iterator<Item = u64>, log2: u32) -> u64 {
    let places: Vec<u64> = addresses.map(|address| address >> log2).collect();
    1 << Subspace::from_vectors(&places).dim().min(63)
}

/// How a memory operation's elements follow each other in memory, whatever its layout.
pub(super) struct Reach {
    /// The bits of the tensor's space, those that memory walks first in front.
    pub(super) order: Vec<u32>,
    /// How many of them one instruction may move at once.
    pub(super) most_log2: u32,
    /// The axes that those walk, innermost first.
    pub(super) axes: Vec<usize>,
    /// Whether the order is that of the bits' steps and not of the axes.
    pub(super) by_steps: bool,
    steps: Vec<u64>,
}

impl Reach {
    pub(super) fn of(
        kernel: &Kernel,
        facts: &AxisFacts,
        machine: &Machine,
        op: &Op,
        masks: Masks,
    ) -> Result<Self, AssignError> {
        let shape = &kernel.ty(op.operands[0]).shape;
        let outs = Space::tensor(shape)?;
        let axis = memory_order(kernel, facts, op.operands[0]).first().copied().unwrap_or(0);
        let (start, bits) = outs.locate(Label::dim(axis as u32)).unwrap_or((0, 0));
        let front = start..start + bits;
        let along = vector_elements(kernel, facts, machine, op, masks).max(1).ilog2().min(bits);
        // What may move at once is proved; what lies how far away is only likely.
        let mut chain = neighbours(kernel, facts, machine, op, masks);
        let is_longer = chain.len() as u32 > along;
        if !is_longer {
            chain = front.clone().take(along as usize).collect();
        }
        let known = &facts.get(op.operands[0]).likely().steps;
        let by_steps = is_longer || known.iter().all(Option::is_some);
        let bytes_log2 = element(kernel, op).bytes().trailing_zeros();
        let step = |bit: u32| match known.get(bit as usize) {
            Some(&Some(step)) => step,
            // Of what is not known, that which runs through memory lies dense, and a step along another
            // axis leads far away.
            _ if !is_longer && front.contains(&bit) => 1 << (bit - start + bytes_log2),
            _ => UNKNOWN << bit.min(29),
        };
        let mut steps: Vec<u64> = (0..outs.total_bits()).map(step).collect();
        if has_mask(op) {
            part(&mut steps, 1 << bytes_log2);
        }
        let mut others: Vec<u32> =
            (0..outs.total_bits()).filter(|bit| !chain.contains(bit)).collect();
        // What leads far away comes late, and what adds nothing last.
        others.sort_by_key(|&bit| {
            if by_steps {
                distance(steps[bit as usize]).wrapping_sub(1)
            } else {
                u64::from(!front.contains(&bit))
            }
        });
        let mut axes: Vec<usize> = chain.iter().map(|&bit| axis_of(&outs, bit)).collect();
        axes.dedup();
        if axes.is_empty() {
            axes.push(axis);
        }
        let most_log2 = chain.len() as u32;
        Ok(Self { order: [chain, others].concat(), most_log2, axes, by_steps, steps })
    }
}

/// How far a step leads, forward or backward.
fn distance(step: u64) -> u64 {
    step.cast_signed().unsigned_abs()
}

/// Where a step leads into what smaller ones reach, a mask may cut what these reach at its beginning:
/// rows of 384 elements are held in tensors of 512 columns. So each leads behind it.
fn part(steps: &mut [u64], bytes: u64) {
    let mut order: Vec<usize> = (0..steps.len()).filter(|&bit| steps[bit] != 0).collect();
    order.sort_by_key(|&bit| distance(steps[bit]));
    let mut end = bytes;
    for bit in order {
        let step = distance(steps[bit]).max(end);
        if step != distance(steps[bit]) {
            steps[bit] = step.next_power_of_two();
        }
        end = end.saturating_add(distance(steps[bit]));
    }
}

/// The memory in which the bits of a tensor's space lie in this order.
fn memory(order: &[u32], layout: &Layout) -> Result<Layout, LayoutError> {
    let outs = layout.outs();
    let columns: Vec<u64> = order.iter().map(|bit| 1 << bit).collect();
    let ins = Space::new(&[(OFFSET, outs.total_bits())]).map_err(LayoutError::from)?;
    Layout::new(ins, outs.clone(), &columns)
}

/// The bits of the row-major index that one access may walk, over any number of axes.
fn neighbours(
    kernel: &Kernel,
    facts: &AxisFacts,
    machine: &Machine,
    op: &Op,
    masks: Masks,
) -> Vec<u32> {
    let Some((mask, most)) = guard(kernel, machine, op, masks) else { return Vec::new() };
    let pointer = op.operands[0];
    let shape = &kernel.ty(pointer).shape;
    let chain = facts.neighbours(pointer, mask, shape, element(kernel, op), most);
    chain.into_iter().map(|bit| bit as u32).collect()
}

/// Which axis of a tensor's space a bit belongs to.
fn axis_of(outs: &Space, bit: u32) -> usize {
    let from_last = outs.iter().position(|(_, start, bits)| (start..start + bits).contains(&bit));
    outs.axes().len() - 1 - from_last.unwrap_or(0)
}

/// The bytes of a line of a cache, about: whoever asks for what is less far away asks for the same line.
const LINE: u64 = 128;

/// The axes of a memory operation's pointers, the one that runs through memory first: where equally many elements are
/// proved to follow each other the one where more are likely to, then one whose neighbours are known to share a line (as
/// in convolutions that leave out every second column), then one whose factor leads less far (of a convolution's weights
/// those of one output before all outputs), and of equals the last, as in row-major order.
pub(super) fn memory_order(kernel: &Kernel, facts: &AxisFacts, pointer: Value) -> Vec<usize> {
    let (facts, shape) = (facts.get(pointer), &kernel.ty(pointer).shape);
    let mut order: Vec<usize> = (0..facts.dims.len()).rev().collect();
    order.sort_by_key(|&axis| {
        let shares_lines = facts.likely_step(axis, shape).is_some_and(|step| step < LINE);
        let (proved, likely) = (facts.dims[axis].contiguity, facts.likely_run(axis, shape));
        (Reverse((proved, likely, shares_lines)), facts.farness(axis, shape))
    });
    order
}

/// How many elements one instruction of a memory operation may move along one axis, whatever its
/// layout: as many as pointers, mask and machine allow.
pub(super) fn vector_elements(
    kernel: &Kernel,
    facts: &AxisFacts,
    machine: &Machine,
    op: &Op,
    masks: Masks,
) -> u64 {
    let Some((mask, most)) = guard(kernel, machine, op, masks) else { return 1 };
    let pointer = op.operands[0];
    let axis = memory_order(kernel, facts, pointer).first().copied().unwrap_or(0);
    facts.vector_elements(pointer, mask, axis, element(kernel, op), most)
}

/// What is asked of the masks of elements that one instruction moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Masks {
    /// They are known to be the same.
    Same,
    /// Nothing: they are tested where the program runs.
    Tested,
}

/// The place of the mask among the operands of what moves several elements at once; none for what never
/// does.
fn mask_operand(kind: &OpKind) -> Option<usize> {
    match kind.by_pointers()? {
        ByPointers::Load => Some(1),
        ByPointers::Store | ByPointers::Copy => Some(2),
        ByPointers::Atomic => {
            matches!(kind, OpKind::Atomic { op, .. } if op.values() == 1).then_some(2)
        }
    }
}

/// Whether masks may be tested where the program runs: elements of a volatile load each move once.
pub(super) fn may_be_tested(op: &Op) -> bool {
    let may = match op.kind {
        OpKind::Load(LoadOptions { volatile, .. }) => !volatile,
        OpKind::Store(_) => true,
        _ => false,
    };
    may && has_mask(op)
}

/// Whether only some elements may move.
fn has_mask(op: &Op) -> bool {
    mask_operand(&op.kind).is_some_and(|place| place < op.operands.len())
}

/// A line of the first cache has as many bytes as shared memory moves at once.
fn line_log2(machine: &Machine) -> u32 {
    machine.banks_log2 + machine.bank_bytes_log2
}

/// Whether what an operation reads stays near, so that a second instruction finds it there.
fn rests_in_l1(kind: &OpKind) -> bool {
    let OpKind::Load(LoadOptions { cache, volatile }) = kind else { return false };
    !volatile && matches!(cache.modifier, CacheModifier::None | CacheModifier::All)
}

/// The mask that must be the same, and the most bytes that an instruction moves; none for what moves one
/// element at a time.
fn guard(
    kernel: &Kernel,
    machine: &Machine,
    op: &Op,
    masks: Masks,
) -> Option<(Option<Value>, u64)> {
    let mask = op.operands.get(mask_operand(&op.kind)?).filter(|_| masks == Masks::Same);
    // The machine's widest access, as far as the lane program has it.
    let widest = match op.kind {
        OpKind::Atomic { op: what, .. } if what.may_be_vector(element(kernel, op)) => {
            machine.atomic_vector_bytes
        }
        OpKind::Atomic { .. } => return None,
        _ => machine.global_vector_bytes,
    };
    Some((mask.copied(), widest.min(crate::lane::MAX_ACCESS_BYTES).into()))
}

/// What a memory operation's pointers point to.
fn element(kernel: &Kernel, op: &Op) -> DType {
    kernel.ty(op.operands[0]).element.pointee().unwrap_or(DType::I64)
}
