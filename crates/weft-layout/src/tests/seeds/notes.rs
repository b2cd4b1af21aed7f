//! The notes on linear algebra over F₂.

use std::{format, string::ToString};

use expect_test::expect;

use super::{I, J, element, layout_a, rows_of_four, sm_90, text};
use crate::{
    Label, Layout, Machine, Space,
    family::{Blocked, row_major},
    plan::convert,
    space::{LANE, OFFSET, REGISTER},
    step::Plan,
    testing::places,
};

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

#[test]
fn s3_6_places_go_by_the_inverse_of_one_times_the_other() {
    let (a, b) = (&layout_a(), &rows_of_four());
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
    // A_shuffled = T_shape · A: a transposition, and a reshape between two of another shape.
    let layout = layout_a();
    let shape = text(
        "[dim1: (1,0) (2,0) (4,0) (8,0), dim0: (0,1) (0,2) (0,4) (0,8)] -> [dim0: 16, dim1: 16]",
    );
    assert_eq!(layout.transpose(&[1, 0]).unwrap(), layout.compose(&shape).unwrap());
    let shuffle = |layout: &Layout| {
        let parts = layout.reshape(&[16, 2, 4, 2]).unwrap();
        parts.transpose(&[0, 2, 1, 3]).unwrap().reshape(&[16, 16]).unwrap()
    };
    let shape = Layout::identity(4, J, J).unwrap().product(&Layout::identity(4, I, I).unwrap());
    let shape = shuffle(&shape.unwrap());
    assert_eq!(shape.columns(J), [1, 4, 8, 2]);
    assert_eq!(shuffle(&layout), layout.compose(&shape).unwrap());
}

/// The conversion of layout `from` to layout `to`, each of 256 elements of 32 bits over two warps.
fn planned(from: &str, to: &str) -> Plan {
    let with_blocks = |layout| text(&format!("[{layout}, block:] -> [dim0: 256]"));
    convert(&with_blocks(from), &with_blocks(to), 32, sm_90()).unwrap()
}

#[test]
fn s3_13_the_cheapest_of_three_ways_is_taken_and_told() {
    let from = "register: 1 2, lane: 4 8 16 32 64, warp: 128";
    let told = |to| planned(from, to).to_string().lines().last().unwrap().to_string();
    let way = |to| told(to).split(':').next().unwrap().to_string();
    assert_eq!(
        told(from),
        "# nothing: 0.00 cycles (0 wavefronts of at least 0, 0 shuffles, 0 \
                            arithmetic, 0 barriers; 0 instructions)"
    );
    assert_eq!(way("register: 2 1, lane: 4 8 16 32 64, warp: 128"), "# registers");
    assert_eq!(way("register: 4 2, lane: 1 8 16 32 64, warp: 128"), "# shuffles");
    assert_eq!(way("register: 1 2, lane: 4 8 16 32 128, warp: 64"), "# shared memory");
}

#[test]
fn s3_14_exchanges_are_values_and_source_lanes() {
    // Figure 3 of the paper.
    let machine = Machine { lanes_log2: 2, ..sm_90().clone() };
    let from = text("[register: 1, lane: 2 4] -> [dim0: 8]");
    let to = text("[register: 2, lane: 1 4] -> [dim0: 8]");
    let plan = convert(&from, &to, 32, &machine).unwrap();
    expect![[r#"
        f0: 2 x 32 bits = input
        f1: 1 x 32 bits = permute f0 [1]
        f2: 1 x 32 bits = permute f0 [0]
        f3: 1 x 32 bits = select f1 f2 by lane 0x1 warp 0x0
        f4: 1 x 32 bits = exchange f3 lane ^ 0x1
        f5: 3 x 32 bits = concat f0 f4
        f6: 2 x 32 bits = permute f5 [0, 2]
        f7: 2 x 32 bits = permute f5 [2, 1]
        f8: 2 x 32 bits = select f6 f7 by lane 0x1 warp 0x0
        output f8
        # shuffles: 1.50 cycles (0 wavefronts of at least 0, 1 shuffles, 3 arithmetic, 0 barriers; 4 instructions)
    "#]].assert_eq(&format!("{plan}\n"));
}
