//! Layouts made of layouts: composition, products, quotients, inverses, other shapes.

use crate::answer::LayoutAnswer;
use crate::bases::LayoutSource;
use crate::error::ApiError;
use crate::layouts;
use crate::reading::{Reading, read};
use crate::request::{LayoutRequest, OperateRequest, Operator};
use weft_layout::family::FamilyError;
use weft_layout::{Layout, LayoutError};

/// What an operator makes of layouts.
///
/// ```
/// use weft_api::{operators, request::{OperateRequest, Operator}};
///
/// let request = OperateRequest {
///     operator: Operator::Product,
///     layout: "[register: 1] -> [dim0: 2]".into(),
///     other: Some("[lane: 1 2] -> [dim0: 4]".into()),
///     ..Default::default()
/// };
/// assert_eq!(operators::operate(&request)?.text, "[register: 1, lane: 2 4] -> [dim0: 8]");
/// # Ok::<(), weft_api::ApiError>(())
/// ```
pub fn operate(request: &OperateRequest) -> Result<LayoutAnswer, ApiError> {
    let OperateRequest { operator, layout, shape, other, other_shape, to } = request;
    let layout = linear("layout", layout, shape)?;
    let refused = |error: LayoutError| ApiError::Layout {
        parameter: "layout",
        basis: None,
        error: Box::new(error),
    };
    let second = || match other {
        Some(other) => linear("other", other, other_shape),
        None => Err(ApiError::Argument {
            reason: format!("`{}` is of two layouts, and there is one", operator.name()),
            hint: "give the second one as `other`".into(),
        }),
    };
    let made = match operator {
        Operator::Compose => layout.compose(&second()?),
        Operator::Product => layout.product(&second()?),
        Operator::Divide => layout.divide_left(&second()?),
        Operator::Invert => layout.invert(),
        Operator::Transpose => {
            let order: Vec<usize> =
                to.iter().map(|&axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect();
            layout.transpose(&order)
        }
        Operator::Reshape => layout.reshape(to),
    };
    let request = LayoutRequest {
        attribute: made.map_err(refused)?.to_string().into(),
        ..LayoutRequest::default()
    };
    layouts::layout(&request)
}

/// The linear layout that a source says; only an attribute needs a shape.
fn linear(
    parameter: &'static str,
    source: &LayoutSource,
    shape: &[u64],
) -> Result<Layout, ApiError> {
    let Reading { map, padded } = read(parameter, source, (!shape.is_empty()).then_some(shape))?;
    if padded.is_some() {
        return Err(ApiError::Family { parameter, error: Box::new(FamilyError::Gaps) });
    }
    map.linear().map_err(|error| ApiError::Layout {
        parameter,
        basis: None,
        error: Box::new(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(operator: Operator, layout: &str, other: Option<&str>, to: &[u64]) -> OperateRequest {
        OperateRequest {
            operator,
            layout: layout.into(),
            other: other.map(Into::into),
            to: to.to_vec(),
            ..Default::default()
        }
    }

    fn text(operator: Operator, layout: &str, other: Option<&str>, to: &[u64]) -> String {
        operate(&of(operator, layout, other, to)).unwrap().text
    }

    const TILE: &str = "[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]";

    #[test]
    fn operators_undo_each_other() {
        let inverse = text(Operator::Invert, TILE, None, &[]);
        assert_eq!(inverse, "[dim1: (1,0) (0,1), dim0: (0,2)] -> [register: 2, lane: 4]");
        assert_eq!(text(Operator::Invert, &inverse, None, &[]), TILE);
        let pairs = "[register: 1] -> [dim1: 2]";
        let rest = text(Operator::Divide, TILE, Some(pairs), &[]);
        assert_eq!(text(Operator::Product, pairs, Some(&rest), &[]), TILE);
        let turned = text(Operator::Transpose, TILE, None, &[1, 0]);
        assert_eq!(turned, "[register: (1,0), lane: (2,0) (0,1)] -> [dim0: 4, dim1: 2]");
        assert_eq!(text(Operator::Transpose, &turned, None, &[1, 0]), TILE);
        let flat = text(Operator::Reshape, TILE, None, &[8]);
        assert_eq!(flat, "[register: 1, lane: 2 4] -> [dim0: 8]");
        assert_eq!(text(Operator::Reshape, &flat, None, &[2, 4]), TILE);
    }

    #[test]
    fn an_operator_that_cannot_be_says_why() {
        let refused = |request: &OperateRequest| operate(request).unwrap_err().to_string();
        let alone = refused(&of(Operator::Product, TILE, None, &[]));
        assert_eq!(alone, "`product` is of two layouts, and there is one");
        for (operator, layout, other, to) in [
            (Operator::Invert, "[lane: 1 0] -> [dim0: 2]", None, &[][..]),
            (Operator::Compose, TILE, Some("[offset: 1] -> [dim0: 2]"), &[]),
            (Operator::Divide, TILE, Some("[register: 2] -> [dim1: 4]"), &[]),
            (Operator::Transpose, TILE, None, &[0]),
            (Operator::Transpose, TILE, None, &[u64::MAX, 0]),
            (Operator::Reshape, TILE, None, &[3]),
            (Operator::Reshape, "[lane: x]", None, &[8]),
        ] {
            assert!(!refused(&of(operator, layout, other, to)).is_empty());
        }
    }
}
