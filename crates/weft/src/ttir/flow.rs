//! Branches between blocks become `if`s.
//!
//! Triton prints blocks and `cf` branches only for `return` in the middle of a function; all other
//! control is `scf`. So the graph of blocks has no cycles, and a branch on a condition becomes an
//! `if` around the blocks up to where both ways meet again:
//!
//! ```text
//!   cond_br %c, ^a, ^b            if %c { a } else { b; rest }
//! ^a:                      ==>    return
//!   return
//! ^b:
//!   …
//! ```
//!
//! Where the ways meet in a block, that block follows the `if`. Where they meet only at the
//! function's end, each way goes on to its own `return`; a block that both reach is then built twice.

use super::MAX_BLOCKS;
use super::build::{Builder, Ending};
use super::syntax::{Action, Block, Errors, Function, Operation, Successor};
use crate::diagnostic::{Diagnostic, Span};
use crate::tile::{OpId, OpKind, Region, Type, Value};
use std::collections::BTreeMap;

/// Where the ways from each block lead and meet.
pub(super) struct Flow {
    /// The blocks that follow each block.
    next: Vec<Vec<usize>>,
    /// Where all ways from each block meet again; `None` for the function's end.
    meets: Vec<Option<usize>>,
}

impl Flow {
    /// Looks at a function's blocks; refuses unknown labels and cycles.
    pub(super) fn of(function: &Function<'_>, errors: &mut Errors) -> Option<Self> {
        let blocks = &function.blocks;
        if blocks.len() > MAX_BLOCKS {
            let message = format!("a function has at most {MAX_BLOCKS} blocks");
            errors.push(Diagnostic::new(function.name_span, message));
            return None;
        }
        let next = successors(blocks, errors)?;
        let order = post_order(&next).map_err(|at| {
            let span = blocks.get(at).and_then(|block| block.operations.last()).map(|op| op.span);
            let message = "a loop made of branches is not supported";
            let error = Diagnostic::new(span.unwrap_or_default(), message);
            errors.push(error.with_hint("loops are `scf.for` and `scf.while`"));
        });
        let meets = meeting_points(&next, &order.ok()?);
        Some(Self { next, meets })
    }
}

/// The numbers of the blocks that each block may go to.
fn successors(blocks: &[Block<'_>], errors: &mut Errors) -> Option<Vec<Vec<usize>>> {
    let mut by_label = BTreeMap::new();
    for (index, block) in blocks.iter().enumerate() {
        if !block.label.is_empty() && by_label.insert(block.label, index).is_some() {
            let message = format!("the block `^{}` is defined twice", block.label);
            errors.push(Diagnostic::new(block.label_span, message));
            return None;
        }
    }
    let mut complete = true;
    let mut next = Vec::new();
    for block in blocks {
        let mut targets = Vec::new();
        for successor in block.operations.last().map_or(&[][..], |last| &last.successors) {
            match by_label.get(successor.label) {
                Some(&target) => targets.push(target),
                None => {
                    let message = format!("the block `^{}` is not defined", successor.label);
                    errors.push(Diagnostic::new(successor.span, message));
                    complete = false;
                }
            }
        }
        next.push(targets);
    }
    complete.then_some(next)
}

/// The blocks that can be reached, each after all that follow it; or a block that closes a cycle.
fn post_order(next: &[Vec<usize>]) -> Result<Vec<usize>, usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; next.len()];
    let mut order = Vec::new();
    // A block, and how many of its successors have been looked at.
    let mut stack = vec![(0usize, 0usize)];
    while let Some((block, looked_at)) = stack.last_mut() {
        let block = *block;
        if *looked_at == 0
            && let Some(mark) = marks.get_mut(block)
        {
            *mark = Mark::Open;
        }
        let target = next.get(block).and_then(|targets| targets.get(*looked_at));
        *looked_at += 1;
        match target.map(|&target| (target, marks.get(target))) {
            Some((target, Some(Mark::New))) => stack.push((target, 0)),
            Some((_, Some(Mark::Open))) => return Err(block),
            Some(_) => {}
            None => {
                if let Some(mark) = marks.get_mut(block) {
                    *mark = Mark::Done;
                }
                order.push(block);
                stack.pop();
            }
        }
    }
    Ok(order)
}

/// Immediate post-dominators: in an order where successors come first, the first block on both
/// chains of meeting points.
fn meeting_points(next: &[Vec<usize>], order: &[usize]) -> Vec<Option<usize>> {
    let mut meets = vec![None; next.len()];
    // How far each block is from the end along the chain of meeting points.
    let mut height = vec![0usize; next.len()];
    let height_of = |height: &[usize], block: Option<usize>| {
        block.and_then(|block| height.get(block)).map_or(0, |height| height + 1)
    };
    for &block in order {
        let mut targets = next.get(block).into_iter().flatten().copied();
        let mut meeting = targets.next();
        for target in targets {
            let mut other = Some(target);
            while meeting != other {
                let (ours, theirs) = (height_of(&height, meeting), height_of(&height, other));
                let follow = |at: Option<usize>| at.and_then(|at| meets.get(at).copied().flatten());
                if ours >= theirs {
                    meeting = follow(meeting);
                }
                if theirs >= ours {
                    other = follow(other);
                }
            }
        }
        let above = height_of(&height, meeting);
        if let (Some(slot), Some(level)) = (meets.get_mut(block), height.get_mut(block)) {
            *slot = meeting;
            *level = above;
        }
    }
    meets
}

impl<'a, 'r> Builder<'a, 'r> {
    /// Builds block `at` and what follows, up to block `stop` or the function's end.
    pub(super) fn blocks(
        &mut self,
        function: &'r Function<'a>,
        flow: &Flow,
        mut at: usize,
        stop: Option<usize>,
        out: &mut Vec<OpId>,
    ) -> Option<Ending> {
        loop {
            let block = function.blocks.get(at)?;
            let Some((last, body)) = block.operations.split_last() else {
                self.errors.push(Diagnostic::new(block.label_span, "this block is empty"));
                return None;
            };
            for operation in body {
                self.operation(operation, out);
            }
            if !self.visit(last) {
                return None;
            }
            let (loc, span) = (self.place(last.loc), last.span);
            let next = flow.next.get(at).map_or(&[][..], Vec::as_slice);
            match (&last.action, &last.successors[..], next) {
                (Action::Return, ..) => {
                    let (types, wanted) = (&last.operand_types, &function.result_types);
                    let values = self.handed(&last.operands, types, wanted, span)?;
                    return Some(Ending { values, loc, span });
                }
                (Action::Branch, [successor], [target]) => {
                    let values = self.along(function, successor, *target)?;
                    if Some(*target) == stop {
                        return Some(Ending { values, loc, span });
                    }
                    self.enter(function, *target, values);
                    at = *target;
                }
                (Action::CondBranch, ..) => {
                    let meeting = flow.meets.get(at).copied().flatten();
                    let values = self.cond_branch(function, flow, meeting, last, next, out)?;
                    match meeting {
                        Some(target) if Some(target) != stop => {
                            self.enter(function, target, values);
                            at = target;
                        }
                        _ => return Some(Ending { values, loc, span }),
                    }
                }
                (Action::Broken, ..) => return None,
                _ => {
                    let message = "a function's block ends with `tt.return` or a branch";
                    self.errors.push(Diagnostic::new(span, message));
                    return None;
                }
            }
        }
    }

    /// The values handed over along a branch.
    fn along(
        &mut self,
        function: &'r Function<'a>,
        successor: &Successor<'a>,
        target: usize,
    ) -> Option<Vec<Value>> {
        let wanted = param_types(function, target);
        self.handed(&successor.operands, &successor.types, &wanted, successor.span)
    }

    /// Binds the parameters of a block to what was handed over.
    fn enter(&mut self, function: &'r Function<'a>, target: usize, values: Vec<Value>) {
        let params = function.blocks.get(target).map_or(&[][..], |block| &block.params);
        for (param, value) in params.iter().zip(values) {
            self.bind(param.name, param.span, Some(vec![value]));
        }
    }

    /// Builds an `if` whose regions go on to where both ways meet; what they hand over there.
    fn cond_branch(
        &mut self,
        function: &'r Function<'a>,
        flow: &Flow,
        meeting: Option<usize>,
        last: &'r Operation<'a>,
        next: &[usize],
        out: &mut Vec<OpId>,
    ) -> Option<Vec<Value>> {
        let (condition, ty) = (last.operands.first()?, last.operand_types.first()?);
        let condition = self.operand(condition, ty)?;
        let types = match meeting {
            Some(target) => param_types(function, target),
            None => function.result_types.clone(),
        };
        let results = if types.is_empty() { Vec::new() } else { self.new_results("met", &types) };
        let loc = self.place(last.loc);
        let id = self.push(OpKind::If, vec![condition], results.clone(), loc, last.span, out);
        for (successor, &target) in last.successors.iter().zip(next) {
            let region = self.in_region(last.span, |builder| {
                let mut ops = Vec::new();
                let values = builder.along(function, successor, target)?;
                let end = if Some(target) == meeting {
                    let span = Span { start: successor.span.start, end: successor.span.end };
                    Ending { values, loc, span }
                } else {
                    builder.enter(function, target, values);
                    builder.blocks(function, flow, target, meeting, &mut ops)?
                };
                let Ending { values, loc, span } = end;
                builder.push(OpKind::Yield, values, Vec::new(), loc, span, &mut ops);
                Some(Region { params: Vec::new(), ops })
            })?;
            self.set_region(id, region);
        }
        Some(results)
    }
}

/// The types of a block's parameters.
fn param_types(function: &Function<'_>, target: usize) -> Vec<Type> {
    let params = function.blocks.get(target).map_or(&[][..], |block| &block.params);
    params.iter().map(|param| param.ty.clone()).collect()
}
