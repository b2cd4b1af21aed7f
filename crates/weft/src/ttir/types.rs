//! Types: scalars, pointers, and tensors of either.

use super::lexer::TokenKind;
use super::parser::{Parser, shortened};
use super::syntax::Parse;
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::tile::{Element, MAX_ELEMENTS, MAX_RANK, Type};

/// How texts name the address space of global memory. A pointer that the source declares
/// `tl.const` is printed with `"constant"`: its memory is global, and Triton's front end refuses
/// stores through it (`language/core.py`, `pointer_type.to_ir`, of Triton 3.9).
const GLOBAL_SPACES: [&str; 3] = ["1", "\"global\"", "\"constant\""];

/// The block of a tensor descriptor's type. Integers have a sign there, and nowhere else.
pub(super) struct DescribedBlock {
    pub(super) ty: Type,
    /// Whether its integers are unsigned (`ui32`).
    pub(super) unsigned: bool,
}

impl Parser<'_> {
    /// Reads a type, as Triton spells it.
    pub(super) fn ty(&mut self) -> Parse<Type> {
        if self.token.kind == TokenKind::TypeName && self.text() == "!ttg.memdesc" {
            self.bump();
            if !self.at(b'<') {
                return self.expected("`<` and the extents in memory");
            }
            return self.memory_description();
        }
        if self.at_descriptor() {
            return self.descriptor_type();
        }
        if !self.at_word("tensor") {
            return Ok(Type::single(self.element()?));
        }
        let start = self.token.span;
        self.bump();
        if !self.at(b'<') {
            return self.expected("`<` and the tensor's extents");
        }
        let shape = self.extents()?;
        let element = self.element()?;
        check_shape(&shape, self.since(start))?;
        let mut ty = Type::tensor(element, &shape);
        if self.eat(b',') {
            ty = ty.with_encoding(self.distribution(element, &shape)?);
        }
        self.expect(b'>')?;
        Ok(ty)
    }

    /// The `<32x32xf32>` of a descriptor's block, after `tensor` or alone; an integer may say its sign.
    pub(super) fn block_of_descriptor(&mut self) -> Parse<DescribedBlock> {
        let start = self.token.span;
        let shape = self.extents()?;
        let text = self.text();
        let unsigned = text.starts_with("ui");
        let signless = text.strip_prefix("si").or(text.strip_prefix("ui"));
        let integer = signless.and_then(|bits| {
            DType::ALL.into_iter().find(|dtype| dtype.is_int() && dtype.bits().to_string() == bits)
        });
        let element = match integer {
            Some(dtype) => {
                self.bump();
                Element::Scalar(dtype)
            }
            None => self.element()?,
        };
        if self.at(b',') {
            // How the block lies in shared memory, which is not used here.
            self.bump();
            self.attribute(0)?;
        }
        self.expect(b'>')?;
        check_shape(&shape, self.since(start))?;
        Ok(DescribedBlock { ty: Type::tensor(element, &shape), unsigned })
    }

    /// `3x64x64`: the extents of what was allocated, without an element.
    pub(super) fn allocated_extents(&mut self) -> Parse<Vec<u64>> {
        let start = self.token.span.start as usize;
        self.lexer.seek(start);
        let length = self.lexer.rest().bytes().take_while(|b| *b == b'x' || b.is_ascii_digit());
        let span = Span::new(start, start + length.count());
        let extents = self.lexer.slice(span).split('x').map(str::parse).collect::<Result<_, _>>();
        let Ok(extents) = extents else {
            return Err(Diagnostic::new(span, "expected `mutable` or extents such as `3x64x64`"));
        };
        self.lexer.seek(span.end as usize);
        self.bump();
        Ok(extents)
    }

    /// `<128x64x`: here `0x10` is no hexadecimal number, so the text is read by hand.
    pub(super) fn extents(&mut self) -> Parse<Vec<u64>> {
        let mut shape = Vec::new();
        let blanks = |text: &str| text.len() - text.trim_start().len();
        let mut position = self.token.span.end as usize;
        self.lexer.seek(position);
        position += blanks(self.lexer.rest());
        loop {
            self.lexer.seek(position);
            let rest = self.lexer.rest();
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                break;
            }
            let span = Span::new(position, position + digits);
            let Ok(extent) = self.lexer.slice(span).parse() else {
                return Err(Diagnostic::new(span, "this extent is too large"));
            };
            if rest.as_bytes().get(digits) != Some(&b'x') {
                return Err(Diagnostic::new(span, "`x` and the element type follow an extent"));
            }
            if shape.len() == MAX_RANK {
                let message = format!("tensors with more than {MAX_RANK} dimensions are not read");
                return Err(Diagnostic::new(span, message));
            }
            shape.push(extent);
            position += digits + 1;
        }
        self.bump();
        if shape.is_empty() { self.expected("an extent, such as `128x`") } else { Ok(shape) }
    }

    /// A scalar type or a pointer.
    pub(super) fn element(&mut self) -> Parse<Element> {
        let text = self.text();
        match self.token.kind {
            TokenKind::Word => match DType::by_name(text) {
                Some(dtype) => {
                    self.bump();
                    Ok(Element::Scalar(dtype))
                }
                None if is_type_name(text) => Err(self.unsupported_type()),
                None => self.expected("a type, such as `f32` or `tensor<128xf32>`"),
            },
            TokenKind::TypeName if text == "!tt.ptr" => self.pointer(),
            TokenKind::TypeName if text == "!ttg.async.token" => {
                self.bump();
                Ok(Element::Token)
            }
            TokenKind::TypeName => Err(self.unsupported_type()),
            _ => self.expected("a type, such as `f32` or `tensor<128xf32>`"),
        }
    }

    /// `!tt.ptr<f32>`, or with its address space: by number as in `!tt.ptr<f32, 1>`, from Triton
    /// 3.9 on by name as in `!tt.ptr<f32, "constant">`.
    fn pointer(&mut self) -> Parse<Element> {
        self.bump();
        self.expect(b'<')?;
        let pointee = match self.token.kind {
            TokenKind::Word => DType::by_name(self.text()),
            _ => None,
        };
        let Some(pointee) = pointee else {
            return Err(self.unsupported_type());
        };
        self.bump();
        if self.eat(b',') {
            let space = self.token.span;
            if !GLOBAL_SPACES.contains(&self.text()) {
                let message =
                    format!("address space `{}` is not supported", shortened(self.text()));
                let hint = format!("pointers to global memory have {}", GLOBAL_SPACES.join(", "));
                return Err(Diagnostic::new(space, message).with_hint(hint));
            }
            self.bump();
        }
        self.expect(b'>')?;
        Ok(Element::Pointer(pointee))
    }

    fn unsupported_type(&self) -> Diagnostic {
        let names = DType::ALL.map(DType::name).join(", ");
        Diagnostic::new(
            self.token.span,
            format!("the type `{}` is not supported", shortened(self.text())),
        )
        .with_hint(format!("there are {names}, and pointers to them"))
    }
}

/// Whether a word that is no type of ours looks like one of MLIR's.
fn is_type_name(word: &str) -> bool {
    let (letters, rest) = word.split_at(word.bytes().take_while(u8::is_ascii_alphabetic).count());
    let numbered = matches!(letters, "f" | "i" | "si" | "ui" | "bf" | "tf")
        && rest.starts_with(|c: char| c.is_ascii_digit());
    numbered || matches!(word, "index" | "none" | "vector" | "memref" | "complex" | "tuple")
}

/// Refuses extents that no tile may have.
pub(super) fn check_shape(shape: &[u64], span: Span) -> Parse<()> {
    check_extents(shape, span)?;
    check_count(shape, span)
}

/// Refuses extents that are no powers of two.
pub(super) fn check_extents(shape: &[u64], span: Span) -> Parse<()> {
    let Some(extent) = shape.iter().find(|extent| !extent.is_power_of_two()) else {
        return Ok(());
    };
    let message = format!("the extent {extent} is not a power of two");
    let hint = match extent.checked_next_power_of_two() {
        Some(next) if next <= MAX_ELEMENTS => {
            format!("the next one is {next}; mask what is too much")
        }
        _ => "tile extents are".into(),
    };
    Err(Diagnostic::new(span, message).with_hint(hint))
}

/// Refuses more elements than a tile may have, and none.
pub(super) fn check_count(shape: &[u64], span: Span) -> Parse<()> {
    let elements = shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent));
    if elements.is_none_or(|elements| elements > MAX_ELEMENTS) {
        let message = format!("a tile has at most 2^{} elements", MAX_ELEMENTS.ilog2());
        let hint = "split the work over more program instances";
        return Err(Diagnostic::new(span, message).with_hint(hint));
    }
    if elements == Some(0) {
        return Err(Diagnostic::new(span, "there is at least one element"));
    }
    Ok(())
}
