//! `loc(…)` and its aliases, which may be defined after they are used.

use super::lexer::TokenKind;
use super::parser::Parser;
use super::syntax::{Errors, Parse};
use super::{MAX_DEPTH, Places};
use crate::budget::Stop;
use crate::diagnostic::{Diagnostic, Span};
use crate::location::{Loc, Location, Locations, Source};
use std::collections::BTreeMap;

/// The aliases `#name` of a text.
#[derive(Clone, Default)]
pub(super) struct Aliases<'a>(BTreeMap<&'a str, Alias>);

#[derive(Clone)]
struct Alias {
    loc: Loc,
    first_mention: Span,
    defined: bool,
}

impl<'t> Aliases<'t> {
    /// Where in the user's source an operation stands that is at this place of the text, or the next
    /// operation where the text says nothing of this one: an operation's location ends its last line.
    pub(super) fn source(&self, text: &'t str, at: Span, locations: &Locations) -> Option<Source> {
        let (line, _) = at.line_column(text);
        let place = |line: &'t str| {
            line.trim_end().strip_suffix(')')?.rsplit_once("loc(").map(|(_, place)| place)
        };
        let place = text.lines().skip(line - 1).find_map(place)?;
        let mut parser = Parser::new(place, Places::Source, &Stop::default());
        (parser.locations, parser.aliases) = (locations.clone(), self.clone());
        let written = parser.place(0).ok()?;
        let loc = parser.entry(written);
        parser.locations.source(loc)
    }

    /// Complains about aliases that are used and never defined.
    pub(super) fn report_undefined(&self, errors: &mut Errors) {
        let mut missing: Vec<_> = self.0.iter().filter(|(_, alias)| !alias.defined).collect();
        missing.sort_by_key(|(_, alias)| alias.first_mention);
        for (name, alias) in missing {
            let message = format!("the location `{name}` is never defined");
            let hint = format!("a line `{name} = loc(…)` defines it");
            errors.push(Diagnostic::new(alias.first_mention, message).with_hint(hint));
        }
    }
}

/// A place that has an entry, or one that needs one.
enum Interned {
    Entry(Loc),
    New(Location),
}

impl<'a> Parser<'a> {
    /// Reads a place, `loc(…)`.
    pub(super) fn location(&mut self) -> Parse<Loc> {
        self.expect_word("loc")?;
        self.expect(b'(')?;
        let place = self.place(0)?;
        self.expect(b')')?;
        Ok(self.entry(place))
    }

    /// `#loc3 = loc(…)`, or an alias for an attribute.
    pub(super) fn alias_definition(&mut self) -> Parse<()> {
        let (name, span) = self.take(TokenKind::Alias, "an alias")?;
        self.expect(b'=')?;
        if !self.at_word("loc") {
            return self.attribute_alias(name, span);
        }
        self.bump();
        self.expect(b'(')?;
        let location = match self.place(0)? {
            Interned::New(location) => location,
            Interned::Entry(loc) => self.locations.get(loc).clone(),
        };
        self.expect(b')')?;
        let loc = self.alias(name, span);
        if let Some(alias) = self.aliases.0.get_mut(name) {
            if alias.defined {
                let message = format!("the location `{name}` is defined twice");
                return Err(Diagnostic::new(span, message));
            }
            alias.defined = true;
        }
        self.locations.set(loc, location);
        Ok(())
    }

    fn entry(&mut self, place: Interned) -> Loc {
        match place {
            Interned::Entry(loc) => loc,
            Interned::New(Location::Unknown) => Locations::unknown(),
            Interned::New(location) => self.locations.push(location),
        }
    }

    fn alias(&mut self, name: &'a str, span: Span) -> Loc {
        let locations = &mut self.locations;
        let alias = self.aliases.0.entry(name).or_insert_with(|| Alias {
            loc: locations.push(Location::Unknown),
            first_mention: span,
            defined: false,
        });
        alias.loc
    }

    /// What stands between the parentheses.
    fn place(&mut self, depth: usize) -> Parse<Interned> {
        if depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} locations inside one another");
            return Err(Diagnostic::new(self.token.span, message));
        }
        match self.token.kind {
            TokenKind::Alias => {
                let (name, span) = self.take(TokenKind::Alias, "an alias")?;
                Ok(Interned::Entry(self.alias(name, span)))
            }
            TokenKind::String => self.file_or_name(depth),
            TokenKind::Word => match self.text() {
                "unknown" => {
                    self.bump();
                    Ok(Interned::New(Location::Unknown))
                }
                "callsite" => {
                    self.bump();
                    self.expect(b'(')?;
                    let callee = self.place(depth + 1)?;
                    let callee = self.entry(callee);
                    self.expect_word("at")?;
                    let caller = self.place(depth + 1)?;
                    let caller = self.entry(caller);
                    self.expect(b')')?;
                    Ok(Interned::New(Location::CallSite { callee, caller }))
                }
                "fused" => self.fused(depth),
                _ => self.expected_place(),
            },
            _ => self.expected_place(),
        }
    }

    fn expected_place(&self) -> Parse<Interned> {
        self.expected("a location: `#loc1`, `\"file\":line:column`, `callsite(…)` or `unknown`")
    }

    /// `fused<…>[a, b]`: several places made one operation; the first is taken.
    fn fused(&mut self, depth: usize) -> Parse<Interned> {
        self.bump();
        if self.at(b'<') {
            self.skip_brackets()?;
        }
        self.expect(b'[')?;
        let places = self.list(b']', |parser| parser.place(depth + 1))?;
        Ok(places.into_iter().next().unwrap_or(Interned::New(Location::Unknown)))
    }

    /// `"file":12:3`, `"file":12:3 to :14:5`, `"name"(place)` or `"name"`.
    fn file_or_name(&mut self, depth: usize) -> Parse<Interned> {
        let name = unescape(self.text());
        self.bump();
        if self.eat(b'(') {
            let of = self.place(depth + 1)?;
            let of = self.entry(of);
            self.expect(b')')?;
            return Ok(Interned::New(Location::Named { name, of }));
        }
        if !self.eat(b':') {
            return Ok(Interned::New(Location::Named { name, of: Locations::unknown() }));
        }
        let line = self.index("a line number")?;
        self.expect(b':')?;
        let column = self.index("a column number")?;
        if self.eat_word("to") {
            // The end of a range is not kept.
            if self.token.kind == TokenKind::Integer {
                self.bump();
            }
            while self.eat(b':') {
                self.index::<u32>("a line or column number")?;
            }
        }
        Ok(Interned::New(Location::File { file: name, line, column }))
    }
}

/// A string's content: without quotes, `\"`, `\\`, `\n`, `\t` and `\41` resolved.
pub(super) fn unescape(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let hexadecimal = rest.get(..2).and_then(|digits| core::str::from_utf8(digits).ok());
        if let Some(code) = hexadecimal.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(code);
            rest = rest.get(2..).unwrap_or_default();
        } else if let Some((&escaped, after)) = rest.split_first() {
            bytes.push(match escaped {
                b'n' => b'\n',
                b't' => b'\t',
                other => other,
            });
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
