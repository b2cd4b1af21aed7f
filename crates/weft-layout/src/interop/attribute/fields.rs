//! The parameters between the angle brackets of an attribute.

use alloc::{string::String, vec::Vec};
use core::ops::Range;

use super::{MAX_DEPTH, attribute};
use crate::{
    affine::Padding,
    family::Family,
    interop::cursor::{Cursor, ParseError, ParseErrorKind},
};

/// The value of a parameter.
enum Value {
    Number(u64),
    Flag(bool),
    Word(String),
    List(Vec<Value>),
    Record(Vec<Field>),
    Attribute(Family),
}

struct Field {
    key: String,
    value: Value,
    span: Range<usize>,
}

/// The parameters of one attribute that have not been used yet.
pub(super) struct Fields {
    rest: Vec<Field>,
    /// The gaps of a padded memory, which have no key: `[32:+4, 128:+8]`.
    gaps: Option<Vec<Padding>>,
    /// The whole attribute, for what is missing.
    span: Range<usize>,
}

impl Fields {
    /// `<…>`: parameters `key = value`, all or some of them in braces, and a list of gaps.
    ///
    /// `start` is where the attribute begins.
    pub(super) fn read(
        cursor: &mut Cursor<'_>,
        start: usize,
        depth: u32,
    ) -> Result<Fields, ParseError> {
        let (mut fields, mut gaps) = (Vec::new(), None);
        cursor.expect("<")?;
        let mut first = true;
        while !cursor.take(">") {
            // A list of gaps is followed by braces without a comma.
            let follows = gaps.is_some() && cursor.peek() == Some('{');
            if !first && !follows {
                cursor.expect(",")?;
            }
            first = false;
            if cursor.take("{") {
                keyed(cursor, "}", &mut fields, depth)?;
            } else if gaps.is_none() && cursor.peek() == Some('[') {
                gaps = Some(read_gaps(cursor)?);
            } else {
                field(cursor, &mut fields, depth)?;
            }
        }
        Ok(Fields { rest: fields, gaps, span: start..cursor.position() })
    }

    /// The gaps; fails when there are none.
    pub(super) fn gaps(&mut self) -> Result<Vec<Padding>, ParseError> {
        let kind = ParseErrorKind::Expected("a list of gaps like `[32:+4]`");
        self.gaps.take().ok_or(ParseError { span: self.span.clone(), kind })
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.rest.iter().any(|field| field.key == key)
    }

    /// What `read` reads; `absent` where the parameter is left out.
    pub(super) fn or<T>(
        &mut self,
        key: &'static str,
        absent: T,
        read: impl FnOnce(&mut Fields, &'static str) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.has(key) { read(self, key) } else { Ok(absent) }
    }

    fn take(&mut self, key: &'static str) -> Result<Field, ParseError> {
        let missing =
            || ParseError { span: self.span.clone(), kind: ParseErrorKind::MissingKey(key) };
        let index = self.rest.iter().position(|field| field.key == key).ok_or_else(missing)?;
        Ok(self.rest.remove(index))
    }

    pub(super) fn number(&mut self, key: &'static str) -> Result<u64, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        match value {
            Value::Number(number) => Ok(number),
            _ => Err(ParseError { span, kind: ParseErrorKind::Expected("a number") }),
        }
    }

    /// A number that is a power of two; 1 where the parameter is left out.
    pub(super) fn power_of_two_or_one(&mut self, key: &'static str) -> Result<u64, ParseError> {
        if !self.has(key) {
            return Ok(1);
        }
        let Field { value, span, .. } = self.take(key)?;
        match value {
            Value::Number(number) if number.is_power_of_two() => Ok(number),
            _ => Err(ParseError { span, kind: ParseErrorKind::Expected("a power of two") }),
        }
    }

    /// Which of these two words, `first` where the parameter is left out, is the second one.
    pub(super) fn is_second(
        &mut self,
        key: &'static str,
        [first, second]: [&str; 2],
        expected: &'static str,
    ) -> Result<bool, ParseError> {
        if !self.has(key) {
            return Ok(false);
        }
        let Field { value, span, .. } = self.take(key)?;
        match value {
            Value::Word(word) if word == first => Ok(false),
            Value::Word(word) if word == second => Ok(true),
            _ => Err(ParseError { span, kind: ParseErrorKind::Expected(expected) }),
        }
    }

    /// A number of at most 32 bits.
    pub(super) fn small(&mut self, key: &'static str) -> Result<u32, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        match value {
            Value::Number(number) if u32::try_from(number).is_ok() => Ok(number as u32),
            _ => Err(ParseError { span, kind: ParseErrorKind::Expected("a small number") }),
        }
    }

    /// Takes the field of this name, which is `true` or `false`.
    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        match value {
            Value::Flag(flag) => Ok(flag),
            _ => Err(ParseError { span, kind: ParseErrorKind::Expected("`true` or `false`") }),
        }
    }

    /// `true` or `false`; `false` where the parameter is left out.
    pub(super) fn flag_or_false(&mut self, key: &'static str) -> Result<bool, ParseError> {
        if self.has(key) { self.flag(key) } else { Ok(false) }
    }

    pub(super) fn numbers(&mut self, key: &'static str) -> Result<Vec<u64>, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        numbers(&value)
            .ok_or(ParseError { span, kind: ParseErrorKind::Expected("a list of numbers") })
    }

    pub(super) fn powers_of_two(&mut self, key: &'static str) -> Result<Vec<u64>, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        let numbers = numbers(&value);
        let numbers = numbers.filter(|numbers| numbers.iter().all(|n| n.is_power_of_two()));
        numbers
            .ok_or(ParseError { span, kind: ParseErrorKind::Expected("a list of powers of two") })
    }

    pub(super) fn three(&mut self, key: &'static str) -> Result<[u64; 3], ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        let three = numbers(&value).and_then(|numbers| numbers.try_into().ok());
        three.ok_or(ParseError { span, kind: ParseErrorKind::Expected("a list of three numbers") })
    }

    pub(super) fn dims(&mut self, key: &'static str) -> Result<Vec<usize>, ParseError> {
        Ok(self.numbers(key)?.into_iter().map(|dim| dim as usize).collect())
    }

    pub(super) fn bases(&mut self, key: &'static str) -> Result<Vec<Vec<u64>>, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        let lists = match &value {
            Value::List(lists) => lists.iter().map(numbers).collect(),
            _ => None,
        };
        let kind = ParseErrorKind::Expected("a list of lists of numbers");
        lists.ok_or(ParseError { span, kind })
    }

    /// Bases; none where the parameter is left out.
    pub(super) fn bases_or_none(&mut self, key: &'static str) -> Result<Vec<Vec<u64>>, ParseError> {
        if self.has(key) { self.bases(key) } else { Ok(Vec::new()) }
    }

    pub(super) fn attribute(&mut self, key: &'static str) -> Result<Family, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        match value {
            Value::Attribute(family) => Ok(family),
            _ => Err(ParseError { span, kind: ParseErrorKind::Expected("an attribute") }),
        }
    }

    /// A value in braces that holds parameters itself; to be finished too.
    pub(super) fn record(&mut self, key: &'static str) -> Result<Fields, ParseError> {
        let Field { value, span, .. } = self.take(key)?;
        match value {
            Value::Record(fields) => Ok(Fields { rest: fields, gaps: None, span }),
            _ => Err(ParseError { span, kind: ParseErrorKind::Expected("parameters in braces") }),
        }
    }

    /// Checks that nothing is left.
    pub(super) fn finish(self) -> Result<(), ParseError> {
        if self.gaps.is_some() {
            let kind = ParseErrorKind::Expected("an attribute without gaps");
            return Err(ParseError { span: self.span, kind });
        }
        match self.rest.into_iter().next() {
            Some(Field { key, span, .. }) => {
                Err(ParseError { span, kind: ParseErrorKind::UnknownKey(key) })
            }
            None => Ok(()),
        }
    }
}

/// `key = value, …` up to `end`, after the opening.
fn keyed(
    cursor: &mut Cursor<'_>,
    end: &'static str,
    fields: &mut Vec<Field>,
    depth: u32,
) -> Result<(), ParseError> {
    let mut first = true;
    while !cursor.take(end) {
        if !first {
            cursor.expect(",")?;
        }
        first = false;
        field(cursor, fields, depth)?;
    }
    Ok(())
}

/// `key = value`, which no earlier field may have.
fn field(cursor: &mut Cursor<'_>, fields: &mut Vec<Field>, depth: u32) -> Result<(), ParseError> {
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
    Ok(())
}

fn value(cursor: &mut Cursor<'_>, depth: u32) -> Result<Value, ParseError> {
    if depth > MAX_DEPTH {
        return Err(cursor.error(ParseErrorKind::TooDeep));
    }
    if let Some(number) = cursor.number()? {
        return Ok(Value::Number(number));
    }
    match cursor.peek() {
        Some('#') => return Ok(Value::Attribute(attribute(cursor, depth)?)),
        Some(letter) if letter.is_ascii_alphabetic() => {
            return Ok(match cursor.word() {
                "true" => Value::Flag(true),
                "false" => Value::Flag(false),
                word => Value::Word(word.into()),
            });
        }
        Some('{') => {
            let mut fields = Vec::new();
            cursor.expect("{")?;
            keyed(cursor, "}", &mut fields, depth)?;
            return Ok(Value::Record(fields));
        }
        Some('[') => cursor.expect("[")?,
        _ => {
            let kind = ParseErrorKind::Expected("a number, a word, a list, `{` or `#`");
            return Err(cursor.error(kind));
        }
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

/// Reads gaps that are written as `[32:+4, 128:+8]`.
fn read_gaps(cursor: &mut Cursor<'_>) -> Result<Vec<Padding>, ParseError> {
    let mut gaps = Vec::new();
    cursor.expect("[")?;
    while !cursor.take("]") {
        if !gaps.is_empty() {
            cursor.expect(",")?;
        }
        let interval = cursor.expect_number()?;
        cursor.expect(":+")?;
        gaps.push(Padding { interval, padding: cursor.expect_number()? });
    }
    Ok(gaps)
}

fn numbers(value: &Value) -> Option<Vec<u64>> {
    let Value::List(list) = value else { return None };
    list.iter().map(|value| if let Value::Number(n) = value { Some(*n) } else { None }).collect()
}
