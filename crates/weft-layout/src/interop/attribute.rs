//! Triton's layout attributes.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::{fmt, ops::Range};

use super::cursor::{Cursor, ParseError, ParseErrorKind};
use crate::family::{Blocked, DotOperand, Family, Linear, Slice, SwizzledShared};

/// How deeply attributes and lists may be nested.
const MAX_DEPTH: u32 = 32;

/// Reads an attribute as Triton prints it, for example
/// `#ttg.slice<{dim = 1, parent = #ttg.blocked<{…}>}>`.
///
/// Known are `ttg.blocked`, `ttg.linear`, `ttg.slice`, `ttg.dot_op` and `ttg.swizzled_shared`.
pub fn parse_attribute(text: &str) -> Result<Family, ParseError> {
    let cursor = &mut Cursor::new(text);
    let family = attribute(cursor, 0)?;
    if !cursor.at_end() {
        return Err(cursor.error(ParseErrorKind::Expected("the end of the attribute")));
    }
    Ok(family)
}

fn attribute(cursor: &mut Cursor<'_>, depth: u32) -> Result<Family, ParseError> {
    let start = cursor.start();
    if depth > MAX_DEPTH {
        return Err(cursor.error(ParseErrorKind::TooDeep));
    }
    cursor.expect("#")?;
    let name = cursor.word();
    let name_span = start..cursor.position();
    cursor.expect("<{")?;
    let mut fields = fields(cursor, depth)?;
    fields.span = start..cursor.position();
    let family = match name {
        "ttg.blocked" => Family::Blocked(blocked(&mut fields)?),
        "ttg.linear" => Family::Linear(linear(&mut fields)?),
        "ttg.slice" => Family::Slice(Slice {
            dim: fields.number("dim")? as usize,
            parent: Box::new(fields.attribute("parent")?),
        }),
        "ttg.dot_op" => Family::DotOperand(DotOperand {
            operand: fields.small("opIdx")?,
            parent: Box::new(fields.attribute("parent")?),
            k_width: if fields.has("kWidth") { fields.small("kWidth")? } else { 0 },
        }),
        "ttg.swizzled_shared" => Family::SwizzledShared(SwizzledShared {
            vec: fields.number("vec")?,
            per_phase: fields.number("perPhase")?,
            max_phase: fields.number("maxPhase")?,
            order: fields.dims("order")?,
        }),
        other => {
            let kind = ParseErrorKind::UnknownAttribute(other.into());
            return Err(ParseError { span: name_span, kind });
        }
    };
    fields.finish()?;
    Ok(family)
}

fn blocked(fields: &mut Fields) -> Result<Blocked, ParseError> {
    Ok(Blocked {
        size_per_thread: fields.numbers("sizePerThread")?,
        threads_per_warp: fields.numbers("threadsPerWarp")?,
        warps_per_cta: fields.numbers("warpsPerCTA")?,
        order: fields.dims("order")?,
        blocks: if fields.has("CGALayout") { fields.bases("CGALayout")? } else { Vec::new() },
    })
}

fn linear(fields: &mut Fields) -> Result<Linear, ParseError> {
    Ok(Linear {
        register: fields.bases("register")?,
        lane: fields.bases("lane")?,
        warp: fields.bases("warp")?,
        block: fields.bases("block")?,
    })
}

/// The value of a parameter.
enum Value {
    Number(u64),
    List(Vec<Value>),
    Attribute(Family),
}

struct Field {
    key: String,
    value: Value,
    span: Range<usize>,
}

/// The parameters of one attribute that have not been used yet.
struct Fields {
    fields: Vec<Field>,
    /// The whole attribute, for what is missing.
    span: Range<usize>,
}

/// `key = value, …}>`, after the opening.
fn fields(cursor: &mut Cursor<'_>, depth: u32) -> Result<Fields, ParseError> {
    let mut fields: Vec<Field> = Vec::new();
    while !cursor.take("}>") {
        if !fields.is_empty() {
            cursor.expect(",")?;
        }
        let start = cursor.start();
        let key = cursor.word();
        if key.is_empty() {
            return Err(cursor.error(ParseErrorKind::Expected("the name of a parameter")));
        }
        if fields.iter().any(|field| field.key == key) {
            return Err(cursor.error_since(start, ParseErrorKind::DuplicateKey(key.into())));
        }
        cursor.expect("=")?;
        let value = value(cursor, depth + 1)?;
        fields.push(Field { key: key.into(), value, span: start..cursor.position() });
    }
    Ok(Fields { fields, span: 0..0 })
}

fn value(cursor: &mut Cursor<'_>, depth: u32) -> Result<Value, ParseError> {
    if depth > MAX_DEPTH {
        return Err(cursor.error(ParseErrorKind::TooDeep));
    }
    if let Some(number) = cursor.number()? {
        return Ok(Value::Number(number));
    }
    if !cursor.take("[") {
        return match cursor.peek() {
            Some('#') => Ok(Value::Attribute(attribute(cursor, depth)?)),
            _ => Err(cursor.error(ParseErrorKind::Expected("a number, a list or `#`"))),
        };
    }
    let mut list = Vec::new();
    while !cursor.take("]") {
        if !list.is_empty() {
            cursor.expect(",")?;
        }
        list.push(value(cursor, depth + 1)?);
    }
    Ok(Value::List(list))
}

impl Fields {
    fn has(&self, key: &str) -> bool {
        self.fields.iter().any(|field| field.key == key)
    }

    fn take(&mut self, key: &'static str) -> Result<Field, ParseError> {
        let missing =
            || ParseError { span: self.span.clone(), kind: ParseErrorKind::MissingKey(key) };
        let index = self.fields.iter().position(|field| field.key == key).ok_or_else(missing)?;
        Ok(self.fields.remove(index))
    }

    fn number(&mut self, key: &'static str) -> Result<u64, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        match value {
            Value::Number(number) => Ok(number),
            _ => Err(ParseError { span, kind: ParseErrorKind::Expected("a number") }),
        }
    }

    /// A number of at most 32 bits.
    fn small(&mut self, key: &'static str) -> Result<u32, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        match value {
            Value::Number(number) if u32::try_from(number).is_ok() => Ok(number as u32),
            _ => Err(ParseError { span, kind: ParseErrorKind::Expected("a small number") }),
        }
    }

    fn numbers(&mut self, key: &'static str) -> Result<Vec<u64>, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        numbers(&value)
            .ok_or(ParseError { span, kind: ParseErrorKind::Expected("a list of numbers") })
    }

    fn dims(&mut self, key: &'static str) -> Result<Vec<usize>, ParseError> {
        Ok(self.numbers(key)?.into_iter().map(|dim| dim as usize).collect())
    }

    fn bases(&mut self, key: &'static str) -> Result<Vec<Vec<u64>>, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        let lists = match &value {
            Value::List(lists) => lists.iter().map(numbers).collect(),
            _ => None,
        };
        let kind = ParseErrorKind::Expected("a list of lists of numbers");
        lists.ok_or(ParseError { span, kind })
    }

    fn attribute(&mut self, key: &'static str) -> Result<Family, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        match value {
            Value::Attribute(family) => Ok(family),
            _ => Err(ParseError { span, kind: ParseErrorKind::Expected("an attribute") }),
        }
    }

    /// Checks that nothing is left.
    fn finish(self) -> Result<(), ParseError> {
        match self.fields.into_iter().next() {
            Some(Field { key, span, .. }) => {
                Err(ParseError { span, kind: ParseErrorKind::UnknownKey(key) })
            }
            None => Ok(()),
        }
    }
}

fn numbers(value: &Value) -> Option<Vec<u64>> {
    let Value::List(list) = value else { return None };
    list.iter().map(|value| if let Value::Number(n) = value { Some(*n) } else { None }).collect()
}

/// The attribute as Triton prints it.
impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Family::Blocked(Blocked {
                size_per_thread,
                threads_per_warp,
                warps_per_cta,
                order,
                blocks,
            }) => {
                write!(f, "#ttg.blocked<{{sizePerThread = {size_per_thread:?}")?;
                write!(f, ", threadsPerWarp = {threads_per_warp:?}")?;
                write!(f, ", warpsPerCTA = {warps_per_cta:?}, order = {order:?}")?;
                if !blocks.is_empty() {
                    write!(f, ", CGALayout = {blocks:?}")?;
                }
            }
            Family::Linear(Linear { register, lane, warp, block }) => {
                write!(f, "#ttg.linear<{{register = {register:?}, lane = {lane:?}")?;
                write!(f, ", warp = {warp:?}, block = {block:?}")?;
            }
            Family::Slice(Slice { dim, parent }) => {
                write!(f, "#ttg.slice<{{dim = {dim}, parent = {parent}")?;
            }
            Family::DotOperand(DotOperand { operand, parent, k_width }) => {
                write!(f, "#ttg.dot_op<{{opIdx = {operand}, parent = {parent}")?;
                if *k_width != 0 {
                    write!(f, ", kWidth = {k_width}")?;
                }
            }
            Family::SwizzledShared(SwizzledShared { vec, per_phase, max_phase, order }) => {
                write!(f, "#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per_phase}")?;
                write!(f, ", maxPhase = {max_phase}, order = {order:?}")?;
            }
        }
        f.write_str("}>")
    }
}
