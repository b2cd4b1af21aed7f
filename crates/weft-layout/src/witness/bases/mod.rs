//! The check on basis vectors: what the steps do to names, as affine maps of the thread.
//!
//! What a register holds is an affine function of the thread: a constant and one column for each
//! bit of lane and warp.
//! Every step that does not depend on data turns such functions into such functions, and two of them
//! are equal exactly when they agree at zero and on the basis vectors.
//! So following constants and columns is as complete as following all threads, and far cheaper.
//! Memory is an affine function too, from addresses to names.
//!
//! A combination of names is a coset: the names `e + S`, each once. Combining `e + S` with `e' + S`
//! gives `e + (S + <e + e'>)` when `e + e'` lies outside of `S`.
//!
//! Whatever has no such form (a step that is not well formed, a race, a select between unrelated
//! values) is *not shown*: the functions return `None`, and the [replay](super::replay) decides.

mod memory;
mod value;

use alloc::{vec, vec::Vec};

use memory::Memory;
use value::{ELEMENT, Forms, OPERAND, Value, Words};

use super::{Places, Time, check_size, granule};
use crate::{
    f2::{Matrix, low_mask},
    step::{Access, File, FileType, Kind, LaneMap, Parity, Plan, Scope, Step, combine},
};

/// Shows that every place of `target` holds its own element; `None` when that is not shown.
pub(super) fn conversion(
    plan: &Plan,
    element_bits: u32,
    source: &Places,
    target: &Places,
) -> Option<()> {
    let state = State::after(plan, element_bits, source)?;
    state.each_output(target, |value, columns, name| {
        let form = state.forms.get(value.form)?;
        let same = value.constant == name && form.word == 0 && form.columns[..] == columns[..];
        same.then_some(())
    })
}

/// Shows that every place of `target` holds its fibre of 2^`fibre_bits` elements, each once.
///
/// `projection` takes an element to the place of its fibre.
pub(super) fn reduction(
    plan: &Plan,
    element_bits: u32,
    source: &Places,
    target: &Places,
    projection: &Matrix,
    fibre_bits: u32,
) -> Option<()> {
    let state = State::after(plan, element_bits, source)?;
    let projected =
        |name: u64| projection.apply(name >> ELEMENT) << ELEMENT | name & low_mask(ELEMENT);
    state.each_output(target, |value, columns, name| {
        let form = state.forms.get(value.form)?;
        let letters = state.words.letters(form.word)?;
        let whole = letters.rank() == fibre_bits
            && letters.vectors().all(|letter| projection.apply(letter) == 0);
        let mut pairs = form.columns.iter().zip(columns);
        let same = projected(value.constant) == name
            && pairs.all(|(&column, &expected)| projected(column) == expected);
        (whole && same).then_some(())
    })
}

/// The values of all files, and memory, after some steps.
struct State<'a> {
    plan: &'a Plan,
    /// The bytes of the narrowest file: a register holds one value for each granule.
    granule: u64,
    /// For each file the values of its registers, those of one register side by side; empty before
    /// it is defined.
    files: Vec<Vec<Value>>,
    forms: Forms,
    words: Words,
    memory: Memory,
    now: Time,
}

impl<'a> State<'a> {
    /// The state after all steps, when it can be followed.
    fn after(plan: &'a Plan, element_bits: u32, source: &Places) -> Option<State<'a>> {
        check_size(plan, element_bits).ok()?;
        let granule = Some(granule(plan)).filter(|granule| granule.is_power_of_two())?;
        let mut state = State {
            plan,
            granule,
            files: vec![Vec::new(); plan.files.len()],
            forms: Forms::new(plan.lane_bits + plan.warp_bits),
            words: Words::new(),
            memory: Memory::new(plan.scratch_bytes, granule, plan.lane_bits),
            now: Time::default(),
        };
        state.fill_inputs(source)?;
        for step in &plan.steps {
            state.step(step)?;
        }
        Some(state)
    }

    fn fill_inputs(&mut self, source: &Places) -> Option<()> {
        let form = self.forms.of(&source.thread_columns(), 0)?;
        for (operand, &file) in self.plan.inputs.iter().enumerate() {
            source.check(self.plan, file).ok()?;
            let parts = self.parts(self.ty(file)?)?;
            let registers = 0..1_u64 << source.register.len();
            let values = registers.flat_map(|register| {
                let name = name(combine(&source.register, register), operand);
                (0..parts).map(move |part| Value { form, constant: name | part })
            });
            self.files[file.index()] = values.collect();
        }
        Some(())
    }

    /// Calls `check` with the value, the expected columns and the expected constant of every place.
    fn each_output(
        &self,
        target: &Places,
        check: impl Fn(Value, &[u64], u64) -> Option<()>,
    ) -> Option<()> {
        if self.plan.outputs.len() != self.plan.inputs.len() {
            return None;
        }
        let columns: Vec<u64> =
            target.thread_columns().iter().map(|&column| column << ELEMENT).collect();
        let pairs = self.plan.outputs.iter().zip(&self.plan.inputs);
        for (operand, (&file, &input)) in pairs.enumerate() {
            target.check(self.plan, file).ok()?;
            let ty = self.ty(file)?;
            if ty.element_bits != self.ty(input)?.element_bits {
                return None;
            }
            let parts = self.parts(ty)? as usize;
            let registers = self.read(file)?.chunks_exact(parts);
            for (register, values) in (0_u64..).zip(registers) {
                let name = name(combine(&target.register, register), operand);
                for (part, &value) in (0_u64..).zip(values) {
                    check(value, &columns, name | part)?;
                }
            }
        }
        Some(())
    }

    fn step(&mut self, step: &Step) -> Option<()> {
        match step {
            Step::Permute { from, to, source } => self.permute(*from, *to, source),
            Step::Concat { from, to } => self.concat(from, *to),
            Step::Select { even, odd, to, odd_where } => self.select(*even, *odd, *to, *odd_where),
            Step::Exchange { from, to, source } => self.exchange(*from, *to, source),
            Step::Access(access) => self.access(access),
            Step::Barrier(scope) => {
                self.now.warp += 1;
                self.now.block += u32::from(*scope == Scope::Block);
                Some(())
            }
            Step::Combine { a, b, to, ordered, .. } => {
                if *ordered {
                    None
                } else {
                    self.combine(a, b, to)
                }
            }
        }
    }

    fn permute(&mut self, from: File, to: File, source: &[u32]) -> Option<()> {
        let (old, new) = (self.ty(from)?, self.ty(to)?);
        if old.element_bits != new.element_bits || source.len() != new.registers as usize {
            return None;
        }
        let (parts, values) = (self.parts(old)? as usize, self.read(from)?);
        let mut moved = Vec::with_capacity(source.len() * parts);
        for &register in source {
            let start = (register as usize).checked_mul(parts)?;
            moved.extend_from_slice(values.get(start..start + parts)?);
        }
        self.define(to, moved)
    }

    fn concat(&mut self, from: &[File], to: File) -> Option<()> {
        let ty = self.ty(to)?;
        let mut values = Vec::new();
        for &file in from {
            if self.ty(file)?.element_bits != ty.element_bits {
                return None;
            }
            values.extend_from_slice(self.read(file)?);
        }
        (values.len() as u64 == u64::from(ty.registers) * self.parts(ty)?)
            .then(|| self.define(to, values))?
    }

    fn select(&mut self, even: File, odd: File, to: File, odd_where: Parity) -> Option<()> {
        self.same_type(&[even, odd, to])?;
        let odd_where = odd_where.lane & ((1 << self.plan.lane_bits) - 1)
            | odd_where.warp.checked_shl(self.plan.lane_bits)?;
        let pairs: Vec<(Value, Value)> = {
            let (even, odd) = (self.read(even)?, self.read(odd)?);
            even.iter().copied().zip(odd.iter().copied()).collect()
        };
        let values = pairs.iter().map(|&(even, odd)| self.forms.select(even, odd, odd_where));
        let values = values.collect::<Option<_>>()?;
        self.define(to, values)
    }

    fn exchange(&mut self, from: File, to: File, source: &LaneMap) -> Option<()> {
        self.same_type(&[from, to])?;
        let lanes = 1_u64 << self.plan.lane_bits;
        let mut all = source.lane.iter().chain(&source.warp).chain([&source.xor]);
        if all.any(|&column| column >= lanes) {
            return None;
        }
        let bit = |columns: &[u64], bit: u32| columns.get(bit as usize).copied().unwrap_or(0);
        // The thread that is read, for each thread bit.
        let lane = (0..self.plan.lane_bits).map(|index| bit(&source.lane, index));
        let warp = (0..self.plan.warp_bits).map(|index| bit(&source.warp, index) | lanes << index);
        let columns: Vec<u64> = lane.chain(warp).collect();
        let values = self.read(from)?.to_vec();
        let moved = values.iter().map(|&value| self.forms.compose(value, &columns, source.xor));
        let moved = moved.collect::<Option<_>>()?;
        self.define(to, moved)
    }

    fn combine(&mut self, a: &[File], b: &[File], to: &[File]) -> Option<()> {
        let operands = self.plan.inputs.len();
        if [a.len(), b.len(), to.len()] != [operands; 3] || operands == 0 {
            return None;
        }
        let registers = self.ty(*to.first()?)?.registers;
        for ((&a, &b), &to) in a.iter().zip(b).zip(to) {
            let ty = self.same_type(&[a, b, to])?;
            if ty.registers != registers {
                return None;
            }
        }
        let mut results = vec![Vec::new(); operands];
        for register in 0..registers as usize {
            let (left, right) = (self.word(a, register)?, self.word(b, register)?);
            let word = self.words.combine(&mut self.forms, left, right)?;
            for (operand, (values, &file)) in results.iter_mut().zip(to).enumerate() {
                let own = word.constant | name(0, operand);
                let parts = 0..self.parts(self.ty(file)?)?;
                values.extend(parts.map(|part| Value { form: word.form, constant: own | part }));
            }
        }
        to.iter().zip(results).try_for_each(|(&file, values)| self.define(file, values))
    }

    /// What all files hold in a register, each its own component of it.
    fn word(&self, files: &[File], register: usize) -> Option<Value> {
        let mut word: Option<Value> = None;
        for (operand, &file) in files.iter().enumerate() {
            let parts = self.parts(self.ty(file)?)? as usize;
            let values = self.read(file)?.get(register * parts..(register + 1) * parts)?;
            for (part, &value) in (0_u64..).zip(values) {
                let own = name(0, operand) | part;
                let whole = Value { constant: value.constant ^ own, ..value };
                if whole.constant & low_mask(ELEMENT) != 0 || *word.get_or_insert(whole) != whole {
                    return None;
                }
            }
        }
        word
    }

    fn access(&mut self, access: &Access) -> Option<()> {
        let ty = self.ty(access.file)?;
        let parts = self.parts(ty)? as usize;
        let now = self.now;
        let mut file = core::mem::take(self.files.get_mut(access.file.index())?);
        let length = ty.registers as usize * parts;
        if file.is_empty() && access.kind == Kind::Load {
            file = vec![Value::UNDEFINED; length];
        }
        if file.len() != length {
            return None;
        }
        let bytes = u64::from(ty.element_bits / 8);
        match access.kind {
            Kind::Store => self.memory.store(&self.forms, access, bytes, &file, now),
            Kind::Load => self.memory.load(&mut self.forms, access, bytes, &mut file, now),
        }?;
        self.files[access.file.index()] = file;
        Some(())
    }

    fn ty(&self, file: File) -> Option<FileType> {
        self.plan.files.get(file.index()).copied()
    }

    /// The common type of files.
    fn same_type(&self, files: &[File]) -> Option<FileType> {
        let ty = self.ty(*files.first()?)?;
        files.iter().all(|&file| self.ty(file) == Some(ty)).then_some(ty)
    }

    /// The values of one register.
    fn parts(&self, ty: FileType) -> Option<u64> {
        let bytes = u64::from(ty.element_bits / 8);
        (ty.element_bits.is_multiple_of(8) && bytes.is_power_of_two() && bytes <= 8)
            .then_some(bytes / self.granule)
            .filter(|&parts| parts > 0)
    }

    fn read(&self, file: File) -> Option<&[Value]> {
        self.files.get(file.index()).map(Vec::as_slice).filter(|values| !values.is_empty())
    }

    fn define(&mut self, file: File, values: Vec<Value>) -> Option<()> {
        let slot = self.files.get_mut(file.index()).filter(|slot| slot.is_empty())?;
        *slot = values;
        Some(())
    }
}

/// The name of part 0 of an element of an operand.
fn name(element: u64, operand: usize) -> u64 {
    element << ELEMENT | (operand as u64) << OPERAND
}
