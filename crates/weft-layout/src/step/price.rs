use super::{
    Access, Count, DataMap, File, FileType, Form, Matrix, Plan, Scope, Step, packing::Packing,
};
use crate::{
    access::{AccessError, Wavefronts, matrix_wavefronts, wavefronts},
    f2::Subspace,
    machine::{Machine, Prices},
};

/// What steps cost each warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cost {
    /// Wavefronts of shared memory, over all accesses of one warp.
    pub wavefronts: u64,
    /// The wavefronts that these accesses would take without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Lane exchanges of 32 bits.
    pub shuffles: u64,
    /// Selects and combinations of 32 bits, and the byte permutes that put narrow registers into
    /// words; those of inputs and outputs are in words in the order of their registers.
    pub alu: u64,
    /// Barriers of any scope.
    pub barriers: u64,
    /// Instructions: accesses, exchanges, selects, byte permutes, combinations, barriers.
    pub instructions: u64,
    /// Hundredths of a cycle: the busier of the memory pipe and the arithmetic pipe, with barriers
    /// and the issue of instructions where that takes longer. Of a block's barrier each warp has its
    /// share, as it has of the pipes: all warps together take this often as long as there are warps.
    pub total: u64,
}

impl Cost {
    /// The cost of the same steps without bank conflicts.
    pub fn without_conflicts(self, machine: &Machine) -> Cost {
        let ideal = Cost { wavefronts: self.ideal_wavefronts, ..self };
        let waiting = self.total.saturating_sub(self.busiest(&machine.prices));
        Cost { total: ideal.busiest(&machine.prices).saturating_add(waiting), ..ideal }
    }

    /// What these steps and other work of the same warp take together, in hundredths of a cycle.
    ///
    /// Pipes work side by side, so this is less than the sum of both, unless they keep one pipe busy.
    /// But a pipe that is busy for nearly as long as the busiest one gets in its way: measured on an
    /// H200, in loops around conversions, the next busiest counts for a quarter.
    pub fn beside(self, work: Cost, machine: &Machine) -> u64 {
        let pipes = |cost: Cost| cost.pipes(&machine.prices);
        let mut both = [0; 3];
        for (both, (own, other)) in both.iter_mut().zip(pipes(self).into_iter().zip(pipes(work))) {
            *both = own.saturating_add(other);
        }
        both.sort_unstable();
        let waiting = |cost: Cost| cost.total.saturating_sub(cost.busiest(&machine.prices));
        let waiting = waiting(self).saturating_add(waiting(work));
        both[2].saturating_add(both[1] / 4).saturating_add(waiting)
    }

    /// How long memory, arithmetic and issue are busy.
    fn pipes(self, prices: &Prices) -> [u64; 3] {
        let memory = (self.wavefronts.saturating_mul(prices.wavefront))
            .saturating_add(self.shuffles.saturating_mul(prices.shuffle));
        let arithmetic = self.alu.saturating_mul(prices.alu);
        [memory, arithmetic, self.instructions.saturating_mul(prices.issue)]
    }

    /// What the busiest pipe takes, without barriers.
    pub(crate) fn busiest(self, prices: &Prices) -> u64 {
        self.pipes(prices).into_iter().max().unwrap_or(0)
    }
}

/// What the steps so far add up to.
#[derive(Default)]
struct Sum<'p> {
    cost: Cost,
    waiting: u64,
    /// Where the bytes of narrow registers stand, if there are any.
    packing: Option<Packing<'p>>,
}

/// The price of a plan's steps on a machine; it looks at nothing else in the plan but file types.
///
/// Fails when a step accesses memory in a way that the machine cannot.
pub fn price(plan: &Plan, machine: &Machine) -> Result<Cost, AccessError> {
    let mut sum = Sum { packing: Packing::of(plan), ..Sum::default() };
    for step in &plan.steps {
        add_step(&mut sum, plan, step, machine)?;
    }
    if let Some(packing) = &mut sum.packing {
        let taken = packing.outputs();
        sum.cost.alu += taken;
        sum.cost.instructions += taken;
    }
    let Sum { mut cost, waiting, .. } = sum;
    cost.total = cost.busiest(&machine.prices).saturating_add(waiting);
    Ok(cost)
}

fn add_step<'p>(
    sum: &mut Sum<'p>,
    plan: &'p Plan,
    step: &Step,
    machine: &Machine,
) -> Result<(), AccessError> {
    let packed = sum.packing.as_mut().map_or(0, |packing| pack(packing, step));
    sum.cost.alu += packed;
    sum.cost.instructions += packed;
    let words = |file| {
        let ty = plan.file(file);
        u64::from(ty.registers) * u64::from(ty.element_bits.div_ceil(32))
    };
    let cost = &mut sum.cost;
    match step {
        // Zero is an immediate of whatever reads it.
        Step::Permute { .. } | Step::Concat { .. } | Step::Zero { .. } => {}
        Step::Select { to, .. } | Step::Where { to, .. } => {
            cost.alu += words(*to);
            cost.instructions += words(*to);
        }
        // All that they take is in the packing.
        Step::Bytes { .. } => {}
        Step::Exchange { to, .. } | Step::Shift { to, .. } => {
            cost.shuffles += words(*to);
            cost.instructions += words(*to);
        }
        Step::Affine { to, map, .. } => {
            let each = affine(map);
            cost.alu += each * words(*to);
            cost.instructions += each * words(*to);
        }
        Step::Fetch { to, .. } => {
            cost.shuffles += words(*to);
            cost.instructions += words(*to);
        }
        // The bit is tested once, whatever the element's width.
        Step::Pick { to, .. } => {
            let all = words(*to) + u64::from(plan.file(*to).registers);
            cost.alu += all;
            cost.instructions += all;
        }
        Step::Lookup { to, .. } => add_lookup(cost, plan.file(*to), machine),
        Step::Add { to, .. } => {
            cost.alu += words(*to);
            cost.instructions += words(*to);
        }
        Step::Count(count) => add_count(cost, plan.file(count.numbers), count, machine),
        Step::Access(access) => add_access(cost, plan, access, machine)?,
        Step::Barrier(scope) => {
            cost.barriers += 1;
            cost.instructions += 1;
            sum.waiting = sum.waiting.saturating_add(match scope {
                Scope::Warp => machine.prices.warp_barrier,
                Scope::Block => machine.prices.barrier_share(1 << plan.warp_bits.min(16)),
            });
        }
        Step::Combine { to, .. } => {
            let all: u64 = to.iter().map(|&file| words(file)).sum();
            cost.alu += all;
            cost.instructions += all;
        }
    }
    Ok(())
}

/// The instructions that compute one affine function of a number: each diagonal is shifted, masked
/// and added; what the thread adds is computed once.
fn affine(map: &DataMap) -> u64 {
    u64::from(3 * map.diagonals()) + 1
}

/// The expected number of lanes that meet in the fullest place, in hundredths, when 2^i lanes go to
/// 2^j places at random: the places are banks, or counters where those are fewer.
const FULLEST: [&[u64]; 7] = [
    &[100],
    &[200, 150],
    &[400, 275, 213],
    &[800, 509, 354, 260],
    &[1600, 957, 614, 420, 308],
    &[3200, 1824, 1099, 705, 483, 354],
    &[6400, 3518, 2020, 1224, 788, 541, 399],
];

/// The wavefronts, in hundredths, of an instruction whose lanes go to at most 2^`places` words of
/// `bytes` bytes at random.
fn random_wavefronts(machine: &Machine, bytes: u32, places: u32) -> u64 {
    let width_log2 = bytes.max(1).ilog2();
    let together =
        machine.phases.subspace(super::Kind::Load, width_log2).dim().min(machine.lanes_log2);
    let phases = 1_u64 << (machine.lanes_log2 - together);
    let row = FULLEST.get(together as usize).copied().unwrap_or(FULLEST[6]);
    let fullest = row.get(places as usize).or(row.last()).copied().unwrap_or(100);
    phases * fullest
}

/// Loads whose addresses are data: priced as random ones.
fn add_lookup(cost: &mut Cost, ty: FileType, machine: &Machine) {
    let loads = u64::from(ty.registers);
    let wavefronts =
        (loads * random_wavefronts(machine, ty.element_bits / 8, u32::MAX)).div_ceil(100);
    cost.wavefronts += wavefronts;
    // Nothing that a plan chooses makes random addresses meet less often.
    cost.ideal_wavefronts += wavefronts;
    cost.alu += loads;
    cost.instructions += 2 * loads;
}

/// The instructions that put the bytes of narrow registers where a step needs them.
fn pack(packing: &mut Packing<'_>, step: &Step) -> u64 {
    let (read, defined): (&[File], &[File]) = match step {
        Step::Permute { from, to, source } => {
            packing.permute(*from, *to, source);
            return 0;
        }
        Step::Concat { from, to } => {
            packing.concat(from, *to);
            return 0;
        }
        Step::Bytes { a, b, to, selector } => return packing.bytes(*a, *b, *to, selector),
        Step::Access(access) => return packing.access(access),
        Step::Select { even: a, odd: b, to, .. }
        | Step::Where { inside: a, outside: b, to, .. }
        | Step::Pick { even: a, odd: b, to, .. } => (&[*a, *b], &[*to]),
        Step::Exchange { from, to, .. }
        | Step::Shift { from, to, .. }
        | Step::Affine { from, to, .. }
        | Step::Fetch { from, to, .. }
        | Step::Lookup { address: from, to } => (&[*from], &[*to]),
        Step::Count(count) => {
            let mask = count.mask.map_or(0, |mask| packing.whole(mask));
            return packing.whole(count.numbers) + mask;
        }
        Step::Combine { to, .. } => (&[], to),
        // Words.
        Step::Add { to, .. } | Step::Zero { to } => (&[], core::slice::from_ref(to)),
        Step::Barrier(_) => (&[], &[]),
    };
    let taken = read.iter().map(|&file| packing.whole(file)).sum();
    for &file in defined {
        packing.fresh(file);
    }
    taken
}

/// Counters by numbers that are data: lanes that meet in one are served one after the other.
fn add_count(cost: &mut Cost, ty: FileType, count: &Count, machine: &Machine) {
    let columns = [&count.map.data[..], &count.map.lane].concat();
    let places = Subspace::from_vectors(&columns).dim();
    let registers = u64::from(ty.registers);
    let wavefronts = (registers * random_wavefronts(machine, 4, places)).div_ceil(100);
    cost.wavefronts += wavefronts;
    cost.ideal_wavefronts += wavefronts;
    // The address in memory, whether the number is below, and the mask.
    let arithmetic = registers * (affine(&count.map) + 2 + u64::from(count.mask.is_some()));
    cost.alu += arithmetic;
    cost.instructions += arithmetic + registers;
}

fn add_access(
    cost: &mut Cost,
    plan: &Plan,
    access: &Access,
    machine: &Machine,
) -> Result<(), AccessError> {
    let bytes = plan.file(access.file).element_bits / 8;
    // All groups of one width cost the same.
    let mut known: Option<(u32, u64, u64)> = None;
    for group in &access.groups {
        let width = bytes.saturating_mul(group.registers.len() as u32);
        let (_, actual, ideal) = match known.filter(|entry| entry.0 == width) {
            Some(entry) => entry,
            None => {
                let idle = access.acting.idle_lanes;
                let (taken, times) = match access.form {
                    Form::Vector => {
                        (wavefronts(machine, access.kind, &access.lane, width, idle)?, 1)
                    }
                    Form::Matrix(matrix) => matrices(access, matrix, width, machine)?,
                };
                let all = |one: u32| u64::from(one) * times;
                *known.insert((width, all(taken.actual), all(taken.ideal)))
            }
        };
        cost.wavefronts += actual;
        cost.ideal_wavefronts += ideal;
        cost.instructions += 1;
    }
    Ok(())
}

/// What one of the matrices of an instruction takes, and how many there are.
fn matrices(
    access: &Access,
    matrix: Matrix,
    bytes: u32,
    machine: &Machine,
) -> Result<(Wavefronts, u64), AccessError> {
    let unknown = AccessError::Matrices { matrix, bytes };
    let count = Form::matrices(matrix, u64::from(bytes)).ok_or(unknown)?;
    let mut known = machine.matrix_moves.iter();
    let known = known.find(|one| one.moves(access.kind, matrix, count));
    let known = known.filter(|_| machine.lanes_log2 == 5).ok_or(unknown)?;
    let bits = matrix.rows.max(1).ilog2() as usize;
    let lanes = access.lane.len();
    let expected = machine.lanes_log2;
    let rows = access.lane.get(..bits).ok_or(AccessError::Lanes { expected, found: lanes })?;
    Ok((matrix_wavefronts(machine, known, rows)?, u64::from(count)))
}
