//! Fragments against Triton's families, and which way is chosen.

use super::fragments::{as_sums, stretched};
use super::{Fragments, Product, Sizes, given};
use crate::assign::{Assignment, Block};
use crate::axis::AxisFacts;
use crate::budget::Budget;
use crate::tile::{Kernel, OpId, OpKind};
use crate::ttir;
use weft_layout::Layout;
use weft_layout::family::{AmdMfma, AmdWmma, DotOperand, Family, NvidiaMma};
use weft_layout::interop::parse_attribute;
use weft_layout::machine::{self, Machine, MatrixMultiply, Number, Part};
use weft_layout::space::REGISTER;

fn machine(name: &str) -> &'static Machine {
    Machine::by_name(name).unwrap()
}

fn unique(layout: &Layout) -> Layout {
    layout.remove_zero_columns(REGISTER).unwrap().0
}

/// The layouts of the left factor, the right one and the sum, as Triton's families say.
fn families(
    instruction: &MatrixMultiply,
    [_, down, across]: [u64; 3],
    sizes: &Sizes,
    k_width: u32,
) -> [Layout; 3] {
    let [rows, columns, length] =
        [instruction.rows, instruction.columns, instruction.summed].map(u64::from);
    let warps_per_cta = vec![down, across];
    let wmma = |version| {
        let doublings = |count: u64| (0..count.ilog2()).map(|bit| 1 << bit);
        let warp = doublings(across).map(|at| vec![0, at]);
        Family::AmdWmma(AmdWmma {
            version,
            is_transposed: instruction.transposed,
            register: vec![],
            warp: warp.chain(doublings(down).map(|at| vec![at, 0])).collect(),
            blocks: vec![],
            instr_shape: [rows, columns, length],
        })
    };
    let parent = Box::new(match instruction.fragments {
        machine::Fragments::Mma | machine::Fragments::Wgmma => Family::NvidiaMma(NvidiaMma {
            version_major: 2,
            version_minor: 0,
            warps_per_cta,
            instr_shape: vec![rows, columns],
            blocks: vec![],
        }),
        machine::Fragments::Mfma | machine::Fragments::MfmaScaled => Family::AmdMfma(AmdMfma {
            version: 3,
            warps_per_cta,
            instr_shape: vec![rows, columns],
            is_transposed: instruction.transposed,
            blocks: vec![],
            tiles_per_warp: vec![],
            element_bit_width: instruction.sum.bits().max(32),
        }),
        machine::Fragments::WmmaGfx11 => wmma(1),
        machine::Fragments::WmmaGfx12 => wmma(2),
    });
    let shapes = [Part::Left, Part::Right].map(|part| sizes.sides(part));
    let [left, right] = [0, 1].map(|side| {
        let family = DotOperand { operand: side, parent: parent.clone(), k_width };
        unique(&family.layout(&shapes[side as usize]).unwrap())
    });
    [left, right, unique(&parent.layout(&[sizes.rows, sizes.columns]).unwrap())]
}

#[test]
fn fragments_have_the_registers_of_triton_s_families() {
    let mut compared = 0;
    let rows = ["sm_89", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"]
        .into_iter()
        .flat_map(|name| machine(name).matrix_multiplies.iter());
    for instruction in rows.flat_map(|row| [Some(row.clone()), row.exchanged()]).flatten() {
        let instruction = &instruction;
        let on_lanes = instruction.summed_on_lanes(Part::Left).unwrap();
        let own = 1_u32 << on_lanes.start;
        for (rows, columns, summed) in
            [(16, 8, 32), (64, 32, 64), (32, 128, 32), (128, 16, 64), (8, 4, 32), (2, 64, 32)]
        {
            let sizes = Sizes { batch: vec![], rows, columns, summed, pairs: [false; 2] };
            for split in [[1, 1, 1], [1, 2, 2], [1, 4, 1], [1, 1, 4], [1, 4, 2]] {
                // The families of smaller instructions of NVIDIA's than Triton's own sum more in one step.
                let longest = u64::from(8 * own) == u64::from(instruction.summed)
                    || instruction.left == Number::F64
                    || instruction.fragments != machine::Fragments::Mma;
                // Beyond the index there are no neighbours, and a wave of gfx11 has all that there are.
                let widths = [own, 2 * own].into_iter().filter(|&width| {
                    u64::from(width) << on_lanes.len() <= summed
                        && (width == own || !on_lanes.is_empty())
                });
                for k_width in widths.filter(|_| longest) {
                    let order = stretched(summed.ilog2(), &on_lanes, k_width.ilog2());
                    let fragments = Fragments { instruction, summed: &order, split: &split };
                    let own = fragments.layouts(&sizes).unwrap();
                    let triton = families(instruction, split, &sizes, k_width);
                    assert_eq!(own, triton, "{} {sizes:?} {split:?} {k_width}", instruction.name);
                    let [left, right, sum] = &own;
                    assert!(fragments.hold(&sizes, [left, right, sum]).unwrap());
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 4000, "{compared}");
}

/// Triton gives both factors 16 bytes of neighbours, and pairs of four bits are bytes to it.
#[test]
fn fragments_with_scales_have_the_registers_of_triton_s_families() {
    let mut compared = 0;
    let rows = machine("gfx950").scaled_multiplies.iter();
    for instruction in rows.flat_map(|row| [Some(row.clone()), row.exchanged()]).flatten() {
        let instruction = &instruction;
        let pairs = [instruction.left, instruction.right].map(|number| number == Number::E2M1);
        for (rows, columns, summed) in [(16, 32, 128), (64, 32, 256), (128, 128, 512), (8, 16, 128)]
        {
            let sizes = Sizes { batch: vec![], rows, columns, summed, pairs };
            let order: Vec<u64> = (0..summed.ilog2()).map(|bit| 1 << bit).collect();
            for split in [[1, 1, 1], [1, 2, 2], [1, 4, 1], [1, 1, 4]] {
                let fragments = Fragments { instruction, summed: &order, split: &split };
                let own = fragments.layouts(&sizes).unwrap();
                let triton = families(instruction, split, &sizes, 16);
                assert_eq!(own, triton, "{} {sizes:?} {split:?}", instruction.name);
                let [left, right, sum] = &own;
                assert!(fragments.hold(&sizes, [left, right, sum]).unwrap());
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 36 * 16);
}

/// The layouts that Triton 3.9 gives the scales of gemlite's products for gfx950: 128 x 128 over 8 warps, and
/// 16 x 512 over 4.
#[test]
fn scales_are_dealt_out_as_triton_s() {
    let wide = "[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]";
    let narrow = "[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2]";
    for (name, [rows, columns], split, left, right) in [
        (
            "mfma_scale.m32n32k64.f32.e2m1.e2m1",
            [128, 128],
            [1, 2, 4],
            format!(
                "register = [[0, 2], [64, 0]], lane = [{wide}], warp = [[0, 0], [0, 0], [32, 0]]"
            ),
            format!("register = [[0, 2]], lane = [{wide}], warp = [[32, 0], [64, 0], [0, 0]]"),
        ),
        (
            "mfma_scale.m16n16k128.f32.e4m3.e2m1",
            [16, 512],
            [1, 1, 4],
            format!("register = [], lane = [{narrow}], warp = [[0, 0], [0, 0]]"),
            format!(
                "register = [[64, 0], [128, 0], [256, 0]], lane = [{narrow}], warp = [[16, 0], [32, 0]]"
            ),
        ),
    ] {
        let instruction = machine("gfx950").matrix_multiply(name).unwrap();
        for instruction in [Some(instruction.clone()), instruction.exchanged()] {
            let instruction = &instruction.unwrap();
            let pairs = [instruction.left, instruction.right].map(|of| of == Number::E2M1);
            let sizes = Sizes { batch: vec![], rows, columns, summed: 128, pairs };
            let order: Vec<u64> = (0..7).map(|bit| 1 << bit).collect();
            let fragments = Fragments { instruction, summed: &order, split: &split };
            for (part, text, kept) in [(Part::Left, &left, rows), (Part::Right, &right, columns)] {
                let text = format!("#ttg.linear<{{{text}, block = []}}>");
                let triton = parse_attribute(&text).unwrap().layout(&[kept, 4]).unwrap();
                let [.., sum] = fragments.layouts(&sizes).unwrap();
                let own = fragments.scales(&sizes, part, &sum).unwrap().unwrap();
                assert_eq!(own, triton, "{} {part:?}", instruction.name);
            }
        }
    }
}

/// An order that keeps groups together deals out the scales in the order of the groups.
#[test]
fn scales_go_where_their_numbers_go() {
    let name = "mfma_scale.m16n16k128.f32.e4m3.e4m3";
    let instruction = machine("gfx950").matrix_multiply(name).unwrap();
    let sizes = Sizes { batch: vec![], rows: 32, columns: 16, summed: 256, pairs: [false; 2] };
    // Steps go on by 32, and lanes by 64 and 128.
    let order = [1, 2, 4, 8, 16, 64, 128, 32];
    assert_eq!(instruction.keeps_groups(&order), Ok(()));
    let fragments = Fragments { instruction, summed: &order, split: &[1, 1, 1] };
    let [left, _, sum] = fragments.layouts(&sizes).unwrap();
    let scales = fragments.scales(&sizes, Part::Left, &sum).unwrap().unwrap();
    let label = weft_layout::space::LANE;
    let rows = [1, 2, 4, 8];
    // The numbers of a lane on k16 and k32, which is 64 here; the scale of its group.
    assert_eq!(
        left.columns(label),
        [rows.map(|row| row << 8), [16, 64, 0, 0]].concat()[..6].to_vec()
    );
    assert_eq!(
        scales.columns(label),
        [rows.map(|row| row << 3), [2, 4, 0, 0]].concat()[..6].to_vec()
    );
    assert_eq!(scales.columns(REGISTER), [1, 16 << 3]);
}

#[test]
fn layouts_that_do_not_fit_together_are_not_taken() {
    let instruction = machine("sm_80").matrix_multiply("mma.m16n8k16.f32.f16.f16").unwrap();
    let sizes = Sizes { batch: vec![], rows: 64, columns: 64, summed: 32, pairs: [false; 2] };
    let on_lanes = instruction.summed_on_lanes(Part::Left).unwrap();
    let order = stretched(5, &on_lanes, 1);
    let of = |split: [u64; 3]| {
        Fragments { instruction, summed: &order, split: &split }.layouts(&sizes).unwrap()
    };
    let ([left, right, sum], [other, across, _]) = (of([1, 2, 2]), of([1, 4, 1]));
    let split = [1, 1, 1];
    let fragments = Fragments { instruction, summed: &order, split: &split };
    let holds = |layouts| fragments.hold(&sizes, layouts).unwrap();
    assert!(holds([&left, &right, &sum]));
    assert!(!holds([&other, &right, &sum]));
    assert!(!holds([&left, &across, &sum]));
    assert!(!holds([&left, &right, &left]));
    // One factor stretched and the other not would multiply what does not belong together.
    let wide = stretched(5, &on_lanes, 2);
    let wide = Fragments { instruction, summed: &wide, split: &[1, 2, 2] };
    let [stretched_left, stretched_right, _] = wide.layouts(&sizes).unwrap();
    assert!(!holds([&stretched_left, &right, &sum]));
    assert!(!holds([&stretched_left, &stretched_right, &sum]));
    assert!(wide.hold(&sizes, [&stretched_left, &stretched_right, &sum]).unwrap());
}

/// The permutation that makes rows of sums a factor of bytes: registers alone move, all lanes by the
/// same one.
#[test]
fn sums_are_left_factors_of_bytes_with_the_index_renamed() {
    let instruction = machine("sm_89").matrix_multiply("mma.m16n8k32.f32.e4m3.e4m3").unwrap();
    let sizes = Sizes { batch: vec![], rows: 64, columns: 32, summed: 64, pairs: [false; 2] };
    let on_lanes = instruction.summed_on_lanes(Part::Left).unwrap();
    let order = as_sums(6, &on_lanes, instruction).unwrap().unwrap();
    let fragments = Fragments { instruction, summed: &order, split: &[1, 4, 1] };
    let [left, ..] = fragments.layouts(&sizes).unwrap();
    let sums = Sizes { columns: 64, ..sizes };
    let [.., sum] = fragments.layouts(&sums).unwrap();
    for label in [weft_layout::space::LANE, weft_layout::space::WARP] {
        assert_eq!(left.columns(label), sum.columns(label));
    }
    let bit = |column: &u64| sum.columns(REGISTER).iter().position(|own| own == column);
    let permutation: Vec<_> = left.columns(REGISTER).iter().map(bit).collect();
    assert_eq!(permutation, [0, 1, 2, 3, 4].map(Some));
    // The instruction's own order of registers: the word's two low bits are columns 1 and 8.
    let hardware: Vec<u64> = (0..16_u64)
        .map(|register| {
            let columns = [1, 8, 0, 16];
            let index = (0..4).filter(|bit| register >> bit & 1 == 1).map(|bit| columns[bit]);
            let row = register >> 2 & 1;
            let sum = index.sum::<u64>();
            // A sum's registers: column 1, row 8, columns 8 and 16.
            (sum & 1) | row << 1 | (sum >> 3 & 1) << 2 | (sum >> 4 & 1) << 3
        })
        .collect();
    assert_eq!(hardware, [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]);
}

/// What the products decide among themselves, before homes are weighed against them.
fn decided(text: &str, name: &str) -> (Kernel, Assignment) {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = module.kernels[0].clone();
    let facts = AxisFacts::of(&kernel);
    let block =
        Block { machine: machine(name), warps: 4, shared_byte: 0, budget: &Budget::default() };
    let assignment = crate::assign::greedy(&kernel, &facts, block).unwrap();
    (kernel, assignment)
}

fn products(kernel: &Kernel) -> Vec<OpId> {
    let mut products = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        products.extend(matches!(op.kind, OpKind::Dot(_)).then_some(id));
    });
    products
}

fn instructions(text: &str, name: &str) -> Vec<String> {
    let (kernel, assignment) = decided(text, name);
    let name = |id| match assignment.product(id) {
        Product::Multiply => "multiply-adds".to_owned(),
        Product::Matrix(matrix) => matrix.instruction.name.to_string(),
        Product::Warpgroup(product) => product.instruction.name.to_string(),
    };
    products(&kernel).into_iter().map(name).collect()
}

macro_rules! kernel {
    ($name:literal) => {
        include_str!(concat!("../../../../../kernels/", $name, ".ttir"))
    };
}

#[test]
fn products_take_the_instruction_of_their_types() {
    let half = "mma.m16n8k16.f32.f16.f16";
    assert_eq!(instructions(kernel!("matmul_f16"), "sm_80"), [half]);
    assert_eq!(
        instructions(kernel!("matmul_f16"), "gfx942"),
        ["mfma.m16n16k16.f32.f16.f16.transposed"]
    );
    assert_eq!(instructions(kernel!("product_f32"), "sm_90"), ["multiply-adds"]);
    assert_eq!(instructions(kernel!("matmul_tf32"), "sm_80"), ["mma.m16n8k8.f32.tf32.tf32"]);
    let [tf32, bf16] = ["mma.m16n8k8.f32.tf32.tf32", "mma.m16n8k16.f32.bf16.bf16"];
    assert_eq!(instructions(kernel!("product_modes"), "sm_90"), [tf32, tf32, bf16, bf16]);
    assert_eq!(instructions(kernel!("product_i8"), "sm_80"), ["mma.m16n8k32.s32.s8.s8"]);
    assert_eq!(instructions(kernel!("matmul_f64"), "sm_80"), ["mma.m8n8k4.f64.f64.f64"]);
    assert_eq!(instructions(kernel!("matmul_f64"), "sm_90"), ["mma.m16n8k8.f64.f64.f64"]);
    // AMD has no sums of f16: they are added up in f32.
    assert_eq!(instructions(kernel!("product_f16_sums"), "sm_90"), ["mma.m16n8k16.f16.f16.f16"]);
    for (target, instruction) in [
        ("gfx942", "mfma.m16n16k16.f32.f16.f16"),
        ("gfx1100", "wmma.m16n16k16.f32.f16.f16"),
        ("gfx1200", "wmma.m16n16k16.f32.f16.f16"),
    ] {
        let [taken] = &instructions(kernel!("product_f16_sums"), target)[..] else { panic!("one") };
        assert_eq!(taken.trim_end_matches(".transposed"), instruction, "{target}");
    }
    // Bytes are widened where there is no instruction for them, or a dear one.
    assert_eq!(instructions(kernel!("matmul_f8"), "sm_80"), [half]);
    assert_eq!(instructions(kernel!("matmul_f8"), "sm_89"), ["mma.m16n8k32.f32.e4m3.e4m3"]);
    assert_eq!(instructions(kernel!("matmul_f8"), "sm_90"), [half]);
}

#[test]
fn products_that_hand_over_deal_rows_out_alike() {
    for (text, name) in [
        (kernel!("attention_f16"), "sm_80"),
        (kernel!("attention_f16"), "sm_90"),
        (kernel!("attention_f8"), "sm_89"),
    ] {
        let (kernel, assignment) = decided(text, name);
        let matrices = products(&kernel).into_iter().map(|id| assignment.product(id));
        let matrices: Vec<_> = matrices
            .map(|product| match product {
                Product::Matrix(matrix) => matrix,
                other => panic!("an instruction of a warp is cheaper than {other:?}"),
            })
            .collect();
        let [scores, values] = &matrices[..] else { panic!("two products") };
        let layouts = &assignment.layouts;
        let sorted = |id| {
            let mut columns = layouts.get(id).columns(REGISTER).to_vec();
            columns.sort_unstable();
            columns
        };
        let [from, to] = [scores.accumulator, values.left].map(|id| layouts.get(id));
        for label in [weft_layout::space::LANE, weft_layout::space::WARP] {
            assert_eq!(from.columns(label), to.columns(label), "{name}");
        }
        assert_eq!(sorted(scores.accumulator), sorted(values.left));
    }
}

/// What is chosen is found again in the layouts alone.
#[test]
fn a_product_is_known_by_its_layouts() {
    for text in [
        kernel!("matmul_f16"),
        kernel!("matmul_i8"),
        kernel!("matmul_f8"),
        kernel!("product_batched"),
        kernel!("product_thin"),
        kernel!("product_narrow"),
        kernel!("attention_f8"),
    ] {
        for name in ["sm_80", "sm_89", "sm_90"] {
            let (kernel, mut assignment) = decided(text, name);
            for id in products(&kernel) {
                let product = assignment.product(id).clone();
                let Product::Matrix(matrix) = &product else { panic!("a matrix instruction") };
                let layouts = [matrix.left, matrix.right, matrix.accumulator];
                let block = Block {
                    machine: machine(name),
                    warps: 4,
                    shared_byte: 0,
                    budget: &Budget::default(),
                };
                let op = &kernel.ops[id];
                let Product::Matrix(found) =
                    given(&kernel, op, block, &mut assignment.layouts, layouts).unwrap()
                else {
                    panic!("{name}: {product:?} is not found again")
                };
                assert_eq!(found.instruction, matrix.instruction);
                assert_eq!(found.summed, matrix.summed);
                assert_eq!([found.left, found.right, found.accumulator], layouts);
            }
        }
    }
}
