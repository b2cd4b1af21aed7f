//! The reading for those who port kernels to AMD.

use std::{format, string::ToString, vec::Vec};

use super::{I, J, element, layout_a, rows_of_four, sm_90, text};
use crate::{
    Label, Layout, Space,
    access::{Kind, wavefronts},
    affine::Affine,
    family::{Blocked, Family, Linear, SwizzledShared},
    plan::convert,
    space::{LANE, OFFSET, REGISTER, WARP},
    step::Strategy,
    testing::places,
};

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
    let moves = layout.solve(&rows_of_four()).unwrap();
    assert_eq!(labels(moves.outs()), hardware);
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
fn s4_7_where_warps_stay_lanes_suffice() {
    let from = text("[register: 1, lane: 2 4 8 16 32, warp: 64, block:] -> [dim0: 128]");
    let of = |to: &str| {
        let to = text(&format!("[{to}, block:] -> [dim0: 128]"));
        let moves = to.solve(&from).unwrap();
        let plan = convert(&from, &to, 32, sm_90()).unwrap();
        (moves.is_trivial_over(&[WARP]), plan.strategy, plan.cost.barriers)
    };
    let exchanged = of("register: 4, lane: 2 1 8 16 32, warp: 64");
    assert_eq!(exchanged, (true, Strategy::Shuffles, 0));
    let crossing = of("register: 1, lane: 2 4 8 16 64, warp: 32");
    assert_eq!(crossing, (false, Strategy::SharedMemory, 1));
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
fn s4_10_a_wide_read_is_served_in_four_parts() {
    // 16 bytes a lane: eight lanes fill all banks, and each such eighth is free of conflicts.
    let columns: Vec<u64> = (0..5).map(|bit| 16 << bit).collect();
    let wide = wavefronts(sm_90(), Kind::Load, &columns, 16, 0).unwrap();
    assert_eq!((wide.actual, wide.ideal, wide.witness), (4, 4, None));
    assert_eq!(sm_90().phases.subspace(Kind::Load, 4).basis().collect::<Vec<_>>(), [1, 2, 4]);
}

#[test]
fn s4_16_a_constant_may_be_added() {
    // y = Mx + b, which the text calls inexpressible: lane x holds element 31 - x.
    let lanes = Layout::identity(5, LANE, Label::dim(0)).unwrap();
    let reversed = Affine::new(lanes, 31).unwrap();
    for lane in 0..32 {
        assert_eq!(reversed.apply(&[(LANE, lane)]).unwrap(), [(Label::dim(0), 31 - lane)]);
    }
}

#[test]
fn s4_17_a_layout_forgets_which_family_it_came_from() {
    let blocked = Blocked::new(&[2, 2], &[4, 8], &[2, 1], &[1, 0]);
    let layout = Family::Blocked(blocked).layout(&[16, 16]).unwrap();
    let linear = Family::Linear(Linear::of(&layout)).layout(&[16, 16]).unwrap();
    assert_eq!(layout, linear);
}
