//! Loops in two, one after the other.
//!
//! ```text
//! %s = for %i = low to high step d (%sum = %zero) { body }
//!   ==>
//! %t = for %i = low to middle step d (%sum = %zero) { body }
//! %s = for %i = middle to high step d (%sum = %t) { body }
//! ```
//!
//! What differs between the rounds of the two is then known in each: that masks are true ([`whole`](crate::whole)),
//! or which branch is taken ([`first`](crate::first)).

use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::Compare;
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Type, Value, ValueData};

/// Where a loop is split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// The counter of the second part's first round.
    pub(crate) middle: i64,
    /// Whether the loop may have no round at all. If so, the first part is asked first whether there is one.
    pub(crate) may_be_empty: bool,
}

/// The kernel with loops split at these places, and the loops of the first parts; nothing where no loop is.
pub(crate) fn run(
    kernel: &Kernel,
    place: impl Fn(&Op) -> Option<Place>,
) -> Option<(Kernel, Vec<OpId>)> {
    let mut places = IdMap::<OpId, Option<Place>>::default();
    let mut any = false;
    kernel.walk(&kernel.body, &mut |id, op| {
        if let Some(place) = place(op) {
            places.set(id, Some(place));
            any = true;
        }
    });
    any.then(|| {
        let mut split = Split { kernel: kernel.clone(), places, fronts: Vec::new() };
        let body = core::mem::take(&mut split.kernel.body);
        split.kernel.body = split.region(body);
        (split.kernel, split.fronts)
    })
}

/// The bounds and the step of a loop over constants, of which the upper bound may be unknown, with a step forward.
pub(crate) fn bounds(facts: &AxisFacts, op: &Op) -> Option<(i64, Option<i64>, i64)> {
    let (OpKind::For(_), &[low, high, step, ..]) = (&op.kind, &op.operands[..]) else {
        return None;
    };
    let constant = |value: Value| {
        let range = facts.get(value).range;
        (range.low == range.high).then_some(range.low)
    };
    Some((constant(low)?, constant(high), constant(step).filter(|&step| step > 0)?))
}

struct Split {
    kernel: Kernel,
    places: IdMap<OpId, Option<Place>>,
    fronts: Vec<OpId>,
}

impl Split {
    fn region(&mut self, region: Region) -> Region {
        let mut ops = Vec::with_capacity(region.ops.len());
        for id in region.ops {
            let regions = core::mem::take(&mut self.kernel.ops[id].regions);
            self.kernel.ops[id].regions =
                regions.into_iter().map(|inner| self.region(inner)).collect();
            if let Some(place) = self.places[id] {
                self.in_two(id, place, &mut ops);
            }
            ops.push(id);
        }
        Region { ops, ..region }
    }

    /// Puts the first part in front of a loop, which goes on where that ends.
    fn in_two(&mut self, id: OpId, place: Place, ops: &mut Vec<OpId>) {
        // What the source promises of the step it does not promise of this place.
        let ty = self.kernel.ty(self.kernel.ops[id].operands[2]).clone();
        let bits = place.middle as u64 & ty.dtype().mask();
        let middle = self.of_loop(id, OpKind::Constant(bits), vec![], ty, ops);
        let front = self.kernel.copy_of(id, &mut IdMap::default());
        self.fronts.push(front);
        self.kernel.ops[front].operands[1] = middle;
        let first = if place.may_be_empty { self.if_any_round(id, front, ops) } else { front };
        let results = self.kernel.ops[first].results.clone();
        let rest = &mut self.kernel.ops[id].operands;
        rest[0] = middle;
        rest.splice(3.., results);
        ops.push(first);
    }

    /// A branch with the first part of a loop, which hands on what the loop begins with where that has no round.
    fn if_any_round(&mut self, id: OpId, front: OpId, ops: &mut Vec<OpId>) -> OpId {
        let Op { operands, results, .. } = self.kernel.ops[id].clone();
        let ty = Type::scalar(DType::I1);
        let any = self.of_loop(id, OpKind::Compare(Compare::Slt), operands[..2].to_vec(), ty, ops);
        let handed = self.kernel.ops[front].results.clone();
        let regions = [(vec![front], handed), (vec![], operands[3..].to_vec())];
        let regions = regions.map(|(mut ops, handed)| {
            let last = self.op_of_loop(id, OpKind::Yield, handed, vec![], vec![]);
            ops.push(last);
            Region { params: vec![], ops }
        });
        let results = self.kernel.copies_of(&results, &mut IdMap::default());
        self.op_of_loop(id, OpKind::If, vec![any], results, regions.to_vec())
    }

    /// Appends an operation with one result, from the place of a loop.
    fn of_loop(
        &mut self,
        id: OpId,
        kind: OpKind,
        operands: Vec<Value>,
        ty: Type,
        ops: &mut Vec<OpId>,
    ) -> Value {
        let result = self.kernel.values.push(ValueData::new(ty, None));
        ops.push(self.op_of_loop(id, kind, operands, vec![result], vec![]));
        result
    }

    /// An operation from the place of a loop.
    fn op_of_loop(
        &mut self,
        id: OpId,
        kind: OpKind,
        operands: Vec<Value>,
        results: Vec<Value>,
        regions: Vec<Region>,
    ) -> OpId {
        let Op { loc, span, .. } = self.kernel.ops[id];
        self.kernel.ops.push(Op { kind, operands, results, regions, loc, span, spelled: false })
    }
}
