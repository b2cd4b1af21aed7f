//! Where tensors lie in the shared memory of a software pipeline.
//!
//! What is copied from global memory and what is read of it are known by now, as layouts; the memory
//! between them is the best swizzle for both. A copy moves neighbours in global memory to neighbours in
//! shared memory, so the lowest bits of an offset are those of one copy.

use super::access::memory_order;
use super::{AssignError, Assignment, Block};
use crate::axis::AxisFacts;
use crate::id::IdMap;
use crate::tile::{Encoding, Kernel, Op, OpId, OpKind, SharedMemory, Value};
use std::sync::Arc;
use weft_layout::Layout;
use weft_layout::access::Kind;
use weft_layout::family::{Family, SharedLinear};
use weft_layout::plan::swizzle::{Access, Problem, solve};
use weft_layout::space::{Label, OFFSET, REGISTER};

/// The alignment that is written into the layouts, in bytes.
const ALIGNMENT: u64 = 16;

/// Gives every buffer that copies fill the layout that suits those who fill and read it, unless the
/// program says itself where its tensors live.
pub fn place_buffers(
    kernel: &mut Kernel,
    facts: &AxisFacts,
    assignment: &Assignment,
    block: Block<'_>,
) -> Result<(), AssignError> {
    if kernel.is_encoded() {
        return Ok(());
    }
    let mut allocated = Vec::new();
    kernel.walk(&kernel.body, &mut |_, op| {
        if op.kind == OpKind::LocalAlloc {
            allocated.extend(&op.results);
        }
    });
    for buffers in allocated {
        let found = Accesses::of(kernel, facts, assignment, buffers);
        let Some(memory) = found.memory(kernel, block, buffers)? else { continue };
        for value in found.views.into_iter().chain([buffers]) {
            let ty = &mut kernel.values[value].ty;
            if let Some(described) = ty.memory() {
                let described = SharedMemory { family: memory.clone(), ..described.clone() };
                ty.encoding = Some(Encoding::Shared(Arc::new(described)));
            }
        }
    }
    Ok(())
}

/// Who fills and reads some buffers.
struct Accesses {
    views: Vec<Value>,
    /// The elements that one copy moves, as places of the tensor.
    vector: Vec<u64>,
    list: Vec<Access>,
}

impl Accesses {
    fn of(kernel: &Kernel, facts: &AxisFacts, assignment: &Assignment, buffers: Value) -> Self {
        let mut viewed: IdMap<Value, bool> = IdMap::default();
        let mut found = Self { views: Vec::new(), vector: Vec::new(), list: Vec::new() };
        kernel.walk(&kernel.body, &mut |id, op| match op.kind {
            OpKind::MemdescIndex if op.operands.first() == Some(&buffers) => {
                viewed.set(op.results[0], true);
                found.views.extend(&op.results);
            }
            OpKind::AsyncCopy(_) if viewed[op.operands[1]] => {
                found.copy(kernel, facts, assignment, id, op);
            }
            OpKind::LocalLoad if viewed[op.operands[0]] => {
                let home = assignment.home(op.results[0]);
                let layout = home.map(|home| assignment.layouts.get(home).clone());
                found.add(layout.map(|layout| Access::new(Kind::Load, layout)));
            }
            _ => {}
        });
        found
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
        id: OpId,
        op: &Op,
    ) {
        let Some(place) = assignment.runs_in(id) else { return };
        let layout = assignment.layouts.get(place);
        let (pointers, mask) = (op.operands[0], op.operands.get(2).copied());
        if let Some(&axis) = memory_order(facts, pointers).first() {
            let dtype = kernel.ty(op.operands[1]).dtype();
            let widest = crate::lane::MAX_ACCESS_BYTES.into();
            let most = facts.vector_elements(pointers, mask, axis, dtype, widest);
            self.vector = along(layout, axis, most);
        }
        self.add(Some(Access::new(Kind::Store, layout.clone()).plain()));
    }

    /// The best layout; nothing where nobody fills the buffers, or none can be found.
    fn memory(
        &self,
        kernel: &Kernel,
        block: Block<'_>,
        buffers: Value,
    ) -> Result<Option<Family>, AssignError> {
        if !self.list.iter().any(|access| access.kind == Kind::Store) {
            return Ok(None);
        }
        let bits = kernel.ty(buffers).dtype().bytes() * 8;
        let mut problem = Problem::new(block.machine, bits, self.list.clone());
        problem.fixed.vector.clone_from(&self.vector);
        // Where the solver finds none, the plain layout stays: right, and slower.
        let Ok(solved) = solve(&problem) else { return Ok(None) };
        if !solved.rounds.is_empty() {
            return Ok(None);
        }
        let outs = solved.memory.outs();
        let coordinates = |&column: &u64| -> Vec<u64> {
            (0..outs.axes().len())
                .map(|dim| outs.coordinate(Label::dim(dim as u32), column))
                .collect()
        };
        let offset = solved.memory.columns(OFFSET).iter().map(coordinates).collect();
        let (block, alignment) = (Vec::new(), ALIGNMENT);
        Ok(Some(Family::SharedLinear(SharedLinear { offset, block, alignment })))
    }
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
