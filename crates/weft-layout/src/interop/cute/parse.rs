//! Reading what CuTe prints.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Composed, CuteError, CuteLayout, Mode, Swizzle, Tree, tree::MAX_DEPTH};
use crate::interop::cursor::{Cursor, ParseError, ParseErrorKind};

/// Reads a CuTe layout, with or without swizzles and an offset: `(4,8):(8,1)`, `_8:_1`,
/// `Sw<3,4,3> o 0 o (8,8):(8,1)`.
///
/// The underscores of compile-time integers are optional, a swizzle is `Sw`, `S` or `Swizzle`, the
/// composition `o` or `∘`, and an offset of zero may be left out.
/// Between two swizzles the offset must be zero.
pub fn parse(text: &str) -> Result<Composed, ParseError> {
    let cursor = &mut Cursor::new(text);
    let mut swizzles = Vec::new();
    let mut offset: Option<Number> = None;
    let shape = loop {
        if cursor.peek() == Some('S') {
            if let Some(Number { span, .. }) = offset.take_if(|offset| offset.value != 0) {
                let kind = ParseErrorKind::Expected("an offset of 0 between two swizzles");
                return Err(ParseError { span, kind });
            }
            swizzles.push(swizzle(cursor)?);
            compose(cursor)?;
            offset = None;
            continue;
        }
        let start = cursor.start();
        let tree = numbers(cursor, 0)?;
        if !at_compose(cursor) {
            break tree;
        }
        if offset.is_some() || tree.value().is_none() {
            let kind = ParseErrorKind::Expected("a layout `shape:stride`");
            return Err(cursor.error_since(start, kind));
        }
        offset = tree.value().cloned();
        compose(cursor)?;
    };
    let offset = match offset {
        Some(number) => number.to_i64()?,
        None => 0,
    };
    let layout = strides(cursor, &shape)?;
    if !cursor.at_end() {
        return Err(cursor.error(ParseErrorKind::Expected("the end of the layout")));
    }
    Ok(Composed { swizzles, offset, layout })
}

/// An integer and where it stands.
#[derive(Clone)]
struct Number {
    value: i128,
    span: Range<usize>,
}

impl Number {
    fn to_i64(&self) -> Result<i64, ParseError> {
        i64::try_from(self.value).map_err(|_| self.error(ParseErrorKind::TooLarge))
    }

    fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError { span: self.span.clone(), kind }
    }
}

/// `8`, `_8`, `-1` or `_-1`.
fn number(cursor: &mut Cursor<'_>) -> Result<Number, ParseError> {
    let start = cursor.start();
    if cursor.peek() == Some('?') {
        let kind = ParseErrorKind::Expected("an integer; `?` is one that only the program knows");
        return Err(cursor.error(kind));
    }
    cursor.take("_");
    let negative = cursor.take("-");
    let magnitude = i128::from(
        (cursor.number()?)
            .ok_or_else(|| cursor.error(ParseErrorKind::Expected("an integer or `(`")))?,
    );
    let value = if negative { -magnitude } else { magnitude };
    Ok(Number { value, span: start..cursor.position() })
}

fn at_compose(cursor: &mut Cursor<'_>) -> bool {
    matches!(cursor.peek(), Some('o' | '∘'))
}

fn compose(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    if cursor.take("∘") { Ok(()) } else { cursor.expect("o") }
}

/// Reads a swizzle, such as `Sw<3,4,3>`.
fn swizzle(cursor: &mut Cursor<'_>) -> Result<Swizzle, ParseError> {
    let start = cursor.start();
    if !matches!(cursor.word(), "S" | "Sw" | "Swizzle") {
        return Err(cursor.error_since(start, ParseErrorKind::Expected("`Sw<B,M,S>`")));
    }
    cursor.expect("<")?;
    let bits = number(cursor)?.value;
    cursor.expect(",")?;
    let base = number(cursor)?.value;
    cursor.expect(",")?;
    let shift = number(cursor)?.value;
    cursor.expect(">")?;
    let swizzle = (u32::try_from(bits).ok()).zip(u32::try_from(base).ok());
    let swizzle = swizzle.zip(i32::try_from(shift).ok());
    swizzle.and_then(|((bits, base), shift)| Swizzle::new(bits, base, shift).ok()).ok_or_else(
        || {
            let kind = "a swizzle with B at most |S| and M + |S| + B at most 64";
            cursor.error_since(start, ParseErrorKind::Expected(kind))
        },
    )
}

/// Reads a number or a tuple of them, such as `8` or `(2,(4,8))`.
fn numbers(cursor: &mut Cursor<'_>, depth: u32) -> Result<Tree<Number>, ParseError> {
    let start = cursor.start();
    if !cursor.take("(") {
        return Ok(Tree::leaf(number(cursor)?));
    }
    if depth == MAX_DEPTH {
        return Err(cursor.error_since(start, ParseErrorKind::TooDeep));
    }
    let mut children = Vec::new();
    while !cursor.take(")") {
        if !children.is_empty() {
            cursor.expect(",")?;
            if cursor.take(")") {
                break;
            }
        }
        children.push(numbers(cursor, depth + 1)?);
    }
    Tree::tuple(children).map_err(|error| refused(cursor, start, error))
}

/// `:stride`, in the form of the shape.
fn strides(cursor: &mut Cursor<'_>, shape: &Tree<Number>) -> Result<CuteLayout, ParseError> {
    cursor.expect(":")?;
    let start = cursor.start();
    let tree = congruent(cursor, shape)?;
    CuteLayout::new(tree).map_err(|error| refused(cursor, start, error))
}

fn congruent(cursor: &mut Cursor<'_>, shape: &Tree<Number>) -> Result<Tree<Mode>, ParseError> {
    let start = cursor.start();
    let form = |cursor: &mut Cursor<'_>, what| cursor.error(ParseErrorKind::Expected(what));
    if let Some(extent) = shape.value() {
        if cursor.peek() == Some('(') {
            return Err(form(cursor, "one stride, as the shape has one extent here"));
        }
        return Ok(Tree::leaf(mode(extent, &number(cursor)?)?));
    }
    let children = shape.modes();
    if !cursor.take("(") {
        return Err(form(cursor, "`(`, as the shape has a tuple here"));
    }
    let mut modes = Vec::with_capacity(children.len());
    for (index, child) in children.iter().enumerate() {
        if index > 0 && !cursor.take(",") {
            return Err(form(cursor, "`,` and as many strides as the shape has extents"));
        }
        modes.push(congruent(cursor, child)?);
    }
    if !children.is_empty() {
        cursor.take(",");
    }
    if !cursor.take(")") {
        return Err(form(cursor, "`)`, as the shape has no more extents here"));
    }
    Tree::tuple(modes).map_err(|error| refused(cursor, start, error))
}

fn mode(extent: &Number, stride: &Number) -> Result<Mode, ParseError> {
    if extent.value < 1 {
        return Err(extent.error(ParseErrorKind::Expected("an extent of at least 1")));
    }
    let size = u64::try_from(extent.value).map_err(|_| extent.error(ParseErrorKind::TooLarge))?;
    Ok(Mode { extent: size, stride: stride.to_i64()? })
}

/// The error of a tree or layout that ends here.
fn refused(cursor: &Cursor<'_>, start: usize, error: CuteError) -> ParseError {
    let kind = match error {
        CuteError::TooDeep => ParseErrorKind::TooDeep,
        CuteError::TooManyModes => ParseErrorKind::Expected("at most 256 modes and tuples"),
        _ => ParseErrorKind::Expected("a layout of at most 2^64 coordinates"),
    };
    cursor.error_since(start, kind)
}
