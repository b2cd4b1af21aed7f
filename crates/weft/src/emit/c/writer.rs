//! The text being written: lines, names, and the helpers that they need.

use super::dialect::Dialect;
use super::live::live;
use super::prelude::{self, Helper};
use super::selectors;
use crate::budget::Bounds;
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::emit::comment::Told;
use crate::emit::ptx::{self, Ready, Tied};
use crate::id::{Id, IdMap};
use crate::lane::flight::has_products;
use crate::lane::{Inst, InstData, Op, Program, Value};
use crate::location::{Loc, Locations};
use crate::scalar;
use core::fmt::{self, Write};
use std::collections::{BTreeMap, BTreeSet};

/// What a program is printed as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Launched by itself; its shared memory is the block's.
    Kernel,
    /// Called from another kernel, which lends it shared memory.
    Function,
}

/// Writes one statement: `put!(w, "{x} = {y}")`.
macro_rules! put {
    ($w:expr, $($format:tt)*) => {{
        let statement = format!($($format)*);
        $w.line(format_args!("{statement};"));
    }};
}
pub(super) use put;

/// The body as far as it is written.
pub(super) struct Writer<'a> {
    pub(super) program: &'a Program,
    pub(super) dialect: Dialect,
    pub(super) form: Form,
    pub(super) body: String,
    /// How many bytes of it are written.
    pub(super) bounds: Bounds,
    /// Whether the index of the lane, and of the warp, is asked for.
    pub(super) uses_lane: bool,
    /// Whether the index of the warp is asked for.
    pub(super) uses_warp: bool,
    /// Whether the address at which shared memory starts is asked for.
    pub(super) uses_shared_start: bool,
    /// How deep control is nested.
    pub(super) depth: usize,
    /// The loops around, innermost last.
    pub(super) loops: Vec<Inst>,
    /// The loops that are left from inside another one.
    pub(super) left_from_inside: BTreeSet<usize>,
    pub(super) helpers: BTreeSet<Helper>,
    /// Functions around one instruction that the language does not have, by name.
    pub(super) instructions: BTreeMap<String, String>,
    /// How a value is written where it is used.
    spelling: IdMap<Value, Option<String>>,
    constants: IdMap<Value, Option<u64>>,
    definitions: IdMap<Value, Option<Inst>>,
    /// The addresses that are given as a base and an offset.
    offsets: IdMap<Value, Option<[Value; 2]>>,
    used: IdMap<Value, bool>,
    parameters: Vec<String>,
    temporaries: usize,
    told: Told<'a>,
    /// The place of the operation being written.
    loc: Loc,
    tied: Tied,
    /// Whether registers must be made ready for the next product of a warpgroup.
    pub(super) ready: Ready,
    /// The operations behind the one being written in its region.
    pub(super) rest: &'a [Inst],
    /// The words that products take from registers, and that no wait has given back.
    pub(super) words: Vec<Value>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        program: &'a Program,
        dialect: Dialect,
        form: Form,
    ) -> Result<Self, Unsupported> {
        let has_products = dialect.is_cuda() && has_products(program);
        let (dialect, tied) = if has_products {
            let dialect = dialect.specific();
            let clash = |clash: ptx::Clash| clash.unsupported(program, dialect.target());
            (dialect, Tied::of(program).map_err(clash)?)
        } else {
            (dialect, Tied::default())
        };
        let (mut constants, mut definitions) = (IdMap::default(), IdMap::default());
        program.walk(&program.body, &mut |id, inst| {
            for &result in &inst.results {
                definitions.set(result, Some(id));
            }
            if let (Op::Const(bits), [result]) = (&inst.op, &inst.results[..]) {
                constants.set(*result, Some(*bits));
            }
        });
        let mut w = Self {
            program,
            dialect,
            form,
            body: String::new(),
            bounds: Bounds::default(),
            uses_lane: false,
            uses_warp: false,
            uses_shared_start: false,
            depth: 1,
            loops: Vec::new(),
            left_from_inside: BTreeSet::new(),
            helpers: BTreeSet::new(),
            instructions: BTreeMap::new(),
            spelling: IdMap::default(),
            constants,
            definitions,
            offsets: program.offsets(),
            used: live(program),
            parameters: Vec::new(),
            temporaries: 0,
            told: Told::default(),
            loc: Locations::unknown(),
            tied,
            ready: Ready::new(has_products),
            rest: &[],
            words: Vec::new(),
        };
        w.parameters = w.parameter_names();
        for value in program.values.keys() {
            if w.is_used(value) {
                w.need_type(program.dtype(value));
            }
        }
        for param in &program.params {
            w.need_type(param.pointee.unwrap_or(param.dtype));
        }
        Ok(w)
    }

    /// The arguments' names: those of the source, made different from each other and from ours.
    fn parameter_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (index, param) in self.program.params.iter().enumerate() {
            if self.form == Form::Function {
                names.push(format!("from[{index}]"));
                continue;
            }
            let mut name = super::symbol(&param.name);
            // Ours end with a number.
            while name.ends_with(|c: char| c.is_ascii_digit()) && looks_like_ours(&name)
                || names.contains(&name)
            {
                name.push('_');
            }
            names.push(name);
        }
        names
    }

    pub(super) fn parameter(&self, index: usize) -> String {
        self.parameters.get(index).cloned().unwrap_or_default()
    }

    /// How a value is written where it is used.
    pub(super) fn spelled(&self, value: Value) -> String {
        self.spelling[value].clone().unwrap_or_else(|| self.variable(value, Locations::unknown()))
    }

    /// Whether the program has products of a warpgroup, and addresses of shared memory are the hardware's.
    pub(super) fn has_products(&self) -> bool {
        self.ready.is_watched()
    }

    /// The value in whose variable a value lies.
    pub(super) fn register(&self, value: Value) -> Value {
        self.tied.register(value)
    }

    /// Whether a value lies in a variable that others lie in too, which is declared at the top.
    pub(super) fn is_shared(&self, value: Value) -> bool {
        self.tied.is_shared(value)
    }

    /// The variable of a value that is defined at a place.
    fn variable(&self, value: Value, loc: Loc) -> String {
        if self.is_shared(value) {
            format!("sum{}", self.register(value).index())
        } else {
            self.name(value, loc)
        }
    }

    /// Puts the values that were written otherwise into the variables that they share.
    pub(super) fn share(&mut self, values: &[Value]) {
        for &value in values {
            if !self.is_shared(value) {
                continue;
            }
            let variable = self.variable(value, self.loc);
            if let Some(text) = self.spelling.entry(value).replace(variable.clone())
                && text != variable
            {
                put!(self, "{variable} = {text}");
            }
        }
    }

    /// The declarations of the variables that values share.
    fn shared_variables(&self) -> String {
        let values = self.program.values.keys();
        let first = values.filter(|&value| self.is_shared(value) && self.register(value) == value);
        let declare = |value| {
            let (ty, name) = (c_type(self.program.dtype(value)), self.variable(value, self.loc));
            format!("  {ty} {name};\n")
        };
        first.map(declare).collect()
    }

    /// Decides how a value is written.
    pub(super) fn spell(&mut self, value: Value, text: String) {
        self.spelling.set(value, Some(text));
    }

    /// The name for a value defined at a place: the source's name for it, and its number.
    fn name(&self, value: Value, loc: Loc) -> String {
        let index = value.index();
        let source = self.program.locations.name(loc).unwrap_or("");
        let identifier = source.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && source.starts_with(|c: char| c.is_ascii_alphabetic())
            && source.len() <= 24;
        if identifier { format!("{source}_{index}") } else { format!("v{index}") }
    }

    /// Names a value that the operation being written defines.
    pub(super) fn named(&mut self, value: Value) -> String {
        let name = self.name(value, self.loc);
        self.spell(value, name.clone());
        name
    }

    /// Writes the definition of a value.
    pub(super) fn define(&mut self, value: Value, text: &str) {
        let name = self.named(value);
        put!(self, "const {} {name} = {text}", c_type(self.program.dtype(value)));
    }

    /// A name that nothing else has.
    pub(super) fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("t{}", self.temporaries - 1)
    }

    /// The raw bits of a value that is a constant.
    pub(super) fn constant(&self, value: Value) -> Option<u64> {
        self.constants[value]
    }

    /// The base and the offset of an address that is given so.
    pub(super) fn base_and_offset(&self, address: Value) -> Option<[Value; 2]> {
        self.offsets[address]
    }

    /// Whether anything that has an effect depends on a value.
    pub(super) fn is_used(&self, value: Value) -> bool {
        self.used[value]
    }

    /// Asks for a helper and for those that it needs.
    pub(super) fn need(&mut self, helper: Helper) {
        if self.helpers.insert(helper) {
            for other in prelude::needs(helper, self.dialect) {
                self.need(other);
            }
        }
    }

    /// Asks for the name of a type.
    pub(super) fn need_type(&mut self, dtype: DType) {
        match dtype {
            DType::F16 => self.need(Helper::Half),
            DType::BF16 => self.need(Helper::Brain),
            _ => {}
        }
    }

    /// A constant of a type.
    pub(super) fn literal(&mut self, dtype: DType, bits: u64) -> String {
        let number = |bits: u64| {
            if bits < 0x10000 { bits.to_string() } else { format!("{bits:#x}") }
        };
        match dtype {
            DType::I1 => (if bits == 0 { "false" } else { "true" }).into(),
            DType::I8 | DType::I16 => format!("{}({})", c_type(dtype), number(bits)),
            _ if dtype.is_f8() => format!("{}({})", c_type(dtype), number(bits)),
            DType::I32 => format!("{}u", number(bits)),
            DType::I64 => format!("{}ull", number(bits)),
            _ => {
                let value = scalar::to_f64(dtype, bits);
                if value.is_infinite() {
                    let infinity = self.dialect.infinity(dtype);
                    return if value < 0.0 { format!("(-{infinity})") } else { infinity };
                }
                if value.is_nan() {
                    self.need(Helper::Bits);
                    let carrier = if dtype == DType::F64 { "u64" } else { "u32" };
                    let carrier = if dtype.bits() == 16 { "u16" } else { carrier };
                    return format!("bits<{}>({carrier}({bits:#x}))", c_type(dtype));
                }
                let text = match dtype {
                    DType::F64 => format!("{value:?}"),
                    _ => format!("{:?}f", value as f32),
                };
                match dtype {
                    DType::F16 | DType::BF16 => format!("{}({text})", c_type(dtype)),
                    _ if text.starts_with('-') => format!("({text})"),
                    _ => text,
                }
            }
        }
    }

    pub(super) fn line(&mut self, text: fmt::Arguments<'_>) {
        // Deeper nesting than this is not easier to read for being further right.
        for _ in 0..self.depth.min(20) {
            self.body.push_str("  ");
        }
        // Writing to a string does not fail.
        let _ = self.body.write_fmt(text);
        self.body.push('\n');
    }

    /// Enters an operation: tells where it came from if that is another place than the last one told.
    pub(super) fn enter(&mut self, inst: &InstData) {
        self.loc = inst.loc;
        if matches!(inst.op, Op::Const(_)) {
            return;
        }
        for line in self.told.lead(&self.program.locations, inst.loc) {
            self.line(format_args!("// {line}"));
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
            target: self.dialect.target(),
            reason: reason.into(),
            loc: self.loc,
        }
    }

    /// The refusal of what only PTX is printed of.
    pub(super) fn only_in_ptx(&self) -> Unsupported {
        self.unsupported("bulk copies and roles of warps", "only PTX is printed of them")
    }

    /// The index of the thread in its block.
    pub(super) fn thread(&self) -> String {
        self.dialect.thread().to_string()
    }

    /// The index of the thread's lane and warp, computed once where they are asked for.
    pub(super) fn opening(&self) -> String {
        let (thread, lanes) = (self.dialect.thread(), 1u32 << self.program.lanes_log2);
        let mut text = String::new();
        if self.uses_lane {
            text.push_str(&format!("  const u32 lane = {thread} % {lanes};\n"));
        }
        if self.uses_warp {
            text.push_str(&format!("  const u32 warp = {thread} / {lanes};\n"));
        }
        if self.uses_shared_start {
            let memory = self.shared_memory();
            text.push_str(&format!(
                "  const u32 shared_start = static_cast<u32>(__cvta_generic_to_shared({memory}));\n"
            ));
        }
        text + &self.shared_variables()
    }

    /// The name of the memory in which shared memory begins.
    pub(super) fn shared_memory(&self) -> &'static str {
        if self.form == Form::Kernel { "shared_memory" } else { "scratch" }
    }

    /// Everything above a kernel.
    pub(super) fn prelude(&self) -> String {
        self.dialect.includes(&self.helpers) + &self.prelude_parts()
    }

    /// The types and helpers that the body uses.
    pub(super) fn prelude_parts(&self) -> String {
        let mut text = String::from(prelude::TYPES);
        for &helper in self.helpers.iter().filter(|helper| helper.is_alias()) {
            text.push_str(&prelude::text(helper, self.dialect));
        }
        text.push('\n');
        for &helper in self.helpers.iter().filter(|helper| !helper.is_alias()) {
            text.push_str(&prelude::text(helper, self.dialect));
            text.push('\n');
        }
        for function in self.instructions.values() {
            text.push_str(function);
            text.push('\n');
        }
        text
    }

    pub(super) fn barrier(&mut self, block: bool) -> &'static str {
        match (self.dialect.is_cuda(), block) {
            (true, true) => "__syncthreads()",
            (true, false) => "__syncwarp()",
            (false, true) => {
                self.need(Helper::SyncBlock);
                "sync_block()"
            }
            (false, false) => {
                self.need(Helper::SyncWarp);
                "sync_warp()"
            }
        }
    }

    pub(super) fn shuffle_xor(&mut self, x: &str, mask: u32) -> String {
        self.need(Helper::ShuffleXor);
        format!("shuffle_xor<{mask}>({x})")
    }

    pub(super) fn shuffle(&mut self, x: &str, lane: &str) -> String {
        self.need(Helper::Shuffle);
        format!("shuffle({x}, {lane})")
    }

    /// Whether a selector of a byte permute may ask for the sign of a byte.
    pub(super) fn may_ask_for_signs(&self, selector: Value) -> bool {
        !selectors::takes_bytes_alone(self.program, &self.definitions, selector)
    }

    /// Bytes of two words as a selector says, which may ask for signs or not.
    pub(super) fn byte_permute(&mut self, [x, y, selector]: [&str; 3], signs: bool) -> String {
        // NVIDIA's instruction does both.
        let (helper, name) = if signs || self.dialect.is_cuda() {
            (Helper::BytePermute, "byte_permute")
        } else {
            (Helper::ByteChoice, "byte_choice")
        };
        self.need(helper);
        format!("{name}({x}, {y}, {selector})")
    }
}

/// Whether a name has the form that values have here: letters, and a number at its end.
fn looks_like_ours(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.ends_with('_') || matches!(stem, "v" | "t" | "sum")
}

/// The C++ name of a type.
pub(super) fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::I1 => "bool",
        // Floats of eight bits are kept as their bits.
        DType::I8 | DType::F8E4M3FN | DType::F8E5M2 | DType::F8E4M3FNUZ | DType::F8E5M2FNUZ => "u8",
        DType::I16 => "u16",
        DType::I32 => "u32",
        DType::I64 => "u64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "float",
        DType::F64 => "double",
    }
}

/// The signed type of an integer type's width.
pub(super) fn signed_type(dtype: DType) -> &'static str {
    match dtype.bits() {
        8 => "i8",
        16 => "i16",
        64 => "i64",
        _ => "i32",
    }
}
