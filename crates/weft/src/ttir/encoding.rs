//! Encodings in types, and what a module says of its launch.
//!
//! TTGIR names its layouts in aliases at the top, `#blocked = #ttg.blocked<{…}>`, and gives each tensor
//! one: `tensor<64x64xf32, #blocked>`. The attributes themselves are read by the layout engine. A type
//! is checked where it stands: the layout must be one of its shape, for the module's warps and lanes.

use super::attribute::{Attribute, Attributes};
use super::lexer::TokenKind;
use super::parser::{Parser, shortened};
use super::syntax::Parse;
use crate::diagnostic::{Diagnostic, Span};
use crate::tile::{Element, Encoding, SharedMemory, Type};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_layout::family::Family;
use weft_layout::interop;

/// The longest attribute, with the aliases in it written out.
const MAX_ATTRIBUTE: usize = 1 << 14;
/// How MLIR's text calls shared memory.
const SHARED_MEMORY: &str = "#ttg.shared_memory";

/// The attributes of a text that aliases stand for, and the types that were read.
#[derive(Default)]
pub(super) struct Encodings<'a> {
    /// What each alias stands for, with the aliases in it written out.
    aliases: BTreeMap<&'a str, String>,
    /// The encodings that fit a shape, by their text.
    known: BTreeMap<(&'a str, Vec<u64>), Encoding>,
}

impl<'a> Parser<'a> {
    /// `#blocked = …`, from behind the `=`: an attribute that types may name.
    pub(super) fn attribute_alias(&mut self, name: &'a str, span: Span) -> Parse<()> {
        let start = self.token.span;
        let is_attribute = self.token.kind == TokenKind::Alias;
        self.attribute(0)?;
        if !is_attribute {
            return Ok(());
        }
        let place = self.since(start);
        // What names an alias that is not known is refused where somebody asks for it.
        let Ok(text) = self.written_out(self.lexer.slice(place), place) else { return Ok(()) };
        if self.encodings.aliases.insert(name, text).is_some() {
            return Err(Diagnostic::new(span, format!("the alias `{name}` is defined twice")));
        }
        Ok(())
    }

    /// What the module says of the launch.
    pub(super) fn launch_attributes(&mut self, mut attributes: Attributes<'a>) -> Parse<()> {
        let mut count = |name: &str| -> Parse<Option<(u32, Span)>> {
            let Some((value, span)) = attributes.take_integer(name)? else { return Ok(None) };
            match u32::try_from(value) {
                Ok(count) if count.is_power_of_two() => Ok(Some((count, span))),
                _ => {
                    let message = format!("`{name}` is {value}, and must be a power of two");
                    Err(Diagnostic::new(span, message))
                }
            }
        };
        self.launch.warps = count("ttg.num-warps")?.map(|(count, _)| count);
        self.launch.lanes = count("ttg.threads-per-warp")?.map(|(count, _)| count);
        if let Some((blocks @ 2.., span)) = count("ttg.num-ctas")? {
            let message = format!("clusters of {blocks} blocks are not supported");
            let hint = "compile with `num_ctas = 1`";
            return Err(Diagnostic::new(span, message).with_hint(hint));
        }
        if let Some((Attribute::String(target), _)) = attributes.take("ttg.target") {
            self.launch.target = Some(target.to_string());
        }
        Ok(())
    }

    /// The encoding of a tensor, from behind the comma; `start` is where its type begins.
    pub(super) fn distribution(&mut self, element: Element, shape: &[u64]) -> Parse<Encoding> {
        let (text, place) = self.attribute_text()?;
        let key = (text, shape.to_vec());
        if let Some(known) = self.encodings.known.get(&key) {
            return Ok(known.clone());
        }
        let family = self.family(text, place)?;
        let encoding = Encoding::Registers(Arc::new(family));
        let ty = Type::tensor(element, shape).with_encoding(encoding.clone());
        self.check(&ty, place)?;
        self.encodings.known.insert(key, encoding.clone());
        Ok(encoding)
    }

    /// `<2x64x64xf16, #shared, #smem, mutable, 3x64x64>` of a `!ttg.memdesc`, or alone.
    pub(super) fn memory_description(&mut self) -> Parse<Type> {
        let start = self.token.span;
        let shape = self.extents()?;
        let element = self.element()?;
        self.expect(b',')?;
        let (text, place) = self.attribute_text()?;
        let family = self.family(text, place)?;
        self.expect(b',')?;
        let (space, space_at) = self.attribute_text()?;
        if self.written_out(space, space_at)? != SHARED_MEMORY {
            let message = format!("memory in `{}` is not supported", shortened(space));
            let hint = "shared memory is `#ttg.shared_memory`";
            return Err(Diagnostic::new(space_at, message).with_hint(hint));
        }
        let mut more = self.eat(b',');
        let mutable = more && self.eat_word("mutable");
        if mutable {
            more = self.eat(b',');
        }
        let allocated = if more { Some(self.allocated_extents()?) } else { None };
        self.expect(b'>')?;
        let place = self.since(start);
        let allocated: SmallVec<[u64; 4]> =
            allocated.map_or_else(|| shape.iter().copied().collect(), SmallVec::from_vec);
        for shape in [&shape[..], &allocated] {
            super::types::check_count(shape, place)?;
        }
        let memory = SharedMemory { family, mutable, allocated };
        let ty = Type::tensor(element, &shape).with_encoding(Encoding::Shared(Arc::new(memory)));
        super::types::check_extents(ty.tensor_extents(), place)?;
        if !matches!(element, Element::Scalar(_)) {
            let message = format!("shared memory holds numbers, not `{element}`");
            return Err(Diagnostic::new(place, message));
        }
        self.check(&ty, place)?;
        Ok(ty)
    }

    fn check(&self, ty: &Type, place: Span) -> Parse<()> {
        ty.check_encoding(&self.launch).map_err(|misplaced| {
            let extents: Vec<String> = ty.shape.iter().map(ToString::to_string).collect();
            let shape = extents.join("x");
            let message = format!("this is no layout of {shape} elements here: {misplaced}");
            Diagnostic::new(place, message)
        })
    }

    /// An attribute's text, which begins with `#`.
    fn attribute_text(&mut self) -> Parse<(&'a str, Span)> {
        let start = self.token.span;
        self.take(TokenKind::Alias, "a layout, such as `#ttg.blocked<…>` or its alias")?;
        if self.at(b'<') {
            self.skip_brackets()?;
        }
        let place = self.since(start);
        Ok((self.lexer.slice(place), place))
    }

    fn family(&self, text: &str, place: Span) -> Parse<Family> {
        let text = self.written_out(text, place)?;
        interop::parse_attribute(&text)
            .map_err(|error| Diagnostic::new(place, format!("this layout cannot be read: {error}")))
    }

    /// An attribute with the aliases in it replaced by what they stand for.
    fn written_out(&self, text: &str, place: Span) -> Parse<String> {
        let mut result = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('#') {
            let (before, from) = rest.split_at(at);
            let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
            let length = 1 + from[1..].find(|c| !named(c)).unwrap_or(from.len() - 1);
            let (name, after) = from.split_at(length);
            result.push_str(before);
            match self.encodings.aliases.get(name) {
                Some(text) => result.push_str(text),
                None if name.contains('.') => result.push_str(name),
                None => {
                    let message = format!("the layout `{}` is not defined", shortened(name));
                    let hint = format!("a line `{name} = #ttg.…` before the module defines it");
                    return Err(Diagnostic::new(place, message).with_hint(hint));
                }
            }
            if result.len() > MAX_ATTRIBUTE {
                let message = format!("a layout of more than {MAX_ATTRIBUTE} characters");
                return Err(Diagnostic::new(place, message));
            }
            rest = after;
        }
        result.push_str(rest);
        Ok(result)
    }
}
