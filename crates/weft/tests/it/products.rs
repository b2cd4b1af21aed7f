//! Factors of matrix instructions: how they arrive.

use expect_test::expect;
use weft::compile::{self, Compiled, Options};
use weft::lane::{Op, Space, SyncOp};
use weft::tile::{Kernel, OpKind, Value};
use weft::ttir;
use weft_layout::machine::Machine;
use weft_layout::step::{Form, Step, Strategy};

fn compiled(name: &str, target: &str, stages: u32) -> (Kernel, Compiled) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels");
    let text = std::fs::read_to_string(format!("{folder}/{name}.ttir")).unwrap();
    let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
    let machine = Machine::by_name(target).unwrap();
    let kernel = module.kernels[0].clone();
    let options = Options { stages, ..Options::for_machine(machine) };
    let compiled = compile::compile(&module, &kernel, &options).unwrap();
    (kernel, compiled)
}

/// The factors of the products, in order.
fn factors(kernel: &Kernel) -> Vec<[Value; 2]> {
    let mut factors = Vec::new();
    kernel.walk(&kernel.body, &mut |_, op| {
        if matches!(op.kind, OpKind::Dot(_)) {
            factors.push([op.operands[0], op.operands[1]]);
        }
    });
    factors
}

/// A sum of f16 weights is the left factor of the next product as it is; one of bytes but for the
/// order of registers, since the summed index of both factors is renamed.
#[test]
fn a_product_hands_its_sums_to_the_next_without_shared_memory() {
    for (name, target) in
        [("attention_f16", "sm_80"), ("attention_f16", "sm_90"), ("attention_f8", "sm_89")]
    {
        let (kernel, compiled) = compiled(name, target, 1);
        let [_, [weights, _]] = factors(&kernel)[..] else { panic!("two products") };
        let moved = compiled.movements.iter().filter(|movement| movement.value == weights);
        for movement in moved {
            let plan = &movement.plan;
            assert_eq!(plan.scratch_bytes, 0, "{name} {target}");
            assert!(
                plan.steps.iter().all(|step| matches!(step, Step::Permute { .. })),
                "{name} {target}: {:?}",
                plan.strategy
            );
            assert!(
                matches!(plan.strategy, Strategy::Registers | Strategy::Nothing),
                "{:?}",
                plan.strategy
            );
        }
    }
}

/// Wavefronts and instructions of the movement of each factor from the load's layout, where no load runs
/// ahead.
fn arrivals(name: &str, target: &str) -> Vec<(u64, usize, usize)> {
    let (kernel, compiled) = compiled(name, target, 1);
    let mut arrivals = Vec::new();
    for value in factors(&kernel).concat() {
        for movement in compiled.movements.iter().filter(|movement| movement.value == value) {
            let accesses = movement.plan.steps.iter().filter_map(|step| match step {
                Step::Access(access) => Some(access),
                _ => None,
            });
            let (mut matrices, mut plain) = (0, 0);
            for access in accesses {
                match access.form {
                    Form::Matrix(_) => matrices += access.groups.len(),
                    Form::Vector => plain += access.groups.len(),
                }
            }
            arrivals.push((movement.plan.cost.wavefronts, matrices, plain));
        }
    }
    arrivals
}

#[test]
fn factors_are_loaded_as_matrices() {
    let mut text = String::new();
    for name in ["matmul_f16", "matmul_bf16", "matmul_tf32", "matmul_i8", "matmul_f8", "matmul_f64"]
    {
        for (side, (wavefronts, matrices, plain)) in arrivals(name, "sm_80").iter().enumerate() {
            let side = ["left", "right"][side];
            let line = format!(
                "{name} {side}: {wavefronts} wavefronts, {matrices} moves of matrices, {plain} others\n"
            );
            text.push_str(&line);
        }
    }
    expect![[r#"
        matmul_f16 left: 24 wavefronts, 4 moves of matrices, 2 others
        matmul_f16 right: 24 wavefronts, 4 moves of matrices, 2 others
        matmul_bf16 left: 32 wavefronts, 4 moves of matrices, 4 others
        matmul_bf16 right: 40 wavefronts, 8 moves of matrices, 2 others
        matmul_tf32 left: 24 wavefronts, 4 moves of matrices, 2 others
        matmul_tf32 right: 48 wavefronts, 0 moves of matrices, 12 others
        matmul_i8 left: 40 wavefronts, 8 moves of matrices, 2 others
        matmul_i8 right: 0 wavefronts, 0 moves of matrices, 0 others
        matmul_f8 left: 24 wavefronts, 4 moves of matrices, 2 others
        matmul_f8 right: 24 wavefronts, 4 moves of matrices, 2 others
        matmul_f64 left: 40 wavefronts, 0 moves of matrices, 10 others
    "#]]
    .assert_eq(&text);
    // From registers through scratch memory, and from buffers that copies filled.
    for stages in [1, 3] {
        let (_, compiled) = compiled("matmul_f16", "sm_80", stages);
        let program = &compiled.program;
        let body = program.insts.values().find(|inst| inst.op == Op::Loop);
        let body = &body.expect("a loop along the summed axis").regions[0];
        let count = |is: fn(&Op) -> bool| {
            let mut count = 0;
            program.walk(body, &mut |_, inst| count += usize::from(is(&inst.op)));
            count
        };
        let multiplies = count(|op| matches!(op, Op::MatrixMultiply(_)));
        let packing = count(|op| matches!(op, Op::Bytes));
        let loads = count(|op| matches!(op, Op::Load { space: Space::Shared, .. }));
        // 64 x 64 x 32 in four warps, 16 x 8 x 16 at a time; four words of matrices in each load, and
        // none taken apart on the way from memory to the instruction.
        assert_eq!((multiplies, packing, loads), (16, 0, 8), "{stages} stages");
        let barriers = count(|op| matches!(op, Op::Sync(SyncOp::Barrier(_))));
        assert_eq!(barriers, if stages == 1 { 2 } else { 1 });
    }
}
