use super::{Access, Plan, Scope, Step};
use crate::{
    access::{AccessError, wavefronts},
    machine::Machine,
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
    /// Selects and combinations of 32 bits.
    pub alu: u64,
    /// Barriers of any scope.
    pub barriers: u64,
    /// Instructions: accesses, exchanges, selects, combinations, barriers.
    pub instructions: u64,
    /// Hundredths of a cycle: the busier of the memory pipe and the arithmetic pipe, with barriers
    /// and the issue of instructions where that takes longer.
    pub total: u64,
}

impl Cost {
    /// The cost of the same steps without bank conflicts.
    pub fn without_conflicts(self, machine: &Machine) -> Cost {
        let surplus = self.wavefronts.saturating_sub(self.ideal_wavefronts);
        let saved = surplus.saturating_mul(machine.prices.wavefront);
        Cost { wavefronts: self.ideal_wavefronts, total: self.total.saturating_sub(saved), ..self }
    }
}

/// What the steps so far add up to.
#[derive(Default)]
struct Sum {
    cost: Cost,
    waiting: u64,
}

/// The price of a plan's steps on a machine; it looks at nothing else in the plan but file types.
///
/// Fails when a step accesses memory in a way that the machine cannot.
pub fn price(plan: &Plan, machine: &Machine) -> Result<Cost, AccessError> {
    let prices = &machine.prices;
    let mut sum = Sum::default();
    for step in &plan.steps {
        add_step(&mut sum, plan, step, machine)?;
    }
    let Sum { mut cost, waiting } = sum;
    let memory = (cost.wavefronts.saturating_mul(prices.wavefront))
        .saturating_add(cost.shuffles.saturating_mul(prices.shuffle));
    let arithmetic = cost.alu.saturating_mul(prices.alu);
    let issue = cost.instructions.saturating_mul(prices.issue);
    cost.total = memory.max(arithmetic).max(issue).saturating_add(waiting);
    Ok(cost)
}

fn add_step(sum: &mut Sum, plan: &Plan, step: &Step, machine: &Machine) -> Result<(), AccessError> {
    let words = |file| {
        let ty = plan.file(file);
        u64::from(ty.registers) * u64::from(ty.element_bits.div_ceil(32))
    };
    let cost = &mut sum.cost;
    match step {
        Step::Permute { .. } | Step::Concat { .. } => {}
        Step::Select { to, .. } => {
            cost.alu += words(*to);
            cost.instructions += words(*to);
        }
        Step::Exchange { to, .. } => {
            cost.shuffles += words(*to);
            cost.instructions += words(*to);
        }
        Step::Access(access) => add_access(cost, plan, access, machine)?,
        Step::Barrier(scope) => {
            cost.barriers += 1;
            cost.instructions += 1;
            sum.waiting = sum.waiting.saturating_add(match scope {
                Scope::Warp => machine.prices.warp_barrier,
                Scope::Block => machine.prices.barrier(1 << plan.warp_bits.min(16)),
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
                let taken = wavefronts(machine, access.kind, &access.lane, width, idle)?;
                *known.insert((width, taken.actual.into(), taken.ideal.into()))
            }
        };
        cost.wavefronts += actual;
        cost.ideal_wavefronts += ideal;
        cost.instructions += 1;
    }
    Ok(())
}
