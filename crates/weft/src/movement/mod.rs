//! Plans to lane operations, step for step.
//!
//! A plan's register files become lists of lane values, its scratch memory a piece of shared memory.
//! Nothing here knows which strategy wrote the steps, nor where the values come from: the lowering of
//! tile programs, a kernel written by hand and a function around one conversion all use [`write()`].
//!
//! ```
//! use weft::dtype::DType;
//! use weft::lane::{Builder, IdKind};
//! use weft::movement;
//! use weft_layout::{Machine, family::Blocked, plan};
//!
//! // The transpose of a tile of 32 x 32 numbers of 32 bits within one warp.
//! let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
//! let rows = Blocked::new(&[1, 32], &[32, 1], &[1, 1], &[1, 0]).layout(&[32, 32])?;
//! let columns = Blocked::new(&[32, 1], &[1, 32], &[1, 1], &[0, 1]).layout(&[32, 32])?;
//! let plan = plan::convert(&rows, &columns, 32, machine)?;
//!
//! let mut build = Builder::new("transpose", 1, 5);
//! let lane = build.id(IdKind::Lane);
//! let outputs = movement::write(&mut build, &plan, vec![vec![lane; 32]])?;
//! assert_eq!(outputs[0].len(), 32);
//! assert_eq!(build.dtype(outputs[0][0]), DType::I32);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod indexed;
mod thread;
mod types;
#[cfg(test)]
mod tests;

pub use error::Misfit;
pub use thread::{takes_part, thread_map};

use crate::dtype::DType;
use crate::lane::{
    self, Access as LaneAccess, BarrierScope, Builder, Multiprocessor, Space, Value,
};
use crate::location::Loc;
use crate::scalar::{Binary, Cast, Compare};
use types::{file_dtypes, integer};
use weft_layout::Machine;
use weft_layout::access::Kind;
use weft_layout::step::{Access, File, Form, LaneMap, Plan, Scope, Selector, Step};

/// The alignment of so many bytes of scratch memory: what lies in one row of banks stays in one, and no
/// row of any machine is longer than the largest alignment. Small pieces lie close together: what a
/// block does not take of shared memory, some machines use as a cache.
pub fn scratch_align(bytes: u32) -> u32 {
    bytes.clamp(lane::MAX_ACCESS_BYTES, 256).next_power_of_two()
}

/// What the blocks on a multiprocessor of a machine share.
pub fn multiprocessor(machine: &Machine) -> Multiprocessor {
    let reserved = machine.shared_bytes.saturating_sub(machine.shared_bytes_per_block);
    Multiprocessor {
        registers: machine.registers,
        shared_bytes: machine.shared_bytes.min(u32::MAX.into()) as u32,
        reserved_bytes: reserved.min(u32::MAX.into()) as u32,
    }
}

/// A plan to be written, and what goes into it.
#[derive(Clone, Debug)]
pub struct Movement<'p> {
    /// The plan; one that the witness accepts.
    pub plan: &'p Plan,
    /// For each input file the value of each register. A truth value travels as a byte.
    pub inputs: Vec<Vec<Value>>,
    /// The place that each step's operations get, in the program's locations; where it ends, the
    /// builder's own place stays.
    pub places: &'p [Loc],
}

/// What a plan's `combine` does with a left and a right tuple.
pub type Combine<'c, H> = &'c mut dyn FnMut(&mut H, &[Value], &[Value]) -> Vec<Value>;

/// Writes a plan without combinations: gives for each output file the value of each register.
///
/// The plan's scratch memory is a new piece of shared memory. The plan may write it at once, so a
/// program that writes one plan twice (in a loop) needs a barrier in between; passes over a whole
/// program that let pieces share bytes add those between different pieces.
pub fn write(
    build: &mut Builder,
    plan: &Plan,
    inputs: Vec<Vec<Value>>,
) -> Result<Vec<Vec<Value>>, Misfit> {
    let movement = Movement { plan, inputs, places: &[] };
    let mut outputs = write_together(build, vec![movement], &mut |_, left, _| left.to_vec())?;
    Ok(outputs.pop().unwrap_or_default())
}

/// Writes a plan without inputs that loads elements of this type from memory at an address in bytes.
pub fn write_load(
    build: &mut Builder,
    plan: &Plan,
    base: Value,
    dtype: DType,
) -> Result<Vec<Value>, Misfit> {
    let files = vec![Vec::new(); plan.files.len()];
    let dtypes = vec![dtype; plan.files.len()];
    let (truths, base) = (vec![false; plan.outputs.len()], Some(base));
    let mut mover = Mover { plan, places: &[], files, dtypes, truths, next: 0, base };
    while mover.run_to_barrier(build, &mut |_, left, _| left.to_vec())?.is_some() {}
    Ok(mover.finish(build)?.pop().unwrap_or_default())
}

/// Writes a plan without outputs that stores a tensor to memory at an address in bytes, of which it has the value of
/// each register.
pub fn write_store(
    build: &mut Builder,
    plan: &Plan,
    base: Value,
    values: Vec<Value>,
) -> Result<(), Misfit> {
    let movement = Movement { plan, inputs: vec![values], places: &[] };
    error::check(build, &movement)?;
    let mut mover = Mover::start(build, movement, Some(base));
    while mover.run_to_barrier(build, &mut |_, left, _| left.to_vec())?.is_some() {}
    Ok(())
}

/// Writes independent plans side by side: each up to its next barrier, then one barrier for all.
///
/// `host` is a builder, or somebody who has one and whom `combine` needs.
pub fn write_together<H: AsMut<Builder>>(
    host: &mut H,
    movements: Vec<Movement<'_>>,
    combine: Combine<'_, H>,
) -> Result<Vec<Vec<Vec<Value>>>, Misfit> {
    let build = host.as_mut();
    let mut movers = Vec::new();
    for movement in movements {
        error::check(build, &movement)?;
        movers.push(Mover::start(build, movement, None));
    }
    loop {
        let mut met: Option<(Scope, Loc)> = None;
        for mover in &mut movers {
            let other = mover.run_to_barrier(host, combine)?;
            met = met.max(other);
        }
        let Some((scope, place)) = met else { break };
        let build = host.as_mut();
        let before = build.loc();
        build.set_loc(place);
        build.barrier(match scope {
            Scope::Warp => BarrierScope::Warp,
            Scope::Block => BarrierScope::Block,
        });
        build.set_loc(before);
    }
    movers.into_iter().map(|mover| mover.finish(host.as_mut())).collect()
}

/// The value as it travels: a truth value as a byte.
pub fn byte_of(build: &mut Builder, value: Value) -> Value {
    match build.dtype(value) {
        DType::I1 => build.cast(Cast::ExtU, value, DType::I8),
        _ => value,
    }
}

/// The truth value that a byte is.
pub fn truth_of(build: &mut Builder, value: Value) -> Value {
    if build.dtype(value) == DType::I1 {
        return value;
    }
    let zero = build.constant(DType::I8, 0);
    build.compare(Compare::Ne, value, zero)
}

/// A plan being written.
struct Mover<'p> {
    plan: &'p Plan,
    places: &'p [Loc],
    files: Vec<Vec<Value>>,
    dtypes: Vec<DType>,
    /// Of each input, whether it came as truth values.
    truths: Vec<bool>,
    next: usize,
    base: Option<Value>,
}

impl<'p> Mover<'p> {
    /// At an address, or in scratch memory of its own.
    fn start(build: &mut Builder, movement: Movement<'p>, given: Option<Value>) -> Mover<'p> {
        let Movement { plan, inputs, places } = movement;
        let mut files = vec![Vec::new(); plan.files.len()];
        let mut truths = Vec::new();
        let mut input_dtypes = Vec::new();
        for (&file, values) in plan.inputs.iter().zip(inputs) {
            truths.push(values.first().is_some_and(|&value| build.dtype(value) == DType::I1));
            let bytes: Vec<Value> = values.into_iter().map(|value| byte_of(build, value)).collect();
            input_dtypes.push(bytes.first().map_or(DType::I32, |&value| build.dtype(value)));
            files[file.index()] = bytes;
        }
        let dtypes = file_dtypes(plan, &input_dtypes);
        let scratch = |build: &mut Builder| {
            let bytes = plan.scratch_bytes as u32;
            let shared = build.scratch(bytes, scratch_align(bytes), scope(plan));
            build.shared_base(shared)
        };
        let base = given.or_else(|| (plan.scratch_bytes > 0).then(|| scratch(build)));
        Mover { plan, places, files, dtypes, truths, next: 0, base }
    }

    fn finish(self, build: &mut Builder) -> Result<Vec<Vec<Value>>, Misfit> {
        let outputs = self.plan.outputs.iter().zip(&self.truths);
        outputs
            .map(|(&file, &truth)| {
                let truth = truth && self.plan.file(file).element_bits == 8;
                let values = self.file(file)?.iter();
                Ok(values
                    .map(|&value| if truth { truth_of(build, value) } else { value })
                    .collect())
            })
            .collect()
    }

    fn file(&self, file: File) -> Result<&[Value], Misfit> {
        self.files.get(file.index()).map(Vec::as_slice).ok_or(Misfit::NoSuchFile(file))
    }

    fn registers(&self, file: File, registers: &[u32]) -> Result<Vec<Value>, Misfit> {
        let values = self.file(file)?;
        let value = |&register: &u32| {
            let value = values.get(register as usize);
            value.copied().ok_or(Misfit::NoSuchRegister { file, register })
        };
        registers.iter().map(value).collect()
    }

    fn define(&mut self, file: File, values: Vec<Value>) -> Result<(), Misfit> {
        *self.files.get_mut(file.index()).ok_or(Misfit::NoSuchFile(file))? = values;
        Ok(())
    }

    /// The element type of a file.
    fn dtype(&self, file: File) -> Result<DType, Misfit> {
        self.dtypes.get(file.index()).copied().ok_or(Misfit::NoSuchFile(file))
    }

    /// Writes steps until a barrier; gives its scope and place, or none at the end.
    fn run_to_barrier<H: AsMut<Builder>>(
        &mut self,
        host: &mut H,
        combine: Combine<'_, H>,
    ) -> Result<Option<(Scope, Loc)>, Misfit> {
        let before = host.as_mut().loc();
        let mut met = None;
        while let Some(step) = self.plan.steps.get(self.next) {
            let place = self.places.get(self.next).copied().unwrap_or(before);
            host.as_mut().set_loc(place);
            self.next += 1;
            match step {
                Step::Barrier(scope) => {
                    met = Some((*scope, place));
                    break;
                }
                Step::Combine { a, b, to, .. } => self.combine(host, combine, [a, b, to])?,
                step => self.step(host.as_mut(), step)?,
            }
        }
        host.as_mut().set_loc(before);
        Ok(met)
    }

    /// Writes a step that only moves.
    fn step(&mut self, build: &mut Builder, step: &Step) -> Result<(), Misfit> {
        match step {
            Step::Permute { from, to, source } => {
                let values = self.registers(*from, source)?;
                self.define(*to, values)
            }
            Step::Concat { from, to } => {
                let mut values = Vec::new();
                for &file in from {
                    values.extend_from_slice(self.file(file)?);
                }
                self.define(*to, values)
            }
            Step::Select { even, odd, to, odd_where } => {
                let is_odd = thread::is_odd(build, *odd_where);
                let dtype = self.dtype(*to)?;
                let pairs = self.file(*even)?.iter().zip(self.file(*odd)?);
                let values = pairs
                    .map(|(&even, &odd)| {
                        let [even, odd] = [even, odd].map(|value| word_of(build, value));
                        let word = build.select(is_odd, odd, even);
                        part_of_word(build, word, dtype)
                    })
                    .collect();
                self.define(*to, values)
            }
            Step::Where { inside, outside, to, threads } => {
                let holds = thread::belongs(build, *threads);
                let pairs = self.file(*inside)?.iter().zip(self.file(*outside)?);
                let values = pairs.map(|(&a, &b)| build.select(holds, a, b)).collect();
                self.define(*to, values)
            }
            Step::Exchange { from, to, source } => {
                let values = exchange(build, self.file(*from)?, source);
                self.define(*to, values)
            }
            Step::Shift { from, to, bits, neighbour } => {
                let lane = thread::neighbour(build, bits, *neighbour);
                let values = self.file(*from)?.iter();
                let values = values.map(|&value| build.shuffle_index(value, lane)).collect();
                self.define(*to, values)
            }
            Step::Affine { from, to, map } => {
                let values = indexed::affine(build, self.file(*from)?, map);
                self.define(*to, values)
            }
            Step::Fetch { from, lane, to } => {
                let pairs = self.file(*from)?.iter().zip(self.file(*lane)?);
                let fetch = |(&value, &lane)| build.shuffle_index(value, lane);
                let values = pairs.map(fetch).collect();
                self.define(*to, values)
            }
            Step::Pick { even, odd, to, index, bit } => {
                let pairs = self.file(*even)?.iter().zip(self.file(*odd)?);
                let values = indexed::pick(build, pairs, self.file(*index)?, *bit);
                self.define(*to, values)
            }
            Step::Lookup { address, to } => {
                let (base, dtype) = (self.base.ok_or(Misfit::NoScratch)?, self.dtype(*to)?);
                let values = indexed::lookup(build, base, dtype, self.file(*address)?);
                self.define(*to, values)
            }
            Step::Zero { to } => {
                let (dtype, registers) = (self.dtype(*to)?, self.plan.file(*to).registers);
                let zero = build.constant(dtype, 0);
                self.define(*to, vec![zero; registers as usize])
            }
            Step::Count(count) => {
                let base = self.base.ok_or(Misfit::NoScratch)?;
                let mask = count.mask.map(|mask| self.file(mask)).transpose()?;
                indexed::count(build, base, self.file(count.numbers)?, mask, count);
                Ok(())
            }
            Step::Add { a, b, to } => {
                let pairs = self.file(*a)?.iter().zip(self.file(*b)?);
                let values = pairs.map(|(&a, &b)| build.binary(Binary::Add, a, b)).collect();
                self.define(*to, values)
            }
            Step::Bytes { a, b, to, selector } => self.bytes(build, [*a, *b, *to], selector),
            Step::Access(access) => self.access(build, access),
            // Those who need more than a builder are written by `run_to_barrier`.
            Step::Barrier(_) | Step::Combine { .. } => Ok(()),
        }
    }

    fn combine<H>(
        &mut self,
        host: &mut H,
        combine: Combine<'_, H>,
        [a, b, to]: [&[File]; 3],
    ) -> Result<(), Misfit> {
        let registers = match a.first() {
            Some(&file) => self.file(file)?.len(),
            None => 0,
        };
        let mut results = vec![Vec::with_capacity(registers); to.len()];
        for register in 0..registers as u32 {
            let tuple = |files: &[File]| -> Result<Vec<Value>, Misfit> {
                files.iter().map(|&file| Ok(self.registers(file, &[register])?[0])).collect()
            };
            let (left, right) = (tuple(a)?, tuple(b)?);
            for (values, value) in results.iter_mut().zip(combine(host, &left, &right)) {
                values.push(value);
            }
        }
        for (&file, values) in to.iter().zip(results) {
            self.define(file, values)?;
        }
        Ok(())
    }

    /// Registers of `to` from bytes of those of `a` and `b`.
    fn bytes(
        &mut self,
        build: &mut Builder,
        [a, b, to]: [File; 3],
        selector: &Selector,
    ) -> Result<(), Misfit> {
        let dtype = self.dtype(to)?;
        let keeps_low = selector.keeps_low(self.plan.file(to).element_bits / 8);
        let chosen = (!keeps_low).then(|| {
            let place = thread_map(build, &selector.lane, &selector.warp);
            let xor = build.i32(selector.xor as i32);
            build.binary(Binary::Xor, place, xor)
        });
        let mut words = |file: File| -> Result<Vec<Value>, Misfit> {
            let bits = |build: &mut Builder, value| build.cast(Cast::Bits, value, DType::I32);
            let values = self.file(file)?.iter();
            Ok(values
                .map(|&value| {
                    let word = word_of(build, value);
                    bits(build, word)
                })
                .collect())
        };
        let (low, high) = (words(a)?, words(b)?);
        let pairs = low.into_iter().zip(high);
        let values = pairs
            .map(|(low, high)| {
                let word = chosen.map_or(low, |chosen| build.bytes(low, high, chosen));
                part_of_word(build, word, dtype)
            })
            .collect();
        self.define(to, values)
    }

    fn access(&mut self, build: &mut Builder, access: &Access) -> Result<(), Misfit> {
        let base = self.base.ok_or(Misfit::NoScratch)?;
        let place = thread_map(build, &access.lane, &access.warp);
        let moving = access.lane.iter().chain(&access.warp).fold(0, |all, column| all | column);
        let predicate = takes_part(build, access.acting);
        let dtype = self.dtype(access.file)?;
        let registers = self.plan.file(access.file).registers as usize;
        let mut loaded = self.file(access.file)?.to_vec();
        if access.kind == Kind::Load && loaded.len() < registers {
            loaded = vec![build.constant(dtype, 0); registers];
        }
        for group in &access.groups {
            // Of the bits that no thread moves, adding is the same as exclusive or: they become an immediate, and
            // groups that differ in them alone share their address.
            let (place, offset) = match group.address & moving {
                0 => (place, group.address as i32),
                moved => {
                    let xor = build.i32(moved as i32);
                    (build.binary(Binary::Xor, place, xor), (group.address & !moving) as i32)
                }
            };
            let address = build.binary(Binary::Add, base, place);
            let form = lane_form(access.form);
            let how = LaneAccess { form, offset, ..LaneAccess::default() };
            // Narrow elements travel as words, which are byte permutes of what they come from.
            let (word, parts) = words(dtype, group.registers.len());
            if access.kind == Kind::Load {
                let count = group.registers.len() / parts;
                let zeros = vec![build.constant(word, 0); count];
                let guarded = predicate.map(|predicate| (predicate, &zeros[..]));
                let whole = build.load(Space::Shared, how, word, count, address, guarded);
                let mut values = Vec::with_capacity(group.registers.len());
                for word in whole {
                    match parts {
                        1 => values.push(word),
                        _ => values.extend(build.split(word, dtype)),
                    }
                }
                for (&register, value) in group.registers.iter().zip(values) {
                    let file = access.file;
                    let place = loaded.get_mut(register as usize);
                    *place.ok_or(Misfit::NoSuchRegister { file, register })? = value;
                }
            } else {
                let mut values = self.registers(access.file, &group.registers)?;
                if parts > 1 {
                    values = values.chunks(parts).map(|parts| build.join(parts)).collect();
                }
                build.store(Space::Shared, how, address, predicate, &values);
            }
        }
        if access.kind == Kind::Load {
            self.define(access.file, loaded)?;
        }
        Ok(())
    }
}

fn lane_form(form: Form) -> lane::Form {
    match form {
        Form::Vector => lane::Form::Vector,
        Form::Matrix(matrix) => lane::Form::Matrix(lane::Matrix {
            element_bits: matrix.element_bits as u8,
            rows: matrix.rows as u8,
            transposed: matrix.transposed,
        }),
    }
}

/// The type of the words in which so many elements are stored and loaded, and the elements in each.
fn words(dtype: DType, elements: usize) -> (DType, usize) {
    match (dtype.bits(), elements) {
        (8, 2) => (DType::I16, 2),
        (8, 4..) => (DType::I32, 4),
        (16, 2..) => (DType::I32, 2),
        _ => (dtype, 1),
    }
}

/// The same registers of another lane.
fn exchange(build: &mut Builder, values: &[Value], source: &LaneMap) -> Vec<Value> {
    let lane = (!source.is_butterfly()).then(|| {
        let place = thread_map(build, &source.lane, &source.warp);
        let xor = build.i32(source.xor as i32);
        build.binary(Binary::Xor, place, xor)
    });
    let mut exchanged = |value: Value| {
        let dtype = build.dtype(value);
        let word = word_of(build, value);
        let word = match lane {
            None => build.shuffle_xor(word, source.xor as u32),
            Some(lane) => build.shuffle_index(word, lane),
        };
        part_of_word(build, word, dtype)
    };
    values.iter().map(|&value| exchanged(value)).collect()
}

/// A value narrower than 32 bits as the low part of a word, of which nobody looks at the rest; a wider
/// one as it is.
fn word_of(build: &mut Builder, value: Value) -> Value {
    if build.dtype(value).bytes() < 4 { build.join(&[value]) } else { value }
}

/// The low bits of a word as a value of this type, or a wider value as it is.
fn part_of_word(build: &mut Builder, word: Value, dtype: DType) -> Value {
    if dtype.bytes() >= 4 {
        return build.cast(Cast::Bits, word, dtype);
    }
    let part = build.cast(Cast::Trunc, word, integer(dtype.bits()));
    build.cast(Cast::Bits, part, dtype)
}

/// Whose threads meet in a plan's scratch memory: those that its widest barrier holds.
fn scope(plan: &Plan) -> BarrierScope {
    let block = plan.steps.iter().any(|step| matches!(step, Step::Barrier(Scope::Block)));
    if block { BarrierScope::Block } else { BarrierScope::Warp }
}
