//! Solving, against all places.

use std::{string::ToString, vec::Vec};

use arbitrary::{Result, Unstructured};

use crate::{
    Layout, LayoutError, Space,
    f2::Subspace,
    interop::parse_layout,
    space::{BLOCK, LANE, OFFSET, REGISTER, WARP},
    testing::{Kind, between, distributed, holds, places, reordered, shape, space, tensor},
};

/// Where a place of `from` would stay in `to`.
fn stay(from: &Layout, to: &Layout, place: u64) -> u64 {
    let units = from.ins().iter().flat_map(|(label, start, bits)| {
        (0..bits).filter(move |bit| place >> (start + bit) & 1 == 1).map(move |bit| (label, bit))
    });
    units.fold(0, |sum, (label, bit)| {
        let thread = [LANE, WARP, BLOCK].contains(&label);
        let there = bit < to.in_bits(label);
        let goal = from.basis(label, bit);
        if there && (thread || to.basis(label, bit) == goal) {
            sum ^ to.ins().pack(&[(label, 1 << bit)]).unwrap()
        } else {
            sum
        }
    })
}

/// How many bits of block, warp, lane and everything else differ.
fn changes(to: &Layout, a: u64, b: u64) -> [u32; 4] {
    let [block, warp, lane] = [BLOCK, WARP, LANE].map(|label| to.ins().mask(label) & (a ^ b));
    let rest = (a ^ b) & !(block | warp | lane);
    [block, warp, lane, rest].map(u64::count_ones)
}

/// How far away a place is: 3 in another block, 2 in another warp, 1 in another lane, else 0.
fn distance(to: &Layout, a: u64, b: u64) -> usize {
    changes(to, a, b)[..3].iter().position(|&count| count > 0).map_or(0, |far| 3 - far)
}

/// Two layouts of one small tensor, in a few shared axes.
///
/// In half of the cases three registers look for their elements among many copies in other threads.
fn pair(u: &mut Unstructured<'_>) -> Result<(Layout, Layout)> {
    let labels = [REGISTER, LANE, WARP, BLOCK, OFFSET];
    if u.arbitrary()? {
        let outs = Space::new(&[(crate::Label::dim(0), u.int_in_range(1..=3)?)]).unwrap();
        let near = u.int_in_range(0..=1)?;
        let far = *u.choose(&[[3, 0], [2, 2], [3, 1], [0, 3]])?;
        let to = Space::new(&[(REGISTER, near), (LANE, far[0]), (WARP, far[1])]).unwrap();
        let from = Space::new(&[(REGISTER, 3), (LANE, u.int_in_range(0..=1)?)]).unwrap();
        return Ok((between(u, &from, &outs)?, between(u, &to, &outs)?));
    }
    let outs = tensor(u, 1)?;
    let mut any = |most| {
        let ins = space(u, &labels, most)?;
        let ins = reordered(u, &ins)?;
        between(u, &ins, &outs)
    };
    Ok((any(1)?, any(2)?))
}

#[test]
fn solutions_are_the_nearest_then_the_lowest_of_all() {
    let (mut solved, mut free, mut refused) = (0, 0, 0);
    holds(1500, |u| {
        let (from, to) = pair(u)?;
        if to.ins().total_bits() > 7 {
            return Ok(());
        }
        let all: Vec<u64> = places(to.ins()).collect();
        let copies = |place: u64| {
            let (element, to) = (from.apply_flat(place), &to);
            all.iter().copied().filter(move |&copy| to.apply_flat(copy) == element)
        };
        let nearest = |place: u64| {
            let home = stay(&from, &to, place);
            copies(place).map(|copy| distance(&to, copy, home)).min()
        };
        let solution = match from.solve_with(&to) {
            Ok(solution) => solution,
            Err(LayoutError::NotReached { label, bit, image }) => {
                refused += 1;
                let place = from.ins().pack(&[(label, 1 << bit)]).unwrap();
                assert_eq!(image, to.outs().unpack(from.apply_flat(place)));
                assert_eq!(copies(place).count(), 0);
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        solved += 1;
        let x = &solution.map;
        assert_eq!(from.solve(&to).as_ref(), Ok(x));
        assert_eq!((x.compose(&to).unwrap(), solution.exact), (from.clone(), true));
        assert_eq!(solution.free, to.kernel());
        free += u32::from(!solution.is_unique());
        // No two places that hold different elements are confused.
        assert!(from.kernel().contains_all(&x.kernel()));
        // Every place, not only those of one bit, stays as near as any copy of its element is.
        for place in places(from.ins()) {
            let home = stay(&from, &to, place);
            assert_eq!(Some(distance(&to, x.apply_flat(place), home)), nearest(place));
        }
        // Bit by bit: of the copies that keep all sums near, the one of fewest changes.
        for bit in 0..from.ins().total_bits() {
            let unit = 1 << bit;
            let near = |copy: u64| {
                (0..unit).all(|before: u64| {
                    let home = stay(&from, &to, before | unit);
                    let sum = x.apply_flat(before) ^ copy;
                    Some(distance(&to, sum, home)) == nearest(before | unit)
                })
            };
            let home = stay(&from, &to, unit);
            let best =
                copies(unit).filter(|&copy| near(copy)).min_by_key(|&c| (changes(&to, c, home), c));
            assert_eq!(best, Some(x.apply_flat(unit)), "{from} in {to}: bit {bit}");
        }
        Ok(())
    });
    assert!(solved > 20 && free > 10 && refused > 10, "{solved} {free} {refused}");
}

#[test]
fn distributed_layouts_solve_and_stay_where_they_can() {
    holds(400, |u| {
        let kind = Kind::any(u)?;
        let bits = u.int_in_range(0..=9)?;
        let shape = shape(u, bits)?;
        let from = distributed(u, &shape, 1, kind)?;
        let to = distributed(u, &shape, 1, kind)?;
        let x = from.solve(&to).unwrap();
        assert_eq!(x.compose(&to).unwrap(), from);
        assert!(from.solve(&from).unwrap().matrix().is_identity());
        Ok(())
    });
}

#[test]
fn copies_are_used_to_stay_in_the_lane() {
    let space = |registers| Space::hardware(registers, 1, 0, 0).unwrap();
    let row = Space::tensor(&[2]).unwrap();
    // Both registers and the lane hold element 1; the lane's copy is nearer than the lane of it.
    let source = Layout::new(space(1), row.clone(), &[1, 0]).unwrap();
    let target = Layout::new(space(0), row, &[1]).unwrap();
    let x = target.solve(&source).unwrap();
    assert_eq!(x.outs().unpack(x.basis(LANE, 0))[..2], [(REGISTER, 1), (LANE, 1)]);
}

#[test]
fn p7_copies_are_read_from_the_own_warp() {
    // Both warps hold everything; free variables set to zero would read all from warp 0.
    let from = parse_layout("[register: 2, lane: 1, warp: 0] -> [dim0: 4]").unwrap();
    let to = parse_layout("[register: 1, lane: 2, warp: 0] -> [dim0: 4]").unwrap();
    let x = from.solve(&to).unwrap();
    assert_eq!(
        x.to_string(),
        "[register: (0,1,0), lane: (1,0,0), warp: (0,0,1)] -> [register: 2, lane: 2, warp: 2]"
    );
    assert!(x.is_identity_on(WARP));
    assert_eq!(x.quotient(&[WARP]).unwrap().ins().total_bits(), 2);
}

#[test]
fn an_axis_that_is_equal_on_both_sides_may_be_needed_by_others() {
    // The blocks agree, and yet the register reaches its element only with the block's help.
    let from = parse_layout("[register: 1, block: 2] -> [dim0: 4]").unwrap();
    let to = parse_layout("[register: 3, block: 2] -> [dim0: 4]").unwrap();
    let x = from.solve(&to).unwrap();
    assert_eq!(x.compose(&to).unwrap(), from);
    assert_eq!(x.to_string(), "[register: (1,1), block: (0,1)] -> [register: 2, block: 2]");
    assert!(x.is_injective());
    // A register that holds the block's element lets the block stay, and changes nothing else.
    let to = parse_layout("[register: 1 2, block: 2] -> [dim0: 4]").unwrap();
    let x = from.solve(&to).unwrap();
    assert_eq!(x.to_string(), "[register: (1,0), block: (0,1)] -> [register: 4, block: 2]");
}

#[test]
fn sums_stay_near_even_where_a_single_bit_would_rather_not() {
    let from = parse_layout("[register: 1 2 3] -> [dim0: 4]").unwrap();
    let to = parse_layout("[lane: 1 2 3] -> [dim0: 4]").unwrap();
    let x = from.solve(&to).unwrap();
    // Register bit 2 alone would read lane 4; but register 7 holds element 0, which its lane has.
    assert_eq!(x.to_string(), "[register: 1 2 3] -> [lane: 8]");
    assert_eq!(x.apply_flat(7), 0);
}

#[test]
fn fewer_registers_are_preferred_to_lower_ones() {
    let from = parse_layout("[register: 2 1 3] -> [dim0: 4]").unwrap();
    let to = parse_layout("[register: 1 2 3 3] -> [dim0: 4]").unwrap();
    let solution = from.solve_with(&to).unwrap();
    // 3 is registers 1 and 2 together, or register 4, or register 8; bit 2 stays where it is.
    assert_eq!(solution.map.to_string(), "[register: 2 1 4] -> [register: 16]");
    assert_eq!(solution.free, Subspace::from_vectors(&[0b0111, 0b1011]));
}

#[test]
fn large_kernels_are_solved_too() {
    let mut inexact = 0;
    holds(400, |u| {
        let bits = u.int_in_range(0..=8)?;
        let outs = Space::new(&[(crate::Label::dim(0), bits)]).unwrap();
        let [from, to] = [
            between(u, &Space::hardware(4, 5, 2, 1).unwrap(), &outs)?,
            between(u, &Space::hardware(20, 5, 2, 1).unwrap(), &outs)?,
        ];
        if let Ok(solution) = from.solve_with(&to) {
            assert_eq!(solution.map.compose(&to).unwrap(), from);
            inexact += u32::from(!solution.exact);
        }
        Ok(())
    });
    assert!(inexact > 2, "{inexact}");
}

#[test]
fn copies_are_improved_where_there_are_too_many_to_look_at_all() {
    // Eight registers of one bit, and 13 that hold sums; one of them is the sum of all.
    let sums = (0..13).map(|extra| 0xff ^ extra);
    let registers: Vec<u64> = (0..8).map(|bit| 1 << bit).chain(sums).collect();
    let outs = Space::new(&[(crate::Label::dim(0), 8)]).unwrap();
    let to = Layout::new(Space::hardware(21, 0, 0, 0).unwrap(), outs.clone(), &registers).unwrap();
    let from = Layout::new(Space::hardware(0, 1, 0, 0).unwrap(), outs, &[0xff]).unwrap();
    let solution = from.solve_with(&to).unwrap();
    assert_eq!((solution.exact, solution.free.dim()), (false, 13));
    assert_eq!(solution.map.basis(LANE, 0), 1 << 8);
    // One sum less, and all copies are looked at.
    let fewer = to.without_bits(REGISTER, &[20]).unwrap();
    let solution = from.solve_with(&fewer).unwrap();
    assert!(solution.exact && solution.map.basis(LANE, 0) == 1 << 8);
}

#[test]
fn outputs_of_the_source_may_be_larger_and_must_all_be_named() {
    let small = parse_layout("[register: (0,1), lane: (1,0)] -> [dim0: 2, dim1: 2]").unwrap();
    let large = parse_layout("[lane: (0,1) (0,2) (1,0)] -> [dim0: 2, dim1: 4]").unwrap();
    let x = small.solve(&large).unwrap();
    assert_eq!(x.to_string(), "[register: 1, lane: 4] -> [lane: 8]");
    let error = large.solve(&small).unwrap_err();
    assert_eq!(error.to_string(), "axis `dim1` has 1 bits, 2 are needed");
    let line = parse_layout("[lane: 1] -> [dim0: 2]").unwrap();
    assert_eq!(
        line.solve(&small).unwrap_err().to_string(),
        "axis `dim1` differs: missing on the left, 1 bit on the right"
    );
    let narrow = parse_layout("[lane: (0,1)] -> [dim0: 2, dim1: 2]").unwrap();
    assert_eq!(
        small.solve(&narrow).unwrap_err().to_string(),
        "bit 0 of `lane` goes to dim0=1, which the other layout does not hold"
    );
}
