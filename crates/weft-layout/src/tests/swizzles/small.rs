//! Small tensors: the solver against all memory layouts.

use arbitrary::{Result, Unstructured};
use std::vec::Vec;

use super::{access, cases, invertible, least, toy};
use crate::{
    access::Kind,
    f2::{Echelon, Subspace, low_mask, ones},
    machine::Machine,
    plan::swizzle::{Access, Certificate, Problem, Verdict, check, solve},
    testing::{matrix, repeat},
};

/// A random machine; the accesses use at most 8 of its lanes.
fn machine(u: &mut Unstructured<'_>) -> Result<Machine> {
    let banks = u.int_in_range(0..=3)?;
    let (bank_bytes, widest) = (u.int_in_range(0..=2)?, u.int_in_range(2..=4)?);
    Ok(toy(5, banks, bank_bytes, widest, u.int_in_range(1..=5)?))
}

/// A writer that covers everything and up to three readers.
fn accesses(u: &mut Unstructured<'_>, bits: u32) -> Result<Vec<Access>> {
    let lanes = u.int_in_range(1..=3)?;
    let count = u.int_in_range(1..=3)?;
    let mut accesses = Vec::new();
    for index in 0..=count {
        let kind = if index == 0 { Kind::Store } else { Kind::Load };
        let warps = u.int_in_range(0..=1)?;
        let spare = u.int_in_range(0..=1)?;
        let registers = (bits + spare).saturating_sub(lanes + warps);
        let total = registers + lanes + warps;
        let plain = u.ratio(2, 3)?;
        let mut columns = crate::testing::shuffled(u, total.max(bits))?;
        for column in &mut columns {
            *column &= low_mask(bits);
        }
        if !plain {
            columns = matrix(u, bits, total)?.columns().to_vec();
        }
        columns.resize(total.max(bits) as usize, 0);
        let (low, rest) = columns.split_at(lanes as usize);
        let (middle, high) = rest.split_at(warps as usize);
        // Some lanes are copies, any of them.
        let mut lanes: Vec<u64> = low.to_vec();
        while lanes.len() < 5 {
            lanes.insert(u.int_in_range(0..=lanes.len())?, 0);
        }
        let layout = access(bits, high, &lanes, middle);
        let weight = u.int_in_range(1..=3)?;
        let widest_bytes = if u.ratio(1, 4)? { Some(4) } else { None };
        let matrix_moves = u.ratio(3, 4)?;
        accesses.push(Access { layout, kind, weight, widest_bytes, matrix_moves });
    }
    if accesses[0].layout.rank() < bits {
        let units: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        let (registers, lanes) = units.split_at(bits.saturating_sub(lanes) as usize);
        accesses[0].layout = access(bits, registers, lanes, &[]);
    }
    Ok(accesses)
}

/// The solver's total is that of the best of all memory layouts.
fn is_best(u: &mut Unstructured<'_>, bits: u32) -> Result<()> {
    let machine = machine(u)?;
    let element_bits = *u.choose(&[8, 16, 32])?;
    let problem = Problem::new(&machine, element_bits, accesses(u, bits)?);
    let solved = solve(&problem).unwrap();
    assert_ne!(check(&problem, &solved), Ok(Verdict::Gap), "{problem:?}\n{solved:?}");
    check(&problem, &solved).unwrap();
    let mut best = u64::MAX;
    invertible(bits, &mut |offsets| best = best.min(least(&problem, offsets)));
    assert_eq!(solved.total, best, "{problem:#?}\n{solved:?}");
    assert!(solved.bound <= best);
    Ok(())
}

#[test]
fn the_best_of_all_layouts_of_8_elements() {
    repeat(cases(600), |u| is_best(u, 3));
}

#[test]
fn the_best_of_all_layouts_of_16_elements() {
    repeat(cases(3), |u| is_best(u, 4));
}

/// The recipe of section 9.2 on unit vectors: sums of what only one side has, what neither has, and
/// then what the writer has.
fn recipe(bits: u32, count: u32, a: u64, b: u64) -> Vec<u64> {
    let units = |mask: u64| ones(mask).map(|bit| 1_u64 << bit);
    let sums = units(a & !b).zip(units(b & !a)).map(|(e, f)| e ^ f);
    let wanted = sums.chain(units(low_mask(bits) & !a & !b)).chain(units(a)).chain(units(b));
    let mut echelon = Echelon::new();
    wanted.filter(|&vector| echelon.grows(vector)).take(count as usize).collect()
}

/// The wavefronts of one instruction of each side.
fn instructions(segments: &[u64], a: u64, b: u64) -> u64 {
    let segments = Subspace::from_vectors(segments);
    [a, b].iter().map(|&side| 1 << segments.intersection(&Subspace::of_bits(side)).dim()).sum()
}

/// Every subspace of `dim` of `bits` dimensions, at least once.
fn subspaces(bits: u32, dim: u32, basis: &mut Vec<u64>, each: &mut impl FnMut(&[u64])) {
    if basis.len() == dim as usize {
        return each(basis);
    }
    let span = Subspace::from_vectors(basis);
    for x in basis.last().map_or(1, |last| last + 1)..1 << bits {
        if span.reduce(x) == x && !span.contains(x) {
            basis.push(x);
            subspaces(bits, dim, basis, each);
            basis.pop();
        }
    }
}

/// One writer and one reader of unit vectors, all that differ by more than a name: `a`, `b` and
/// `both` of them are lanes of the writer, the reader, and both.
fn pairs_of_threads(bits: u32) -> impl Iterator<Item = (u64, u64)> {
    (0..=bits).flat_map(move |both| {
        (both..=bits).flat_map(move |a| {
            (both..=bits - (a - both)).map(move |b| (low_mask(a), low_mask(b) << (a - both)))
        })
    })
}

fn two_sides(machine: &Machine, bits: u32, sides: [u64; 2]) -> Problem<'_> {
    let side = |(kind, threads): (Kind, u64)| {
        let units = |mask: u64| -> Vec<u64> { ones(mask).map(|bit| 1 << bit).collect() };
        let registers = units(low_mask(bits) & !threads);
        let layout = access(bits, &registers, &units(threads), &[]);
        // So that one instruction of each side counts the same.
        Access { weight: 1 << threads.count_ones(), ..Access::new(kind, layout) }
    };
    let kinds = [Kind::Store, Kind::Load];
    Problem::new(machine, 32, kinds.into_iter().zip(sides).map(side).collect())
}

#[test]
fn the_best_where_the_recipe_is_not() {
    let (mut instances, mut beaten) = (0, 0);
    for bits in 1..=5 {
        for count in 1..=bits {
            let machine = toy(5, bits - count, 2, 2, 5);
            for (a, b) in pairs_of_threads(bits) {
                let mut best = u64::MAX;
                subspaces(bits, count, &mut Vec::new(), &mut |segments| {
                    best = best.min(instructions(segments, a, b));
                });
                let problem = two_sides(&machine, bits, [a, b]);
                let solved = solve(&problem).unwrap();
                assert_eq!(solved.total, best << bits, "{bits} {count} {a:b} {b:b}");
                assert_ne!(check(&problem, &solved), Ok(Verdict::Gap));
                check(&problem, &solved).unwrap();
                instances += 1;
                beaten += u32::from(instructions(&recipe(bits, count, a, b), a, b) > best);
            }
        }
    }
    // One lane bit against two others, four segment bits: 2 + 2 by the recipe, 1 + 2 at best.
    assert_eq!(instructions(&recipe(5, 4, 0b10000, 0b00110), 0b10000, 0b00110), 4);
    let machine = toy(5, 1, 2, 2, 5);
    let solved = solve(&two_sides(&machine, 5, [0b10000, 0b00110])).unwrap();
    assert_eq!(solved.total, (1 + 2) << 5);
    assert_eq!((instances, beaten), (504, 89));
}

#[test]
fn three_lines_leave_nothing_of_a_plane() {
    // Two banks and two rows of them; a lane bit on each of the three lines.
    let machine = toy(5, 1, 2, 2, 5);
    let line = |kind, lane: u64| Access::new(kind, access(2, &[lane % 3 + 1], &[lane], &[]));
    let accesses = [line(Kind::Store, 1), line(Kind::Load, 2), line(Kind::Load, 3)];
    let mut problem = Problem::new(&machine, 32, accesses.to_vec());
    let solved = solve(&problem).unwrap();
    // One of them takes two wavefronts for each of its two instructions.
    assert_eq!((solved.total, solved.bound), (2 + 2 + 4, 8));
    assert_eq!(solved.certificate, Certificate::Exhausted { candidates: 3 });
    assert_eq!(check(&problem, &solved), Ok(Verdict::Exhausted));
    // The one that happens least often.
    for seldom in 0..3 {
        for (index, access) in problem.accesses.iter_mut().enumerate() {
            access.weight = if index == seldom { 1 } else { 10 };
        }
        let solved = solve(&problem).unwrap();
        assert_eq!((solved.total, solved.uses[seldom].wavefronts), (20 + 20 + 4, 4));
    }
    problem.accesses.pop();
    assert_eq!(check(&problem, &solve(&problem).unwrap()), Ok(Verdict::Optimal));
}
