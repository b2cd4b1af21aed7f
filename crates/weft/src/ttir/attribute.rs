//! Attributes: what stands between `{` and `}` after an operation's operands.

use super::MAX_DEPTH;
use super::lexer::TokenKind;
use super::parser::{Parser, shortened};
use super::syntax::{Parse, Promises};
use crate::diagnostic::{Diagnostic, Span};

/// An attribute's value, as far as anybody asks.
#[derive(Clone, Debug)]
pub(super) enum Attribute<'a> {
    /// `unit`, or a key without a value.
    Unit,
    /// A truth value, `true` or `false`.
    Bool(bool),
    /// An integer, with or without its type: `16 : i32`.
    Integer(i128),
    /// `array<i32: 1, 0>`, `dense<…>` of integers and so on.
    Integers(Vec<i128>),
    /// `"text"`, without the quotes and with its escapes.
    String(&'a str),
    /// A bare word, as in `cacheModifier = cg`.
    Word(&'a str),
    /// `#tt.cache_policy<cache_modifier = cg, …>`.
    Policy(Attributes<'a>),
    /// Something else, which nobody asks for.
    Other,
}

/// Attributes by name. Readers take what they know; what is left then is refused.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes<'a>(Vec<(&'a str, Attribute<'a>, Span)>);

impl<'a> Attributes<'a> {
    pub(super) fn add(&mut self, name: &'a str, value: Attribute<'a>, span: Span) {
        self.0.push((name, value, span));
    }

    /// Appends the attributes of another list.
    pub(super) fn extend(&mut self, other: Attributes<'a>) {
        self.0.extend(other.0);
    }

    /// Whether there is an attribute of a name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, ..)| *key == name)
    }

    /// Takes the attribute of a name.
    pub(super) fn take(&mut self, name: &str) -> Option<(Attribute<'a>, Span)> {
        let index = self.0.iter().position(|(key, ..)| *key == name)?;
        let (_, value, span) = self.0.remove(index);
        Some((value, span))
    }

    /// Takes the integer of this name out of the list, if it is there.
    pub(super) fn take_integer(&mut self, name: &str) -> Parse<Option<(i128, Span)>> {
        match self.take(name) {
            None => Ok(None),
            Some((Attribute::Integer(value), span)) => Ok(Some((value, span))),
            Some((_, span)) => {
                Err(Diagnostic::new(span, format!("the attribute `{name}` is an integer")))
            }
        }
    }

    /// Takes a truth value; false where there is none.
    pub(super) fn take_bool(&mut self, name: &str) -> Parse<bool> {
        match self.take(name) {
            None => Ok(false),
            Some((Attribute::Bool(value), _)) => Ok(value),
            Some((Attribute::Unit, _)) => Ok(true),
            Some((_, span)) => {
                Err(Diagnostic::new(span, format!("the attribute `{name}` is true or false")))
            }
        }
    }

    /// Takes what is promised of an operation's results, or with a suffix such as `_arg1` of a parameter of
    /// its region.
    pub(super) fn take_promises(&mut self, suffix: &str) -> Promises {
        let mut take = |name: &str| {
            let found = self.take(&format!("tt.{name}{suffix}"));
            match found {
                Some((Attribute::Integers(list), _)) => list,
                Some((Attribute::Integer(number), _)) => vec![number],
                _ => Vec::new(),
            }
        };
        Promises {
            contiguity: take("contiguity"),
            divisibility: take("divisibility"),
            constancy: take("constancy"),
        }
    }

    /// Forgets attributes that change nothing for us.
    pub(super) fn ignore(&mut self, names: &[&str]) {
        self.0.retain(|(key, ..)| !names.contains(key));
    }

    /// Refuses what nobody took. Names with a dialect (`tt.num_stages`) are hints and may stay.
    pub(super) fn finish(self, operation: &str) -> Parse<()> {
        match self.0.into_iter().find(|(key, ..)| !key.contains('.')) {
            None => Ok(()),
            Some((key, _, span)) => {
                let message = format!("`{operation}` with the attribute `{key}` is not supported");
                Err(Diagnostic::new(span, message))
            }
        }
    }
}

impl<'a> Parser<'a> {
    /// `{a = 1 : i32, b}`.
    pub(super) fn attributes(&mut self) -> Parse<Attributes<'a>> {
        self.nested_attributes(0)
    }

    fn nested_attributes(&mut self, depth: usize) -> Parse<Attributes<'a>> {
        self.expect(b'{')?;
        let list = self.list(b'}', |parser| parser.key_and_value(depth))?;
        Ok(Attributes(list))
    }

    fn key_and_value(&mut self, depth: usize) -> Parse<(&'a str, Attribute<'a>, Span)> {
        let start = self.token.span;
        let key = match self.token.kind {
            TokenKind::String => self.text().trim_matches('"'),
            TokenKind::Word => self.text(),
            _ => return self.expected("an attribute's name"),
        };
        self.bump();
        let value = if self.eat(b'=') { self.attribute(depth)? } else { Attribute::Unit };
        Ok((key, value, self.since(start)))
    }

    /// Reads the value of one attribute.
    pub(super) fn attribute(&mut self, depth: usize) -> Parse<Attribute<'a>> {
        if depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} attributes inside one another");
            return Err(Diagnostic::new(self.token.span, message));
        }
        match self.token.kind {
            TokenKind::Integer | TokenKind::Mark(b'-') => {
                let value = self.integer_attribute()?;
                match (&value, self.attribute_type()?) {
                    (Attribute::Integer(_), Some((ty, span))) if !is_integer_type(ty) => {
                        let message = format!("`{}` is no type of an integer", shortened(ty));
                        Err(Diagnostic::new(span, message))
                    }
                    _ => Ok(value),
                }
            }
            TokenKind::Float => {
                self.bump();
                self.attribute_type()?;
                Ok(Attribute::Other)
            }
            TokenKind::String => {
                let text = self.text().trim_matches('"');
                self.bump();
                self.attribute_type()?;
                Ok(Attribute::String(text))
            }
            TokenKind::Word => self.word_attribute(),
            TokenKind::Alias => self.dialect_attribute(),
            TokenKind::TypeName | TokenKind::Symbol => {
                self.bump();
                if self.at(b'<') {
                    self.skip_brackets()?;
                }
                Ok(Attribute::Other)
            }
            TokenKind::Mark(b'[') => {
                self.bump();
                let items = self.list(b']', |parser| parser.attribute(depth + 1))?;
                let integers = items.iter().map(|item| match item {
                    Attribute::Integer(value) => Some(*value),
                    _ => None,
                });
                Ok(integers.collect::<Option<_>>().map_or(Attribute::Other, Attribute::Integers))
            }
            TokenKind::Mark(b'{') => {
                self.nested_attributes(depth + 1)?;
                Ok(Attribute::Other)
            }
            _ => self.expected("an attribute's value"),
        }
    }

    fn integer_attribute(&mut self) -> Parse<Attribute<'a>> {
        let negative = self.eat(b'-');
        if negative && self.token.kind == TokenKind::Float {
            self.bump();
            return Ok(Attribute::Other);
        }
        let value = self.integer()?;
        Ok(Attribute::Integer(if negative { -value } else { value }))
    }

    /// An integer without a sign, decimal or hexadecimal.
    pub(super) fn integer(&mut self) -> Parse<i128> {
        if self.token.kind != TokenKind::Integer {
            return self.expected("an integer");
        }
        let text = self.text();
        let value = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let Ok(value) = value else {
            let message = format!("the number `{}` does not fit 64 bits", shortened(text));
            return Err(Diagnostic::new(self.token.span, message));
        };
        self.bump();
        Ok(i128::from(value))
    }

    /// `: i32` after a number: the type's name, if there is one.
    fn attribute_type(&mut self) -> Parse<Option<(&'a str, Span)>> {
        if !self.eat(b':') {
            return Ok(None);
        }
        let named = (self.text(), self.token.span);
        match self.token.kind {
            TokenKind::Word | TokenKind::TypeName => self.bump(),
            _ => return self.expected("the attribute's type"),
        }
        if self.at(b'<') {
            self.skip_brackets()?;
        }
        Ok(Some(named))
    }

    fn word_attribute(&mut self) -> Parse<Attribute<'a>> {
        let word = self.text();
        self.bump();
        match word {
            "true" => Ok(Attribute::Bool(true)),
            "false" => Ok(Attribute::Bool(false)),
            "unit" => Ok(Attribute::Unit),
            "array" if self.at(b'<') => self.array(),
            "dense" if self.at(b'<') => self.dense(),
            _ if self.at(b'<') => {
                self.skip_brackets()?;
                self.attribute_type()?;
                Ok(Attribute::Other)
            }
            _ => Ok(Attribute::Word(word)),
        }
    }

    /// `dense<16> : tensor<2xi32>`, `dense<[1, 16]> : …`, from the `<`: integers, one for all or a list of them.
    fn dense(&mut self) -> Parse<Attribute<'a>> {
        let start = self.token.span;
        self.skip_brackets()?;
        let inside = self.lexer.slice(self.since(start));
        let inside = inside.trim_start_matches('<').trim_end().trim_end_matches('>').trim();
        self.attribute_type()?;
        let listed = inside.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
        let numbers = listed.unwrap_or(inside).split(',');
        let numbers: Option<Vec<i128>> = numbers.map(|word| word.trim().parse().ok()).collect();
        Ok(numbers.map_or(Attribute::Other, Attribute::Integers))
    }

    /// `array<i32: 1, 0>`, from the `<`.
    fn array(&mut self) -> Parse<Attribute<'a>> {
        self.bump();
        if self.token.kind != TokenKind::Word {
            return self.expected("the type of the array's elements");
        }
        self.bump();
        if self.eat(b'>') {
            return Ok(Attribute::Integers(Vec::new()));
        }
        self.expect(b':')?;
        let mut all_integers = true;
        let items = self.list(b'>', |parser| {
            if parser.eat_word("true") {
                return Ok(1);
            }
            if parser.eat_word("false") {
                return Ok(0);
            }
            if parser.token.kind == TokenKind::Float {
                all_integers = false;
                parser.bump();
                return Ok(0);
            }
            match parser.integer_attribute()? {
                Attribute::Integer(value) => Ok(value),
                _ => {
                    all_integers = false;
                    Ok(0)
                }
            }
        })?;
        Ok(if all_integers { Attribute::Integers(items) } else { Attribute::Other })
    }

    /// `#tt.cache_policy<…>`, or one of a dialect that nobody asks for.
    fn dialect_attribute(&mut self) -> Parse<Attribute<'a>> {
        let name = self.text();
        self.bump();
        if !self.at(b'<') {
            return Ok(Attribute::Other);
        }
        if name != "#tt.cache_policy" {
            self.skip_brackets()?;
            return Ok(Attribute::Other);
        }
        self.bump();
        let list = self.list(b'>', |parser| {
            let (key, span) = parser.take(TokenKind::Word, "a cache policy's key")?;
            parser.expect(b'=')?;
            let (value, _) = parser.take(TokenKind::Word, "a cache policy's value")?;
            Ok((key, Attribute::Word(value), parser.since(span)))
        })?;
        Ok(Attribute::Policy(Attributes(list)))
    }
}

/// Whether a name is that of a type of integers, as MLIR spells them.
fn is_integer_type(name: &str) -> bool {
    let bits = ["i", "si", "ui"].iter().find_map(|prefix| name.strip_prefix(prefix));
    let is_number = |bits: &str| !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    name == "index" || bits.is_some_and(is_number)
}
