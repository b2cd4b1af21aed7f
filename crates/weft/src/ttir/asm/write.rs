//! PTX instructions as operations of the tile program.
//!
//! Registers hold integers of their width; what an instruction takes for a float is the same bits.
//! What is read here means what the PTX ISA says, except that the approximate functions of f32
//! (`ex2.approx` and the like) are those of the tile program, and keep subnormals.

use super::super::build::UNUSED;
use super::super::rewrite::Rewriter;
use super::convert::{compare, directed};
use super::read::{Instruction, Operand, read};
use crate::dtype::DType;
use crate::instruction;
use crate::scalar::{Binary, Cast, Unary};
use crate::tile::{Element, OpKind, Type, Value, WriteOps};
use std::collections::BTreeMap;

/// Runs a text on the words `inputs`, tensors of type `run` (or of 64 bits); gives its outputs.
pub(super) fn run(
    rewriter: &mut Rewriter<'_, '_, '_>,
    text: &str,
    run: &Type,
    widths: &[DType],
    inputs: Vec<Value>,
) -> Result<Vec<Value>, String> {
    let assembly = read(text)?;
    let outputs = widths.len() - inputs.len();
    let mut registers = BTreeMap::new();
    for (name, ty) in assembly.registers {
        let (_, dtype) = typed(&ty).ok_or_else(|| format!("`.{ty}` is no type that is read"))?;
        registers.insert(name, (integer(dtype), None));
    }
    let mut slots: Vec<(DType, Option<Value>)> =
        widths[..outputs].iter().map(|&dtype| (dtype, None)).collect();
    for (input, &width) in inputs.into_iter().zip(&widths[outputs..]) {
        if rewriter.ty(input).dtype() != width {
            return Err("a constraint has another width than its operand".into());
        }
        slots.push((width, Some(input)));
    }
    let mut writer = Writer { rewriter, run, registers, slots };
    for instruction in &assembly.instructions {
        writer.instruction(instruction)?;
    }
    let outputs: Vec<(DType, Option<Value>)> = writer.slots.drain(..outputs).collect();
    // Triton gives what only orders grids a result, which nothing writes.
    let of_grids = !assembly.instructions.is_empty()
        && assembly.instructions.iter().all(|one| grid_order(one).is_some());
    let written = |(index, (dtype, value)): (usize, (DType, Option<Value>))| match value {
        Some(value) => Ok(value),
        None if of_grids => Ok(writer.constant(dtype, 0)),
        None => Err(format!("`${index}` is not written")),
    };
    outputs.into_iter().enumerate().map(written).collect()
}

/// What an instruction takes its operands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Signed,
    Unsigned,
    Bits,
    Float,
    /// Two floats of 16 bits in a word.
    Pair(DType),
}

/// The type that a word names.
pub(super) fn typed(word: &str) -> Option<(Kind, DType)> {
    Some(match word {
        "pred" => (Kind::Bits, DType::I1),
        "f16" => (Kind::Float, DType::F16),
        "bf16" => (Kind::Float, DType::BF16),
        "f32" => (Kind::Float, DType::F32),
        "f64" => (Kind::Float, DType::F64),
        "f16x2" => (Kind::Pair(DType::F16), DType::I32),
        "bf16x2" => (Kind::Pair(DType::BF16), DType::I32),
        _ => {
            let (letter, bits) = word.split_at_checked(1)?;
            let kind = match letter {
                "s" => Kind::Signed,
                "u" => Kind::Unsigned,
                "b" => Kind::Bits,
                _ => return None,
            };
            let dtype = match bits {
                "8" => DType::I8,
                "16" => DType::I16,
                "32" => DType::I32,
                "64" => DType::I64,
                _ => return None,
            };
            (kind, dtype)
        }
    })
}

/// What an instruction says to grids that depend on each other, if it is of those that do.
fn grid_order(instruction: &Instruction) -> Option<OpKind> {
    let Instruction { guard: None, words, operands } = instruction else { return None };
    match (words.join(".").as_str(), &operands[..]) {
        ("griddepcontrol.wait", []) => Some(OpKind::GridWait),
        ("griddepcontrol.launch_dependents", []) => Some(OpKind::GridLaunch),
        _ => None,
    }
}

/// The integer type of the same width.
fn integer(dtype: DType) -> DType {
    match dtype.bits() {
        1 => DType::I1,
        8 => DType::I8,
        16 => DType::I16,
        64 => DType::I64,
        _ => DType::I32,
    }
}

/// The state of the registers while a text is read.
pub(super) struct Writer<'w, 'b, 'a, 'r> {
    pub(super) rewriter: &'w mut Rewriter<'b, 'a, 'r>,
    /// The type of a word of 32 bits.
    run: &'w Type,
    registers: BTreeMap<String, (DType, Option<Value>)>,
    slots: Vec<(DType, Option<Value>)>,
}

pub(super) type Done<T> = Result<T, String>;

impl Writer<'_, '_, '_, '_> {
    pub(super) fn constant(&mut self, dtype: DType, bits: u64) -> Value {
        let ty = self.run.with_element(Element::Scalar(dtype));
        self.rewriter.constant(&ty, bits)
    }

    pub(super) fn unary(&mut self, op: Unary, x: Value) -> Value {
        let ty = self.rewriter.ty(x);
        self.rewriter.one(OpKind::Unary(op), &[x], &ty)
    }

    pub(super) fn binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        self.rewriter.binary(op, x, y)
    }

    pub(super) fn with(&mut self, op: Binary, x: Value, number: u64) -> Value {
        self.rewriter.with_number(op, x, number)
    }

    pub(super) fn cast(&mut self, cast: Cast, x: Value, to: DType) -> Value {
        self.rewriter.cast(cast, x, to)
    }

    /// The bits of a value as another type: of more bits with zeros above, of fewer without those.
    pub(super) fn bits(&mut self, x: Value, to: DType) -> Value {
        let from = self.rewriter.ty(x).dtype();
        let raw = self.cast(Cast::Bits, x, integer(from));
        let cast = if to.bits() > from.bits() { Cast::ExtU } else { Cast::Trunc };
        let sized = self.cast(cast, raw, integer(to));
        self.cast(Cast::Bits, sized, to)
    }

    /// What an operand holds, as a type.
    pub(super) fn get(&mut self, operand: &Operand, dtype: DType) -> Done<Value> {
        let value = match operand {
            Operand::Number(bits) => {
                return Ok(self.constant(dtype, bits & dtype.mask()));
            }
            Operand::Slot(index) => self.slots.get(*index).and_then(|slot| slot.1),
            Operand::Register(name)
                if name.starts_with('%') && !self.registers.contains_key(name) =>
            {
                Some(self.special(name)?)
            }
            Operand::Register(name) => self.registers.get(name).and_then(|register| register.1),
            Operand::Vector(_) => return Err("a vector stands where one register does".into()),
        };
        let value =
            value.ok_or_else(|| format!("`{}` is read before it is written", shown(operand)))?;
        Ok(self.bits(value, dtype))
    }

    /// The registers that name the instance.
    fn special(&mut self, name: &str) -> Done<Value> {
        let kind = match name {
            "%ctaid.x" => OpKind::ProgramId(0),
            "%ctaid.y" => OpKind::ProgramId(1),
            "%ctaid.z" => OpKind::ProgramId(2),
            "%nctaid.x" => OpKind::NumPrograms(0),
            "%nctaid.y" => OpKind::NumPrograms(1),
            "%nctaid.z" => OpKind::NumPrograms(2),
            _ => {
                return Err(format!(
                    "the special register `{name}` differs between threads, which the tile program does \
                     not know; %ctaid and %nctaid are read"
                ));
            }
        };
        let scalar = self.rewriter.one(kind, &[], &Type::scalar(DType::I32));
        Ok(self.rewriter.splat(scalar, &self.run.shape.clone()))
    }

    fn set(&mut self, operand: &Operand, value: Value) -> Done<()> {
        let width = match operand {
            Operand::Slot(index) => self.slots.get(*index).map(|slot| slot.0),
            Operand::Register(name) => self.registers.get(name).map(|register| register.0),
            _ => None,
        };
        let width = width.ok_or_else(|| format!("`{}` cannot be written", shown(operand)))?;
        let value = self.bits(value, width);
        match operand {
            Operand::Slot(index) => self.slots[*index].1 = Some(value),
            Operand::Register(name) => {
                self.registers.insert(name.clone(), (width, Some(value)));
            }
            _ => {}
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction) -> Done<()> {
        let Instruction { guard, words, operands } = instruction;
        if let Some(kind) = grid_order(instruction) {
            self.rewriter.several(kind, &[], (UNUSED, &[]));
            return Ok(());
        }
        let Some((destination, sources)) = operands.split_first() else {
            return Err(format!("`{}` is not read", words.join(".")));
        };
        // Both halves of a pair: `mov.b64 {lo, hi}, x`.
        if let (Operand::Vector(parts), [source]) = (destination, sources) {
            let whole = words.get(1).and_then(|word| typed(word)).filter(|_| words[0] == "mov");
            let (_, dtype) = whole.ok_or_else(|| format!("`{}` is not read", words.join(".")))?;
            let value = self.get(source, integer(dtype))?;
            return self.take_apart(value, parts);
        }
        let mut value = self.value(words, sources)?;
        if let Some((predicate, inverted)) = guard {
            let holds = self.get(predicate, DType::I1)?;
            let dtype = self.rewriter.ty(value).dtype();
            let before = match self.get(destination, dtype) {
                Ok(before) => before,
                // What was never written may be anything.
                Err(_) => self.constant(dtype, 0),
            };
            let (yes, no) = if *inverted { (before, value) } else { (value, before) };
            value = self.rewriter.select(holds, yes, no);
        }
        self.set(destination, value)
    }

    fn take_apart(&mut self, value: Value, parts: &[Operand]) -> Done<()> {
        let bits = u64::from(self.rewriter.ty(value).dtype().bits());
        let each = bits / parts.len().max(1) as u64;
        let part = match each {
            8 => DType::I8,
            16 => DType::I16,
            32 => DType::I32,
            _ => return Err("a register is taken apart into 2 or 4 of 8 bits or more".into()),
        };
        for (index, operand) in parts.iter().enumerate() {
            let moved = self.with(Binary::ShrU, value, index as u64 * each);
            let own = self.cast(Cast::Trunc, moved, part);
            self.set(operand, own)?;
        }
        Ok(())
    }

    /// What an instruction computes.
    fn value(&mut self, words: &[String], sources: &[Operand]) -> Done<Value> {
        let refused = || format!("`{}` is not read", words.join("."));
        let name = words[0].as_str();
        let modifiers: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        if name == "cvt" {
            return self.convert(&modifiers, sources).and_then(|value| value.ok_or_else(refused));
        }
        let Some((&last, modifiers)) = modifiers.split_last() else { return Err(refused()) };
        let (kind, dtype) = typed(last).ok_or_else(refused)?;
        if let (Kind::Pair(half), true) = (kind, name != "mov") {
            return self.pair(name, modifiers, half, sources)?.ok_or_else(refused);
        }
        let value = match (name, sources) {
            ("mov", [Operand::Vector(parts)]) => Some(self.put_together(dtype, parts)?),
            ("setp", [x, y]) => {
                let [predicate] = *modifiers else { return Err(refused()) };
                let [x, y] = [self.get(x, dtype)?, self.get(y, dtype)?];
                compare(predicate, kind).map(|op| self.rewriter.compare(op, x, y))
            }
            ("selp", [x, y, p]) => {
                let [x, y] = [self.get(x, dtype)?, self.get(y, dtype)?];
                let p = self.get(p, DType::I1)?;
                Some(self.rewriter.select(p, x, y))
            }
            ("mul" | "mad", [x, y, rest @ ..]) if modifiers == ["wide"] => {
                self.wide(kind, dtype, x, y, rest)?
            }
            ("shl" | "shr", [x, count]) if modifiers.is_empty() => {
                let op = match (name, kind) {
                    ("shl", _) => Binary::Shl,
                    (_, Kind::Signed) => Binary::ShrS,
                    _ => Binary::ShrU,
                };
                let (x, count) = (self.get(x, dtype)?, self.get(count, DType::I32)?);
                Some(self.shifted(op, x, count))
            }
            ("bfe", [x, from, count]) => {
                let x = self.get(x, dtype)?;
                let [from, count] = [self.get(from, DType::I32)?, self.get(count, DType::I32)?];
                (kind == Kind::Unsigned).then(|| self.field(x, from, count))
            }
            ("bfi", [x, y, from, count]) => {
                let [x, y] = [self.get(x, dtype)?, self.get(y, dtype)?];
                let [from, count] = [self.get(from, DType::I32)?, self.get(count, DType::I32)?];
                Some(self.insert(x, y, from, count))
            }
            _ => {
                let all: Done<Vec<Value>> =
                    sources.iter().map(|source| self.get(source, dtype)).collect();
                self.plain(name, modifiers, (kind, dtype), &all?)
            }
        };
        value.ok_or_else(refused)
    }

    /// An instruction whose operands and result have one type.
    fn plain(
        &mut self,
        name: &str,
        modifiers: &[&str],
        (kind, dtype): (Kind, DType),
        operands: &[Value],
    ) -> Option<Value> {
        let whole = kind != Kind::Float;
        // Approximate functions flush subnormals or not; exact operations that would are not read.
        let approximate = modifiers.iter().any(|word| *word == "approx" || *word == "full");
        let known = |word: &&str| match *word {
            "rn" | "approx" | "full" => !whole,
            "ftz" => approximate,
            "lo" => whole,
            _ => false,
        };
        if let (&[how], DType::F32 | DType::F64, false) = (modifiers, dtype, whole)
            && let Some(rounding) = directed(how)
        {
            let op = if name == "mad" { "fma" } else { name };
            return self.rewriter.arithmetic(op, Some(rounding), operands);
        }
        let high = modifiers == ["hi"];
        let wrap = modifiers == ["l", "wrap"] || modifiers == ["r", "wrap"];
        if !high && !wrap && !modifiers.iter().all(known) {
            return None;
        }
        let signed = kind == Kind::Signed;
        Some(match (name, operands) {
            ("mov", &[x]) => x,
            ("shf", &[low, high, count]) if wrap => {
                self.funnel(low, high, count, modifiers[0] == "l")
            }
            ("add", &[x, y]) => self.binary(Binary::Add, x, y),
            ("sub", &[x, y]) => self.binary(Binary::Sub, x, y),
            ("mul" | "mad", &[x, y, ref rest @ ..]) if high => {
                let product = self.high(signed, dtype, x, y)?;
                rest.iter().fold(product, |sum, &z| self.binary(Binary::Add, sum, z))
            }
            ("mul", &[x, y]) => self.binary(Binary::Mul, x, y),
            ("mad", &[x, y, z]) if whole => {
                let product = self.binary(Binary::Mul, x, y);
                self.binary(Binary::Add, product, z)
            }
            ("fma" | "mad", &[x, y, z]) if !whole => {
                let ty = self.rewriter.ty(x);
                self.rewriter.one(OpKind::Fma, &[x, y, z], &ty)
            }
            ("div", &[x, y]) if !whole => {
                let op = if approximate { Binary::Div } else { Binary::DivPrecise };
                self.binary(op, x, y)
            }
            ("div", &[x, y]) => self.binary(if signed { Binary::DivS } else { Binary::DivU }, x, y),
            ("rem", &[x, y]) if whole => {
                self.binary(if signed { Binary::RemS } else { Binary::RemU }, x, y)
            }
            ("and", &[x, y]) => self.binary(Binary::And, x, y),
            ("or", &[x, y]) => self.binary(Binary::Or, x, y),
            ("xor", &[x, y]) => self.binary(Binary::Xor, x, y),
            ("not", &[x]) => self.unary(Unary::Not, x),
            ("neg", &[x]) => self.unary(Unary::Neg, x),
            ("abs", &[x]) => self.unary(Unary::Abs, x),
            ("min" | "max", &[x, y]) => {
                let op = match (name, kind) {
                    ("min", Kind::Float) => Binary::MinNum,
                    (_, Kind::Float) => Binary::MaxNum,
                    ("min", Kind::Signed) => Binary::MinS,
                    ("min", _) => Binary::MinU,
                    (_, Kind::Signed) => Binary::MaxS,
                    _ => Binary::MaxU,
                };
                self.binary(op, x, y)
            }
            ("popc", &[x]) => {
                let count = self.ones(x, dtype);
                self.bits(count, DType::I32)
            }
            ("clz", &[x]) => {
                let smeared = self.smeared(x, dtype);
                let inverted = self.unary(Unary::Not, smeared);
                let count = self.ones(inverted, dtype);
                self.bits(count, DType::I32)
            }
            ("brev", &[x]) => self.reversed(x, dtype),
            ("prmt", &[x, y, selector]) => self.permuted(x, y, selector),
            ("lop3", &[x, y, z, table]) => self.table(x, y, z, table),
            ("tanh", &[x]) if approximate && dtype != DType::F32 => self.unary(Unary::Tanh, x),
            ("sqrt", &[x]) if !approximate => self.unary(Unary::SqrtPrecise, x),
            ("rcp", &[x]) => {
                let ty = self.rewriter.ty(x);
                let one = self.rewriter.float(&ty, 1.0);
                let op = if approximate { Binary::Div } else { Binary::DivPrecise };
                self.binary(op, one, x)
            }
            (name, &[x]) if approximate => self.unary(instruction::approximated_by(name)?, x),
            _ => return None,
        })
    }

    /// Both halves of a word for itself.
    fn pair(
        &mut self,
        name: &str,
        modifiers: &[&str],
        half: DType,
        sources: &[Operand],
    ) -> Done<Option<Value>> {
        let words: Done<Vec<Value>> =
            sources.iter().map(|source| self.get(source, DType::I32)).collect();
        let words = words?;
        let mut halves = Vec::new();
        for start in [0, 16] {
            let mut own = Vec::new();
            for &word in &words {
                let moved = self.with(Binary::ShrU, word, start);
                let narrow = self.cast(Cast::Trunc, moved, DType::I16);
                own.push(self.cast(Cast::Bits, narrow, half));
            }
            halves.push(self.plain(name, modifiers, (Kind::Float, half), &own));
        }
        let [Some(low), Some(high)] = halves[..] else { return Ok(None) };
        Ok(Some(self.joined(low, high, 16)))
    }

    /// A word of two values, the first in the low bits.
    pub(super) fn joined(&mut self, low: Value, high: Value, bits: u64) -> Value {
        let word = if bits == 32 { DType::I64 } else { DType::I32 };
        let [low, high] = [self.bits(low, word), self.bits(high, word)];
        let high = self.with(Binary::Shl, high, bits);
        self.binary(Binary::Or, low, high)
    }

    fn put_together(&mut self, dtype: DType, parts: &[Operand]) -> Done<Value> {
        let word = integer(dtype);
        let each = u64::from(word.bits()) / parts.len().max(1) as u64;
        let part = match each {
            8 => DType::I8,
            16 => DType::I16,
            32 => DType::I32,
            _ => return Err("a register is put together of 2 or 4 of 8 bits or more".into()),
        };
        let mut sum = self.constant(word, 0);
        for (index, operand) in parts.iter().enumerate() {
            let own = self.get(operand, part)?;
            let own = self.bits(own, word);
            let moved = self.with(Binary::Shl, own, index as u64 * each);
            sum = self.binary(Binary::Or, sum, moved);
        }
        Ok(sum)
    }

    /// The product of twice the width.
    fn wide(
        &mut self,
        kind: Kind,
        dtype: DType,
        x: &Operand,
        y: &Operand,
        rest: &[Operand],
    ) -> Done<Option<Value>> {
        let to = match dtype {
            DType::I16 => DType::I32,
            DType::I32 => DType::I64,
            _ => return Ok(None),
        };
        let cast = if kind == Kind::Signed { Cast::ExtS } else { Cast::ExtU };
        let [x, y] = [self.get(x, dtype)?, self.get(y, dtype)?];
        let [x, y] = [self.cast(cast, x, to), self.cast(cast, y, to)];
        let mut sum = self.binary(Binary::Mul, x, y);
        for operand in rest {
            let own = self.get(operand, to)?;
            sum = self.binary(Binary::Add, sum, own);
        }
        Ok(Some(sum))
    }

    /// The high half of a product.
    fn high(&mut self, signed: bool, dtype: DType, x: Value, y: Value) -> Option<Value> {
        let op = if signed { Binary::MulHiS } else { Binary::MulHiU };
        matches!(dtype, DType::I32 | DType::I64).then(|| self.binary(op, x, y))
    }
}

fn shown(operand: &Operand) -> String {
    match operand {
        Operand::Slot(index) => format!("${index}"),
        Operand::Register(name) => name.clone(),
        Operand::Number(bits) => bits.to_string(),
        Operand::Vector(_) => "{…}".into(),
    }
}
