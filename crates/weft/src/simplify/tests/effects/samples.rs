//! One operation of each row of the table, and what it takes.

use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::dtype::DType;
use crate::format::Format;
use crate::lane::{
    Access, AsyncCopy, AtomicAccess, BarrierScope, Builder, BulkCopy, Form, Fragments, IdKind,
    MakeMap, Matrix, MatrixMultiply, Mbarrier, NamedBarrier, Op, Param, Role, ScaledMultiply,
    ScaledNumber, Space, SyncOp, TensorCopy, TensorMap, TensorWay, Value, WarpgroupMultiply,
    WarpgroupOp,
};
use crate::location::Loc;
use crate::scalar::{Binary, Cast, Compare, Rounding, Unary};
use crate::simplify::tests::double_buffer::place;
use smallvec::{SmallVec, smallvec};

/// One operation of each row, by name.
pub(super) fn samples() -> Vec<(&'static str, Op)> {
    let mut build = Builder::new("samples", 1, 5);
    let piece = build.shared(4, 4, BarrierScope::Block);
    let target = build.new_loop(&[], &[]);
    // An argument that nothing else has.
    let map = 9;
    let access = Access::default();
    let volatile = Access { volatile: true, ..access };
    let form = Form::Matrix(Matrix { element_bits: 16, rows: 8, transposed: false });
    let matrix = Access { form, ..access };
    let rmw = |space, order| {
        let (op, scope, predicated) = (Rmw::Add, Scope::Gpu, false);
        Op::Atomic(AtomicAccess { space, op: op.into(), order, scope, predicated })
    };
    let multiply = MatrixMultiply {
        fragments: Fragments::Mma,
        rows: 16,
        columns: 8,
        summed: 8,
        left: DType::F16,
        right: DType::F16,
        sum: DType::F32,
    };
    let scaled = ScaledMultiply {
        side: 16,
        left: ScaledNumber::E2M1,
        right: ScaledNumber::E4M3,
        bytes: [0, 1],
    };
    let product = WarpgroupMultiply {
        columns: 8,
        summed: 16,
        left: DType::F16,
        right: DType::F16,
        sum: DType::F32,
        left_in_registers: false,
        transposed: [false; 2],
        keeps: false,
    };
    let (global, shared) = (Space::Global, Space::Shared);
    let asm = |pure| Op::InlineAsm { text: "mov.b32 $0, $1;".into(), pure };
    vec![
        ("const", Op::Const(7)),
        ("param", Op::Param(0)),
        ("id", Op::Id(IdKind::Lane)),
        ("shared base", Op::SharedBase(piece)),
        ("linear", Op::Linear { columns: vec![3] }),
        ("unary", Op::Unary(Unary::Not)),
        ("binary", Op::Binary(Binary::DivS)),
        ("compare", Op::Compare(Compare::Slt)),
        ("select", Op::Select),
        ("cast", Op::Cast(Cast::ExtU)),
        ("fma", Op::Fma),
        ("fma toward", Op::FmaToward(Rounding::Up)),
        ("round pair", Op::RoundPair(DType::F8E5M2)),
        ("widen pair", Op::WidenPair(DType::F8E5M2)),
        ("bytes", Op::Bytes),
        ("offset", Op::Offset),
        ("load global", Op::Load { space: global, access }),
        ("load global volatile", Op::Load { space: global, access: volatile }),
        ("load shared", Op::Load { space: shared, access }),
        ("load shared volatile", Op::Load { space: shared, access: volatile }),
        ("load matrix", Op::Load { space: shared, access: matrix }),
        ("store global", Op::Store { space: global, access }),
        ("store global volatile", Op::Store { space: global, access: volatile }),
        ("store shared", Op::Store { space: shared, access }),
        ("store shared volatile", Op::Store { space: shared, access: volatile }),
        ("store matrix", Op::Store { space: shared, access: matrix }),
        ("rmw global relaxed", rmw(global, Order::Relaxed)),
        ("rmw global acquire", rmw(global, Order::Acquire)),
        ("rmw global release", rmw(global, Order::Release)),
        ("rmw shared relaxed", rmw(shared, Order::Relaxed)),
        ("rmw shared acq_rel", rmw(shared, Order::AcqRel)),
        (
            "cas global",
            Op::Atomic(AtomicAccess {
                op: Atomic::Cas,
                space: global,
                order: Order::AcqRel,
                scope: Scope::System,
                predicated: false,
            }),
        ),
        (
            "copy",
            Op::AsyncCopy(AsyncCopy::Begin {
                bytes: 4,
                offset: 0,
                run: false,
                predicated: false,
                filled: false,
            }),
        ),
        ("commit", Op::AsyncCopy(AsyncCopy::Commit)),
        ("wait", Op::AsyncCopy(AsyncCopy::Wait { pending: 0, copies: None })),
        ("wait for older", Op::AsyncCopy(AsyncCopy::Wait { pending: 1, copies: None })),
        ("shuffle xor", Op::ShuffleXor { mask: 1 }),
        ("shuffle index", Op::ShuffleIndex),
        ("multiply", Op::MatrixMultiply(multiply)),
        ("multiply scaled", Op::ScaledMultiply(scaled)),
        ("product", Op::Warpgroup(WarpgroupOp::Multiply(product))),
        ("product fence", Op::Warpgroup(WarpgroupOp::Fence)),
        ("product commit", Op::Warpgroup(WarpgroupOp::Commit)),
        ("product wait", Op::Warpgroup(WarpgroupOp::Wait { pending: 0 })),
        ("product wait for older", Op::Warpgroup(WarpgroupOp::Wait { pending: 1 })),
        ("fence", Op::Sync(SyncOp::Fence { order: Order::AcqRel, scope: Scope::Gpu })),
        ("proxy fence", Op::Sync(SyncOp::ProxyFence)),
        ("grid wait", Op::Sync(SyncOp::GridWait)),
        ("grid launch", Op::Sync(SyncOp::GridLaunch)),
        ("named barrier", Op::Sync(SyncOp::Named(NamedBarrier { name: 1, warps: 2, waits: true }))),
        (
            "named arrival",
            Op::Sync(SyncOp::Named(NamedBarrier { name: 1, warps: 2, waits: false })),
        ),
        ("mbarrier initialise", Op::Mbarrier(Mbarrier::Initialise { arrivals: 1 })),
        ("mbarrier arrive", Op::Mbarrier(Mbarrier::Arrive)),
        ("mbarrier expect", Op::Mbarrier(Mbarrier::Expect)),
        ("mbarrier wait", Op::Mbarrier(Mbarrier::Wait)),
        ("mbarrier invalidate", Op::Mbarrier(Mbarrier::Invalidate)),
        ("bulk copy to shared", Op::BulkCopy(BulkCopy::ToShared)),
        ("bulk copy to global", Op::BulkCopy(BulkCopy::ToGlobal)),
        ("tensor copy to shared", Op::TensorCopy(TensorCopy { map, way: TensorWay::ToShared })),
        ("tensor copy to global", Op::TensorCopy(TensorCopy { map, way: TensorWay::ToGlobal })),
        ("tensor sum", Op::TensorCopy(TensorCopy { map, way: TensorWay::Reduce(Rmw::FAdd) })),
        ("make map", Op::MakeMap(MakeMap { map, nan: false })),
        ("bulk commit", Op::BulkCopy(BulkCopy::Commit)),
        ("bulk wait", Op::BulkCopy(BulkCopy::Wait { pending: 0, reads: false })),
        ("bulk wait for reads", Op::BulkCopy(BulkCopy::Wait { pending: 0, reads: true })),
        ("bulk wait for older", Op::BulkCopy(BulkCopy::Wait { pending: 1, reads: true })),
        ("barrier warp", Op::Sync(SyncOp::Barrier(BarrierScope::Warp))),
        ("barrier block", Op::Sync(SyncOp::Barrier(BarrierScope::Block))),
        ("asm pure", asm(true)),
        ("asm", asm(false)),
        ("print", Op::Print(Box::new(Format(Vec::new())))),
        ("assert", Op::Assert { message: "holds".into() }),
        ("if", Op::If),
        ("roles", Op::Roles(vec![Role { first: 0, warps: 1, registers: None }])),
        ("loop", Op::Loop),
        ("break if", Op::BreakIf { target }),
        ("continue", Op::Continue),
        ("yield", Op::Yield),
        ("return", Op::Return),
    ]
}

/// Where a sample touches memory.
#[derive(Clone, Copy)]
pub(super) struct At {
    /// The base of a piece of shared memory.
    pub(super) base: Value,
    /// An address in global memory.
    pub(super) global: Value,
}

/// Writes a sample at a place in the source, behind what its operands take. What needs an owner comes in one.
pub(super) fn write(build: &mut Builder, op: &Op, at: At, loc: Loc) -> SmallVec<[Value; 2]> {
    let lane = build.id(IdKind::Lane);
    let warp = build.id(IdKind::Warp);
    let three = build.i32(3);
    let holds = build.compare(Compare::Sge, lane, warp);
    let single = build.cast(Cast::Bits, lane, DType::F32);
    let half = build.cast(Cast::Trunc, lane, DType::I16);
    let address = |build: &mut Builder, space: Space, form: Form| match (space, form) {
        (Space::Global, _) => at.global,
        (Space::Shared, Form::Vector) => place(build, at.base, false),
        (Space::Shared, Form::Matrix(_)) => {
            let (seven, four) = (build.i32(7), build.i32(4));
            let row = build.binary(Binary::And, lane, seven);
            let offset = build.binary(Binary::Shl, row, four);
            build.binary(Binary::Add, at.base, offset)
        }
    };
    let words = [DType::I32];
    let (operands, results): (SmallVec<[Value; 4]>, &[DType]) = match op {
        Op::Param(_) => (smallvec![], &[DType::I64]),
        Op::Const(_) | Op::Id(_) | Op::SharedBase(_) => (smallvec![], &words),
        Op::Linear { .. } | Op::Unary(_) => (smallvec![lane], &words),
        Op::Binary(_) => (smallvec![lane, three], &words),
        Op::Compare(_) => (smallvec![lane, three], &[DType::I1]),
        Op::Select => (smallvec![holds, lane, three], &words),
        Op::Cast(_) => (smallvec![lane], &[DType::I64]),
        Op::Fma | Op::FmaToward(_) => (smallvec![single, single, single], &[DType::F32]),
        Op::RoundPair(_) => (smallvec![single, single], &[DType::I16]),
        Op::WidenPair(_) => (smallvec![half], &[DType::I32]),
        Op::Bytes => (smallvec![lane, warp, three], &words),
        Op::Offset => (smallvec![at.global, lane], &[DType::I64]),
        Op::Load { space, access } => (smallvec![address(build, *space, access.form)], &words),
        Op::Store { space, access } => (smallvec![address(build, *space, access.form), lane], &[]),
        Op::Atomic(AtomicAccess { op: Atomic::Cas, space, .. }) => {
            // What memory holds where a machine runs it.
            let held = build.i32(0x0101_0101);
            (smallvec![address(build, *space, Form::Vector), held, lane], &words)
        }
        Op::Atomic(AtomicAccess { space, .. }) => {
            (smallvec![address(build, *space, Form::Vector), three], &words)
        }
        Op::AsyncCopy(AsyncCopy::Begin { .. }) => {
            (smallvec![address(build, Space::Shared, Form::Vector), at.global], &[])
        }
        Op::AsyncCopy(AsyncCopy::Commit | AsyncCopy::Wait { .. }) | Op::Sync(_) => {
            (smallvec![], &[])
        }
        Op::ShuffleXor { .. } => (smallvec![lane], &words),
        Op::ShuffleIndex => (smallvec![lane, warp], &words),
        Op::MatrixMultiply(multiply) => {
            let zero = build.constant(DType::F32, 0);
            let [left, right, sum] = multiply.words();
            let mut operands: SmallVec<[Value; 4]> = smallvec![lane; left.count + right.count];
            operands.extend(core::iter::repeat_n(zero, sum.count));
            (operands, &[DType::F32; 4])
        }
        Op::ScaledMultiply(multiply) => {
            let zero = build.constant(DType::F32, 0);
            let [left, right, sum] = multiply.words();
            let mut operands: SmallVec<[Value; 4]> = smallvec![lane; left.count + right.count + 2];
            operands.extend(core::iter::repeat_n(zero, sum.count));
            (operands, &[DType::F32; 4])
        }
        Op::Warpgroup(WarpgroupOp::Multiply(product)) => {
            let address = place(build, at.base, false);
            let descriptor = build.cast(Cast::ExtU, address, DType::I64);
            let zero = build.constant(DType::F32, 0);
            let mut operands: SmallVec<[Value; 4]> = smallvec![descriptor; 2];
            operands.extend(product.accumulators().map(|_| zero));
            build.set_loc(loc);
            // What is in flight may not be used.
            build.emit(op.clone(), operands, &[DType::F32; 4]);
            return SmallVec::new();
        }
        Op::Warpgroup(WarpgroupOp::Fence | WarpgroupOp::Commit | WarpgroupOp::Wait { .. }) => {
            (smallvec![], &[])
        }
        Op::BulkCopy(BulkCopy::Commit | BulkCopy::Wait { .. }) => (smallvec![], &[]),
        Op::Mbarrier(op) => {
            let address = place(build, at.base, false);
            let mut operands: SmallVec<[Value; 4]> = smallvec![address];
            match op {
                Mbarrier::Expect => operands.push(three),
                Mbarrier::Wait => operands.push(holds),
                Mbarrier::Initialise { .. } | Mbarrier::Arrive | Mbarrier::Invalidate => {}
            }
            (operands, &[])
        }
        Op::BulkCopy(copy) => {
            let shared = address(build, Space::Shared, Form::Vector);
            let mut operands: SmallVec<[Value; 4]> = smallvec![shared, at.global, three];
            if *copy == BulkCopy::ToShared {
                operands.push(at.base);
            }
            (operands, &[])
        }
        Op::TensorCopy(TensorCopy { map, way }) => {
            let sides: SmallVec<[u32; 5]> = smallvec![4, 2];
            let boxes = TensorMap { element: DType::F32, sides, span: 16, made: false };
            while build.program().params.len() <= *map as usize {
                let (name, dtype) = ("map".into(), DType::I64);
                build.declare_param(Param { name, dtype, pointee: None, divisibility: 1 });
            }
            build.set_maps([(*map, boxes)].into());
            let shared = address(build, Space::Shared, Form::Vector);
            let mut operands: SmallVec<[Value; 4]> = smallvec![shared, lane, three];
            if *way == TensorWay::ToShared {
                operands.push(at.base);
            }
            (operands, &[])
        }
        Op::MakeMap(MakeMap { map, nan: _ }) => {
            let sides: SmallVec<[u32; 5]> = smallvec![4];
            let boxes = TensorMap { element: DType::F32, sides, span: 16, made: true };
            while build.program().params.len() <= *map as usize {
                let (name, dtype) = ("map".into(), DType::I64);
                build.declare_param(Param { name, dtype, pointee: None, divisibility: 1 });
            }
            build.set_maps([(*map, boxes)].into());
            let shared = address(build, Space::Shared, Form::Vector);
            (smallvec![shared, at.global, three], &[])
        }
        Op::InlineAsm { .. } => (smallvec![lane], &words),
        Op::Print(_) | Op::Assert { .. } => (smallvec![holds], &[]),
        Op::If | Op::Yield => {
            build.set_loc(loc);
            build.open_region(&[]);
            let then = build.close_region(Op::Yield, &[]);
            build.open_region(&[]);
            let otherwise = build.close_region(Op::Yield, &[]);
            return build.if_(holds, then, otherwise, &[]);
        }
        Op::Roles(roles) => {
            build.set_loc(loc);
            build.open_region(&[]);
            let role = build.close_region(Op::Yield, &[]);
            build.roles(roles.clone(), vec![role]);
            return SmallVec::new();
        }
        Op::Loop | Op::BreakIf { .. } | Op::Continue | Op::Return => {
            let done = build.constant(DType::I1, 1);
            build.set_loc(loc);
            let target = build.new_loop(&[], &[]);
            build.open_region(&[]);
            build.break_if(target, done, &[]);
            let body = build.close_region(Op::Continue, &[]);
            return build.place_loop(target, body);
        }
    };
    build.set_loc(loc);
    build.emit(op.clone(), operands, results)
}
