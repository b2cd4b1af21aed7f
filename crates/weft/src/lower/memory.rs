//! Loads, stores and atomics.
//!
//! An access runs in the layout that the assignment chose. Register bits that run along memory make
//! one vector instruction; copies of an element within a thread are accessed once, and copies across
//! threads are stored by one thread only. Where the masks of a vector are tested, it moves at once where all
//! are true, and one element after the other elsewhere.
//!
//! An atomic runs once for each element. The old value reaches the other holders of the element
//! through shared memory. A release waits for the whole block first, an acquire holds the whole block
//! back until it has happened.

use super::Lowerer;
use crate::assign::{AccessShape, AssignError, LayoutId};
use crate::atomic::{Atomic, Order, Scope};
use crate::cache::Cache;
use crate::dtype::DType;
use crate::lane::{self, Access, AtomicAccess, BarrierScope, IdKind, Op as LaneOp, Space};
use crate::movement;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{LoadOptions, Op, OpId, OpKind, Value};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;
use weft_layout::Layout;
use weft_layout::machine::Isa;
use weft_layout::plan::Vectors;
use weft_layout::space::{LANE, WARP};

impl Lowerer<'_> {
    /// The layout in which a memory operation runs, with its registers grouped into vectors, and whether
    /// the masks of these are tested.
    fn place(&mut self, id: OpId, op: &Op) -> Result<(LayoutId, Vectors, bool), AssignError> {
        let place = match self.assignment.runs_in(id) {
            Some(place) => place,
            None => self.anywhere(op.operands[0])?,
        };
        let layout = self.assignment.layouts.get(place);
        let shape = AccessShape::of(self.kernel, self.facts, self.block.machine, op, layout)?;
        let AccessShape { layout, vectors, tested, .. } = shape;
        Ok((self.assignment.layouts.intern(layout), vectors, tested))
    }

    /// The predicate of an instruction that moves these registers, and those of further ones that move
    /// them one by one where their masks are tested and not all are true.
    fn predicates(
        &mut self,
        masks: Option<&[lane::Value]>,
        group: &[u32],
        tested: bool,
    ) -> (Option<lane::Value>, Vec<lane::Value>) {
        let Some(masks) = masks else { return (None, Vec::new()) };
        let mut all = masks[group[0] as usize];
        if !tested || group.len() == 1 {
            return (Some(all), Vec::new());
        }
        for &register in &group[1..] {
            all = self.build.binary(Binary::And, all, masks[register as usize]);
        }
        let one = self.build.constant(DType::I1, 1);
        let rest = self.build.binary(Binary::Xor, all, one);
        let alone =
            |&register: &u32| self.build.binary(Binary::And, masks[register as usize], rest);
        (Some(all), group.iter().map(alone).collect())
    }

    /// The address of an access as base and offset, where the machine has accesses by these and the parts are
    /// known. Where all threads access one address and no predicate is in the way, that is no gain.
    pub(super) fn behind_base(&mut self, address: lane::Value, predicated: bool) -> lane::Value {
        let has_buffers = self.block.machine.isa == Isa::Amdgcn;
        if !has_buffers || !predicated && self.build.is_uniform(address) {
            return address;
        }
        self.build.behind_base(address).unwrap_or(address)
    }

    pub(super) fn load(
        &mut self,
        id: OpId,
        op: &Op,
        options: LoadOptions,
    ) -> Result<(), AssignError> {
        let result = op.results[0];
        let dtype = self.kernel.ty(result).dtype();
        let how = Access { cache: options.cache, volatile: options.volatile, ..Access::default() };
        if !self.kernel.ty(result).is_tensor() {
            self.load_scalar(op, dtype, how);
            return Ok(());
        }
        let (place, vectors, tested) = self.place(id, op)?;
        let mut operands: SmallVec<[Rc<[lane::Value]>; 3]> = smallvec![];
        for &operand in &op.operands {
            operands.push(self.get(operand, place)?);
        }
        let dtype = dtype.in_memory();
        let zero = self.build.constant(dtype, 0);
        let mut registers = vec![zero; operands[0].len()];
        for group in &vectors.groups {
            let address = operands[0][group[0] as usize];
            let mut others: Vec<lane::Value> = Vec::with_capacity(group.len());
            for &register in group {
                let other = operands.get(2).map(|other| other[register as usize]);
                others.push(other.map_or(zero, |other| movement::byte_of(&mut self.build, other)));
            }
            let masks = operands.get(1).map(|masks| &masks[..]);
            let (mask, alone) = self.predicates(masks, group, tested);
            let address = self.behind_base(address, mask.is_some());
            let guarded = mask.map(|mask| (mask, &others[..]));
            let count = group.len();
            let mut loaded = self.build.load(Space::Global, how, dtype, count, address, guarded);
            for (index, (&mask, value)) in alone.iter().zip(&mut loaded).enumerate() {
                let how = Access { offset: (index as u32 * dtype.bytes()) as i32, ..how };
                let guarded = Some((mask, &[*value][..]));
                *value = self.build.load(Space::Global, how, dtype, 1, address, guarded)[0];
            }
            for (&register, value) in group.iter().zip(loaded) {
                registers[register as usize] = self.value_of_loaded(value, result);
            }
        }
        let registers = held(&vectors, &registers);
        self.bind_moved(result, place, &registers)
    }

    fn load_scalar(&mut self, op: &Op, dtype: DType, how: Access) {
        let operands: SmallVec<[lane::Value; 3]> =
            op.operands.iter().map(|&operand| self.scalar(operand)).collect();
        let dtype = dtype.in_memory();
        let other = match operands.get(2) {
            Some(&other) => [movement::byte_of(&mut self.build, other)],
            None => [self.build.constant(dtype, 0)],
        };
        let mask = operands.get(1).copied();
        let address = self.behind_base(operands[0], mask.is_some());
        let value = if how.volatile {
            // Every thread must see the same value, so one of them looks.
            let first = self.first_thread();
            let predicate = self.build.and_predicates(Some(first), mask).unwrap_or(first);
            let guarded = Some((predicate, &other[..]));
            let seen = self.build.load(Space::Global, how, dtype, 1, address, guarded)[0];
            self.tell_all(seen, first)
        } else {
            let guarded = mask.map(|mask| (mask, &other[..]));
            self.build.load(Space::Global, how, dtype, 1, address, guarded)[0]
        };
        let value = self.value_of_loaded(value, op.results[0]);
        self.bind_scalar(op.results[0], value);
    }

    /// What was loaded for `result`: of a truth value's byte, the low bit.
    fn value_of_loaded(&mut self, loaded: lane::Value, result: Value) -> lane::Value {
        match self.kernel.ty(result).dtype() {
            DType::I1 => self.build.cast(Cast::Trunc, loaded, DType::I1),
            _ => loaded,
        }
    }

    pub(super) fn store(&mut self, id: OpId, op: &Op, cache: Cache) -> Result<(), AssignError> {
        let how = Access { cache, ..Access::default() };
        if !self.kernel.ty(op.operands[0]).is_tensor() {
            let operands: SmallVec<[lane::Value; 3]> =
                op.operands.iter().map(|&operand| self.scalar(operand)).collect();
            let first = Some(self.first_thread());
            let predicate = self.build.and_predicates(first, operands.get(2).copied());
            let stored = movement::byte_of(&mut self.build, operands[1]);
            let address = self.behind_base(operands[0], true);
            self.build.store(Space::Global, how, address, predicate, &[stored]);
            return Ok(());
        }
        let (place, vectors, tested) = self.place(id, op)?;
        let pointers = self.get(op.operands[0], place)?;
        let values = self.get(op.operands[1], place)?;
        let mask = match op.operands.get(2) {
            Some(&mask) => Some(self.get(mask, place)?),
            None => None,
        };
        let first = movement::takes_part(&mut self.build, vectors.acting);
        for group in &vectors.groups {
            let (mask, alone) = self.predicates(mask.as_deref(), group, tested);
            let predicate = self.build.and_predicates(first, mask);
            let stored: Vec<lane::Value> = group
                .iter()
                .map(|&register| movement::byte_of(&mut self.build, values[register as usize]))
                .collect();
            let address = self.behind_base(pointers[group[0] as usize], predicate.is_some());
            self.build.store(Space::Global, how, address, predicate, &stored);
            for (index, (&mask, &value)) in alone.iter().zip(&stored).enumerate() {
                let bytes = self.build.dtype(value).bytes();
                let how = Access { offset: (index as u32 * bytes) as i32, ..how };
                let predicate = self.build.and_predicates(first, Some(mask));
                self.build.store(Space::Global, how, address, predicate, &[value]);
            }
        }
        Ok(())
    }

    pub(super) fn atomic(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        let OpKind::Atomic { op: what, order, scope } = op.kind else { return Ok(()) };
        if order.releases() {
            self.build.barrier(BarrierScope::Block);
        }
        let told = if self.kernel.ty(op.operands[0]).is_tensor() {
            self.atomic_tensor(id, op, what, (order, scope))?
        } else {
            let operands: Vec<lane::Value> =
                op.operands.iter().map(|&operand| self.scalar(operand)).collect();
            let first = self.first_thread();
            let rows: Vec<&[lane::Value]> = operands.iter().map(core::slice::from_ref).collect();
            let old = self.atomic_elements(what, (order, scope), &rows, Some(first))[0];
            let result = op.results[0];
            let told = self.used[result];
            let old = if told { self.tell_all(old, first) } else { old };
            self.bind_scalar(result, old);
            told
        };
        // An acquire holds the block back until it has happened; so did telling what was there.
        if order.acquires() && !told {
            self.build.barrier(BarrierScope::Block);
        }
        Ok(())
    }

    /// Gives whether all of the block waited to be told what was there.
    fn atomic_tensor(
        &mut self,
        id: OpId,
        op: &Op,
        what: Atomic,
        (order, scope): (Order, Scope),
    ) -> Result<bool, AssignError> {
        let (place, vectors, _) = self.place(id, op)?;
        let mut operands: Vec<Rc<[lane::Value]>> = Vec::new();
        for &operand in &op.operands {
            operands.push(self.get(operand, place)?);
        }
        let layout = self.assignment.layouts.get(place).clone();
        let first = movement::takes_part(&mut self.build, vectors.acting);
        let mut old = operands[1].to_vec();
        // Of several atomics, none of which comes before another, fences order all at once.
        let fenced = vectors.groups.len() > 1;
        if fenced && order.releases() {
            self.build.fence(Order::Release, scope);
        }
        let how = (if fenced { Order::Relaxed } else { order }, scope);
        for group in &vectors.groups {
            let rows: Vec<Vec<lane::Value>> = (operands.iter())
                .map(|operand| group.iter().map(|&register| operand[register as usize]).collect())
                .collect();
            let rows: Vec<&[lane::Value]> = rows.iter().map(|row| &row[..]).collect();
            let found = self.atomic_elements(what, how, &rows, first);
            for (&register, &found) in group.iter().zip(&found) {
                old[register as usize] = found;
            }
        }
        if fenced && order.acquires() {
            self.build.fence(Order::Acquire, scope);
        }
        let mut old = held(&vectors, &old);
        let result = op.results[0];
        let tellers = first.filter(|_| self.used[result]);
        if let Some(first) = tellers {
            old = self.tell_copies(&layout, old, first);
        }
        if self.used[result] {
            self.bind_moved(result, place, &old)?;
        } else {
            self.bind_tensor(result, place, old.into());
        }
        Ok(tellers.is_some())
    }

    /// One atomic on elements that lie side by side under one mask; of each operand, the value for each.
    fn atomic_elements(
        &mut self,
        op: Atomic,
        (order, scope): (Order, Scope),
        operands: &[&[lane::Value]],
        first: Option<lane::Value>,
    ) -> Vec<lane::Value> {
        let (values, masks) = operands[1..].split_at(op.values());
        let predicate = self.build.and_predicates(first, masks.first().map(|masks| masks[0]));
        let (space, predicated) = (Space::Global, predicate.is_some());
        let access = AtomicAccess { space, op, order, scope, predicated };
        let mut all: SmallVec<[lane::Value; 4]> = smallvec![operands[0][0]];
        all.extend(predicate);
        all.extend(values.iter().copied().flatten().copied());
        let dtype = self.build.dtype(operands[1][0]);
        self.build.emit(LaneOp::Atomic(access), all, &vec![dtype; operands[1].len()]).to_vec()
    }

    /// Whether this is the first thread of the block.
    pub(super) fn first_thread(&mut self) -> lane::Value {
        let thread = self.build.id(IdKind::Thread);
        let zero = self.build.i32(0);
        self.build.compare(Compare::Eq, thread, zero)
    }

    /// Gives every thread the value that the first thread has.
    fn tell_all(&mut self, value: lane::Value, first: lane::Value) -> lane::Value {
        let dtype = self.build.dtype(value);
        let shared = self.build.shared(dtype.bytes(), dtype.bytes(), BarrierScope::Block);
        let address = self.build.shared_base(shared);
        let how = Access::default();
        self.build.store(Space::Shared, how, address, Some(first), &[value]);
        self.build.barrier(BarrierScope::Block);
        self.build.load(Space::Shared, how, dtype, 1, address, None)[0]
    }

    /// Gives every holder of an element the value that its first holder has.
    fn tell_copies(
        &mut self,
        layout: &Layout,
        values: Vec<lane::Value>,
        first: lane::Value,
    ) -> Vec<lane::Value> {
        let Some(&value) = values.first() else { return values };
        let dtype = self.build.dtype(value);
        let bytes = dtype.bytes() << layout.outs().total_bits();
        let shared = self.build.shared(bytes, dtype.bytes().max(16), BarrierScope::Block);
        let base = self.build.shared_base(shared);
        let place =
            movement::thread_map(&mut self.build, layout.columns(LANE), layout.columns(WARP));
        let how = Access::default();
        let mut addresses = Vec::with_capacity(values.len());
        for (register, &value) in values.iter().enumerate() {
            let part = self.build.i32(layout.apply_flat(register as u64) as i32);
            let element = self.build.binary(Binary::Xor, place, part);
            let size = self.build.i32(dtype.bytes() as i32);
            let offset = self.build.binary(Binary::Mul, element, size);
            let address = self.build.binary(Binary::Add, base, offset);
            self.build.store(Space::Shared, how, address, Some(first), &[value]);
            addresses.push(address);
        }
        self.build.barrier(BarrierScope::Block);
        let load = |&address| self.build.load(Space::Shared, how, dtype, 1, address, None)[0];
        addresses.iter().map(load).collect()
    }
}

/// A value for each register, from those of the registers that were moved.
fn held(vectors: &Vectors, moved: &[lane::Value]) -> Vec<lane::Value> {
    vectors.holders.iter().map(|&holder| moved[holder as usize]).collect()
}
