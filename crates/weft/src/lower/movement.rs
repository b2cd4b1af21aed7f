//! Plans to lane operations, step for step.
//!
//! A plan's register files become lists of lane values, its scratch memory a piece of shared memory.
//! Nothing here knows which strategy wrote the steps. Several plans that are independent of each
//! other are written side by side, so that one barrier serves them all.

use super::Lowerer;
use crate::dtype::DType;
use crate::lane::{Access as LaneAccess, BarrierScope, IdKind, Space, Value};
use crate::scalar::{Binary, Cast, Compare};
use weft_layout::access::Kind;
use weft_layout::step::{Access, Acting, File, FileType, Parity, Plan, Scope, Selector, Step};

/// The alignment of a plan's scratch memory: one row of all banks of every machine.
const SCRATCH_ALIGN: u32 = 256;

/// What a plan's `combine` does with a left and a right tuple.
pub(super) type Combine<'c> = &'c mut dyn FnMut(&mut Lowerer<'_>, &[Value], &[Value]) -> Vec<Value>;

/// A plan being written.
struct Mover<'p> {
    plan: &'p Plan,
    files: Vec<Vec<Value>>,
    dtypes: Vec<DType>,
    next: usize,
    base: Option<Value>,
}

impl Lowerer<'_> {
    /// Writes one plan; gives the output files.
    pub(super) fn emit_plan(
        &mut self,
        plan: &Plan,
        inputs: Vec<Vec<Value>>,
        combine: Combine<'_>,
    ) -> Vec<Vec<Value>> {
        let mut outputs = self.emit_plans(&[plan], vec![inputs], combine);
        outputs.pop().unwrap_or_default()
    }

    /// Writes independent plans side by side: each up to its next barrier, then one barrier for all.
    pub(super) fn emit_plans(
        &mut self,
        plans: &[&Plan],
        inputs: Vec<Vec<Vec<Value>>>,
        combine: Combine<'_>,
    ) -> Vec<Vec<Vec<Value>>> {
        let mut movers: Vec<(Mover<'_>, Vec<Vec<DType>>)> = Vec::new();
        for (plan, inputs) in plans.iter().zip(inputs) {
            movers.push(self.start(plan, inputs));
        }
        loop {
            let mut scope = None;
            for (mover, _) in &mut movers {
                scope = scope.max(self.run_to_barrier(mover, combine));
            }
            match scope {
                None => break,
                Some(Scope::Warp) => self.build.barrier(BarrierScope::Warp),
                Some(Scope::Block) => self.build.barrier(BarrierScope::Block),
            }
        }
        movers.into_iter().map(|(mover, original)| self.finish(mover, &original)).collect()
    }

    /// Readies a plan; a truth value travels as a byte.
    fn start<'p>(
        &mut self,
        plan: &'p Plan,
        inputs: Vec<Vec<Value>>,
    ) -> (Mover<'p>, Vec<Vec<DType>>) {
        let mut files = vec![Vec::new(); plan.files.len()];
        let mut original = Vec::new();
        let mut input_dtypes = Vec::new();
        for (&file, values) in plan.inputs.iter().zip(inputs) {
            original.push(values.iter().map(|&value| self.build.dtype(value)).collect());
            let bytes: Vec<Value> = values.iter().map(|&value| self.byte_of(value)).collect();
            input_dtypes.push(bytes.first().map_or(DType::I32, |&value| self.build.dtype(value)));
            files[file.index()] = bytes;
        }
        let dtypes = file_dtypes(plan, &input_dtypes);
        let base = (plan.scratch_bytes > 0).then(|| {
            let shared = self.build.shared(plan.scratch_bytes as u32, SCRATCH_ALIGN, scope(plan));
            self.build.shared_base(shared)
        });
        (Mover { plan, files, dtypes, next: 0, base }, original)
    }

    fn finish(&mut self, mut mover: Mover<'_>, original: &[Vec<DType>]) -> Vec<Vec<Value>> {
        let outputs = mover.plan.outputs.iter().zip(original);
        outputs
            .map(|(&file, dtypes)| {
                let values = core::mem::take(&mut mover.files[file.index()]);
                let truth = dtypes.first() == Some(&DType::I1);
                let back = |value| if truth { self.truth_of(value) } else { value };
                values.into_iter().map(back).collect()
            })
            .collect()
    }

    pub(super) fn byte_of(&mut self, value: Value) -> Value {
        match self.build.dtype(value) {
            DType::I1 => self.build.cast(Cast::ExtU, value, DType::I8),
            _ => value,
        }
    }

    pub(super) fn truth_of(&mut self, value: Value) -> Value {
        if self.build.dtype(value) == DType::I1 {
            return value;
        }
        let zero = self.build.constant(DType::I8, 0);
        self.build.compare(Compare::Ne, value, zero)
    }

    /// Writes steps until a barrier; gives its scope, or none at the end.
    fn run_to_barrier(&mut self, mover: &mut Mover<'_>, combine: Combine<'_>) -> Option<Scope> {
        while let Some(step) = mover.plan.steps.get(mover.next) {
            mover.next += 1;
            match step {
                Step::Barrier(scope) => return Some(*scope),
                Step::Permute { from, to, source } => {
                    let values = &mover.files[from.index()];
                    mover.files[to.index()] =
                        source.iter().map(|&register| values[register as usize]).collect();
                }
                Step::Concat { from, to } => {
                    mover.files[to.index()] =
                        from.iter().flat_map(|file| mover.files[file.index()].clone()).collect();
                }
                Step::Select { even, odd, to, odd_where } => {
                    let is_odd = self.parity(*odd_where);
                    let pairs = mover.files[even.index()].iter().zip(&mover.files[odd.index()]);
                    mover.files[to.index()] =
                        pairs.map(|(&even, &odd)| self.build.select(is_odd, odd, even)).collect();
                }
                Step::Exchange { from, to, source } => {
                    let values = mover.files[from.index()].clone();
                    let moved = if source.is_butterfly() {
                        let mask = source.xor as u32;
                        values.iter().map(|&value| self.build.shuffle_xor(value, mask)).collect()
                    } else {
                        let place = self.thread_map(&source.lane, &source.warp);
                        let xor = self.build.i32(source.xor as i32);
                        let lane = self.build.binary(Binary::Xor, place, xor);
                        values.iter().map(|&value| self.build.shuffle_index(value, lane)).collect()
                    };
                    mover.files[to.index()] = moved;
                }
                Step::Bytes { a, b, to, selector } => self.bytes(mover, [*a, *b, *to], selector),
                Step::Access(access) => self.access(mover, access),
                Step::Combine { a, b, to, .. } => {
                    let registers = a.first().map_or(0, |file| mover.files[file.index()].len());
                    for file in to {
                        mover.files[file.index()] = Vec::with_capacity(registers);
                    }
                    for register in 0..registers {
                        let tuple = |files: &[File]| -> Vec<Value> {
                            files.iter().map(|file| mover.files[file.index()][register]).collect()
                        };
                        let (left, right) = (tuple(a), tuple(b));
                        let results = combine(self, &left, &right);
                        for (file, result) in to.iter().zip(results) {
                            mover.files[file.index()].push(result);
                        }
                    }
                }
            }
        }
        None
    }

    /// Registers of `to` from bytes of those of `a` and `b`.
    fn bytes(&mut self, mover: &mut Mover<'_>, [a, b, to]: [File; 3], selector: &Selector) {
        let dtype = mover.dtypes[to.index()];
        let keeps_low = selector.keeps_low(mover.plan.file(to).element_bits / 8);
        let chosen = (!keeps_low).then(|| {
            let place = self.thread_map(&selector.lane, &selector.warp);
            let xor = self.build.i32(selector.xor as i32);
            self.build.binary(Binary::Xor, place, xor)
        });
        let words = |lowerer: &mut Self, file: File| -> Vec<Value> {
            mover.files[file.index()].iter().map(|&value| lowerer.word_of(value)).collect()
        };
        let (low, high) = (words(self, a), words(self, b));
        let pairs = low.into_iter().zip(high);
        mover.files[to.index()] = pairs
            .map(|(low, high)| {
                let word = chosen.map_or(low, |chosen| self.build.bytes(low, high, chosen));
                self.part_of_word(word, dtype)
            })
            .collect();
    }

    /// The bits of a value of at most 32 bits, with zeros above.
    fn word_of(&mut self, value: Value) -> Value {
        let bits = integer(self.build.dtype(value).bits());
        let value = self.build.cast(Cast::Bits, value, bits);
        self.build.cast(Cast::ExtU, value, DType::I32)
    }

    /// The low bits of a word as a value of this type.
    fn part_of_word(&mut self, word: Value, dtype: DType) -> Value {
        let part = self.build.cast(Cast::Trunc, word, integer(dtype.bits()));
        self.build.cast(Cast::Bits, part, dtype)
    }

    fn access(&mut self, mover: &mut Mover<'_>, access: &Access) {
        let Some(base) = mover.base else { return };
        let place = self.thread_map(&access.lane, &access.warp);
        let moving = access.lane.iter().chain(&access.warp).fold(0, |all, column| all | column);
        let predicate = self.acting(access.acting);
        let dtype = mover.dtypes[access.file.index()];
        let registers = mover.plan.file(access.file).registers as usize;
        if access.kind == Kind::Load && mover.files[access.file.index()].len() < registers {
            let zero = self.build.constant(dtype, 0);
            mover.files[access.file.index()] = vec![zero; registers];
        }
        for group in &access.groups {
            // Where no thread moves the group's bits, adding is the same as exclusive or, and the
            // group's part of the address becomes an immediate.
            let (place, offset) = if group.address & moving == 0 {
                (place, group.address as i32)
            } else {
                let xor = self.build.i32(group.address as i32);
                (self.build.binary(Binary::Xor, place, xor), 0)
            };
            let address = self.build.binary(Binary::Add, base, place);
            let how = LaneAccess { offset, ..LaneAccess::default() };
            let count = group.registers.len();
            if access.kind == Kind::Load {
                let zeros = vec![self.build.constant(dtype, 0); count];
                let guarded = predicate.map(|predicate| (predicate, &zeros[..]));
                let loaded = self.build.load(Space::Shared, how, dtype, count, address, guarded);
                for (&register, value) in group.registers.iter().zip(loaded) {
                    mover.files[access.file.index()][register as usize] = value;
                }
            } else {
                let file = &mover.files[access.file.index()];
                let values: Vec<Value> =
                    group.registers.iter().map(|&register| file[register as usize]).collect();
                self.build.store(Space::Shared, how, address, predicate, &values);
            }
        }
    }

    /// An F2-linear function of the thread: lane columns and warp columns.
    pub(super) fn thread_map(&mut self, lane: &[u64], warp: &[u64]) -> Value {
        let narrow = |columns: &[u64]| columns.iter().map(|&c| c as u32).collect::<Vec<u32>>();
        let lane_id = self.build.id(IdKind::Lane);
        let from_lane = self.build.linear(&narrow(lane), lane_id);
        if warp.iter().all(|&column| column == 0) {
            return from_lane;
        }
        let warp_id = self.build.id(IdKind::Warp);
        let from_warp = self.build.linear(&narrow(warp), warp_id);
        self.build.binary(Binary::Xor, from_lane, from_warp)
    }

    /// Whether a thread takes part; none where all do.
    pub(super) fn acting(&mut self, acting: Acting) -> Option<Value> {
        let mut predicate = None;
        for (kind, mask) in [(IdKind::Lane, acting.idle_lanes), (IdKind::Warp, acting.idle_warps)] {
            if mask != 0 {
                let id = self.build.id(kind);
                let all = match kind {
                    IdKind::Lane => (1 << self.block.machine.lanes_log2) - 1,
                    _ => u64::from(self.block.warps) - 1,
                };
                let idle = if mask & all == all {
                    id
                } else {
                    let mask = self.build.i32(mask as i32);
                    self.build.binary(Binary::And, id, mask)
                };
                let zero = self.build.i32(0);
                let active = self.build.compare(Compare::Eq, idle, zero);
                predicate = self.build.and_predicates(predicate, Some(active));
            }
        }
        predicate
    }

    fn parity(&mut self, odd_where: Parity) -> Value {
        let columns = |mask: u64| (0..32).map(|bit| mask >> bit & 1).collect::<Vec<u64>>();
        let bit = self.thread_map(&columns(odd_where.lane), &columns(odd_where.warp));
        let zero = self.build.i32(0);
        self.build.compare(Compare::Ne, bit, zero)
    }
}

/// Whose threads meet in a plan's scratch memory: those that its widest barrier holds.
fn scope(plan: &Plan) -> BarrierScope {
    let block = plan.steps.iter().any(|step| matches!(step, Step::Barrier(Scope::Block)));
    if block { BarrierScope::Block } else { BarrierScope::Warp }
}

/// The integer type of this width.
fn integer(bits: u32) -> DType {
    match bits {
        8 => DType::I8,
        16 => DType::I16,
        64 => DType::I64,
        _ => DType::I32,
    }
}

/// The element type of each file: an operand's component keeps its type through every step; what is
/// packed of several is an integer.
fn file_dtypes(plan: &Plan, inputs: &[DType]) -> Vec<DType> {
    let mut dtypes: Vec<Option<DType>> = vec![None; plan.files.len()];
    for (files, inputs) in [(&plan.inputs, inputs), (&plan.outputs, inputs)] {
        for (file, &dtype) in files.iter().zip(inputs) {
            dtypes[file.index()] = Some(dtype);
        }
    }
    // What a load defines is known from the combination or the output that takes it, so facts flow
    // both ways until nothing is new.
    loop {
        let mut changed = false;
        let mut unify = |files: &[File]| {
            if let Some(dtype) = files.iter().find_map(|file| dtypes[file.index()]) {
                for file in files {
                    changed |= dtypes[file.index()].replace(dtype).is_none();
                }
            }
        };
        for step in &plan.steps {
            match step {
                Step::Permute { from, to, .. } | Step::Exchange { from, to, .. } => {
                    unify(&[*from, *to]);
                }
                Step::Concat { from, to } => {
                    let all: Vec<File> = from.iter().chain([to]).copied().collect();
                    unify(&all);
                }
                Step::Select { even, odd, to, .. } => unify(&[*even, *odd, *to]),
                Step::Combine { a, b, to, .. } => {
                    for ((a, b), to) in a.iter().zip(b).zip(to) {
                        unify(&[*a, *b, *to]);
                    }
                }
                // A file of bytes may hold several elements, or parts of one.
                Step::Bytes { .. } | Step::Access(_) | Step::Barrier(_) => {}
            }
        }
        if !changed {
            break;
        }
    }
    let width = |file: &FileType| integer(file.element_bits);
    let known = dtypes.into_iter().zip(&plan.files);
    known.map(|(dtype, file)| dtype.unwrap_or(width(file))).collect()
}
