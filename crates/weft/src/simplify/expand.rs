//! Constant folding, common subexpressions and linear maps: the program written anew, folded, shared,
//! its F2-linear maps expanded.
//!
//! An F2-linear map sends input bit `i` to the bits of its column. Along a diagonal, every bit moves
//! by the same distance, so that all of them take one mask and one shift:
//!
//! ```text
//! columns [1 2 16 32]     bits 0 and 1 stay, bits 2 and 3 move up by two
//! (x & 3) ^ ((x & 12) << 2)
//! ```
//!
//! The mask is left out where the operand has no other bits (a lane's number has five, say).
//! Where the same bits stand on several diagonals, as where one bit changes all nibbles of a selector, a
//! multiplication makes all copies at once, none of which meet:
//!
//! ```text
//! columns [0 0 0x1111]     ((x & 4) >> 2) * 0x1111
//! ```

use super::halves::{self, Halves};
use super::rests::{self, Rest};
use super::words;
use crate::budget::{Bounds, Stop};
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{Access, Builder, Inst, InstData, Op, Program, Region, Space, Value, diagonals};
use crate::scalar::Binary;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Writes the program anew, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(program: Program, stop: &Stop) -> Program {
    written(program, IdMap::default(), stop)
}

/// The same, with remainders as such whose quotients nothing else uses.
pub fn share_until(program: Program, stop: &Stop) -> Program {
    let rests = rests::of(&program);
    written(program, rests, stop)
}

fn written(mut program: Program, rests: IdMap<Inst, Option<Rest>>, stop: &Stop) -> Program {
    let mut build = Builder::new(&program.name, program.warps, program.lanes_log2);
    build.set_locations(core::mem::take(&mut program.locations));
    build.set_bounds(Bounds::until(stop));
    build.reserve_for(&program);
    for (_, piece) in program.shared.iter() {
        build.declare_shared(piece);
    }
    if let Some(multiprocessor) = program.multiprocessor {
        build.set_multiprocessor(multiprocessor);
    }
    for param in &program.params {
        build.declare_param(param.clone());
    }
    build.set_maps(core::mem::take(&mut program.maps));
    let mut writer = Expansion {
        program: &program,
        build,
        values: IdMap::default(),
        loops: FxHashMap::default(),
        in_words: words::accesses(&program),
        halves: Halves::of(&program),
        rests,
    };
    writer.region(&program.body);
    let results = writer.all(program.results());
    writer.build.finish_with(&results)
}

struct Expansion<'a> {
    program: &'a Program,
    build: Builder,
    values: IdMap<Value, Option<Value>>,
    loops: FxHashMap<Inst, Inst>,
    /// The loads and stores of narrow numbers that move words instead.
    in_words: IdMap<Inst, bool>,
    /// The products of which both halves are used.
    halves: Halves,
    /// The differences that are remainders.
    rests: IdMap<Inst, Option<Rest>>,
}

impl Expansion<'_> {
    fn value(&self, old: Value) -> Value {
        self.values[old].unwrap_or(old)
    }

    fn all(&self, old: &[Value]) -> SmallVec<[Value; 4]> {
        old.iter().map(|&value| self.value(value)).collect()
    }

    fn bind(&mut self, old: &[Value], new: &[Value]) {
        for (&old, &new) in old.iter().zip(new) {
            self.values.set(old, Some(new));
        }
    }

    fn dtypes(&self, values: &[Value]) -> Vec<DType> {
        values.iter().map(|&value| self.program.dtype(value)).collect()
    }

    /// Everything but the terminator, whose operands are the caller's business.
    fn region(&mut self, region: &Region) {
        for &id in &region.insts {
            let inst = &self.program.insts[id];
            if !inst.op.effects().is_terminator() {
                self.build.set_loc(inst.loc);
                self.inst(id, inst);
            }
        }
    }

    fn inner(&mut self, region: &Region, end: Op) -> Region {
        let params = self.build.open_region(&self.dtypes(&region.params));
        self.bind(&region.params, &params);
        self.region(region);
        let last = region.insts.last().map(|&last| &self.program.insts[last].operands[..]);
        let values = self.all(last.unwrap_or(&[]));
        self.build.close_region(end, &values)
    }

    /// A load of words, and the narrow numbers in them.
    fn load_words(
        &mut self,
        space: Space,
        access: Access,
        inst: &InstData,
    ) -> SmallVec<[Value; 2]> {
        let Some(roles) = inst.memory_operands() else { return SmallVec::new() };
        let narrow = self.program.dtype(inst.results[0]);
        let in_word = (4 / narrow.bytes()) as usize;
        let address = self.value(roles.address);
        let others = self.all(roles.values);
        let others: Vec<Value> =
            others.chunks(in_word).map(|others| self.build.join(others)).collect();
        let predicate = roles.predicate.map(|predicate| (self.value(predicate), &others[..]));
        let count = inst.results.len() / in_word;
        let words = self.build.load(space, access, DType::I32, count, address, predicate);
        words.into_iter().flat_map(|word| self.build.split(word, narrow)).collect()
    }

    /// A store of words, put together from narrow numbers.
    fn store_words(&mut self, space: Space, access: Access, inst: &InstData) {
        let Some(roles) = inst.memory_operands() else { return };
        let narrow = roles.values.first().map_or(DType::I8, |&first| self.program.dtype(first));
        let address = self.value(roles.address);
        let predicate = roles.predicate.map(|predicate| self.value(predicate));
        let parts = roles.values.chunks((4 / narrow.bytes()) as usize);
        let words: Vec<Value> = parts
            .map(|parts| {
                let parts = self.all(parts);
                self.build.join(&parts)
            })
            .collect();
        self.build.store(space, access, address, predicate, &words);
    }

    fn inst(&mut self, id: Inst, inst: &InstData) {
        let operands = self.all(&inst.operands);
        let rest = self.rests[id].map(|rest| Rest { of: rest.of.map(|of| self.value(of)), ..rest });
        let result = |build: &mut Builder| -> Option<Value> {
            if let Some(Rest { op, of: [n, d], above }) = rest {
                let rest = build.remainder(op, n, d);
                let above = build.constant(build.dtype(n), above);
                return Some(build.binary(Binary::Add, rest, above));
            }
            Some(match (&inst.op, &operands[..]) {
                (Op::Const(bits), _) => build.constant(self.program.dtype(inst.results[0]), *bits),
                (Op::Param(index), _) => build.param_value(*index),
                (Op::Id(kind), _) => build.id(*kind),
                (Op::SharedBase(shared), _) => build.shared_base(*shared),
                (Op::Linear { columns }, &[x]) => linear(build, columns, x),
                (Op::Unary(op), &[x]) => build.unary(*op, x),
                (Op::Binary(op), &[x, y]) if self.halves.has(id) => {
                    halves::half(build, *op == Binary::MulHiU, x, y)
                }
                (Op::Binary(op), &[x, y]) => build.binary(*op, x, y),
                (Op::Compare(op), &[x, y]) => build.compare(*op, x, y),
                (Op::Select, &[c, x, y]) => build.select(c, x, y),
                (Op::Cast(op), &[x]) => build.cast(*op, x, self.program.dtype(inst.results[0])),
                (Op::Fma, &[x, y, z]) => build.fma(x, y, z),
                (Op::FmaToward(rounding), &[x, y, z]) => build.fma_toward(*rounding, x, y, z),
                (Op::RoundPair(to), &[x, y]) => build.round_pair(*to, x, y),
                (Op::WidenPair(from), &[x]) => build.widen_pair(*from, x),
                (Op::Bytes, &[x, y, z]) => build.bytes(x, y, z),
                (Op::Offset, &[base, offset]) => build.offset(base, offset),
                _ => return None,
            })
        };
        if let Some(value) = result(&mut self.build) {
            self.bind(&inst.results, &[value]);
            return;
        }
        let results = match &inst.op {
            Op::Load { space, access } if self.in_words[id] => {
                self.load_words(*space, *access, inst)
            }
            Op::Store { space, access } if self.in_words[id] => {
                self.store_words(*space, *access, inst);
                SmallVec::new()
            }
            Op::If => {
                let then = self.inner(&inst.regions[0], Op::Yield);
                let otherwise = self.inner(&inst.regions[1], Op::Yield);
                let dtypes = self.dtypes(&inst.results);
                self.build.if_(operands[0], then, otherwise, &dtypes)
            }
            Op::Loop => {
                let new = self.build.new_loop(&operands, &self.dtypes(&inst.results));
                self.loops.insert(id, new);
                let body = self.inner(&inst.regions[0], Op::Continue);
                self.build.place_loop(new, body)
            }
            Op::Roles(roles) => {
                let bodies = inst.regions.iter().map(|body| self.inner(body, Op::Yield)).collect();
                self.build.roles(roles.clone(), bodies);
                SmallVec::new()
            }
            Op::BreakIf { target } => {
                let target = self.loops.get(target).copied().unwrap_or(*target);
                self.build.break_if(target, operands[0], &operands[1..]);
                SmallVec::new()
            }
            op => self.build.emit(op.clone(), operands, &self.dtypes(&inst.results)),
        };
        self.bind(&inst.results, &results);
    }
}

/// A linear map as shifts, masks and exclusive ors, one of each a diagonal; diagonals of the same bits
/// by one multiplication where that takes clearly less.
fn linear(build: &mut Builder, columns: &[u32], x: Value) -> Value {
    let possible = build.possible_bits(x) as u32;
    // The diagonals of each mask.
    let mut groups: SmallVec<[(u32, SmallVec<[i32; 4]>); 8]> = SmallVec::new();
    for (mask, distance) in diagonals(columns) {
        let mask = mask & possible;
        match groups.iter_mut().find(|group| group.0 == mask) {
            _ if mask == 0 => {}
            Some(group) => group.1.push(distance),
            None => groups.push((mask, SmallVec::from_slice(&[distance]))),
        }
    }
    let mut sum = None;
    for (mask, distances) in groups {
        let bits = if mask == possible {
            x
        } else {
            let mask = build.i32(mask as i32);
            build.binary(Binary::And, x, mask)
        };
        if let Some((right, factor)) = factor(mask, &distances) {
            let right = build.i32(right as i32);
            let bits = build.binary(Binary::ShrU, bits, right);
            let factor = build.i32(factor as i32);
            let moved = build.binary(Binary::Mul, bits, factor);
            sum = Some(added(build, sum, moved));
            continue;
        }
        for distance in distances {
            let (op, count) =
                if distance < 0 { (Binary::ShrU, -distance) } else { (Binary::Shl, distance) };
            let count = build.i32(count);
            let moved = build.binary(op, bits, count);
            sum = Some(added(build, sum, moved));
        }
    }
    sum.unwrap_or_else(|| build.i32(0))
}

fn added(build: &mut Builder, sum: Option<Value>, moved: Value) -> Value {
    sum.map_or(moved, |sum| build.binary(Binary::Xor, sum, moved))
}

/// How far these bits go to the right, and by what they are multiplied then, so that they come to stand
/// at all of these distances; `None` where copies would meet, or shifts take hardly more.
fn factor(mask: u32, distances: &[i32]) -> Option<(u32, u32)> {
    let right = -distances.iter().min().copied().unwrap_or(0).min(0);
    let shifts = distances.iter().filter(|&&distance| distance != 0).count();
    // At least two operations less: a product is dearer than a shift on some machines.
    if shifts + distances.len() <= 3 + usize::from(right > 0) {
        return None;
    }
    let (bits, mut taken, mut factor) = (mask >> right, 0_u32, 0_u32);
    for &distance in distances {
        let copy = u64::from(bits) << (distance + right);
        let copy = u32::try_from(copy).ok().filter(|copy| taken & copy == 0)?;
        (taken, factor) = (taken | copy, factor | 1 << (distance + right));
    }
    Some((right as u32, factor))
}
