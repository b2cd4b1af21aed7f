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
mod registers;
mod value;

use alloc::{vec, vec::Vec};

use memory::Memory;
use value::{ELEMENT, Forms, OPERAND, Value, Words};

use super::{Places, Time, check_size, granule, parts};
use crate::{
    f2::{Matrix, low_mask},
    step::{Access, File, FileType, Kind, Plan, Scope, Step, combine},
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
            // No affine functions of the thread.
            Step::Where { .. }
            | Step::Shift { .. }
            | Step::Affine { .. }
            | Step::Fetch { .. }
            | Step::Pick { .. }
            | Step::Lookup { .. }
            | Step::Zero { .. }
            | Step::Count(_)
            | Step::Add { .. } => None,
            Step::Bytes { a, b, to, selector } => self.bytes(*a, *b, *to, selector),
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
        parts(ty, self.granule)
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
