//! Loops that run once, which are their bodies, loops that never run, which are nothing, and branches of which it is
//! known which is taken.
//!
//! ```text
//! %s = for %i = 0 to 4096 step 4096 (%sum = %zero) {
//!   %new = ..%i..%sum..                                   ==>     %new = ..0..%zero..
//!   yield %new
//! }                                                               %new for %s
//! ```
//!
//! A block that is as large as what its kernel loops over is common where sizes of blocks are tried out. What the
//! loop begins with are constants then, of which much can be computed.
//!
//! Outside of loops, a branch whose sides make tensors by one plain operation each at most is both of its sides, and
//! selections among what they make. An assembler moves no load across a branch, so all of such a tensor would be loaded
//! in front of it, and nothing behind it sooner:
//!
//! ```text
//! %w = load …                                           %w = load …
//! %v = if %centred { %w + 1 } else { %w }       ==>     %one = %w + 1
//! %b = load …                                           %v = select %centred, %one, %w
//! ```

use crate::axis::AxisFacts;
use crate::id::IdMap;
use crate::scalar::{Binary, Unary};
use crate::tile::{Element, Kernel, Op, OpId, OpKind, Region, Value};

/// What of an operation with regions runs.
#[derive(Clone, Copy)]
enum Runs {
    Never,
    /// The region of that number, once.
    Once(usize),
    /// All regions, and then one is chosen.
    All,
}

/// The kernel without such loops and branches; nothing where it has none.
pub fn run(kernel: &Kernel, facts: &AxisFacts) -> Option<Kernel> {
    let mut known = IdMap::<OpId, Option<Runs>>::default();
    let mut any = false;
    let mut in_loops = IdMap::<OpId, bool>::default();
    kernel.walk(&kernel.body, &mut |id, op| {
        let runs = match op.kind {
            OpKind::For(_) | OpKind::While => {
                for region in &op.regions {
                    kernel.walk(region, &mut |inner, _| in_loops.set(inner, true));
                }
                if matches!(op.kind, OpKind::For(_)) { rounds(facts, &op.operands) } else { None }
            }
            OpKind::If => match facts.get(op.operands[0]).constant {
                Some(condition) => Some(Runs::Once(usize::from(condition == 0))),
                None => (!in_loops[id] && only_chooses(kernel, op)).then_some(Runs::All),
            },
            _ => None,
        };
        known.set(id, runs);
        any |= runs.is_some();
    });
    any.then(|| {
        let mut kernel = kernel.clone();
        let mut inlined = Inlined { known, values: IdMap::default() };
        let body = core::mem::take(&mut kernel.body);
        kernel.body = inlined.region(&mut kernel, body);
        kernel
    })
}

/// How often a loop with these operands runs, as far as intervals of its bounds and its step tell.
fn rounds(facts: &AxisFacts, operands: &[Value]) -> Option<Runs> {
    let &[low, high, step, ..] = operands else { return None };
    let [low, high, step] = [low, high, step].map(|value| facts.get(value).range);
    if step.low <= 0 {
        return None;
    }
    if low.low >= high.high {
        return Some(Runs::Never);
    }
    // The counter of a second round would be no less than the end; that of the first is.
    let second = i128::from(low.low) + i128::from(step.low);
    (low.high < high.low && second >= high.high.into()).then_some(Runs::Once(0))
}

/// Whether a branch makes nothing but tensors of numbers, by one plain operation each at most.
fn only_chooses(kernel: &Kernel, op: &Op) -> bool {
    let is_tensor = |&result: &Value| {
        let ty = kernel.ty(result);
        ty.is_tensor() && matches!(ty.element, Element::Scalar(_))
    };
    let mut plain = 0;
    let mut others = false;
    for &id in op.regions.iter().flat_map(|region| &region.ops) {
        match kernel.ops[id].kind {
            OpKind::Constant(_)
            | OpKind::MakeRange { .. }
            | OpKind::Splat
            | OpKind::Broadcast
            | OpKind::ExpandDims { .. }
            | OpKind::Yield => {}
            OpKind::Binary(
                Binary::Add | Binary::Sub | Binary::Mul | Binary::And | Binary::Or | Binary::Xor,
            )
            | OpKind::Unary(Unary::Neg | Unary::Abs)
            | OpKind::Select => plain += 1,
            _ => others = true,
        }
    }
    !others
        && !op.results.is_empty()
        && op.results.iter().all(is_tensor)
        && plain <= op.results.len()
}

struct Inlined {
    known: IdMap<OpId, Option<Runs>>,
    /// What stands for values of the operations that are gone.
    values: IdMap<Value, Option<Value>>,
}

impl Inlined {
    fn region(&mut self, kernel: &mut Kernel, region: Region) -> Region {
        let mut ops = Vec::with_capacity(region.ops.len());
        self.move_into(kernel, region.ops, &mut ops);
        Region { ops, ..region }
    }

    /// Appends operations, with bodies in place of loops.
    fn move_into(&mut self, kernel: &mut Kernel, from: Vec<OpId>, into: &mut Vec<OpId>) {
        for id in from {
            for operand in &mut kernel.ops[id].operands {
                *operand = self.values[*operand].unwrap_or(*operand);
            }
            let regions = core::mem::take(&mut kernel.ops[id].regions);
            match self.known[id] {
                None => {
                    kernel.ops[id].regions =
                        regions.into_iter().map(|inner| self.region(kernel, inner)).collect();
                    into.push(id);
                }
                Some(Runs::Never) => {
                    self.stand_for(kernel, id, kernel.ops[id].operands[3..].to_vec());
                }
                Some(Runs::All) => {
                    let mut sides = Vec::new();
                    for Region { ops, .. } in regions {
                        self.move_into(kernel, ops, into);
                        let last = into.pop();
                        sides.push(last.map_or(vec![], |last| kernel.ops[last].operands.clone()));
                    }
                    choose(kernel, id, &sides, into);
                }
                Some(Runs::Once(number)) => {
                    for Region { params, ops } in regions.into_iter().skip(number).take(1) {
                        if !params.is_empty() {
                            let inits = kernel.ops[id].operands[3..].to_vec();
                            let entering =
                                core::iter::once(kernel.ops[id].operands[0]).chain(inits);
                            for (param, value) in params.into_iter().zip(entering) {
                                self.values.set(param, Some(value));
                            }
                        }
                        self.move_into(kernel, ops, into);
                        let last = into.pop();
                        let handed = last.map(|last| kernel.ops[last].operands.clone());
                        self.stand_for(kernel, id, handed.unwrap_or_default());
                    }
                }
            }
        }
    }

    /// Lets values stand for the results of an operation.
    fn stand_for(&mut self, kernel: &Kernel, id: OpId, values: Vec<Value>) {
        for (&result, value) in kernel.ops[id].results.iter().zip(values) {
            self.values.set(result, Some(value));
        }
    }
}

/// Appends selections in place of a branch, among what its sides hand on.
fn choose(kernel: &mut Kernel, id: OpId, sides: &[Vec<Value>], into: &mut Vec<OpId>) {
    let Op { operands, results, loc, span, .. } = kernel.ops[id].clone();
    for (index, result) in results.into_iter().enumerate() {
        let mut chosen = vec![operands[0]];
        chosen.extend(sides.iter().filter_map(|side| side.get(index)));
        into.push(kernel.ops.push(Op {
            kind: OpKind::Select,
            operands: chosen,
            results: vec![result],
            regions: Vec::new(),
            loc,
            span,
            spelled: false,
        }));
    }
}
