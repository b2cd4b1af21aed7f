//! The worked examples of the paper and of its readers, with their exact numbers.
//!
//! `s1` is the paper, `s2` the informal introduction, `s3` the notes on linear algebra over F₂, `s4` the
//! reading for AMD; the numbers are those of the acceptance list.

use std::{collections::BTreeSet, format, string::ToString, vec::Vec};

use crate::{
    Label, Layout, LayoutError, Space,
    f2::Matrix,
    family::{Blocked, Family, Linear, SwizzledShared, row_major},
    interop::parse_layout,
    space::{BLOCK, LANE, OFFSET, REGISTER, WARP},
    testing::places,
};

const I: Label = Label::dim(0);
const J: Label = Label::dim(1);

/// Layout A of figure 1a: 16 x 16 elements, 2 x 2 registers, 4 x 8 threads, 2 x 1 warps.
fn layout_a() -> Layout {
    let blocked = Blocked::new(&[2, 2], &[4, 8], &[2, 1], &[1, 0]).layout(&[16, 16]).unwrap();
    blocked.squeeze_in(BLOCK).unwrap()
}

/// The element (row, column) that a place of layout A holds.
fn element(layout: &Layout, register: u64, lane: u64, warp: u64) -> (u64, u64) {
    let image = layout.apply(&[(REGISTER, register), (LANE, lane), (WARP, warp)]).unwrap();
    let at = |label| image.iter().find(|axis| axis.0 == label).unwrap().1;
    (at(I), at(J))
}

fn text(layout: &str) -> Layout {
    parse_layout(layout).unwrap()
}

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
fn s2_1_all_layouts_are_too_many_to_number() {
    // log2(n!) bits for n = 10^9, by Stirling's formula, are 3.557 GB.
    let n = 1e9_f64;
    let nats = n * n.ln() - n + (2.0 * std::f64::consts::PI * n).ln() / 2.0;
    assert_eq!(format!("{:.3}", nats / 2_f64.ln() / 8.0 / 1e9), "3.557");
    // A linear layout of as many elements is 30 columns of 30 bits.
    let linear = row_major(&[1 << 15, 1 << 15]).unwrap();
    assert_eq!((linear.matrix().rows(), linear.matrix().cols()), (30, 30));
    assert!(size_of::<Matrix>() <= 528);
}

#[test]
fn s2_2_row_major_and_column_major() {
    let rows = row_major(&[8, 4]).unwrap();
    let columns = row_major(&[4, 8]).unwrap().transpose(&[1, 0]).unwrap();
    for (layout, offset) in
        [(rows, (|r, c| 4 * r + c) as fn(u64, u64) -> u64), (columns, |r, c| 8 * c + r)]
    {
        let inverse = layout.invert().unwrap();
        for (r, c) in (0..8).flat_map(|r| (0..4).map(move |c| (r, c))) {
            assert_eq!(inverse.apply(&[(I, r), (J, c)]).unwrap(), [(OFFSET, offset(r, c))]);
        }
    }
}

#[test]
fn s2_3_a_layout_may_permute_bits() {
    // n | c[hi..2] | h | w | c[1..0], for n = 2, c = 8, h = w = 4.
    let layout = text(
        "[offset: (0,1,0,0) (0,2,0,0) (0,0,0,1) (0,0,0,2) (0,0,1,0) (0,0,2,0) (0,4,0,0) (1,0,0,0)] \
         -> [dim0: 2, dim1: 8, dim2: 4, dim3: 4]",
    );
    let inverse = layout.invert().unwrap();
    for place in places(layout.outs()) {
        let at = |dim| layout.outs().coordinate(Label::dim(dim), place);
        let (n, c, h, w) = (at(0), at(1), at(2), at(3));
        let offset = (((n * 2 + c / 4) * 4 + h) * 4 + w) * 4 + c % 4;
        assert_eq!(inverse.apply_flat(place), offset);
    }
    assert!(layout.is_distributed());
}

#[test]
fn s2_4_splitting_axes_leaves_the_layout_equal() {
    let layout = layout_a();
    let split = layout.reshape(&[2; 8]).unwrap();
    assert_eq!(split.matrix(), layout.matrix());
    assert_eq!(split.reshape_back(&[16, 16]).unwrap(), layout);
}

#[test]
fn s2_5_an_array_of_blocks_repeats_the_block() {
    let block = text("[offset: 1 6 2 8] -> [dim0: 16]");
    for count in [1, 4, 64_u64] {
        let blocks = Layout::identity(count.ilog2(), OFFSET, I).unwrap();
        let array = block.product(&blocks).unwrap();
        for offset in 0..16 * count {
            let expected = offset / 16 * 16 + block.apply_flat(offset % 16);
            assert_eq!(array.apply_flat(offset), expected);
        }
    }
}

#[test]
fn s2_6_banks_of_a_32x32_matrix() {
    let (row, bank) = (Label::new("row").unwrap(), Label::new("bank").unwrap());
    let index = Space::new(&[(J, 5), (I, 5)]).unwrap();
    let memory = Space::new(&[(bank, 5), (row, 5)]).unwrap();
    let units = |fold: bool| -> Vec<u64> {
        let bank = (0..5).map(|bit| 1 << bit | if fold { 32 << bit } else { 0 });
        bank.chain((0..5).map(|bit| 32 << bit)).collect()
    };
    let banks = |layout: &Layout, line: Label| {
        let other = if line == I { J } else { I };
        let place = |at| layout.apply(&[(line, 7), (other, at)]).unwrap();
        (0..32).map(|at| place(at)[0].1).collect::<BTreeSet<u64>>().len()
    };
    let plain = Layout::from_masks(index.clone(), memory.clone(), &units(false)).unwrap();
    let swizzled = Layout::from_masks(index, memory, &units(true)).unwrap();
    // One bank for a whole column is a conflict of 32.
    assert_eq!([banks(&plain, I), banks(&plain, J)], [32, 1]);
    assert_eq!([banks(&swizzled, I), banks(&swizzled, J)], [32, 32]);
    assert_eq!(swizzled.apply(&[(I, 5), (J, 9)]).unwrap(), [(bank, 5 ^ 9), (row, 5)]);
}

/// The example with masks (1,0,1), (0,1,1), (1,1,1) over the bits (b2, b1, b0).
fn worked_example() -> Layout {
    let (ins, outs) = (Label::new("b").unwrap(), Label::new("o").unwrap());
    let space = |label| Space::new(&[(label, 3)]).unwrap();
    Layout::from_masks(space(ins), space(outs), &[0b101, 0b011, 0b111]).unwrap()
}

#[test]
fn s2_7_masks_and_bases_are_both_read_and_printed() {
    let layout = worked_example();
    assert_eq!(layout.to_string(), "[b: 7 6 5] -> [o: 8]");
    assert_eq!(text(&layout.to_string()), layout);
    assert_eq!(
        layout.masks().to_string(),
        "o[0] = b[0] ^ b[2]\no[1] = b[0] ^ b[1]\no[2] = b[0] ^ b[1] ^ b[2]"
    );
    for (row, mask) in (0..).zip([0b101, 0b011, 0b111]) {
        assert_eq!(layout.matrix().row(row), mask);
        // The parity rule.
        for b in 0..8_u64 {
            let parity = u64::from((b & mask).count_ones() % 2);
            assert_eq!(layout.apply_flat(b) >> row & 1, parity);
        }
    }
}

#[test]
fn s2_8_masks_and_bases_of_the_worked_example() {
    let layout = worked_example();
    // Written b2 b1 b0 -> o0 o1 o2.
    let table = ["000", "111", "011", "100", "101", "010", "110", "001"];
    for (b, expected) in (0..).zip(table) {
        let o = layout.apply_flat(b);
        assert_eq!(format!("{}{}{}", o & 1, o >> 1 & 1, o >> 2), expected);
    }
    assert!(layout.is_invertible());
}

#[test]
fn s2_9_injective_is_required_and_surjective_is_not() {
    let zero = Layout::zeros(worked_example().ins().clone(), worked_example().outs().clone());
    let error = zero.unwrap().invert().unwrap_err();
    assert_eq!(error.to_string(), "0 and b=1 both go to 0");
    // Padding: 8 elements in 16 places.
    let padded = worked_example().resize_out(Label::new("o").unwrap(), 4).unwrap();
    assert!(padded.is_injective() && !padded.is_surjective());
    let error = padded.invert().unwrap_err();
    assert_eq!(error.to_string(), "nothing goes to o=8");
}

#[test]
fn s2_10_copies_need_the_direction_from_memory_to_index() {
    let copies = text("[offset: 1 0] -> [dim0: 2]");
    assert!(matches!(copies.invert(), Err(LayoutError::NotInjective { .. })));
    // One of the copies can be named, and it is the lowest.
    let back = copies.right_inverse().unwrap();
    assert_eq!(back.to_string(), "[dim0: 1] -> [offset: 4]");
    assert!(back.compose(&copies).unwrap().matrix().is_identity());
}

#[test]
fn s2_11_inverses_and_compositions_are_those_of_matrices() {
    let layout = worked_example();
    let inverse = layout.invert().unwrap();
    assert_eq!(*inverse.matrix(), layout.matrix().inverse().unwrap());
    let again = layout.reshape_outs(layout.ins().clone()).unwrap();
    let squared = again.compose(&layout).unwrap();
    assert_eq!(Ok(*squared.matrix()), layout.matrix() * layout.matrix());
}

#[test]
fn s2_12_column_i_is_the_image_of_2_to_the_i() {
    for layout in [worked_example(), layout_a()] {
        for (bit, &column) in layout.matrix().columns().iter().enumerate() {
            assert_eq!(layout.apply_flat(1 << bit), column);
        }
    }
}

#[test]
fn s2_13_the_text_is_exact() {
    let swizzle = SwizzledShared::new(8, 2, 4, &[1, 0]);
    for layout in [layout_a(), worked_example(), swizzle.layout(&[32, 64]).unwrap()] {
        assert_eq!(text(&layout.to_string()), layout);
    }
}

/// Layout A with the row in the low bits of the element.
fn rows_low(layout: &Layout) -> Layout {
    layout.transpose_outs(&[I, J]).unwrap()
}

#[test]
fn s3_1_the_matrix_with_rows_in_the_low_bits() {
    let expected = "01000000\n00000100\n00000010\n00000001\n10000000\n00100000\n00010000\n00001000";
    assert_eq!(rows_low(&layout_a()).matrix().to_string(), expected);
}

#[test]
fn s3_2_points_of_the_notes() {
    let layout = rows_low(&layout_a());
    assert_eq!(element(&layout, 0, 0, 0), (0, 0));
    assert_eq!(element(&layout, 1, 1, 0), (0, 3));
}

#[test]
fn s3_3_row_major_memory_swaps_the_blocks() {
    let inverse = rows_low(&row_major(&[16, 16]).unwrap()).invert().unwrap();
    let expected = "00001000\n00000100\n00000010\n00000001\n10000000\n01000000\n00100000\n00010000";
    assert_eq!(inverse.matrix().to_string(), expected);
    for (i, j) in (0..16).flat_map(|i| (0..16).map(move |j| (i, j))) {
        assert_eq!(inverse.apply(&[(I, i), (J, j)]).unwrap(), [(OFFSET, 16 * i + j)]);
    }
}

#[test]
fn s3_4_memory_layouts_and_their_inverses_print() {
    let memory = row_major(&[4, 4]).unwrap();
    assert_eq!(memory.to_string(), "[offset: (0,1) (0,2) (1,0) (2,0)] -> [dim0: 4, dim1: 4]");
    let inverse = memory.invert().unwrap();
    assert_eq!(inverse.to_string(), "[dim1: 1 2, dim0: 4 8] -> [offset: 16]");
}

#[test]
fn s3_5_an_offset_is_a_vector_a_bank_and_an_index() {
    let [vec, bank, idx] = ["vec", "bank", "idx"].map(|name| Label::new(name).unwrap());
    // Vectors of four f32, eight of them in 128 bytes.
    let parts = Space::new(&[(vec, 2), (bank, 3), (idx, 3)]).unwrap();
    let map = row_major(&[16, 16]).unwrap().reshape_ins(parts.clone()).unwrap();
    let back = map.invert().unwrap();
    for (i, j) in (0..16_u64).flat_map(|i| (0..16).map(move |j| (i, j))) {
        let expected = [(vec, j % 4), (bank, (i % 2) * 4 + j / 4), (idx, i / 2)];
        assert_eq!(back.apply(&[(I, i), (J, j)]).unwrap(), expected);
    }
}

/// Twenty layouts of 16 x 16 elements over 2 registers, 32 lanes and 2 warps, some with copies.
fn twenty() -> Vec<Layout> {
    let mut layouts = Vec::new();
    for order in [[0, 1], [1, 0]] {
        for (registers, lanes, warps) in [
            ([2, 2], [4, 8], [2, 1]),
            ([1, 4], [8, 4], [2, 1]),
            ([4, 1], [4, 8], [1, 2]),
            ([1, 1], [32, 1], [1, 2]),
            ([1, 1], [1, 32], [2, 1]),
            ([2, 1], [2, 16], [2, 1]),
            ([8, 1], [2, 16], [1, 2]),
            ([1, 8], [16, 2], [1, 2]),
            ([2, 4], [8, 4], [1, 2]),
            ([16, 1], [1, 32], [2, 1]),
        ] {
            layouts
                .push(Blocked::new(&registers, &lanes, &warps, &order).layout(&[16, 16]).unwrap());
        }
    }
    layouts
}

#[test]
fn s3_6_places_go_by_the_inverse_of_one_times_the_other() {
    let layouts = twenty();
    let (a, b) = (&layouts[0], &layouts[1]);
    let moves = a.solve(b).unwrap();
    assert!(places(a.ins()).all(|v| b.apply_flat(moves.apply_flat(v)) == a.apply_flat(v)));
    assert_eq!(moves, a.compose(&b.invert().unwrap()).unwrap());
}

#[test]
fn s3_7_products_are_block_diagonal() {
    let registers = text("[register: 2 1] -> [dim0: 4]");
    let threads = text("[lane: 4 6 1] -> [dim0: 8]");
    let product = registers.product(&threads).unwrap();
    assert_eq!(product.matrix().to_string(), "01000\n10000\n00001\n00010\n00110");
}

#[test]
fn s3_8_division_leaves_the_lower_block() {
    let layout = text("[register: 2 1, lane: 16 24 4] -> [dim0: 32]");
    let tile = text("[register: 2 1] -> [dim0: 4]");
    assert_eq!(layout.divide_left(&tile).unwrap(), text("[register:, lane: 4 6 1] -> [dim0: 8]"));
}

#[test]
fn s3_9_one_routine_converts_all_380_ordered_pairs_of_20_layouts() {
    let layouts = twenty();
    let mut pairs = 0;
    for (index, from) in layouts.iter().enumerate() {
        for to in layouts.iter().enumerate().filter(|other| other.0 != index).map(|other| other.1) {
            let moves = from.solve(to).unwrap();
            assert_eq!(moves.compose(to).unwrap(), *from);
            pairs += 1;
        }
    }
    assert_eq!((layouts.len(), pairs), (20, 380));
}

#[test]
fn s3_10_the_largest_identity_block_is_the_vector() {
    let layout = Blocked::new(&[8, 1], &[16, 1], &[1, 1], &[0, 1]).layout(&[128, 1]).unwrap();
    let inverse = layout.reshape(&[128]).unwrap().right_inverse().unwrap();
    // The largest k such that the lowest k bits of the element are the lowest k of the register.
    let (bits, _) = inverse.split_identity(I, REGISTER).unwrap();
    assert_eq!(1 << bits, 8);
}

#[test]
fn s3_11_zero_columns_repeat() {
    let layout = text("[register: 1, lane: 2 0 4] -> [dim0: 8]");
    assert_eq!(layout.free_mask(LANE), 0b010);
    let held = |lane| layout.apply(&[(LANE, lane)]).unwrap();
    assert!([0, 1, 4, 5].iter().all(|&lane| held(lane) == held(lane + 2)));
}

#[test]
fn s3_12_shape_operations_are_compositions() {
    let layout = layout_a();
    let shape = text(
        "[dim1: (1,0) (2,0) (4,0) (8,0), dim0: (0,1) (0,2) (0,4) (0,8)] -> \
                      [dim0: 16, dim1: 16]",
    );
    assert_eq!(layout.transpose(&[1, 0]).unwrap(), layout.compose(&shape).unwrap());
}

#[test]
fn s4_2_a_plus_a_is_zero() {
    let layout = layout_a();
    for (a, b) in places(layout.ins()).flat_map(|a| (0..256).step_by(7).map(move |b| (a, b))) {
        let sum = layout.apply_flat(a) ^ layout.apply_flat(b);
        assert_eq!(layout.apply_flat(a ^ b), sum);
    }
    assert_eq!(layout.apply_flat(0), 0);
}

#[test]
fn s4_3_rows_copy_and_add_and_zero_columns_broadcast() {
    let layout = text("[register: 1 2, lane: 4 8 16 3 0, warp: 32] -> [dim0: 64]");
    let masks = layout.masks().to_string();
    let lines: Vec<&str> = masks.lines().collect();
    // One one in a row copies, two add; the zero column is seen in no row.
    assert_eq!(lines[2], "dim0[2] = lane[0]");
    assert_eq!(lines[0], "dim0[0] = register[0] ^ lane[3]");
    assert!(!masks.contains("lane[4]"));
    assert!(places(layout.ins()).all(|p| layout.apply_flat(p) == layout.apply_flat(p ^ 1 << 6)));
}

#[test]
fn s4_4_register_1_of_thread_9_is_a_sum_of_three() {
    let layout = layout_a();
    let parts = [element(&layout, 1, 0, 0), element(&layout, 0, 9, 0), element(&layout, 0, 0, 0)];
    assert_eq!(parts, [(0, 1), (2, 2), (0, 0)]);
    let sum = parts.iter().fold((0, 0), |sum, part| (sum.0 ^ part.0, sum.1 ^ part.1));
    assert_eq!((sum, element(&layout, 1, 9, 0)), ((2, 3), (2, 3)));
}

#[test]
fn s4_5_labels_are_kept_through_every_operation() {
    let layout = layout_a();
    let labels = |space: &Space| space.labels().collect::<Vec<_>>();
    let (hardware, tensor) = ([REGISTER, LANE, WARP], [J, I]);
    assert_eq!((labels(layout.ins()), labels(layout.outs())), (hardware.to_vec(), tensor.to_vec()));
    let inverse = layout.invert().unwrap();
    assert_eq!(
        (labels(inverse.ins()), labels(inverse.outs())),
        (tensor.to_vec(), hardware.to_vec())
    );
    let around = layout.compose(&inverse).unwrap();
    assert_eq!(
        (labels(around.ins()), labels(around.outs())),
        (hardware.to_vec(), hardware.to_vec())
    );
    let moves = layout.solve(&twenty()[1]).unwrap();
    assert_eq!(labels(moves.outs()), [REGISTER, LANE, WARP, BLOCK]);
    let quotient = layout.divide_left(&Layout::identity(1, REGISTER, J).unwrap()).unwrap();
    assert_eq!(labels(quotient.ins()), hardware);
}

#[test]
fn s4_6_right_inverses_take_the_fewest_bits_of_a_copy() {
    // 3 is registers 0 and 1 together, or register bit 2 alone.
    let copies = text("[register: 1 2 3, lane: 4 0] -> [dim0: 8]");
    let element = text("[dim0: 3] -> [dim0: 8]");
    assert_eq!(
        element.solve(&copies).unwrap().to_string(),
        "[dim0: (4,0)] -> [register: 8, lane: 4]"
    );
    let inverse = copies.right_inverse().unwrap();
    let weights = inverse.matrix().columns().iter().map(|column| column.count_ones());
    assert!(weights.eq([1, 1, 1]));
}

#[test]
fn s4_8_a_swizzle_is_the_identity_and_a_shear() {
    for (vec, per_phase, max_phase, shear) in
        [(8, 1, 8, [8, 16, 32, 0]), (8, 2, 4, [0, 8, 16, 0]), (8, 4, 2, [0, 0, 8, 0])]
    {
        let swizzle = SwizzledShared::new(vec, per_phase, max_phase, &[1, 0]);
        let layout = swizzle.layout(&[16, 64]).unwrap();
        // Column bits are kept; row bit i also folds into the columns of C.
        for bit in 0..6 {
            assert_eq!(layout.basis(OFFSET, bit), 1 << bit);
        }
        for (row, fold) in (0..4).zip(shear) {
            assert_eq!(layout.basis(OFFSET, 6 + row), 64 << row | fold);
        }
    }
}

#[test]
fn s4_17_a_layout_forgets_which_family_it_came_from() {
    let blocked = Blocked::new(&[2, 2], &[4, 8], &[2, 1], &[1, 0]);
    let layout = Family::Blocked(blocked).layout(&[16, 16]).unwrap();
    let linear = Family::Linear(Linear::of(&layout)).layout(&[16, 16]).unwrap();
    assert_eq!(layout, linear);
}
