//! The paper: "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F₂".

use std::{string::ToString, vec::Vec};

use super::{I, J, element, layout_a, sm_90, text};
use crate::{
    Layout, Machine, Space,
    access::sectors,
    f2::Subspace,
    family::{Blocked, Family, SwizzledShared, names, row_major},
    plan::convert,
    space::{BLOCK, LANE, OFFSET, REGISTER, WARP},
    step::Strategy,
};

#[test]
fn s1_1_layout_a_is_this_matrix() {
    let expected = "10000000\n00100000\n00010000\n00001000\n01000000\n00000100\n00000010\n00000001";
    assert_eq!(layout_a().matrix().to_string(), expected);
    let masks = "dim1[0] = register[0]\ndim1[1] = lane[0]\ndim1[2] = lane[1]\ndim1[3] = lane[2]\n\
                 dim0[0] = register[1]\ndim0[1] = lane[3]\ndim0[2] = lane[4]\ndim0[3] = warp[0]";
    assert_eq!(layout_a().masks().to_string(), masks);
}

#[test]
fn s1_2_points_of_layout_a() {
    let layout = layout_a();
    assert_eq!(element(&layout, 0, 1, 0), (0, 2));
    assert_eq!(element(&layout, 1, 9, 0), (2, 3));
    assert_eq!(element(&layout, 0, 10, 0), (2, 4));
}

#[test]
fn s1_3_bits_are_numbered_from_the_least_significant() {
    let layout = layout_a();
    let ranges = |space: &Space| space.iter().collect::<Vec<_>>();
    assert_eq!(ranges(layout.ins()), [(REGISTER, 0, 2), (LANE, 2, 5), (WARP, 7, 1)]);
    assert_eq!(ranges(layout.outs()), [(J, 0, 4), (I, 4, 4)]);
}

/// The sectors that loads of a matrix of f32 in row-major memory touch, over all instructions of
/// all warps, and how many a thread's instructions are.
fn loaded(layout: &Layout) -> (u64, u64) {
    let offsets = layout.solve(&row_major(&layout.shape()).unwrap()).unwrap();
    let vector = offsets.contiguous_run(REGISTER, OFFSET).min(4);
    let bytes: Vec<u64> = offsets.columns(LANE).iter().map(|column| column * 4).collect();
    let each = sectors(sm_90(), &bytes, 4 * vector as u32, 0).unwrap();
    let instructions = (1 << layout.in_bits(REGISTER)) / vector;
    ((each.actual * instructions) << layout.in_bits(WARP), instructions)
}

#[test]
fn s1_4_layout_a_loads_rows_in_fewer_sectors_than_layout_b() {
    // Figure 1b is a picture only; this one has the threads walk down the columns.
    let b = Blocked::new(&[1, 1], &[16, 2], &[1, 2], &[0, 1]).layout(&[16, 16]).unwrap();
    // 1024 bytes are 32 sectors: A touches each once, B each for each of its columns.
    assert_eq!(loaded(&layout_a()), (32, 2));
    assert_eq!(loaded(&b), (128, 4));
}

#[test]
fn s1_5_layout_a_is_a_product_and_divides() {
    let identity = |bits, input, output| Layout::identity(bits, input, output).unwrap();
    let factors = [
        identity(1, REGISTER, J),
        identity(1, REGISTER, I),
        identity(3, LANE, J),
        identity(2, LANE, I),
        identity(1, WARP, I),
    ];
    let product = factors.iter().fold(Layout::empty(), |all, next| all.product(next).unwrap());
    assert_eq!(product, layout_a());
    let registers = factors[0].product(&factors[1]).unwrap();
    let rest = product.divide_left(&registers).unwrap();
    assert_eq!(
        rest,
        text("[register:, lane: (0,1) (0,2) (0,4) (1,0) (2,0), warp: (4,0)] -> [dim0: 8, dim1: 8]")
    );
    assert_eq!(registers.product(&rest).unwrap(), product);
    let inverse = product.right_inverse().unwrap();
    assert!(inverse.compose(&product).unwrap().matrix().is_identity());
    assert_eq!(inverse, product.invert().unwrap());
}

#[test]
fn s1_6_a_slice_is_a_composition_that_removes_rows() {
    let layout = layout_a();
    let zeroed = text("[dim1: 0 0 0 0, dim0: 1 2 4 8] -> [dim0: 16]");
    let slice = layout.slice(1).unwrap();
    assert_eq!(slice, layout.compose(&zeroed).unwrap());
    assert!(slice.is_surjective() && !slice.is_injective());
    assert_eq!(slice.to_string(), "[register: 0 1, lane: 0 0 0 2 4, warp: 8] -> [dim0: 16]");
}

#[test]
fn s1_9_definitions_4_10_and_4_14() {
    let layout = layout_a();
    assert!(layout.is_distributed() && layout.slice(1).unwrap().is_distributed());
    let repeated = text("[register: 1 1] -> [dim0: 2]");
    let partial = text("[register: 1 2] -> [dim0: 8]");
    let mixed = text("[register: 1 3] -> [dim0: 4]");
    assert!([&repeated, &partial, &mixed].iter().all(|layout| !layout.is_distributed()));
    let swizzled = SwizzledShared::new(8, 1, 8, &[1, 0]);
    let swizzled = swizzled.layout(&[64, 64]).unwrap();
    assert!(swizzled.is_memory_layout() && !swizzled.is_distributed());
    let plain = row_major(&[64, 64]).unwrap();
    assert!(plain.is_memory_layout() && plain.is_distributed());
    // Layouts beyond both definitions are layouts all the same.
    let general = text("[offset: 1 2 7] -> [dim0: 8]");
    assert!(!general.is_memory_layout() && !general.is_distributed() && general.is_invertible());
}

#[test]
fn s1_10_definition_4_11_is_a_shear() {
    // Columns of 16-bit elements that fill 128 bytes, the vectors of 16 bytes.
    for (vec, per_phase, max_phase, columns_of_c) in
        [(8, 1, 8, [8, 16, 32]), (8, 2, 4, [0, 8, 16]), (8, 4, 2, [0, 0, 8])]
    {
        let swizzle = SwizzledShared::new(vec, per_phase, max_phase, &[1, 0]);
        let layout = swizzle.layout(&[8, 64]).unwrap().squeeze_in(BLOCK).unwrap();
        let inverse = layout.invert().unwrap();
        for (i, j) in (0..8).flat_map(|i| (0..64).map(move |j| (i, j))) {
            let offset = (i << 6) + (j ^ (i / per_phase % max_phase * vec));
            assert_eq!(inverse.apply(&[(I, i), (J, j)]).unwrap(), [(OFFSET, offset)]);
        }
        let c = layout.sublayout(&[OFFSET], &[J]).unwrap();
        assert_eq!(c.columns(OFFSET), [&[1, 2, 4, 8, 16, 32], &columns_of_c[..]].concat());
        // [[I, C], [0, I]] is its own inverse.
        assert_eq!(inverse.matrix(), layout.matrix());
    }
    let small = SwizzledShared::new(1, 1, 4, &[1, 0]).layout(&[4, 4]).unwrap();
    assert_eq!(small.matrix().to_string(), "1010\n0101\n0010\n0001");
}

#[test]
fn s1_12_the_transpose_of_a_fragment_is_a_layout_like_any() {
    let fragment =
        text("[register: (0,1) (8,0), lane: (0,2) (0,4) (1,0) (2,0) (4,0)] -> [dim0: 16, dim1: 8]");
    assert_eq!(names(&fragment)[0].to_string().split('<').next(), Some("#ttg.nvidia_mma"));
    let transposed = fragment.transpose(&[1, 0]).unwrap();
    assert_eq!(
        transposed.to_string(),
        "[register: (1,0) (0,8), lane: (2,0) (4,0) (0,1) (0,2) (0,4)] -> [dim0: 8, dim1: 16]"
    );
    // No result of an instruction is so, and yet it is a layout that converts.
    assert!(transposed.is_distributed());
    let kinds = names(&transposed);
    assert!(!kinds.iter().any(|family| matches!(family, Family::NvidiaMma(_))));
    let rows = Blocked::new(&[1, 4], &[8, 4], &[1, 1], &[1, 0]).layout(&[8, 16]).unwrap();
    let hardware = transposed.concat_ins(&text("[warp:, block:] -> [dim0: 8, dim1: 16]")).unwrap();
    assert!(convert(&hardware, &rows, 16, sm_90()).is_ok());
}

#[test]
fn s1_14_a_column_of_128_is_contiguous() {
    let column = Blocked::new(&[4, 1], &[32, 1], &[1, 1], &[0, 1]).layout(&[128, 1]).unwrap();
    let flat = column.reshape(&[128]).unwrap();
    assert_eq!(flat.contiguous_run(REGISTER, I), 4);
    // The definition: the largest u such that elements below u lie in the registers of that number.
    let inverse = flat.invert().unwrap();
    let registers = (0..128).take_while(|&element| {
        flat.ins().coordinate(REGISTER, inverse.apply_flat(element)) == element
    });
    assert_eq!(registers.count(), 4);
    // The fastest axis alone has size 1.
    assert_eq!(column.contiguous_run(REGISTER, J), 1);
}

#[test]
fn s1_15_registers_4_to_7_repeat_0_to_3() {
    let layout = layout_a().resize_in(REGISTER, 3).unwrap();
    assert_eq!(layout.basis(REGISTER, 2), 0);
    for lane in 0..32 {
        for register in 0..4 {
            let first = element(&layout, register, lane, 1);
            assert_eq!(element(&layout, register + 4, lane, 1), first);
        }
    }
    assert_eq!(layout.free_mask(REGISTER), 0b100);
    assert_eq!(layout.remove_zero_columns(REGISTER), Ok((layout_a(), [2].to_vec())));
}

/// An operand of `mma.sync` on the left: 16 rows, 64 elements of the sum.
fn left_operand() -> Layout {
    text(
        "[register: (0,1) (8,0) (0,8) (0,16) (0,32), lane: (0,2) (0,4) (1,0) (2,0) (4,0)] -> \
         [dim0: 16, dim1: 64]",
    )
}

#[test]
fn s1_16_scales_follow_by_shape_operations_alone() {
    // 32 elements of a row share a scale: [16, 2] -> [16, 2, 1] -> [16, 2, 32] -> [16, 64].
    let operand = left_operand();
    let blocks = operand.reshape_back(&[16, 2, 32]).unwrap();
    let scales = blocks.broadcast_back(&[16, 2, 1]).unwrap().expand_dims_back(2).unwrap();
    assert_eq!(
        scales.to_string(),
        "[register: (0,0) (8,0) (0,0) (0,0) (0,1), lane: (0,0) (0,0) (1,0) (2,0) (4,0)] -> \
         [dim0: 16, dim1: 2]"
    );
    // The four threads of a row share its scales, and a thread has four of them in registers.
    assert_eq!(scales.free_mask(LANE), 0b00011);
    let (loaded, removed) = scales.remove_zero_columns(REGISTER).unwrap();
    assert_eq!((loaded.in_bits(REGISTER), removed), (2, [0, 2, 3].to_vec()));
    // Forward again, every thread has the scale of each of its elements without asking another.
    let spread = loaded.expand_dims(2).unwrap().broadcast(&[16, 2, 32]).unwrap();
    let moves = operand.solve(&spread.reshape(&[16, 64]).unwrap()).unwrap();
    assert!(moves.is_identity_on(LANE));
}

#[test]
fn s1_17_a_pre_shuffle_is_a_few_shape_operations() {
    let operand = left_operand();
    // Of the 4-bit operand two neighbours lie in a register: 8 bits a load.
    assert_eq!(operand.reshape(&[1024]).unwrap().contiguous_run(REGISTER, I), 2);
    // If a thread's sixteen elements of a row are neighbours, 64 bits are.
    let wide = text(
        "[register: (0,1) (8,0) (0,2) (0,4) (0,8), lane: (0,16) (0,32) (1,0) (2,0) (4,0)] -> \
         [dim0: 16, dim1: 64]",
    );
    assert_eq!(wide.contiguous_bits(REGISTER, J), 1);
    let row = wide.slice(0).unwrap().remove_zero_columns(REGISTER).unwrap().0;
    assert_eq!(row.contiguous_run(REGISTER, I) * 4, 64);
    // The other operand must then be summed in the same order. Element k of the instruction is
    // element `order(k)` of the stored rows:
    let order = operand.invert().unwrap().compose(&wide).unwrap();
    // and that is a reshape, a transposition and a reshape.
    let elements = Layout::identity(6, OFFSET, J).unwrap();
    let elements = elements.product(&Layout::identity(4, OFFSET, I).unwrap()).unwrap();
    let shuffled = elements.reshape(&[16, 8, 4, 2]).unwrap();
    let shuffled = shuffled.transpose(&[0, 2, 1, 3]).unwrap().reshape(&[16, 64]).unwrap();
    assert_eq!(order.matrix(), shuffled.matrix());
}

#[test]
fn s1_17_with_128_columns_a_load_is_128_bits_and_an_exponent_serves_it() {
    // Eight steps of `mma.sync`, as `examples/mxfp4_preshuffle.py` has them.
    let operand = text(
        "[register: (0,1) (8,0) (0,8) (0,16) (0,32) (0,64), lane: (0,2) (0,4) (1,0) (2,0) (4,0)] \
         -> [dim0: 16, dim1: 128]",
    );
    // Backward through its reshape, permutation (0, 2, 3, 1, 4) and reshape.
    let threads = operand.reshape_back(&[16, 8, 2, 4, 2]).unwrap();
    let threads = threads.transpose(&[0, 3, 1, 2, 4]).unwrap();
    let stored = threads.reshape_back(&[16, 128]).unwrap();
    let row = stored.slice(0).unwrap().remove_zero_columns(REGISTER).unwrap().0;
    assert_eq!(row.contiguous_run(REGISTER, I) * 4, 128);
    // And further back to the exponents: one for each row of a thread.
    let groups = stored.reshape_back(&[16, 4, 32]).unwrap();
    let exponents = groups.broadcast_back(&[16, 4, 1]).unwrap().expand_dims_back(2).unwrap();
    let (loaded, _) = exponents.remove_zero_columns(REGISTER).unwrap();
    assert_eq!(
        loaded.to_string(),
        "[register: (8,0), lane: (0,1) (0,2) (1,0) (2,0) (4,0)] -> [dim0: 16, dim1: 4]"
    );
}

#[test]
fn s1_18_instructions_apply_where_their_tile_divides() {
    // Each lane has two neighbours of a row, four lanes a row of 8.
    let fragment =
        text("[register: (0,1), lane: (0,2) (0,4) (1,0) (2,0) (4,0)] -> [dim0: 8, dim1: 8]");
    let memory = row_major(&[8, 8]).unwrap();
    let offsets = fragment.solve(&memory).unwrap();
    // ldmatrix moves 32 bits a lane and four lanes a row, whatever the width of an element is.
    let tile = |element_bits: u32| {
        let registers = Layout::identity((32 / element_bits).ilog2(), REGISTER, OFFSET).unwrap();
        registers.product(&Layout::identity(2, LANE, OFFSET).unwrap()).unwrap()
    };
    let rows = offsets.divide_left(&tile(16)).unwrap();
    assert_eq!(rows, text("[register:, lane: 1 2 4] -> [offset: 8]"));
    assert!(offsets.divide_left(&tile(32)).is_err() && offsets.divide_left(&tile(8)).is_err());
    // Vectors of 32 bits divide, those of 64 do not.
    let vector = |elements: u32| Layout::identity(elements.ilog2(), REGISTER, OFFSET).unwrap();
    assert!(offsets.divide_left(&vector(2)).is_ok());
    assert_eq!(
        offsets.divide_left(&vector(4)).unwrap_err().to_string(),
        "axis `register` has 1 bits, 2 are needed"
    );
}

#[test]
fn s1_19_column_major_vectorises_with_registers_permuted() {
    let layout = Blocked::new(&[4, 2], &[4, 8], &[1, 1], &[1, 0]).layout(&[16, 16]).unwrap();
    // Offset `i + 16·j`.
    let columns = row_major(&[16, 16]).unwrap().transpose(&[1, 0]).unwrap();
    let offsets = layout.solve(&columns).unwrap();
    assert_eq!(offsets.columns(REGISTER), [16, 1, 2]);
    let vector = Layout::identity(2, REGISTER, OFFSET).unwrap();
    assert!(offsets.divide_left(&vector).is_err());
    let (_, order) = offsets.divide_left_permuted(&vector, REGISTER).unwrap();
    assert_eq!(order.bits(), [1, 2, 0]);
    // The values of a thread, in the order in which two vectors hold them.
    let moved = order.apply_to_values(&[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    assert_eq!(moved, [0, 2, 4, 6, 1, 3, 5, 7]);
}

#[test]
fn s1_20_conversions_move_only_what_differs() {
    let from = text("[register: 1 2, lane: 4 8, warp: 16] -> [dim0: 32]");
    let classify = |to: &str| {
        let moves = from.solve(&text(to)).unwrap();
        assert_eq!(moves.compose(&text(to)).unwrap(), from);
        [LANE, WARP].map(|label| moves.is_trivial_over(&[label]))
    };
    // Registers only; lanes too, within the warp; across warps.
    assert_eq!(classify("[register: 2 1, lane: 4 8, warp: 16] -> [dim0: 32]"), [true, true]);
    assert_eq!(classify("[register: 4 2, lane: 1 8, warp: 16] -> [dim0: 32]"), [false, true]);
    assert_eq!(classify("[register: 1 2, lane: 4 16, warp: 8] -> [dim0: 32]"), [false, false]);
    // Equal parts become the identity even where everything is a copy.
    let copies = text("[register: 1, lane: 2 0, warp: 0] -> [dim0: 4]");
    assert!(copies.solve(&copies).unwrap().matrix().is_identity());
}

#[test]
fn s1_21_figure_3_takes_two_rounds_or_one_exchange() {
    // Four threads with two registers each, as in the figure.
    let from = text("[register: 1, lane: 2 4] -> [dim0: 8]");
    let to = text("[register: 2, lane: 1 4] -> [dim0: 8]");
    let span = |layout: &Layout, label| Subspace::from_vectors(layout.columns(label));
    let (a, b) = (span(&from, LANE), span(&to, LANE));
    // V is empty, I is not, G pairs what is left, and R completes the three: two rounds.
    assert_eq!(span(&from, REGISTER).intersection(&span(&to, REGISTER)).dim(), 0);
    let i = a.intersection(&b);
    assert_eq!(i, Subspace::from_vectors(&[4]));
    let g = Subspace::from_vectors(&[2 ^ 1]);
    let r = i.sum(&g).complement(3);
    assert_eq!([i.dim(), g.dim(), r.dim()], [1, 1, 1]);
    // One exchange does, where the lane that is read chooses the register.
    let machine = Machine { lanes_log2: 2, ..sm_90().clone() };
    let plan = convert(&from, &to, 32, &machine).unwrap();
    assert_eq!((plan.strategy, plan.cost.shuffles), (Strategy::Shuffles, 1));
}
