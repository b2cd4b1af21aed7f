//! Partial results of a reduction that warps leave for each other in shared memory.

use alloc::vec::Vec;

use crate::plan::{buffer::sides::StoringSide, swizzle::Side, writing::sequel::reserve};
use crate::{
    f2::{Echelon, low_mask, ones},
    machine::Machine,
    step::{Access, Acting, File, Form, Group, Kind, Plan, Scope, Step, combine},
};

/// How the partial results of several warps lie in shared memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Partials {
    /// Those of one element side by side, so that one vector load reads several.
    Together,
    /// Those of one warp side by side.
    Apart,
    /// Elements of one thread side by side, then those of several warps, as far as both go into a
    /// vector of so many elements (the logarithm): stores are vectors too.
    Mixed(u32),
}

/// Partial results in shared memory.
pub(in crate::plan) struct Exchange<'a> {
    side: &'a Side,
    writer: StoringSide,
    /// The offset bit of each element column, by combination of the writer's columns.
    numbering: Echelon,
    element_bits: u32,
    /// The logarithm of the elements of one thread that lie side by side.
    run: u32,
    /// The logarithm of the partial results of one element, or of one run, that lie side by side.
    beside: u32,
    warps: u64,
    /// The lane bits by which lanes load other partial results, the highest ones.
    dealt: Vec<u32>,
}

impl<'a> Exchange<'a> {
    pub(in crate::plan) fn new(side: &'a Side, warps: u64, order: Partials) -> Exchange<'a> {
        let mut writer = StoringSide::of(side);
        writer.acting.idle_warps &= !warps;
        let partials = warps.count_ones();
        let (run, beside) = match order {
            Partials::Together => (0, partials),
            Partials::Apart => (0, 0),
            Partials::Mixed(vector) => {
                let run = vector.min(writer.side.registers.len() as u32);
                (run, partials.min(vector - run))
            }
        };
        // Then lanes, so that a warp stores to consecutive words.
        let mut numbering = Echelon::new();
        let (first, rest) = writer.side.registers.split_at(run as usize);
        let columns = first.iter().chain(&writer.side.lanes).chain(rest);
        let columns = columns.chain(&writer.side.warps).filter(|&&column| column != 0);
        let mut element_bits = 0;
        for &column in columns {
            numbering.insert(column, 1 << element_bits);
            element_bits += 1;
        }
        Exchange { side, writer, numbering, element_bits, run, beside, warps, dealt: Vec::new() }
    }

    /// Deals the partial results out to lanes by these bits, which tell no elements apart.
    pub(in crate::plan) fn dealt_by(mut self, lanes: Vec<u32>) -> Exchange<'a> {
        self.dealt = lanes;
        self.beside = self.beside.min(self.own_bits());
        self
    }

    fn partial_bits(&self) -> u32 {
        self.warps.count_ones()
    }

    /// The logarithm of the partial results of one element that each lane loads.
    fn own_bits(&self) -> u32 {
        self.partial_bits() - self.dealt.len() as u32
    }

    /// The logarithm of the number of partial results.
    fn bits(&self) -> u32 {
        self.element_bits + self.partial_bits()
    }

    /// The offset (in elements) of a partial result.
    fn offset(&self, element: u64, partial: u64) -> u64 {
        let number = self.numbering.reduce(element, 0).1;
        let (run, beside) = (self.run, self.beside);
        number & low_mask(run)
            | (partial & low_mask(beside)) << run
            | number >> run << (run + beside)
            | partial >> beside << (self.element_bits + beside)
    }

    /// The logarithms of the elements and of the partial results that one access moves at once.
    fn vector(&self, element_bytes: u64, machine: &Machine) -> (u32, u32) {
        let widest = (u64::from(machine.shared_vector_bytes) / element_bytes).max(1).ilog2();
        let run = self.run.min(widest);
        let beside = if run == self.run { self.beside.min(widest - run) } else { 0 };
        (run, beside)
    }

    /// Leaves the partial results of each warp, waits, and loads those of all warps, or a lane's share of
    /// them: the registers of one partial result after those of another.
    pub(in crate::plan) fn write(
        &self,
        plan: &mut Plan,
        tuple: &[File],
        machine: &Machine,
    ) -> Vec<File> {
        let bytes = |file: &File| u64::from(plan.file(*file).element_bits / 8) << self.bits();
        let sizes: Vec<u64> = tuple.iter().map(bytes).collect();
        // One place for all, since only then do later steps alone use memory again.
        let each = sizes.iter().copied().max().unwrap_or(0);
        let others = tuple.len().saturating_sub(1) as u64;
        let all = each * others + sizes.last().copied().unwrap_or(0);
        let start = reserve(plan, all, machine);
        let bases = (0..).map(|index: u64| start + index * each);
        let reserved: Vec<(File, u64)> = tuple.iter().copied().zip(bases).collect();
        for &(file, base) in &reserved {
            let step = self.store(plan, file, base, machine);
            plan.steps.push(step);
        }
        plan.steps.push(Step::Barrier(Scope::Block));
        reserved.into_iter().map(|(file, base)| self.load(plan, file, base, machine)).collect()
    }

    fn store(&self, plan: &Plan, file: File, base: u64, machine: &Machine) -> Step {
        let bytes = u64::from(plan.file(file).element_bits / 8);
        let vector = 1_usize << self.vector(bytes, machine).0;
        let columns = |columns: &[u64]| -> Vec<u64> {
            columns.iter().map(|&column| self.offset(column, 0) * bytes).collect()
        };
        let mut warp = columns(&self.writer.side.warps);
        for (index, bit) in ones(self.warps).enumerate() {
            warp[bit as usize] = self.offset(0, 1 << index) * bytes;
        }
        let numbers = self.writer.numbers();
        let indices = (0..1_u64 << numbers.len()).step_by(vector);
        let groups = indices.map(|index| Group {
            registers: (index..index + vector as u64)
                .map(|index| combine(numbers, index) as u32)
                .collect(),
            address: base ^ (self.offset(combine(&self.writer.side.registers, index), 0) * bytes),
        });
        let lane = columns(&self.writer.side.lanes);
        let (groups, acting) = (groups.collect(), self.writer.acting);
        Step::Access(Access {
            kind: Kind::Store,
            form: Form::Vector,
            file,
            groups,
            lane,
            warp,
            acting,
        })
    }

    /// Loads the partial results of the thread's elements, elements lowest.
    fn load(&self, plan: &mut Plan, like: File, base: u64, machine: &Machine) -> File {
        let ty = plan.file(like);
        let bytes = u64::from(ty.element_bits / 8);
        let partials = 1_u64 << self.own_bits();
        let (run, beside) = self.vector(bytes, machine);
        // The register bits of a run, as the writer chose them.
        let own = self.writer.numbers().get(..run as usize).unwrap_or_default();
        let starts = own.iter().fold(0, |all, number| all | number);
        let mut groups = Vec::new();
        for element in (0..u64::from(ty.registers)).filter(|element| element & starts == 0) {
            let place = combine(&self.side.registers, element);
            for start in (0..partials).step_by(1 << beside) {
                let offset = self.offset(place, start);
                // A copy of registers of the run starts in its middle.
                let register = |index: u64| {
                    let own = combine(own, (index ^ offset) & low_mask(run));
                    let partial = start + (index >> run);
                    ((element ^ own) + partial * u64::from(ty.registers)) as u32
                };
                groups.push(Group {
                    registers: (0..1 << (run + beside)).map(register).collect(),
                    address: base ^ ((offset & !low_mask(run)) * bytes),
                });
            }
        }
        let columns = |columns: &[u64]| -> Vec<u64> {
            columns.iter().map(|&column| self.offset(column, 0) * bytes).collect()
        };
        let (mut lane, warp) = (columns(&self.side.lanes), columns(&self.side.warps));
        for (&bit, partial) in self.dealt.iter().zip(self.own_bits()..) {
            lane[bit as usize] = self.offset(0, 1 << partial) * bytes;
        }
        let file = plan.add_file(ty.registers * partials as u32, ty.element_bits);
        let acting = Acting::ALL;
        plan.steps.push(Step::Access(Access {
            kind: Kind::Load,
            form: Form::Vector,
            file,
            groups,
            lane,
            warp,
            acting,
        }));
        file
    }
}
