//! A lane program as flat code.
//!
//! Control becomes jumps, values become *rows*: a row holds one value for every lane of a warp. What
//! no lane can change (constants, arguments, the lane's number, addresses of pieces) is in a bank of
//! rows that all warps share; the rest gets rows of the warp's register file, a row being used again
//! as soon as its value has no further use. So that a pure operation may compute all lanes whatever
//! lanes are active, a row is never shared by two values of which one is needed in some lane:
//!
//! * a value defined outside a loop and used inside it lives to the loop's end;
//! * a loop's parameters and results live from the loop's start, the results of an `If` from its
//!   start;
//! * operands live to the end of the operation, so no result has the row of an operand.

mod access;

use super::Launch;
use super::act::Act;
use super::compute::Compute;
use super::memory_access::phases::agents;
use super::report::AccessCount;
use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{
    BarrierScope, BulkCopy, IdKind, Inst, InstData, Matrix, MatrixMultiply, Mbarrier, NamedBarrier,
    Op, Operand, Program, Region, Role, ScaledMultiply, Space, SyncOp, TensorMap, TensorWay, Value,
    WarpgroupMultiply,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The first element of a row, in the shared bank if [`CONST`] is set, else in the registers.
pub(super) type Row = u32;
/// Marks a row of the shared bank.
pub(super) const CONST: Row = 1 << 31;
/// Rows of a warp's own numbers, at the front of its registers: warp, block x, y, z, and each lane's
/// thread.
pub(super) const OWN_ROWS: u32 = 5;

/// An operation of the flat program, in which control is jumps.
#[derive(Debug)]
pub(super) enum MicroOp {
    /// Each lane by itself computes a row from rows.
    Compute(Compute),
    /// The warp does something to memory or among its lanes.
    Act(Act),
    BlockBarrier {
        inst: Inst,
    },
    NamedBarrier {
        barrier: NamedBarrier,
        inst: Inst,
    },
    /// Memory operation `index` touches the mbarrier.
    Mbarrier {
        op: Mbarrier,
        index: u32,
        operand: Option<Row>,
    },
    /// Other warps than these go to `otherwise`.
    Role {
        first: u32,
        warps: u32,
        otherwise: u32,
    },
    Jump(u32),
    /// Copies in the active lanes.
    Moves(Moves),
    /// Opens an `If`; goes to `otherwise` when no lane takes the first region.
    If {
        condition: Row,
        otherwise: u32,
    },
    /// Ends the first region: runs the second for the lanes that wait for it, or goes to `end`.
    Else {
        end: u32,
    },
    EndIf,
    /// Opens the frame of a loop.
    EnterLoop {
        exit: u32,
    },
    /// Lanes leave the loop whose frame is at `depth`.
    BreakIf {
        condition: Row,
        moves: Moves,
        exit: u32,
        depth: u32,
        inst: Inst,
    },
    /// Goes round: `spills` first, then `moves`.
    BackEdge {
        spills: Moves,
        moves: Moves,
        start: u32,
        exit: u32,
        inst: Inst,
    },
    /// Closes the frame of a loop.
    ExitLoop,
    Return,
}

/// Copies, as a range of [`Code::moves`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Moves {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// An operation of lanes on global or shared memory.
#[derive(Debug)]
pub(super) struct MemoryOp {
    pub(super) inst: Inst,
    pub(super) space: Space,
    pub(super) address: Row,
    /// What the address is given as an offset from, if it is.
    pub(super) base: Option<Row>,
    pub(super) predicate: Option<Row>,
    pub(super) offset: i32,
    /// The matrices that are moved, if they are.
    pub(super) matrix: Option<Matrix>,
    /// Bytes of one element.
    pub(super) size: u32,
    /// Bytes of the access at each address: a row where matrices are moved.
    pub(super) bytes: u32,
    /// What is stored, or what a load yields where its predicate is false.
    pub(super) values: SmallVec<[Row; 4]>,
    pub(super) results: SmallVec<[Row; 4]>,
    pub(super) volatile: bool,
    pub(super) atomic: Option<AtomicOp>,
}

impl MemoryOp {
    /// Elements that a lane moves.
    pub(super) fn elements(&self) -> usize {
        (self.bytes / self.size) as usize
    }
}

/// A product of matrices.
#[derive(Debug)]
pub(super) struct MultiplyOp {
    pub(super) multiply: MatrixMultiply,
    /// The words of the left factor, of the right one, and of what is added to.
    pub(super) operands: [SmallVec<[Row; 4]>; 3],
    pub(super) results: SmallVec<[Row; 4]>,
    pub(super) inst: Inst,
}

/// A product of matrices with scales.
#[derive(Debug)]
pub(super) struct ScaledOp {
    pub(super) multiply: ScaledMultiply,
    /// The words of the left factor, of the right one, and of what is added to.
    pub(super) operands: [SmallVec<[Row; 4]>; 3],
    pub(super) scales: [Row; 2],
    pub(super) results: SmallVec<[Row; 4]>,
    pub(super) inst: Inst,
}

/// A product of a warpgroup.
#[derive(Debug)]
pub(super) struct ProductOp {
    pub(super) multiply: WarpgroupMultiply,
    /// The words of the left factor, or its descriptor.
    pub(super) left: SmallVec<[Row; 4]>,
    pub(super) right: Row,
    pub(super) keep: Option<Row>,
    pub(super) start: SmallVec<[Row; 4]>,
    pub(super) results: SmallVec<[Row; 4]>,
    pub(super) inst: Inst,
    /// The memory operation that its reads count as.
    pub(super) access: u32,
}

/// A bulk copy, with the rows of its operands.
#[derive(Debug)]
pub(super) struct BulkOp {
    pub(super) what: Bulk,
    /// Where the mbarrier is that counts what is written to shared memory.
    pub(super) mbarrier: Option<Row>,
    pub(super) inst: Inst,
    /// The memory operations that its accesses to shared and to global memory count as.
    pub(super) shared: u32,
    pub(super) global: u32,
}

/// What a bulk copy moves.
#[derive(Debug)]
pub(super) enum Bulk {
    /// So many bytes in a row.
    Bytes(Row),
    /// A box of the tensor of a map, at some coordinates; where each element is changed by an atomic, which.
    Box { map: TensorMap, tensor: Described, coordinates: SmallVec<[Row; 5]>, reduces: Option<Rmw> },
}

/// Where it is said how a tensor lies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Described {
    /// In memory at an address.
    At(u64),
    /// By the block, for the map of this number.
    Made(u32),
}

/// What makes a tensor map.
#[derive(Debug)]
pub(super) struct MakeOp {
    pub(super) map: u32,
    pub(super) nan: bool,
    /// Base, extents and strides.
    pub(super) parts: SmallVec<[Row; 8]>,
    pub(super) rank: usize,
}

/// A wait for products.
#[derive(Debug)]
pub(super) struct WaitOp {
    pub(super) pending: u32,
    pub(super) from: SmallVec<[Row; 4]>,
    pub(super) to: SmallVec<[Row; 4]>,
    pub(super) inst: Inst,
}

/// What an atomic does.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomicOp {
    /// What is done to which type; none where mbarriers are touched.
    pub(super) op: Option<(Atomic, DType)>,
    pub(super) order: Order,
    pub(super) scope: Scope,
}

/// A program ready to run.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) ops: Vec<MicroOp>,
    pub(super) moves: Vec<(Row, Row)>,
    pub(super) memory: Vec<MemoryOp>,
    /// The products of warpgroups.
    pub(super) products: Vec<ProductOp>,
    /// One entry for each of `memory`.
    pub(super) accesses: Vec<AccessCount>,
    pub(super) constants: Vec<u64>,
    /// Rows of registers that a warp needs.
    pub(super) rows: u32,
    pub(super) lanes: u32,
    /// What runs on by itself, beside warps (`clock`): none where there are no bulk copies.
    pub(super) agents: u32,
    /// Whether bulk copies write shared memory.
    pub(super) fills: bool,
}

impl Code {
    /// Compiles a program that the verifier passed.
    pub(super) fn new(launch: &Launch<'_>) -> Code {
        let program = launch.program;
        let is_bulk = |op: &Op| matches!(op, Op::BulkCopy(_) | Op::TensorCopy(_) | Op::Mbarrier(_));
        let has_bulk = program.insts.values().any(|inst| is_bulk(&inst.op));
        let fills = |op: &Op| match op {
            Op::BulkCopy(copy) => *copy == BulkCopy::ToShared,
            Op::TensorCopy(copy) => copy.way == TensorWay::ToShared,
            _ => false,
        };
        let offsets = program.offsets();
        let mut live = Liveness {
            program,
            offsets: &offsets,
            position: 0,
            defined: IdMap::with_default(0),
            last: IdMap::with_default(0),
            loops: Vec::new(),
        };
        live.region(&program.body);
        let mut dying: Vec<(u32, Value)> =
            program.values.keys().map(|value| (live.last[value], value)).collect();
        dying.sort_unstable();
        let mut compiler = Compiler {
            launch,
            code: Code {
                ops: Vec::new(),
                moves: Vec::new(),
                memory: Vec::new(),
                products: Vec::new(),
                accesses: Vec::new(),
                constants: Vec::new(),
                rows: OWN_ROWS,
                lanes: 1 << program.lanes_log2,
                agents: if has_bulk { agents(program) } else { 0 },
                fills: program.insts.values().any(|inst| fills(&inst.op)),
            },
            row: IdMap::with_default(NO_ROW),
            offsets,
            free: Vec::new(),
            uniform: FxHashMap::default(),
            lane_row: None,
            dying,
            dead: 0,
            position: 0,
            depth: 0,
            loops: Vec::new(),
        };
        compiler.region(&program.body, None);
        compiler.code
    }
}

const NO_ROW: Row = Row::MAX;

/// Finds the position of each value's last use. Positions count operations in walking order; the end
/// of a region has one too.
struct Liveness<'a> {
    program: &'a Program,
    /// Bases and offsets of addresses: what accesses one is checked against its base.
    offsets: &'a IdMap<Value, Option<[Value; 2]>>,
    position: u32,
    defined: IdMap<Value, u32>,
    last: IdMap<Value, u32>,
    /// The loops around: where each starts, and the values that live to its end.
    loops: Vec<(u32, Vec<Value>)>,
}

impl Liveness<'_> {
    fn define(&mut self, value: Value) {
        self.defined.set(value, self.position);
        let last = self.last.entry(value);
        *last = (*last).max(self.position);
    }

    fn use_(&mut self, value: Value) {
        let last = self.last.entry(value);
        *last = (*last).max(self.position);
        let defined = self.defined[value];
        // The outermost loop that the definition is outside of.
        if let Some((_, extended)) = self.loops.iter_mut().find(|(start, _)| defined < *start) {
            extended.push(value);
        }
    }

    fn region(&mut self, region: &Region) {
        let program = self.program;
        for &id in &region.insts {
            self.position += 1;
            let inst = &program.insts[id];
            for &operand in &inst.operands {
                self.use_(operand);
            }
            let address = inst.memory_operands().map(|roles| roles.address);
            let address = address.or_else(|| inst.operand(Operand::Address(Space::Global)));
            if let Some([base, _]) = address.and_then(|address| self.offsets[address]) {
                self.use_(base);
            }
            for &result in &inst.results {
                self.define(result);
            }
            match (&inst.op, &inst.regions[..]) {
                (Op::Loop, [body]) => {
                    // The parameters are inside, the results outside.
                    self.position += 1;
                    self.loops.push((self.position, Vec::new()));
                    for &param in &body.params {
                        self.define(param);
                    }
                    self.region(body);
                    self.position += 1;
                    let extended = self.loops.pop().map(|(_, values)| values).unwrap_or_default();
                    for &value in extended.iter().chain(&body.params).chain(&inst.results) {
                        let last = self.last.entry(value);
                        *last = (*last).max(self.position);
                    }
                }
                (_, regions) => {
                    for inner in regions {
                        self.region(inner);
                    }
                    if !regions.is_empty() {
                        self.position += 1;
                        for &result in &inst.results {
                            let last = self.last.entry(result);
                            *last = (*last).max(self.position);
                        }
                    }
                }
            }
        }
    }
}

/// A loop being compiled.
struct OpenLoop {
    inst: Inst,
    depth: u32,
    /// Breaks, whose exits are filled in when the loop is closed.
    breaks: Vec<usize>,
}

/// Makes flat code of a program's operations.
pub(super) struct Compiler<'a> {
    launch: &'a Launch<'a>,
    code: Code,
    row: IdMap<Value, Row>,
    /// The same as in [`Liveness`].
    offsets: IdMap<Value, Option<[Value; 2]>>,
    free: Vec<Row>,
    /// Rows of the shared bank that hold one value in all lanes.
    uniform: FxHashMap<u64, Row>,
    lane_row: Option<Row>,
    /// Values by their last use; those before `dead` have given their row back.
    dying: Vec<(u32, Value)>,
    dead: usize,
    /// The same count as in [`Liveness`].
    position: u32,
    depth: u32,
    loops: Vec<OpenLoop>,
}

impl Compiler<'_> {
    /// Goes to the next position and takes back the rows of values without further use.
    fn step(&mut self) {
        self.position += 1;
        while let Some(&(last, value)) = self.dying.get(self.dead)
            && last < self.position
        {
            self.dead += 1;
            let row = self.row[value];
            if row != NO_ROW && row & CONST == 0 && row >= OWN_ROWS * self.code.lanes {
                self.free.push(row);
            }
        }
    }

    fn fresh(&mut self) -> Row {
        self.free.pop().unwrap_or_else(|| {
            self.code.rows += 1;
            (self.code.rows - 1) * self.code.lanes
        })
    }

    fn allocate(&mut self, value: Value) -> Row {
        let row = self.fresh();
        self.row.set(value, row);
        row
    }

    fn uniform(&mut self, bits: u64) -> Row {
        let (constants, lanes) = (&mut self.code.constants, self.code.lanes as usize);
        *self.uniform.entry(bits).or_insert_with(|| {
            constants.extend(core::iter::repeat_n(bits, lanes));
            (constants.len() - lanes) as u32 | CONST
        })
    }

    fn lane_row(&mut self) -> Row {
        let (constants, lanes) = (&mut self.code.constants, self.code.lanes);
        *self.lane_row.get_or_insert_with(|| {
            constants.extend(0..u64::from(lanes));
            (constants.len() - lanes as usize) as u32 | CONST
        })
    }

    fn pc(&self) -> u32 {
        self.code.ops.len() as u32
    }

    fn moves(&mut self, pairs: impl IntoIterator<Item = (Row, Row)>) -> Moves {
        let start = self.code.moves.len() as u32;
        self.code.moves.extend(pairs.into_iter().filter(|(src, dst)| src != dst));
        Moves { start, end: self.code.moves.len() as u32 }
    }

    fn rows(&self, values: &[Value]) -> SmallVec<[Row; 4]> {
        values.iter().map(|&value| self.row[value]).collect()
    }

    /// The row of the operand that is this to an operation, if it has one.
    pub(super) fn operand(&self, inst: &InstData, what: Operand) -> Option<Row> {
        inst.operand(what).map(|value| self.row[value])
    }

    /// The base that an address is behind, if it is given by one.
    pub(super) fn base_of(&self, address: Value) -> Option<Row> {
        self.offsets[address].map(|[base, _]| self.row[base])
    }

    /// Compiles a region; `owner` is the operation that takes what the region hands over.
    fn region(&mut self, region: &Region, owner: Option<&InstData>) {
        let program = self.launch.program;
        for &id in &region.insts {
            self.step();
            let inst = &program.insts[id];
            match &inst.op {
                Op::Yield => {
                    let from = self.rows(&inst.operands);
                    let to = owner.map(|owner| self.rows(&owner.results)).unwrap_or_default();
                    let moves = self.moves(from.into_iter().zip(to));
                    if moves.start < moves.end {
                        self.code.ops.push(MicroOp::Moves(moves));
                    }
                }
                Op::Continue => self.continue_(id, inst, region),
                _ => self.inst(id, inst),
            }
        }
    }

    /// The carried values all change at once: what a parameter gives to another one is put aside
    /// first.
    fn continue_(&mut self, id: Inst, inst: &InstData, region: &Region) {
        let from = self.rows(&inst.operands);
        let to = self.rows(&region.params);
        let mut aside: Vec<(Row, Row)> = Vec::new();
        let pairs: Vec<(Row, Row)> = from
            .iter()
            .zip(&to)
            .map(|(&src, &dst)| {
                if src == dst || !to.contains(&src) {
                    return (src, dst);
                }
                if let Some(&(_, row)) = aside.iter().find(|&&(from, _)| from == src) {
                    return (row, dst);
                }
                let row = self.fresh();
                aside.push((src, row));
                (row, dst)
            })
            .collect();
        self.free.extend(aside.iter().map(|&(_, row)| row));
        let spills = self.moves(aside);
        let moves = self.moves(pairs);
        // The jumps are filled in when the loop is closed.
        self.code.ops.push(MicroOp::BackEdge { spills, moves, start: 0, exit: 0, inst: id });
    }

    fn inst(&mut self, id: Inst, inst: &InstData) {
        let x = |this: &Self, index: usize| this.row[inst.operands[index]];
        match &inst.op {
            Op::Const(bits) => {
                let row = self.uniform(*bits);
                self.row.set(inst.results[0], row);
            }
            Op::Param(index) => {
                let mask = self.launch.program.dtype(inst.results[0]).mask();
                let bits = self.launch.args.get(*index as usize).copied().unwrap_or(0) & mask;
                let row = self.uniform(bits);
                self.row.set(inst.results[0], row);
            }
            Op::SharedBase(piece) => {
                let row = self.uniform(u64::from(self.launch.program.shared[*piece].offset));
                self.row.set(inst.results[0], row);
            }
            Op::Id(kind) => {
                let lanes = self.code.lanes;
                let row = match *kind {
                    IdKind::Lane => self.lane_row(),
                    IdKind::Warp => 0,
                    IdKind::Thread => 4 * lanes,
                    IdKind::Block(axis @ 0..3) => (1 + u32::from(axis)) * lanes,
                    IdKind::Block(_) => self.uniform(0),
                    IdKind::Blocks(axis) => {
                        let count = self.launch.grid.get(usize::from(axis)).copied().unwrap_or(1);
                        self.uniform(u64::from(count))
                    }
                };
                self.row.set(inst.results[0], row);
            }
            Op::Linear { .. }
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::Select
            | Op::Cast(_)
            | Op::Fma
            | Op::FmaToward(_)
            | Op::RoundPair(_)
            | Op::WidenPair(_)
            | Op::Offset
            | Op::Bytes => self.compute(inst),
            Op::Load { .. } | Op::Store { .. } | Op::Atomic(_) => self.memory(id, inst),
            Op::AsyncCopy(op) => self.async_copy(id, inst, *op),
            Op::ShuffleXor { mask } => {
                let x = x(self, 0);
                let dst = self.allocate(inst.results[0]);
                self.act(Act::ShuffleXor { mask: *mask, x, dst, inst: id });
            }
            Op::ShuffleIndex => {
                let (x, lane) = (x(self, 0), x(self, 1));
                let dst = self.allocate(inst.results[0]);
                self.act(Act::ShuffleIndex { x, lane, dst, inst: id });
            }
            Op::MatrixMultiply(multiply) => {
                let [left, right, _] = multiply.words();
                let (factors, sum) = inst.operands.split_at(left.count + right.count);
                let (a, b) = factors.split_at(left.count);
                let operands = [self.rows(a), self.rows(b), self.rows(sum)];
                let results = inst.results.iter().map(|&result| self.allocate(result)).collect();
                let op = MultiplyOp { multiply: *multiply, operands, results, inst: id };
                self.act(Act::MatrixMultiply(Box::new(op)));
            }
            Op::ScaledMultiply(multiply) => {
                let [left, right, _] = multiply.words();
                let (factors, rest) = inst.operands.split_at(left.count + right.count);
                let (a, b) = factors.split_at(left.count);
                let (scales, sum) = rest.split_at(2);
                let operands = [self.rows(a), self.rows(b), self.rows(sum)];
                let scales = self.rows(scales);
                let scales = [scales[0], scales[1]];
                let results = inst.results.iter().map(|&result| self.allocate(result)).collect();
                let op = ScaledOp { multiply: *multiply, operands, scales, results, inst: id };
                self.act(Act::ScaledMultiply(Box::new(op)));
            }
            Op::Warpgroup(op) => self.warpgroup(id, inst, *op),
            Op::Sync(op) => self.sync(id, *op),
            Op::Mbarrier(op) => self.mbarrier(id, inst, *op),
            Op::BulkCopy(copy) => self.bulk_copy(id, inst, *copy),
            Op::TensorCopy(copy) => self.tensor_copy(id, inst, *copy),
            Op::MakeMap(make) => self.make_map(inst, *make),
            Op::Roles(roles) => self.roles(inst, roles),
            Op::Print(format) => {
                let predicate = x(self, 0);
                let values = self.rows(&inst.operands[1..]);
                self.act(Act::Print { format: format.clone(), predicate, values });
            }
            Op::Assert { message } => {
                let condition = x(self, 0);
                self.act(Act::Assert { message: message.clone(), condition, inst: id });
            }
            Op::If => self.if_(inst),
            Op::Loop => self.loop_(id, inst),
            Op::BreakIf { target } => {
                let condition = x(self, 0);
                let from = self.rows(&inst.operands[1..]);
                let to = self.rows(&self.launch.program.insts[*target].results);
                let moves = self.moves(from.into_iter().zip(to));
                let at = self.code.ops.len();
                if let Some(owner) = self.loops.iter_mut().find(|open| open.inst == *target) {
                    owner.breaks.push(at);
                    let depth = owner.depth;
                    let op = MicroOp::BreakIf { condition, moves, exit: 0, depth, inst: id };
                    self.code.ops.push(op);
                }
            }
            Op::Return => self.code.ops.push(MicroOp::Return),
            // Compiled where their region is; assembly was refused.
            Op::Continue | Op::Yield | Op::InlineAsm { .. } => {}
        }
    }

    fn sync(&mut self, id: Inst, op: SyncOp) {
        match op {
            SyncOp::Barrier(BarrierScope::Warp) => self.act(Act::WarpBarrier { inst: id }),
            SyncOp::Barrier(BarrierScope::Block) => {
                self.code.ops.push(MicroOp::BlockBarrier { inst: id });
            }
            SyncOp::Named(barrier) => {
                self.code.ops.push(MicroOp::NamedBarrier { barrier, inst: id });
            }
            SyncOp::Fence { order, scope } => self.act(Act::Fence { order, scope }),
            SyncOp::ProxyFence => self.act(Act::ProxyFence),
            // A run is of one grid.
            SyncOp::GridWait | SyncOp::GridLaunch => {}
        }
    }

    /// Adds what a warp does.
    pub(super) fn act(&mut self, act: Act) {
        self.code.ops.push(MicroOp::Act(act));
    }

    /// What each lane computes by itself.
    fn compute(&mut self, inst: &InstData) {
        let rows: SmallVec<[Row; 4]> = self.rows(&inst.operands);
        let [from, to] =
            [inst.operands[0], inst.results[0]].map(|value| self.launch.program.dtype(value));
        let dst = self.allocate(inst.results[0]);
        let compute = Compute::of(&inst.op, from, to, &rows, dst);
        self.code.ops.extend(compute.map(MicroOp::Compute));
    }

    fn if_(&mut self, inst: &InstData) {
        let condition = self.row[inst.operands[0]];
        for &result in &inst.results {
            self.allocate(result);
        }
        let head = self.code.ops.len();
        self.code.ops.push(MicroOp::If { condition, otherwise: 0 });
        self.depth += 1;
        if let Some(then) = inst.regions.first() {
            self.region(then, Some(inst));
        }
        let middle = self.code.ops.len();
        self.code.ops.push(MicroOp::Else { end: 0 });
        if let Some(otherwise) = inst.regions.get(1) {
            self.region(otherwise, Some(inst));
        }
        let end = self.pc();
        self.code.ops.push(MicroOp::EndIf);
        self.depth -= 1;
        self.step();
        self.code.ops[head] = MicroOp::If { condition, otherwise: middle as u32 + 1 };
        self.code.ops[middle] = MicroOp::Else { end };
    }

    fn roles(&mut self, inst: &InstData, roles: &[Role]) {
        let mut ends = Vec::new();
        for (role, body) in roles.iter().zip(&inst.regions) {
            let Role { first, warps, registers: _ } = *role;
            let head = self.code.ops.len();
            self.code.ops.push(MicroOp::Role { first, warps, otherwise: 0 });
            self.region(body, None);
            ends.push(self.code.ops.len());
            self.code.ops.push(MicroOp::Jump(0));
            let otherwise = self.pc();
            self.code.ops[head] = MicroOp::Role { first, warps, otherwise };
        }
        let end = self.pc();
        for at in ends {
            self.code.ops[at] = MicroOp::Jump(end);
        }
        // As liveness counts the end of what owns regions.
        if !inst.regions.is_empty() {
            self.step();
        }
    }

    fn loop_(&mut self, id: Inst, inst: &InstData) {
        let inits = self.rows(&inst.operands);
        for &result in &inst.results {
            self.allocate(result);
        }
        let Some(body) = inst.regions.first() else { return };
        let params: SmallVec<[Row; 4]> =
            body.params.iter().map(|&param| self.allocate(param)).collect();
        self.step();
        let moves = self.moves(inits.into_iter().zip(params));
        self.code.ops.push(MicroOp::Moves(moves));
        let enter = self.code.ops.len();
        self.code.ops.push(MicroOp::EnterLoop { exit: 0 });
        self.loops.push(OpenLoop { inst: id, depth: self.depth, breaks: Vec::new() });
        self.depth += 1;
        self.region(body, None);
        let end = self.pc();
        self.code.ops.push(MicroOp::ExitLoop);
        self.depth -= 1;
        self.step();
        let breaks = self.loops.pop().map(|open| open.breaks).unwrap_or_default();
        if let MicroOp::EnterLoop { exit } = &mut self.code.ops[enter] {
            *exit = end;
        }
        for at in breaks {
            if let MicroOp::BreakIf { exit, .. } = &mut self.code.ops[at] {
                *exit = end;
            }
        }
        if let Some(MicroOp::BackEdge { start, exit, .. }) =
            self.code.ops.get_mut((end as usize).wrapping_sub(1))
        {
            *start = enter as u32 + 1;
            *exit = end;
        }
    }
}
