//! One program instance: a machine that can be left and resumed at every back edge.

use super::access::Places;
use super::bounds::{self, Freedom};
use super::descriptor::parts;
use super::elements::{Bounded, Bounds, Elements};
use super::local::{Local, places};
use super::reduction::{Reduction, is_elementwise};
use super::scan::Scan;
use super::world::{Site, World};
use super::{EvalError, Waiting, pure};
use crate::dtype::DType;
use crate::id::{Id, IdVec};
use crate::scalar;
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Value, ValueData};

/// How an instance's turn ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pause {
    /// At the back edge of a loop.
    BackEdge,
    /// The instance left the kernel.
    Finished,
}

/// A program instance between two operations.
#[derive(Clone)]
pub(super) struct Instance<'k> {
    /// Its index along each grid axis.
    id: [u32; 3],
    /// The regions it is in, outermost first.
    frames: Vec<Frame<'k>>,
    /// Every value that is in scope; values of regions that were left are forgotten.
    values: Vec<Option<Bounded>>,
    /// The bytes that they take.
    held: usize,
    /// The outermost loop that went round since [`Instance::forget_rounds`], with its depth.
    outermost: Option<(usize, OpId, &'k Op)>,
    /// The shared memory of the instance.
    local: Local,
}

/// A region that an instance is in.
#[derive(Clone)]
struct Frame<'k> {
    region: &'k Region,
    /// Which operation of the region comes next.
    next: usize,
    owner: Owner<'k>,
}

/// What the end of a region goes back to.
#[derive(Clone)]
enum Owner<'k> {
    Kernel,
    /// A `for`, `while` or `if`.
    Control(OpId, &'k Op),
    Fold(&'k Op, Fold),
}

/// A reduction or scan under way.
#[derive(Clone, PartialEq)]
enum Fold {
    Reduction(Box<Reduction>),
    Scan(Box<Scan>),
}

/// What happens after an operation.
enum Flow {
    Next,
    Pause(Pause),
}

impl<'k> Instance<'k> {
    /// The instance at `id` before its first operation; the arguments fit the kernel's parameters.
    pub(super) fn new(kernel: &'k Kernel, id: [u32; 3], args: &[u64]) -> Self {
        let mut values = vec![None; kernel.values.len()];
        // An earlier state of it may be kept beside it.
        let held = 2 * (size_of::<Self>() + size_of_val(&*values));
        for (&param, bits) in kernel.body.params.iter().zip(args) {
            let mask = kernel.ty(param).dtype().mask();
            values[param.index()] = Some(Bounded::exact(Elements::Same(bits & mask)));
        }
        let body = Frame { region: &kernel.body, next: 0, owner: Owner::Kernel };
        Self { id, frames: vec![body], values, held, outermost: None, local: Local::default() }
    }

    /// Runs to the next back edge or to the end.
    pub(super) fn turn(&mut self, world: &mut World<'k, '_>) -> Result<Pause, EvalError> {
        while let Some(frame) = self.frames.last_mut() {
            let kernel = world.kernel;
            let id = frame.region.ops.get(frame.next).copied();
            let Some((id, op)) = id.and_then(|id| Some((id, kernel.ops.get(id)?))) else {
                let reason = "a region ends without an operation that hands values on".into();
                let op = kernel.name.clone();
                return Err(EvalError::Malformed { op, loc: kernel.loc, reason });
            };
            frame.next += 1;
            world.step(op, self.held)?;
            let malformed = |reason| {
                let op_name = op.kind.name();
                EvalError::Malformed { op: op_name, loc: op.loc, reason }
            };
            match self.execute(id, op, world).map_err(malformed)? {
                Flow::Next => {}
                Flow::Pause(pause) => return Ok(pause),
            }
        }
        Ok(Pause::Finished)
    }

    /// Whether the other instance is in the same place with the same values.
    pub(super) fn same_state(&self, other: &Instance<'_>) -> bool {
        let Self { id, frames, values, held: _, outermost: _, local } = self;
        *id == other.id
            && frames.len() == other.frames.len()
            && frames.iter().zip(&other.frames).all(|(mine, theirs)| mine.same_state(theirs))
            && *values == other.values
            && *local == other.local
    }

    /// The bytes that it takes.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Starts looking for the loop that [`Instance::waiting`] tells.
    pub(super) fn forget_rounds(&mut self) {
        self.outermost = None;
    }

    /// The outermost loop that went round since [`Instance::forget_rounds`]: when the state is again
    /// what it was then, this is the loop that will not end.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        let (_, id, op) = self.outermost?;
        Some(Waiting { op: id, loc: op.loc, instance: self.id, instances: 1 })
    }

    /// Notes that the loop whose frame is on top goes round.
    fn goes_round(&mut self, id: OpId, op: &'k Op) -> Flow {
        let depth = self.frames.len();
        if self.outermost.is_none_or(|(outermost, ..)| depth <= outermost) {
            self.outermost = Some((depth, id, op));
        }
        Flow::Pause(Pause::BackEdge)
    }

    fn execute(&mut self, id: OpId, op: &'k Op, world: &mut World<'k, '_>) -> Result<Flow, String> {
        let operands =
            op.operands.iter().map(|&v| self.get(v).cloned()).collect::<Result<Vec<_>, _>>()?;
        match &op.kind {
            OpKind::Load(_) | OpKind::Store(_) | OpKind::Atomic { .. } => {
                self.access(id, op, &operands, world)?;
            }
            OpKind::Local(_) | OpKind::AsyncCopy(_) | OpKind::Transfer(_) => {
                let site = Site { id, op, instance: self.id };
                let value = self.local.execute(site, &operands, world)?;
                self.define_all(world.kernel, &op.results, value.into_iter().collect())?;
            }
            OpKind::Descriptor(what) => {
                let site = Site { id, op, instance: self.id };
                let value = world.descriptor(site, *what, &operands)?;
                self.define_all(world.kernel, &op.results, value.into_iter().collect())?;
            }
            OpKind::WarpgroupDot(_) => {
                let mut operands = operands;
                if operands.get(3).is_some_and(|keep| keep.get(0) & 1 == 0) {
                    operands[2] = Bounded::exact(Elements::Same(0));
                }
                operands.truncate(3);
                let site = Site { id, op, instance: self.id };
                let product = self.local.product(site, &operands, world)?;
                self.define_all(world.kernel, &op.results, vec![product])?;
            }
            // Operations on whole tensors are over before the next begins.
            OpKind::Barrier => {}
            // A run is of one grid.
            OpKind::GridWait | OpKind::GridLaunch => {}
            OpKind::InlineAsm(asm) => {
                return Err(format!("its meaning is known to a GPU only: {}", asm.reason));
            }
            OpKind::Print { .. } | OpKind::Assert { .. } => {
                world.report(Site { id, op, instance: self.id }, &operands);
            }
            OpKind::For(_) => {
                let [low, high, _step, carried @ ..] = &operands[..] else {
                    return Err("it lacks its bounds".into());
                };
                let counter = low.get(0);
                let dtype = counter_type(world.kernel, op)?;
                if is_below(dtype, counter, high.get(0)) {
                    let counter = Bounded::exact(Elements::Same(counter));
                    let entering = [&[counter], carried].concat();
                    self.enter(world.kernel, op, 0, Owner::Control(id, op), entering)?;
                } else {
                    self.define_all(world.kernel, &op.results, carried.to_vec())?;
                }
            }
            OpKind::While => {
                self.enter(world.kernel, op, 0, Owner::Control(id, op), operands)?;
            }
            OpKind::If => {
                let condition = operands.first().ok_or("it lacks its condition")?;
                let region = usize::from(condition.get(0) & 1 == 0);
                self.enter(world.kernel, op, region, Owner::Control(id, op), Vec::new())?;
            }
            OpKind::Scan { axis, reverse } => {
                let shape = folded_shape(op, *axis, world.kernel)?;
                let region = op.regions.first().ok_or("it lacks its region")?;
                if !is_elementwise(world.kernel, region) {
                    return Err("its region is not element-wise".into());
                }
                let law = bounds::Fold::scan(world.kernel, region);
                let scan = Scan::new(&operands, shape, usize::from(*axis), *reverse, law);
                self.fold(op, Fold::Scan(Box::new(scan)), world.kernel)?;
            }
            OpKind::Split => {
                let ([x], [a, b]) = (&operands[..], &op.results[..]) else {
                    return Err("it has one operand and two results".into());
                };
                for (half, &result) in [a, b].into_iter().enumerate() {
                    let count = self.count(world.kernel, result);
                    let half = Bounded {
                        bits: Elements::from_fn(count, |index| x.get(2 * index + half)),
                        bounds: Bounds::held(count, |index| x.bounds.get(2 * index + half)),
                    };
                    self.define(world.kernel, result, half)?;
                }
            }
            OpKind::Reduce { axis, contract } => {
                let shape = folded_shape(op, *axis, world.kernel)?;
                let region = op.regions.first().ok_or("it lacks its region")?;
                let at_once = is_elementwise(world.kernel, region);
                let axis = usize::from(*axis);
                let law = bounds::Fold::reduction(world.kernel, region, shape[axis], *contract);
                let reduction = Reduction::new(operands, shape, axis, at_once, law);
                self.fold(op, Fold::Reduction(Box::new(reduction)), world.kernel)?;
            }
            OpKind::Yield | OpKind::Condition => return self.hand_over(op, operands, world.kernel),
            OpKind::Return => {
                self.frames.clear();
                self.values.clear();
                return Ok(Flow::Pause(Pause::Finished));
            }
            _ => {
                let &[result] = &op.results[..] else {
                    return Err("it has one result".into());
                };
                let count = self.count(world.kernel, result);
                let elementwise = !matches!(
                    op.kind,
                    OpKind::Unsplat
                        | OpKind::Broadcast
                        | OpKind::Trans { .. }
                        | OpKind::Join
                        | OpKind::Gather { .. }
                        | OpKind::Histogram
                        | OpKind::Dot(_)
                        | OpKind::DotScaled(_)
                );
                if elementwise && !operands.iter().all(|operand| operand.fits(count)) {
                    return Err("its operands differ in shape".into());
                }
                if op.is_partial() {
                    let site = Site { id, op, instance: self.id };
                    world.look_for_undefined(site, &operands, count);
                }
                let freedom = self.freedom(world);
                let value = pure::evaluate(world, self.id, op, &operands, count, freedom)?;
                self.define(world.kernel, result, value)?;
            }
        }
        Ok(Flow::Next)
    }

    /// Executes a memory operation.
    fn access(
        &mut self,
        id: OpId,
        op: &'k Op,
        operands: &[Bounded],
        world: &mut World<'k, '_>,
    ) -> Result<(), String> {
        let site = Site { id, op, instance: self.id };
        let pointers = *op.operands.first().ok_or("it lacks its pointers")?;
        let ty = world.kernel.ty(pointers);
        let dtype = ty.element.pointee().ok_or("its first operand is no pointer")?;
        let count = ty.elements() as usize;
        if !operands.iter().all(|operand| operand.fits(count)) {
            return Err("its operands differ in shape".into());
        }
        let places = |pointers, mask| Places { count, dtype, pointers, mask };
        let zero = Bounded::exact(Elements::Same(0));
        let old = match (&op.kind, operands) {
            (OpKind::Load(_), [pointers]) => world.load(site, places(pointers, None), &zero),
            (OpKind::Load(_), [pointers, mask]) => {
                world.load(site, places(pointers, Some(mask)), &zero)
            }
            (OpKind::Load(_), [pointers, mask, other]) => {
                world.load(site, places(pointers, Some(mask)), other)
            }
            (OpKind::Store(_), [pointers, values, mask @ ..]) => {
                world.store(site, places(pointers, mask.first()), values);
                return Ok(());
            }
            (OpKind::Atomic { op, .. }, [pointers, rest @ ..]) if rest.len() >= op.values() => {
                let (values, mask) = rest.split_at(op.values());
                world.update(site, places(pointers, mask.first()), *op, values)?
            }
            _ => return Err(format!("it has {} operands", operands.len())),
        };
        self.define_all(world.kernel, &op.results, vec![old])
    }

    /// Ends a region: its values go to the operation that owns it.
    fn hand_over(
        &mut self,
        terminator: &Op,
        handed: Vec<Bounded>,
        kernel: &'k Kernel,
    ) -> Result<Flow, String> {
        let Some(Frame { region, owner, .. }) = self.frames.pop() else {
            return Err("it stands outside of every region".into());
        };
        let counter = region.params.first().and_then(|&v| self.get(v).ok()).map(|c| c.get(0));
        self.forget(kernel, region);
        match (owner, &terminator.kind) {
            (Owner::Fold(op, mut fold), OpKind::Yield) => {
                if handed.len() != op.operands.len() {
                    return Err("it yields other values than are folded".into());
                }
                match &mut fold {
                    Fold::Reduction(reduction) => reduction.fold(handed),
                    Fold::Scan(scan) => scan.fold(&handed),
                }
                self.fold(op, fold, kernel)?;
                Ok(Flow::Next)
            }
            (Owner::Control(id, op), kind) => match (&op.kind, kind) {
                (OpKind::If, OpKind::Yield) => {
                    self.define_all(kernel, &op.results, handed)?;
                    Ok(Flow::Next)
                }
                (OpKind::For(_), OpKind::Yield) => {
                    let (Some(counter), [_, high, step, ..]) = (counter, &op.operands[..]) else {
                        return Err("its loop lacks its bounds".into());
                    };
                    let dtype = counter_type(kernel, op)?;
                    let counter = counter.wrapping_add(self.get(*step)?.get(0)) & dtype.mask();
                    if is_below(dtype, counter, self.get(*high)?.get(0)) {
                        let counter = Bounded::exact(Elements::Same(counter));
                        let entering = [&[counter], &handed[..]].concat();
                        self.enter(kernel, op, 0, Owner::Control(id, op), entering)?;
                        Ok(self.goes_round(id, op))
                    } else {
                        self.define_all(kernel, &op.results, handed)?;
                        Ok(Flow::Next)
                    }
                }
                (OpKind::While, OpKind::Condition) => {
                    let (condition, handed) =
                        handed.split_first().ok_or("it lacks its condition")?;
                    if condition.get(0) & 1 == 1 {
                        self.enter(kernel, op, 1, Owner::Control(id, op), handed.to_vec())?;
                    } else {
                        self.define_all(kernel, &op.results, handed.to_vec())?;
                    }
                    Ok(Flow::Next)
                }
                (OpKind::While, OpKind::Yield) => {
                    self.enter(kernel, op, 0, Owner::Control(id, op), handed)?;
                    Ok(self.goes_round(id, op))
                }
                _ => Err(format!("it ends no region of {}", op.kind.name())),
            },
            _ => Err("it stands in a region that it does not end".into()),
        }
    }

    /// Goes on with a reduction or scan: into its region, or to its end.
    fn fold(&mut self, op: &'k Op, fold: Fold, kernel: &'k Kernel) -> Result<(), String> {
        let finished = match &fold {
            Fold::Reduction(reduction) => reduction.finished(),
            Fold::Scan(scan) => scan.finished(),
        };
        if let Some(results) = finished {
            return self.define_all(kernel, &op.results, results);
        }
        let entering = match &fold {
            Fold::Reduction(reduction) => reduction.parameters(),
            Fold::Scan(scan) => scan.parameters(),
        };
        self.enter(kernel, op, 0, Owner::Fold(op, fold), entering)
    }

    /// Enters a region of `op` with some values.
    fn enter(
        &mut self,
        kernel: &'k Kernel,
        op: &'k Op,
        region: usize,
        owner: Owner<'k>,
        entering: Vec<Bounded>,
    ) -> Result<(), String> {
        let region = op.regions.get(region).ok_or("it lacks a region")?;
        self.frames.push(Frame { region, next: 0, owner });
        self.define_all(kernel, &region.params, entering)
    }

    /// Forgets the values of a region that was left.
    fn forget(&mut self, kernel: &Kernel, region: &Region) {
        let results = region.ops.iter().filter_map(|&id| kernel.ops.get(id));
        for &value in region.params.iter().chain(results.flat_map(|op| &op.results)) {
            if let Some(bounded) = self.values.get_mut(value.index()) {
                self.held -= bounded.take().map_or(0, |bounded| bounded.bytes());
            }
        }
    }

    fn get(&self, value: Value) -> Result<&Bounded, String> {
        self.values
            .get(value.index())
            .and_then(Option::as_ref)
            .ok_or_else(|| format!("{value} is used where it is not defined"))
    }

    fn define_all(
        &mut self,
        kernel: &Kernel,
        values: &[Value],
        all: Vec<Bounded>,
    ) -> Result<(), String> {
        if values.len() != all.len() {
            return Err(format!("{} values for {}", all.len(), values.len()));
        }
        values.iter().zip(all).try_for_each(|(&value, bounded)| self.define(kernel, value, bounded))
    }

    fn define(&mut self, kernel: &Kernel, value: Value, bounded: Bounded) -> Result<(), String> {
        if !bounded.fits(self.count(kernel, value)) {
            return Err(format!("the elements of {value} are not as many as its type says"));
        }
        let place = self.values.get_mut(value.index()).ok_or("a value that does not exist")?;
        self.held += bounded.bytes();
        self.held -= place.replace(bounded).map_or(0, |before| before.bytes());
        Ok(())
    }

    /// What may be rounded differently here: within a fold, what its order leaves open.
    fn freedom(&self, world: &World<'_, '_>) -> Freedom {
        let fold = self.frames.iter().rev().find_map(|frame| match &frame.owner {
            Owner::Fold(_, Fold::Reduction(reduction)) => Some(reduction.law()),
            Owner::Fold(_, Fold::Scan(scan)) => Some(scan.law()),
            _ => None,
        });
        fold.map_or_else(|| world.freedom(), |law| law.freedom)
    }

    /// How many elements a value defined here has, or places of bytes where it describes memory, or parts of a descriptor: in the region of a reduction or scan, a scalar
    /// stands for one of each pair that is folded.
    fn count(&self, kernel: &Kernel, value: Value) -> usize {
        let lanes = match self.frames.last() {
            Some(Frame { owner: Owner::Fold(_, Fold::Reduction(reduction)), .. }) => {
                reduction.lanes()
            }
            Some(Frame { owner: Owner::Fold(_, Fold::Scan(scan)), .. }) => Some(scan.lanes()),
            _ => None,
        };
        lanes.unwrap_or_else(|| {
            let values: &IdVec<Value, ValueData> = &kernel.values;
            values.get(value).map_or(0, |data| match data.ty.memory() {
                Some(_) => places(&data.ty),
                None if data.ty.is_descriptor() => parts(&data.ty),
                None => data.ty.elements() as usize,
            })
        })
    }
}

impl Frame<'_> {
    fn same_state(&self, other: &Frame<'_>) -> bool {
        // One program's regions are the same where they lie at the same place.
        core::ptr::eq(self.region, other.region)
            && self.next == other.next
            && match (&self.owner, &other.owner) {
                (Owner::Fold(_, mine), Owner::Fold(_, theirs)) => mine == theirs,
                _ => true,
            }
    }
}

/// The shape of what is folded along an axis of it.
fn folded_shape<'a>(op: &Op, axis: u8, kernel: &'a Kernel) -> Result<&'a [u64], String> {
    let first = *op.operands.first().ok_or("it folds nothing")?;
    let shape = &kernel.ty(first).shape;
    let same = |&x: &Value| kernel.ty(x).shape == *shape;
    if usize::from(axis) >= shape.len() || !op.operands.iter().all(same) {
        return Err(format!("its operands have no common axis {axis}"));
    }
    Ok(shape)
}

/// The type of a `for`'s counter, which is that of its bounds.
fn counter_type(kernel: &Kernel, op: &Op) -> Result<DType, String> {
    let low = op.operands.first().ok_or("it lacks its bounds")?;
    Ok(kernel.ty(*low).dtype())
}

fn is_below(dtype: DType, counter: u64, high: u64) -> bool {
    scalar::sign_extend(dtype, counter) < scalar::sign_extend(dtype, high)
}
