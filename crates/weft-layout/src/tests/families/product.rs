//! Proposition 9.2: fragments as direct sums of identities, with the corrections that the PTX manual
//! asks for.

use super::{layout, operand};
use crate::{
    layout::Layout,
    space::{LANE, Label, REGISTER, WARP},
};

const REG: Label = REGISTER;
const THR: Label = LANE;
const WRP: Label = WARP;

/// `id^{level,dim}_bits × …`.
fn product(factors: &[(u32, Label, u32)]) -> Layout {
    let identity =
        |&(bits, level, dim): &_| Layout::identity(bits, level, Label::dim(dim)).unwrap();
    // No factor at all, so that axes come in their usual order.
    let none = [(0, REG, 1), (0, THR, 1), (0, WRP, 1), (0, REG, 0)];
    let all = none.iter().chain(factors).map(identity);
    all.reduce(|all, factor| all.product(&factor).unwrap()).unwrap()
}

fn check(attribute: &str, shape: [u64; 2], factors: &[(u32, Label, u32)]) {
    let found = layout(attribute, &shape).restrict_ins(&[REG, THR, WRP]).unwrap();
    assert_eq!(found, product(factors), "{attribute}");
}

const MMA: &str = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], \
                   instrShape = [16, 8]}>";
const WGMMA: &str = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], \
                     instrShape = [16, 8, 16]}>";

/// The common factors of an operand's tile whose elements have 32 / 2^`packed` bits, `inner` being
/// the summed axis.
fn common(packed: u32, inner: u32) -> [(u32, Label, u32); 3] {
    [(packed, REG, inner), (2, THR, inner), (3, THR, 1 - inner)]
}

#[test]
fn s1_8_left_operands_are_as_the_proposition_says() {
    for packed in 0..4 {
        let k = 8_u64 << packed;
        let [x, y, z] = common(packed, 1);
        let factors = [x, y, z, (1, REG, 0), (1, REG, 1)];
        check(&operand(0, MMA, 1 << packed), [16, k], &factors);
        let factors = [x, y, z, (1, REG, 0), (1, REG, 1), (2, WRP, 0)];
        check(&operand(0, WGMMA, 1 << packed), [64, k], &factors);
    }
}

#[test]
fn p9_results_hold_two_consecutive_columns_whatever_their_width() {
    // As the proposition's tile for 16 bits, without its last factor.
    let factors = [(1, REG, 1), (2, THR, 1), (3, THR, 0), (1, REG, 0)];
    check(MMA, [16, 8], &factors);
    let factors = [(1, REG, 1), (2, THR, 1), (3, THR, 0), (1, REG, 0), (2, WRP, 0)];
    check(WGMMA, [64, 8], &factors);
}

#[test]
fn p9_right_operands_end_with_a_factor_on_the_summed_axis() {
    for packed in 0..4 {
        let [x, y, z] = common(packed, 0);
        check(&operand(1, MMA, 1 << packed), [8 << packed, 8], &[x, y, z, (1, REG, 0)]);
    }
}
