//! Layouts as their bases: what [`Layout`]'s `Display` writes.

use alloc::{vec, vec::Vec};

use super::cursor::{Cursor, ParseError, ParseErrorKind};
use crate::{
    layout::{Bases, Layout},
    space::{Label, Space},
};

/// Reads `[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]`: for each input bit its image,
/// as coordinates in the order in which the outputs are listed (plain numbers if there is only one);
/// for each output its size.
///
/// Outputs `dim0`, `dim1`, … are the axes of a tensor, the last one least significant; of others the
/// first one is.
pub fn parse_layout(text: &str) -> Result<Layout, ParseError> {
    let cursor = &mut Cursor::new(text);
    let bases = parse_bases(cursor)?;
    cursor.expect("->")?;
    let start = cursor.start();
    let outs = parse_outs(cursor)?;
    let outs = outs.map_err(|error| cursor.space_error(start, error))?;
    if !cursor.at_end() {
        return Err(cursor.error(ParseErrorKind::Expected("the end of the layout")));
    }
    Layout::from_bases(&bases, outs)
        .map_err(|error| cursor.error_since(0, ParseErrorKind::Layout(error)))
}

fn parse_bases(cursor: &mut Cursor<'_>) -> Result<Bases, ParseError> {
    let mut bases = Bases::new();
    cursor.expect("[")?;
    while !cursor.take("]") {
        if !bases.is_empty() {
            cursor.expect(",")?;
        }
        let label = parse_label(cursor)?;
        cursor.expect(":")?;
        let mut axis = Vec::new();
        while let Some(basis) = parse_basis(cursor)? {
            axis.push(basis);
        }
        bases.push((label, axis));
    }
    Ok(bases)
}

/// `(0,1)` or `4`, if one comes next.
fn parse_basis(cursor: &mut Cursor<'_>) -> Result<Option<Vec<u64>>, ParseError> {
    if !cursor.take("(") {
        return Ok(cursor.number()?.map(|number| vec![number]));
    }
    let mut basis = Vec::new();
    while !cursor.take(")") {
        if !basis.is_empty() {
            cursor.expect(",")?;
        }
        basis.push(cursor.expect_number()?);
    }
    Ok(Some(basis))
}

type OutSpace = Result<Space, crate::space::SpaceError>;

fn parse_outs(cursor: &mut Cursor<'_>) -> Result<OutSpace, ParseError> {
    let mut axes: Vec<(Label, u32)> = Vec::new();
    cursor.expect("[")?;
    while !cursor.take("]") {
        if !axes.is_empty() {
            cursor.expect(",")?;
        }
        let label = parse_label(cursor)?;
        cursor.expect(":")?;
        let start = cursor.start();
        let size = cursor.expect_number()?;
        if !size.is_power_of_two() {
            let kind = ParseErrorKind::Expected("a power of two");
            return Err(cursor.error_since(start, kind));
        }
        axes.push((label, size.trailing_zeros()));
    }
    if axes.iter().zip(0..).all(|(axis, index)| axis.0 == Label::dim(index)) {
        axes.reverse();
    }
    Ok(Space::new(&axes))
}

fn parse_label(cursor: &mut Cursor<'_>) -> Result<Label, ParseError> {
    let start = cursor.start();
    let word = cursor.word();
    if word.is_empty() {
        return Err(cursor.error(ParseErrorKind::Expected("the name of an axis")));
    }
    Label::new(word).map_err(|error| cursor.space_error(start, error))
}
