//! Which instance runs when, and how it is seen that none can go on.

use super::bounds::MemoryBounds;
use super::instance::{Instance, Pause};
use super::world::World;
use super::{EvalError, MAX_ELEMENTS, Options, Report, Sums, Waiting};
use crate::budget::Stop;
use crate::format::Printed;
use crate::memory::Memory;
use crate::tile::{Kernel, OpKind};

/// How many instances are resident at first; and after how many turns in which none of them ends one
/// more is started.
const RESIDENT: usize = 64;

/// Runs all instances in turns.
pub(super) fn run(
    kernel: &Kernel,
    grid: [u32; 3],
    args: &[u64],
    memory: &mut Memory,
    options: Options,
    stop: &Stop,
) -> Result<Report, EvalError> {
    check(kernel, args)?;
    let mut world = World {
        kernel,
        grid,
        memory,
        changed: false,
        findings: Vec::new(),
        undefined: Vec::new(),
        failures: Vec::new(),
        bounds: MemoryBounds::default(),
        sums: Sums::default(),
        printed: Printed::default(),
        steps: 0,
        held: 0,
        options,
        stop: stop.clone(),
    };
    let mut waiting = Grid { extents: grid, next: 0 };
    let mut capacity = RESIDENT;
    let mut turns_without_end = 0;
    let mut watch = Watch::default();
    let mut residents: Vec<Instance<'_>> = Vec::new();
    loop {
        let room = capacity.saturating_sub(residents.len());
        for id in waiting.by_ref().take(room) {
            let instance = Instance::new(kernel, id, args);
            world.held += instance.held();
            residents.push(instance);
            // Whoever waits for the others may be one of very many, and the first to run ends all.
            if world.held as u64 > options.max_bytes {
                break;
            }
        }
        if residents.is_empty() {
            break;
        }
        world.changed = false;
        let before = residents.len();
        for mut instance in core::mem::take(&mut residents) {
            world.held -= instance.held();
            match instance.turn(&mut world)? {
                Pause::BackEdge => {
                    world.held += instance.held();
                    residents.push(instance);
                }
                Pause::Finished => {}
            }
        }
        if residents.len() < before {
            turns_without_end = 0;
            watch = Watch::default();
            continue;
        }
        turns_without_end += 1;
        if turns_without_end % RESIDENT == 0 {
            capacity += 1;
        }
        if world.changed {
            watch = Watch::default();
        } else if watch.saw(&mut residents) {
            if waiting.is_exhausted() {
                return Err(deadlock(&residents));
            }
            // Whoever would let them go on may not have been started.
            capacity *= 2;
            watch = Watch::default();
        }
    }
    let World { findings, undefined, failures, bounds, sums, printed, steps, .. } = world;
    let instances = waiting.next;
    Ok(Report { findings, undefined, failures, bounds, sums, printed, steps, instances })
}

/// What must hold before an instance can be made.
fn check(kernel: &Kernel, args: &[u64]) -> Result<(), EvalError> {
    let expected = kernel.body.params.len();
    if args.len() != expected {
        return Err(EvalError::Arguments { expected, given: args.len() });
    }
    for (value, data) in kernel.values.iter() {
        let shape = &data.ty.shape;
        let mut extents = data.ty.tensor_extents().iter();
        if let Some(extent) = extents.find(|extent| !extent.is_power_of_two()) {
            return Err(EvalError::Malformed {
                op: kernel.name.clone(),
                loc: kernel.loc,
                reason: format!("{value} has an extent of {extent}, which is no power of two"),
            });
        }
        let count = shape.iter().try_fold(1u64, |count, &extent| count.checked_mul(extent));
        if count.is_none_or(|count| count > MAX_ELEMENTS) {
            let (name, ty) = (kernel.value_name(value), data.ty.to_string());
            return Err(EvalError::TooLarge { value, name, ty });
        }
    }
    let unknown = |&value| kernel.values.get(value).is_none();
    if kernel.body.params.iter().any(unknown) {
        let reason = "it has a parameter that does not exist".into();
        return Err(EvalError::Malformed { op: kernel.name.clone(), loc: kernel.loc, reason });
    }
    for op in kernel.ops.values() {
        let params = op.regions.iter().flat_map(|region| &region.params);
        if op.operands.iter().chain(&op.results).chain(params).any(unknown) {
            let reason = "it names a value that does not exist".into();
            return Err(EvalError::Malformed { op: op.kind.name(), loc: op.loc, reason });
        }
        if let OpKind::MakeRange { start, end } = op.kind
            && op.results.iter().any(|&result| {
                i64::from(end) - i64::from(start) != kernel.ty(result).elements() as i64
            })
        {
            let reason = format!("its result does not have the elements of {start}..{end}");
            return Err(EvalError::Malformed { op: op.kind.name(), loc: op.loc, reason });
        }
    }
    Ok(())
}

fn deadlock(residents: &[Instance<'_>]) -> EvalError {
    let mut waiting: Vec<Waiting> = Vec::new();
    for one in residents.iter().filter_map(Instance::waiting) {
        match waiting.iter_mut().find(|waiting| waiting.op == one.op) {
            Some(waiting) => waiting.instances += 1,
            None => waiting.push(one),
        }
    }
    EvalError::Deadlock { waiting }
}

/// The instances that were not started, the x axis fastest.
struct Grid {
    extents: [u32; 3],
    next: u64,
}

impl Grid {
    fn is_exhausted(&self) -> bool {
        let [x, y, z] = self.extents.map(u128::from);
        u128::from(self.next) >= x * y * z
    }
}

impl Iterator for Grid {
    type Item = [u32; 3];

    fn next(&mut self) -> Option<[u32; 3]> {
        if self.is_exhausted() {
            return None;
        }
        let [x, y, _] = self.extents.map(u64::from);
        let (row, index) = (self.next / x, self.next);
        self.next += 1;
        Some([(index % x) as u32, (row % y) as u32, (row / y) as u32])
    }
}

/// Looks for a state of all residents that comes back.
///
/// It is told of the states between which memory did not change. All that an instance does follows
/// from its state and from memory, so that one state seen twice will be seen for ever. Every state is
/// held against one earlier state, which is replaced after 1, 2, 4, … turns (Brent's method), so that
/// a circle of any length is found.
#[derive(Default)]
struct Watch<'k> {
    earlier: Vec<Instance<'k>>,
    age: u64,
    lifetime: u64,
}

impl<'k> Watch<'k> {
    fn saw(&mut self, residents: &mut [Instance<'k>]) -> bool {
        if self.earlier.len() == residents.len()
            && self.earlier.iter().zip(&*residents).all(|(a, b)| a.same_state(b))
        {
            return true;
        }
        self.age += 1;
        if self.age > self.lifetime {
            residents.iter_mut().for_each(Instance::forget_rounds);
            self.earlier = residents.to_vec();
            self.lifetime = (self.lifetime * 2).max(1);
            self.age = 0;
        }
        false
    }
}
