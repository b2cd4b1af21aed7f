//! Loads, stores and atomics.
//!
//! An access of n elements moves at most four words of 32 or two of 64 bits; narrower elements are
//! packed into words, the first in the low bits:
//!
//! ```text
//! load.global %3: f16, %4: f16 …        ld.global.b32 %rt0, [%rd1];
//!                                        mov.b32 {%rs3, %rs4}, %rt0;
//! ```
//!
//! A predicated load first moves its `other` operands where the result will be:
//!
//! ```text
//! load.global.if %5: f32 = %1, %2, %4    mov.b32 %r5, %r4;
//!                                        @%p2 ld.global.b32 %r5, [%rd1];
//! ```
//!
//! Matrices are moved by `ldmatrix` and `stmatrix`, whose words are packed in the same way.
//!
//! Cache operators and eviction priorities are hints: what an instruction cannot carry is left out. An
//! operator excludes a priority, and `volatile` excludes both; loads know `ca cg cs cv`, stores
//! `wb cg cs wt`, and accesses to shared memory none. The priority of a load holds for both caches; the
//! second takes it from a register:
//!
//! ```text
//! createpolicy.fractional.L2::evict_first.b64 %evict_first, 1.0;
//! ld.global.L1::evict_first.L2::cache_hint.b32 %r5, [%rd1], %evict_first;
//! ```
//!
//! That register is made once, at the entry, since `ptxas` computes it anew, in six instructions, wherever
//! it is made; but in loops it is made where it is used: ptxas 13.4 does not unroll a loop that takes it
//! from outside.

use super::cast::Part;
use super::writer::{Braced, Class, Reg, Vector, Writer, put};
use super::{Target, Version, float};
use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::cache::{CacheModifier, Eviction};
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::emit::past::{self, Step};
use crate::id::Id as _;
use crate::lane::{
    Access, AsyncCopy, AtomicAccess, Form, InstData, MAX_ACCESS_BYTES, Matrix, Operand, Space,
    Value,
};
use crate::scalar::Binary;

/// Where a memory operation acts, ready to be printed.
struct Place {
    /// The address operand, in brackets.
    address: String,
    /// `@%p1 `, or nothing.
    guard: String,
}

impl Place {
    fn new(w: &mut Writer<'_>, address: Value, predicate: Option<Value>, offset: i32) -> Place {
        let base = w.reg(address);
        let address = match offset {
            0 => format!("[{base}]"),
            _ => format!("[{base}+{offset}]"),
        };
        let guard = match predicate {
            Some(predicate) => format!("@{} ", w.reg(predicate)),
            None => String::new(),
        };
        Place { address, guard }
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
    }
}

pub(super) fn load(
    w: &mut Writer<'_>,
    space: Space,
    access: Access,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let (Some(roles), [first, ..]) = (inst.memory_operands(), &inst.results[..]) else {
        return Ok(());
    };
    let dtype = w.program.dtype(*first);
    let place = Place::new(w, roles.address, roles.predicate, access.offset);
    let results = w.regs(&inst.results);
    let words = Words::of(dtype, results.len());
    let into = words.registers(w, &results);
    if roles.predicate.is_some() {
        words.pack(w, &into, roles.values);
    }
    let (guard, address) = (place.guard, place.address);
    match access.form {
        Form::Vector => {
            let (kind, hints) = (words.kind(), hints(w, space, access, true));
            match policy(w, space, access) {
                Some(policy) => {
                    let into = Vector(&into);
                    put!(w, "{guard}ld{hints}.L2::cache_hint.{kind} {into}, {address}, {policy}");
                }
                None => put!(w, "{guard}ld{hints}.{kind} {}, {address}", Vector(&into)),
            }
        }
        Form::Matrix(matrix) => {
            let name = matrix_instruction(w, matrix, true, into.len())?;
            put!(w, "{guard}{name} {}, {address}", Braced(&into));
        }
    }
    words.unpack(w, &into, &inst.results);
    Ok(())
}

pub(super) fn store(
    w: &mut Writer<'_>,
    space: Space,
    access: Access,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let Some(roles) = inst.memory_operands() else { return Ok(()) };
    let Some(&first) = roles.values.first() else { return Ok(()) };
    let dtype = w.program.dtype(first);
    let place = Place::new(w, roles.address, roles.predicate, access.offset);
    let values = w.regs(roles.values);
    let words = Words::of(dtype, values.len());
    let from = words.registers(w, &values);
    if from != values {
        words.pack(w, &from, roles.values);
    }
    let (guard, address) = (place.guard, place.address);
    match access.form {
        Form::Vector => {
            let (kind, hints) = (words.kind(), hints(w, space, access, false));
            put!(w, "{guard}st{hints}.{kind} {address}, {}", Vector(&from));
        }
        Form::Matrix(matrix) => {
            let name = matrix_instruction(w, matrix, false, from.len())?;
            put!(w, "{guard}{name} {address}, {}", Braced(&from));
        }
    }
    Ok(())
}

/// Copies past the registers. Where zeros are wanted instead, the instruction reads no bytes.
pub(super) fn async_copy(w: &mut Writer<'_>, op: AsyncCopy, inst: &InstData) {
    let (name, bytes, offset) = match past::step(op) {
        Step::Copy { name, bytes, offset } => (name, bytes, offset),
        Step::Whole(instruction) => return put!(w, "{instruction}"),
    };
    let [to, from] =
        [Space::Shared, Space::Global].map(|space| inst.operand(Operand::Address(space)));
    let (Some(to), Some(from)) = (to, from) else { return };
    let Place { address, guard } = Place::new(w, to, inst.operand(Operand::Predicate), offset);
    let source = w.reg(from);
    let copy = format!("{name} {address}, [{source}], {bytes}");
    match inst.operand(Operand::Filled) {
        Some(filled) => {
            let (filled, read) = (w.reg(filled), w.temp(Class::B32));
            put!(w, "selp.b32 {read}, {bytes}, 0, {filled}");
            put!(w, "{guard}{copy}, {read}");
        }
        None => put!(w, "{guard}{copy}"),
    }
}

/// The instruction that moves matrices, from its name to its type, and the version that has it; or what
/// there is not, and why.
pub(in crate::emit) fn matrix_move(
    target: &Target,
    matrix: Matrix,
    loads: bool,
    words: usize,
) -> Result<(String, Version), (String, String)> {
    let Matrix { element_bits, rows, transposed } = matrix;
    let bytes = element_bits == 8;
    let (what, name) = if loads { ("loads", "ldmatrix") } else { ("stores", "stmatrix") };
    if !loads && target.capability < 90 {
        return Err(("stores of matrices".into(), "stmatrix needs sm_90".into()));
    }
    if bytes && !(target.architecture_specific && target.capability >= 100) {
        let reason = format!("{name} of bytes needs sm_100a");
        return Err((format!("{what} of matrices of bytes"), reason));
    }
    let version = match (bytes, loads) {
        (true, _) => (8, 6),
        (false, true) => (6, 5),
        (false, false) => (7, 8),
    };
    let shape = match (bytes, loads) {
        (false, _) => "m8n8",
        (true, true) => "m16n16",
        (true, false) => "m16n8",
    };
    let count = words * 8 / usize::from(rows.max(1));
    let transposed = if transposed { ".trans" } else { "" };
    let element = if bytes { "b8" } else { "b16" };
    Ok((format!("{name}.sync.aligned.{shape}.x{count}{transposed}.shared.{element}"), version))
}

/// The same, noting the version that is needed.
fn matrix_instruction(
    w: &mut Writer<'_>,
    matrix: Matrix,
    loads: bool,
    words: usize,
) -> Result<String, Unsupported> {
    match matrix_move(&w.target, matrix, loads, words) {
        Ok((name, version)) => {
            w.need(version);
            Ok(name)
        }
        Err((operation, reason)) => Err(w.unsupported(operation, reason)),
    }
}

/// `.global`, with `volatile` before it and cache operators after it.
fn hints(w: &mut Writer<'_>, space: Space, access: Access, loads: bool) -> String {
    let name = space_name(space);
    if access.volatile {
        return format!(".volatile.{name}");
    }
    if space == Space::Shared {
        return format!(".{name}");
    }
    let operator = match (access.cache.modifier, loads) {
        (CacheModifier::All, true) => ".ca",
        (CacheModifier::Volatile, true) => ".cv",
        (CacheModifier::WriteBack, false) => ".wb",
        (CacheModifier::WriteThrough, false) => ".wt",
        (CacheModifier::Global, _) => ".cg",
        (CacheModifier::Streaming, _) => ".cs",
        _ => "",
    };
    match priority(space, access).filter(|_| operator.is_empty()) {
        Some(priority) => {
            w.need((7, 4));
            format!(".{name}.L1::{priority}")
        }
        None => format!(".{name}{operator}"),
    }
}

/// The eviction priority of an access to global memory, if it has another than the machine's own.
fn priority(space: Space, access: Access) -> Option<&'static str> {
    match access.cache.eviction {
        _ if space == Space::Shared || access.volatile => None,
        Eviction::Normal => None,
        Eviction::First => Some("evict_first"),
        Eviction::Last => Some("evict_last"),
    }
}

/// The priority of a load in the second cache, in a register; an operator excludes it.
fn policy(w: &mut Writer<'_>, space: Space, access: Access) -> Option<String> {
    let priority = priority(space, access)?;
    if access.cache.modifier != CacheModifier::None {
        return None;
    }
    if w.loops == 0 {
        w.priorities.insert(priority);
        return Some(format!("%{priority}"));
    }
    let policy = w.temp(Class::B64).to_string();
    put!(w, "{}", create_policy(priority, &policy));
    Some(policy)
}

/// The instruction that makes a priority in the second cache.
pub(super) fn create_policy(priority: &str, policy: &str) -> String {
    format!("createpolicy.fractional.L2::{priority}.b64 {policy}, 1.0")
}

/// How the elements of an access lie in the words that the instruction moves.
#[derive(Clone, Copy)]
struct Words {
    dtype: DType,
    /// Elements in a word; with one, the word is the element's register.
    per_word: usize,
    /// Words in the access.
    count: usize,
    /// Width of a word.
    bits: u32,
}

impl Words {
    fn of(dtype: DType, elements: usize) -> Words {
        let bits = dtype.bytes() * 8;
        let total = bits * elements as u32;
        // The widest word is the element's own or 32 bits.
        let word = bits.max(total.min(32));
        let per_word = (word / bits) as usize;
        Words { dtype, per_word, count: elements / per_word, bits: word }
    }

    /// The instruction's type: `v4.b32`. A single byte is `u8`, which says what lies above it.
    fn kind(self) -> String {
        match (self.count, self.bits) {
            (1, 8) => "u8".into(),
            (1, bits) => format!("b{bits}"),
            (count, bits) => format!("v{count}.b{bits}"),
        }
    }

    fn class(self) -> Class {
        match self.bits {
            64 => Class::B64,
            32 => Class::B32,
            _ => Class::B16,
        }
    }

    /// The registers of the words: those of the elements, or temporaries.
    fn registers(self, w: &mut Writer<'_>, elements: &[Reg]) -> Vec<Reg> {
        if self.per_word == 1 {
            return elements.to_vec();
        }
        (0..self.count).map(|_| w.temp(self.class())).collect()
    }

    /// Moves elements into words.
    fn pack(self, w: &mut Writer<'_>, words: &[Reg], elements: &[Value]) {
        for (&word, elements) in words.iter().zip(elements.chunks(self.per_word)) {
            let suffix = word.class.suffix();
            let bits = self.dtype.bits();
            // Constants are packed here; a masked load's `other` is mostly zero.
            let known = elements.iter().rev().try_fold(0u64, |sum, &x| {
                w.constant(x).map(|x| if bits < 64 { sum << bits | x } else { x })
            });
            let parts = w.regs(elements);
            match (known, &parts[..]) {
                (Some(value), _) => put!(w, "mov.{suffix} {word}, {value:#x}"),
                (None, &[one]) => w.copy(word, one),
                (None, parts) if self.dtype.bits() == 8 => pack_bytes(w, word, parts),
                (None, parts) => put!(w, "mov.b32 {word}, {}", Vector(parts)),
            }
        }
    }

    /// Moves words into elements.
    fn unpack(self, w: &mut Writer<'_>, words: &[Reg], elements: &[Value]) {
        if self.per_word == 1 {
            return;
        }
        for (&word, elements) in words.iter().zip(elements.chunks(self.per_word)) {
            let parts = w.regs(elements);
            if self.dtype.bits() == 8 {
                unpack_bytes(w, word, &parts);
            } else {
                put!(w, "mov.b32 {}, {word}", Vector(&parts));
            }
            if word.class == Class::B32 && (self.dtype.is_int() || self.dtype == DType::BF16) {
                for (&element, byte) in
                    elements.iter().zip((0..).step_by(self.dtype.bytes() as usize))
                {
                    w.loaded(element, Part { word, byte });
                }
            }
        }
    }
}

/// Two or four bytes, each zero-extended, in one word: a byte permute for each but the first.
fn pack_bytes(w: &mut Writer<'_>, word: Reg, bytes: &[Reg]) {
    let halves: Vec<Reg> = bytes
        .chunks(2)
        .map(|pair| {
            let wide = pair.iter().map(|&byte| widened(w, byte)).collect::<Vec<Reg>>();
            joined(w, &wide, "0x3340")
        })
        .collect();
    let all = joined(w, &halves, "0x5410");
    narrowed(w, word, all);
}

/// The bytes of two words that the selector names; one word alone is itself.
fn joined(w: &mut Writer<'_>, words: &[Reg], selector: &str) -> Reg {
    let &[a, b] = words else { return words[0] };
    let to = w.temp(Class::B32);
    put!(w, "prmt.b32 {to}, {a}, {b}, {selector}");
    to
}

/// The bytes of a word, each zero-extended.
fn unpack_bytes(w: &mut Writer<'_>, word: Reg, bytes: &[Reg]) {
    let word = widened(w, word);
    for (index, &byte) in bytes.iter().enumerate() {
        let wide = w.temp(Class::B32);
        // Byte 7 of the pair is zero.
        put!(w, "prmt.b32 {wide}, {word}, 0, 0x777{index}");
        narrowed(w, byte, wide);
    }
}

/// A register of 32 bits with the value of a narrower one.
fn widened(w: &mut Writer<'_>, x: Reg) -> Reg {
    if x.class == Class::B32 {
        return x;
    }
    let wide = w.temp(Class::B32);
    put!(w, "cvt.u32.u16 {wide}, {x}");
    wide
}

/// The low bits of a register of 32 bits.
fn narrowed(w: &mut Writer<'_>, to: Reg, wide: Reg) {
    if to.class == Class::B32 {
        put!(w, "mov.b32 {to}, {wide}");
    } else {
        put!(w, "cvt.u16.u32 {to}, {wide}");
    }
}

/// The qualifiers that atomics share: order, scope and space.
fn ordering(order: Order, scope: Scope, space: Space) -> String {
    format!("{order}.{scope}.{}", space_name(space))
}

/// An atomic operation.
pub(super) fn atomic(
    w: &mut Writer<'_>,
    access: AtomicAccess,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let AtomicAccess { space, op, order, scope, predicated: _ } = access;
    match op {
        Atomic::Rmw(op) => rmw(w, op, (space, order, scope), inst),
        Atomic::Cas => cas(w, (space, order, scope), inst),
    }
}

fn rmw(
    w: &mut Writer<'_>,
    op: Rmw,
    (space, order, scope): (Space, Order, Scope),
    inst: &InstData,
) -> Result<(), Unsupported> {
    let Some(roles) = inst.memory_operands() else { return Ok(()) };
    let Some(&first) = roles.values.first() else { return Ok(()) };
    let (dtype, capability) = (w.program.dtype(first), w.target.capability);
    let kind = rmw_kind(op, dtype, capability)
        .map_err(|reason| w.unsupported(format!("atomic {op} of {dtype}"), reason))?;
    let swapped = op.combines(dtype).filter(|_| is_swapped(op, dtype, capability));
    if swapped.is_none() && (op, dtype) == (Rmw::FAdd, DType::BF16) {
        w.need((7, 8));
    }
    let ordering = ordering(order, scope, space);
    let most = most_at_once(op, dtype, capability);
    let parts = roles.values.chunks(most).zip(inst.results.chunks(most));
    for (index, (values, results)) in parts.enumerate() {
        let offset = index as u32 * most as u32 * dtype.bytes();
        let place = Place::new(w, roles.address, roles.predicate, offset as i32);
        let Place { address, guard } = &place;
        let atom = format!("atom.{ordering}.{kind}");
        match (values, results, swapped) {
            (&[value], &[result], Some(combine)) => {
                let (d, value) = (w.reg(result), w.reg(value));
                by_swaps(w, &atom, (combine, dtype), (result, d), (address, guard), value)?;
            }
            (&[value], &[result], None) => {
                let (d, value) = (w.reg(result), w.reg(value));
                if !guard.is_empty() {
                    put!(w, "mov.{} {d}, 0", d.class.suffix());
                }
                put!(w, "{guard}{atom} {d}, {address}, {value}");
            }
            _ => several(w, &format!("atom.{ordering}"), &place, values, results),
        }
    }
    Ok(())
}

/// Sums of floats that lie side by side: a vector, or before `sm_90` a pair in one register.
fn several(w: &mut Writer<'_>, atom: &str, place: &Place, values: &[Value], results: &[Value]) {
    let dtype = w.program.dtype(values[0]);
    let noftz = if dtype == DType::F32 { "" } else { ".noftz" };
    let Place { address, guard } = place;
    let (old, new) = (w.regs(results), w.regs(values));
    if w.target.capability < 90 {
        let [found, pair] = [w.temp(Class::B32), w.temp(Class::B32)];
        put!(w, "mov.b32 {pair}, {}", Vector(&new));
        if !guard.is_empty() {
            put!(w, "mov.b32 {found}, 0");
        }
        put!(w, "{guard}{atom}.add{noftz}.{dtype}x2 {found}, {address}, {pair}");
        return put!(w, "mov.b32 {}, {found}", Vector(&old));
    }
    w.need((8, 1));
    if !guard.is_empty() {
        for d in &old {
            put!(w, "mov.{} {d}, 0", d.class.suffix());
        }
    }
    let (count, old, new) = (values.len(), Vector(&old), Vector(&new));
    put!(w, "{guard}{atom}.add{noftz}.v{count}.{dtype} {old}, {address}, {new}");
}

/// How many elements that lie side by side one instruction updates at most on a GPU of this compute
/// capability.
fn most_at_once(op: Rmw, dtype: DType, capability: u32) -> usize {
    match dtype {
        _ if !op.may_be_vector(dtype) => 1,
        _ if capability >= 90 => (MAX_ACCESS_BYTES / dtype.bytes()) as usize,
        DType::F16 => 2,
        _ => 1,
    }
}

/// Whether an atomic is made of compare-and-swaps on a GPU of this compute capability.
pub(in crate::emit) fn is_swapped(op: Rmw, dtype: DType, capability: u32) -> bool {
    match op {
        Rmw::FAdd => dtype == DType::BF16 && capability < 90,
        // `red` has them for vectors of f16 and bf16 from sm_90 on, and gives nothing back.
        Rmw::Max | Rmw::Min => dtype.is_float(),
        _ => false,
    }
}

/// An atomic of floats that has no instruction, as a compare-and-swap loop: each lane retries until the
/// value that it expected was current. Bits are compared, so that a NaN equals itself. The first expected
/// value is zero, which is also the result of a lane that takes no part.
fn by_swaps(
    w: &mut Writer<'_>,
    cas: &str,
    (combine, dtype): (Binary, DType),
    (result, d): (Value, Reg),
    (address, guard): (&str, &str),
    value: Reg,
) -> Result<(), Unsupported> {
    let (n, bits) = (result.index(), d.class.suffix());
    let [expected, made] = [d.class; 2].map(|class| w.temp(class));
    let again = w.temp(Class::Predicate);
    put!(w, "mov.{bits} {d}, 0");
    if let Some(predicate) = guard.strip_prefix('@') {
        put!(w, "@!{predicate}bra $L_swapped_{n}");
    }
    w.label(format_args!("$L_swap_{n}"));
    put!(w, "mov.{bits} {expected}, {d}");
    float::binary(w, combine, dtype, made, (expected, value))?;
    put!(w, "{cas} {d}, {address}, {expected}, {made}");
    put!(w, "setp.ne.{bits} {again}, {d}, {expected}");
    put!(w, "@{again} bra $L_swap_{n}");
    if !guard.is_empty() {
        w.label(format_args!("$L_swapped_{n}"));
    }
    Ok(())
}

/// The operation and type of an atomic instruction on a GPU of this compute capability, or why there
/// is none.
pub(in crate::emit) fn rmw_kind(
    op: Rmw,
    dtype: DType,
    capability: u32,
) -> Result<String, &'static str> {
    let bits = dtype.bits();
    if is_swapped(op, dtype, capability) {
        return if bits < 16 { Err(CAS_WIDTHS) } else { Ok(format!("cas.b{bits}")) };
    }
    if op == Rmw::FAdd {
        return match dtype {
            DType::F16 | DType::BF16 => Ok(format!("add.noftz.{dtype}")),
            _ => Ok(format!("add.{dtype}")),
        };
    }
    if bits < 32 {
        return Err("atomics of integers and exchanges have 32 or 64 bits");
    }
    Ok(match op {
        Rmw::And => format!("and.b{bits}"),
        Rmw::Or => format!("or.b{bits}"),
        Rmw::Xor => format!("xor.b{bits}"),
        Rmw::Max => format!("max.s{bits}"),
        Rmw::Min => format!("min.s{bits}"),
        Rmw::UMax => format!("max.u{bits}"),
        Rmw::UMin => format!("min.u{bits}"),
        Rmw::Exch => format!("exch.b{bits}"),
        Rmw::Add | Rmw::FAdd => format!("add.u{bits}"),
    })
}

/// Why there is no compare-and-swap of another width.
pub(in crate::emit) const CAS_WIDTHS: &str = "a compare-and-swap has 16, 32 or 64 bits";

fn cas(
    w: &mut Writer<'_>,
    (space, order, scope): (Space, Order, Scope),
    inst: &InstData,
) -> Result<(), Unsupported> {
    let Some(roles) = inst.memory_operands() else { return Ok(()) };
    let (&[expected, desired], &[result]) = (roles.values, &inst.results[..]) else {
        return Ok(());
    };
    let dtype = w.program.dtype(expected);
    if dtype.bits() < 16 {
        return Err(w.unsupported(format!("atomic cas of {dtype}"), CAS_WIDTHS));
    }
    let (d, expected, desired) = (w.reg(result), w.reg(expected), w.reg(desired));
    let Place { address, guard } = Place::new(w, roles.address, roles.predicate, 0);
    let kind = d.class.suffix();
    if !guard.is_empty() {
        put!(w, "mov.{kind} {d}, 0");
    }
    let ordering = ordering(order, scope, space);
    put!(w, "{guard}atom.{ordering}.cas.{kind} {d}, {address}, {expected}, {desired}");
    Ok(())
}
