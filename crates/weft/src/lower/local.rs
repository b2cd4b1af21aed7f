//! Shared memory that the program allocates.
//!
//! What describes memory becomes an address in bytes and an offset that the address' own bits are added
//! to by exclusive or: a buffer of several lies behind the one before it, a part begins at the offset
//! that its layout gives its first element. Which registers one access moves, and to which offsets, the
//! layouts of the tensor and of the memory say together; the widest vectors that walk the offsets are
//! used, with gaps between them where the layout has gaps.

use super::Lowerer;
use crate::assign::{AssignError, LayoutId};
use crate::dtype::DType;
use crate::lane::{self, Access, BarrierScope, Builder, Space};
use crate::movement;
use crate::scalar::Binary;
use crate::tile::{LocalOp, Op, OpId, Value};
use std::sync::Arc;
use weft_layout::Layout;
use weft_layout::affine::Padded;
use weft_layout::plan::{self, Vectors};
use weft_layout::space::{LANE, Label, OFFSET, REGISTER, WARP};
use weft_layout::step::{Form, Step};

/// The alignment of an allocation in bytes: the banks of every machine fit into it.
const ALIGN: u32 = 256;
/// The most bytes that a kernel may allocate.
const MOST: u64 = 1 << 30;

/// Where memory is that a value describes.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// The address of the buffer in bytes.
    base: lane::Value,
    /// The offset of the first element in the buffer's layout, in elements.
    offset: u64,
}

/// How a tensor in registers meets memory.
pub(super) struct Meeting {
    memory: Padded,
    /// The registers of each access.
    pub(super) vectors: Vectors,
    /// The offset of each register, in elements, with the view's own.
    registers: Vec<u64>,
    lanes: Vec<u64>,
    warps: Vec<u64>,
    bytes_log2: u32,
}

impl View {
    /// The address of the buffer.
    pub(super) fn base(self) -> lane::Value {
        self.base
    }

    /// The address of the buffer, where the view is of the whole of it.
    pub(super) fn whole(self) -> Option<lane::Value> {
        (self.offset == 0).then_some(self.base)
    }
}

impl Meeting {
    pub(super) fn base(&self, build: &mut Builder, view: View) -> lane::Value {
        if self.memory.paddings().is_empty() {
            let scaled = |columns: &[u64]| -> Vec<u64> {
                columns.iter().map(|column| column << self.bytes_log2).collect()
            };
            let place = movement::thread_map(build, &scaled(&self.lanes), &scaled(&self.warps));
            return build.binary(Binary::Add, view.base, place);
        }
        let place = movement::thread_map(build, &self.lanes, &self.warps);
        let place = self.physical(build, place);
        build.binary(Binary::Add, view.base, place)
    }

    /// Whether the lanes' vectors lie side by side, in the order of the lanes.
    pub(super) fn is_run(&self) -> bool {
        let vector = self.vectors.groups.first().map_or(0, Vec::len) as u64;
        let wide = self.lanes.iter().take_while(|&&column| column != 0).count();
        let (moving, still) = self.lanes.split_at(wide);
        let follows = moving.iter().enumerate().all(|(bit, &column)| column == vector << bit);
        follows && still.iter().all(|&column| column == 0) && self.memory.paddings().is_empty()
    }

    /// The address in bytes of an offset, behind the gaps.
    fn physical(&self, build: &mut Builder, offset: lane::Value) -> lane::Value {
        let mut sum = offset;
        for gap in self.memory.paddings() {
            let interval = build.i32(gap.interval.trailing_zeros() as i32);
            let padding = build.i32(gap.padding.trailing_zeros() as i32);
            let count = build.binary(Binary::ShrU, offset, interval);
            let skipped = build.binary(Binary::Shl, count, padding);
            sum = build.binary(Binary::Add, sum, skipped);
        }
        let bytes = build.i32(self.bytes_log2 as i32);
        build.binary(Binary::Shl, sum, bytes)
    }

    /// The address of a register's element, and what an access adds to it.
    pub(super) fn address(
        &self,
        build: &mut Builder,
        view: View,
        base: lane::Value,
        register: u32,
    ) -> (lane::Value, i32) {
        let own = self.registers[register as usize];
        let moving = self.lanes.iter().chain(&self.warps).fold(0, |all, column| all | column);
        // Bits that no thread moves: their part of the address is a sum of its own.
        let apart = (self.memory.physical(own & !moving) << self.bytes_log2) as i32;
        if own & moving == 0 {
            return (base, apart);
        }
        let place = movement::thread_map(build, &self.lanes, &self.warps);
        let moved = build.i32((own & moving) as i32);
        let offset = build.binary(Binary::Xor, place, moved);
        let offset = self.physical(build, offset);
        (build.binary(Binary::Add, view.base, offset), apart)
    }
}

/// Whether a step takes each thread's own registers, and bytes that no other thread gets.
fn is_of_each_thread(step: &Step) -> bool {
    match step {
        Step::Permute { .. } | Step::Concat { .. } | Step::Bytes { .. } => true,
        Step::Access(access) => access.form == Form::Vector,
        _ => false,
    }
}

impl Lowerer<'_> {
    pub(super) fn view(&mut self, value: Value) -> View {
        let known = self.scopes.iter().rev().find_map(|scope| scope.views.get(&value).copied());
        // Every view of a verified kernel is known.
        known.unwrap_or_else(|| View { base: self.build.i32(0), offset: 0 })
    }

    fn bind_view(&mut self, value: Value, view: View) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.views.insert(value, view);
        }
    }

    /// Binds a whole buffer, or a list of them, at an address.
    pub(super) fn bind_memory(&mut self, value: Value, base: lane::Value) {
        self.bind_view(value, View { base, offset: 0 });
    }

    /// An operation on memory that the program allocates.
    pub(super) fn local(&mut self, id: OpId, op: &Op, what: &LocalOp) -> Result<(), AssignError> {
        match what {
            LocalOp::Alloc => self.local_alloc(op),
            LocalOp::Load => self.local_load(id, op),
            LocalOp::Store => self.put(op.operands[0], op.operands[1]),
            LocalOp::Dealloc => Ok(()),
            LocalOp::Index => self.memdesc_index(op),
            LocalOp::Subslice { offsets } => self.memdesc_subslice(op, offsets),
            // Every element stays where it was.
            LocalOp::Trans { .. } | LocalOp::Reshape | LocalOp::Reinterpret => {
                let view = self.view(op.operands[0]);
                self.bind_view(op.results[0], view);
                Ok(())
            }
        }
    }

    fn local_alloc(&mut self, op: &Op) -> Result<(), AssignError> {
        let result = op.results[0];
        let home = Arc::clone(self.assignment.buffers(result)?);
        let pieces = self.build.program().shared.values();
        let before: u64 = pieces.map(|piece| u64::from(piece.bytes)).sum();
        let bytes = home.bytes.saturating_mul(home.count);
        // A machine's limit is the pipeline's business; addresses must fit before.
        if before.saturating_add(bytes) > MOST {
            let name = self.kernel.value_name(result);
            return Err(AssignError::SharedMemory { name, bytes, most: MOST });
        }
        let shared = self.build.shared(bytes as u32, ALIGN.max(home.align), BarrierScope::Block);
        if op.operands.is_empty() && !self.kernel.is_encoded() {
            // `local_order` has put the barriers.
            self.build.set_ordered(shared);
        } else if !self.is_handed_over(result) {
            self.build.set_renewed(shared);
        }
        let base = self.build.shared_base(shared);
        self.bind_view(result, View { base, offset: 0 });
        match op.operands.first() {
            Some(&source) => self.put(source, result),
            None => Ok(()),
        }
    }

    /// Whether memory, or a view of it, is carried by a loop or leaves the region that allocates it.
    fn is_handed_over(&self, memory: Value) -> bool {
        let (mut views, mut leaves) = (vec![memory], false);
        self.kernel.walk(&self.kernel.body, &mut |_, op| {
            if op.operands.iter().any(|operand| views.contains(operand)) {
                leaves |= op.kind.effects().is_terminator() || !op.regions.is_empty();
                views.extend(op.results.iter().filter(|&&result| self.is_memory(result)));
            }
        });
        leaves
    }

    fn memdesc_index(&mut self, op: &Op) -> Result<(), AssignError> {
        let view = self.view(op.operands[0]);
        let each = self.assignment.buffers(op.operands[0])?.bytes;
        let each = self.build.i32(each as i32);
        let index = self.scalar(op.operands[1]);
        let distance = self.build.binary(Binary::Mul, index, each);
        let base = self.build.binary(Binary::Add, view.base, distance);
        self.bind_view(op.results[0], View { base, ..view });
        Ok(())
    }

    fn memdesc_subslice(&mut self, op: &Op, offsets: &[u64]) -> Result<(), AssignError> {
        let view = self.view(op.operands[0]);
        let memory = self.assignment.buffers(op.operands[0])?.layout.clone();
        let outs = memory.layout().outs();
        let coordinates: Vec<(Label, u64)> =
            offsets.iter().enumerate().map(|(dim, &at)| (Label::dim(dim as u32), at)).collect();
        let element = outs.pack(&coordinates).map_err(weft_layout::LayoutError::from)?;
        let linear = Padded::new(memory.layout().clone(), &[]).and_then(|m| m.address(element));
        let first = linear.map_err(weft_layout::family::FamilyError::from)?;
        self.bind_view(op.results[0], View { offset: view.offset ^ first, ..view });
        Ok(())
    }

    pub(super) fn is_memory(&self, value: Value) -> bool {
        self.kernel.ty(value).memory().is_some()
    }

    /// The address of memory that a region carries in `place`. Where in its buffer a part begins is no
    /// lane value, and has to be the same whatever is carried there.
    pub(super) fn carried_view(
        &mut self,
        value: Value,
        place: Value,
    ) -> Result<lane::Value, AssignError> {
        let View { base, offset } = self.view(value);
        if *self.offsets.entry(place).or_insert(offset) != offset {
            return Err(AssignError::CarriedPart { name: self.kernel.value_name(place) });
        }
        Ok(base)
    }

    /// Memory that a region carries, at an address.
    pub(super) fn bind_carried_view(&mut self, value: Value, base: lane::Value) {
        let offset = self.offsets.get(&value).copied().unwrap_or(0);
        self.bind_view(value, View { base, offset });
    }

    /// What one list of values carries goes on in another.
    pub(super) fn carry_on(&mut self, from: &[Value], to: &[Value]) {
        for (from, &to) in from.iter().zip(to) {
            if let Some(&offset) = self.offsets.get(from) {
                self.offsets.insert(to, offset);
            }
        }
    }

    /// How a tensor in a layout meets memory; at most so many elements at once.
    pub(super) fn meeting(
        &mut self,
        layout: LayoutId,
        memory: Value,
        most: u64,
    ) -> Result<Meeting, AssignError> {
        let offset = self.view(memory).offset;
        let dtype = self.kernel.ty(memory).dtype();
        let memory = self.assignment.buffers(memory)?.layout.clone();
        let mut layout = self.assignment.layouts.get(layout).clone();
        // A part's elements are elements of the whole.
        let outs = memory.layout().outs().clone();
        for label in outs.labels() {
            if layout.outs().bits(label) < outs.bits(label) {
                layout = layout.resize_out(label, outs.bits(label))?;
            }
        }
        let bytes = dtype.in_memory().bytes();
        let mut most_log2 = (lane::MAX_ACCESS_BYTES / bytes).max(1).ilog2();
        most_log2 = most_log2.min(most.max(1).ilog2()).min(memory.aligned().max(1).ilog2());
        if offset != 0 {
            most_log2 = most_log2.min(offset.trailing_zeros());
        }
        let vectors = plan::vectorize(&layout, memory.layout(), most_log2)?;
        let found = layout.solve(memory.layout())?;
        let places = |label| -> Vec<u64> {
            let outs = found.outs();
            found.columns(label).iter().map(|&column| outs.coordinate(OFFSET, column)).collect()
        };
        let own = places(REGISTER);
        let registers = (0..1u64 << own.len())
            .map(|register| {
                let bits = own.iter().enumerate();
                let set = bits.filter(|(bit, _)| register >> bit & 1 == 1);
                set.fold(offset, |sum, (_, column)| sum ^ column)
            })
            .collect();
        Ok(Meeting {
            memory,
            vectors,
            registers,
            lanes: places(LANE),
            warps: places(WARP),
            bytes_log2: bytes.trailing_zeros(),
        })
    }

    /// The layout that a tensor is given, or else one that it has at no price.
    pub(super) fn place_of(&mut self, value: Value) -> Result<LayoutId, AssignError> {
        let place = match self.assignment.given(value) {
            Some(given) => given,
            None => self.anywhere(value)?,
        };
        Ok(place)
    }

    fn local_load(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        let (memory, result) = (op.operands[0], op.results[0]);
        let place = self.place_of(result)?;
        let view = self.view(memory);
        if let Some(registers) = self.whole_load(place, view, memory, self.orders.own[id])? {
            self.bind_tensor(result, place, registers.into());
            return Ok(());
        }
        let meeting = self.meeting(place, memory, u64::MAX)?;
        let truth = self.kernel.ty(result).dtype() == DType::I1;
        let dtype = self.kernel.ty(result).dtype().in_memory();
        let base = meeting.base(&mut self.build, view);
        let zero = self.build.constant(dtype, 0);
        let mut registers = vec![zero; meeting.registers.len()];
        for group in &meeting.vectors.groups {
            let (address, offset) = meeting.address(&mut self.build, view, base, group[0]);
            let how = Access { offset, ..Access::default() };
            let loaded = self.build.load(Space::Shared, how, dtype, group.len(), address, None);
            for (&register, value) in group.iter().zip(loaded) {
                registers[register as usize] =
                    if truth { movement::truth_of(&mut self.build, value) } else { value };
            }
        }
        let held: Vec<lane::Value> =
            meeting.vectors.holders.iter().map(|&holder| registers[holder as usize]).collect();
        self.bind_tensor(result, place, held.into());
        Ok(())
    }

    /// A whole buffer without gaps, loaded by the instructions that suit its layout best; nothing for
    /// other memory.
    fn whole_load(
        &mut self,
        place: LayoutId,
        view: View,
        memory: Value,
        is_own: bool,
    ) -> Result<Option<Vec<lane::Value>>, AssignError> {
        let Some(buffer) = self.whole(place, view, memory)? else { return Ok(None) };
        let dtype = self.kernel.ty(memory).dtype();
        let layout = self.assignment.layouts.get(place);
        let plan = plan::load(&buffer, layout, dtype.bytes() * 8, self.block.machine)?;
        if is_own && !plan.steps.iter().all(is_of_each_thread) {
            return Ok(None);
        }
        self.spend(plan.cost.total);
        Ok(Some(movement::write_load(&mut self.build, &plan, view.base, dtype)?))
    }

    /// The layout of a whole buffer without gaps that a tensor in a layout fills; nothing for other memory.
    fn whole(
        &self,
        place: LayoutId,
        view: View,
        memory: Value,
    ) -> Result<Option<Layout>, AssignError> {
        let padded = &self.assignment.buffers(memory)?.layout;
        let layout = self.assignment.layouts.get(place);
        let whole = padded.paddings().is_empty()
            && view.offset == 0
            && self.kernel.ty(memory).dtype() != DType::I1
            && padded.layout().outs() == layout.outs()
            && padded.layout().matrix().inverse().is_ok();
        Ok(whole.then(|| padded.layout().clone()))
    }

    /// Stores a tensor in memory.
    fn put(&mut self, source: Value, memory: Value) -> Result<(), AssignError> {
        let place = self.place_of(source)?;
        let values = self.get(source, place)?;
        let view = self.view(memory);
        if let Some(buffer) = self.whole(place, view, memory)? {
            let bits = self.kernel.ty(memory).dtype().bytes() * 8;
            let layout = self.assignment.layouts.get(place);
            let plan = plan::store(layout, &buffer, bits, self.block.machine)?;
            self.spend(plan.cost.total);
            movement::write_store(&mut self.build, &plan, view.base, values.to_vec())?;
            return Ok(());
        }
        let meeting = self.meeting(place, memory, u64::MAX)?;
        let base = meeting.base(&mut self.build, view);
        let acting = movement::takes_part(&mut self.build, meeting.vectors.acting);
        for group in &meeting.vectors.groups {
            let (address, offset) = meeting.address(&mut self.build, view, base, group[0]);
            let stored: Vec<lane::Value> = group
                .iter()
                .map(|&register| movement::byte_of(&mut self.build, values[register as usize]))
                .collect();
            let how = Access { offset, ..Access::default() };
            self.build.store(Space::Shared, how, address, acting, &stored);
        }
        Ok(())
    }
}
