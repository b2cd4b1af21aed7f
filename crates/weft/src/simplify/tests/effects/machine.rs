//! The table against the simulator, which knows operations by itself: which memory each one reads and writes,
//! and which threads must execute it together.

use super::samples::{At, write};
use crate::dtype::DType;
use crate::lane::effects::{Participants, Spaces};
use crate::lane::{
    Access, AsyncCopy, BarrierScope, Builder, IdKind, Op, Param, Program, ScaledMultiply, Space,
    SyncOp, Value,
};
use crate::location::Locations;
use crate::memory::{Buffer, Memory};
use crate::scalar::{Binary, Compare};
use crate::sim::{self, FindingKind, Launch, Machine, Options, Report};
use crate::simplify::tests::double_buffer::place;
use core::fmt::Debug;
use smallvec::smallvec;

const THREADS: usize = 64;

/// Whether the simulator runs an operation by itself: not what it refuses, what needs others beside it, nor what
/// only changes control.
fn runs(op: &Op) -> bool {
    !matches!(
        op,
        Op::InlineAsm { .. }
            | Op::Warpgroup(_)
            | Op::Sync(SyncOp::ProxyFence | SyncOp::Named(_))
            | Op::Mbarrier(_)
            | Op::BulkCopy(_)
            | Op::TensorCopy(_)
            | Op::MakeMap(_)
            | Op::Roles(_)
            | Op::If
            | Op::Loop
            | Op::BreakIf { .. }
            | Op::Continue
            | Op::Yield
            | Op::Return
    )
}

fn pointer(build: &mut Builder, name: &str) -> Value {
    let (name, pointee) = (name.into(), Some(DType::I32));
    build.param(Param { name, dtype: DType::I64, pointee, divisibility: 16 })
}

/// A program of as many threads, in warps of those lanes that the operation asks for.
fn builder(name: &str, op: &Op) -> Builder {
    match op {
        Op::ScaledMultiply(_) => Builder::new(name, 1, ScaledMultiply::LANES_LOG2),
        _ => Builder::new(name, 2, 5),
    }
}

/// The place of a thread in a buffer.
fn place_in(build: &mut Builder, buffer: Value) -> Value {
    let zero = build.i32(0);
    let offset = place(build, zero, false);
    let offset = build.cast(crate::scalar::Cast::ExtU, offset, DType::I64);
    build.binary(Binary::Add, buffer, offset)
}

/// Puts a number into shared memory, runs the operation there, and stores its results and what shared memory
/// holds then.
fn around(op: &Op) -> Program {
    let mut build = builder("around", op);
    let [data, results, left] = ["data", "results", "left"].map(|name| pointer(&mut build, name));
    let number = Param { name: "number".into(), dtype: DType::I32, pointee: None, divisibility: 1 };
    let number = build.param(number);
    let piece = build.shared(4 * THREADS as u32, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let own = place(&mut build, base, false);
    let access = Access::default();
    build.store(Space::Shared, access, own, None, &[number]);
    build.barrier(BarrierScope::Block);
    let copied = place_in(&mut build, data);
    if let Op::AsyncCopy(AsyncCopy::Wait { .. }) = op {
        // What it waits for is under way.
        let copy = Op::AsyncCopy(AsyncCopy::Begin {
            bytes: 4,
            offset: 0,
            run: false,
            predicated: false,
            filled: false,
        });
        build.emit(copy, smallvec![own, copied], &[]);
        build.emit(Op::AsyncCopy(AsyncCopy::Commit), smallvec![], &[]);
    }
    let at = At { base, global: copied };
    let given = write(&mut build, op, at, Locations::unknown());
    build.emit(Op::AsyncCopy(AsyncCopy::Commit), smallvec![], &[]);
    build.emit(Op::AsyncCopy(AsyncCopy::Wait { pending: 0, copies: None }), smallvec![], &[]);
    build.barrier(BarrierScope::Block);
    let to = place_in(&mut build, left);
    let held = build.load(Space::Shared, access, DType::I32, 1, own, None);
    build.store(Space::Global, access, to, None, &held);
    if let Some(&first) = given.first()
        && build.dtype(first) == DType::I32
    {
        let to = place_in(&mut build, results);
        build.store(Space::Global, access, to, None, &[first]);
    }
    build.finish()
}

/// Runs a program on its own buffers; gives what they hold in the end.
fn ran(program: &Program, data: u8, number: u64) -> (Report, [Vec<u8>; 3]) {
    let mut memory = Memory::default();
    let args = ["data", "results", "left"].map(|name| {
        let bytes = vec![if name == "data" { data } else { 0 }; 4 * THREADS];
        memory.push(Buffer { name: name.into(), bytes, dtype: DType::I32, initialised: true })
    });
    let args: Vec<u64> = args.into_iter().chain([number]).take(program.params.len()).collect();
    let (machine, options) = (Machine::nvidia(), Options::default());
    let launch = Launch { program, grid: [1, 1, 1], args: &args, machine: &machine, options };
    let report = sim::run(&launch, &mut memory).unwrap();
    (report, [0, 1, 2].map(|buffer| memory.buffers()[buffer].bytes.clone()))
}

/// The spaces that an operation reads and writes, as the simulator runs it.
fn touched(op: &Op) -> (Spaces, Spaces) {
    let program = around(op);
    let [(_, one), (_, other), (_, third)] =
        [(1, 5), (2, 5), (1, 6)].map(|(data, number)| ran(&program, data, number));
    let holds = |bytes: &[u8], byte: u8| bytes.iter().all(|&found| found == byte);
    let number =
        |bytes: &[u8], number: u32| bytes.chunks_exact(4).all(|word| word == number.to_le_bytes());
    let (mut reads, mut writes) = (Spaces::NONE, Spaces::NONE);
    // What depends on data in global memory, apart from the data itself.
    if one[1] != other[1] || one[2] != other[2] {
        reads = reads | Spaces::GLOBAL;
    }
    if !holds(&one[0], 1) {
        writes = writes | Spaces::GLOBAL;
    }
    if one[0] != third[0] || one[1] != third[1] {
        reads = reads | Spaces::SHARED;
    }
    if !number(&one[2], 5) {
        writes = writes | Spaces::SHARED;
    }
    (reads, writes)
}

/// What the simulator says of an operation where only some threads come to it.
fn parted(op: &Op, kind: IdKind, below: i32) -> Report {
    let mut build = builder("parted", op);
    let data = pointer(&mut build, "data");
    let piece = build.shared(4 * THREADS as u32, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let own = place(&mut build, base, false);
    let zero = build.i32(0);
    build.store(Space::Shared, Access::default(), own, None, &[zero]);
    build.barrier(BarrierScope::Block);
    let global = place_in(&mut build, data);
    let (id, bound) = (build.id(kind), build.i32(below));
    let some = build.compare(Compare::Slt, id, bound);
    build.open_region(&[]);
    write(&mut build, op, At { base, global }, Locations::unknown());
    let then = build.close_region(Op::Yield, &[]);
    build.open_region(&[]);
    let otherwise = build.close_region(Op::Yield, &[]);
    build.if_(some, then, otherwise, &[]);
    ran(&build.finish(), 1, 0).0
}

/// Whether the row of an operation says what the simulator does.
pub(super) fn agreements(op: &Op) -> Vec<(&'static str, String)> {
    if !runs(op) {
        return Vec::new();
    }
    let effects = op.effects();
    let (reads, writes) = touched(op);
    let lanes = parted(op, IdKind::Lane, 16);
    let together = lanes.findings.iter().any(|finding| finding.kind == FindingKind::Divergence);
    let warps = parted(op, IdKind::Warp, 1);
    let all = !warps.finished || !warps.findings.is_empty();
    let convergent = match (together, all) {
        (false, false) => None,
        (true, false) => Some(Participants::Warp),
        _ => Some(Participants::Block),
    };
    // A copy's wait is held against the copy, which it makes seen.
    let waits = matches!(op, Op::AsyncCopy(AsyncCopy::Wait { .. }));
    let reads = if waits { Spaces::NONE } else { reads };
    let agrees = |own: &dyn Debug, found: &dyn Debug| {
        let (own, found) = (format!("{own:?}"), format!("{found:?}"));
        if own == found { "ok".into() } else { found }
    };
    vec![
        ("reads", agrees(&effects.reads, &reads)),
        ("writes", agrees(&effects.writes, &writes)),
        ("convergent", agrees(&effects.convergent, &convergent)),
    ]
}
