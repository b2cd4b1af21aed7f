//! The text being written: registers, lines, labels, and the PTX version that they need.

use super::cast::{self, Part};
use super::lines::Lines;
use super::tied::{Ready, Tied};
use super::transfer::starts_with;
use super::uniform::Uniform;
use super::wide::Wide;
use super::{Target, Version, float};
use crate::budget::Bounds;
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::emit::comment::Told;
use crate::id::{Id, IdMap};
use crate::lane::flight::has_products;
use crate::lane::{InstData, Op, Program, Value};
use crate::location::Loc;
use crate::scalar::{Binary, Cast};
use core::fmt::{self, Write};
use std::collections::BTreeSet;

/// What a register can hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Class {
    /// A truth value, in a predicate register.
    Predicate,
    /// 16 bits; also an i8, zero-extended.
    B16,
    /// 32 bits of any type.
    B32,
    /// 64 bits of any type.
    B64,
}

impl Class {
    pub(super) const ALL: [Class; 4] = [Class::Predicate, Class::B16, Class::B32, Class::B64];

    /// The registers that hold values of a type.
    pub(super) fn of(dtype: DType) -> Class {
        match dtype {
            DType::I1 => Class::Predicate,
            DType::I8
            | DType::I16
            | DType::F8E4M3FN
            | DType::F8E5M2
            | DType::F8E4M3FNUZ
            | DType::F8E5M2FNUZ
            | DType::F16
            | DType::BF16 => Class::B16,
            DType::I32 | DType::F32 => Class::B32,
            DType::I64 | DType::F64 => Class::B64,
        }
    }

    /// The suffix of instructions that do not say the type.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Class::Predicate => "pred",
            Class::B16 => "b16",
            Class::B32 => "b32",
            Class::B64 => "b64",
        }
    }

    /// What the names of values' registers start with.
    fn prefix(self) -> &'static str {
        match self {
            Class::Predicate => "%p",
            Class::B16 => "%rs",
            Class::B32 => "%r",
            Class::B64 => "%rd",
        }
    }
}

/// A virtual register: `%r12` holds value `%12`, `%rt3` is the third temporary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reg {
    pub(super) class: Class,
    temporary: bool,
    index: usize,
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.temporary { "t" } else { "" };
        write!(f, "{}{mark}{}", self.class.prefix(), self.index)
    }
}

/// Several registers as a vector operand: `{%r1, %r2}`, or one alone.
pub(super) struct Vector<'a>(pub(super) &'a [Reg]);

impl fmt::Display for Vector<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [one] => one.fmt(f),
            all => Braced(all).fmt(f),
        }
    }
}

/// A list of registers in braces.
pub(super) struct Braced<'a>(pub(super) &'a [Reg]);

impl fmt::Display for Braced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        for (index, reg) in self.0.iter().enumerate() {
            write!(f, "{}{reg}", if index > 0 { ", " } else { "" })?;
        }
        f.write_char('}')
    }
}

/// Writes one instruction: `put!(w, "add.s32 {d}, {x}, {y}")`.
macro_rules! put {
    ($w:expr, $($format:tt)*) => { $w.instruction(format_args!($($format)*)) };
}
pub(super) use put;

/// The body of a kernel as far as it is written.
#[allow(clippy::struct_excessive_bools, reason = "each is asked for by itself")]
pub(super) struct Writer<'a> {
    pub(super) program: &'a Program,
    pub(super) target: Target,
    /// Whether the text is a function that a kernel calls.
    pub(super) is_function: bool,
    /// The lowest version that has everything written so far.
    pub(super) version: Version,
    /// Whether the index of the lane, and of the warp, is asked for.
    pub(super) uses_lane: bool,
    /// Whether the index of the warp is asked for.
    pub(super) uses_warp: bool,
    /// The priorities in the second cache that are made once, at the entry.
    pub(super) priorities: BTreeSet<&'static str>,
    /// How deep control is nested.
    pub(super) depth: usize,
    /// How many loops are around.
    pub(super) loops: usize,
    body: String,
    /// How many bytes of it are written.
    pub(super) bounds: Bounds,
    /// For each class: one more than the highest value, and the number of temporaries.
    values: [usize; 4],
    temporaries: [usize; 4],
    constants: IdMap<Value, Option<u64>>,
    /// Whether anything but a store takes a value.
    is_taken: IdMap<Value, bool>,
    /// The whole numbers that floats were rounded to, and how.
    rounded: IdMap<Value, Option<(&'static str, Value)>>,
    /// The narrow integers that are bytes of other values, from which byte on.
    parts: IdMap<Value, Option<(Value, u32)>>,
    /// The words that are halves with zeros above.
    extended: IdMap<Value, Option<Value>>,
    /// Those that were loaded as bytes of words.
    loaded: IdMap<Value, Option<Part>>,
    /// Words of signed numbers, a mask of their sign bits, and the words with these flipped, since the last label.
    flipped: Vec<(Reg, u32, Reg)>,
    /// The sums that say no rounding; see [`float::plain_sums`].
    plain_sums: IdMap<Value, bool>,
    /// The branches that must be told to be uniform.
    pub(super) uniform: Uniform,
    /// The products of 32 bits by 32 that are wanted whole.
    pub(super) wide: Wide,
    tied: Tied,
    /// Whether registers must be made ready for the next of them.
    pub(super) ready: Ready,
    told: Told<'a>,
    /// What debuggers and profilers are told of lines, where they are told.
    pub(super) lines: Option<Lines>,
    /// The place of the operation being written.
    pub(super) loc: Loc,
    /// Texts in global memory, each once.
    texts: Vec<String>,
    /// The functions of the driver that are called, by their declarations.
    called: BTreeSet<&'static str>,
    /// The bytes of local memory in which arguments are handed over.
    arguments: u32,
}

impl<'a> Writer<'a> {
    pub(super) fn new(program: &'a Program, target: &Target) -> Result<Self, Unsupported> {
        let has_products = has_products(program);
        let is_specific = has_products || starts_with(program).is_some();
        let target = if is_specific { *target.specific() } else { *target };
        let tied = Tied::of(program).map_err(|clash| clash.unsupported(program, target.name))?;
        let (mut constants, mut rounded) = (IdMap::default(), IdMap::default());
        // What stands in the lowest bits of a word, and the narrow integers there.
        let (mut moved, mut parts) = (IdMap::default(), IdMap::default());
        let (mut is_taken, mut extended) = (IdMap::default(), IdMap::default());
        program.walk(&program.body, &mut |_, inst| {
            if !matches!(inst.op, Op::Store { .. }) {
                inst.operands.iter().for_each(|&value| is_taken.set(value, true));
            }
        });
        program.walk(&program.body, &mut |_, inst| match (
            &inst.op,
            &inst.operands[..],
            &inst.results[..],
        ) {
            (Op::Const(bits), _, &[result]) => constants.set(result, Some(*bits)),
            (&Op::Unary(op), &[x], &[result]) if !tied.is_shared(x) => {
                rounded.set(result, cast::rounds_like(op).map(|how| (how, x)));
            }
            (Op::Binary(Binary::ShrU), &[word, by], &[result])
                if program.dtype(word) == DType::I32 && !tied.is_shared(word) =>
            {
                let bits = constants[by].filter(|bits| bits.is_multiple_of(8));
                moved.set(result, bits.map(|bits| (word, bits as u32 / 8)));
            }
            (Op::Cast(Cast::ExtU), &[half], &[result])
                if program.dtype(half).bits() == 16 && !tied.is_shared(half) =>
            {
                extended.set(result, Some(half).filter(|_| program.dtype(result) == DType::I32));
            }
            (Op::Cast(Cast::Trunc), &[word], &[result])
                if program.dtype(word) == DType::I32 && !tied.is_shared(word) =>
            {
                parts.set(result, moved[word].or(Some((word, 0))));
            }
            _ => {}
        });
        Ok(Self {
            program,
            target,
            is_function: false,
            version: target.ptx_version,
            uses_lane: false,
            uses_warp: false,
            priorities: BTreeSet::new(),
            depth: 1,
            loops: 0,
            body: String::new(),
            bounds: Bounds::default(),
            values: [0; 4],
            temporaries: [0; 4],
            constants,
            is_taken,
            rounded,
            parts,
            extended,
            loaded: IdMap::default(),
            flipped: Vec::new(),
            plain_sums: float::plain_sums(program),
            uniform: Uniform::of(program),
            wide: Wide::of(program, |value| tied.is_shared(value)),
            tied,
            ready: Ready::new(has_products),
            told: Told::default(),
            lines: None,
            loc: crate::location::Locations::unknown(),
            texts: Vec::new(),
            called: BTreeSet::new(),
            arguments: 0,
        })
    }

    /// The name of a text in global memory, which ends with a zero.
    pub(super) fn text(&mut self, text: &str) -> String {
        let index = self.texts.iter().position(|known| known == text).unwrap_or_else(|| {
            self.texts.push(text.into());
            self.texts.len() - 1
        });
        format!("_$text_{index}")
    }

    /// Notes that a function of the driver is called.
    pub(super) fn call(&mut self, declaration: &'static str) {
        self.called.insert(declaration);
    }

    /// Asks for so many bytes of local memory for arguments, under the name `arguments`.
    pub(super) fn need_arguments(&mut self, bytes: u32) {
        self.arguments = self.arguments.max(bytes);
    }

    /// What stands outside of the kernel: declarations, and texts as bytes.
    pub(super) fn outside(&self) -> String {
        let mut all = String::new();
        for declaration in &self.called {
            push(&mut all, format_args!("{declaration};\n"));
        }
        for (index, text) in self.texts.iter().enumerate() {
            let bytes: Vec<String> = text.bytes().chain([0]).map(|byte| byte.to_string()).collect();
            let (count, bytes) = (bytes.len(), bytes.join(", "));
            let told = crate::emit::comment::printable(text.trim_end());
            push(&mut all, format_args!("// {told}\n"));
            push(
                &mut all,
                format_args!(".global .align 1 .b8 _$text_{index}[{count}] = {{{bytes}}};\n"),
            );
        }
        if !all.is_empty() {
            all.push('\n');
        }
        all
    }

    /// The register of a value.
    pub(super) fn reg(&mut self, value: Value) -> Reg {
        let class = Class::of(self.program.dtype(value));
        let value = self.tied.register(value);
        let count = &mut self.values[class as usize];
        *count = (*count).max(value.index() + 1);
        Reg { class, temporary: false, index: value.index() }
    }

    /// The registers of values.
    pub(super) fn regs(&mut self, values: &[Value]) -> Vec<Reg> {
        values.iter().map(|&value| self.reg(value)).collect()
    }

    /// Notes that the registers of values are written, which the next product that takes one must be told.
    pub(super) fn written(&mut self, values: &[Value]) {
        if self.ready.is_watched() {
            let registers: Vec<Value> =
                values.iter().map(|&value| self.tied.register(value)).collect();
            self.ready.write(&registers);
        }
    }

    /// Whether a product that takes the registers of values must wait until they are ready.
    pub(super) fn must_be_ready(&self, values: &[Value]) -> bool {
        let registers: Vec<Value> = values.iter().map(|&value| self.tied.register(value)).collect();
        self.ready.is_needed(&registers)
    }

    /// A register that nothing else uses.
    pub(super) fn temp(&mut self, class: Class) -> Reg {
        let count = &mut self.temporaries[class as usize];
        *count += 1;
        Reg { class, temporary: true, index: *count - 1 }
    }

    /// Whether what a register holds is stored and nothing else: a store of bytes takes the low ones.
    pub(super) fn is_only_stored(&self, reg: Reg) -> bool {
        !reg.temporary && !self.is_taken[Value::new(reg.index)]
    }

    /// The raw bits of a value that is a constant.
    pub(super) fn constant(&self, value: Value) -> Option<u64> {
        self.constants[value]
    }

    /// What a whole number was rounded from, and how.
    pub(super) fn rounded(&self, value: Value) -> Option<(&'static str, Value)> {
        self.rounded[value]
    }

    /// The part of a word that a narrow number is, if it is one.
    pub(super) fn part(&mut self, value: Value) -> Option<Part> {
        if let Some((word, byte)) = self.parts[value] {
            return Some(Part { word: self.reg(word), byte });
        }
        self.loaded[value]
    }

    /// The two halves of which a permute of bytes makes a word, if it does: an assembler knows a word by its halves
    /// where they are named, and computes both at once.
    pub(super) fn halves(&mut self, operands: &[Value]) -> Option<[Reg; 2]> {
        const LOWER_HALVES: u64 = 0x5410;
        let &[low, high, selector] = operands else { return None };
        if self.constants[selector] != Some(LOWER_HALVES) {
            return None;
        }
        let (low, high) = (self.extended[low]?, self.extended[high]?);
        Some([low, high].map(|half| self.reg(half)))
    }

    /// Notes that a narrow number was loaded as part of a word.
    pub(super) fn loaded(&mut self, value: Value, part: Part) {
        self.loaded.set(value, Some(part));
    }

    /// A word of signed numbers with their sign bits flipped. An assembler shares what is written twice, but only after it
    /// has decided, by what it counts in a round, how far to unroll a loop.
    pub(super) fn flipped(&mut self, word: Reg, signs: u32) -> Reg {
        let known = self.flipped.iter().find(|&&(of, by, _)| of == word && by == signs);
        if let Some(&(_, _, flipped)) = known {
            return flipped;
        }
        let flipped = self.temp(Class::B32);
        put!(self, "xor.b32 {flipped}, {word}, {signs:#x}");
        self.flipped.push((word, signs, flipped));
        flipped
    }

    /// Whether a sum says no rounding.
    pub(super) fn is_plain(&self, sum: Reg) -> bool {
        !sum.temporary && self.plain_sums[Value::new(sum.index)]
    }

    /// Asks for at least this version of the language.
    pub(super) fn need(&mut self, version: Version) {
        self.version = self.version.max(version);
    }

    /// Writes an instruction; use [`put!`].
    pub(super) fn instruction(&mut self, text: fmt::Arguments<'_>) {
        self.indent(self.depth);
        push(&mut self.body, format_args!("{text};\n"));
    }

    /// Writes a line that is no instruction.
    pub(super) fn line(&mut self, text: &str) {
        self.indent(self.depth);
        push(&mut self.body, format_args!("{text}\n"));
    }

    /// Writes a label, less deep than the instructions behind it.
    pub(super) fn label(&mut self, text: fmt::Arguments<'_>) {
        self.flipped.clear();
        self.indent(self.depth - 1);
        push(&mut self.body, format_args!("{text}:\n"));
    }

    /// Copies a register into another of its class.
    pub(super) fn copy(&mut self, d: Reg, x: Reg) {
        put!(self, "mov.{} {d}, {x}", d.class.suffix());
    }

    /// Enters an operation: tells where it came from if that is another place than the last one told.
    pub(super) fn enter(&mut self, inst: &InstData) {
        self.loc = inst.loc;
        for line in self.told.lead(&self.program.locations, inst.loc) {
            self.indent(self.depth);
            push(&mut self.body, format_args!("// {line}\n"));
        }
        let lines = self.lines.as_mut().map(|lines| lines.lead(&self.program.locations, inst.loc));
        let (directives, version) = lines.unwrap_or_default();
        for directive in directives {
            self.line(&directive);
        }
        if let Some(version) = version {
            self.need(version);
        }
    }

    /// The refusal of an operation.
    pub(super) fn unsupported(
        &self,
        operation: impl Into<String>,
        reason: impl Into<String>,
    ) -> Unsupported {
        Unsupported {
            operation: operation.into(),
            target: self.target.name,
            reason: reason.into(),
            loc: self.loc,
        }
    }

    /// The declarations of all registers that the body uses.
    pub(super) fn declarations(&self) -> String {
        let mut text = String::new();
        for class in Class::ALL {
            for (mark, counts) in [("", &self.values), ("t", &self.temporaries)] {
                let count = counts[class as usize];
                if count > 0 {
                    let (suffix, prefix) = (class.suffix(), class.prefix());
                    push(&mut text, format_args!("  .reg .{suffix} {prefix}{mark}<{count}>;\n"));
                }
            }
        }
        if self.arguments > 0 {
            let bytes = self.arguments;
            push(&mut text, format_args!("  .local .align 8 .b8 arguments[{bytes}];\n"));
        }
        text
    }

    /// The instructions that were written so far.
    pub(super) fn body(&self) -> &str {
        &self.body
    }

    fn indent(&mut self, depth: usize) {
        // Deeper nesting than this is not easier to read for being further right.
        for _ in 0..depth.min(20) {
            self.body.push_str("  ");
        }
    }
}

/// Appends formatted text, which does not fail.
pub(super) fn push(text: &mut String, more: fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(more);
}
