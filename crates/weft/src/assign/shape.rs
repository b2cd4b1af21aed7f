//! Operations that only rename elements, and operations that keep them in place.

use crate::tile::OpKind;
use weft_layout::space::REGISTER;
use weft_layout::{Layout, LayoutError};

/// Whether an operation renames the elements of a tensor and moves nothing.
pub fn is_shape_op(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Trans { .. }
            | OpKind::Reshape { .. }
            | OpKind::ExpandDims { .. }
            | OpKind::Broadcast
    )
}

/// Whether an operation computes each element from those of its operands in the same place.
pub fn is_elementwise(kind: &OpKind) -> bool {
    kind.is_elementwise()
}

/// The layout of a shape operation's operand, given that of its result.
pub fn operand_layout(
    kind: &OpKind,
    result: &Layout,
    operand_shape: &[u64],
) -> Result<Layout, LayoutError> {
    match kind {
        OpKind::Trans { order } => {
            let order: Vec<usize> = order.iter().map(|&axis| usize::from(axis)).collect();
            result.transpose_back(&order)
        }
        OpKind::Broadcast => result.broadcast_back(operand_shape),
        _ => result.reshape(operand_shape),
    }
}

/// The layout of the result of a shape operation, `join` or `split`, given that of its operand.
pub fn result_layout(
    kind: &OpKind,
    operand: &Layout,
    shape: &[u64],
) -> Result<Layout, LayoutError> {
    match kind {
        OpKind::Trans { order } => {
            let order: Vec<usize> = order.iter().map(|&axis| usize::from(axis)).collect();
            operand.transpose(&order)
        }
        OpKind::Broadcast => operand.broadcast(shape),
        OpKind::Join => operand.remove_zero_columns(REGISTER)?.0.join(),
        OpKind::Split => match operand.split() {
            Ok((half, _)) => Ok(half),
            // The halves lie in different threads; both of them get the first half's places.
            Err(_) => Ok(operand.slice(shape.len())?.remove_zero_columns(REGISTER)?.0),
        },
        _ => operand.reshape(shape),
    }
}
