//! Registers that a conversion within warps treats alike.
//!
//! A register bit of the target that reads one register bit of the source, which nothing else reads,
//! numbers repetitions of a smaller conversion: the same steps, on so many times the registers, at so many
//! times the price. A register bit of the target that reads what others read numbers copies, and one of
//! the source that nothing reads numbers what is not needed. So only the smallest conversion is planned,
//! and its plan is written for the whole.
//!
//! Elements narrower than a word share words by the lowest register bits: those stay. And as many bits
//! stay as number the elements of a word, because words may be filled along them on their way.

use alloc::{collections::BTreeMap, vec, vec::Vec};

use crate::{
    f2::{Echelon, deposit_bits, extract_bits, low_mask},
    layout::{Layout, LayoutError},
    space::REGISTER,
    step::{File, FileType, Plan, Step, Strategy, combine},
};

/// The registers of a conversion by those of the smallest one and by repetitions of it.
pub(in crate::plan) struct Alike {
    /// How many register bits the source has.
    registers: u32,
    /// The register bits that stay in the smallest conversion, of the source and of the target.
    kept: [u64; 2],
    /// The source register bit of each bit of the number of a repetition.
    repeated: Vec<u64>,
    /// For each target register bit the register of the smallest conversion that it adds.
    inside: Vec<u64>,
    /// For each target register bit the repetition that it adds.
    repetition: Vec<u64>,
}

impl Alike {
    /// Of a map from places of the target to places of the source, for elements of `bits` bits.
    pub(in crate::plan) fn of(source: &Layout, bits: u32) -> Alike {
        let word = (32 / bits.clamp(1, 32)).ilog2();
        let columns = source.columns(REGISTER);
        let (first, registers) = source.outs().locate(REGISTER).unwrap_or((0, 0));
        let beyond = word.min(columns.len() as u32)..columns.len() as u32;
        let mut known = Echelon::new();
        let copy = |bit: u32| known.insert(columns[bit as usize], 1 << bit).map(|all| (bit, all));
        let copies: BTreeMap<u32, u64> = beyond.clone().filter_map(copy).collect();
        let read = |bit: u32| {
            let rows = source.matrix().row(first + bit);
            let (start, _) = source.ins().locate(REGISTER).unwrap_or((0, 0));
            copies.keys().fold(rows, |rows, copy| rows & !(1 << (start + copy)))
        };
        let mut kept = [low_mask(registers), 0];
        for bit in word.min(registers)..registers {
            if read(bit) == 0 {
                kept[0] &= !(1 << bit);
            }
        }
        let [mut inside, mut repetition] = [(); 2].map(|()| vec![0; columns.len()]);
        let mut repeated = Vec::new();
        let mut staying = word;
        for (bit, &column) in (0_u32..).zip(columns) {
            let at = bit as usize;
            if let Some(all) = copies.get(&bit) {
                let others = all & !(1 << bit);
                inside[at] = combine(&inside, others);
                repetition[at] = combine(&repetition, others);
                continue;
            }
            let from = column.trailing_zeros().wrapping_sub(first);
            let alone = bit >= word
                && (word..registers).contains(&from)
                && column.is_power_of_two()
                && read(from).is_power_of_two();
            if alone && staying == 0 {
                repetition[at] = 1 << repeated.len();
                repeated.push(1 << from);
                kept[0] &= !(1 << from);
                continue;
            }
            staying -= u32::from(alone);
            inside[at] = 1 << kept[1].count_ones();
            kept[1] |= 1 << bit;
        }
        Alike { registers, kept, repeated, inside, repetition }
    }

    /// The logarithm of how often the smallest conversion is repeated.
    pub(in crate::plan) fn repetitions_log2(&self) -> u32 {
        self.repeated.len() as u32
    }

    /// Source, target, and the map from places of the target to places of the source, of the smallest
    /// conversion.
    pub(in crate::plan) fn smallest(
        &self,
        from: &Layout,
        to: &Layout,
        source: &Layout,
    ) -> Result<[Layout; 3], LayoutError> {
        let [of_source, of_target] = self.kept;
        let outs = source.outs().with_bits(|label, bits| {
            if label == REGISTER { of_source.count_ones() } else { bits }
        })?;
        let dropped = source.outs().mask(REGISTER);
        let (first, _) = source.outs().locate(REGISTER).unwrap_or((0, 0));
        let stay = !dropped | of_source << first;
        let columns: Vec<u64> =
            source.matrix().columns().iter().map(|&column| extract_bits(column, stay)).collect();
        let source = Layout::new(source.ins().clone(), outs, &columns)?;
        Ok([
            with_registers(from, of_source)?,
            with_registers(to, of_target)?,
            with_registers(&source, of_target)?,
        ])
    }

    /// The plan of the whole conversion, which does what this one does in every repetition; `None` when a
    /// step is not one of registers and lanes.
    pub(in crate::plan) fn whole(&self, plan: Plan) -> Option<Plan> {
        let same = self.inside.iter().zip(0..).all(|(&register, bit)| register == 1 << bit);
        if same && self.kept[0] == low_mask(self.registers) {
            return Some(plan);
        }
        let (&[input], &[output]) = (&plan.inputs[..], &plan.outputs[..]) else { return None };
        let registers = 1_u32.checked_shl(self.registers)?;
        let ty = FileType { registers, ..plan.file(input) };
        let new = Plan::new(&[ty], plan.lane_bits, plan.warp_bits);
        let times = 1 << self.repeated.len();
        let mut whole = Whole { old: &plan, new, times, files: vec![None; plan.files.len()] };
        let every = (0..1_u64 << self.kept[0].count_ones()).flat_map(|register| {
            let register = deposit_bits(register, self.kept[0]);
            (0..u64::from(times)).map(move |at| (register, at))
        });
        let all = every.map(|(register, at)| (register ^ combine(&self.repeated, at)) as u32);
        *whole.files.get_mut(input.index())? = Some((File(0), all.collect()));
        for step in &plan.steps {
            whole.step(step)?;
        }
        let (file, registers) = whole.files.get(output.index())?.clone()?;
        let place = |register| {
            let inside = combine(&self.inside, register) as u32 * times;
            registers.get((inside + combine(&self.repetition, register) as u32) as usize).copied()
        };
        let all = (0..1_u64 << self.inside.len()).map(place).collect::<Option<Vec<u32>>>()?;
        whole.new.outputs = [whole.taken(file, all)].into();
        whole.new.strategy = match plan.strategy {
            Strategy::Nothing if !whole.new.steps.is_empty() => Strategy::Registers,
            strategy => strategy,
        };
        Some(whole.new)
    }
}

/// A plan that is written for all repetitions, those of one register side by side.
struct Whole<'p> {
    old: &'p Plan,
    new: Plan,
    /// How many repetitions there are.
    times: u32,
    /// For each file what has its registers, and which they are.
    files: Vec<Option<(File, Vec<u32>)>>,
}

impl Whole<'_> {
    /// These registers of a file, as a file.
    fn taken(&mut self, from: File, source: Vec<u32>) -> File {
        let all = self.new.file(from);
        if source.len() == all.registers as usize && source.iter().zip(0..).all(|(&s, i)| s == i) {
            return from;
        }
        let to = self.new.add_file(source.len() as u32, all.element_bits);
        self.new.steps.push(Step::Permute { from, to, source });
        to
    }

    /// The file that stands for an old one.
    fn read(&mut self, old: File) -> Option<File> {
        let (file, registers) = self.files.get_mut(old.index())?.take()?;
        let file = self.taken(file, registers);
        self.define(old, file)
    }

    fn define(&mut self, old: File, file: File) -> Option<File> {
        let all = (0..self.new.file(file).registers).collect();
        *self.files.get_mut(old.index())? = Some((file, all));
        Some(file)
    }

    /// The file that stands for one that is defined now.
    fn new_file(&mut self, old: File) -> Option<File> {
        let FileType { registers, element_bits } = self.old.file(old);
        let file = self.new.add_file(registers.checked_mul(self.times)?, element_bits);
        self.define(old, file)
    }

    fn step(&mut self, step: &Step) -> Option<()> {
        let step = match step {
            Step::Permute { from, to, source } => {
                let (file, registers) = self.files.get(from.index())?.as_ref()?;
                let times = self.times;
                let every = source
                    .iter()
                    .flat_map(|&register| (0..times).map(move |at| register * times + at));
                let every = every.map(|register| registers.get(register as usize).copied());
                let renamed = (*file, every.collect::<Option<Vec<u32>>>()?);
                *self.files.get_mut(to.index())? = Some(renamed);
                return Some(());
            }
            Step::Concat { from, to } => {
                let from = from.iter().map(|&file| self.read(file)).collect::<Option<_>>()?;
                Step::Concat { from, to: self.new_file(*to)? }
            }
            Step::Select { even, odd, to, odd_where } => {
                let (even, odd) = (self.read(*even)?, self.read(*odd)?);
                Step::Select { even, odd, to: self.new_file(*to)?, odd_where: *odd_where }
            }
            Step::Bytes { a, b, to, selector } => {
                let (a, b) = (self.read(*a)?, self.read(*b)?);
                Step::Bytes { a, b, to: self.new_file(*to)?, selector: selector.clone() }
            }
            Step::Exchange { from, to, source } => {
                let from = self.read(*from)?;
                Step::Exchange { from, to: self.new_file(*to)?, source: source.clone() }
            }
            _ => return None,
        };
        self.new.steps.push(step);
        Some(())
    }
}

/// The layout of only those registers that have no other bits than these.
fn with_registers(layout: &Layout, bits: u64) -> Result<Layout, LayoutError> {
    let ins = layout.ins().with_bits(
        |label, old| {
            if label == REGISTER { bits.count_ones() } else { old }
        },
    )?;
    let (first, all) = layout.ins().locate(REGISTER).unwrap_or((0, 0));
    let columns = layout.matrix().columns().iter().zip(0..);
    let stays = |bit: u32| !(first..first + all).contains(&bit) || bits >> (bit - first) & 1 == 1;
    let columns: Vec<u64> = columns.filter(|one| stays(one.1)).map(|one| *one.0).collect();
    Layout::new(ins, layout.outs().clone(), &columns)
}
