//! Inline assembly: PTX, read and written as operations of the tile program.
//!
//! ```text
//! %r = tt.elementwise_inline_asm "shf.l.wrap.b32 $0, $1, $2, 5;"
//!        {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %a, %b : T, T -> T
//! ```
//!
//! One run of the text takes `packed_element` elements of each operand. Elements narrower than 32 bits
//! come several in a register, the first in the low bits; where there are not enough, the rest is
//! zero. Which elements come together is not said by Triton; here neighbours in row-major order do.
//!
//! A text with an instruction that is not read stays as it is: only NVIDIA's assembler knows what it
//! means, and only PTX and CUDA have it.

mod bits;
mod convert;
mod read;
mod write;

use super::attribute::Attribute;
use super::build::UNUSED;
use super::lexer::TokenKind;
use super::location::unescape;
use super::parser::Parser;
use super::rewrite::Rewriter;
use super::syntax::{Action, Operation, Parse};
use super::table::Details;
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast};
use crate::tile::{self, Element, OpKind, Type, Value, WriteOps};

/// The attributes of inline assembly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct InlineAsm {
    text: String,
    constraints: String,
    /// The elements of each operand in one run.
    packed: u64,
    /// Whether it does nothing but define its results.
    pure: bool,
}

/// The most elements of an operand in one run.
const MOST_PACKED: u64 = 64;

impl<'a> Parser<'a> {
    /// Inline assembly, from its text on.
    pub(super) fn inline_asm(
        &mut self,
        mut details: Details<'a>,
        start: Span,
    ) -> Parse<Operation<'a>> {
        if self.token.kind != TokenKind::String {
            return self.expected("a text in quotes");
        }
        let text = unescape(self.text());
        self.bump();
        if self.at(b'{') {
            let attributes = self.attributes()?;
            details.attributes.extend(attributes);
        }
        let pure = details.attributes.take_bool("pure")?;
        let constraints = match details.attributes.take("constraints") {
            Some((Attribute::String(constraints), _)) => constraints.to_string(),
            _ => return Err(Diagnostic::new(details.span, "inline assembly has `constraints`")),
        };
        let packed = match details.attributes.take_integer("packed_element")? {
            Some((count, span)) => u64::try_from(count)
                .ok()
                .filter(|count| count.is_power_of_two() && *count <= MOST_PACKED)
                .ok_or_else(|| {
                    Diagnostic::new(span, "a power of two of elements is packed, at most 64")
                })?,
            None => 1,
        };
        details.attributes.finish(details.name)?;
        let mut operation = Operation::new(Action::Broken, start);
        while self.token.kind == TokenKind::Value {
            operation.operands.push(self.value()?);
            if !self.eat(b',') {
                break;
            }
        }
        if self.eat(b':') {
            operation.operand_types.push(self.ty()?);
            while self.eat(b',') {
                operation.operand_types.push(self.ty()?);
            }
        }
        self.expect_arrow()?;
        operation.result_types.push(self.ty()?);
        while self.eat(b',') {
            operation.result_types.push(self.ty()?);
        }
        operation.span = self.since(start);
        if operation.operands.len() != operation.operand_types.len() {
            return Err(Diagnostic::new(operation.span, "every operand has a type"));
        }
        operation.action =
            Action::InlineAsm(Box::new(InlineAsm { text, constraints, packed, pure }));
        Ok(operation)
    }
}

/// The bits of an element as it comes into a register.
fn stored_bits(ty: &Type) -> u64 {
    u64::from(ty.dtype().bytes()) * 8
}

/// The registers of an operand in one run.
fn registers(ty: &Type, packed: u64) -> u64 {
    (packed * stored_bits(ty)).div_ceil(32.max(stored_bits(ty)))
}

/// The operands that assembly names: `$3` and `${3}`, maybe with a modifier, but not `$$`, which is a
/// dollar.
fn slots(text: &str) -> impl Iterator<Item = usize> {
    let mut rest = text;
    core::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('$')? + 1..];
            if let Some(after) = rest.strip_prefix('$') {
                rest = after;
                continue;
            }
            let name = rest.strip_prefix('{').unwrap_or(rest);
            let digits = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
            if digits > 0 {
                // A number that is too long is one that there is not.
                return Some(name[..digits].parse().unwrap_or(usize::MAX));
            }
        }
    })
}

impl Rewriter<'_, '_, '_> {
    /// The results of inline assembly.
    pub(super) fn inline_asm(&mut self, asm: &InlineAsm, operands: &[Value]) -> Option<Vec<Value>> {
        let results = self.operation.result_types.clone();
        let shape = results.first()?.shape.clone();
        let all = operands.iter().map(|&operand| self.ty(operand)).chain(results.iter().cloned());
        let all: Vec<Type> = all.collect();
        if all.iter().any(|ty| matches!(ty.element, Element::Token | Element::Descriptor(_))) {
            return self.refuse("inline assembly takes and gives numbers and pointers");
        }
        if all.iter().any(|ty| ty.shape != shape) {
            return self.refuse("operands and results of inline assembly have one shape");
        }
        let elements: u64 = shape.iter().product();
        if !elements.is_multiple_of(asm.packed) {
            let (packed, message) = (asm.packed, "elements are packed, and there are only");
            return self.refuse(format!("{packed} {message} {elements}"));
        }
        let mut inputs = Vec::new();
        for (&operand, ty) in operands.iter().zip(&all) {
            inputs.extend(self.packed(operand, ty, asm.packed));
        }
        let outputs: u64 = results.iter().map(|ty| registers(ty, asm.packed)).sum();
        let widths = match widths(&asm.constraints, outputs as usize, inputs.len()) {
            Ok(widths) => widths,
            Err(message) => return self.refuse(message),
        };
        if let Some(slot) = slots(&asm.text).find(|&slot| slot >= widths.len()) {
            let most = widths.len().saturating_sub(1);
            return self.refuse(format!("the assembly has no `${slot}`: it has `$0` to `${most}`"));
        }
        // The type of a word: with several elements packed, a row of them.
        let word = Element::Scalar(DType::I32);
        let run = match asm.packed {
            1 => results.first()?.with_element(word),
            packed => Type::tensor(word, &[elements / packed]),
        };
        let (before, names) = (self.out.len(), self.builder.names.mark());
        let words = match write::run(self, &asm.text, &run, &widths, inputs.clone()) {
            Ok(words) => words,
            Err(reason) => {
                // What was written so far is forgotten, and the text handed on.
                self.out.truncate(before);
                self.builder.names.leave(names);
                if let Some(letter) =
                    constraints(&asm.constraints).find(|&letter| !is_handed_on(letter))
                {
                    return self.refuse(format!(
                        "assembly that is handed on has no operands of constraint `{letter}`, and {reason}"
                    ));
                }
                self.handed_on(asm, &inputs, &widths[..outputs as usize], &run, reason)
            }
        };
        let mut words = words.into_iter();
        let mut unpacked = Vec::new();
        for ty in &results {
            let own: Vec<Value> = words.by_ref().take(registers(ty, asm.packed) as usize).collect();
            unpacked.push(self.unpacked(&own, ty, asm.packed)?);
        }
        Some(unpacked)
    }

    /// The one result of a text that can be read.
    pub(super) fn read_ptx(
        &mut self,
        text: &str,
        constraints: &str,
        result: &Type,
        operands: &[Value],
    ) -> Option<Value> {
        let widths = widths(constraints, 1, operands.len()).ok()?;
        let run = result.with_element(Element::Scalar(DType::I32));
        let inputs = operands
            .iter()
            .map(|&operand| {
                let ty = self.ty(operand);
                self.raw(operand, &ty)
            })
            .collect();
        let words = write::run(self, text, &run, &widths, inputs).ok()?;
        self.unpacked(&words, result, 1)
    }

    /// The words that assembly gives whose text is not read.
    fn handed_on(
        &mut self,
        asm: &InlineAsm,
        inputs: &[Value],
        outputs: &[DType],
        run: &Type,
        reason: String,
    ) -> Vec<Value> {
        let types = outputs.iter().map(|&dtype| run.with_element(Element::Scalar(dtype)));
        let types: Vec<Type> = types.collect();
        let (text, constraints) = (asm.text.clone(), asm.constraints.clone());
        let asm = tile::InlineAsm { text, constraints, pure: asm.pure, reason };
        // Words that are results already have their names.
        let own = self.operation.results.first().filter(|_| types == self.operation.result_types);
        let name = own.map_or(UNUSED, |result| result.name);
        self.several(OpKind::InlineAsm(Box::new(asm)), inputs, (name, &types))
    }

    /// The registers of an operand: each a tensor of as many elements as there are runs.
    fn packed(&mut self, operand: Value, ty: &Type, packed: u64) -> Vec<Value> {
        let bits = stored_bits(ty);
        let word = if bits == 64 { DType::I64 } else { DType::I32 };
        let raw = self.raw(operand, ty);
        let parts = self.taken_apart(raw, packed);
        let each = (32 / bits).max(1) as usize;
        let mut words = Vec::new();
        for chunk in parts.chunks(each) {
            let mut sum = None;
            for (index, &part) in chunk.iter().enumerate() {
                let wide = self.cast(Cast::ExtU, part, word);
                sum = Some(match sum {
                    None => wide,
                    Some(sum) => {
                        let moved = self.with_number(Binary::Shl, wide, index as u64 * bits);
                        self.binary(Binary::Or, sum, moved)
                    }
                });
            }
            words.extend(sum);
        }
        words
    }

    /// The elements that registers hold.
    fn unpacked(&mut self, words: &[Value], ty: &Type, packed: u64) -> Option<Value> {
        let bits = stored_bits(ty);
        let integer = integer_of(bits);
        let each = (32 / bits).max(1);
        let mut parts = Vec::new();
        for index in 0..packed {
            let mut word = *words.get((index / each) as usize)?;
            if index % each > 0 {
                word = self.with_number(Binary::ShrU, word, index % each * bits);
            }
            parts.push(self.cast(Cast::Trunc, word, integer));
        }
        let whole = self.put_together(&parts)?;
        let whole = self.reshape(whole, &ty.shape);
        Some(self.cooked(whole, ty))
    }

    /// Tensors of the first, second, … elements of each `packed` neighbours.
    fn taken_apart(&mut self, x: Value, packed: u64) -> Vec<Value> {
        if packed <= 1 {
            return vec![x];
        }
        let rows = self.ty(x).elements() / 2;
        let wide = self.reshape(x, &[rows, 2]);
        let half = Type::tensor(self.ty(x).element, &[rows]);
        let halves = self.several(OpKind::Split, &[wide], (UNUSED, &[half.clone(), half]));
        let parts = halves.into_iter().map(|half| self.taken_apart(half, packed / 2));
        let parts: Vec<Vec<Value>> = parts.collect();
        let count = parts.first().map_or(0, Vec::len);
        // Those of the even half and of the odd half in turn.
        (0..count).flat_map(|index| parts.iter().map(move |part| part[index])).collect()
    }

    /// The tensor whose elements [`taken_apart`](Self::taken_apart) takes apart into these.
    fn put_together(&mut self, parts: &[Value]) -> Option<Value> {
        if let [part] = *parts {
            return Some(part);
        }
        let every = |first: usize| parts.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
        let [even, odd] = [0, 1].map(every);
        let (even, odd) = (self.put_together(&even)?, self.put_together(&odd)?);
        Some(self.interleaved(even, odd))
    }

    /// The bits of a value as an integer.
    fn raw(&mut self, x: Value, ty: &Type) -> Value {
        let integer = integer_of(stored_bits(ty));
        match ty.element {
            Element::Scalar(DType::I1) => self.cast(Cast::ExtU, x, integer),
            _ => self.cast(Cast::Bits, x, integer),
        }
    }

    /// A value of a type from its bits.
    fn cooked(&mut self, x: Value, ty: &Type) -> Value {
        match ty.element {
            Element::Scalar(DType::I1) => self.cast(Cast::Trunc, x, DType::I1),
            Element::Scalar(dtype) => self.cast(Cast::Bits, x, dtype),
            // Refused before.
            Element::Token | Element::Descriptor(_) => x,
            pointer @ Element::Pointer(_) => {
                let ty = self.ty(x).with_element(pointer);
                self.one(OpKind::Cast(Cast::Bits), &[x], &ty)
            }
        }
    }
}

fn integer_of(bits: u64) -> DType {
    match bits {
        8 => DType::I8,
        16 => DType::I16,
        64 => DType::I64,
        _ => DType::I32,
    }
}

/// The constraints of a text, each of an output with its `=`.
fn constraints(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|constraint| !constraint.is_empty())
}

/// Whether the registers of a constraint are such as a text that is not read is given.
fn is_handed_on(constraint: &str) -> bool {
    ["r", "f", "l", "d"].contains(&constraint.trim_start_matches('='))
}

/// The width of each operand, outputs first, as an integer type.
fn widths(text: &str, outputs: usize, inputs: usize) -> Result<Vec<DType>, String> {
    let all: Vec<&str> = constraints(text).collect();
    let of = |(index, constraint): (usize, &&str)| {
        let letter = match constraint.strip_prefix('=') {
            Some(letter) if index < outputs => letter,
            None if index >= outputs => constraint,
            _ => return Err(format!("the constraints `{text}` name outputs, then inputs")),
        };
        match letter {
            // Half a word is the lower half of one, and a constant is read where it stands.
            "r" | "f" | "h" | "n" => Ok(DType::I32),
            "l" | "d" => Ok(DType::I64),
            _ => Err(format!("the constraint `{constraint}` is none of r, f, h, n, l and d")),
        }
    };
    if all.len() != outputs + inputs {
        return Err(format!(
            "the constraints `{text}` are for {}, and there are {outputs} outputs and {inputs} \
             inputs in registers",
            all.len()
        ));
    }
    all.iter().enumerate().map(of).collect()
}
