//! Homes that the program gives.
//!
//! Every tensor of TTGIR has its layout. Free values have no home here either: an operation computes them in
//! its own layout, which is the one that the text gives them too.

use super::classes::find_free;
use super::shape::{is_elementwise, is_shape_op};
use super::{AssignError, Assignment, Block, Reason, product};
use crate::tile::{Kernel, Launch, OpKind};

/// The homes that the types of a kernel give; nothing where they give none.
pub(super) fn homes(kernel: &Kernel, block: Block<'_>) -> Result<Option<Assignment>, AssignError> {
    if !kernel.is_encoded() {
        return Ok(None);
    }
    let launch =
        Launch { warps: Some(block.warps), lanes: Some(block.machine.lanes()), target: None };
    let mut assignment = Assignment::empty(find_free(kernel), Reason::Given);
    let definitions = kernel.definitions();
    for (value, data) in kernel.values.iter().filter(|(_, value)| value.ty.is_tensor()) {
        let misplaced = |misplaced| AssignError::Given {
            name: kernel.value_name(value),
            ty: data.ty.to_string(),
            misplaced: Box::new(misplaced),
        };
        data.ty.check_encoding(&launch).map_err(misplaced)?;
        let Some(layout) = data.ty.given_layout() else {
            // What the reader wrote anew on the way to a given layout is computed there.
            match definitions[value].map(|op| &kernel.ops[op].kind) {
                Some(kind) if is_elementwise(kind) || is_shape_op(kind) || is_made(kind) => {
                    continue;
                }
                _ => return Err(AssignError::NotGiven { name: kernel.value_name(value) }),
            }
        };
        let layout = assignment.layouts.intern(layout.map_err(misplaced)?);
        assignment.given.set(value, Some(layout));
        if !assignment.free[value] {
            assignment.set_registers(value, Some(layout));
        }
    }
    kernel.walk(&kernel.body, &mut |id, op| {
        let place = match &op.kind {
            kind if kind.by_pointers().is_some() => {
                op.operands.first().and_then(|&value| assignment.given[value])
            }
            OpKind::Reduce { .. } => {
                op.operands.iter().find_map(|&value| assignment.registers(value))
            }
            OpKind::Scan { .. } => assignment.registers(op.results[0]),
            kind if product::is_product(kind) => assignment.registers(op.results[0]),
            _ => None,
        };
        if place.is_some() {
            assignment.runs_in.set(id, place);
        }
    });
    let mut products = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        if product::is_product(&op.kind) {
            products.push(id);
        }
    });
    for id in products {
        let op = &kernel.ops[id];
        if matches!(op.kind, OpKind::WarpgroupDot(_)) {
            let given = [op.results[0], op.operands[0]].map(|value| assignment.given[value]);
            let layouts = &mut assignment.layouts;
            let found = product::given_to_warpgroups(kernel, op, block, layouts, given)?;
            let name = || AssignError::NoWarpgroup { name: kernel.value_name(op.results[0]) };
            assignment.products.set(id, Some(found.ok_or_else(name)?));
            continue;
        }
        let Some([left, right]) = op.factors() else { continue };
        let [left, right, sum] = [left, right, op.results[0]].map(|value| assignment.given[value]);
        if let (Some(left), Some(right), Some(sum)) = (left, right, sum) {
            let layouts = &mut assignment.layouts;
            let found = match op.kind {
                OpKind::DotScaled(_) => {
                    product::given_scaled(kernel, op, block, layouts, [left, right, sum])?
                }
                _ => product::given(kernel, op, block, layouts, [left, right, sum])?,
            };
            assignment.products.set(id, Some(found));
        }
    }
    Ok(Some(assignment))
}

/// Whether an operation computes each element from its operands wherever somebody asks for it.
fn is_made(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Constant(_)
            | OpKind::Poison
            | OpKind::MakeRange { .. }
            | OpKind::Splat
            | OpKind::Join
            | OpKind::Split
            | OpKind::ConvertLayout
    )
}
