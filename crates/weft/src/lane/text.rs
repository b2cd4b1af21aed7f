//! The lane program's text; [`super::read`] reads it.

use super::family::Family;
use super::{
    Access, BarrierScope, Form, IdKind, Inst, InstData, Matrix, Multiprocessor, Op, Program,
    Region, Role, SharedData, Space, TensorMap, Value,
};
use crate::cache::{Cache, CacheModifier, Eviction};
use core::fmt::{self, Write};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Every field is printed or named here, so that a new one cannot be forgotten.
        let Program {
            name,
            params,
            maps,
            warps,
            lanes_log2,
            values: _,
            insts: _,
            shared,
            shared_bytes,
            multiprocessor,
            body,
            locations: _,
        } = self;
        write!(f, "lane @{name}(")?;
        for (index, param) in params.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            match (maps.get(&(index as u32)), param.pointee) {
                (Some(map), _) => write!(f, "{comma}{}: {map}", param.name)?,
                (_, Some(pointee)) => write!(f, "{comma}{}: ptr<{pointee}>", param.name)?,
                (None, None) => write!(f, "{comma}{}: {}", param.name, param.dtype)?,
            }
            if param.divisibility != 1 {
                write!(f, " by {}", param.divisibility)?;
            }
        }
        write!(f, ") warps {warps} lanes {} shared {shared_bytes}", 1u64 << lanes_log2)?;
        if let Some(multiprocessor) = multiprocessor {
            let Multiprocessor { registers, shared_bytes, reserved_bytes } = multiprocessor;
            write!(f, " of {registers} {shared_bytes} {reserved_bytes}")?;
        }
        f.write_str(" {\n")?;
        for (id, piece) in shared.iter() {
            let SharedData { bytes, align, offset, scope, turns, .. } = piece;
            let SharedData { scratch, renewed, ordered, mbarriers, .. } = piece;
            write!(f, "  {id} = {bytes} bytes at {offset} align {align}")?;
            let marks = [
                (*scope == BarrierScope::Warp, " warp"),
                (*scratch, " scratch"),
                (*renewed, " renewed"),
                (*ordered, " ordered"),
                (*mbarriers, " mbarriers"),
            ];
            for (_, mark) in marks.iter().filter(|(holds, _)| *holds) {
                f.write_str(mark)?;
            }
            match turns {
                Some(turns) => writeln!(f, " turns {turns}")?,
                None => f.write_char('\n')?,
            }
        }
        self.write_region(f, body, 1)?;
        f.write_str("}\n")
    }
}

impl fmt::Display for TensorMap {
    /// `map<f16 64x8 span 128>`, the sides innermost first; `map<f16 64x8 span 128 made>` where blocks make it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { element, sides, span, made } = self;
        let sides: Vec<String> = sides.iter().map(ToString::to_string).collect();
        let made = if *made { " made" } else { "" };
        write!(f, "map<{element} {} span {span}{made}>", sides.join("x"))
    }
}

impl Program {
    fn write_region(
        &self,
        f: &mut fmt::Formatter<'_>,
        region: &Region,
        depth: usize,
    ) -> fmt::Result {
        for &inst in &region.insts {
            self.write_inst(f, inst, depth)?;
        }
        Ok(())
    }

    fn write_inst(&self, f: &mut fmt::Formatter<'_>, id: Inst, depth: usize) -> fmt::Result {
        let inst = &self.insts[id];
        let InstData { op, operands, results, regions, loc: _ } = inst;
        for _ in 0..depth {
            f.write_str("  ")?;
        }
        if !results.is_empty() {
            self.write_typed(f, results)?;
            f.write_str(" = ")?;
        }
        write_op(f, op, id)?;
        for (index, operand) in operands.iter().enumerate() {
            write!(f, "{} {operand}", if index > 0 { "," } else { "" })?;
        }
        if regions.is_empty() {
            return f.write_char('\n');
        }
        for (index, region) in regions.iter().enumerate() {
            f.write_str(if index > 0 { " else" } else { "" })?;
            if !region.params.is_empty() {
                f.write_str(" (")?;
                self.write_typed(f, &region.params)?;
                f.write_char(')')?;
            }
            f.write_str(" {\n")?;
            self.write_region(f, region, depth + 1)?;
            for _ in 0..depth {
                f.write_str("  ")?;
            }
            f.write_char('}')?;
        }
        f.write_char('\n')
    }

    fn write_typed(&self, f: &mut fmt::Formatter<'_>, values: &[Value]) -> fmt::Result {
        for (index, &value) in values.iter().enumerate() {
            write!(f, "{}{value}: {}", if index > 0 { ", " } else { "" }, self.dtype(value))?;
        }
        Ok(())
    }
}

/// Words for the levels of cache, where they are not as the machine likes.
pub(super) const MODIFIERS: [(CacheModifier, &str); 6] = [
    (CacheModifier::All, "ca"),
    (CacheModifier::Global, "cg"),
    (CacheModifier::Streaming, "cs"),
    (CacheModifier::Volatile, "cv"),
    (CacheModifier::WriteBack, "wb"),
    (CacheModifier::WriteThrough, "wt"),
];

/// Words for what is dropped, where that is not as the machine likes.
pub(super) const EVICTIONS: [(Eviction, &str); 2] =
    [(Eviction::First, "evict_first"), (Eviction::Last, "evict_last")];

/// Words for the spaces.
pub(super) fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
    }
}

fn write_access(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    space: Space,
    access: Access,
) -> fmt::Result {
    write!(f, "{name}.{}", space_name(space))?;
    if let Form::Matrix(matrix) = access.form {
        let Matrix { element_bits, rows, transposed } = matrix;
        let transposed = if transposed { ".transposed" } else { "" };
        write!(f, ".matrix.{rows}.b{element_bits}{transposed}")?;
    }
    if access.volatile {
        f.write_str(".volatile")?;
    }
    let Cache { modifier, eviction } = access.cache;
    let modifiers = MODIFIERS.iter().filter(|(known, _)| *known == modifier);
    let evictions = EVICTIONS.iter().filter(|(known, _)| *known == eviction);
    for name in modifiers.map(|(_, name)| name).chain(evictions.map(|(_, name)| name)) {
        write!(f, ".{name}")?;
    }
    if access.offset != 0 {
        write!(f, "[{:+}]", access.offset)?;
    }
    if access.predicated { f.write_str(".if") } else { Ok(()) }
}

fn write_op(f: &mut fmt::Formatter<'_>, op: &Op, id: Inst) -> fmt::Result {
    match op {
        Op::Const(bits) => write!(f, "const {bits:#x}"),
        Op::Param(index) => write!(f, "param {index}"),
        Op::Id(IdKind::Lane) => f.write_str("lane"),
        Op::Id(IdKind::Warp) => f.write_str("warp"),
        Op::Id(IdKind::Thread) => f.write_str("thread"),
        Op::Id(IdKind::Block(axis)) => write!(f, "block.{axis}"),
        Op::Id(IdKind::Blocks(axis)) => write!(f, "blocks.{axis}"),
        Op::Linear { columns } => {
            f.write_str("linear [")?;
            for (index, column) in columns.iter().enumerate() {
                write!(f, "{}{column}", if index > 0 { " " } else { "" })?;
            }
            f.write_char(']')
        }
        Op::Unary(op) => write!(f, "{op}"),
        Op::Binary(op) => write!(f, "{op}"),
        Op::Compare(op) => write!(f, "cmp.{op}"),
        Op::Select => f.write_str("select"),
        Op::Cast(op) => write!(f, "cast.{op}"),
        Op::Fma => f.write_str("fma"),
        Op::FmaToward(rounding) => write!(f, "fma.{rounding}"),
        Op::RoundPair(to) => write!(f, "round.pair.{to}"),
        Op::WidenPair(from) => write!(f, "widen.pair.{from}"),
        Op::Bytes => f.write_str("bytes"),
        Op::SharedBase(shared) => write!(f, "address {shared}"),
        Op::Offset => f.write_str("offset"),
        Op::Load { space, access } => write_access(f, "load", *space, *access),
        Op::Store { space, access } => write_access(f, "store", *space, *access),
        Op::Atomic(op) => op.write(f),
        Op::AsyncCopy(op) => op.write(f),
        Op::ShuffleXor { mask } => write!(f, "shuffle.xor {mask}"),
        Op::ShuffleIndex => f.write_str("shuffle.index"),
        Op::MatrixMultiply(op) => op.write(f),
        Op::ScaledMultiply(op) => op.write(f),
        Op::Warpgroup(op) => op.write(f),
        Op::Sync(op) => op.write(f),
        Op::Mbarrier(op) => op.write(f),
        Op::BulkCopy(op) => op.write(f),
        Op::TensorCopy(op) => op.write(f),
        Op::MakeMap(op) => op.write(f),
        Op::Print(format) => write!(f, "print {:?}", format.c()),
        Op::InlineAsm { text, pure } => {
            write!(f, "asm{} {text:?}", if *pure { "" } else { ".volatile" })
        }
        Op::Assert { message } => write!(f, "assert {message:?}"),
        Op::If => f.write_str("if"),
        Op::Roles(roles) => {
            f.write_str("roles")?;
            for Role { first, warps, registers } in roles {
                write!(f, " {first}+{warps}")?;
                if let Some(registers) = registers {
                    write!(f, ":{registers}")?;
                }
            }
            Ok(())
        }
        Op::Loop => write!(f, "loop {id}"),
        Op::BreakIf { target } => write!(f, "break.if {target}"),
        Op::Continue => f.write_str("continue"),
        Op::Yield => f.write_str("yield"),
        Op::Return => f.write_str("return"),
    }
}
