//! Loads, stores and atomics.
//!
//! An access of one element is one of its type. Several elements move as words and are told apart by
//! their bits:
//!
//! ```text
//! load.global %3: f16, %4: f16 …     const Vec<f16, 8> v3 = bits<Vec<f16, 8>>(*global<u32x4>(v1));
//! ```
//!
//! Cache operators are hints. CUDA has them as functions; HIP's text says `cs` as non-temporal, and
//! leaves out the others. Eviction priorities are left out by both.

use super::dialect::Dialect;
use super::prelude::Helper;
use super::writer::{Writer, c_type, put, signed_type};
use super::{buffer, direct};
use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::cache::CacheModifier;
use crate::dtype::DType;
use crate::emit::past::{self, Step};
use crate::emit::{Unsupported, ptx};
use crate::lane::{
    Access, AsyncCopy, AtomicAccess, Form as Moved, InstData, Matrix, Operand, Space, Value,
};
use crate::scalar::Binary;

/// A pointer to something of this C++ type.
pub(super) fn pointer(
    w: &mut Writer<'_>,
    space: Space,
    ty: &str,
    address: Value,
    offset: i32,
    volatile: bool,
) -> String {
    let mut address = w.spelled(address);
    if offset != 0 {
        let sign = if offset < 0 { '-' } else { '+' };
        address = format!("{address} {sign} {}", offset.unsigned_abs());
    }
    // CUDA reads volatile memory by functions of its own.
    let volatile = volatile && !w.dialect.is_cuda();
    match (space, volatile) {
        (Space::Global, false) => {
            w.need(Helper::Global);
            format!("global<{ty}>({address})")
        }
        (Space::Global, true) => {
            w.need(Helper::GlobalVolatile);
            format!("global_volatile<{ty}>({address})")
        }
        (Space::Shared, _) if w.has_products() => {
            w.need(Helper::Shared);
            format!("shared<{ty}>({address})")
        }
        (Space::Shared, _) => {
            let memory = w.shared_memory();
            let (helper, name) =
                if volatile { (Helper::AtVolatile, "at_volatile") } else { (Helper::At, "at") };
            w.need(helper);
            format!("{name}<{ty}>({memory}, {address})")
        }
    }
}

/// The type that the elements of an access move as, together.
pub(super) fn word(w: &mut Writer<'_>, bytes: u32) -> &'static str {
    match bytes {
        1 => "u8",
        2 => "u16",
        4 => "u32",
        8 => {
            w.need(Helper::Word2);
            "u32x2"
        }
        _ => {
            w.need(Helper::Word4);
            "u32x4"
        }
    }
}

/// How an access reads or writes what a pointer points to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    Plain,
    Volatile,
    /// A function of the dialect, by the end of its name.
    Hint(&'static str),
}

fn way(w: &Writer<'_>, space: Space, access: Access, loads: bool) -> Way {
    if access.volatile {
        return Way::Volatile;
    }
    let hint = match (access.cache.modifier, loads) {
        _ if space == Space::Shared => "",
        (CacheModifier::All, true) => "ca",
        (CacheModifier::Volatile, true) => "cv",
        (CacheModifier::WriteBack, false) => "wb",
        (CacheModifier::WriteThrough, false) => "wt",
        (CacheModifier::Global, _) => "cg",
        (CacheModifier::Streaming, _) => "cs",
        _ => "",
    };
    match (w.dialect, hint) {
        (_, "") => Way::Plain,
        (Dialect::Cuda(_), hint) => Way::Hint(hint),
        // What is fetched again is read as volatile.
        (Dialect::Hip(_), "cv") => Way::Volatile,
        (Dialect::Hip(_), "cs") => Way::Hint("cs"),
        (Dialect::Hip(_), _) => Way::Plain,
    }
}

/// The type of the elements of an access: one by itself, or several.
fn own_type(w: &mut Writer<'_>, dtype: DType, count: usize) -> String {
    if count == 1 {
        return c_type(dtype).into();
    }
    w.need(Helper::Vec);
    format!("Vec<{}, {count}>", c_type(dtype))
}

/// Whether the elements move as words: several do, and one in a way that not every type has.
fn moved_as<'t>(w: &mut Writer<'_>, own: &'t str, bytes: u32, one_plain: bool) -> &'t str {
    if one_plain { own } else { word(w, bytes) }
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
    let (dtype, count) = (w.program.dtype(*first), inst.results.len());
    let way = way(w, space, access, true);
    let own = own_type(w, dtype, count);
    let bytes = dtype.bytes() * count as u32;
    if let Some(place) = buffer::place(w, way, true, access, &roles) {
        buffer::load(w, &place, &own, bytes, (roles.values, &inst.results));
        return Ok(());
    }
    let alone = count == 1 && way == Way::Plain && access.form == Moved::Vector;
    let moved = moved_as(w, &own, bytes, alone).to_owned();
    let volatile = way == Way::Volatile;
    let zeros = roles.values.iter().all(|&value| w.constant(value) == Some(0));
    let plain = way == Way::Plain && access.form == Moved::Vector && space == Space::Global;
    let without_branch = roles.predicate.filter(|_| plain && zeros && !w.dialect.is_cuda());
    let pointer = match without_branch {
        Some(allowed) => direct::else_zeros(w, &moved, allowed, roles.address, access.offset),
        None => pointer(w, space, &moved, roles.address, access.offset, volatile),
    };
    let read = match (way, w.dialect) {
        _ if access.form != Moved::Vector => {
            let name = matrices(w, access, true, bytes)?;
            format!("{name}({pointer})")
        }
        (Way::Hint(hint), Dialect::Cuda(_)) => format!("__ld{hint}({pointer})"),
        (Way::Hint(_), Dialect::Hip(_)) => format!("__builtin_nontemporal_load({pointer})"),
        (Way::Volatile, Dialect::Cuda(_)) => {
            w.need(Helper::LoadVolatile);
            format!("load_volatile({pointer})")
        }
        _ => format!("*{pointer}"),
    };
    let read = if moved == own { read } else { as_bits(w, &own, &read) };
    let name = w.named(*first);
    match roles.predicate.filter(|_| without_branch.is_none()) {
        None => put!(w, "const {own} {name} = {read}"),
        Some(predicate) => {
            let others: Vec<String> = roles.values.iter().map(|&value| w.spelled(value)).collect();
            let others = others.join(", ");
            if count == 1 {
                put!(w, "{own} {name} = {others}");
            } else if zeros {
                put!(w, "{own} {name} = {{}}");
            } else {
                put!(w, "{own} {name} = {{{{{others}}}}}");
            }
            let predicate = w.spelled(predicate);
            put!(w, "if ({predicate}) {name} = {read}");
        }
    }
    if count > 1 {
        for (index, &result) in inst.results.iter().enumerate() {
            w.spell(result, format!("{name}.at[{index}]"));
        }
    }
    Ok(())
}

pub(super) fn as_bits(w: &mut Writer<'_>, ty: &str, text: &str) -> String {
    w.need(Helper::Bits);
    format!("bits<{ty}>({text})")
}

pub(super) fn store(
    w: &mut Writer<'_>,
    space: Space,
    access: Access,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let Some(roles) = inst.memory_operands() else { return Ok(()) };
    let Some(&first) = roles.values.first() else { return Ok(()) };
    let (dtype, count) = (w.program.dtype(first), roles.values.len());
    let way = way(w, space, access, false);
    let own = own_type(w, dtype, count);
    let bytes = dtype.bytes() * count as u32;
    let values: Vec<String> = roles.values.iter().map(|&value| w.spelled(value)).collect();
    let values = values.join(", ");
    let stored = if count == 1 { values } else { format!("{own}{{{{{values}}}}}") };
    if let Some(place) = buffer::place(w, way, false, access, &roles) {
        buffer::store(w, &place, &own, bytes, &stored);
        return Ok(());
    }
    let alone = count == 1 && way == Way::Plain && access.form == Moved::Vector;
    let moved = moved_as(w, &own, bytes, alone).to_owned();
    let volatile = way == Way::Volatile;
    let pointer = pointer(w, space, &moved, roles.address, access.offset, volatile);
    let stored = if moved == own { stored } else { as_bits(w, &moved, &stored) };
    let write = match (way, w.dialect) {
        _ if access.form != Moved::Vector => {
            let name = matrices(w, access, false, bytes)?;
            format!("{name}({pointer}, {stored})")
        }
        (Way::Hint(hint), Dialect::Cuda(_)) => format!("__st{hint}({pointer}, {stored})"),
        (Way::Hint(_), Dialect::Hip(_)) => {
            format!("__builtin_nontemporal_store({stored}, {pointer})")
        }
        (Way::Volatile, Dialect::Cuda(_)) => {
            w.need(Helper::StoreVolatile);
            format!("store_volatile({pointer}, {stored})")
        }
        _ => format!("*{pointer} = {stored}"),
    };
    match roles.predicate {
        None => put!(w, "{write}"),
        Some(predicate) => {
            let predicate = w.spelled(predicate);
            put!(w, "if ({predicate}) {write}");
        }
    }
    Ok(())
}

/// The function that moves the matrices of a warp, `bytes` bytes in each lane, by its name.
fn matrices(
    w: &mut Writer<'_>,
    access: Access,
    loads: bool,
    bytes: u32,
) -> Result<String, Unsupported> {
    let Moved::Matrix(matrix) = access.form else { return Ok(String::new()) };
    let Matrix { element_bits, rows, transposed } = matrix;
    let Dialect::Cuda(target) = w.dialect else {
        let what = if loads { "loads of matrices" } else { "stores of matrices" };
        return Err(w.unsupported(what, "no instruction of a wave moves matrices like this"));
    };
    let words = (bytes / 4) as usize;
    let (instruction, _) = ptx::matrix_move(target, matrix, loads, words)
        .map_err(|(operation, reason)| w.unsupported(operation, reason))?;
    let ty = word(w, bytes);
    let verb = if loads { "load" } else { "store" };
    let turned = if transposed { "_transposed" } else { "" };
    let function = format!("{verb}_matrices_{rows}_b{element_bits}_{words}{turned}");
    let parts: Vec<String> = match words {
        1 => vec!["words".into()],
        _ => "xyzw".chars().take(words).map(|part| format!("words.{part}")).collect(),
    };
    let list = |from: usize| {
        let places: Vec<String> = (from..from + words).map(|index| format!("%{index}")).collect();
        places.join(", ")
    };
    let operands = |mark: &str| {
        let operands: Vec<String> =
            parts.iter().map(|part| format!("\"{mark}\"({part})")).collect();
        operands.join(", ")
    };
    let row = "\"r\"(static_cast<u32>(__cvta_generic_to_shared(row)))";
    let text = if loads {
        format!(
            "// Matrices of the warp; each lane gives the address of a row.\n\
             __device__ __forceinline__ {ty} {function}(const void* row) {{\n  {ty} words;\n  \
             asm volatile(\"{instruction} {{{}}}, [%{words}];\"\n               \
             : {} : {row} : \"memory\");\n  return words;\n}}\n",
            list(0),
            operands("=r"),
        )
    } else {
        format!(
            "// Matrices of the warp; each lane gives the address of a row.\n\
             __device__ __forceinline__ void {function}(void* row, {ty} words) {{\n  \
             asm volatile(\"{instruction} [%0], {{{}}};\"\n               \
             : : {row}, {} : \"memory\");\n}}\n",
            list(1),
            operands("r"),
        )
    };
    w.instructions.insert(function.clone(), text);
    Ok(function)
}

/// Copies past the registers, and what waits for that.
pub(super) fn async_copy(
    w: &mut Writer<'_>,
    op: AsyncCopy,
    inst: &InstData,
) -> Result<(), Unsupported> {
    if let Dialect::Hip(target) = w.dialect {
        return direct::copy(w, target, op, inst);
    }
    let (name, bytes, offset) = match past::step(op) {
        Step::Copy { name, bytes, offset } => (name, bytes, offset),
        Step::Whole(instruction) => {
            put!(w, "asm volatile(\"{instruction};\" : : : \"memory\")");
            return Ok(());
        }
    };
    let [to, from] =
        [Space::Shared, Space::Global].map(|space| inst.operand(Operand::Address(space)));
    let (Some(to), Some(from)) = (to, from) else { return Ok(()) };
    let moved = word(w, bytes);
    let place = pointer(w, Space::Shared, moved, to, offset, false);
    let source = w.spelled(from);
    let function = format!("copy_async_{bytes}");
    let text = format!(
        "// Copies, or fills with zeros what is beyond `read` bytes, until it is waited for.\n\
         __device__ __forceinline__ void {function}(void* place, u64 source, u32 read) {{\n  \
         asm volatile(\"{name} [%0], [%1], {bytes}, %2;\"\n               \
         : : \"r\"(static_cast<u32>(__cvta_generic_to_shared(place))), \"l\"(source), \"r\"(read) \
         : \"memory\");\n}}\n"
    );
    w.instructions.insert(function.clone(), text);
    let read = match inst.operand(Operand::Filled) {
        Some(filled) => format!("{} ? {bytes} : 0", w.spelled(filled)),
        None => bytes.to_string(),
    };
    let call = format!("{function}({place}, {source}, {read})");
    match inst.operand(Operand::Predicate) {
        Some(predicate) => {
            let predicate = w.spelled(predicate);
            put!(w, "if ({predicate}) {call}");
        }
        None => put!(w, "{call}"),
    }
    Ok(())
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
    how: (Space, Order, Scope),
    inst: &InstData,
) -> Result<(), Unsupported> {
    let Some(roles) = inst.memory_operands() else { return Ok(()) };
    // Several elements that lie side by side are updated one by one.
    for (index, (&value, &result)) in roles.values.iter().zip(&inst.results).enumerate() {
        let offset = index as u32 * w.program.dtype(value).bytes();
        let place = (roles.address, offset as i32, roles.predicate);
        rmw_of_one(w, op, how, place, (value, result))?;
    }
    Ok(())
}

fn rmw_of_one(
    w: &mut Writer<'_>,
    op: Rmw,
    how: (Space, Order, Scope),
    (address, offset, predicate): (Value, i32, Option<Value>),
    (value, result): (Value, Value),
) -> Result<(), Unsupported> {
    let dtype = w.program.dtype(value);
    let capability = match w.dialect {
        Dialect::Cuda(target) => target.capability,
        // The compiler makes a loop of what the machine does not have.
        Dialect::Hip(_) => u32::MAX,
    };
    let refused = |w: &Writer<'_>, reason| w.unsupported(format!("atomic {op} of {dtype}"), reason);
    let kind = ptx::rmw_kind(op, dtype, capability).map_err(|reason| refused(w, reason))?;
    let text = match w.dialect {
        Dialect::Cuda(_) => {
            let swapped = op.combines(dtype).filter(|_| ptx::is_swapped(op, dtype, capability));
            let operands = &["value"];
            let helper =
                AtomicFunction { name: op.name(), kind: &kind, swapped, dtype, how, operands };
            let name = helper.ask(w);
            let place = cuda_place(w, how.0, address, offset);
            format!("{name}({place}, {})", w.spelled(value))
        }
        Dialect::Hip(_) => {
            let (name, is_signed) = match op {
                Rmw::And => ("fetch_and", false),
                Rmw::Or => ("fetch_or", false),
                Rmw::Xor => ("fetch_xor", false),
                Rmw::Add | Rmw::FAdd => ("fetch_add", false),
                Rmw::Max => ("fetch_max", !dtype.is_float()),
                Rmw::Min => ("fetch_min", !dtype.is_float()),
                Rmw::UMax => ("fetch_max", false),
                Rmw::UMin => ("fetch_min", false),
                Rmw::Exch => ("exchange", false),
            };
            let own = if is_signed { signed_type(dtype) } else { c_type(dtype) };
            // What is only exchanged has no type but a width.
            let own = match (op, dtype) {
                (Rmw::Exch, DType::F32) => "u32",
                (Rmw::Exch, DType::F64) => "u64",
                _ => own,
            };
            let place = pointer(w, how.0, own, address, offset, false);
            let (order, scope) = hip_order(how.1, how.2);
            let exchanges_float = op == Rmw::Exch && dtype.is_float();
            let mut operand = w.spelled(value);
            if exchanges_float {
                operand = as_bits(w, own, &operand);
            } else if is_signed {
                operand = format!("{own}({operand})");
            }
            let call = format!("__hip_atomic_{name}({place}, {operand}, {order}, {scope})");
            if exchanges_float {
                as_bits(w, c_type(dtype), &call)
            } else if is_signed && w.is_used(result) {
                format!("{}({call})", c_type(dtype))
            } else {
                call
            }
        }
    };
    define_old(w, result, predicate, dtype, &text);
    Ok(())
}

fn cas(w: &mut Writer<'_>, how: (Space, Order, Scope), inst: &InstData) -> Result<(), Unsupported> {
    let Some(roles) = inst.memory_operands() else { return Ok(()) };
    let (&[expected, desired], &[result]) = (roles.values, &inst.results[..]) else {
        return Ok(());
    };
    let dtype = w.program.dtype(expected);
    if dtype.bits() < 16 {
        return Err(w.unsupported(format!("atomic cas of {dtype}"), ptx::CAS_WIDTHS));
    }
    let [old, new] = [expected, desired].map(|value| w.spelled(value));
    let text = match w.dialect {
        Dialect::Cuda(_) => {
            let kind = format!("cas.b{}", dtype.bits());
            let operands: &[&str] = &["expected", "desired"];
            let helper =
                AtomicFunction { name: "cas", kind: &kind, swapped: None, dtype, how, operands };
            let name = helper.ask(w);
            let place = cuda_place(w, how.0, roles.address, 0);
            format!("{name}({place}, {old}, {new})")
        }
        Dialect::Hip(_) => {
            w.need(Helper::Atomics);
            let word = match dtype.bits() {
                16 => "u16",
                32 => "u32",
                _ => "u64",
            };
            let (order, scope) = hip_order(how.1, how.2);
            let failure = if how.1.acquires() { "__ATOMIC_ACQUIRE" } else { "__ATOMIC_RELAXED" };
            let place = pointer(w, how.0, word, roles.address, 0, false);
            let (mut old, mut new) = (old, new);
            if dtype.is_float() {
                (old, new) = (as_bits(w, word, &old), as_bits(w, word, &new));
            }
            let call = format!(
                "atomic_cas<{order}, {failure}, {scope}>({place}, {word}({old}), {word}({new}))"
            );
            if dtype.is_float() { as_bits(w, c_type(dtype), &call) } else { call }
        }
    };
    define_old(w, result, roles.predicate, dtype, &text);
    Ok(())
}

/// Functions for atomics that HIP has in another form.
pub(super) const HIP_ATOMICS: &str = "\
// Compare and swap; gives what was there.
template <int ORDER, int FAILURE, int SCOPE, typename P, typename T>
__device__ __forceinline__ T atomic_cas(P place, T expected, T desired) {
  __hip_atomic_compare_exchange_strong(place, &expected, desired, ORDER, FAILURE, SCOPE);
  return expected;
}
";

/// Defines what an atomic found; nothing is known of it where the atomic did not take place.
fn define_old(
    w: &mut Writer<'_>,
    result: Value,
    predicate: Option<Value>,
    dtype: DType,
    text: &str,
) {
    let guard = predicate.map(|predicate| format!("if ({}) ", w.spelled(predicate)));
    if !w.is_used(result) {
        return put!(w, "{}{text}", guard.unwrap_or_default());
    }
    let Some(guard) = guard else { return w.define(result, text) };
    let zero = w.literal(dtype, 0);
    let name = w.named(result);
    put!(w, "{} {name} = {zero}", c_type(dtype));
    put!(w, "{guard}{name} = {text}");
}

pub(super) fn hip_order(order: Order, scope: Scope) -> (&'static str, &'static str) {
    let order = match order {
        Order::Relaxed => "__ATOMIC_RELAXED",
        Order::Acquire => "__ATOMIC_ACQUIRE",
        Order::Release => "__ATOMIC_RELEASE",
        Order::AcqRel => "__ATOMIC_ACQ_REL",
    };
    let scope = match scope {
        Scope::Block => "__HIP_MEMORY_SCOPE_WORKGROUP",
        Scope::Gpu => "__HIP_MEMORY_SCOPE_AGENT",
        Scope::System => "__HIP_MEMORY_SCOPE_SYSTEM",
    };
    (order, scope)
}

/// Where an atomic of CUDA acts: an address in global memory, or a pointer.
fn cuda_place(w: &mut Writer<'_>, space: Space, address: Value, offset: i32) -> String {
    match space {
        Space::Global if offset == 0 => w.spelled(address),
        Space::Global => format!("{} + {offset}", w.spelled(address)),
        Space::Shared => pointer(w, space, "u8", address, offset, false),
    }
}

/// An atomic of CUDA: a function around PTX's instruction, since C++ has no order or scope for it.
struct AtomicFunction<'a> {
    name: &'a str,
    /// What the instruction's name ends with.
    kind: &'a str,
    /// What it does to floats by compare-and-swaps, where it has no instruction.
    swapped: Option<Binary>,
    dtype: DType,
    how: (Space, Order, Scope),
    operands: &'a [&'a str],
}

impl AtomicFunction<'_> {
    /// Puts the function into the prelude and gives its name.
    fn ask(&self, w: &mut Writer<'_>) -> String {
        let AtomicFunction { name, kind, swapped, dtype, how: (space, order, scope), operands } =
            self;
        let space_name = match space {
            Space::Global => "global",
            Space::Shared => "shared",
        };
        let function = format!("atomic_{name}_{dtype}_{order}_{scope}_{space_name}");
        let own = c_type(*dtype);
        // An assembler text takes 16 bits as an integer.
        let (carrier, mark) = match dtype {
            DType::F32 if !kind.contains(".b") => ("float", 'f'),
            DType::F64 if !kind.contains(".b") => ("double", 'd'),
            _ => match dtype.bits() {
                16 => ("u16", 'h'),
                64 => ("u64", 'l'),
                _ => ("u32", 'r'),
            },
        };
        let carried = carrier != own;
        let (place, address, place_mark) = match space {
            Space::Global => ("u64 address", "address".to_owned(), 'l'),
            Space::Shared => {
                ("void* place", "static_cast<u32>(__cvta_generic_to_shared(place))".to_owned(), 'r')
            }
        };
        if carried {
            w.need(Helper::Bits);
        }
        let inputs: Vec<String> = operands
            .iter()
            .map(|name| {
                if carried {
                    format!("\"{mark}\"(bits<{carrier}>({name}))")
                } else {
                    format!("\"{mark}\"({name})")
                }
            })
            .collect();
        let params: Vec<String> = operands.iter().map(|name| format!("{own} {name}")).collect();
        let places: Vec<String> =
            (2..2 + operands.len()).map(|index| format!("%{index}")).collect();
        let instruction = format!("atom.{order}.{scope}.{space_name}.{kind}");
        let old = if carried { format!("bits<{own}>(old)") } else { "old".into() };
        let places = places.join(", ");
        let body = if let Some(combine) = swapped {
            let combine = match combine {
                Binary::MaxNum => format!("max.{dtype} made, believed, {places}"),
                Binary::MinNum => format!("min.{dtype} made, believed, {places}"),
                // There is no sum of bf16 where there is no such atomic.
                _ => format!("mov.b16 one, 0x3f80; fma.rn.bf16 made, believed, one, {places}"),
            };
            let bits = dtype.bits();
            // A compare-and-swap loop, until the expected value was current.
            format!(
                "{{ .reg .pred again; .reg .b16 one; .reg .b{bits} found, believed, made;\"\n               \
                 \" mov.b{bits} found, 0;\"\n               \
                 \" swap: mov.b{bits} believed, found; {combine};\"\n\
                 \x20              \" {instruction} found, [%1], believed, made;\"\n               \
                 \" setp.ne.b{bits} again, found, believed; @again bra swap; mov.b{bits} %0, found; }}"
            )
        } else {
            format!("{instruction} %0, [%1], {places};")
        };
        let text = format!(
            "__device__ __forceinline__ {own} {function}({place}, {}) {{\n  {carrier} old;\n  \
             asm volatile(\"{body}\"\n               \
             : \"={mark}\"(old) : \"{place_mark}\"({address}), {} : \"memory\");\n  \
             return {old};\n}}\n",
            params.join(", "),
            inputs.join(", "),
        );
        w.instructions.insert(function.clone(), text);
        function
    }
}
