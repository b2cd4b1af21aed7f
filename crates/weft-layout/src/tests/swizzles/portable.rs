//! One layout for several machines: the universal swizzles.

use std::vec::Vec;

use super::{access, toy};
use crate::{
    Machine,
    access::Kind,
    interop::cute::Swizzle,
    layout::Layout,
    plan::swizzle::{
        Access, Certificate, Meter, Portability, Portable, Problem, Solved, Verdict, check,
        portable,
    },
    space::OFFSET,
};

const MODELS: [&str; 5] = ["gfx950", "gfx942", "gfx1200", "gfx1100", "sm_90"];

/// The bits of an element of 8 bytes: its half of 16 bytes, the chunks of a row, and 64 rows.
fn bits(row_log2: u32) -> (u64, Vec<u64>, Vec<u64>) {
    let chunks = row_log2 - 4;
    let bit = |bit: u32| 1_u64 << bit;
    (1, (1..=chunks).map(bit).collect(), (chunks + 1..chunks + 7).map(bit).collect())
}

/// Loads of 16 bytes: lane `l` reads row `l mod 2^across`, the higher lanes the next chunks; rows and
/// chunks that are left over are registers.
fn loads(name: &str, row_log2: u32, across: &[usize]) -> Problem<'static> {
    let machine = Machine::by_name(name).unwrap();
    let lanes = machine.lanes_log2 as usize;
    let (half, chunks, rows) = bits(row_log2);
    let load = |&across: &usize| {
        let across = across.min(lanes);
        let (near, far) = (lanes - across, rows.len() - across);
        let near = near.min(chunks.len());
        let columns = [&rows[..across], &chunks[..near]].concat();
        let registers = [&[half], &chunks[near..], &rows[rows.len() - far..]].concat();
        let layout = access(1 + (chunks.len() + rows.len()) as u32, &registers, &columns, &[]);
        Access::new(Kind::Load, widened(&layout, lanes)).plain()
    };
    Problem::new(machine, 64, across.iter().map(load).collect())
}

/// The same with so many lane bits, copies where there are too few.
fn widened(layout: &Layout, lanes: usize) -> Layout {
    use crate::{
        Space,
        space::{LANE, REGISTER},
    };
    let mut columns = layout.columns(LANE).to_vec();
    columns.resize(lanes, 0);
    let registers = layout.columns(REGISTER);
    let ins = [(REGISTER, registers.len() as u32), (LANE, lanes as u32)];
    let all = [registers, &columns].concat();
    Layout::new(Space::new(&ins).unwrap(), layout.outs().clone(), &all).unwrap()
}

/// What each problem takes on the joint layout is what an independent count says.
fn is_checked(problems: &[Problem<'_>], found: &Portable) {
    for ((problem, (uses, total)), alone) in problems.iter().zip(&found.uses).zip(&found.alone) {
        check(problem, alone).unwrap();
        let joint = Solved {
            memory: found.memory.clone(),
            rounds: Vec::new(),
            uses: uses.clone(),
            total: *total,
            bound: 0,
            certificate: Certificate::Floors,
        };
        assert_eq!(check(problem, &joint), Ok(Verdict::Gap));
    }
}

/// Whether one swizzle of rows is the best on every machine.
fn a_single_swizzle_is_best(problems: &[Problem<'_>], found: &Portable) -> bool {
    let memory = &found.memory;
    Swizzle::all(memory.in_bits(OFFSET)).into_iter().any(|swizzle| {
        let columns: Vec<u64> =
            (0..memory.in_bits(OFFSET)).map(|bit| swizzle.apply(1 << bit)).collect();
        let layout = Layout::new(memory.ins().clone(), memory.outs().clone(), &columns).unwrap();
        problems.iter().zip(&found.alone).all(|(problem, alone)| {
            let measured = Meter::new(problem).unwrap().measure(&layout).unwrap();
            measured.0 <= alone.total
        })
    })
}

#[test]
fn p7_a_universal_swizzle_is_found_for_rows_of_each_length() {
    for (row_log2, single) in [(6, false), (7, false), (8, true)] {
        let problems = MODELS.map(|name| loads(name, row_log2, &[6, 4, 5]));
        let found = portable(&problems).unwrap();
        is_checked(&problems, &found);
        assert_eq!(found.portability(), Portability::Everywhere, "2^{row_log2} bytes");
        assert_eq!(a_single_swizzle_is_best(&problems, &found), single, "2^{row_log2} bytes");
    }
}

#[test]
fn machines_that_want_different_things_are_told_so() {
    // A lane bit for each machine on each of the three lines of a plane, two banks.
    let machine = toy(5, 1, 2, 2, 5);
    let line = |lane: u64| {
        let layout = access(2, &[lane % 3 + 1], &[lane], &[]);
        Problem::new(&machine, 32, Vec::from([Access::new(Kind::Load, layout)]))
    };
    let problems = [line(1), line(2), line(3)];
    let found = portable(&problems).unwrap();
    is_checked(&problems, &found);
    assert_eq!(found.alone.iter().map(|alone| alone.total).sum::<u64>(), 6);
    assert_eq!((found.total, found.bound), (8, 8));
    assert_eq!(found.portability(), Portability::Nowhere);
    let found = portable(&problems[..2]).unwrap();
    assert_eq!(found.portability(), Portability::Everywhere);
}

#[test]
fn buffers_that_differ_are_refused() {
    let mut problems = [loads("sm_90", 7, &[5]), loads("gfx942", 7, &[5])];
    problems[1].element_bits = 32;
    assert_eq!(
        std::string::ToString::to_string(&portable(&problems).unwrap_err()),
        "problem 1 has another buffer than problem 0: one layout is for one tensor of one width that \
         all hold at once"
    );
}
