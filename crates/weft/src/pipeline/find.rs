//! Which loads of which loops may run ahead.

use super::behind::{self, Behind};
use super::reach::{Apart, Reach};
use super::{bytes, has_copies, orders_memory, registers_of_thread};
use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::tile::effects::{Dependence, Fence};
use crate::tile::{DescriptorOp, Element, Kernel, Op, OpId, OpKind, Origins, Value};
use std::collections::BTreeSet;
use weft_layout::machine::{Isa, Machine};

/// The least bytes that an asynchronous copy moves for a thread, where it may move several numbers of them.
const LEAST_BYTES: u64 = 4;
/// The most bytes that one moves.
const MOST_BYTES: u64 = 16;

/// The registers that a thread keeps of a loop without products for addresses, masks and what reductions have made so far.
const ADDRESSES: u64 = 32;
/// The same where a block more runs for it: an assembler makes them again.
const FEWEST_ADDRESSES: u64 = 16;

/// A loop, and what of it runs ahead.
pub(super) struct Loop {
    pub(super) op: OpId,
    /// What is copied of a round at one time: the tiles of the round ahead, and those of the round before it.
    pub(super) streams: Vec<Stream>,
    /// The products that run a round behind.
    pub(super) behind: Vec<Behind>,
    /// The stores that loads into registers are ahead of.
    pub(super) passed: Vec<OpId>,
    /// Whether those lie apart from what is loaded.
    pub(super) apart: Apart,
    /// What is loaded into registers one round ahead.
    held: Option<Stream>,
    /// How many stages the source asks for.
    pub(super) asked: Option<u32>,
    /// Between which integers the counter of a round lies.
    pub(super) counts: (i64, i64),
}

impl Loop {
    /// The loop with what registers hold among its streams, for a number of stages: a round ahead is as many less
    /// than the farthest as there are stages beyond two.
    pub(super) fn with_held(mut self, kernel: &Kernel, stages: u32) -> Self {
        let lag = stages as usize - 2;
        if let Some(held) = self.held.take() {
            let body = &kernel.ops[self.op].regions[0].ops;
            match self.streams.iter_mut().find(|stream| stream.lag == lag) {
                Some(stream) => stream.join(held, body),
                None => self.streams.push(Stream { lag, ..held }),
            }
        }
        self
    }

    /// Whether warps multiply in it, and not warpgroups.
    pub(super) fn is_of_warps(&self, kernel: &Kernel) -> bool {
        let ops = kernel.ops[self.op].regions[0].ops.iter().map(|&id| &kernel.ops[id]);
        ops.clone().any(|op| op.kind.is_product()) && !ops.clone().any(is_of_warpgroups)
    }

    /// All loads that become copies.
    pub(super) fn loads(&self) -> impl Iterator<Item = OpId> {
        self.streams.iter().flat_map(|stream| &stream.loads).copied()
    }
}

/// Loads of a loop without products, and what they are ahead of.
struct Rows {
    copied: Vec<OpId>,
    /// What registers hold.
    held: Vec<OpId>,
    /// The stores that they pass.
    passed: Vec<OpId>,
    /// Whether a round waits for other threads.
    waits: bool,
}

impl Rows {
    fn all(&self) -> Vec<OpId> {
        [&self.copied[..], &self.held].concat()
    }
}

/// Loads that are as far ahead as each other.
pub(super) struct Stream {
    /// How many rounds they are less ahead than the farthest.
    pub(super) lag: usize,
    /// The loads that become copies, in their order.
    pub(super) loads: Vec<OpId>,
    /// The loads into registers.
    pub(super) held: Vec<OpId>,
    /// What computes their addresses and masks and the next round's, in order.
    pub(super) slice: Vec<OpId>,
    /// The carried values that these need, by number.
    pub(super) carried: Vec<usize>,
}

impl Stream {
    /// Adds what registers hold of the same round.
    fn join(&mut self, held: Stream, body: &[OpId]) {
        let needed = |id: &OpId| self.slice.contains(id) || held.slice.contains(id);
        self.slice = body.iter().copied().filter(needed).collect();
        self.carried.extend(held.carried);
        self.carried.sort_unstable();
        self.carried.dedup();
        self.held.extend(held.held);
    }
}

/// The loops of a kernel whose loads may run ahead.
pub(super) fn loops(
    kernel: &Kernel,
    facts: &AxisFacts,
    machine: &Machine,
    warps: u32,
) -> Vec<Loop> {
    let origins = Origins::of(kernel);
    let mut found = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        if let OpKind::For(hints) = op.kind {
            let asked = hints.stages;
            let body = Body::of(kernel, facts, &origins, machine, op);
            found.extend(body.and_then(|body| {
                let loads = body.loads(machine);
                let behind = behind::products(kernel, &op.regions[0], &loads, machine, warps);
                let threads = u64::from(warps) << machine.lanes_log2;
                let factors = body.factors(id, &loads, machine, threads);
                if loads.is_empty() && factors.is_empty() {
                    let reach = || Reach::new(kernel, facts, op, &body.inside);
                    let several = asked.is_some_and(|asked| asked > 2);
                    let rows = several.then(|| body.copied_rows(machine, threads)).flatten();
                    let far = rows.and_then(|rows| {
                        let apart = reach().apart_in_all(&rows.all(), &rows.passed)?;
                        Some((rows, apart, asked))
                    });
                    let near = || {
                        let rows = body.rows(id, machine, threads)?;
                        let apart = reach().apart(&rows.held, &rows.passed)?;
                        Some((rows, apart, None))
                    };
                    let (rows, apart, asked) = far.or_else(near)?;
                    let found = body.loop_of(id, &rows.copied, &rows.held, behind)?;
                    return Some(Loop { passed: rows.passed, apart, asked, ..found });
                }
                let held = body.held(&loads, &factors, threads);
                Some(Loop { asked, ..body.loop_of(id, &loads, &held, behind)? })
            }));
        }
    });
    found
}

/// Whether an operation, or one inside it, looks at a value.
pub(super) fn looks(kernel: &Kernel, id: OpId, value: Value) -> bool {
    let op = &kernel.ops[id];
    let mut looks = op.operands.contains(&value);
    for region in &op.regions {
        kernel.walk(region, &mut |_, op| looks |= op.operands.contains(&value));
    }
    looks
}

/// Whether a load brings a block, which nothing in the kernel writes to.
pub(super) fn is_block(load: &Op) -> bool {
    load.kind == OpKind::Descriptor(DescriptorOp::Load)
}

/// Whether a machine is NVIDIA's, whose copies feed products and on which loads into registers were measured.
fn is_nvidia(machine: &Machine) -> bool {
    matches!(machine.isa, Isa::Ptx { .. })
}

/// Whether warpgroups multiply.
pub(super) fn is_of_warpgroups(op: &Op) -> bool {
    matches!(op.kind, OpKind::WarpgroupDot(_))
}

/// A load of an index, and what leads to it.
pub(super) struct Index {
    pub(super) load: OpId,
    /// What computes its address and mask, in order.
    pub(super) slice: Vec<OpId>,
    /// The carried values that these need, by number.
    pub(super) carried: Vec<usize>,
}

/// The body of a loop.
pub(super) struct Body<'a> {
    kernel: &'a Kernel,
    facts: &'a AxisFacts,
    origins: &'a Origins<'a>,
    /// The bytes that a copy moves for each thread along the axis over which a product sums; none where it may move
    /// several numbers of them along any.
    along_sums: Option<u64>,
    params: &'a [Value],
    ops: &'a [OpId],
    yields: &'a [Value],
    /// What the operations that stand directly in the body define.
    definitions: IdMap<Value, Option<OpId>>,
    /// What is defined inside, directly or not.
    inside: IdMap<Value, bool>,
    /// What anything but the end of a round takes.
    taken: IdMap<Value, bool>,
    /// The arguments that the loop may write to; none where it may be any.
    written: Option<BTreeSet<Value>>,
}

/// What a value needs, of the operations of a body and of what the loop carries.
#[derive(Clone, Default)]
struct Needs {
    ops: BTreeSet<OpId>,
    carried: BTreeSet<usize>,
    /// Whether it needs any of what the loop carries, or its counter.
    varies: bool,
    /// The indices that it needs, which are loaded in the same round, where they are looked for.
    indices: Option<BTreeSet<OpId>>,
}

impl<'a> Body<'a> {
    /// Nothing where loads may not move at all.
    pub(super) fn of(
        kernel: &'a Kernel,
        facts: &'a AxisFacts,
        origins: &'a Origins<'a>,
        machine: &Machine,
        op: &'a Op,
    ) -> Option<Self> {
        let region = op.regions.first()?;
        let (&last, _) = region.ops.split_last()?;
        let mut definitions = IdMap::default();
        for &id in &region.ops {
            for &result in &kernel.ops[id].results {
                definitions.set(result, Some(id));
            }
        }
        let mut inside = IdMap::default();
        let mut written = Some(BTreeSet::new());
        let mut ordering = Vec::new();
        let mut looked_at: IdMap<Value, bool> = IdMap::default();
        let mut taken: IdMap<Value, bool> = IdMap::default();
        kernel.walk(region, &mut |id, op| {
            for &operand in &op.operands {
                looked_at.set(operand, true);
                taken.set(operand, taken[operand] || id != last);
            }
            let entering = op.regions.iter().flat_map(|region| &region.params);
            for &value in op.results.iter().chain(entering) {
                inside.set(value, true);
            }
            let effects = op.kind.effects();
            ordering.extend(orders_memory(&op.kind).then_some(id));
            if effects.global.writes {
                let pointer = op.operands.first();
                match (pointer.and_then(|&at| origins.argument(at)), &mut written) {
                    (Some(argument), Some(written)) => drop(written.insert(argument)),
                    _ => written = None,
                }
            }
        });
        let (params, yields) = (&region.params[..], &kernel.ops[last].operands[..]);
        let along_sums = machine.direct_copy_bytes().map(u64::from);
        let body = Self {
            kernel,
            facts,
            origins,
            along_sums,
            params,
            ops: &region.ops,
            yields,
            definitions,
            inside,
            taken,
            written,
        };
        // That another block came first only the result of an atomic tells: whoever does not look at it takes nothing
        // over from others. (Triton's atomics acquire unless they are asked not to, sums of gradients too.)
        let ordered = |id: &OpId| {
            let op = &kernel.ops[*id];
            let adds = op.kind.effects().fence == Fence::Atomic;
            !adds || op.results.iter().any(|&result| looked_at[result])
        };
        (!ordering.iter().any(ordered)).then_some(body)
    }

    /// The loads that may run ahead.
    fn loads(&self, machine: &Machine) -> Vec<OpId> {
        if !has_copies(machine) {
            return Vec::new();
        }
        let (fed, summed) = (self.feeds_products(), self.summed_axes());
        let alone = |id: &OpId| {
            let load = &self.kernel.ops[*id];
            (is_block(load) || fed.contains(id) && self.may_be_copied(load, summed[*id]))
                && self.need(&load.operands, &mut Needs::default())
        };
        self.ops.iter().copied().filter(alone).collect()
    }

    /// The loads of indices that tiles which feed products wait for: so few numbers that registers hold those of the next
    /// round. Nothing on GPUs on which it was not measured.
    pub(super) fn indices(&self, machine: &Machine, threads: u64) -> Vec<Index> {
        if !is_nvidia(machine) {
            return Vec::new();
        }
        let fed = self.feeds_products();
        let mut found = BTreeSet::new();
        for &id in self.ops {
            let load = &self.kernel.ops[id];
            if !fed.contains(&id) || !self.may_move(load) {
                continue;
            }
            let mut needs = Needs { indices: Some(BTreeSet::new()), ..Needs::default() };
            if self.need(&load.operands, &mut needs) {
                found.extend(needs.indices.into_iter().flatten());
            }
        }
        let few = |id: &OpId| self.kernel.ty(self.kernel.ops[*id].results[0]).elements() <= threads;
        if !found.iter().all(few) {
            return Vec::new();
        }
        let index = |load: OpId| {
            let Stream { slice, carried, .. } = self.stream(0, vec![load], Vec::new());
            Index { load, slice, carried }
        };
        found.into_iter().map(index).collect()
    }

    /// The other loads that may run ahead: what they give, such as the gate of a state, are so few numbers that
    /// registers hold those of the next round, and no round waits for memory in the middle.
    fn held(&self, loads: &[OpId], factors: &[OpId], threads: u64) -> Vec<OpId> {
        let fits = |id: &OpId| {
            let load = &self.kernel.ops[*id];
            !loads.contains(id)
                && !self.is_for_next(load)
                && self.may_move(load)
                && (factors.contains(id) || self.kernel.ty(load.results[0]).elements() <= threads)
                && self.need(&load.operands, &mut Needs::default())
        };
        self.ops.iter().copied().filter(fits).collect()
    }

    /// The loads of factors that registers hold a round ahead where waves do not copy past them: all, or none where
    /// threads have not the registers. Not measured on an AMD GPU; Triton's loops there do the same.
    fn factors(&self, id: OpId, loads: &[OpId], machine: &Machine, threads: u64) -> Vec<OpId> {
        if is_nvidia(machine) {
            return Vec::new();
        }
        let fed = self.feeds_products();
        let moves = |id: &OpId| {
            let load = &self.kernel.ops[*id];
            fed.contains(id)
                && !loads.contains(id)
                && self.may_move(load)
                && self.need(&load.operands, &mut Needs::default())
        };
        let factors: Vec<OpId> = self.ops.iter().copied().filter(moves).collect();
        let carried: u64 =
            self.kernel.ops[id].results.iter().map(|&value| self.words(value, threads)).sum();
        let loaded: u64 = factors.iter().map(|&load| bytes(self.kernel, load)).sum();
        let kept = carried + loaded.div_ceil(4 * threads) + behind::OTHER_REGISTERS;
        let has_room = kept <= registers_of_thread(machine, threads);
        if has_room { factors } else { Vec::new() }
    }

    /// The loads of a loop without products that registers hold a round ahead, and the stores that they pass. A round
    /// that waits for other threads has no loads of the next one under way otherwise, nor has one that stores what it
    /// makes of the round before it. Nothing where threads have not the registers.
    fn rows(&self, id: OpId, machine: &Machine, threads: u64) -> Option<Rows> {
        let rows = self.rows_ahead(machine)?;
        let waits = rows.waits || !rows.passed.is_empty() && self.goes_on_from_loads();
        (waits && self.has_room(id, &rows.held, machine, threads)).then_some(rows)
    }

    /// The same several rounds ahead, as the source asks for: copied where each thread has something of its own to copy,
    /// so that it waits for nobody else, and otherwise held by registers. Where a round neither stores nor waits the
    /// assembler has the loads of several under way.
    fn copied_rows(&self, machine: &Machine, threads: u64) -> Option<Rows> {
        let mut rows = self.rows_ahead(machine).filter(|_| has_copies(machine))?;
        let is_copied = |id: &OpId| {
            let load = &self.kernel.ops[*id];
            bytes(self.kernel, *id) >= LEAST_BYTES * threads && self.may_be_copied(load, None)
        };
        (rows.copied, rows.held) = rows.held.into_iter().partition(is_copied);
        let keeps_others = rows.waits || !rows.passed.is_empty();
        (keeps_others && !rows.copied.is_empty()).then_some(rows)
    }

    /// The loads of a loop without products that may be ahead of what it does, if it does nothing that they may not
    /// pass; not on GPUs on which it was not measured.
    fn rows_ahead(&self, machine: &Machine) -> Option<Rows> {
        if !is_nvidia(machine) {
            return None;
        }
        let (mut waits, mut passed) = (false, Vec::new());
        for &id in self.ops {
            let kind = &self.kernel.ops[id].kind;
            let effects = kind.effects();
            waits |= effects.dependence == Dependence::Across;
            match kind {
                OpKind::For(_) | OpKind::While | OpKind::If => return None,
                _ if kind.is_product() => return None,
                // Behind it a thread may see what others have stored, by whatever argument.
                _ if effects.fence == Fence::Barrier => return None,
                _ if effects.global.writes => {
                    kind.by_pointers()?;
                    passed.push(id);
                }
                _ => {}
            }
        }
        let moves = |id: &OpId| {
            let (load, mut needs) = (&self.kernel.ops[*id], Needs::default());
            self.may_move(load) && self.need(&load.operands, &mut needs) && needs.varies
        };
        // What stands behind a store of its own round has to see it.
        let in_front = self.ops.iter().copied().take_while(|id| passed.first() != Some(id));
        let held = in_front.filter(moves).collect();
        Some(Rows { copied: Vec::new(), held, passed, waits })
    }

    /// Whether a round needs what the one before it made of loads.
    fn goes_on_from_loads(&self) -> bool {
        let is_known = |&value: &Value| self.need(&[value], &mut Needs::default());
        !self.yields.iter().all(is_known)
    }

    /// Whether a thread with so many registers has room for what loads give of two rounds, one number in each, beside what
    /// the loop carries and the floats that each round looks at: integers are made again where they are needed. Where
    /// each block has a share of the rounds, as blocks do of which as many are asked for as run at once, what a round loads
    /// may take a quarter. Else as many warps as the largest block has still run, or three of four that ran before: other
    /// blocks hide what a warp waits for as well, and no block is left alone whose warps wait for each other, or may be.
    /// (Losses on an H200 with the loads in place and a round ahead: a vocabulary of 50,257 in blocks of 16,384 by 16
    /// warps, of which two had run, 422 and 586 µs; vocabularies of 8,192 and of 16,384 in one round by 32 warps 323 and
    /// 347, 538 and 764. A norm's gradients by a block of four warps on each multiprocessor: 248 and 191.)
    fn has_room(&self, id: OpId, held: &[OpId], machine: &Machine, threads: u64) -> bool {
        let registers = registers_of_thread(machine, threads);
        let words = |value: Value| self.words(value, threads);
        let op = &self.kernel.ops[id];
        let mut kept: BTreeSet<Value> = op.results.iter().copied().collect();
        self.kernel.walk(&op.regions[0], &mut |_, op| {
            let from_outside = op.operands.iter().copied().filter(|&operand| {
                let is_float = self.kernel.ty(operand).dtype().is_float();
                is_float && !self.inside[operand] && !self.is_equal_everywhere(operand)
            });
            kept.extend(from_outside);
        });
        let loaded: u64 = held.iter().map(|&load| words(self.kernel.ops[load].results[0])).sum();
        let kept: u64 = kept.into_iter().map(words).sum();
        let (alone, ahead) = (kept + loaded, kept + 2 * loaded);
        let fits = |words: u64, threads: u64, others: u64| {
            words + others <= registers_of_thread(machine, threads)
        };
        let keeps_blocks = if self.is_share(&op.operands[..2]) {
            4 * loaded <= registers
        } else {
            let largest_block = machine.threads_per_block.into();
            let keeps_warps = fits(ahead, largest_block, ADDRESSES)
                || 4 * (alone + ADDRESSES) >= 3 * (ahead + ADDRESSES);
            let has_others = |words, others| fits(words, 2 * threads, others);
            let hides = has_others(alone, FEWEST_ADDRESSES) && !has_others(ahead, ADDRESSES);
            keeps_warps && !hides
        };
        fits(ahead, threads, ADDRESSES) && keeps_blocks
    }

    /// The registers that each of so many threads needs for a tensor's numbers, one in each.
    fn words(&self, value: Value, threads: u64) -> u64 {
        let ty = self.kernel.ty(value);
        match ty.element {
            Element::Scalar(dtype) if ty.is_tensor() => {
                ty.elements().div_ceil(threads) * u64::from(dtype.bits()).div_ceil(32)
            }
            _ => 0,
        }
    }

    /// Whether the ends of a loop come from the number of the block.
    fn is_share(&self, ends: &[Value]) -> bool {
        let mut made: IdMap<Value, Option<OpId>> = IdMap::default();
        self.kernel.walk(&self.kernel.body, &mut |id, op| {
            op.results.iter().for_each(|&result| made.set(result, Some(id)));
        });
        let mut seen: IdMap<Value, bool> = IdMap::default();
        let mut left = ends.to_vec();
        while let Some(value) = left.pop() {
            let Some(id) = made[value].filter(|_| !seen[value]) else { continue };
            seen.set(value, true);
            let op = &self.kernel.ops[id];
            if matches!(op.kind, OpKind::ProgramId(_)) {
                return true;
            }
            left.extend(&op.operands);
        }
        false
    }

    /// Whether one register holds all elements of a value.
    fn is_equal_everywhere(&self, value: Value) -> bool {
        let ty = self.kernel.ty(value);
        let dims = &self.facts.get(value).dims;
        dims.iter().zip(&ty.shape).all(|(dim, &extent)| dim.constancy >= extent)
    }

    fn loop_of(
        &self,
        op: OpId,
        loads: &[OpId],
        held: &[OpId],
        behind: Vec<Behind>,
    ) -> Option<Loop> {
        let is_late = |load: &OpId| behind.iter().any(|behind| behind.load == *load);
        let (late, early): (Vec<OpId>, Vec<OpId>) = loads.iter().copied().partition(is_late);
        let streams = [early, late].into_iter().enumerate();
        let streams = streams.filter(|(_, loads)| !loads.is_empty());
        let streams: Vec<Stream> =
            streams.map(|(lag, loads)| self.stream(lag, loads, Vec::new())).collect();
        let held = (!held.is_empty()).then(|| self.stream(0, Vec::new(), held.to_vec()));
        let any = !streams.is_empty() || held.is_some();
        let counter = self.facts.get(self.params[0]).range;
        let counts = (counter.low, counter.high);
        let (passed, apart) = <_>::default();
        any.then_some(Loop { op, streams, behind, passed, apart, held, asked: None, counts })
    }

    fn stream(&self, lag: usize, loads: Vec<OpId>, held: Vec<OpId>) -> Stream {
        let mut needs = Needs::default();
        for &load in loads.iter().chain(&held) {
            self.need(&self.kernel.ops[load].operands, &mut needs);
        }
        let slice = self.ops.iter().copied().filter(|id| needs.ops.contains(id)).collect();
        Stream { lag, loads, held, slice, carried: needs.carried.into_iter().collect() }
    }

    /// The operations of the body that factors of a product are computed from.
    fn feeds_products(&self) -> BTreeSet<OpId> {
        let mut fed = BTreeSet::new();
        for &id in self.ops.iter().rev() {
            let op = &self.kernel.ops[id];
            let needed: &[Value] = match &op.kind {
                OpKind::WarpgroupDot(_) => &op.operands[..2],
                // All but what is added to.
                kind if kind.is_product() => &op.operands[..op.operands.len().saturating_sub(1)],
                // A factor that is put into memory.
                _ if fed.contains(&id) && op.kind.effects().allocates => &op.operands,
                _ if fed.contains(&id) && op.kind.effects().is_pure() => &op.operands,
                _ => continue,
            };
            fed.extend(needed.iter().filter_map(|&value| self.definitions[value]));
        }
        fed
    }

    /// The axis of each load over which the products sum that it feeds, where it has one: through transposes and
    /// operations on single elements.
    fn summed_axes(&self) -> IdMap<OpId, Option<usize>> {
        let mut axes: IdMap<Value, Option<usize>> = IdMap::default();
        let mut loads: IdMap<OpId, Option<usize>> = IdMap::default();
        for &id in self.ops.iter().rev() {
            let op = &self.kernel.ops[id];
            let own = op.results.first().and_then(|&result| axes[result]);
            match (&op.kind, own) {
                (OpKind::Dot(_), _) => {
                    let rank = self.kernel.ty(op.results[0]).shape.len();
                    axes.set(op.operands[0], rank.checked_sub(1));
                    axes.set(op.operands[1], rank.checked_sub(2));
                }
                (OpKind::DotScaled(scaled), _) => {
                    let rank = self.kernel.ty(op.results[0]).shape.len();
                    let Some(parts) = scaled.operands(&op.operands) else { continue };
                    for (factor, from_end) in parts.factors.into_iter().zip(1..) {
                        axes.set(factor, rank.checked_sub(from_end));
                    }
                    for scale in parts.scales.into_iter().flatten() {
                        axes.set(scale, rank.checked_sub(1));
                    }
                }
                (OpKind::Load(_), own) => loads.set(id, own),
                (OpKind::Trans { order }, Some(axis)) => {
                    axes.set(op.operands[0], order.get(axis).map(|&axis| axis.into()));
                }
                (kind, Some(axis)) if kind.is_elementwise() => {
                    op.operands.iter().for_each(|&operand| axes.set(operand, Some(axis)));
                }
                _ => {}
            }
        }
        loads
    }

    /// Whether what an operation gives is for the next round alone.
    fn is_for_next(&self, op: &Op) -> bool {
        op.results.iter().all(|&result| !self.taken[result])
    }

    /// Whether a load may move: nothing in the loop writes to what it reads.
    fn may_move(&self, op: &Op) -> bool {
        let OpKind::Load(options) = op.kind else { return false };
        let pointer = op.operands[0];
        let is_read_only = match (&self.written, self.origins.argument(pointer)) {
            (Some(written), Some(argument)) => !written.contains(&argument),
            (Some(written), None) => written.is_empty(),
            (None, _) => false,
        };
        is_read_only && !options.volatile
    }

    /// Whether a load may become a copy, as far as it goes by itself. `summed` is the axis over which products sum.
    fn may_be_copied(&self, op: &Op, summed: Option<usize>) -> bool {
        if !self.may_move(op) {
            return false;
        }
        let ty = self.kernel.ty(op.results[0]);
        let Element::Scalar(dtype) = ty.element else { return false };
        let pointer = op.operands[0];
        let mask = op.operands.get(1).copied();
        let bytes = |axis: usize| {
            self.facts.vector_elements(pointer, mask, axis, dtype, MOST_BYTES)
                * u64::from(dtype.bytes())
        };
        // What copies put down as it was is read by threads that want neighbours along the sum.
        let is_wide = match self.along_sums {
            Some(wanted) => summed.is_some_and(|axis| bytes(axis) == wanted),
            None => (0..ty.shape.len()).any(|axis| bytes(axis) >= LEAST_BYTES),
        };
        ty.is_tensor() && dtype != DType::I1 && is_wide
    }

    /// Adds what some values need; false where that cannot be computed ahead. Of loads that may be those which are for
    /// the next round alone.
    fn need(&self, values: &[Value], needs: &mut Needs) -> bool {
        let mut left = values.to_vec();
        while let Some(value) = left.pop() {
            if let Some(param) = self.params.iter().position(|&param| param == value) {
                needs.varies = true;
                // The first is the counter, which is known.
                let carried = param.checked_sub(1).filter(|&index| needs.carried.insert(index));
                left.extend(carried.map(|index| self.yields[index]));
                continue;
            }
            let Some(id) = self.definitions[value] else {
                if self.inside[value] {
                    return false;
                }
                continue;
            };
            let op = &self.kernel.ops[id];
            let may_be_copied =
                self.may_be_copied_ahead(op) || self.is_for_next(op) && self.may_move(op);
            if !may_be_copied {
                let Some(indices) = &mut needs.indices else { return false };
                if !self.may_move(op) || !self.need(&op.operands, &mut Needs::default()) {
                    return false;
                }
                indices.insert(id);
                continue;
            }
            if needs.ops.insert(id) {
                left.extend(&op.operands);
                left.extend(self.looked_at_from(op));
            }
        }
        true
    }

    /// Whether an operation may be done for a round ahead: it only computes, as do branches of nothing but such
    /// operations.
    fn may_be_copied_ahead(&self, op: &Op) -> bool {
        let computes = |op: &Op| {
            let is_plain = op.kind.effects().is_pure() && op.regions.is_empty();
            is_plain && !op.kind.is_product() || op.kind == OpKind::If
        };
        let mut all = computes(op);
        for region in &op.regions {
            self.kernel.walk(region, &mut |_, inner| {
                all = all && (computes(inner) || inner.kind.effects().is_terminator());
            });
        }
        all
    }

    /// What the regions of an operation look at that is not defined in them.
    fn looked_at_from(&self, op: &Op) -> Vec<Value> {
        let mut own: IdMap<Value, bool> = IdMap::default();
        let mut looked_at = Vec::new();
        for region in &op.regions {
            self.kernel.walk(region, &mut |_, inner| {
                inner.results.iter().for_each(|&result| own.set(result, true));
                looked_at.extend(&inner.operands);
            });
        }
        looked_at.retain(|&value| !own[value]);
        looked_at
    }
}
